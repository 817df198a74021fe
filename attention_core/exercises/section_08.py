"""第 8 节的练习：路有多长，表有多大，怎样不存整张表。"""

import numpy as np

from .frame import Exercise

steps_between = Exercise(
    "08-1", "从头到尾要走几步",
    task="""
    一句话有 `n_words` 个词（至少两个）。第一个词的消息要传到最后一个词：循环网络要传几步？自注意力要几步？
    返回两个数 `[循环网络, 自注意力]`。
    """,
    hint="""
    循环网络每过一个词传一步，第一个词到第二个词是一步。自注意力让任意两个词直接打分。
    """,
)


@steps_between.stub
def my_steps(n_words):
    """第一个词到最后一个词：`[循环网络的步数, 自注意力的步数]`。"""
    ...  # 你的代码


@steps_between.right
def closed_form(n_words):
    return [n_words - 1, 1]


@steps_between.right
def counted(n_words):
    return sum(1 for _ in range(1, n_words)), 1


@steps_between.wrong("循环网络多数了一步", "n 个词之间只有 n - 1 个空当，每个空当传一步。")
def one_step_too_many(n_words):
    return [n_words, 1]


@steps_between.wrong("自注意力也一步步传了", "自注意力里任意两个词直接相连，多远都是一步。")
def both_walk(n_words):
    return [n_words - 1, n_words - 1]


@steps_between.wrong("把格子数当成了步数", "N × N 是要算的格子有多少；一条消息从头到尾只走一步。")
def cells(n_words):
    return [n_words - 1, n_words * n_words]


@steps_between.wrong("以为自注意力一步也不用", "直接看一眼也是一步：打分、取走，算一次。")
def no_step(n_words):
    return [n_words - 1, 0]


@steps_between.wrong("两个数的次序反了", "先写循环网络的步数，再写自注意力的。")
def other_order(n_words):
    return [1, n_words - 1]


steps_between.case("两个词", 2, expected=[1, 1], why="两个词紧挨着，哪一种都只要一步。")
steps_between.case("步数", 11, expected=[10, 1], why="11 个词，循环网络传 10 步；自注意力一步。")


table_bytes = Exercise(
    "08-2", "整张表要多少字节",
    task="""
    一句话 `n_words` 个词，`n_heads` 个头，每个头各有一张权重表，一个数占 `bytes_per_number` 个字节。
    把这些表全存下来，一共要多少字节？
    """,
    hint="""
    每个词问每个词：一张表有 N × N 个格子。
    """,
)


@table_bytes.stub
def my_table_bytes(n_words, n_heads, bytes_per_number):
    """全部权重表占的字节数。"""
    ...  # 你的代码


@table_bytes.right
def multiplied(n_words, n_heads, bytes_per_number):
    return n_heads * n_words ** 2 * bytes_per_number


@table_bytes.right
def measured(n_words, n_heads, bytes_per_number):
    return np.zeros((n_heads, n_words, n_words), dtype=np.int8).size * bytes_per_number


@table_bytes.wrong("只算了一行", "每个词都有自己的一行：N 行，每行 N 个格子。")
def one_row(n_words, n_heads, bytes_per_number):
    return n_heads * n_words * bytes_per_number


@table_bytes.wrong("忘了头数", "每个头各有一张表。")
def one_head(n_words, n_heads, bytes_per_number):
    return n_words ** 2 * bytes_per_number


@table_bytes.wrong("只数了格子，没有乘字节数", "一个格子是一个数，float32 占 4 个字节，float64 占 8 个。")
def only_cells(n_words, n_heads, bytes_per_number):
    return n_heads * n_words ** 2


@table_bytes.wrong("每一对只算了一次", "甲问乙和乙问甲是两个格子，分数可以不同。")
def pairs(n_words, n_heads, bytes_per_number):
    return n_heads * n_words * (n_words + 1) // 2 * bytes_per_number


@table_bytes.wrong("一个数一律按 4 个字节算了", "一个数占几个字节由 bytes_per_number 定，不总是 4 个。")
def always_four(n_words, n_heads, bytes_per_number):
    return n_heads * n_words ** 2 * 4


table_bytes.case("大小", 10, 2, 4, expected=800, why="2 张表 × 100 个格子 × 4 个字节。")
table_bytes.case("一个数占 8 个字节", 3, 5, 8, expected=360, why="5 张表 × 9 个格子 × 8 个字节。")


merge_blocks = Exercise(
    "08-3", "分块算，再合起来",
    task="""
    一行分数太长，分成左右两块各算各的。每一块只留三个数 `[最大分数, 总和, 混合]`：总和是 e 的（分数减本块最大分数）
    次方加起来，混合是同样的次方各乘以那个位置的值再加起来。合成整行的三个数（以整行的最大分数为准）。
    """,
    hint="""
    新的最大值是两边里大的那个。左边的总和与混合当初减的是左边的最大值，现在要改减新的：
    都乘以 e 的（左边最大值减新最大值）次方。右边也一样。
    """,
)


@merge_blocks.stub
def my_merge_blocks(left, right):
    """合并两块，返回 `[最大分数, 总和, 混合]`。"""
    ...  # 你的代码


@merge_blocks.right
def rescaled(left, right):
    largest = max(left[0], right[0])
    total = left[1] * np.exp(left[0] - largest) + right[1] * np.exp(right[0] - largest)
    mixed = left[2] * np.exp(left[0] - largest) + right[2] * np.exp(right[0] - largest)
    return [largest, total, mixed]


@merge_blocks.right
def vectorised(left, right):
    both = np.stack([left, right])  # (2, 3)
    largest = both[:, 0].max()
    return np.append(largest, np.exp(both[:, 0] - largest) @ both[:, 1:])


@merge_blocks.wrong("没有换到同一个最大值上",
                    "两块当初减的最大值不同，不能直接相加，要先各乘 e 的（旧最大值减新最大值）次方。")
def not_rescaled(left, right):
    return [max(left[0], right[0]), left[1] + right[1], left[2] + right[2]]


@merge_blocks.wrong("换算的方向反了", "新的最大值更大，减得更多，所以旧的总和要变小：指数是旧的减新的，不会大于 0。")
def wrong_direction(left, right):
    largest = max(left[0], right[0])
    factors = np.exp([largest - left[0], largest - right[0]])
    return [largest, factors @ [left[1], right[1]], factors @ [left[2], right[2]]]


@merge_blocks.wrong("混合没有跟着换算", "混合里用的是同样的次方，总和乘了多少，它也要乘多少。")
def mixture_left_behind(left, right):
    largest = max(left[0], right[0])
    total = left[1] * np.exp(left[0] - largest) + right[1] * np.exp(right[0] - largest)
    return [largest, total, left[2] + right[2]]


@merge_blocks.wrong("只换算了左边", "哪一边的最大值较小，哪一边就要换算；最大的可能在左边，也可能在右边。")
def only_left(left, right):
    largest = max(left[0], right[0])
    factor = np.exp(left[0] - largest)
    return [largest, left[1] * factor + right[1], left[2] * factor + right[2]]


@merge_blocks.wrong("只换算了右边", "哪一边的最大值较小，哪一边就要换算；最大的可能在左边，也可能在右边。")
def only_right(left, right):
    largest = max(left[0], right[0])
    factor = np.exp(right[0] - largest)
    return [largest, left[1] + right[1] * factor, left[2] + right[2] * factor]


@merge_blocks.wrong("最大值没有更新", "合并以后，要以两边里更大的那个为准。")
def old_maximum(left, right):
    factor = np.exp(right[0] - left[0])
    return [left[0], left[1] + right[1] * factor, left[2] + right[2] * factor]


@merge_blocks.wrong("总和没有跟着换算", "总和里用的是同样的次方，混合乘了多少，它也要乘多少。")
def total_left_behind(left, right):
    largest = max(left[0], right[0])
    mixed = left[2] * np.exp(left[0] - largest) + right[2] * np.exp(right[0] - largest)
    return [largest, left[1] + right[1], mixed]


@merge_blocks.wrong("换算时没有减去新的最大值", "要乘的是 e 的（旧最大值减新最大值）次方，不是 e 的旧最大值次方。")
def new_maximum_forgotten(left, right):
    factors = np.exp([left[0], right[0]])
    return [max(left[0], right[0]), factors @ [left[1], right[1]], factors @ [left[2], right[2]]]


@merge_blocks.wrong("混合已经除以了总和", "这里只合并，还不除：以后还要和别的块合。全部合完，才用混合除以总和。")
def already_divided(left, right):
    largest, total, mixed = rescaled(left, right)
    return [largest, total, mixed / total]


merge_blocks.case("右边更大", [0.0, 2.0, 10.0], [np.log(2), 1.0, 4.0], expected=[np.log(2), 2.0, 9.0],
                  why="最大值从 0 换成 ln 2，左边的都减半：1 + 1 = 2，5 + 4 = 9。")
merge_blocks.case("左边更大", [np.log(2), 1.0, 3.0], [-np.log(2), 2.0, 8.0], expected=[np.log(2), 1.5, 5.0],
                  why="最大值是左边的 ln 2，右边的比它低 2 ln 2，都乘 1/4：1 + 0.5 = 1.5，3 + 2 = 5。")
