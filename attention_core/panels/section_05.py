"""第 5 节的面板：维数怎样把分数撑大，softmax 怎样饱和，缩放怎样把它拉回来。"""

from functools import cache

import numpy as np

from .. import book
from ..scaling import jacobian_norm, random_scores
from ..steps import score, softmax
from . import blocks, controls
from .panel import Panel
from .view import View

__all__ = ["scaling"]

KEY_TOKENS = tuple(book.SECTION_4_SCORES)
LARGEST = 1024
SIZES = tuple(2 ** k for k in range(LARGEST.bit_length()))
TRIALS = 300
# 满格的分数：缩放以后的一行装得下，不缩放的在 d_k = 64 左右开始顶到头
FULL_SCORE = 16.0


@cache
def _vectors(batch):
    """编造的（随机的）查询和十个键；d_k 小的时候只用前 d_k 个数，拖动时才接得上。"""
    drawn = np.random.default_rng(102 + batch).standard_normal((1 + len(KEY_TOKENS), LARGEST))
    return drawn[:1], drawn[1:]   # (1, d_k), (S, d_k)


@cache
def _trials():
    """每种维数各 TRIALS 次试验的分数，不缩放。"""
    rng = np.random.default_rng(5)
    return np.stack([random_scores(d_k, n_keys=len(KEY_TOKENS), n_trials=TRIALS, rng=rng) for d_k in SIZES])


@cache
def _typical_gradients(temperature):
    """每种维数下梯度大小的中位数：不缩放的一列，缩放的一列。"""
    scores = _trials()   # (len(SIZES), TRIALS, S)
    root = np.sqrt(SIZES)[:, None, None]
    return tuple(
        np.median(jacobian_norm(softmax(x, temperature=temperature), temperature=temperature), axis=-1)
        for x in (scores, scores / root))


def render(d_k, temperature, batch):
    """同一批向量取前 d_k 个数，不缩放与缩放各是什么样。"""
    query, key = (x[:, :d_k] for x in _vectors(batch))
    root = np.sqrt(d_k)
    plain, scaled = score(query, key, scale=1)[0], score(query, key)[0]   # (S,)
    plain_weights, scaled_weights = (softmax(x, temperature=temperature) for x in (plain, scaled))
    plain_gradients, scaled_gradients = _typical_gradients(temperature)
    here = SIZES.index(d_k)
    finding = (
        f"d_k = {d_k}：最大的权重，不缩放 {blocks.number(plain_weights.max())}，"
        f"缩放 {blocks.number(scaled_weights.max())}；典型的梯度，"
        f"不缩放 {blocks.short_number(plain_gradients[here])}，缩放 {blocks.short_number(scaled_gradients[here])}。")
    limits = {"分数": FULL_SCORE, "权重": 1.0}
    return View((
        blocks.bars(KEY_TOKENS, {"分数": plain, "权重": plain_weights}, limits=limits,
                    title=f"不缩放（随机的向量，d_k = {d_k}）"),
        blocks.bars(KEY_TOKENS, {"分数": scaled, "权重": scaled_weights}, limits=limits,
                    title=f"除以 √{d_k} = {blocks.short_number(root)}"),
        blocks.curve(SIZES, {"不缩放": plain_gradients, "缩放": scaled_gradients},
                     point=(d_k, plain_gradients[here]), x_label="维数 d_k", y_label="雅可比矩阵的大小（中位数）",
                     log_x=True, log_y=True, x_limits=(1, LARGEST), y_limits=(1e-8, 10),
                     title="还剩多少梯度" if plain_gradients.any() else "梯度恰好是 0，对数轴上画不出来", height=294),
    ), finding)


def scaling():
    """随机的查询和键：维数、温度、缩放怎样改变权重和梯度。"""
    for _, temperature in controls.TEMPERATURES:
        _typical_gradients(temperature)   # 每档几十毫秒，先算好，拖动时才跟手
    return Panel(render, {
        "d_k": controls.d_k(64, largest=LARGEST),
        "temperature": controls.temperature(),
        "batch": controls.integer("第几批向量", 1, 1, 5, tooltip="换一批随机的查询和键"),
    })
