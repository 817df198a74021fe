"""第 2 节的面板：查一次柔性的字典，也可以添一条你自己的。"""

import numpy as np

from ..inputs import (
    DICTIONARY_KEYS,
    DICTIONARY_KINDS,
    DICTIONARY_LABELS,
    DICTIONARY_TOPICS,
    DICTIONARY_VALUES,
    NOT_IN_DICTIONARY,
    NOT_IN_DICTIONARY_QUERY,
)
from ..lookup import cosine_similarity
from ..steps import softmax, weighted_sum
from . import blocks, controls
from .panel import Panel
from .view import View

__all__ = ["soft_dictionary"]

QUERIES = {NOT_IN_DICTIONARY: NOT_IN_DICTIONARY_QUERY, **dict(zip(DICTIONARY_LABELS, DICTIONARY_KEYS, strict=True))}
LONGEST_LABEL = 8
OWN_VALUE = np.array([0.5, 0.5, 0.0])   # 读者的那一条，内容一半讲原理，一半讲应用


def render(query, temperature, own, computer, brain, kitchen):
    """这个词与每条标签有多像，各占多少份额，混出什么。"""
    own = "".join(own.split())[:LONGEST_LABEL]
    own_key = np.array([computer, brain, kitchen]) / 10   # (d_k,)
    labels = (*DICTIONARY_LABELS, own or "（空着）")
    keys = np.vstack([DICTIONARY_KEYS, own_key])   # (S, d_k)
    values = np.vstack([DICTIONARY_VALUES, OWN_VALUE])   # (S, d_v)
    mask = np.array([True] * len(DICTIONARY_LABELS) + [bool(own)])   # (S,)

    similarity = cosine_similarity(QUERIES[query][None, :], keys)[0]   # (S,)
    weights = softmax(similarity, mask=mask, temperature=temperature)   # (S,)
    blend = weighted_sum(weights[None, :], values)   # (1, d_v)

    shares = blocks.most(np.compress(mask, labels), weights[mask], one="份额最大的是{who}，{share}",
                         tied="份额最大的是{who}，各 {share}", alike="每一条的份额一样大，各 {share}",
                         crowd="份额最大的有 {n} 条，各 {share}", quotes="「、」")
    finding = (f"查「{query}」，温度 {blocks.short_number(temperature)}：{shares}；"
               f"混出来的内容里，{blocks.most(DICTIONARY_TOPICS, blend[0])}。")
    return View((
        blocks.bars(labels, {"像不像": np.where(mask, similarity, -np.inf), "份额": weights}, mask=mask,
                    limits={"像不像": 1.0, "份额": 1.0}, title=f"「{query}」和每条标签"),
        blocks.vectors(np.vstack([keys, QUERIES[query]]), [*labels, query], DICTIONARY_KINDS,
                       mark=len(labels), limit=1.0, title="标签的向量（编造的）"),
        blocks.vectors(np.vstack([values, blend]), [*labels, "混合"], DICTIONARY_TOPICS,
                       mark=len(labels), limit=1.0, title="内容（编造的）"),
    ), finding)


def soft_dictionary():
    """柔性的字典：换查询、换温度、添一条你自己的标签。"""
    return Panel(render, {
        "query": controls.choice("查哪个词", list(QUERIES)),
        "temperature": controls.temperature(0.1),
        "own": controls.label_field("你的标签", longest=LONGEST_LABEL),
        "computer": controls.integer("你的标签：计算机", 5, 0, 10),
        "brain": controls.integer("你的标签：大脑", 5, 0, 10),
        "kitchen": controls.integer("你的标签：厨房", 5, 0, 10),
    })
