"""第 12 节的练习：怎样量一个头。"""

import numpy as np

from .frame import Exercise

entropy = Exercise(
    "12-1", "一行权重有多分散：熵",
    task="""
    `weights` 是一个头的权重表，一行一个查询。每一行的熵是 $-\\sum_j p_j \\ln p_j$（自然对数，`0 ln 0` 算 0）。
    返回每一行的熵，形状 `(L,)`。全压在一个词上是 0，越分散越大。
    """,
    hint="""
    `np.log(0)` 是负无穷，0 乘负无穷是 nan。是 0 的地方先换成 1：`ln 1 = 0`，乘上去还是 0。
    """,
)


@entropy.stub
def my_entropy(weights):
    """每一行的熵，形状 (L,)。"""
    ...  # 你的代码


@entropy.right
def zeros_replaced(weights):
    logarithms = np.log(np.where(weights > 0, weights, 1.0))
    return -(weights * logarithms).sum(axis=-1)


@entropy.right
def plain_python(weights):
    return [sum(-p * np.log(p) for p in row if p > 0) for row in weights]


@entropy.wrong("忘了负号", "权重不大于 1，对数不大于 0；前面的负号让熵不小于 0。")
def no_minus(weights):
    return (weights * np.log(np.where(weights > 0, weights, 1.0))).sum(axis=-1)


@entropy.wrong("没有乘权重", "每个对数要乘它自己的权重再加起来。")
def unweighted(weights):
    return -np.log(np.where(weights > 0, weights, 1.0)).sum(axis=-1)


@entropy.wrong("用了以 2 为底的对数", "以 2 为底时单位是比特，也有人用；这里说的是自然对数 np.log。")
def in_bits(weights):
    return -(weights * np.log2(np.where(weights > 0, weights, 1.0))).sum(axis=-1)


@entropy.wrong("沿错了轴：按列加起来了", "一行是一个查询的权重，熵按行算。")
def by_column(weights):
    return -(weights * np.log(np.where(weights > 0, weights, 1.0))).sum(axis=0)


@entropy.wrong("权重是 0 的地方出了 nan", "0 乘 ln 0 在电脑里是 0 × (-∞) = nan；按约定它算 0。")
def zero_times_infinity(weights):
    with np.errstate(divide="ignore", invalid="ignore"):
        return -(weights * np.log(weights)).sum(axis=-1)


@entropy.wrong("整行的 nan 换成了 0", "只有权重是 0 的那一项算 0，别的项还要加；先把那里的权重换成 1 再取对数。")
def nan_to_zero(weights):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(-(weights * np.log(weights)).sum(axis=-1))


@entropy.wrong("取了平均，没有加起来", "熵是各项加起来 (sum)，不是取平均 (mean)。")
def averaged(weights):
    return -(weights * np.log(np.where(weights > 0, weights, 1.0))).mean(axis=-1)


entropy.case("每行的熵", [[0.25, 0.25, 0.25, 0.25], [0.5, 0.25, 0.125, 0.125]],
             expected=[2 * np.log(2), 1.75 * np.log(2)],
             why="第一行四个 ¼ × 2 ln 2；第二行 ½ × ln 2 + ¼ × 2 ln 2 + 2 × ⅛ × 3 ln 2。")
entropy.case("权重是 0", [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]], expected=[np.log(2), 0.0],
             why="0 ln 0 算 0：第一行剩下两个各占一半，是 ln 2；第二行全压在一个词上，一点也不分散。")


previous_word = Exercise(
    "12-2", "这个头有多看前一个词",
    task="""
    `weights` 形状 `(n, n)`，行是提问的词，列是被看的词。算出每个词给它**前一个词**的权重，取平均。
    第一个词没有前一个词，不算在内。
    """,
    hint="""
    第 1 行第 0 列，第 2 行第 1 列……是对角线往下错开一格：`np.diag(weights, -1)`。
    """,
)


@previous_word.stub
def my_previous_share(weights):
    """平均有多少权重给了前一个词，一个数。"""
    ...  # 你的代码


@previous_word.right
def lower_diagonal(weights):
    return np.diag(weights, -1).mean()


@previous_word.right
def summed_up(weights):
    n_words = len(weights)
    return sum(weights[i][i - 1] for i in range(1, n_words)) / (n_words - 1)


@previous_word.wrong("看的是后一个词", "前一个词在左边：第 i 行看第 i - 1 列。")
def next_word(weights):
    return np.diag(weights, 1).mean()


@previous_word.wrong("看的是第一个词", "每一行的前一个词不同：第 i 行看第 i - 1 列，不总是第 0 列。")
def first_word(weights):
    return weights[1:, 0].mean()


@previous_word.wrong("看的是自己", "对角线是每个词看自己；前一个词要往左错开一格。")
def itself(weights):
    return np.diag(weights).mean()


@previous_word.wrong("把第一个词也算进去了", "n 个词里只有 n - 1 个有前一个词，平均时除以 n - 1。")
def divided_by_all(weights):
    return np.trace(weights, offset=-1) / len(weights)


@previous_word.wrong("第一个词的“前一个”取到了最后一个",
                     "Python 的下标 -1 是最后一个；第一个词没有前一个词，要跳过。")
def wrapped_around(weights):
    return np.mean([weights[i, i - 1] for i in range(len(weights))])


@previous_word.wrong("加起来了，没有取平均", "句子长短不同，要除以有几个词才好比较。")
def not_averaged(weights):
    return np.trace(weights, offset=-1)


previous_word.case("两个词", [[0.9, 0.1], [0.3, 0.7]], expected=0.3, why="只有第二个词有前一个词：它给了 0.3。")
previous_word.case("三个词", [[0.1, 0.2, 0.7], [0.8, 0.1, 0.1], [0.3, 0.4, 0.3]], expected=0.6,
                   why="第二个词给第一个词 0.8，第三个词给第二个词 0.4，平均 0.6。")
