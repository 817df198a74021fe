"""第 11 节的练习：一段去查另一段。"""

import numpy as np

from .frame import Exercise

across = Exercise(
    "11-1", "一段去查另一段",
    task="""
    `target` 是正在写的那段，形状 `(L, d)`；`source` 是已经读完的那段，形状 `(S, d)`。查询来自 `target`，键和值都来自
    `source`（这里不乘矩阵，直接拿来用）。做缩放点积注意力，返回 `(L, d)`。
    """,
    hint="""
    谁在问，谁就有一行新表示。`scores = target @ source.T / np.sqrt(source.shape[-1])`，形状 `(L, S)`。
    """,
)


@across.stub
def my_cross_attention(target, source):
    """target 查 source，形状 (L, d)。"""
    ...  # 你的代码


def _attend(query, key, value, *, axis=-1, divisor=None):
    """几种错法共用的三步；谁当查询、键、值，除以什么，由它们自己定。"""
    grown = np.exp(query @ key.T / (divisor or np.sqrt(key.shape[-1])))
    return grown / grown.sum(axis=axis, keepdims=True) @ value


@across.right
def three_steps(target, source):
    scores = target @ source.T / np.sqrt(source.shape[-1])  # (L, S)
    grown = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = grown / grown.sum(axis=-1, keepdims=True)  # (L, S)
    return weights @ source  # (L, d)


@across.right
def one_query_at_a_time(target, source):
    rows = []
    for query in target:
        grown = np.exp(source @ query / len(query) ** 0.5)
        rows.append((grown[:, None] * source).sum(axis=0) / grown.sum())
    return rows


@across.wrong("查询和键取反了：变成 source 查 target", "在写的那段提问，读完的那段被查；有几个查询就有几行输出。")
def other_way_round(target, source):
    return _attend(source, target, target)


@across.wrong("自己查了自己", "那是自注意力，source 一点没有用上；键和值都要来自 source。")
def self_attention(target, source):
    return _attend(target, target, target)


@across.wrong("source 查了自己", "查询要来自 target。")
def source_itself(target, source):
    return _attend(source, source, source)


@across.wrong("取走的是 target 自己", "权重是对着 source 算的，取走的值也要来自 source。")
def own_values(target, source):
    return _attend(target, source, target)


@across.wrong("没有缩放", "分数要除以 d 的平方根。")
def not_scaled(target, source):
    return _attend(target, source, source, divisor=1)


@across.wrong("除以了 d，忘了开平方", "要除以的是 d 的平方根。")
def without_root(target, source):
    return _attend(target, source, source, divisor=source.shape[-1])


@across.wrong("按 source 的词数缩放了", "让点积变大的是一个向量里有几个数 d，不是有几个词。")
def by_number_of_keys(target, source):
    return _attend(target, source, source, divisor=np.sqrt(len(source)))


@across.wrong("按 target 的词数缩放了", "让点积变大的是一个向量里有几个数 d，不是有几个词。")
def by_number_of_queries(target, source):
    return _attend(target, source, source, divisor=np.sqrt(len(target)))


@across.wrong("一律除以 2 了", "只有 d = 4 时平方根才是 2；d 要从形状里读：source.shape[-1]。")
def halved(target, source):
    return _attend(target, source, source, divisor=2)


@across.wrong("停在了权重这一步", "权重算好以后，还要用它把 source 掺起来：weights @ source。")
def only_weights(target, source):
    return _attend(target, source, np.eye(len(source)))


@across.wrong("没有取 e 的次方", "权重不是分数直接除以总和：要先取 e 的分数次方，再除以总和。")
def no_exponential(target, source):
    scores = target @ source.T / np.sqrt(source.shape[-1])
    return scores / scores.sum(axis=-1, keepdims=True) @ source


@across.wrong("还没有除以总和", "取了 e 的次方，还要除以这一行的总和，权重加起来才是 1。")
def not_divided(target, source):
    return np.exp(target @ source.T / np.sqrt(source.shape[-1])) @ source


@across.wrong("跳过了归一", "分数直接当权重，每行加起来不是 1。中间要过 softmax。")
def no_softmax(target, source):
    return target @ source.T / np.sqrt(source.shape[-1]) @ source


@across.wrong("归一沿错了轴：每一列加起来是 1", "每个查询的份额在它自己的一行里。")
def columns_normalised(target, source):
    return _attend(target, source, source, axis=0)


@across.wrong("键忘了转置", "每个键是一行；要与每个查询做点积，键得竖过来：target @ source.T。")
def keys_not_transposed(target, source):
    return target @ source


@across.wrong("少了 keepdims=True",
              "按行求最大、求和，结果少了一轴，与表的各行对不上；加上 keepdims=True，它才立着，对着各行。")
def without_keepdims(target, source):
    grown = np.exp(target @ source.T / np.sqrt(source.shape[-1]))
    return grown / grown.sum(axis=-1) @ source


across.case("形状由谁定", [[np.log(2)], [np.log(8)]], [[0.0], [-1.0], [-1.0]], expected=[[-0.5], [-0.2]],
            why="两个查询、三个键：输出有两行。e 的次方是 1、1/2、1/2 和 1、1/8、1/8，后两份合起来占 1/2 和 1/5。")
across.case("取谁的值，怎样缩放", [[np.log(9), 0.0, 0.0, 0.0]], [[0.0, 4.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]],
            expected=[[0.75, 1.0, 0.0, 0.0]],
            why="分数是 0 和 ln 9；d = 4，除以 2 成了 0 和 ln 3，权重 1/4 和 3/4，取 source 的两行。")


source_mask = Exercise(
    "11-2", "原文的空位",
    task="""
    原文 `source` 补到了 `n_source` 个位置，真正的词只有前 `source_length` 个；译文有 `n_target` 个词。
    返回交叉注意力要的表，`True` 表示可以看，形状 `(n_target, n_source)`。
    """,
    hint="""
    行是译文（提问），列是原文（被看）。原文已经读完了，没有“后文”要遮，只遮空位。
    """,
)


@source_mask.stub
def my_source_mask(n_target, source_length, n_source):
    """译文看原文时的掩码，形状 (n_target, n_source)。"""
    ...  # 你的代码


@source_mask.right
def repeated_row(n_target, source_length, n_source):
    return np.tile(np.arange(n_source) < source_length, (n_target, 1))


@source_mask.right
def list_of_lists(n_target, source_length, n_source):
    return [[True] * source_length + [False] * (n_source - source_length)] * n_target


@source_mask.wrong("行和列对调了", "提问的译文在行上，被看的原文在列上：(n_target, n_source)。")
def rows_and_columns(n_target, source_length, n_source):
    return np.tile(np.arange(n_source) < source_length, (n_target, 1)).T


@source_mask.wrong("True 和 False 反了", "True 表示可以看，空位才是 False。")
def reversed_meaning(n_target, source_length, n_source):
    return np.tile(np.arange(n_source) >= source_length, (n_target, 1))


@source_mask.wrong("用了因果掩码", "原文已经整句读完，译文的每个词都可以看原文的每个词；遮的只有空位。")
def causal(n_target, source_length, n_source):
    return np.tri(n_target, n_source, dtype=bool) & (np.arange(n_source) < source_length)


@source_mask.wrong("遮了译文的行", "空位在原文里，原文是键，在列上。")
def target_rows(n_target, source_length, n_source):
    return np.tile((np.arange(n_target) < source_length)[:, None], (1, n_source))


@source_mask.wrong("没有遮空位", "谁都不许看原文的空位：后面那几列要关上。")
def nothing_shut(n_target, source_length, n_source):
    return np.ones((n_target, n_source), dtype=bool)


@source_mask.wrong("把 source_length 当成了空位的个数", "source_length 是真正的词有几个：前 source_length 列是 True。")
def length_of_the_padding(n_target, source_length, n_source):
    return np.tile(np.arange(n_source) < n_source - source_length, (n_target, 1))


@source_mask.wrong("空位放到前面去了", "空位补在后面，前面的是词：前 source_length 列是 True。")
def padded_in_front(n_target, source_length, n_source):
    return np.tile(np.arange(n_source) >= n_source - source_length, (n_target, 1))


@source_mask.wrong("多放进来一个空位", "位置从 0 数起：source_length 个词占 0 到 source_length - 1。")
def one_too_many(n_target, source_length, n_source):
    return np.tile(np.arange(n_source) <= source_length, (n_target, 1))


source_mask.case("没有空位", 2, 3, 3, expected=[[True] * 3] * 2, why="译文 2 行，原文 3 列，都是词，全都可以看。")
source_mask.case("列是原文", 3, 1, 4, expected=[[True, False, False, False]] * 3,
                 why="译文 3 行，每行都只能看原文的第一个词，看不到三个空位。")


alignment = Exercise(
    "11-3", "译文的每个词，最看原文的哪个词",
    task="""
    `weights` 形状 `(L, S)`，行是译文的词，列是原文的词；`source_words` 是原文的词。
    返回一个列表：译文的每个词权重最大的那个原文词。
    """,
    hint="""
    `weights.argmax(axis=-1)` 给出每一行最大的列号。
    """,
)


@alignment.stub
def my_alignment(weights, source_words):
    """译文的每个词最看哪个原文词，长度 L 的列表。"""
    ...  # 你的代码


@alignment.right
def best_of_each_row(weights, source_words):
    return [source_words[place] for place in weights.argmax(axis=-1)]


@alignment.right
def largest_pair(weights, source_words):
    return [max(zip(row, source_words))[1] for row in weights]


@alignment.wrong("沿错了轴：找的是每一列的最大", "每个译文词的权重在一行里，要沿最后一轴 (axis=-1) 找。")
def each_column(weights, source_words):
    return [source_words[place] for place in weights.argmax(axis=0)]


@alignment.wrong("找成了权重最小的", "权重越大，看得越多。")
def smallest(weights, source_words):
    return [source_words[place] for place in weights.argmin(axis=-1)]


@alignment.wrong("当成逐词对应了", "译文的第几个词不一定对着原文的第几个词，要看权重。")
def same_place(weights, source_words):
    return source_words[:len(weights)]


@alignment.wrong("一个原文词只用了一次", "几个译文词可以最看同一个原文词：每一行各找各的。")
def one_to_one(weights, source_words):
    found = []
    for row in weights:
        left = [place for place in range(len(row)) if source_words[place] not in found]
        found.append(source_words[max(left, key=lambda place, row=row: row[place])])
    return found


@alignment.wrong("停在了列号", "列号还要换成词：source_words[列号]。")
def column_numbers(weights, source_words):
    return weights.argmax(axis=-1)


alignment.case("每一行找最大", [[0.3, 0.1, 0.6], [0.5, 0.2, 0.3]], ["猫", "很", "累"],
               expected=["累", "猫"], why="第一行最大的是 0.6，在「累」那一列；第二行是 0.5，在「猫」那一列。")
alignment.case("两行可以是同一个", [[0.1, 0.2, 0.7], [0.5, 0.3, 0.2], [0.2, 0.1, 0.7]], ["它", "没", "过"],
               expected=["过", "它", "过"], why="第一行和第三行最大的都在「过」那一列。")
