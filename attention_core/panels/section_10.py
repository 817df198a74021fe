"""第 10 节的面板：遮的办法有对有错；换掉后文的一个词，前文动不动。"""

import numpy as np

from .. import book
from ..masks import causal_mask
from ..steps import softmax
from . import blocks, controls
from .panel import Panel
from .random_sentence import stacked_attention
from .view import View
from .words import LONGEST_WORD, split_sentence

__all__ = ["later_word", "masked_row"]

TOKENS = tuple(book.SECTION_10_SCORES)
SCORES = np.array(list(book.SECTION_10_SCORES.values()))   # (S,)
IT_AT, CAT_AT, TIRED_AT = (TOKENS.index(token) for token in (book.ASKER, "猫", "累"))
FILLS = {"before": -np.inf, "zero": 0.0, "large": -1e9}
HOWS = [("softmax 之前填 −∞", "before"), ("不遮", "none"), ("softmax 之后清成 0", "after"),
        ("softmax 之前填 0", "zero"), ("softmax 之前填 −1e9", "large")]


def masked_weights(how, scores, is_open, temperature):
    """用五种办法之一遮住一行，返回进 softmax 的分数和最后的权重，都是 (S,)。"""
    if how in FILLS:
        scores = np.where(is_open, scores, FILLS[how])
    weights = softmax(scores, temperature=temperature)
    return scores, weights * is_open if how == "after" else weights


def _render_row(how, late, nothing, temperature):
    """「它」的一行：遮的办法、「累」的分数、温度，各怎样改变权重。"""
    scores = SCORES.copy()
    scores[TIRED_AT] = late
    is_open = (np.arange(len(TOKENS)) <= IT_AT) & (not nothing)
    given, weights = masked_weights(how, scores, is_open, temperature)
    shown = ["−1e9" if score == FILLS["large"] else blocks.number(score) for score in given]
    mask = None if how == "none" else is_open
    shut = "整行的" if nothing else "「它」后面的"
    return View((
        blocks.sentence(TOKENS, weights, query=IT_AT, mask=mask, title="「它」那一行，斜线是不许看的"),
        blocks.bars(TOKENS, {"分数": [blocks.number(score) for score in scores], "遮过的": shown,
                             "权重": weights}, mask=mask, mark=IT_AT, limits={"权重": 1.0}, title="从分数到权重"),
    ), (f"温度 {blocks.short_number(temperature)}：「猫」{blocks.number(weights[CAT_AT], 4)}；"
        f"{shut}词共分到 {blocks.number(weights[~is_open].sum(), 4)}；"
        f"整行合计 {blocks.number(weights.sum(), 4)}。"))


def masked_row():
    """「它」的一行：五种遮法，「累」的分数随你改，看谁漏了。"""
    return Panel(_render_row, {
        "how": controls.choice("怎样遮", HOWS, tooltip="对的只有一种"),
        "late": controls.stops("「累」的分数", [-2.0, 0.4, 2.0, 4.2, 8.0, 1000.0], 0.4,
                               tooltip="「累」在「它」后面，不许看；书里是 0.4"),
        "temperature": controls.temperature(),
        "nothing": controls.toggle("整行都关掉", tooltip="一个词也不许看"),
    })


REPLACEMENT = "宽"


def _render_later(text, place, replacement, causal, n_layers, temperature):
    """换掉一个词，前后各算一遍，逐个位置比较输出。"""
    words = split_sentence(text, fallback=book.TOKENS)
    where = f"第 {place} 个词" if place <= len(words) else f"没有第 {place} 个词，最后一个"
    place = min(place, len(words)) - 1
    new_words = list(words)
    new_words[place] = "".join(replacement.split())[:LONGEST_WORD] or REPLACEMENT
    mask = causal_mask(len(words)) if causal else None
    (before, old), (after, new) = (
        stacked_attention(each, n_layers, mask=mask, temperature=temperature) for each in (words, new_words))
    moved = np.linalg.norm(after - before, axis=-1)   # (n,)
    has_moved = (after != before).any(axis=-1)   # 逐位比较，不留误差的余地
    return View((
        blocks.table(new, new_words, mask=mask, diagonal=True, title="换过以后的权重"),
        blocks.table(new - old, new_words, mask=mask, signed=True, limit=0.5, title="权重变了多少（蓝多橙少）"),
        blocks.bars(new_words, {"输出变了多少": moved}, mark=place, limits={"输出变了多少": 2.0}, digits=3,
                    title="每个位置的输出"),
    ), (f"{where}「{words[place][:LONGEST_WORD]}」换成「{new_words[place]}」：前面 {place} 个词里，"
        f"输出动了的有 {has_moved[:place].sum()} 个；从它起的 {len(words) - place} 个词里，动了的有 "
        f"{has_moved[place:].sum()} 个。"))


def later_word():
    """换掉一个词，看哪些位置的输出动了；因果掩码、层数、温度和句子都随你改。"""
    return Panel(_render_later, {
        "text": controls.sentence_field(),
        "place": controls.integer("换掉第几个词", TIRED_AT + 1, 1, 16),
        "replacement": controls.sentence_field(REPLACEMENT, description="换成"),
        "causal": controls.toggle("因果掩码", True),
        "n_layers": controls.stops("叠几层", [1, 2, 4], tooltip="上一层的输出，是下一层的输入"),
        "temperature": controls.temperature(),
    })
