"""第 5 节的练习：除以维度的平方根。"""

import numpy as np

from .frame import Exercise

scaled = Exercise(
    "05-1", "缩放的点积",
    task="""
    `query` 形状 `(L, d_k)`，`keys` 形状 `(S, d_k)`。返回缩放过的分数表，形状 `(L, S)`：
    点积除以 d_k 的平方根。
    """,
    hint="""
    d_k 是向量的长度，也就是 `keys.shape[-1]`，不是键的个数。
    """,
)


@scaled.stub
def my_scaled_scores(query, keys):
    """缩放的点积，形状 (L, S)。"""
    ...  # 你的代码


@scaled.right
def divided(query, keys):
    return query @ keys.T / np.sqrt(keys.shape[-1])


@scaled.right
def shared_between_both(query, keys):
    quarter = keys.shape[-1] ** 0.25
    return (query / quarter) @ (keys / quarter).T


@scaled.wrong("没有缩放", "维度越大，点积的起伏越大；要除以 d_k 的平方根。")
def unscaled(query, keys):
    return query @ keys.T


@scaled.wrong("除以了 d_k，忘了开平方", "点积的方差是 d_k，标准差是 d_k 的平方根；除以标准差才刚好。")
def without_root(query, keys):
    return query @ keys.T / keys.shape[-1]


@scaled.wrong("乘以了平方根", "缩放是把太大的分数按回去，要除。")
def multiplied(query, keys):
    return query @ keys.T * np.sqrt(keys.shape[-1])


@scaled.wrong("按键的个数缩放了", "让点积变大的是向量的长度 d_k，不是有几个键。")
def number_of_keys(query, keys):
    return query @ keys.T / np.sqrt(keys.shape[0])


scaled.case("除以什么", [[1.0, 1.0, 1.0, 1.0]], [[1.0, 1.0, 1.0, 1.0], [4.0, 0.0, 0.0, 0.0], [2.0, 2.0, 2.0, 2.0]],
            expected=[[2.0, 2.0, 4.0]], why="点积是 4、4、8，d_k = 4，平方根是 2。")


projected = Exercise(
    "05-2", "哪一个维度",
    task="""
    `x` 形状 `(n, d_model)`，先乘 `w_q`、`w_k`（形状 `(d_model, d_k)`）变成查询和键，再算缩放的分数表 `(n, n)`。
    这里 d_model 和 d_k 不一样大，想好要除以哪一个的平方根。
    """,
    hint="""
    点积是把几个乘积加起来？查询和键有多长，就加几个。
    """,
)


@projected.stub
def my_projected_scores(x, w_q, w_k):
    """从输入算缩放的分数表，形状 (n, n)。"""
    ...  # 你的代码


@projected.right
def by_key_length(x, w_q, w_k):
    query, keys = x @ w_q, x @ w_k  # (n, d_k)
    return query @ keys.T / np.sqrt(keys.shape[-1])


@projected.right
def scaled_matrix(x, w_q, w_k):
    return x @ (w_q @ w_k.T / w_q.shape[1] ** 0.5) @ x.T


@projected.wrong("按 d_model 缩放了", "点积发生在查询和键之间，加起来的是 d_k 个乘积，与输入有多宽无关。")
def by_model_width(x, w_q, w_k):
    return (x @ w_q) @ (x @ w_k).T / np.sqrt(x.shape[-1])


@projected.wrong("没有缩放", "分数要除以 d_k 的平方根。")
def not_scaled(x, w_q, w_k):
    return (x @ w_q) @ (x @ w_k).T


@projected.wrong("除以了 d_k，忘了开平方", "要除以的是 d_k 的平方根。")
def no_root(x, w_q, w_k):
    return (x @ w_q) @ (x @ w_k).T / w_k.shape[-1]


@projected.wrong("表转置了：行和列对调", "行是查询，列是键。")
def keys_ask(x, w_q, w_k):
    return (x @ w_k) @ (x @ w_q).T / np.sqrt(w_k.shape[-1])


projected.case(
    "维度", [[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0, 1.0, 1.0], [2.0, 0.0, 0.0, 0.0]],
    [[2.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]], expected=[[1.0, 2.0], [2.0, 1.0]],
    why="点积是 [[2, 4], [4, 2]]；查询和键的长度 d_k = 4，平方根是 2。")
projected.case(
    "行和列", [[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0]],
    [[0.0, 4.0, 0.0, 0.0], [6.0, 0.0, 0.0, 0.0]], expected=[[0.0, 3.0], [4.0, 0.0]],
    why="第一个词问第二个词：1 × 6 = 6，再除以 2；反过来是 2 × 4 = 8，再除以 2。")


same_as_temperature = Exercise(
    "05-3", "缩放就是一个温度",
    task="""
    不缩放的点积，过温度为多少的 softmax，才与“缩放以后、温度为 1”的权重一样？`d_k` 是向量的长度。
    """,
    hint="""
    softmax 里分数先除以温度。缩放也是除以一个数。
    """,
)


@same_as_temperature.stub
def my_equal_temperature(d_k):
    """与缩放等效的温度。"""
    ...  # 你的代码


@same_as_temperature.right
def root(d_k):
    return d_k ** 0.5


@same_as_temperature.right
def numpy_root(d_k):
    return np.sqrt(d_k)


@same_as_temperature.wrong("忘了开平方", "缩放除以的是 d_k 的平方根，温度就是这个平方根。")
def whole_dimension(d_k):
    return d_k


@same_as_temperature.wrong("取了倒数", "分数是除以温度，不是乘以温度；所以温度就是那个除数本身。")
def inverse(d_k):
    return 1 / d_k ** 0.5


@same_as_temperature.wrong("以为与维度无关", "温度为 1 等于没有缩放；维度越大，要的温度越高。")
def always_one(d_k):
    return 1


same_as_temperature.case("平方根", 64, expected=8.0, why="64 的平方根是 8：除以 8 就是温度 8。")
