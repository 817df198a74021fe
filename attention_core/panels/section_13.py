"""第 13 节的面板：训练走到哪一步，「它」就看哪里。"""

from dataclasses import replace

import numpy as np

from ..learning import EVERY, FIRST_AT, N_STEPS, ONE_HOP, PAIR, SECOND_AT, STATE_AT, TWO_HOPS, replay
from . import blocks, controls
from .panel import Panel
from .view import View

__all__ = ["learned_scores"]

D_KS = (4, 16, 64)
ASKERS = {"twice": TWO_HOPS, "once": replace(TWO_HOPS, hops=1), "state": ONE_HOP}


def _replay(asker, d_k, scaled, causal):
    """这几个控件选定的那次训练。起步时查询和键的方差是 1，d_k 和缩放才看得出作用。"""
    return replay(replace(ASKERS[asker], d_k=d_k, scaled=scaled, causal=causal, unit_scores=True))


def _render(step, asker, d_k, scaled, causal):
    """两句话在第 ``step`` 步的最后一问，和它们一路走来的曲线。"""
    steps, weights, accuracies = _replay(asker, d_k, scaled, causal)
    now = step // EVERY
    rows = weights[now, -1]   # (2, N)
    place = ASKERS[asker].asker
    mask = np.arange(rows.shape[1]) <= place if causal else None
    pictures = [
        blocks.sentence(words, row, query=place, mask=mask,
                        title=f"太{words[STATE_AT]}了：「{words[place]}」的最后一问看谁")
        for words, row in zip(PAIR, rows)]
    pictures.append(blocks.curve(
        steps, {"累→猫": weights[:, -1, 0, FIRST_AT], "宽→马路": weights[:, -1, 1, SECOND_AT],
                "答对": accuracies},
        point=(step, accuracies[now]), x_label="训练的步数", y_label="权重，或比例", y_limits=(0, 1.2)))
    return View(pictures, (
        f"第 {step} 步：说「累」时猫 {blocks.number(rows[0, FIRST_AT])}、马路 {blocks.number(rows[0, SECOND_AT])}；"
        f"说「宽」时猫 {blocks.number(rows[1, FIRST_AT])}、马路 {blocks.number(rows[1, SECOND_AT])}。"
        f"没见过的名词对答对 {blocks.number(accuracies[now])}。"))


def learned_scores():
    """「它」的权重随训练怎样变；换谁问、d_k、缩放和因果掩码都会重新训练。"""
    for d_k in D_KS:   # 拖动 d_k 时，缺省的几档已经训练好了
        _replay("twice", d_k, True, False)
    return Panel(_render, {
        "step": controls.integer("训练步数", N_STEPS, 0, N_STEPS, step=EVERY),
        "asker": controls.choice("谁来问", [("「它」问两次", "twice"), ("「它」只问一次", "once"),
                                           ("状态词问一次", "state")]),
        "d_k": controls.stops("维数 d_k", D_KS, 16, tooltip="查询和键有几个数；换一档会重新训练，约三分之一秒"),
        "scaled": controls.toggle("除以 √d_k", True),
        "causal": controls.toggle("因果掩码"),
    })
