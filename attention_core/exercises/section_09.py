"""第 9 节的练习：切成几个头，再拼起来。"""

import numpy as np

from .frame import Exercise

split = Exercise(
    "09-1", "切成几个头",
    task="""
    `x` 形状 `(n, d_model)`，一行一个词。把每个词的向量切成 `n_heads` 段，一段给一个头，
    返回 `(n_heads, n, d_model // n_heads)`。
    """,
    hint="""
    先 `reshape` 成 `(n, n_heads, d_k)`：每一行各自切段；再把前两轴换过来。
    """,
)


@split.stub
def my_split_heads(x, n_heads):
    """切成几个头，形状 (n_heads, n, d_k)。"""
    ...  # 你的代码


@split.right
def reshape_then_swap(x, n_heads):
    n_words, d_model = x.shape
    heads = x.reshape(n_words, n_heads, d_model // n_heads)  # (n, h, d_k)
    return heads.transpose(1, 0, 2)  # (h, n, d_k)


@split.right
def cut_columns(x, n_heads):
    return np.stack(np.split(x, n_heads, axis=1))


@split.wrong("少了转置，头都串了",
             "直接 reshape 成 (h, n, d_k)，一个头里会混进别的词的段。要先切成 (n, h, d_k)，再换轴。")
def scrambled(x, n_heads):
    return x.reshape(n_heads, x.shape[0], -1)


@split.wrong("隔一个取一个，段切错了",
             "每个头拿相邻的一段，所以先是头，再是段里的位置：(n, h, d_k)，不是 (n, d_k, h)。")
def interleaved(x, n_heads):
    return x.reshape(x.shape[0], -1, n_heads).transpose(2, 0, 1)


@split.wrong("切好了，还没有换轴", "头要放在最前面，这样每个头才是一张自己的 (n, d_k) 表。")
def not_swapped(x, n_heads):
    return x.reshape(x.shape[0], n_heads, -1)


@split.wrong("转置以后才切，词和段都串了", "x.T 把词的数拆散了。先给每个词切段：(n, h, d_k)，再换前两轴。")
def transposed_first(x, n_heads):
    return x.T.reshape(n_heads, x.shape[0], -1)


@split.wrong("一律切成了两个头", "头数由 n_heads 定，不总是 2。")
def always_two(x, n_heads):
    return np.stack(np.split(x, 2, axis=1))


split.case("形状", [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], 2, expected=[[[1.0], [3.0], [5.0]], [[2.0], [4.0], [6.0]]],
           why="3 个词、2 个头：第一个头拿每个词的前一半，第二个头拿后一半。")
split.case("几个词，每段几个数", [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]], 2,
           expected=[[[1.0, 2.0], [5.0, 6.0]], [[3.0, 4.0], [7.0, 8.0]]],
           why="第一个头拿每个词的前两个数，第二个头拿后两个。")
split.case("每段相邻", [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]], 3, expected=[[[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]]],
           why="只有一个词：前两个数给第一个头，中间两个给第二个头，后两个给第三个头。")


merge = Exercise(
    "09-2", "把头拼回去",
    task="""
    `heads` 形状 `(n_heads, n, d_k)`，是各个头的输出。把每个词在各个头里的段首尾相接，
    返回 `(n, n_heads * d_k)`。
    """,
    hint="""
    切的时候做了什么，就倒着做一遍：先换轴成 `(n, n_heads, d_k)`，再 `reshape`。
    """,
)


@merge.stub
def my_merge_heads(heads):
    """把各个头拼成一张表，形状 (n, n_heads * d_k)。"""
    ...  # 你的代码


@merge.right
def swap_then_reshape(heads):
    n_heads, n_words, d_k = heads.shape
    return heads.transpose(1, 0, 2).reshape(n_words, n_heads * d_k)


@merge.right
def concatenated(heads):
    return np.concatenate(list(heads), axis=-1)


@merge.wrong("把头平均了，没有拼接", "一平均，各个头看到的不同东西就抹平了。要首尾相接，各占各的位置。")
def averaged(heads):
    return heads.mean(axis=0)


@merge.wrong("把头加起来了，没有拼接", "加起来就分不清是哪个头看到的。要首尾相接，各占各的位置。")
def summed(heads):
    return heads.sum(axis=0)


@merge.wrong("少了转置，头都串了", "直接 reshape，一行里会混进别的词的段。先换轴成 (n, h, d_k)。")
def scrambled_back(heads):
    return heads.reshape(heads.shape[1], -1)


@merge.wrong("段交错着拼了", "一个头的段要整段放在一起，再接下一个头的：换轴成 (n, h, d_k)，不是 (n, d_k, h)。")
def interleaved_back(heads):
    return heads.transpose(1, 2, 0).reshape(heads.shape[1], -1)


@merge.wrong("只拼了前两个头", "有几个头就拼几个，不总是两个。")
def first_two(heads):
    return np.concatenate([heads[0], heads[1]], axis=-1)


@merge.wrong("头竖着接了，没有横着接", "一行还是一个词：各个头的段接在同一行里 (axis=-1)，不是接在下面。")
def stacked(heads):
    return np.concatenate(list(heads), axis=0)


merge.case("词不能串", [[[1.0], [3.0], [5.0]], [[2.0], [4.0], [6.0]]], expected=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
           why="第一个词在两个头里是 1 和 2，拼在一行。")
merge.case("每段相邻", [[[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]]], expected=[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]],
           why="第一个头的段在前，第二个头的接着，第三个头的最后。")


count_parameters = Exercise(
    "09-3", "多头一共多少参数",
    task="""
    输入宽 `d_model`，`n_heads` 个头，每个头的查询、键、值都宽 `d_model / n_heads`。拼起来以后再过一个
    `d_model × d_model` 的输出矩阵。没有偏置，一共多少个参数？
    """,
    hint="""
    先数一个头：三个矩阵，每个 `d_model × (d_model / n_heads)`。再乘头数，再加上输出矩阵。
    """,
)


@count_parameters.stub
def my_n_parameters(d_model, n_heads):
    """多头注意力的参数个数（没有偏置）。"""
    ...  # 你的代码


@count_parameters.right
def head_by_head(d_model, n_heads):
    per_head = 3 * d_model * (d_model // n_heads)
    return n_heads * per_head + d_model * d_model


@count_parameters.right
def four_squares(d_model, n_heads):
    return 4 * d_model ** 2


@count_parameters.wrong("每个头都按全宽算了", "头越多，每个头越窄：宽度是 d_model / n_heads，所以总数不随头数变。")
def full_width(d_model, n_heads):
    return n_heads * 3 * d_model ** 2 + d_model ** 2


@count_parameters.wrong("漏了输出矩阵", "各个头拼起来以后，还要过一个 d_model × d_model 的矩阵。")
def no_output(d_model, n_heads):
    return 3 * d_model ** 2


@count_parameters.wrong("头里的矩阵少数了",
                        "每个头有三个 d_model × (d_model / n_heads) 的矩阵，再乘头数。"
                        "只数一个头，或者把矩阵当成 (d_model / n_heads) 见方，得到的都是这个数。")
def single_head(d_model, n_heads):
    return 3 * d_model * (d_model // n_heads) + d_model ** 2


@count_parameters.wrong("漏了两种身份", "每个头有查询、键、值三个矩阵，不是一个。")
def one_role(d_model, n_heads):
    return 2 * d_model ** 2


count_parameters.case("只有一个头", 4, 1, expected=64, why="查询、键、值各一个 4 × 4，再加输出矩阵 4 × 4。")
count_parameters.case("两个头", 8, 2, expected=256, why="每个头 3 × 8 × 4 = 96，两个头 192，再加输出矩阵 64。")
