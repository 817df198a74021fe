"""第 6 节的面板：给第二名加分，硬选择什么时候动，柔性的什么时候动，推一下能动多少。"""

from functools import cache

import numpy as np

from .. import book
from ..gradients import softmax_jacobian
from ..steps import softmax
from . import blocks, controls
from .panel import Panel
from .view import View

__all__ = ["soft_and_hard"]

KEY_TOKENS = tuple(book.SECTION_4_SCORES)
SCORES = np.array(list(book.SECTION_4_SCORES.values()))   # (S,)
RUNNER_UP_AT = KEY_TOKENS.index("马路")
# 3.10 时两个词打平：它的两边都要有档位
EXTRAS = (0.0, 0.01, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.09, 3.1, 3.11, 3.2, 3.5, 4.0)
GRID = np.linspace(0, 4, 401)


def _raised(extra):
    """给「马路」加 ``extra`` 分以后的分数，shape (..., S)。"""
    return SCORES + np.multiply.outer(extra, np.eye(len(KEY_TOKENS))[RUNNER_UP_AT])


@cache
def _shares(temperature):
    """「马路」的份额随加分怎样变，shape (len(GRID),)。"""
    return softmax(_raised(GRID), temperature=temperature)[:, RUNNER_UP_AT]


def render(extra, temperature):
    """加这么多分、在这个温度下，硬选择与柔性的各是什么样。"""
    scores = _raised(extra)   # (S,)
    hard, soft = softmax(scores, temperature=0), softmax(scores, temperature=temperature)   # (S,)
    jacobian = softmax_jacobian(soft, temperature=temperature)   # (S, S)
    choice = blocks.most(KEY_TOKENS, hard, one="{who}", tied="{who}（打平）", quotes="「和」")
    finding = (
        f"「马路」加 {extra:.2f} 分：硬选择取{choice}；"
        f"柔性的「马路」占 {blocks.number(soft[RUNNER_UP_AT], 4)}，"
        f"再推一下，它动的快慢是 {blocks.short_number(jacobian[RUNNER_UP_AT, RUNNER_UP_AT])}。")
    label = "softmax 的雅可比矩阵。推「马路」的分数，" + "，".join(
        f"「{name}」的权重动 {blocks.number(moved)}"
        for name, moved in zip(KEY_TOKENS, jacobian[:, RUNNER_UP_AT], strict=True))
    return View((
        blocks.bars(KEY_TOKENS, {"分数": scores, "硬选择": hard, "柔性": soft}, mark=RUNNER_UP_AT,
                    limits={"分数": 5.1, "硬选择": 1.0, "柔性": 1.0}, title="同一行分数，两种选法"),
        blocks.curve(GRID, {"硬选择": _shares(0.0), "柔性": _shares(temperature)},
                     point=(extra, soft[RUNNER_UP_AT]), x_label="给「马路」加几分", y_label="「马路」的份额",
                     x_limits=(0, 4), y_limits=(0, 1), height=294,
                     title="一个跳，一个滑" if temperature else "温度 0：两个都跳"),
        blocks.table(jacobian, KEY_TOKENS, signed=True, limit=0.25, label=label,
                     title="推一个分数（列），权重（行）动多少"),
    ), finding)


def soft_and_hard():
    """给「马路」加分：硬选择与柔性的份额，以及 softmax 的雅可比矩阵。"""
    return Panel(render, {
        "extra": controls.stops("给「马路」加分", [(f"{extra:.2f}", extra) for extra in EXTRAS],
                                tooltip="在书里的 1.1 上面再加几分"),
        "temperature": controls.temperature(),
    })
