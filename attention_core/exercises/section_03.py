"""第 3 节的练习：一份输入，三种身份。"""

import numpy as np

from .frame import Exercise

projection = Exercise(
    "03-1", "乘一个矩阵，换一种身份",
    task="""
    `x` 的每一行是一个词的向量，形状 `(n, d_model)`；`w` 是一个矩阵，形状 `(d_model, d_k)`。
    每个词都乘上这个矩阵，返回形状 `(n, d_k)` 的结果，一行一个词。
    """,
    hint="""
    矩阵乘法的记号是 `@`。词在行上，所以 `x` 写在左边。
    """,
)


@projection.stub
def my_projection(x, w):
    """每一行乘以矩阵 w，形状 (n, d_k)。"""
    ...  # 你的代码


@projection.right
def at(x, w):
    return x @ w


@projection.right
def row_by_row(x, w):
    return [[sum(x[i, m] * w[m, k] for m in range(w.shape[0])) for k in range(w.shape[1])]
            for i in range(x.shape[0])]


@projection.wrong("矩阵转置了", "w 的形状是 (d_model, d_k)：行对应输入，列对应输出，直接 x @ w。")
def transposed(x, w):
    return x @ w.T


@projection.wrong("逐个相乘了", "星号是对应位置各乘各的；矩阵乘法（@）还要把乘积加起来。")
def elementwise(x, w):
    return x * w


@projection.wrong("左右写反了", "w @ x 是把词混在了一起；每个词单独变身份，x 要在左边。")
def reversed_order(x, w):
    return w @ x


@projection.wrong("宽度照抄了输入", "变了身份，宽度可以变：结果每一行有 d_k 个数，不是 d_model 个。")
def as_wide_as_input(x, w):
    result = np.zeros(x.shape)
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            result[i, k] = x[i] @ w[:, k]
    return result


projection.case("相乘再相加", [[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0], [1.0, 1.0]], expected=[[3.0, 2.0], [7.0, 4.0]],
                why="第一个词：1×1 + 2×1 = 3，1×0 + 2×1 = 2。")
projection.case("宽度", [[1.0, 2.0]], [[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]], expected=[[1.0, 2.0, 4.0]],
                why="w 有 3 列，每个词就变成 3 个数：1×1，2×1，1×2 + 2×1。")


pair_scores = Exercise(
    "03-2", "谁问谁：从输入到分数表",
    task="""
    `x` 形状 `(n, d_model)`。用 `w_q` 变出查询，用 `w_k` 变出键，再让每个查询与每个键做点积。
    返回 `(n, n)` 的分数表：第 i 行第 j 列，是第 i 个词问第 j 个词的分数（先不缩放）。
    """,
    hint="""
    `queries = x @ w_q`，`keys = x @ w_k`。表的行是查询，列是键：`queries @ keys.T`。
    """,
)


@pair_scores.stub
def my_scores(x, w_q, w_k):
    """分数表，形状 (n, n)：行是查询，列是键。"""
    ...  # 你的代码


@pair_scores.right
def two_projections(x, w_q, w_k):
    queries = x @ w_q  # (n, d_k)
    keys = x @ w_k  # (n, d_k)
    return queries @ keys.T  # (n, n)


@pair_scores.right
def summed_by_names(x, w_q, w_k):
    return np.einsum("im,mk,nk,jn->ij", x, w_q, w_k, x)


@pair_scores.wrong("表转置了：行和列对调", "行应该是查询，列应该是键；这样写，是键在问查询。")
def table_transposed(x, w_q, w_k):
    return (x @ w_k) @ (x @ w_q).T


@pair_scores.wrong("键也用了 W_Q", "键要用 w_k 变出来。两个都用 w_q，谁问谁就成了对称的。")
def same_matrix(x, w_q, w_k):
    return (x @ w_q) @ (x @ w_q).T


@pair_scores.wrong("查询也用了 W_K", "查询要用 w_q 变出来。两个都用 w_k，谁问谁就成了对称的。")
def same_key_matrix(x, w_q, w_k):
    return (x @ w_k) @ (x @ w_k).T


@pair_scores.wrong("没有乘 W_Q，直接拿输入当了查询", "同一份输入要先变成查询，才能拿去问。")
def raw_queries(x, w_q, w_k):
    return x @ (x @ w_k).T


@pair_scores.wrong("键忘了转置", "每个键是一行；要与每个查询做点积，键得竖过来：queries @ keys.T。")
def keys_not_transposed(x, w_q, w_k):
    return (x @ w_q) @ (x @ w_k)


@pair_scores.wrong("没有用上输入，只拿两个矩阵相乘了", "查询是 x @ w_q，键是 x @ w_k：两边都要有 x。")
def matrices_only(x, w_q, w_k):
    return w_q @ w_k.T


@pair_scores.wrong("左右写反了", "w_q @ x 是把词混在了一起；每个词单独变身份，x 要在左边。")
def matrices_first(x, w_q, w_k):
    return (w_q @ x) @ (w_k @ x).T


@pair_scores.wrong("表的大小照抄了输入", "每个词问每个词：表有 n 行 n 列，不是 d_model 列。")
def table_like_input(x, w_q, w_k):
    scores = np.zeros(x.shape)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            scores[i, j] = (x[i] @ w_q) @ (x[j] @ w_k)
    return scores


@pair_scores.wrong("没有乘 W_K，直接拿输入当了键", "同一份输入要先变成键，才能拿去比。")
def raw_keys(x, w_q, w_k):
    return (x @ w_q) @ x.T


@pair_scores.wrong("没有变身份，输入直接互相比了", "查询要乘 w_q，键要乘 w_k；不乘，两个矩阵就白给了。")
def no_projection(x, w_q, w_k):
    return x @ x.T


pair_scores.case("两个矩阵各管一样", [[1.0, 0.0], [1.0, 1.0]], [[1.0, 2.0], [0.0, 1.0]], [[2.0, 0.0], [1.0, 3.0]],
                 expected=[[2.0, 9.0], [2.0, 12.0]], why="查询是 [1, 2] 和 [1, 3]，键是 [2, 0] 和 [3, 3]，两两点积。")
pair_scores.case("三个词", [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [[1.0], [2.0]], [[3.0], [1.0]],
                 expected=[[3.0, 1.0, 4.0], [6.0, 2.0, 8.0], [9.0, 3.0, 12.0]],
                 why="查询是 1、2、3，键是 3、1、4，各只有一个数：第一行是 1 乘三个键，第二行是 2 乘三个键。")


take_values = Exercise(
    "03-3", "取走的是值",
    task="""
    权重 `weights`（形状 `(n, n)`，行是查询，列是键）已经算好。用 `w_v` 把 `x` 变成值，再按权重取走。
    参数里也有 `w_k`：想一想，这一步用不用得着它。
    """,
    hint="""
    匹配已经做完了，键的事到此为止。`values = x @ w_v`，然后 `weights @ values`。
    """,
)


@take_values.stub
def my_take(weights, x, w_k, w_v):
    """按权重取走值，形状 (n, d_v)。"""
    ...  # 你的代码


@take_values.right
def value_projection(weights, x, w_k, w_v):
    values = x @ w_v  # (n, d_v)
    return weights @ values  # (n, d_v)


@take_values.right
def mixed_first(weights, x, w_k, w_v):
    return (weights @ x) @ w_v


@take_values.wrong("取走了键，没有取值", "键只负责被匹配；取走的内容要用 w_v 变出来。")
def keys_taken(weights, x, w_k, w_v):
    return weights @ (x @ w_k)


@take_values.wrong("没有乘 W_V，直接取走了输入", "值是输入乘以 w_v 的结果。")
def raw_values(weights, x, w_k, w_v):
    return weights @ x


@take_values.wrong("权重转置了：按列取了份额",
                   "第 i 个词的份额在 weights 的第 i 行；转置以后，每行加起来就不一定是 1 了。")
def weights_transposed(weights, x, w_k, w_v):
    return weights.T @ (x @ w_v)


@take_values.wrong("没有按权重取，每个词只拿了自己的值", "新表示是 weights @ values：每个词从各个词那里各取一份。")
def only_own_value(weights, x, w_k, w_v):
    return x @ w_v


@take_values.wrong("左右写反了", "权重的一行属于一个词，要乘在值的左边：weights @ values。")
def values_first(weights, x, w_k, w_v):
    return (x @ w_v) @ weights


take_values.case("值从哪来", [[1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [3.0, 4.0]], [[0.0, 1.0], [1.0, 0.0]],
                 [[10.0, 0.0], [0.0, 1.0]], expected=[[10.0, 2.0], [30.0, 4.0]],
                 why="每个词只取自己的值：x 的第一列乘 10。")
take_values.case("份额在行上", [[1.0, 0.0], [0.5, 0.5]], [[2.0, 0.0, 0.0], [0.0, 5.0, 4.0]],
                 [[1.0], [1.0], [0.0]], [[1.0], [0.0], [1.0]], expected=[[2.0], [3.0]],
                 why="值是 2 和 4：第一个词只取第一份；第二个词两份各取一半，是 3。")
