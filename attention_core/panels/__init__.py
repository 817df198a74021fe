'''活的面板：读者拖动的东西。

一个面板是一个纯函数 ``render(设置) -> View``，加上几个控件。`View` 是几块积木 (SVG) 和一句结论；
接线、重置、出错提示、没有内核时的静止图，都由 `Panel` 管。笔记本里只有一行::

    from attention_core import panels
    panels.three_steps()

怎样添一个面板
--------------
一节一个文件 ``section_NN.py``。下面是完整的例子：谁在提问，他把份额给了谁::

    import numpy as np

    from .. import book
    from ..steps import softmax
    from . import blocks, controls
    from .panel import Panel
    from .view import View

    __all__ = ["one_row"]
    SCORES = np.array(list(book.RECONCILED_SCORES.values()))

    def render(temperature):
        weights = softmax(SCORES, temperature=temperature)  # (S,)
        return View(
            [blocks.sentence(book.TOKENS, weights, query=7),
             blocks.bars(book.TOKENS, {"分数": SCORES, "权重": weights})],
            blocks.most(book.TOKENS, weights, quotes="「、」") + "。")

    def one_row():
        """「它」的一行随温度怎样变。"""
        return Panel(render, {"temperature": controls.temperature()})

再在本文件的 ``PANELS`` 里添一行 ``"one_row": "section_NN"``。测试会自己找到它，把每个控件的
每一档都走一遍，在浏览器里再走一遍。

要守的规矩
----------
- 数都在 render 里用 ``attention_core`` 算出来；编造的数要在图上写明是编造的。
- 画面的大小不随滑块变：行数、列数固定（句子由读者输入时例外）。
- 结论里写出数，不说“见图”；谁最大由 ``blocks.most`` 来说，它认得出并列。
- 每块积木的 ``label`` 是替代文字，缺省由积木自己得出。
- ``blocks`` 和 ``View`` 不需要 ipywidgets；用到面板时才载入它。这里谁也不载入 matplotlib。
- 不要滑块的图：把一个 `View` 放在单元格末尾就行。
'''

import importlib

from . import blocks
from .view import View

# 面板 -> 它所在的模块。用到哪个才载入哪个，所以 import attention_core.panels 很轻。
PANELS = {
    "fading_note": "section_01",
    "soft_dictionary": "section_02",
    "shapes": "section_03",
    "three_identities": "section_03",
    "three_steps": "section_04",
    "scaling": "section_05",
    "soft_and_hard": "section_06",
    "every_word_asks": "section_07",
    "word_order": "section_07",
    "far_apart": "section_08",
    "stopwatch": "section_08",
    "table_bill": "section_08",
    "later_word": "section_10",
    "masked_row": "section_10",
    "cross_attention": "section_11",
    "real_heads": "section_12",
    "learned_scores": "section_13",
    "how_many_heads": "section_09",
    "one_or_two_heads": "section_09",
}

__all__ = ["View", "blocks", *sorted(PANELS)]


def __getattr__(name):
    if name in PANELS:
        return getattr(importlib.import_module(f".{PANELS[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *PANELS])
