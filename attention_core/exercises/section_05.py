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
    d_k 是一个向量里有几个数（维数），也就是 `keys.shape[-1]`，不是有几个键。
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


@scaled.wrong("按键的个数缩放了", "让点积变大的是一个向量里有几个数 d_k，不是有几个键。")
def number_of_keys(query, keys):
    return query @ keys.T / np.sqrt(len(keys))


@scaled.wrong("按查询的个数缩放了", "让点积变大的是一个向量里有几个数 d_k，不是有几个查询。")
def number_of_queries(query, keys):
    return query @ keys.T / np.sqrt(len(query))


@scaled.wrong("一律除以 2 了", "只有 d_k = 4 时平方根才是 2；d_k 要从形状里读：keys.shape[-1]。")
def always_two(query, keys):
    return query @ keys.T / 2


@scaled.wrong("键忘了转置", "每个键是一行；要与每个查询做点积，键得竖过来：query @ keys.T。")
def keys_not_transposed(query, keys):
    return query @ keys / np.sqrt(keys.shape[-1])


@scaled.wrong("少了括号：/ d_k ** 1/2 是先除以 d_k，再除以 2",
              "乘方先算，d_k ** 1 还是 d_k。写成 d_k ** (1/2)，或者 np.sqrt(d_k)。")
def half_outside_the_power(query, keys):
    return query @ keys.T / keys.shape[-1] ** 1 / 2


@scaled.wrong("除以了 d_k 的一半，没有开平方",
              "如果写的是 d_k ** 1/2，那是先乘方再除以 2：写成 d_k ** (1/2)。")
def half_of_the_dimension(query, keys):
    return query @ keys.T / (keys.shape[-1] / 2)


scaled.case("除以什么", [[1.0, 1.0, 1.0, 1.0], [2.0, 0.0, 0.0, 0.0]],
            [[1.0, 1.0, 1.0, 1.0], [4.0, 0.0, 0.0, 0.0], [2.0, 2.0, 2.0, 2.0]],
            expected=[[2.0, 2.0, 4.0], [1.0, 4.0, 2.0]],
            why="第一个查询的点积是 4、4、8，第二个的是 2、8、4；d_k = 4，平方根是 2。")
scaled.case("d_k 不总是 4", [[3.0]], [[2.0], [5.0]], expected=[[6.0, 15.0]],
            why="点积是 6 和 15；d_k = 1，平方根是 1。")


projected = Exercise(
    "05-2", "哪一个维度",
    task="""
    `x` 形状 `(n, d_model)`，先乘 `w_q`、`w_k`（形状 `(d_model, d_k)`）变成查询和键，再算缩放的分数表 `(n, n)`。
    这里 d_model 和 d_k 不一样大，想好要除以哪一个的平方根。
    """,
    hint="""
    点积是把几个乘积加起来？查询和键各有几个数，就加几个。
    """,
)


@projected.stub
def my_projected_scores(x, w_q, w_k):
    """从输入算缩放的分数表，形状 (n, n)。"""
    ...  # 你的代码


@projected.right
def by_key_width(x, w_q, w_k):
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


@projected.wrong("按词的个数缩放了", "让点积变大的是一个向量里有几个数 d_k，不是有几个词。")
def by_number_of_words(x, w_q, w_k):
    return (x @ w_q) @ (x @ w_k).T / np.sqrt(len(x))


@projected.wrong("一律除以 2 了", "只有 d_k = 4 时平方根才是 2；d_k 要从形状里读：keys.shape[-1]。")
def halved(x, w_q, w_k):
    return (x @ w_q) @ (x @ w_k).T / 2


@projected.wrong("键忘了转置，或者 x 与矩阵左右写反了",
                 "看看出错的是哪一行：分数表是 query @ keys.T，键要竖过来；查询和键是 x @ w_q、x @ w_k，x 写在左边。")
def turned_the_wrong_way(x, w_q, w_k):
    return (x @ w_q) @ (x @ w_k) / np.sqrt(w_k.shape[-1])


projected.case(
    "维度", [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [[1.0, 1.0, 1.0, 1.0], [2.0, 0.0, 0.0, 0.0]],
    [[2.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]], expected=[[1.0, 2.0, 3.0], [2.0, 1.0, 3.0], [3.0, 3.0, 6.0]],
    why="点积是 [[2, 4, 6], [4, 2, 6], [6, 6, 12]]；查询和键各有 d_k = 4 个数，平方根是 2。")
projected.case(
    "行和列", [[1.0, 0.0], [0.0, 1.0]], [[1.0], [2.0]], [[3.0], [4.0]], expected=[[3.0, 4.0], [6.0, 8.0]],
    why="查询是 1 和 2，键是 3 和 4：第一个词问第二个词是 1 × 4，反过来是 2 × 3；d_k = 1，平方根是 1。")


same_as_temperature = Exercise(
    "05-3", "缩放就是一个温度",
    task="""
    不缩放的点积，过温度为多少的 softmax，才与“缩放以后、温度为 1”的权重一样？`d_k` 是一个向量里有几个数（维数）。
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


@same_as_temperature.wrong("除以了 2，没有开平方",
                           "平方根是自己乘自己等于 d_k 的那个数，不是一半。"
                           "如果写的是 d_k ** 1/2，那是先乘方再除以 2：写成 d_k ** (1/2)。")
def half(d_k):
    return d_k / 2


@same_as_temperature.wrong("一律当成 64 了", "头的宽度不总是 64；温度要从 d_k 算出来。")
def always_eight(d_k):
    return 8


same_as_temperature.case("平方根", 64, expected=8.0, why="64 的平方根是 8：除以 8 就是温度 8。")
same_as_temperature.case("随 d_k 而变", 16, expected=4.0, why="16 的平方根是 4：除以 4 就是温度 4。")
