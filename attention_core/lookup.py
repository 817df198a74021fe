"""查字典：从一字不差的精确查询，到按相似程度分份额的柔性查询。"""

from collections.abc import KeysView, Mapping, Set

import numpy as np

from ._arrays import cast, check_matrix, fail, result_dtype, to_float
from .attention import scaled_dot_product_attention
from .steps import score


def exact_lookup(query, keys, values):
    """精确查询：找到与 ``query`` 一字不差的标签，取走它的内容。

    Parameters
    ----------
    query : 词，或者 array_like, shape (d_k,)
    keys : 标签的序列，长度 S
    values : 内容的序列，长度 S

    Returns
    -------
    value
        第一个相同的标签的内容。

    Raises
    ------
    KeyError
        没有一个标签与 ``query`` 相同。
    ValueError
        标签与内容的个数不同。

    Examples
    --------
    >>> exact_lookup("猫", ["狗", "猫"], ["会叫", "会抓老鼠"])
    '会抓老鼠'
    """
    for name, x in (("keys", keys), ("values", values)):
        # 集合没有次序，字典要查的是它自己的标签
        is_unordered = isinstance(x, Set | Mapping) and not isinstance(x, KeysView)
        if is_unordered or not hasattr(x, "__len__") or getattr(x, "ndim", 1) == 0:
            fail(name, "有次序的序列", repr(x)[:80], '例如 ["狗", "猫"]。')
    if len(keys) != len(values):
        fail("values", f"与 keys 一样长（{len(keys)} 个）的序列", f"{len(values)} 个", "每个标签要有一份内容。")
    for key, value in zip(keys, values, strict=True):
        if np.array_equal([key], [query]):   # 放进列表，单个的字和数才比得了 (numpy 2.0)
            return value
    raise KeyError(f"字典里没有 {query!r} 这一条")


def soft_lookup(query, keys, values, *, temperature=1.0, scale=1.0):
    """柔性查询：与每个标签比一比，越像份额越大，按份额把内容混成一份。

    Parameters
    ----------
    query : array_like, shape (d_k,)
    keys : array_like, shape (S, d_k)
    values : array_like, shape (S, d_v)
    temperature : float
        0 是精确的字典（只取最像的），无穷大是所有内容的平均。
    scale : float
        相似程度（点积）先乘以它。

    Returns
    -------
    blend : ndarray, shape (d_v,)
    weights : ndarray, shape (S,)
        每条内容的份额。

    Raises
    ------
    ValueError
        形状不对，或者温度为负、为 NaN。

    Examples
    --------
    >>> soft_lookup([1, 0], [[1, 0], [0, 1]], [[10], [20]], temperature=0)
    (array([10.]), array([1., 0.]))
    """
    dtype, query = result_dtype(query, keys, values), to_float("query", query)
    if query.ndim != 1:
        fail("query", "形状 (d_k,) 的一个向量", f"形状 {query.shape}",
             "一次查一个词；要查许多个，用 scaled_dot_product_attention。")
    keys, values = to_float("keys", keys), to_float("values", values)
    if keys.ndim != 2 or keys.shape[1] != query.size:
        fail("keys", f"形状 (S, {query.size}) 的数组", f"形状 {keys.shape}",
             "每个标签要与 query 一样长，才能比较像不像。")
    if values.ndim != 2 or len(values) != len(keys):
        fail("values", f"形状 ({len(keys)}, d_v) 的数组", f"形状 {values.shape}", "每个标签要有一份内容。")
    blend, weights = scaled_dot_product_attention(   # (1, d_v), (1, S)
        query[None, :], keys, values, scale=scale, temperature=temperature)
    return cast(blend[0], dtype), cast(weights[0], dtype)


def cosine_similarity(query, key):
    """余弦相似度：只比方向，不比长短，在 -1 与 1 之间。

    Parameters
    ----------
    query : array_like, shape (..., L, d_k)
    key : array_like, shape (..., S, d_k)

    Returns
    -------
    similarity : ndarray, shape (..., L, S)
        零向量没有方向，与谁的相似度都记 0。

    Raises
    ------
    ValueError
        形状或类型不对。

    Examples
    --------
    >>> cosine_similarity([[3, 4]], [[6, 8], [-3, -4], [4, -3]]).round(4)
    array([[ 1., -1.,  0.]])
    """
    return np.clip(score(_unit("query", query), _unit("key", key), scale=1), -1, 1)   # 舍入会越过 1 一点点


def _unit(name, x):
    """把每个向量缩放到长度 1；零向量原样保留。"""
    dtype, x = result_dtype(x), to_float(name, x)
    check_matrix(name, x, "(..., n, d_k)")
    largest = np.abs(x).max(axis=-1, keepdims=True, initial=0)   # 先除以最大的分量，平方才不会溢出
    with np.errstate(invalid="ignore"):   # 有无穷大的分量时方向不定，得 NaN
        x = x / np.where(largest == 0, 1, largest)
    length = np.linalg.norm(x, axis=-1, keepdims=True)   # (..., n, 1)
    return cast(x / np.where(length == 0, 1, length), dtype)
