"""第 3 节的面板：同一份输入，三种身份；换一个矩阵，动的是哪一样。"""

import numpy as np

from .. import book
from ..inputs import KINDS, W_K, W_Q, W_V, WORDS, word_vectors
from ..lookup import cosine_similarity
from ..steps import score, softmax, weighted_sum
from . import blocks, controls
from .panel import Panel
from .view import View

__all__ = ["shapes", "three_identities"]

ASKER_AT = book.TOKENS.index(book.ASKER)
STRETCHED_AT = book.TOKENS.index("只")
SWAPPED = [1, 0, *range(2, len(KINDS))]   # 动物和地点两列对调
CHANGES = {"原样": "", "换 W_K": "W_K", "换 W_V": "W_V", "换 W_Q": "W_Q"}

D_MODEL, D_V = 16, 4


def _swap(name, matrix, change):
    """选中的那个矩阵，把“动物”和“地点”两列对调。"""
    return matrix[:, SWAPPED[:matrix.shape[1]]] if change == name else matrix


def render(asker, change, stretch, temperature):
    """一个词提问：三个矩阵各给出什么，分数、权重和新内容各是什么。"""
    query = WORDS[asker:asker + 1] @ _swap("W_Q", W_Q, change)   # (1, d_k)
    key = WORDS @ _swap("W_K", W_K, change)   # (N, d_k)
    value = WORDS @ _swap("W_V", W_V, change)   # (N, d_v)
    key[STRETCHED_AT] *= stretch
    scores = score(query, key)   # (1, N)
    weights = softmax(scores, temperature=temperature)   # (1, N)
    output = weighted_sum(weights, value)   # (1, d_v)
    alike = cosine_similarity(query, key)[0]   # (N,)

    looks = blocks.most(book.TOKENS, weights[0], one="最看{who}，权重 {share}", tied="最看{who}，权重各 {share}",
                        alike="看每个词一样多，各 {share}", crowd="最看 {n} 个词，权重各 {share}", quotes="「、」")
    best, *others = blocks.leaders(weights[0])
    if not others:
        looks += f"，方向相似度 {blocks.number(alike[best])}"
    finding = (f"温度 {blocks.short_number(temperature)}：「{book.TOKENS[asker]}」{looks}；"
               f"新内容里{blocks.most(KINDS[:W_V.shape[1]], output[0])}。")
    return View((
        blocks.bars(book.TOKENS, {"像不像": alike, "分数": scores[0], "权重": weights[0]},
                    limits={"像不像": 1.0, "分数": 6.0, "权重": 1.0}, title=f"「{book.TOKENS[asker]}」问每一个词"),
        blocks.vectors(np.vstack([query, key]), ["查询", *book.TOKENS], KINDS, mark=0, limit=8.0,
                       title="查询和各个键（编造的）"),
        blocks.vectors(np.vstack([value, output]), [*book.TOKENS, "新内容"], KINDS[:W_V.shape[1]],
                       mark=len(book.TOKENS), limit=1.0, title="值和混出来的新内容（编造的）"),
    ), finding)


def three_identities():
    """换 W_Q、W_K、W_V 中的一个，或者拉长一个键，看分数、权重、新内容哪个动。"""
    return Panel(render, {
        "asker": controls.token(book.TOKENS, ASKER_AT),
        "change": controls.choice("换哪个矩阵", list(CHANGES.items())),
        "stretch": controls.stops("把「只」的键拉长几倍", [1, 2, 3, 4, 6], 1),
        "temperature": controls.temperature(),
    })


def _random_identities(d_k):
    """没有训练过的三个矩阵（随机的），和它们变出的查询、键、值。"""
    rng = np.random.default_rng(3)
    x = word_vectors(book.TOKENS, D_MODEL)   # (N, d_model)
    matrices = [rng.standard_normal((D_MODEL, width)) / np.sqrt(D_MODEL) for width in (d_k, d_k, D_V)]
    return x, matrices, [x @ matrix for matrix in matrices]   # (N, d_k), (N, d_k), (N, d_v)


def render_shapes(d_k, temperature):
    """每一步的形状，和「它」这一行的权重。"""
    x, matrices, (query, key, value) = _random_identities(d_k)
    scores = score(query, key)   # (N, N)
    weights = softmax(scores, temperature=temperature)   # (N, N)
    output = weighted_sum(weights, value)   # (N, d_v)
    arrays = {"输入 X": x, "W_Q": matrices[0], "W_K": matrices[1], "W_V": matrices[2], "查询": query, "键": key,
              "值": value, "分数": scores, "权重": weights, "输出": output}
    n_parameters = sum(matrix.size for matrix in matrices)
    rows = [[name, " × ".join(map(str, array.shape))] for name, array in arrays.items()]
    return View((
        blocks.text_table(["数组", "形状"], rows, title=f"三个矩阵一共 {n_parameters} 个数"),
        blocks.table(weights, book.TOKENS, book.TOKENS, query=ASKER_AT, title="权重（随机的矩阵，没有训练过）"),
    ), f"d_k = {d_k}，温度 {blocks.short_number(temperature)}：查询和键各有 {d_k} 个数，"
       f"三个矩阵一共 {n_parameters} 个数；分数和权重总是 {len(x)} × {len(x)}。"
       f"「它」最大的权重 {blocks.number(weights[ASKER_AT].max())}。")


def shapes():
    """d_k 改变查询和键的宽度，分数表的形状不变。"""
    return Panel(render_shapes, {"d_k": controls.d_k(8, largest=64), "temperature": controls.temperature()})
