"""第 11 节的面板：英文的每个词，回头查中文的原文。"""

import numpy as np

from .. import book
from ..attention import scaled_dot_product_attention
from ..inputs import CHINESE_VECTORS, ENGLISH, ENGLISH_VECTORS, ENGLISH_W_Q, MEANINGS
from ..masks import padding_mask
from . import blocks, controls
from .panel import Panel
from .view import View

__all__ = ["cross_attention"]

BLANK = "空位"   # 两个字，与「马路」一样高：空位多少，表的高矮不变
QUERY = ENGLISH_VECTORS @ ENGLISH_W_Q   # (L, d_k)


def _render(asker, n_real, shut, temperature):
    """英文问中文的整张表，和其中一个词的一行；原文后面可以有空位。"""
    n_source = len(book.TOKENS)
    source = CHINESE_VECTORS * (np.arange(n_source) < n_real)[:, None]   # (S, d_model)：空位的向量全是 0
    names = [*book.TOKENS[:n_real], *[BLANK] * (n_source - n_real)]
    mask = padding_mask(n_real, n_source) if shut else None   # (1, S)
    output, weights = scaled_dot_product_attention(QUERY, source, source, mask=mask, temperature=temperature)

    row, word = weights[asker], f"“{ENGLISH[asker]}”"   # 句号也能提问，加上引号才看得见
    tied = "没有最看谁，{n} 个位置并列，各 {share}"
    most = blocks.most(names, row, one="最看{who}，{share}", tied=tied, alike=tied, quotes="「」")
    return View((
        blocks.sentence(names, row, mask=None if mask is None else mask[0], title=f"{word}在问中文的每一个词"),
        blocks.table(weights, ENGLISH, names, mask=mask, query=asker, title="行是英文，列是中文（向量是编造的）"),
        blocks.vectors(np.stack([ENGLISH_VECTORS[asker], output[asker]]), ["自己", "取来的"], MEANINGS,
                       mark=1, limit=1.0, digits=1, title=f"{word}自己的意思，和从中文取来的"),
    ), (f"温度 {blocks.short_number(temperature)}：{word}{most}；"
        f"{n_source - n_real} 个空位一共分到 {blocks.number(row[n_real:].sum())}。"))


def cross_attention():
    """英文问中文：换提问的词、原文的长度、空位遮不遮、温度。"""
    return Panel(_render, {
        "asker": controls.token(ENGLISH, ENGLISH.index("it")),
        "n_real": controls.integer("原文有几个词", len(book.TOKENS), 1, len(book.TOKENS),
                                   tooltip="后面的换成空位，向量全是 0"),
        "shut": controls.toggle("遮住空位", True),
        "temperature": controls.temperature(),
    })
