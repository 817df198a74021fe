"""第 7 节的面板：一句话里人人提问；打乱词序，什么跟着变，什么不变。"""

import numpy as np

from .. import book, inputs
from ..attention import scaled_dot_product_attention
from . import blocks, controls
from .panel import Panel
from .random_sentence import attend, shuffled, vectors_and_places
from .view import View
from .words import LONGEST_WORD, split_sentence

__all__ = ["every_word_asks", "word_order"]

QUERY, KEY, VALUE = (inputs.WORDS @ w for w in (inputs.W_Q, inputs.W_K, inputs.W_V))   # (N, 6), (N, 6), (N, 4)
MEANINGS = inputs.KINDS[:VALUE.shape[-1]]


def _render_every_word(asker, temperature):
    """整句的权重表，和其中一个词的一行。"""
    output, weights = scaled_dot_product_attention(QUERY, KEY, VALUE, temperature=temperature)   # (N, 4), (N, N)
    word, row = book.TOKENS[asker], weights[asker]
    most = blocks.most(book.TOKENS, row, one="{who}最多，{share}", tied="{who}并列最多，各 {share}",
                       alike="十一个词各分 {share}，谁也不比谁多", crowd="{n} 个词并列最多，各 {share}",
                       quotes="「、」")
    finding = (f"「{word}」提问：{most}；给自己 {blocks.number(row[asker])}。"
               f"十一行各自合计 {blocks.number(weights.sum(axis=-1).min())}。")
    return View((
        blocks.sentence(book.TOKENS, row, query=asker, title=f"「{word}」在问每一个词（向量是编造的）"),
        blocks.table(weights, book.TOKENS, query=asker, diagonal=True, title="十一行一次算完；小框是自己看自己"),
        blocks.vectors(np.stack([VALUE[asker], output[asker]]), ["自己的值", "新内容"], MEANINGS,
                       mark=1, limit=1.0, title="提问的词：混之前，混之后"),
    ), finding)


def every_word_asks():
    """书里那句话：十一个词都提问，一张表一次算完。"""
    return Panel(_render_every_word, {
        "asker": controls.token(book.TOKENS, book.TOKENS.index(book.ASKER)),
        "temperature": controls.temperature(),
    })


ORDERS = [("倒过来", "reverse"), ("头尾对调", "swap"), ("打乱", "random"), ("不动", "same")]


def _render_word_order(text, how, strength, temperature):
    """同一句话，原来的词序和新的词序各算一遍，按词对齐了比。"""
    words = split_sentence(text, fallback=book.TOKENS)
    order = shuffled(len(words), how)
    vectors, places = vectors_and_places(words)   # (n, d_model) 各一份
    (before, table), (after, new_table) = (
        attend(x + strength * places, temperature=temperature)
        for x in (vectors, vectors[order]))   # (n, d_model), (n, n) 各两份
    # 新的第 i 行是原来的第 order[i] 个词：放回原处，一个词和它自己比
    moved = np.empty(len(words))
    moved[order] = np.linalg.norm(after - before[order], axis=-1)
    new_words = [words[i] for i in order]
    if (order == np.arange(len(words))).all():
        verdict = "词序没有动，每个词的新内容当然一点没变"
    elif moved.max() < 1e-9:
        verdict = "词序变动以后：每个词的新内容一点没变，只是换了行"
    else:
        verdict = "词序变动以后：" + blocks.most(
            [word[:LONGEST_WORD] for word in words], moved, one="{who}变得最多，{share}",
            tied="{who}变得一样多，各 {share}", alike="每个词变得一样多，各 {share}",
            crowd="有 {n} 个词变得一样多，各 {share}", nothing="每个词的新内容几乎没变", quotes="「、」")
    added = f"加了 {strength:g} 倍的位置向量" if strength else "没有位置向量"
    return View((
        blocks.table(table, words, title="原来的词序"),
        blocks.table(new_table, new_words, title="新的词序"),
        blocks.bars(words, {"新内容变了多少": moved}, limits={"新内容变了多少": 4.0}, title="同一个词，前后相比"),
    ), f"{added}，{verdict}。（向量随机编造，没有训练过）")


def word_order():
    """任何一句话：换词序，加位置向量，看每个词的新内容变不变。"""
    return Panel(_render_word_order, {
        "text": controls.sentence_field(),
        "how": controls.choice("词序", ORDERS, tooltip="第二张表里的词怎样排"),
        "strength": controls.stops("位置向量的份量", [("0", 0.0), ("0.5", 0.5), ("1", 1.0), ("2", 2.0)],
                                   tooltip="加到词向量上的位置向量乘几倍，0 是不加"),
        "temperature": controls.temperature(),
    })
