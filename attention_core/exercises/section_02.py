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


@shares.wrong("温度没有起作用",
              "减去温度，或者取了次方以后才除，温度都会在分子分母里约掉；要在取次方之前除。")
def no_temperature(similarity, temperature):
    grown = np.exp(similarity)
    return grown / grown.sum()


@shares.wrong("归一以后才除以温度", "那样份额加起来就不是 1 了。温度要在取次方之前除。")
def divided_late(similarity, temperature):
    grown = np.exp(similarity)
    return grown / grown.sum() / temperature


shares.case("份额", [0.0, np.log(2), np.log(5)], 1.0, expected=[0.125, 0.25, 0.625],
            why="e 的次方是 1、2、5，总和 8，各占 1/8、2/8、5/8。")
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


@blend.wrong("总是取第一条", "每一条都按份额掺一点，不只是第一条。")
def always_first(weights, values):
    return values[0]


@blend.wrong("加错了方向：把一条内容里的数加在了一起",
             "要把各条内容的同一个位置加起来（axis=0），不是把一条内容自己加起来。")
def wrong_sum(weights, values):
    return (weights[:, None] * values).sum(axis=1)


@blend.wrong("乘了份额，还没有加起来", "各条乘好份额以后，要加成一份。")
def not_summed(weights, values):
    return weights[:, None] * values


@blend.wrong("加起来了，没有乘份额", "每一条要先乘自己的份额，再加。")
def only_summed(weights, values):
    return values.sum(axis=0)


@blend.wrong("份额乘到列上去了",
             "份额是一条一个，要乘整整一行：weights[:, None] * values。直接 weights * values，是每一列乘一个份额。")
def share_per_column(weights, values):
    return (weights * values).sum(axis=0)


@blend.wrong("左右写反了", "values @ weights 是把一条内容里的数按份额加；份额要乘各条内容，写在左边。")
def values_first(weights, values):
    return values @ weights


@blend.wrong("装结果的数组长度不对", "混好的一份与每一条一样长，是 d_v 个数，不是有几条就有几个。")
def as_long_as_weights(weights, values):
    mixed = np.zeros(len(weights))
    for weight, value in zip(weights, values):
        mixed += weight * value
    return mixed


blend.case("加起来", [0.5, 0.5], [[2.0, 4.0], [0.0, 8.0]], expected=[1.0, 6.0],
           why="份额一样时，结果正好在两条的中间。")
blend.case("份额", [0.25, 0.75], [[4.0, 8.0], [0.0, 4.0]], expected=[1.0, 5.0],
           why="0.25 × 4 + 0.75 × 0 = 1，0.25 × 8 + 0.75 × 4 = 5。")
blend.case("有几条，每条几个数", [0.5, 0.25, 0.25], [[2.0, 0.0], [4.0, 4.0], [0.0, 8.0]], expected=[2.0, 3.0],
           why="三条内容各有两个数，混好的还是两个数：1 + 1 + 0 = 2，0 + 1 + 2 = 3。")


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


@lookup.wrong("停在了份额这一步", "份额算好以后，还要按它取内容：weights @ values。")
def only_weights(query, keys, values):
    grown = np.exp(keys @ query)
    return grown / grown.sum()


@lookup.wrong("没有取 e 的次方", "份额不是相似度直接除以总和：要先取 e 的相似度次方，再除以总和。")
def plain_shares(query, keys, values):
    similarity = keys @ query
    return similarity / similarity.sum() @ values


@lookup.wrong("没有变成份额，直接拿相似度去乘了", "相似度加起来不是 1。中间要先取 e 的次方，再除以总和。")
def raw_similarity(query, keys, values):
    return keys @ query @ values


@lookup.wrong("只取了最像的一条", "柔性查询不只取第一名，每一条都按份额掺一点。")
def exact(query, keys, values):
    return values[np.argmax(keys @ query)]


@lookup.wrong("标签忘了转置", "query @ keys 是把各条标签加在一起；要让每条标签各自与查询做点积：keys @ query。")
def not_transposed(query, keys, values):
    grown = np.exp(query @ keys)
    return grown / grown.sum() @ values


lookup.case("份额", [0.0, 1.0], [[5.0, 3.0], [7.0, 3.0]], [[3.0, 0.0], [3.0, 4.0]], expected=[3.0, 2.0],
            why="两个点积都是 3，一样像，份额各一半。")
lookup.case("从相似度到份额", [1.0, 0.0], [[0.0, 5.0], [np.log(2), 1.0], [np.log(5), 7.0]],
            [[8.0, 0.0], [0.0, 4.0], [8.0, 8.0]], expected=[6.0, 6.0],
            why="相似度是 0、ln 2、ln 5，份额 1/8、2/8、5/8：8/8 + 8 × 5/8 = 6，4 × 2/8 + 8 × 5/8 = 6。")
