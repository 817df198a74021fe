"""几节共用的输入：词向量、位置向量，以及几套编造的、读得懂的例子。

真实模型的词向量和三个矩阵都是训练出来的。这里的两种都不是：一种是手写的，每个数有名字，
好让书里那句话的每一行读得懂；一种是随机的，好让读者自己的任何一句话都有向量可用。
"""

import zlib
from functools import lru_cache

import numpy as np

from ._arrays import check_count, fail
from .book import SENTENCE_EN, TOKENS

# 编造的词向量：六个数，各说这个词有多像哪一类。没有写到的是 0
KINDS = ("动物", "地点", "动作", "状态", "代词", "虚词")
_WORDS = {
    "那": {"虚词": 1.0}, "只": {"动物": 0.3, "虚词": 0.7}, "猫": {"动物": 1.0}, "没": {"动作": 0.3, "虚词": 0.7},
    "过": {"动作": 1.0}, "马路": {"地点": 1.0}, "因为": {"虚词": 1.0}, "它": {"代词": 1.0},
    "太": {"状态": 0.3, "虚词": 0.7}, "累": {"状态": 1.0}, "了": {"虚词": 1.0},
}
# 编造的 W_Q：这一类的词（行）想找哪一类的词（列）
_WANTS = {
    "动物": {"地点": 6.0, "动作": 3.0}, "地点": {"动作": 6.0}, "动作": {"动物": 6.0, "地点": 4.0},
    "状态": {"代词": 6.0}, "代词": {"动物": 8.0}, "虚词": {},
}


def _table(rows, columns):
    """把 ``{行: {列: 数}}`` 排成只读的数组，没有写到的是 0。"""
    table = np.array([[row.get(column, 0.0) for column in columns] for row in rows])
    table.flags.writeable = False
    return table


WORDS = _table([_WORDS[token] for token in TOKENS], KINDS)   # (N, d_model)
W_Q = _table([_WANTS[kind] for kind in KINDS], KINDS)        # (d_model, d_k)
W_K = _table([{kind: 1.0} for kind in KINDS], KINDS)         # (d_model, d_k)：牌子上照实写自己是哪一类
W_V = _table([{kind: 1.0} for kind in KINDS], KINDS[:4])     # (d_model, d_v)：只交出前四类，代词和虚词不交

# 编造的字典：标签的向量说这个词有多像哪一类，内容的向量说这一条讲了多少哪一方面
DICTIONARY_KINDS = ("计算机", "大脑", "厨房")
DICTIONARY_TOPICS = ("讲原理", "讲应用", "讲做菜")
_LABELS = {
    "人工智能": (0.9, 0.6, 0.1), "神经网络": (0.7, 0.8, 0.0), "深度学习": (0.9, 0.5, 0.0), "红烧肉": (0.0, 0.1, 1.0),
}
_CONTENTS = {
    "人工智能": (0.2, 0.8, 0.0), "神经网络": (0.9, 0.1, 0.0), "深度学习": (0.6, 0.4, 0.0), "红烧肉": (0.0, 0.0, 1.0),
}
DICTIONARY_LABELS = tuple(_LABELS)
DICTIONARY_KEYS = np.array([_LABELS[label] for label in DICTIONARY_LABELS])       # (S, d_k)
DICTIONARY_VALUES = np.array([_CONTENTS[label] for label in DICTIONARY_LABELS])   # (S, d_v)
NOT_IN_DICTIONARY = "机器学习"
NOT_IN_DICTIONARY_QUERY = np.array([0.9, 0.3, 0.0])                               # (d_k,)

# 编造的两句话：「过」同时要问两件事，谁在过、过的是什么。键只说这个词站在动词的哪一边
ROLES = ("动词前的名词", "动词后的名词", "别的")
CROSSINGS = {"猫没过马路": ("猫", "没", "过", "马路"), "马路没过猫": ("马路", "没", "过", "猫")}
ROLE_KEYS = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])   # (N, d_k)
ROLE_QUERIES = np.array([[8.0, 0.0, 0.0], [0.0, 8.0, 0.0]])                                  # (h, d_k)，一个头一问
NOUNS = ("猫", "马路")


def noun_values(tokens):
    """编造的值：这个词是「猫」还是「马路」，形状 (N, 2)；别的词是 0。"""
    return np.array([[float(token == noun) for noun in NOUNS] for token in tokens])


for _array in (DICTIONARY_KEYS, DICTIONARY_VALUES, NOT_IN_DICTIONARY_QUERY, ROLE_KEYS, ROLE_QUERIES):
    _array.flags.writeable = False

# 编造的翻译：英文的词和中文的词，在同样九个意思上各有多少。没有写到的是 0，「了」、was 和句号在对面没有对应的词
ENGLISH = tuple(SENTENCE_EN.replace(".", " .").split())
MEANINGS = ("指定", "动物", "否定", "动作", "地点", "原因", "代词", "程度", "状态")
_CHINESE_MEANINGS = {
    "那": {"指定": 1.0}, "只": {"指定": 0.3, "动物": 0.3}, "猫": {"动物": 1.0}, "没": {"否定": 1.0},
    "过": {"动作": 1.0}, "马路": {"地点": 1.0}, "因为": {"原因": 1.0}, "它": {"代词": 1.0}, "太": {"程度": 1.0},
    "累": {"状态": 1.0}, "了": {},
}
_ENGLISH_MEANINGS = {
    "The": {"指定": 1.0}, "cat": {"动物": 1.0}, "didn't": {"否定": 1.0}, "cross": {"动作": 1.0},
    "the": {"指定": 1.0}, "street": {"地点": 1.0}, "because": {"原因": 1.0},
    "it": {"代词": 0.7, "动物": 0.5}, "was": {}, "too": {"程度": 1.0},
    "tired": {"状态": 1.0}, ".": {},
}
CHINESE_VECTORS = _table([_CHINESE_MEANINGS[token] for token in TOKENS], MEANINGS)     # (S, d_model)
ENGLISH_VECTORS = _table([_ENGLISH_MEANINGS[token] for token in ENGLISH], MEANINGS)   # (L, d_model)
ENGLISH_W_Q = _table([{meaning: 12.0} for meaning in MEANINGS], MEANINGS)   # (d_model, d_k)：是什么就找什么

def word_vectors(tokens, d_model=16):
    """随机的词向量：同一个词总是同一个向量，与它站在哪里无关。

    每个数取自标准正态分布，种子由词的文字得出，所以任何词都有，而且每次运行都一样。

    Parameters
    ----------
    tokens : sequence of str, length n
    d_model : int

    Returns
    -------
    x : ndarray, shape (n, d_model)

    Raises
    ------
    ValueError
        有的词不是文字，或者 ``d_model`` 不是正整数。

    Examples
    --------
    >>> x = word_vectors(["狗", "追", "狗"], 4)
    >>> x.shape, bool((x[0] == x[2]).all())
    ((3, 4), True)
    """
    d_model = check_count("d_model", d_model, minimum=1)
    x = np.empty((len(tokens), d_model))
    for place, token in enumerate(tokens):
        if not isinstance(token, str):
            fail("tokens", "一串词（字符串）", f"第 {place} 个词 {token!r}", '例如 ["猫", "追", "狗"]。')
        x[place] = _word_vector(str(token), d_model)
    return x


@lru_cache(maxsize=4096)
def _word_vector(token, d_model):
    # 内建的 hash 每次开机都不同；surrogatepass 让半个代理对也有编码
    seed = zlib.crc32(token.encode("utf-8", "surrogatepass"))
    return np.random.default_rng(seed).standard_normal(d_model)


def position_vectors(n_positions, d_model=16):
    """位置向量：第 i 行给站在第 i 位的词，由快慢不同的正弦和余弦排成。

    ``sin(i / 10000^(j / d_model))`` 在偶数列 j，同样角度的余弦在它右边的奇数列。

    Parameters
    ----------
    n_positions : int
    d_model : int

    Returns
    -------
    positions : ndarray, shape (n_positions, d_model)

    Raises
    ------
    ValueError
        个数不是非负整数，或者 ``d_model`` 不是正整数。

    Notes
    -----
    Vaswani 等，"Attention Is All You Need" (2017), 3.5 节。许多模型改用训练出来的位置向量。

    Examples
    --------
    >>> position_vectors(2, 4).round(4)
    array([[0.    , 1.    , 0.    , 1.    ],
           [0.8415, 0.5403, 0.01  , 1.    ]])
    """
    n_positions, d_model = check_count("n_positions", n_positions), check_count("d_model", d_model, minimum=1)
    column = np.arange(d_model)
    angle = np.arange(n_positions)[:, None] / 10000.0 ** ((column - column % 2) / d_model)   # (n, d_model)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))
