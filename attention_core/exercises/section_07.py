"""第 7 节的练习：查询、键、值都来自同一句。"""

import numpy as np

from .frame import Exercise

whole_sentence = Exercise(
    "07-1", "整句一起算",
    task="""
    `x` 形状 `(n, d_model)`，`w_q` 和 `w_k` 形状 `(d_model, d_k)`，`w_v` 形状 `(d_model, d_v)`。
    查询、键、值都从 `x` 变出来，做缩放点积注意力，返回 `(n, d_v)`：每个词一行新表示。
    """,
    hint="""
    `scores = query @ key.T / np.sqrt(d_k)`，按行 (`axis=-1`) 归一，`weights @ value`。
    """,
)


@whole_sentence.stub
def my_self_attention(x, w_q, w_k, w_v):
    """一句话的自注意力，形状 (n, d_v)。"""
    ...  # 你的代码


@whole_sentence.right
def all_at_once(x, w_q, w_k, w_v):
    query, key, value = x @ w_q, x @ w_k, x @ w_v  # (n, d_k), (n, d_k), (n, d_v)
    scores = query @ key.T / np.sqrt(key.shape[-1])  # (n, n)
    grown = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = grown / grown.sum(axis=-1, keepdims=True)  # (n, n)
    return weights @ value  # (n, d_v)


@whole_sentence.right
def word_by_word(x, w_q, w_k, w_v):
    rows = []
    for word in x:
        grown = np.exp((x @ w_k) @ (word @ w_q) / w_q.shape[1] ** 0.5)
        rows.append(grown @ (x @ w_v) / grown.sum())
    return rows


def _attend(query, key, value, *, axis=-1, scaled=True):
    """几种错法共用的计算：归一的轴和缩放可以写错。"""
    grown = np.exp(query @ key.T / (np.sqrt(key.shape[-1]) if scaled else 1))
    return grown / grown.sum(axis=axis, keepdims=True) @ value


@whole_sentence.wrong("行和列对调了：分数表转置了", "行是查询，列是键：query @ key.T。反过来就成了键在问查询。")
def keys_ask(x, w_q, w_k, w_v):
    return _attend(x @ w_k, x @ w_q, x @ w_v)


@whole_sentence.wrong("归一沿错了轴：每一列加起来是 1", "每个词自己的份额在一行里，所以按行归一。")
def normalised_columns(x, w_q, w_k, w_v):
    return _attend(x @ w_q, x @ w_k, x @ w_v, axis=0)


@whole_sentence.wrong("没有缩放", "分数要除以 d_k 的平方根。")
def unscaled(x, w_q, w_k, w_v):
    return _attend(x @ w_q, x @ w_k, x @ w_v, scaled=False)


@whole_sentence.wrong("取走了输入，没有乘 W_V", "值也要变出来：x @ w_v。")
def raw_values(x, w_q, w_k, w_v):
    return _attend(x @ w_q, x @ w_k, x)


@whole_sentence.wrong("没有变身份，直接拿输入去打分", "查询和键要分别乘 w_q 和 w_k。")
def raw_scores(x, w_q, w_k, w_v):
    return _attend(x, x, x @ w_v)


whole_sentence.case(
    "取走的是值", [[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [[4.0], [0.0]],
    expected=[[2.0], [2.0]], why="查询全是零，每个词都把两份值（4 和 0）各取一半。")
whole_sentence.case(
    "谁问谁，怎样归一", [[1.0, 0.0], [0.0, 1.0]], [[0.0] * 4, [np.log(9), 0.0, 0.0, 0.0]],
    [[1.0, 0.0, 0.0, 0.0], [0.0] * 4], [[4.0], [0.0]], expected=[[2.0], [3.0]],
    why="第二个词问第一个词的分数是 ln 9，除以 2 成了 ln 3，权重 3/4：取 4 × 3/4 = 3。")


add_position = Exercise(
    "07-2", "告诉每个词它站在哪里",
    task="""
    `x` 形状 `(n, d_model)`；`positions` 是位置向量的表，第 i 行给站在第 i 位的词用，行数可能比 n 多。
    返回加上了位置的输入，形状 `(n, d_model)`。
    """,
    hint="""
    表的前 n 行正好够用：`positions[:len(x)]`。
    """,
)


@add_position.stub
def my_with_position(x, positions):
    """每个词加上它那个位置的向量，形状 (n, d_model)。"""
    ...  # 你的代码


@add_position.right
def first_rows(x, positions):
    return x + positions[:len(x)]


@add_position.right
def one_at_a_time(x, positions):
    return [word + positions[place] for place, word in enumerate(x)]


@add_position.wrong("忘了加位置", "不加位置，自注意力把一句话当成一袋词：同一个词站在哪里都一样。")
def forgotten(x, positions):
    return x


@add_position.wrong("每个词加的是同一个位置", "大家都加第 0 位的向量，还是分不出谁先谁后。")
def same_for_all(x, positions):
    return x + positions[0]


@add_position.wrong("位置倒着数了", "第 0 行给第一个词，依次往下。")
def backwards(x, positions):
    return x + positions[:len(x)][::-1]


@add_position.wrong("从表的末尾取了位置", "第 i 个词用表的第 i 行；表比句子长时，用前面的几行。")
def last_rows(x, positions):
    return x + positions[-len(x):]


@add_position.wrong("位置乘上去了", "位置是加上去的；乘的话，分量是 0 的位置会把词的意思抹掉。")
def multiplied(x, positions):
    return x * positions[:len(x)]


add_position.case("位置有没有用上", [[5.0, 5.0], [5.0, 5.0]], [[1.0, 0.0], [0.0, 1.0]],
                  expected=[[6.0, 5.0], [5.0, 6.0]],
                  why="同一个词站在两个位置，加上位置以后就不同了。")
add_position.case("用表的哪几行", [[5.0, 5.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0], [7.0, 7.0]],
                  expected=[[6.0, 5.0], [0.0, 1.0]], why="两个词用表的前两行，第三行用不着。")


shuffled = Exercise(
    "07-3", "打乱词序，输出会怎样",
    task="""
    一句话（没有加位置）的自注意力输出是 `output`，形状 `(n, d)`。现在把词打乱：新句子的第 i 个词是原来的第
    `order[i]` 个词。不重新算注意力，写出新句子的输出。
    """,
    hint="""
    每个词看到的还是同样那些词，所以它自己那一行不变，只是跟着词换了位置。
    """,
)


@shuffled.stub
def my_shuffled_output(output, order):
    """打乱以后的输出，形状 (n, d)。"""
    ...  # 你的代码


@shuffled.right
def follow_the_words(output, order):
    return output[order]


@shuffled.right
def row_after_row(output, order):
    return [output[place] for place in order]


@shuffled.wrong("以为输出不变", "内容不变，但行的次序跟着词走：词换到哪一行，它的输出就换到哪一行。")
def unchanged(output, order):
    return output


@shuffled.wrong("方向反了：把词送回去了",
                "新的第 i 行是原来的第 order[i] 行；这样写，是原来的第 i 行去了第 order[i] 行。")
def inverse(output, order):
    return output[np.argsort(order)]


@shuffled.wrong("打乱的是列，不是行", "一行是一个词；列是向量里的分量，跟词序没有关系。")
def columns(output, order):
    return output[:, order]


shuffled.case("跟着词走", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]], [2, 0, 1],
              expected=[[7.0, 8.0, 9.0], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
              why="新句子的第一个词是原来的第 2 号（从 0 数起）。")
