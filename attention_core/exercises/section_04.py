"""第 4 节的练习：打分、归一、加权求和。"""

import numpy as np

from .frame import Exercise

to_weights = Exercise(
    "04-1", "把分数变成权重",
    task="""
    `scores` 是一张分数表，一行是一个查询（也可能只有一行，形状 `(S,)`）。把**每一行**各自变成权重：
    e 的分数次方，除以这一行的总和。分数可能很大，例如 1000。
    """,
    hint="""
    `np.exp(1000)` 是无穷大。一行里的分数同时减去这一行最大的那个，权重不变，而最大的次方成了 e 的 0 次方。
    按行取最大、按行求和：`axis=-1, keepdims=True`。
    """,
)


@to_weights.stub
def my_softmax(scores):
    """把每一行分数变成权重，形状不变。"""
    ...  # 你的代码


@to_weights.right
def largest_subtracted(scores):
    grown = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return grown / grown.sum(axis=-1, keepdims=True)


@to_weights.right
def by_logarithm(scores):
    total = np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    return np.exp(scores - total)


@to_weights.wrong("权重加起来不是 1", "取了 e 的次方，还要除以总和。")
def not_divided(scores):
    return np.exp(scores - scores.max(axis=-1, keepdims=True))


@to_weights.wrong("没有取 e 的次方", "直接除以总和的话，分数差多少倍权重就差多少倍，而且负分会给出负的权重。")
def plain_shares(scores):
    return scores / scores.sum(axis=-1, keepdims=True)


@to_weights.wrong("归一沿错了轴：每一列加起来是 1",
                  "一行是一个查询，它的权重在这一行里加起来是 1，所以要沿最后一轴 (axis=-1)。")
def wrong_axis(scores):
    grown = np.exp(scores - scores.max(axis=0, keepdims=True))
    return grown / grown.sum(axis=0, keepdims=True)


@to_weights.wrong("整张表一起归一了", "每一行要各自归一；整张表一起除，每行只分到一部分。")
def whole_table(scores):
    grown = np.exp(scores - scores.max())
    return grown / grown.sum()


@to_weights.wrong("全给了分数最高的一个", "softmax 给每个位置都留一份：分数低的少一些，不是 0。")
def winner_takes_all(scores):
    return np.where(np.arange(scores.shape[-1]) == scores.argmax(axis=-1)[..., None], 1.0, 0.0)


@to_weights.wrong("减的是整张表的最大值",
                  "每一行减自己这一行的。别的行大得多时，这一行减完再取次方，全成了 0，0/0 就是 nan。")
def largest_of_all(scores):
    grown = np.exp(scores - scores.max())
    return grown / grown.sum(axis=-1, keepdims=True)


@to_weights.wrong("没有先减去最大值",
                  "e 的 1000 次方装不进浮点数，成了无穷大，∞ 除以 ∞ 就是 nan。先减去最大的分数，比例不变。")
def no_maximum(scores):
    grown = np.exp(scores)
    return grown / grown.sum(axis=-1, keepdims=True)


@to_weights.wrong("少了 keepdims=True",
                  "按行求最大、求和，结果少了一轴，与表的各行对不上；加上 keepdims=True，它才立着，对着各行。")
def without_keepdims(scores):
    grown = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return grown / grown.sum(axis=-1)


to_weights.case("一行", [0.0, np.log(3)], expected=[0.25, 0.75], why="e 的次方是 1 和 3，总和 4，各占 1/4 和 3/4。")
to_weights.case("沿哪一轴归一", [[0.0, np.log(3)], [np.log(3), 0.0], [np.log(3), np.log(3)]],
                expected=[[0.25, 0.75], [0.75, 0.25], [0.5, 0.5]], why="三个查询各有一行，每行各自加起来是 1。")
to_weights.case("很大的分数", [[0.0, np.log(3)], [1000.0, 1000.0 + np.log(3)]], expected=[[0.25, 0.75], [0.25, 0.75]],
                why="只看一行里相差多少：1000 和 1000 + ln 3，与 0 和 ln 3 的权重一样。")


with_temperature = Exercise(
    "04-2", "带温度的 softmax",
    task="""
    `scores` 是一行分数，`temperature` 是温度（正数）。温度低，最大的更突出；温度高，更平均。
    """,
    hint="""
    分数先除以温度，再做上一题的 softmax。
    """,
)


@with_temperature.stub
def my_softmax_at(scores, temperature):
    """温度为 temperature 时的权重，形状 (S,)。"""
    ...  # 你的代码


@with_temperature.right
def divided_first(scores, temperature):
    scaled = scores / temperature
    grown = np.exp(scaled - scaled.max())
    return grown / grown.sum()


@with_temperature.right
def power_of_weights(scores, temperature):
    grown = np.exp(scores - scores.max()) ** (1 / temperature)
    return grown / grown.sum()


@with_temperature.wrong("温度乘上去了", "温度要除。乘上去就反了：温度越高反而越集中。")
def multiplied(scores, temperature):
    grown = np.exp(scores * temperature - (scores * temperature).max())
    return grown / grown.sum()


@with_temperature.wrong("温度没有起作用",
                        "减去温度，或者取了次方以后才除，温度都会在分子分母里约掉；要在取次方之前除。")
def ignored(scores, temperature):
    grown = np.exp(scores - scores.max())
    return grown / grown.sum()


@with_temperature.wrong("归一以后才除以温度",
                        "那样权重加起来就不是 1，各个权重之间的比例也一点没变。温度要在 softmax 之前除。")
def divided_late(scores, temperature):
    grown = np.exp(scores - scores.max())
    return grown / grown.sum() / temperature


@with_temperature.wrong("没有取 e 的次方", "除过温度的分数还不是权重：要取 e 的次方，再除以总和。")
def no_exponential(scores, temperature):
    return scores / temperature / (scores / temperature).sum()


@with_temperature.wrong("减去的不是除过温度以后的最大值（或者没有减）",
                        "温度很低时，除过的分数很大，e 的次方会溢出成无穷大。先除以温度，再减去除过的最大值。")
def overflowing(scores, temperature):
    grown = np.exp(scores / temperature)
    return grown / grown.sum()


with_temperature.case("温度", [0.0, np.log(4), np.log(25)], 2.0, expected=[0.125, 0.25, 0.625],
                      why="除以 2 以后，e 的次方从 1、4、25 变成 1、2、5：总和 8，各占 1/8、2/8、5/8。")
with_temperature.case("很大的分数，低的温度", [1000.0, 1000.0 + np.log(2)], 0.5, expected=[0.2, 0.8],
                      why="除以 0.5，相差就从 ln 2 变成 2 ln 2，也就是 ln 4：各占 1/5 和 4/5，分数多大都一样。")


one_row = Exercise(
    "04-3", "把一行从头算到尾",
    task="""
    一个查询 `query`（形状 `(d_k,)`），键 `keys`（`(S, d_k)`），值 `values`（`(S, d_v)`）。
    打分（点积，先不缩放）、归一、加权求和，返回新表示，形状 `(d_v,)`。
    """,
    hint="""
    `scores = keys @ query`；归一用 04-1 的办法；最后 `weights @ values`。
    """,
)


@one_row.stub
def my_attention_row(query, keys, values):
    """一个查询的三步：打分、归一、加权求和，形状 (d_v,)。"""
    ...  # 你的代码


@one_row.right
def three_steps(query, keys, values):
    scores = keys @ query  # (S,)
    grown = np.exp(scores - scores.max())
    weights = grown / grown.sum()  # (S,)
    return weights @ values  # (d_v,)


@one_row.right
def loop_row(query, keys, values):
    total, mixed = 0.0, 0.0
    for key, value in zip(keys, values):
        share = np.exp(np.dot(query, key))
        total, mixed = total + share, mixed + share * value
    return mixed / total


@one_row.wrong("跳过了归一", "分数直接当权重，加起来不是 1，负分还会倒扣。中间要过 softmax。")
def no_softmax(query, keys, values):
    return keys @ query @ values


@one_row.wrong("权重加起来不是 1", "取了 e 的次方，还要除以总和。")
def no_total(query, keys, values):
    return np.exp(keys @ query) @ values


@one_row.wrong("减了最大值，还没有除以总和", "减最大值只是为了不溢出；权重要加起来是 1，还得除以总和。")
def only_shifted(query, keys, values):
    scores = keys @ query
    return np.exp(scores - scores.max()) @ values


@one_row.wrong("停在了权重这一步", "权重算好以后，还要加权求和：weights @ values。")
def only_weights(query, keys, values):
    grown = np.exp(keys @ query)
    return grown / grown.sum()


@one_row.wrong("把值当成了键", "打分用键 (keys)；值 (values) 只在最后一步被取走。")
def values_as_keys(query, keys, values):
    grown = np.exp(values @ query)
    return grown / grown.sum() @ values


@one_row.wrong("取走了键，没有取值", "键只负责被比较；按权重取走的是值 (values)。")
def keys_as_values(query, keys, values):
    grown = np.exp(keys @ query)
    return grown / grown.sum() @ keys


@one_row.wrong("只取了分数最高的一份", "第三步是加权求和：每个位置的值都按权重取一份。")
def winner_only(query, keys, values):
    return values[np.argmax(keys @ query)]


@one_row.wrong("没有取 e 的次方", "归一不是分数直接除以总和：要先取 e 的分数次方，再除以总和。")
def plain_row(query, keys, values):
    scores = keys @ query
    return scores / scores.sum() @ values


@one_row.wrong("缩放了", "缩放是下一节的事；这道题的分数就是点积，不除以什么。")
def scaled(query, keys, values):
    grown = np.exp(keys @ query / np.sqrt(len(query)))
    return grown / grown.sum() @ values


@one_row.wrong("键忘了转置", "query @ keys 是把各个键加在一起；要让每个键各自与查询做点积：keys @ query。")
def keys_not_transposed(query, keys, values):
    grown = np.exp(query @ keys)
    return grown / grown.sum() @ values


one_row.case("归一", [0.0, 1.0], [[5.0, 3.0], [7.0, 3.0]], [[3.0, 0.0], [3.0, 4.0]], expected=[3.0, 2.0],
             why="两个分数都是 3，权重各一半。")
one_row.case("从分数到权重", [1.0, 0.0], [[0.0, 5.0], [np.log(2), 1.0], [np.log(5), 7.0]], [[8.0], [0.0], [8.0]],
             expected=[6.0], why="分数是 0、ln 2、ln 5，权重 1/8、2/8、5/8：8 × 1/8 + 8 × 5/8 = 6。")


ratio = Exercise(
    "04-4", "两个权重差几倍",
    task="""
    同一行里，甲的分数是 `score_a`，乙的分数是 `score_b`（温度为 1）。过了 softmax，甲的权重是乙的几倍？
    不用知道这一行还有谁。
    """,
    hint="""
    两个权重的分母是同一个总和，相除就约掉了。
    """,
)


@ratio.stub
def my_ratio(score_a, score_b):
    """甲的权重是乙的几倍。"""
    ...  # 你的代码


@ratio.right
def from_difference(score_a, score_b):
    return np.exp(score_a - score_b)


@ratio.right
def from_powers(score_a, score_b):
    return np.e ** score_a / np.e ** score_b


@ratio.wrong("用了分数之比", "softmax 看的是分数之差：倍数是 e 的差次方。")
def score_ratio(score_a, score_b):
    return score_a / score_b


@ratio.wrong("倍数反了", "这是乙对甲的倍数。甲的分数高，甲的权重就大，倍数应该大于 1。")
def upside_down(score_a, score_b):
    return np.exp(score_b - score_a)


@ratio.wrong("只算了分数之差", "差还要放到 e 的指数上，才是倍数。")
def only_difference(score_a, score_b):
    return score_a - score_b


@ratio.wrong("取了分数之差的绝对值", "甲的分数比乙低时，甲的权重比乙小，倍数小于 1。")
def absolute_difference(score_a, score_b):
    return np.exp(abs(score_a - score_b))


@ratio.wrong("算成了甲的权重", "甲的权重要看这一行里所有的分数；这里问的是甲的权重除以乙的权重。")
def weight_of_a(score_a, score_b):
    return np.exp(score_a) / (np.exp(score_a) + np.exp(score_b))


ratio.case("差变成倍数", 3.0 + np.log(2), 3.0, expected=2.0, why="相差 ln 2，就是 2 倍。")
ratio.case("甲的分数低", 1.0, 1.0 + np.log(4), expected=0.25, why="低 ln 4，就是 1/4 倍。")
