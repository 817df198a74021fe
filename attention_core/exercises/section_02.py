"""第 2 节的练习：像多少，分多少，混成一份。"""

import numpy as np

from .frame import Exercise

shares = Exercise(
    "02-1", "把相似度变成份额",
    task="""
    `similarity` 是查询与每个标签的相似度（一列数，可以是负的）。把它变成份额：先取 e 的相似度次方
    （`np.exp`），再除以总和。`temperature` 是温度：取次方之前，相似度先除以它。
    """,
    hint="""
    两行就够：`grown = np.exp(similarity / temperature)`，然后让它们加起来等于 1。
    """,
)


@shares.stub
def my_shares(similarity, temperature):
    """份额：都是正数，加起来是 1，越像越大。"""
    ...  # 你的代码


@shares.right
def numpy_shares(similarity, temperature):
    grown = np.exp(similarity / temperature)
    return grown / grown.sum()


@shares.right
def loop_shares(similarity, temperature):
    grown = [np.e ** (value / temperature) for value in similarity]
    total = sum(grown)
    return [value / total for value in grown]


@shares.wrong("份额加起来不是 1", "取了次方还没有除以总和，混出来的内容会比任何一条都大。")
def not_divided(similarity, temperature):
    return np.exp(similarity / temperature)


@shares.wrong("除以了最大的，份额加起来不是 1", "除以最大的一个，只是让它变成 1；份额要除以总和。")
def divided_by_largest(similarity, temperature):
    grown = np.exp(similarity / temperature)
    return grown / grown.max()


@shares.wrong("没有取 e 的次方", "相似度可以是负的，直接除以总和，份额也会变成负的；e 的任何次方都是正的。")
def no_exponential(similarity, temperature):
    return similarity / temperature / (similarity / temperature).sum()


@shares.wrong("温度乘上去了", "温度要除：温度越高，相似度的差别越小，份额越平均。")
def multiplied(similarity, temperature):
    grown = np.exp(similarity * temperature)
    return grown / grown.sum()


@shares.wrong("没有用温度", "取次方之前，相似度要先除以温度。")
def no_temperature(similarity, temperature):
    grown = np.exp(similarity)
    return grown / grown.sum()


shares.case("份额", [0.0, np.log(3)], 1.0, expected=[0.25, 0.75], why="e 的次方是 1 和 3，总和 4，各占 1/4 和 3/4。")
shares.case("温度", [0.0, np.log(9)], 2.0, expected=[0.25, 0.75],
            why="除以温度 2 以后，e 的次方从 1 和 9 变成 1 和 3。")


blend = Exercise(
    "02-2", "按份额混成一份",
    task="""
    `weights` 是每一条的份额，形状 `(S,)`；`values` 是每一条的内容，一行一条，形状 `(S, d_v)`。
    返回混好的一份，形状 `(d_v,)`。
    """,
    hint="""
    第一条的每个数乘以第一个份额，第二条的乘以第二个……再加起来。`weights @ values` 一步做完。
    """,
)


@blend.stub
def my_blend(weights, values):
    """按份额把内容混成一份，形状 (d_v,)。"""
    ...  # 你的代码


@blend.right
def product(weights, values):
    return weights @ values


@blend.right
def loop_blend(weights, values):
    mixed = np.zeros(values.shape[1])
    for weight, value in zip(weights, values):
        mixed = mixed + weight * value
    return mixed


@blend.wrong("没有看份额，平均了", "份额大的要多掺；这样每一条都掺得一样多。")
def averaged(weights, values):
    return values.mean(axis=0)


@blend.wrong("只取了最像的一条", "这是精确查字典的做法；柔性查询里每一条都按份额掺一点。")
def hardest(weights, values):
    return values[np.argmax(weights)]


@blend.wrong("加错了方向：把一条内容里的数加在了一起",
             "要把各条内容的同一个位置加起来（axis=0），不是把一条内容自己加起来。")
def wrong_sum(weights, values):
    return (weights[:, None] * values).sum(axis=1)


@blend.wrong("乘了份额，还没有加起来", "各条乘好份额以后，要加成一份。")
def not_summed(weights, values):
    return weights[:, None] * values


blend.case("加起来", [0.5, 0.5], [[2.0, 4.0], [0.0, 8.0]], expected=[1.0, 6.0],
           why="份额一样时，结果正好在两条的中间。")
blend.case("份额", [0.25, 0.75], [[4.0, 0.0], [0.0, 4.0]], expected=[1.0, 3.0], why="0.25 × 4 = 1，0.75 × 4 = 3。")


lookup = Exercise(
    "02-3", "查一次柔性的字典",
    task="""
    把前两题连起来。查询 `query` 形状 `(d,)`，标签 `keys` 形状 `(S, d)`，内容 `values` 形状 `(S, d)`。
    相似度用点积；份额是 e 的相似度次方除以总和；返回混好的内容。
    """,
    hint="""
    三行：`similarity = keys @ query`，份额，`weights @ values`。跟标签比，从内容取。
    """,
)


@lookup.stub
def my_lookup(query, keys, values):
    """与每个标签比，按份额取内容，形状 (d,)。"""
    ...  # 你的代码


@lookup.right
def three_lines(query, keys, values):
    similarity = keys @ query
    weights = np.exp(similarity) / np.exp(similarity).sum()
    return weights @ values


@lookup.right
def loop_lookup(query, keys, values):
    grown = [np.exp(sum(q * k for q, k in zip(query, key))) for key in keys]
    return sum(one * value for one, value in zip(grown, values)) / sum(grown)


@lookup.wrong("把内容当成了标签", "打分要比查询和标签 (keys)；内容 (values) 只在最后被取走。")
def values_as_keys(query, keys, values):
    grown = np.exp(values @ query)
    return grown / grown.sum() @ values


@lookup.wrong("取走了标签，没有取内容", "标签 (keys) 只负责被比较；按份额取走的是内容 (values)。")
def keys_as_values(query, keys, values):
    grown = np.exp(keys @ query)
    return grown / grown.sum() @ keys


@lookup.wrong("份额加起来不是 1", "取了 e 的次方，还要除以总和。")
def no_total(query, keys, values):
    return np.exp(keys @ query) @ values


@lookup.wrong("只取了最像的一条", "柔性查询不只取第一名，每一条都按份额掺一点。")
def exact(query, keys, values):
    return values[np.argmax(keys @ query)]


lookup.case("份额", [1.0, 0.0], [[2.0, 5.0], [2.0, 7.0]], [[3.0, 0.0], [3.0, 4.0]], expected=[3.0, 2.0],
            why="两个点积都是 2，一样像，份额各一半。")
lookup.case("标签与内容的分工", [np.log(3), 0.0], [[0.0, 5.0], [1.0, 7.0]], [[8.0, 0.0], [0.0, 4.0]],
            expected=[2.0, 3.0], why="相似度是 0 和 ln 3，份额 1/4 和 3/4，取走的是内容：8/4 和 3 × 4/4。")
