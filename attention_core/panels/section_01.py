"""第 1 节的面板：边读边改写的笔记会褪色，回头看不会。"""

import numpy as np

from .. import book
from ..recurrent import note_shares
from ..steps import softmax
from . import blocks, controls
from .panel import Panel
from .view import View

__all__ = ["fading_note"]

CAT, ASKER = "猫", book.ASKER
CHARACTERS = tuple(book.SENTENCE)
UNITS = {"词": book.TOKENS, "字": tuple(c for c in CHARACTERS if c != "，"), "字和逗号": CHARACTERS}
LOOK_BACK = np.array(list(book.RECONCILED_SCORES.values()))   # (N,)
MOST_REWRITES = 12


def render(overwrite, unit, temperature):
    """读到「它」时，笔记里各个词的份额；和「它」直接回头看的权重。"""
    tokens = UNITS[unit]
    cat, asker = tokens.index(CAT), tokens.index(ASKER)
    kept = 1 - overwrite
    shares = np.full(len(tokens), np.nan)   # 「它」后面的词还没有读到
    shares[:asker + 1] = note_shares(len(tokens), kept)[asker, :asker + 1]
    weights = softmax(LOOK_BACK, temperature=temperature)   # (N,)
    rewrites, left = asker - cat, kept ** (asker - cat)
    steps = np.arange(MOST_REWRITES + 1)
    look = weights[book.TOKENS.index(CAT)]
    return View((
        blocks.sentence(tokens, shares, query=asker, verb="读", title=f"读到「{ASKER}」，笔记里各占几份",
                        label=f"读到「{ASKER}」，笔记里"
                              + blocks.most(tokens[:asker + 1], shares[:asker + 1], quotes="「」")),
        blocks.sentence(book.TOKENS, weights, query=book.TOKENS.index(ASKER), title="回头看：各占几份（书里编的分数）"),
        blocks.curve(steps, kept ** steps, point=(rewrites, left), x_label="改写了几次", y_label="还剩当初的几分之几",
                     x_limits=(0, MOST_REWRITES), y_limits=(0, 1), title="「猫」在笔记里还剩多少"),
    ), f"每次盖掉 {overwrite:g}，按{unit}数改写 {rewrites} 次：「猫」还剩当初的 {blocks.number(left)}，占笔记的 "
       f"{blocks.number(shares[cat])}；直接回头看（温度 {blocks.short_number(temperature)}），「猫」占 "
       f"{blocks.number(look)}。")


def fading_note():
    """每次改写盖掉多少、句子按什么数，「猫」到「它」还剩多少。"""
    return Panel(render, {
        "overwrite": controls.stops("每次盖掉几分之几", [0.1, 0.2, 0.3, 0.5, 0.7, 0.9], 0.3),
        "unit": controls.choice("句子按什么数", list(UNITS)),
        "temperature": controls.temperature(),
    })
