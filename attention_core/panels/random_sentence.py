"""没有训练过的自注意力：随机编造的词向量和矩阵，第 7、10 节的面板共用。"""

import numpy as np

from .. import inputs
from ..attention import scaled_dot_product_attention

D_MODEL = 16
PROJECTIONS = np.random.default_rng(7).standard_normal((3, D_MODEL, D_MODEL)) / np.sqrt(D_MODEL)   # W_Q, W_K, W_V


def vectors_and_places(words):
    """词向量和位置向量，各是 (n, d_model)。"""
    return inputs.word_vectors(words, D_MODEL), inputs.position_vectors(len(words), D_MODEL)


def attend(x, *, mask=None, temperature=1.0):
    """一层自注意力：输出 (n, d_model) 和权重 (n, n)。"""
    return scaled_dot_product_attention(*(x @ PROJECTIONS), mask=mask, temperature=temperature)


def stacked_attention(words, n_layers, *, mask=None, temperature=1.0):
    """词向量加位置向量，叠几层自注意力；返回最后一层的输出 (n, d_model) 和权重 (n, n)。"""
    x = sum(vectors_and_places(words))
    for _ in range(n_layers):
        taken, weights = attend(x, mask=mask, temperature=temperature)
        x = x + taken
    return x, weights


def shuffled(n, how):
    """新的词序：第 i 个位置站原来的第几个词，shape (n,)。"""
    order = np.arange(n)
    if how == "swap" and n:
        order[[0, -1]] = order[[-1, 0]]
    elif how == "reverse":
        order = order[::-1]
    elif how == "random":
        rng = np.random.default_rng(1)
        order = rng.permutation(n)
        while n > 1 and (order == np.arange(n)).all():   # 两三个词时，碰巧还是原来的样子
            order = rng.permutation(n)
    return order
