"""第 13 节的面板：训练走到哪一步，「它」就看哪里。"""

from functools import cache

import numpy as np

from .. import book
from ..learning import FIRST_NOUN, IT, SECOND_NOUN, STATE, Settings, make_sentence, train
from . import blocks, controls
from .panel import Panel
from .view import View

__all__ = ["learned_scores"]

N_STEPS, EVERY, BATCH = 300, 10, 48   # 一步看 48 句：拖动 d_k 时等得短
D_KS = (4, 16, 64)
STATES = ("累", "宽")
SENTENCES = [make_sentence("猫", "马路", state) for state in STATES]
ASKERS = {"twice": {"hops": 2, "asker": IT}, "once": {"hops": 1, "asker": IT}, "state": {"hops": 1, "asker": STATE}}


@cache
def trained(asker, d_k, scaled, causal):
    """训练一次要三分之一秒，所以每种设置只训练一次；返回回放 (steps, weights, accuracies)。"""
    settings = Settings(**ASKERS[asker], d_k=d_k, scaled=scaled, causal=causal, unit_scores=True)
    return train(settings, n_steps=N_STEPS, batch=BATCH).watch(SENTENCES, every=EVERY)


def _render(step, asker, d_k, scaled, causal):
    """两句话在第 ``step`` 步的最后一问，和它们一路走来的曲线。"""
    steps, weights, accuracies = trained(asker, d_k, scaled, causal)
    now = step // EVERY
    rows = weights[now, -1]   # (2, N)
    place = ASKERS[asker]["asker"]
    mask = np.arange(len(book.TOKENS)) <= place if causal else None
    pictures = [
        blocks.sentence(words, row, query=place, mask=mask, title=f"太{state}了：「{words[place]}」的最后一问看谁")
        for words, row, state in zip(SENTENCES, rows, STATES)]
    pictures.append(blocks.curve(
        steps, {"累→猫": weights[:, -1, 0, FIRST_NOUN], "宽→马路": weights[:, -1, 1, SECOND_NOUN],
                "答对": accuracies},
        point=(step, accuracies[now]), x_label="训练的步数", y_label="权重，或比例", y_limits=(0, 1.2)))
    return View(pictures, (
        f"第 {step} 步：说「累」时猫 {blocks.number(rows[0, FIRST_NOUN])}、马路 {blocks.number(rows[0, SECOND_NOUN])}；"
        f"说「宽」时猫 {blocks.number(rows[1, FIRST_NOUN])}、马路 {blocks.number(rows[1, SECOND_NOUN])}。"
        f"没见过的名词对答对 {blocks.number(accuracies[now])}。"))


def learned_scores():
    """「它」的权重随训练怎样变；换谁问、d_k、缩放和因果掩码都会重新训练。"""
    for d_k in D_KS:   # 拖动 d_k 时，缺省的几档已经训练好了
        trained("twice", d_k, True, False)
    return Panel(_render, {
        "step": controls.integer("训练步数", N_STEPS, 0, N_STEPS, step=EVERY),
        "asker": controls.choice("谁来问", [("「它」问两次", "twice"), ("「它」只问一次", "once"),
                                           ("状态词问一次", "state")]),
        "d_k": controls.stops("维数 d_k", D_KS, 16, tooltip="查询和键有几个数；换一档会重新训练，约一秒"),
        "scaled": controls.toggle("除以 √d_k", True),
        "causal": controls.toggle("因果掩码"),
    })
