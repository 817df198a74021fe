"""第 6 节的练习：可微。"""

import numpy as np

from .frame import Exercise

jacobian = Exercise(
    "06-1", "softmax 的雅可比矩阵",
    task="""
    `weights` 是 softmax 给出的一行权重，形状 `(S,)`。返回 `(S, S)` 的表：
    第 i 行第 j 列，是第 j 个**分数**提高一点点时，第 i 个**权重**变化的快慢。
    """,
    hint="""
    对角线上是 $p_i(1-p_i)$：自己的分数提高，自己的权重变大。对角线外是 $-p_i p_j$：别人变大，自己变小。
    `np.diag` 和 `np.outer` 可以一行写完。
    """,
)


@jacobian.stub
def my_jacobian(weights):
    """softmax 的雅可比矩阵，形状 (S, S)。"""
    ...  # 你的代码


@jacobian.right
def diagonal_minus_outer(weights):
    return np.diag(weights) - np.outer(weights, weights)


@jacobian.right
def entry_by_entry(weights):
    return [[p * ((i == j) - q) for j, q in enumerate(weights)] for i, p in enumerate(weights)]


@jacobian.wrong("漏了对角线以外的格子", "总和固定是 1：一个权重变大，别的就得变小，所以对角线外是 -p_i p_j，不是 0。")
def diagonal_only(weights):
    return np.diag(weights * (1 - weights))


@jacobian.wrong("对角线外的符号反了", "别人的分数提高，自己的权重会变小，所以是负的。")
def wrong_sign(weights):
    return np.diag(weights - 2 * weights ** 2) + np.outer(weights, weights)


@jacobian.wrong("对角线忘了减去 p 的平方", "对角线是 p(1-p)：自己的分数提高，分母里的总和也跟着变大。")
def total_held_still(weights):
    table = -np.outer(weights, weights)
    np.fill_diagonal(table, weights)
    return table


@jacobian.wrong("对角线外没有用上第 j 个权重",
                "自己少掉的份额不是每一格都一样：第 j 个权重越大，影响越大，所以是 -p_i p_j，不是 -p_i(1-p_i)。")
def same_along_the_row(weights):
    slopes = weights * (1 - weights)
    return np.diag(2 * slopes) - slopes[:, None]


jacobian.case("两个权重", [0.25, 0.75], expected=[[0.1875, -0.1875], [-0.1875, 0.1875]],
              why="0.25 × 0.75 = 0.1875：一边多多少，另一边就少多少，每行加起来是 0。")
jacobian.case("三个权重", [0.2, 0.3, 0.5], expected=[[0.16, -0.06, -0.1], [-0.06, 0.21, -0.15], [-0.1, -0.15, 0.25]],
              why="第一行：0.2 × 0.8 = 0.16，0.2 × 0.3 = 0.06，0.2 × 0.5 = 0.1，后两个是负的，加起来还是 0。")


soft_choice = Exercise(
    "06-2", "柔性的选择",
    task="""
    `scores` 是一行分数，`values` 是每个位置的内容（一列数）。用柔性的办法选：每个位置都按 softmax 的权重掺一点。
    返回一个数。第二名的分数提高一点点，结果也应该动一点点。
    """,
    hint="""
    不要 `argmax`。权重是 e 的分数次方除以总和，结果是 `weights @ values`。
    """,
)


@soft_choice.stub
def my_soft_choice(scores, values):
    """按 softmax 的权重混合 values，返回一个数。"""
    ...  # 你的代码


@soft_choice.right
def weighted(scores, values):
    grown = np.exp(scores - np.max(scores))
    return grown @ values / grown.sum()


@soft_choice.right
def averaged_by_numpy(scores, values):
    return np.average(values, weights=np.exp(scores))


@soft_choice.wrong("硬选择冒充柔性的", "只取分数最高的一个，第二名再怎么提高，结果也纹丝不动：没有梯度可用。")
def winner(scores, values):
    return values[np.argmax(scores)]


@soft_choice.wrong("没有选，平均了", "分数一点没有用上；分数高的要多掺一些。")
def mean(scores, values):
    return np.mean(values)


@soft_choice.wrong("权重加起来不是 1", "e 的次方还要除以总和。")
def not_normalised(scores, values):
    return np.exp(scores) @ values


@soft_choice.wrong("减了最大值，还没有除以总和", "减最大值只是为了不溢出；权重要加起来是 1，还得除以总和。")
def only_shifted(scores, values):
    return np.exp(scores - np.max(scores)) @ values


@soft_choice.wrong("没有取 e 的次方", "权重不是分数直接除以总和：要先取 e 的分数次方，再除以总和。")
def no_exponential(scores, values):
    return scores @ values / np.sum(scores)


@soft_choice.wrong("跳过了 softmax", "分数不能直接当权重，要先过 softmax。")
def raw_scores(scores, values):
    return scores @ values


@soft_choice.wrong("只认第一名，其余平分了", "每个分数都要起作用：第二名的分数提高，它自己的权重就要变大。")
def rest_shared(scores, values):
    grown = np.exp(scores)
    best = np.argmax(scores)
    weights = np.full(len(scores), (1 - grown[best] / grown.sum()) / (len(scores) - 1))
    weights[best] = grown[best] / grown.sum()
    return weights @ values


soft_choice.case("每个位置都有份", [0.0, np.log(3)], [8.0, 4.0], expected=5.0,
                 why="权重是 1/4 和 3/4：8/4 + 4 × 3/4 = 5。")
soft_choice.case("第二名和第三名不一样", [np.log(2), 0.0, np.log(5)], [8.0, 16.0, 0.0], expected=4.0,
                 why="权重是 2/8、1/8 和 5/8：第二名分数高，就比第三名掺得多。")


slope = Exercise(
    "06-3", "用中心差分量斜率",
    task="""
    `function` 是一个函数，`x` 是一个数，`step` 是一小步。往右走一步，往左走一步，看函数值差多少，
    用它估计函数在 `x` 处的斜率。
    """,
    hint="""
    右边是 `function(x + step)`，左边是 `function(x - step)`，两点之间一共隔了多远？
    """,
)


@slope.stub
def my_slope(function, x, step):
    """函数在 x 处的斜率，用左右各一步来估计。"""
    ...  # 你的代码


@slope.right
def central(function, x, step):
    return (function(x + step) - function(x - step)) / (2 * step)


@slope.right
def mean_of_both_sides(function, x, step):
    right = (function(x + step) - function(x)) / step
    left = (function(x) - function(x - step)) / step
    return (left + right) / 2


@slope.wrong("只往右边走了一步", "只看右边，弯的曲线会估偏；左右各走一步，偏差大多抵消。")
def forward(function, x, step):
    return (function(x + step) - function(x)) / step


@slope.wrong("只往左边走了一步", "只看左边，弯的曲线会估偏；左右各走一步，偏差大多抵消。")
def backward(function, x, step):
    return (function(x) - function(x - step)) / step


@slope.wrong("除以了一步，应该是两步", "左右各走一步，两点之间隔了 2 × step。")
def one_step(function, x, step):
    return (function(x + step) - function(x - step)) / step


@slope.wrong("只除以了 2，没有除以步长", "左右各走一步，两点之间隔了 2 × step，两样都要除。")
def halved(function, x, step):
    return (function(x + step) - function(x - step)) / 2


@slope.wrong("少了括号：/ 2 * step 是先除以 2 再乘 step", "乘除从左往右算。两点之间的距离要先算好，写成 / (2 * step)。")
def no_brackets(function, x, step):
    return (function(x + step) - function(x - step)) / 2 * step


@slope.wrong("没有除以走过的距离", "斜率是函数值的差除以走了多远。")
def difference_only(function, x, step):
    return function(x + step) - function(x - step)


@slope.wrong("左右减反了", "右边减左边：函数往上走时，斜率是正的。")
def reversed_sides(function, x, step):
    return (function(x - step) - function(x + step)) / (2 * step)


@slope.wrong("没有用 step，一律走了 1", "一步走多远由 step 定；步子越小，估得越准。")
def steps_of_one(function, x, step):
    return (function(x + 1) - function(x - 1)) / 2


@slope.wrong("写死了平方的斜率", "2x 只是平方的斜率；function 可以是任何函数，要走一走、量一量。")
def slope_of_the_square(function, x, step):
    return 2 * x


def square(number):
    """平方：练习 06-3 拿来试的函数，斜率是 2x。"""
    return number ** 2


def cube(number):
    """立方：练习 06-3 拿来试的另一个函数。"""
    return number ** 3


slope.case("差分", square, 3.0, 4.0, expected=6.0, why="右边是 7，左边是 -1，相隔 8：(7² - (-1)²) / 8 = 6。")
slope.case("换一个函数", cube, 2.0, 1.0, expected=13.0,
           why="(3³ - 1³) / 2 = 13。（这只是估计：真正的斜率是 12，步子越小越接近。）")
slope.case("换一步", cube, 2.0, 2.0, expected=16.0,
           why="(4³ - 0³) / 4 = 16。（步子大了一倍，离真正的斜率 12 更远。）")
