"""第 13 节的练习：分数是怎样学出来的。"""

import numpy as np

from .frame import Exercise

loss = Exercise(
    "13-1", "答得有多差：交叉熵",
    task="""
    `weights` 是模型给每个选项的概率（一行，加起来是 1），`target` 是正确选项的编号（从 0 数起）。
    损失是正确选项概率的对数，前面加负号。答得越有把握、越对，损失越接近 0。
    """,
    hint="""
    一个下标、一个 `np.log`、一个负号。
    """,
)


@loss.stub
def my_loss(weights, target):
    """交叉熵损失，一个数。"""
    ...  # 你的代码


@loss.right
def minus_logarithm(weights, target):
    return -np.log(weights[target])


@loss.right
def with_one_hot(weights, target):
    one_hot = np.eye(len(weights))[target]
    return one_hot @ np.log(1 / weights)


@loss.wrong("忘了负号", "概率不大于 1，对数是负的；损失要越小越好，最小是 0。")
def no_minus(weights, target):
    return np.log(weights[target])


@loss.wrong("没有取对数", "1 - p 也能衡量差多少，但对数在 p 接近 0 时罚得重得多。")
def no_logarithm(weights, target):
    return 1 - weights[target]


@loss.wrong("把所有选项都算进去了", "只看正确的那个选项得到多少概率。")
def all_options(weights, target):
    return -np.log(weights).sum()


@loss.wrong("编号从 1 数起了", "编号从 0 数起：target = 0 是第一个。")
def counted_from_one(weights, target):
    return -np.log(weights[target - 1])


@loss.wrong("看的是概率最大的选项", "模型最有把握的那个不一定对；看的是 target 那个选项得到多少概率。")
def most_likely(weights, target):
    return -np.log(weights.max())


@loss.wrong("总是看第一个选项", "正确的选项是第 target 个，不总是第 0 个。")
def always_first(weights, target):
    return -np.log(weights[0])


@loss.wrong("用了以 2 为底的对数", "以 2 为底时单位是比特，也有人用；这里说的是自然对数 np.log。")
def in_bits(weights, target):
    return -np.log2(weights[target])


loss.case("只看正确的选项", [0.5, 0.25, 0.25], 0, expected=np.log(2),
          why="正确选项的概率是 1/2：-ln(1/2) = ln 2 = 0.6931。")
loss.case("正确的不一定最大", [0.25, 0.125, 0.625], 1, expected=np.log(8),
          why="正确选项的概率只有 1/8：-ln(1/8) = ln 8 = 2.0794。")


score_gradient = Exercise(
    "13-2", "分数该往哪边动",
    task="""
    同一道选择题：概率 `weights` 是由分数过 softmax 得来的。求损失对每个**分数**的梯度，形状与 `weights` 相同。
    答案出奇地简单：概率，在正确的选项上减 1。
    """,
    hint="""
    先复制一份 `weights`，再在 `target` 处减 1。不要改动传进来的数组。
    """,
)


@score_gradient.stub
def my_score_gradient(weights, target):
    """损失对分数的梯度，形状 (S,)。"""
    ...  # 你的代码


@score_gradient.right
def minus_one_hot(weights, target):
    return weights - np.eye(len(weights))[target]


@score_gradient.right
def through_the_jacobian(weights, target):
    d_weights = np.zeros(len(weights))
    d_weights[target] = -1 / weights[target]
    return (np.diag(weights) - np.outer(weights, weights)) @ d_weights


@score_gradient.wrong("符号反了", "梯度指着损失变大的方向：错误选项的分数升高，损失变大，所以它们的梯度是正的。")
def flipped(weights, target):
    return np.eye(len(weights))[target] - weights


@score_gradient.wrong("没有减去正确答案", "只有概率，还不知道谁是对的：正确的选项上要减 1。")
def without_target(weights, target):
    return weights


@score_gradient.wrong("停在了概率这一步", "-1/p 是损失对概率的梯度；还要穿过 softmax，才到分数。")
def before_softmax(weights, target):
    gradient = np.zeros(len(weights))
    gradient[target] = -1 / weights[target]
    return gradient


@score_gradient.wrong("只动了正确的选项", "错误的选项分走了概率，它们的分数也要往下压：那里的梯度是 p。")
def only_target(weights, target):
    gradient = np.zeros(len(weights))
    gradient[target] = weights[target] - 1
    return gradient


@score_gradient.wrong("编号从 1 数起了", "编号从 0 数起：target = 0 是第一个。")
def one_place_off(weights, target):
    return weights - np.eye(len(weights))[target - 1]


@score_gradient.wrong("减在了概率最大的选项上", "模型最有把握的那个不一定对：1 要减在 target 那里。")
def at_the_most_likely(weights, target):
    return weights - np.eye(len(weights))[np.argmax(weights)]


@score_gradient.wrong("总是减在第一个选项上", "1 要减在正确的选项，也就是第 target 个上。")
def at_the_first(weights, target):
    return weights - np.eye(len(weights))[0]


@score_gradient.wrong("每个选项都减了 1", "只有正确的选项减 1，其余就是概率本身。")
def minus_one_everywhere(weights, target):
    return weights - 1


@score_gradient.wrong("减去的是编号本身", "target 是位置，说的是在哪里减；减去的总是 1，而且只在那一个位置上减。")
def index_subtracted(weights, target):
    return weights - target


@score_gradient.wrong("正确的选项上减反了",
                      "是概率减 1，不是 1 减概率：正确选项的分数升高，损失变小，那里的梯度是负的。")
def one_minus_probability(weights, target):
    return np.where(np.arange(len(weights)) == target, 1 - weights, weights)


score_gradient.case("概率减答案", [0.75, 0.125, 0.125], 0, expected=[-0.25, 0.125, 0.125],
                    why="正确的选项是 0.75 - 1 = -0.25，其余就是概率本身，加起来是 0。")
score_gradient.case("正确的不一定最大", [0.375, 0.125, 0.5], 1, expected=[0.375, -0.875, 0.5],
                    why="正确的选项是 0.125 - 1 = -0.875；概率最大的那个不对，照样是它的概率 0.5。")


descent = Exercise(
    "13-3", "走一步",
    task="""
    `parameter` 是一组参数，`gradient` 是损失对它的梯度，`learning_rate` 是学习率 (learning rate)，也就是一步迈多大。
    做一步梯度下降，返回新的参数（不要改动传进来的）。
    """,
    hint="""
    梯度指着损失上升的方向，要往反方向走一小步。
    """,
)


@descent.stub
def my_step(parameter, gradient, learning_rate):
    """一步梯度下降以后的参数，形状不变。"""
    ...  # 你的代码


@descent.right
def against_the_gradient(parameter, gradient, learning_rate):
    return parameter - learning_rate * gradient


@descent.right
def number_by_number(parameter, gradient, learning_rate):
    return [p - g * learning_rate for p, g in zip(parameter, gradient)]


@descent.wrong("走反了方向", "加上梯度是往上爬，损失越来越大；下降要减。")
def uphill(parameter, gradient, learning_rate):
    return parameter + learning_rate * gradient


@descent.wrong("没有乘学习率", "步子太大会跨过谷底，梯度要先乘学习率。")
def full_step(parameter, gradient, learning_rate):
    return parameter - gradient


@descent.wrong("只返回了这一步，没有加到参数上", "新的参数是旧的参数走了一步以后的位置。")
def only_the_step(parameter, gradient, learning_rate):
    return -learning_rate * gradient


@descent.wrong("学习率乘到了参数上", "学习率管的是步子，乘在梯度上。")
def scaled_parameter(parameter, gradient, learning_rate):
    return learning_rate * parameter - gradient


@descent.wrong("除以了学习率", "学习率是乘上去的：它小，步子就小。")
def divided_by_rate(parameter, gradient, learning_rate):
    return parameter - gradient / learning_rate


@descent.wrong("学习率写死成了 0.1", "一步迈多大由 learning_rate 定，不总是 0.1。")
def always_a_tenth(parameter, gradient, learning_rate):
    return parameter - 0.1 * gradient


descent.case("一步", [1.0, 2.0], [10.0, -20.0], 0.1, expected=[0.0, 4.0], why="1 - 0.1 × 10 = 0，2 + 0.1 × 20 = 4。")
descent.case("另一个学习率", [5.0, 0.0, 1.0], [4.0, 2.0, -2.0], 0.5, expected=[3.0, -1.0, 2.0],
             why="5 - 0.5 × 4 = 3，0 - 0.5 × 2 = -1，1 + 0.5 × 2 = 2。")
