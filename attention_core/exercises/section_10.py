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


@triangle.wrong("全都打开了", "读到第 i 个词时，后面的词还没有写出来：右上半要关上。")
def all_open(n_words):
    return np.ones((n_words, n_words), dtype=bool)


@triangle.wrong("多打开了一格", "看到自己为止：后一个词也不许看，对角线上面那一格要关上。")
def one_ahead(n_words):
    return np.tri(n_words, k=1, dtype=bool)


@triangle.wrong("只打开了自己和前一个词", "前面的词全都可以看，不只是紧挨着的那一个。")
def only_neighbour(n_words):
    return np.eye(n_words, dtype=bool) | np.eye(n_words, k=-1, dtype=bool)


triangle.case("两个词", 2, expected=[[True, False], [True, True]], why="第一个词只看自己，第二个词看两个。")
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


@masked.wrong("归一沿错了轴：每一列加起来是 1",
              "一行是一个查询，它的权重在这一行里加起来是 1，所以要沿最后一轴 (axis=-1)。")
def wrong_axis(scores, mask):
    grown = np.exp(np.where(mask, scores, -np.inf))
    with np.errstate(invalid="ignore"):
        return grown / grown.sum(axis=0, keepdims=True)


@masked.wrong("整张表一起归一了", "每一行要各自归一；整张表一起除，每行只分到一部分。")
def whole_table(scores, mask):
    grown = np.exp(np.where(mask, scores, -np.inf))
    return grown / grown.sum()


@masked.wrong("遮得太晚：被遮的分数已经进了次方，再补一次归一",
              "平时结果一样。可是被遮的分数很大时，它的次方是无穷大，或者把别的权重都挤成了 0；再归一，只剩 nan。")
def renormalised(scores, mask):
    weights = _softmax(scores) * mask
    with np.errstate(invalid="ignore"):
        return weights / weights.sum(axis=-1, keepdims=True)


@masked.wrong("减去的数不够大，没有遮住",
              "从分数里减去 1000，只在分数比 1000 小得多时才遮得住；填负无穷，分数多大都遮得住。")
def subtracted_too_little(scores, mask):
    return _softmax(np.where(mask, scores, scores - 1000))


@masked.wrong("少了 keepdims=True",
              "按行求最大、求和，结果少了一轴，与表的各行对不上；加上 keepdims=True，它才立着，对着各行。")
def without_keepdims(scores, mask):
    grown = np.exp(np.where(mask, scores, -np.inf))
    return grown / grown.sum(axis=-1)


masked.case("遮住的不分份额", [[0.0, np.log(3), np.log(4)], [np.log(3), np.log(4), 0.0]],
            [[True, True, False], [True, False, True]], expected=[[0.25, 0.75, 0.0], [0.75, 0.0, 0.25]],
            why="第一行只剩前两个分数，e 的次方是 1 和 3，各占 1/4 和 3/4；第二行剩一头一尾，是 3 和 1。")
masked.case("被遮的分数很大", [[0.0, 2000.0, np.log(3)]], [[True, False, True]], expected=[[0.25, 0.0, 0.75]],
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


@padding.wrong("空位放到前面去了", "空位补在后面，前面的是词：前 length 列是 True。")
def padded_in_front(length, n_words):
    return np.tile(np.arange(n_words) >= n_words - length, (n_words, 1))


@padding.wrong("没有遮空位", "谁都不许看空位：后面那几列要关上。")
def nothing_shut(length, n_words):
    return np.ones((n_words, n_words), dtype=bool)


@padding.wrong("把 length 当成了空位的个数", "length 是真正的词有几个：前 length 列是 True。")
def length_of_the_padding(length, n_words):
    return np.tile(np.arange(n_words) < n_words - length, (n_words, 1))


@padding.wrong("遮了后文", "不许看后文是另一张表（10-1）的事；这张表只管空位。")
def causal_too(length, n_words):
    return np.tri(n_words, dtype=bool) & (np.arange(n_words) < length)


padding.case("没有空位", 3, 3, expected=[[True] * 3] * 3, why="三个位置都是词，谁都可以看。")
padding.case("空位在列上", 1, 4, expected=[[True, False, False, False]] * 4,
             why="4 个位置里只有第一个是词，每一行都只能看第一列。")


empty_row = Exercise(
    "10-4", "一个都不许看的行",
    task="""
    和 10-2 一样，可是有的行一个格子都不许看。这样的行权重全是 0，不能是 `nan`，也不能平均分给不许看的格子。
    """,
    hint="""
    整行都是负无穷时，最大值也是负无穷，(-∞) - (-∞) 是 nan。所以最大值不是有限的数时 (`np.isfinite`)，换成 0：
    这一行的次方就全是 0。总和是 0 的行，除以 1。
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


@empty_row.wrong("归一沿错了轴：每一列加起来是 1",
                 "一行是一个查询，它的权重在这一行里加起来是 1，所以要沿最后一轴 (axis=-1)。")
def columns_normalised(scores, mask):
    grown = np.exp(np.where(mask, scores, -np.inf))
    total = grown.sum(axis=0, keepdims=True)
    return grown / np.where(total == 0, 1.0, total)


@empty_row.wrong("整张表一起归一了", "每一行要各自归一；整张表一起除，每行只分到一部分。")
def all_together(scores, mask):
    grown = np.exp(np.where(mask, scores, -np.inf))
    return grown / grown.sum()


@empty_row.wrong("取了次方才乘 mask，出了 nan",
                 "被遮的分数很大时，它的次方是无穷大，乘 0 就是 nan。先把不许看的格子填成负无穷，再取次方。")
def multiplied_by_mask(scores, mask):
    with np.errstate(over="ignore", invalid="ignore"):
        grown = np.exp(scores) * mask
        total = grown.sum(axis=-1, keepdims=True)
        return grown / np.where(total == 0, 1.0, total)


@empty_row.wrong("遮得太晚，再把 nan 换成了 0",
                 "被遮的分数很大时，许看的格子也成了 0/0 = nan，跟着一起变成了 0。要在取次方之前遮。")
def late_and_patched(scores, mask):
    weights = _softmax(scores) * mask
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(weights / weights.sum(axis=-1, keepdims=True))


@empty_row.wrong("少了 keepdims=True",
                 "按行求最大、求和，结果少了一轴，与表的各行对不上；加上 keepdims=True，它才立着，对着各行。")
def keepdims_left_out(scores, mask):
    grown = np.exp(np.where(mask, scores, -np.inf))
    total = grown.sum(axis=-1)
    return grown / np.where(total == 0, 1.0, total)


empty_row.case("平常的行", [[0.0, np.log(3), np.log(4)], [np.log(3), np.log(4), 0.0]],
               [[True, True, False], [True, False, True]], expected=[[0.25, 0.75, 0.0], [0.75, 0.0, 0.25]],
               why="第一行只剩前两个分数，各占 1/4 和 3/4；第二行剩一头一尾，各占 3/4 和 1/4。")
empty_row.case("全遮住的行", [[0.0, np.log(3)], [0.0, np.log(3)]], [[True, True], [False, False]],
               expected=[[0.25, 0.75], [0.0, 0.0]], why="第二行一个都不许看，什么也取不走，权重全是 0。")
empty_row.case("被遮的分数很大", [[np.log(3), 0.0, 2000.0]], [[True, True, False]], expected=[[0.75, 0.25, 0.0]],
               why="和 10-2 一样：遮住的格子里不管是多大的数，都不应该有影响。")
