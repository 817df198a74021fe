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
    `scores = query @ key.T / np.sqrt(key.shape[-1])`，按行 (`axis=-1`) 归一，`weights @ value`。
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


def _attend(query, key, value, *, axis=-1, divisor=None):
    """几种错法共用的计算：归一的轴和除以什么可以写错。"""
    grown = np.exp(query @ key.T / (divisor or np.sqrt(key.shape[-1])))
    return grown / grown.sum(axis=axis, keepdims=True) @ value


@whole_sentence.wrong("行和列对调了：分数表转置了", "行是查询，列是键：query @ key.T。反过来就成了键在问查询。")
def keys_ask(x, w_q, w_k, w_v):
    return _attend(x @ w_k, x @ w_q, x @ w_v)


@whole_sentence.wrong("归一沿错了轴：每一列加起来是 1", "每个词自己的份额在一行里，所以按行归一。")
def normalised_columns(x, w_q, w_k, w_v):
    return _attend(x @ w_q, x @ w_k, x @ w_v, axis=0)


@whole_sentence.wrong("减的是每一列的最大值", "最大值也要按行找 (axis=-1)：一行里减同一个数，这一行的权重才不变。")
def largest_of_columns(x, w_q, w_k, w_v):
    scores = (x @ w_q) @ (x @ w_k).T / np.sqrt(w_k.shape[-1])
    grown = np.exp(scores - scores.max(axis=0))
    return grown / grown.sum(axis=-1, keepdims=True) @ (x @ w_v)


@whole_sentence.wrong("按行求了和，除的时候却是按列除的",
                      "sum(axis=-1) 的结果躺成了一行，去除表时对着各列；加上 keepdims=True，它才立着，对着各行。")
def without_keepdims(x, w_q, w_k, w_v):
    grown = np.exp((x @ w_q) @ (x @ w_k).T / np.sqrt(w_k.shape[-1]))
    return grown / grown.sum(axis=-1) @ (x @ w_v)


@whole_sentence.wrong("没有取 e 的次方", "权重不是分数直接除以总和（总和可以是 0）：要先取 e 的分数次方。")
def no_exponential(x, w_q, w_k, w_v):
    scores = (x @ w_q) @ (x @ w_k).T / np.sqrt(w_k.shape[-1])
    with np.errstate(invalid="ignore", divide="ignore"):
        return scores / scores.sum(axis=-1, keepdims=True) @ (x @ w_v)


@whole_sentence.wrong("还没有除以总和", "取了 e 的次方，还要除以这一行的总和，权重加起来才是 1。")
def not_divided(x, w_q, w_k, w_v):
    return np.exp((x @ w_q) @ (x @ w_k).T / np.sqrt(w_k.shape[-1])) @ (x @ w_v)


@whole_sentence.wrong("没有缩放", "分数要除以 d_k 的平方根。")
def unscaled(x, w_q, w_k, w_v):
    return _attend(x @ w_q, x @ w_k, x @ w_v, divisor=1)


@whole_sentence.wrong("除以了 d_k，忘了开平方", "要除以的是 d_k 的平方根。")
def without_root(x, w_q, w_k, w_v):
    return _attend(x @ w_q, x @ w_k, x @ w_v, divisor=w_k.shape[-1])


@whole_sentence.wrong("按 d_model 缩放了", "点积发生在查询和键之间，加起来的是 d_k 个乘积，与输入有多宽无关。")
def by_model_width(x, w_q, w_k, w_v):
    return _attend(x @ w_q, x @ w_k, x @ w_v, divisor=np.sqrt(x.shape[-1]))


@whole_sentence.wrong("按词的个数缩放了", "让点积变大的是一个向量里有几个数 d_k，不是有几个词。")
def by_number_of_words(x, w_q, w_k, w_v):
    return _attend(x @ w_q, x @ w_k, x @ w_v, divisor=np.sqrt(len(x)))


@whole_sentence.wrong("一律除以 2 了", "只有 d_k = 4 时平方根才是 2；d_k 要从形状里读：key.shape[-1]。")
def halved(x, w_q, w_k, w_v):
    return _attend(x @ w_q, x @ w_k, x @ w_v, divisor=2)


@whole_sentence.wrong("停在了权重这一步", "权重算好以后，还要用它把值掺起来：weights @ value。")
def only_weights(x, w_q, w_k, w_v):
    return _attend(x @ w_q, x @ w_k, np.eye(len(x)))


@whole_sentence.wrong("取走了键，没有取值", "键只负责被匹配；取走的是值：x @ w_v。")
def keys_taken(x, w_q, w_k, w_v):
    return _attend(x @ w_q, x @ w_k, x @ w_k)


@whole_sentence.wrong("键也用了 W_Q", "键要用 w_k 变出来。")
def same_matrix(x, w_q, w_k, w_v):
    return _attend(x @ w_q, x @ w_q, x @ w_v)


@whole_sentence.wrong("查询也用了 W_K", "查询要用 w_q 变出来。")
def same_key_matrix(x, w_q, w_k, w_v):
    return _attend(x @ w_k, x @ w_k, x @ w_v)


@whole_sentence.wrong("跳过了归一", "分数直接当权重，每行加起来不是 1。中间要过 softmax。")
def no_softmax(x, w_q, w_k, w_v):
    return (x @ w_q) @ (x @ w_k).T / np.sqrt(w_k.shape[-1]) @ (x @ w_v)


@whole_sentence.wrong("取走了输入，没有乘 W_V", "值也要变出来：x @ w_v。")
def raw_values(x, w_q, w_k, w_v):
    return _attend(x @ w_q, x @ w_k, x)


@whole_sentence.wrong("没有乘 W_Q，直接拿输入当了查询", "查询也要变出来：x @ w_q。")
def raw_queries(x, w_q, w_k, w_v):
    return _attend(x, x @ w_k, x @ w_v)


@whole_sentence.wrong("没有乘 W_K，直接拿输入当了键", "键也要变出来：x @ w_k。")
def raw_keys(x, w_q, w_k, w_v):
    return _attend(x @ w_q, x, x @ w_v)


@whole_sentence.wrong("没有变身份，直接拿输入去打分", "查询和键要分别乘 w_q 和 w_k。")
def raw_scores(x, w_q, w_k, w_v):
    return _attend(x, x, x @ w_v)


@whole_sentence.wrong("权重转置了", "weights 的第 i 行是第 i 个词的份额，直接 weights @ value。")
def weights_transposed(x, w_q, w_k, w_v):
    return only_weights(x, w_q, w_k, w_v).T @ (x @ w_v)


@whole_sentence.wrong("按 d_v 缩放了", "让点积变大的是查询和键里有几个数 d_k，值有多宽 (d_v) 与分数无关。")
def by_value_width(x, w_q, w_k, w_v):
    return _attend(x @ w_q, x @ w_k, x @ w_v, divisor=np.sqrt(w_v.shape[-1]))


@whole_sentence.wrong("键忘了转置，或者 x 与矩阵左右写反了",
                      "看看出错的是哪一行：分数表是 query @ key.T，键要竖过来；查询是 x @ w_q，键是 x @ w_k，"
                      "x 写在左边。")
def turned_the_wrong_way(x, w_q, w_k, w_v):
    return (x @ w_q) @ (x @ w_k)


whole_sentence.case(
    "取走的是值", [[0.0], [1.0]], [[-np.log(3)]], [[2.0]], [[10.0, 20.0]], expected=[[5.0, 10.0], [1.0, 2.0]],
    why="查询是 0 和 -ln 3，键是 0 和 2，值是 [0, 0] 和 [10, 20]；d_k = 1，平方根是 1。"
        "第一个词的分数都是 0，两份各取一半；第二个词的分数是 0 和 -2 ln 3，也就是 -ln 9，取 9/10 和 1/10。")
whole_sentence.case(
    "谁问谁，怎样缩放", [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]],
    [[0.0, 0.0, 0.0, 0.0], [np.log(9), 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]],
    [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0]], [[4.0], [0.0], [4.0]],
    expected=[[6.0], [7.0]],
    why="值是 8 和 4。第一个词的查询是 0，两份各取一半：6。第二个词的分数是 2 ln 9 和 ln 9，除以 2 以后相差 ln 3，"
        "权重 3/4 和 1/4：8 × 3/4 + 4 × 1/4 = 7。")


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


@add_position.wrong("位置接在了后面，没有加上去", "位置是加到词的向量里的，形状不变；接在后面，每个词就变长了。")
def appended(x, positions):
    return np.concatenate([x, positions[:len(x)]], axis=1)


@add_position.wrong("行数用了 d_model", "表的一行给一个词：有 n 个词，就用前 n 行，len(x)，不是 x.shape[1]。")
def as_many_as_columns(x, positions):
    return x + positions[:x.shape[1]]


@add_position.wrong("整张表都加上了", "表可能比句子长：有 n 个词，只用前 n 行。")
def whole_table(x, positions):
    return x + positions


add_position.case("位置有没有用上", [[5.0, 5.0], [5.0, 5.0]], [[1.0, 0.0], [0.0, 1.0]],
                  expected=[[6.0, 5.0], [5.0, 6.0]],
                  why="同一个词站在两个位置，加上位置以后就不同了。")
add_position.case("用表的哪几行", [[5.0, 5.0, 5.0], [0.0, 0.0, 0.0]],
                  [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [7.0, 7.0, 7.0], [9.0, 9.0, 9.0]],
                  expected=[[6.0, 5.0, 5.0], [0.0, 1.0, 0.0]], why="两个词用表的前两行，后两行用不着。")


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


@shuffled.wrong("只是整体往下挪了一位", "order 可以是任何次序：新的第 i 行要照 order[i] 去取。")
def rolled_down(output, order):
    return np.roll(output, 1, axis=0)


@shuffled.wrong("只是整体往上挪了一位", "order 可以是任何次序：新的第 i 行要照 order[i] 去取。")
def rolled_up(output, order):
    return np.roll(output, -1, axis=0)


shuffled.case("跟着词走", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]], [1, 0, 2],
              expected=[[4.0, 5.0, 6.0], [1.0, 2.0, 3.0], [7.0, 8.0, 9.0]], why="前两个词对调，第三个词不动。")
shuffled.case("从哪里取", [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]], [2, 0, 3, 1],
              expected=[[5.0, 6.0], [1.0, 2.0], [7.0, 8.0], [3.0, 4.0]],
              why="新句子的四个词，依次是原来的第 2、0、3、1 号（从 0 数起）。")
