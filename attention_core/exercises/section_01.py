"""第 1 节的练习：每个词都改写一遍的笔记，会褪色。"""

from .frame import Exercise

what_is_left = Exercise(
    "01-1", "笔记还剩多少",
    task="""
    循环网络的笔记每读一个词就改写一遍，每次有 `overwrite` 这么大的一份被新内容盖掉。
    改写 `n_rewrites` 次之后，最早写下的那份还剩多少？（一开始是 1。）
    """,
    hint="""
    每改写一次，留下的是原来的 `1 - overwrite` 倍。两次就是这个倍数乘两遍。
    """,
)


@what_is_left.stub
def my_note_left(n_rewrites, overwrite):
    """改写 n_rewrites 次以后，最早的那份还剩几分之几（一开始是 1）。"""
    ...  # 你的代码


@what_is_left.right
def power(n_rewrites, overwrite):
    return (1 - overwrite) ** n_rewrites


@what_is_left.right
def loop(n_rewrites, overwrite):
    left = 1.0
    for _ in range(n_rewrites):
        left -= left * overwrite
    return left


@what_is_left.wrong("每次减去同样多", "盖掉的是剩下的那份里的一部分，所以要一次次相乘；一次次相减，剩的会变成负数。")
def subtracted(n_rewrites, overwrite):
    return 1 - n_rewrites * overwrite


@what_is_left.wrong("少乘了一次", "改写几次就要乘几次。")
def one_too_few(n_rewrites, overwrite):
    return (1 - overwrite) ** (n_rewrites - 1)


@what_is_left.wrong("多乘了一次", "改写几次就乘几次；一次也没改写时，笔记完好，是 1。")
def one_too_many(n_rewrites, overwrite):
    return (1 - overwrite) ** (n_rewrites + 1)


@what_is_left.wrong("把盖掉的当成了留下的", "overwrite 是被盖掉的那一份，留下的是 1 - overwrite。")
def overwritten_share(n_rewrites, overwrite):
    return overwrite ** n_rewrites


@what_is_left.wrong("忘了次数：只算了一次", "改写 n_rewrites 次，就要乘 n_rewrites 次 1 - overwrite。")
def once(n_rewrites, overwrite):
    return 1 - overwrite


what_is_left.case("次数", 0, 0.3, expected=1.0, why="还没有改写过，一点也没少。")
what_is_left.case("盖掉与留下", 1, 0.2, expected=0.8, why="盖掉两成，留下八成。")
what_is_left.case("相乘", 3, 0.5, expected=0.125, why="三次各剩一半：0.5 × 0.5 × 0.5。")


count_rewrites = Exercise(
    "01-2", "从这个词到那个词，改写几次",
    task="""
    `words` 是一句话的词。`first` 刚写进笔记，之后每读一个词就改写一次，读到 `second` 为止
    （读 `second` 的那一次也算）。一共改写了几次？
    """,
    hint="""
    列表的 `words.index(first)` 是 `first` 的位置。两个位置之间差几？
    """,
)


@count_rewrites.stub
def my_rewrites(words, first, second):
    """从 first 写进笔记到读完 second，笔记改写了几次。"""
    ...  # 你的代码


@count_rewrites.right
def difference(words, first, second):
    return words.index(second) - words.index(first)


@count_rewrites.right
def slice_length(words, first, second):
    return len(words[words.index(first):words.index(second)])


@count_rewrites.wrong("从句首数起了", "first 前面的词来得更早，那时它还没有写进笔记，不会改写它。")
def from_the_start(words, first, second):
    return words.index(second)


@count_rewrites.wrong("把 first 自己也数进去了", "first 是写进去的那个词，从它的下一个词开始才是改写。")
def both_ends(words, first, second):
    return words.index(second) - words.index(first) + 1


@count_rewrites.wrong("漏了 second 这一次", "读 second 的时候笔记也改写一次，要算上。")
def only_between(words, first, second):
    return words.index(second) - words.index(first) - 1


@count_rewrites.wrong("一直数到了句末", "只数到 second 为止；它后面的词这时还没有读到。")
def to_the_end(words, first, second):
    return len(words) - 1 - words.index(first)


@count_rewrites.wrong("两个位置减反了", "second 在后面，它的位置大：用 second 的位置减 first 的位置。")
def reversed_difference(words, first, second):
    return words.index(first) - words.index(second)


count_rewrites.case("相邻的两个词", ["它", "累"], "它", "累", expected=1, why="读第二个词时改写了一次。")
@count_rewrites.wrong("数了字，没有数词", "一次读一个词，「马路」是一个词，只改写一次：数列表里有几项，不数有几个字。")
def characters(words, first, second):
    return len("".join(words[words.index(first) + 1:words.index(second) + 1]))


count_rewrites.case("从哪里数起，数到哪里",
                    ["昨天", "那", "只", "猫", "没", "过", "马路", "因为", "它", "实在", "太", "累", "了"], "猫", "它",
                    expected=5, why="「没」「过」「马路」「因为」「它」各改写了一次；「它」后面的词还没有读到。")
