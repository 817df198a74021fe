"""第 4 节的面板：「它」的一行，从分数到权重，再到混出来的新向量。"""

import numpy as np

from .. import book
from ..steps import softmax, weighted_sum
from . import blocks, controls
from .panel import Panel
from .view import View

__all__ = ["three_steps"]

KEY_TOKENS = tuple(book.SECTION_4_SCORES)
SCORES = np.array(list(book.SECTION_4_SCORES.values()))  # (S,)

# 编造的值向量：四个数各管一件事，好让混出来的向量读得懂。真实模型里的数没有名字。
MEANINGS = ("动物", "地点", "状态", "虚词")
VALUES = np.array([  # (S, d_v)
    [0.1, 0.0, 0.0, 0.9],  # 那
    [0.3, 0.0, 0.0, 0.7],  # 只
    [1.0, 0.0, 0.2, 0.0],  # 猫
    [0.0, 0.0, 0.1, 0.9],  # 没
    [0.1, 0.3, 0.1, 0.4],  # 过
    [0.0, 1.0, 0.1, 0.0],  # 马路
    [0.0, 0.0, 0.0, 1.0],  # 因为
    [0.0, 0.0, 0.3, 0.7],  # 太
    [0.3, 0.0, 1.0, 0.0],  # 累
    [0.0, 0.0, 0.1, 0.9],  # 了
])


def printed(low, high):
    """书里印的权重写成文字：一个数，或者一个范围。"""
    return f"{low:.2f}" if low == high else f"{low:.2f}–{high:.2f}"


def _shares(tokens, weights):
    """看得见的词里谁最多，其次是谁。"""
    text = blocks.most(tokens, weights, one="{who}{share}", tied="{who}各 {share}", alike="看得见的各 {share}",
                       crowd="{n} 个词各 {share}", quotes="「、」")
    best = blocks.leaders(weights)
    tokens, weights = np.delete(tokens, best), np.delete(weights, best)
    if not weights.size:
        return text
    next_best = blocks.most(tokens, weights, one="其次{who}{share}", tied="其次{who}各 {share}",
                            alike="别的各 {share}", crowd="其次 {n} 个词各 {share}", nothing="别的都{nearly}是 0",
                            quotes="「、」")
    return f"{text}，{next_best}"


def render(temperature, causal):
    """三步在这一行上的画面。"""
    asker = book.TOKENS.index(book.ASKER)
    place = [book.TOKENS.index(token) for token in KEY_TOKENS]
    mask = np.array([not causal or i < asker for i in place])  # (S,)
    weights = softmax(SCORES, mask=mask, temperature=temperature)  # (S,)
    blend = weighted_sum(weights[None, :], VALUES)  # (1, d_v)

    # 第 4 节的一行没有「它」自己，句子里它只提问，不分份额。
    shares, seen = np.full(len(book.TOKENS), np.nan), np.ones(len(book.TOKENS), dtype=bool)
    shares[place], seen[place] = weights, mask
    scores = np.where(mask, SCORES, -np.inf)
    shares_text = _shares(np.compress(mask, KEY_TOKENS), weights[mask])
    finding = (
        f"温度 {blocks.short_number(temperature)}，「它」的份额：{shares_text}，"
        f"{int(mask.sum())} 份合计 {blocks.number(weights.sum())}。"
        f"混出来的新向量里，{blocks.most(MEANINGS, blend[0])}。")
    return View((
        blocks.sentence(book.TOKENS, shares, query=asker, mask=seen, title="「它」在问每一个词"),
        blocks.bars(KEY_TOKENS, {
            "分数": scores, "权重": weights,
            "书里印的": [printed(*book.PRINTED_WEIGHTS[token]) for token in KEY_TOKENS],
        }, mask=mask, limits={"分数": 4.2, "权重": 1.0}, title="第一步打分，第二步归一"),
        blocks.vectors(np.vstack([VALUES, blend]), [*KEY_TOKENS, "混合"], MEANINGS, mark=len(KEY_TOKENS),
                       limit=1.0, title="第三步加权求和（值是编造的）"),
    ), finding)


def three_steps():
    """「它」的一行：温度与因果掩码怎样改变权重和混出来的向量，旁边是书里印的权重。"""
    return Panel(render, {
        "temperature": controls.temperature(),
        "causal": controls.toggle("因果掩码：关掉「它」后面的词"),
    })
