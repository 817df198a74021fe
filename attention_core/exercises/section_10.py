"""第 10 节的练习：谁可以看谁。"""

import numpy as np

from .frame import Exercise

triangle = Exercise(
    "10-1", "不许偷看后文的表",
    task="""
    一句话有 `n_words` 个词。返回一张 `(n_words, n_words)` 的表：第 i 行第 j 列是 `True`，表示第 i 个词可以看第 j 个词。
    每个词可以看自己和前面的词。
    """,
    hint="""
    左下半（连对角线）是 `True`。`np.tril` 留下左下半；也可以比较行号和列号：`j <= i`。
    """,
)


@triangle.stub
def my_causal_mask(n_words):
    """因果掩码，形状 (n, n)：True 表示可以看。"""
    ...  # 你的代码


@triangle.right
def lower_left(n_words):
    return np.tril(np.ones((n_words, n_words), dtype=bool))


@triangle.right
def compared(n_words):
    return [[j <= i for j in range(n_words)] for i in range(n_words)]


@triangle.wrong("True 和 False 反了", "这里 True 表示可以看。（有的库里 True 表示遮住，用之前要看清楚。）")
def polarity(n_words):
    return np.triu(np.ones((n_words, n_words), dtype=bool), 1)


@triangle.wrong("把对角线也关上了", "每个词可以看自己；对角线关上，第一个词就谁也看不到了。")
def diagonal_shut(n_words):
    return np.tril(np.ones((n_words, n_words), dtype=bool), -1)


@triangle.wrong("表转置了：只许看后文", "行是提问的词，列是被看的词；前面的词在左边，所以打开的是左下半。")
def transposed(n_words):
    return np.triu(np.ones((n_words, n_words), dtype=bool))


@triangle.wrong("返回的是要加到分数上的表", "这道题要 True 和 False；0 和负无穷是另一种写法，是直接加在分数上的。")
def additive(n_words):
    return np.where(np.tril(np.ones((n_words, n_words))) > 0, 0.0, -np.inf)


triangle.case("左下半", 3, expected=[[True, False, False], [True, True, False], [True, True, True]],
              why="第一个词只看自己，第二个词看前两个，第三个词看全部。")


masked = Exercise(
    "10-2", "先遮住，再归一",
    task="""
    `scores` 是分数表，`mask` 是同样形状的表，`True` 表示可以看。把不许看的格子遮住，再按行归一：
    不许看的权重是 0，每一行加起来仍然是 1。
    """,
    hint="""
    `np.where(mask, scores, -np.inf)`，e 的负无穷次方是 0。然后照常按行 softmax。
    """,
)


@masked.stub
def my_masked_softmax(scores, mask):
    """遮住不许看的格子以后的权重，形状不变。"""
    ...  # 你的代码


def _softmax(scores):
    with np.errstate(over="ignore", invalid="ignore"):
        grown = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return grown / grown.sum(axis=-1, keepdims=True)


@masked.right
def minus_infinity(scores, mask):
    shut = np.where(mask, scores, -np.inf)
    grown = np.exp(shut - shut.max(axis=-1, keepdims=True))
    return grown / grown.sum(axis=-1, keepdims=True)


@masked.right
def only_the_visible(scores, mask):
    weights = np.zeros(scores.shape)
    for row, look, line in zip(scores, mask, weights):
        grown = np.exp(row[look] - row[look].max())
        line[look] = grown / grown.sum()
    return weights


@masked.wrong("没有遮", "不许看的格子也分到了权重。")
def not_masked(scores, mask):
    return _softmax(scores)


@masked.wrong("True 和 False 反了", "mask 里 True 是可以看的；这样遮住的恰好是许看的格子。")
def polarity_swapped(scores, mask):
    return _softmax(np.where(mask, -np.inf, scores))


@masked.wrong("归一以后才遮",
              "先归一，被遮的词已经分走了份额；再清成 0，一行加起来就不到 1 了。要在 softmax 之前填负无穷。")
def masked_late(scores, mask):
    return _softmax(scores) * mask


@masked.wrong("遮住的分数填了 0，不是负无穷", "e 的 0 次方是 1，填 0 的格子照样分到份额；负无穷的次方才是 0。")
def zero_filled(scores, mask):
    return _softmax(np.where(mask, scores, 0.0))


@masked.wrong("归一以后才遮，再补一次归一",
              "平时结果一样，可是被遮的分数很大时，别的权重已经成了 0，再补也只有 0/0 = nan。")
def renormalised(scores, mask):
    weights = _softmax(scores) * mask
    with np.errstate(invalid="ignore"):
        return weights / weights.sum(axis=-1, keepdims=True)


masked.case("遮住的不分份额", [[0.0, np.log(3), np.log(4)]], [[True, True, False]], expected=[[0.25, 0.75, 0.0]],
            why="只剩前两个分数，e 的次方是 1 和 3，各占 1/4 和 3/4。")
masked.case("被遮的分数很大", [[0.0, np.log(3), 2000.0]], [[True, True, False]], expected=[[0.25, 0.75, 0.0]],
            why="遮住的格子里不管是多大的数，都不应该有影响。")


padding = Exercise(
    "10-3", "补齐的空位",
    task="""
    几句话长短不一，短的在后面补空位，补到一样长。一句真正有 `length` 个词的话补到了 `n_words` 个位置。
    返回 `(n_words, n_words)` 的表，`True` 表示可以看：谁都不许看空位。（空位自己的那几行不用管，照样填。）
    """,
    hint="""
    空位是不许被**看**的，被看的是键，键在列上。每一行都一样：前 `length` 列是 `True`。
    """,
)


@padding.stub
def my_padding_mask(length, n_words):
    """遮住空位的表，形状 (n_words, n_words)：True 表示可以看。"""
    ...  # 你的代码


@padding.right
def same_row_repeated(length, n_words):
    return np.tile(np.arange(n_words) < length, (n_words, 1))


@padding.right
def filled_columns(length, n_words):
    mask = np.zeros((n_words, n_words), dtype=bool)
    mask[:, :length] = True
    return mask


@padding.wrong("遮的是查询，不是键", "空位不许被看，被看的是键，在列上。遮掉行，真正的词还是会看到空位。")
def queries(length, n_words):
    mask = np.zeros((n_words, n_words), dtype=bool)
    mask[:length] = True
    return mask


@padding.wrong("行和列都遮了", "空位那几行不用管。整行都遮住，那一行就谁也看不到了。")
def both(length, n_words):
    real = np.arange(n_words) < length
    return np.outer(real, real)


@padding.wrong("True 和 False 反了", "True 表示可以看，空位那几列才是 False。")
def reversed_meaning(length, n_words):
    return np.tile(np.arange(n_words) >= length, (n_words, 1))


@padding.wrong("多放进来一个空位", "位置从 0 数起：length 个词占 0 到 length - 1。")
def one_too_many(length, n_words):
    return np.tile(np.arange(n_words) <= length, (n_words, 1))


padding.case("空位在列上", 2, 4, expected=[[True, True, False, False]] * 4,
             why="4 个位置里只有前两个是词，每一行都只能看前两列。")


empty_row = Exercise(
    "10-4", "一个都不许看的行",
    task="""
    和 10-2 一样，可是有的行一个格子都不许看。这样的行权重全是 0，不能是 `nan`，也不能平均分给不许看的格子。
    """,
    hint="""
    整行都是负无穷时，最大值也是负无穷，(-∞) - (-∞) 是 nan。也可以先不管负无穷：减去许看的最大值，
    取次方，乘上 mask；总和是 0 的行，除以 1。
    """,
)


@empty_row.stub
def my_safe_softmax(scores, mask):
    """遮住以后的权重；一个都不许看的行全是 0。"""
    ...  # 你的代码


@empty_row.right
def divide_where_possible(scores, mask):
    shut = np.where(mask, scores, -np.inf)
    largest = shut.max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    grown = np.exp(shut - largest)
    total = grown.sum(axis=-1, keepdims=True)
    return grown / np.where(total == 0, 1.0, total)


@empty_row.right
def row_by_row(scores, mask):
    weights = np.zeros(scores.shape)
    for row, look, line in zip(scores, mask, weights):
        if look.any():
            grown = np.exp(row[look] - row[look].max())
            line[look] = grown / grown.sum()
    return weights


@empty_row.wrong("没有照顾全遮住的行，出了 nan",
                 "整行都是负无穷，减去最大值就是 (-∞) - (-∞) = nan。这样的行要单独处理。")
def plain_infinity(scores, mask):
    return _softmax(np.where(mask, scores, -np.inf))


@empty_row.wrong("填了 -1e9，全遮住的行变成了平均", "都是 -1e9，彼此不相上下，softmax 就平均分给了不许看的格子。")
def large_negative(scores, mask):
    return _softmax(np.where(mask, scores, -1e9))


@empty_row.wrong("归一以后才遮", "被遮的词已经分走了份额，别的行加起来就不到 1 了。")
def masked_afterwards(scores, mask):
    return _softmax(scores) * mask


empty_row.case("平常的行", [[0.0, np.log(3), np.log(4)]], [[True, True, False]], expected=[[0.25, 0.75, 0.0]],
               why="只剩前两个分数，各占 1/4 和 3/4。")
empty_row.case("全遮住的行", [[0.0, np.log(3)], [0.0, np.log(3)]], [[True, True], [False, False]],
               expected=[[0.25, 0.75], [0.0, 0.0]], why="第二行一个都不许看，什么也取不走，权重全是 0。")
