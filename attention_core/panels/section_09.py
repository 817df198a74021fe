"""第 9 节的面板：一个头只能平均，两个头分得开；头数变，参数不变。"""

from functools import cache

import numpy as np

from .. import book
from ..attention import scaled_dot_product_attention
from ..inputs import CROSSINGS, NOUNS, ROLE_KEYS, ROLE_QUERIES, noun_values, word_vectors
from ..multihead import MultiHeadAttention
from . import blocks, controls
from .panel import Panel
from .view import View

__all__ = ["how_many_heads", "one_or_two_heads"]

HEADS = ("谁在过", "过什么")
D_MODEL, MOST_HEADS = 16, 8
ASKER_AT = book.TOKENS.index(book.ASKER)


def render(sentence, temperature):
    """「过」问两件事：一个头混着问，两个头分开问。"""
    tokens = CROSSINGS[sentence]
    value = noun_values(tokens)   # (N, 2)
    one, one_weights = scaled_dot_product_attention(   # (1, 2), (1, N)
        ROLE_QUERIES.sum(axis=0, keepdims=True), ROLE_KEYS, value, temperature=temperature)
    two, two_weights = scaled_dot_product_attention(   # (2, 1, 2), (2, 1, N)
        ROLE_QUERIES[:, None], ROLE_KEYS, value, temperature=temperature)
    single, double = one[0], two[0, 0]   # (2,), (2,)
    answers = [f"{NOUNS[0]} {blocks.number(cat)}、{NOUNS[1]} {blocks.number(road)}" for cat, road in (single, double)]
    finding = (f"{sentence}，温度 {blocks.short_number(temperature)}：一个头得到{answers[0]}；"
               f"两个头里，“{HEADS[0]}”得到{answers[1]}。")
    return View((
        blocks.table(np.vstack([one_weights, two_weights[:, 0]]), ["一个头", *HEADS], tokens, title="「过」的权重"),
        blocks.vectors(single[None], ["一个头"], NOUNS, limit=1.0, title="一个头的输出"),
        blocks.vectors(two[:, 0], HEADS, NOUNS, limit=1.0, title="两个头的输出，首尾相接"),
    ), finding)


def one_or_two_heads():
    """换一句话，一个头的输出分不出谁过谁，两个头的分得出。"""
    return Panel(render, {
        "sentence": controls.choice("句子", list(CROSSINGS)),
        "temperature": controls.temperature(),
    })


@cache
def _layer(n_heads):
    """头数不同的几层，权重取自同样的随机数。"""
    return MultiHeadAttention(D_MODEL, n_heads, bias=False, rng=np.random.default_rng(9))


def render_heads(n_heads, temperature):
    """「它」在每个头里的权重，和它们的平均。"""
    layer, n_tokens = _layer(n_heads), len(book.TOKENS)
    _, weights = layer(4 * word_vectors(book.TOKENS, D_MODEL), temperature=temperature)   # (h, N, N)
    rows = np.zeros((MOST_HEADS, n_tokens))   # 行数固定，画面才不跳
    rows[:n_heads] = weights[:, ASKER_AT]
    used = np.repeat((np.arange(MOST_HEADS) < n_heads)[:, None], n_tokens, axis=1)
    mean = weights[:, ASKER_AT].mean(axis=0)   # (N,)
    looks = "；".join(f"头 {i} 的权重里{blocks.most(book.TOKENS, row, quotes='「」')}"
                     for i, row in enumerate(weights[:, ASKER_AT], 1))
    return View((
        blocks.table(rows, [f"头 {i + 1}" for i in range(MOST_HEADS)], book.TOKENS, mask=used,
                     title="「它」的权重，一个头一行",
                     label=f"{n_heads} 个头。{looks}"),
        blocks.bars(book.TOKENS, {"各头的平均": mean}, limits={"各头的平均": 1.0}, title="平均以后"),
    ), f"温度 {blocks.short_number(temperature)}，{n_heads} 个头，每个头 d_k = {D_MODEL // n_heads}，"
       f"参数 {layer.n_parameters} 个；"
       f"平均以后最大的权重 {blocks.number(mean.max())}，各头里最大的 {blocks.number(weights[:, ASKER_AT].max())}。")


def how_many_heads():
    """头数从 1 到 8：每个头变窄，参数不变，平均会盖住什么。"""
    return Panel(render_heads, {
        "n_heads": controls.stops("头数 h", [2 ** k for k in range(MOST_HEADS.bit_length())], 4),
        "temperature": controls.temperature(),
    })
