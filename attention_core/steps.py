"""注意力的三步：打分 (score)、归一 (softmax)、加权求和 (weighted_sum)。

形状里的字母，全包通用：

======  ==========================================
L       查询 (query) 的个数
S       键 (key) 的个数，也是值 (value) 的个数
d_k     一个查询、一个键的长度
d_v     一个值的长度
...     前导轴（批次、头），按 numpy 的规则广播
======  ==========================================

float32 进、float32 出；float16 在内部按 float32 计算；列表和整数变成 float64。
"""

import numpy as np

from ._arrays import (
    cast,
    check_axis,
    check_flag,
    check_mask,
    check_query_key,
    check_scale,
    check_temperature,
    check_weights,
    to_floats,
)
from ._fast import all_finite, cache_blocks, matmul, powers_and_total


def score(query, key, *, scale=None):
    """第一步，打分：每个查询与每个键的点积，再乘以 ``scale``。

    ``scores = scale * (query @ key^T)``

    Parameters
    ----------
    query : array_like, shape (..., L, d_k)
    key : array_like, shape (..., S, d_k)
    scale : float, optional
        缺省是 ``1 / sqrt(d_k)``，让分数的大小不随 d_k 增长。0 就是 0，不是“用缺省值”。

    Returns
    -------
    scores : ndarray, shape (..., L, S)

    Raises
    ------
    ValueError
        形状或类型不对，或者 ``scale`` 不是有限的数。

    Notes
    -----
    公式出自 Vaswani 等，"Attention Is All You Need" (2017), 3.2.1 节。

    Examples
    --------
    >>> score([[1, 2]], [[3, 4], [0, 1]], scale=1)
    array([[11.,  2.]])
    """
    dtype, query, key = to_floats("query key", query, key)
    check_query_key(query, key)
    scale = check_scale(scale, query.shape[-1])
    with np.errstate(all="ignore"):   # 被遮住的键可以是 NaN 或无穷大
        return cast(unchecked_score(query, key, scale), dtype)


def unchecked_score(query, key, scale):
    """`score` 去掉检查以后剩下的计算。"""
    return matmul(query * scale, key.mT)   # (..., L, S)


def softmax(scores, *, mask=None, temperature=1.0, axis=-1, overwrite_scores=False):
    """第二步，归一：把一串分数变成一组非负、加起来等于 1 的权重。

    ``weights = exp(scores / temperature) / sum(exp(scores / temperature))``

    Parameters
    ----------
    scores : array_like, shape (..., L, S)
    mask : array_like, optional，能广播到 scores 的形状
        布尔：True 表示可以看。浮点：加到分数上，``-inf`` 表示不许看。
    temperature : float
        越低越偏向最高分。0 是极限：权重全给最高分，并列者平分（一位不差才算并列）；无穷大：可见的位置平分。
    axis : int
        沿哪一轴归一。
    overwrite_scores : bool
        True 允许就地改写 ``scores`` 来省一份内存。

    Returns
    -------
    weights : ndarray, shape (..., L, S)
        什么都看不到的一行（全被遮住，或者 S = 0）权重全是 0。

    Raises
    ------
    ValueError
        掩码不是布尔也不是浮点，形状不能广播，或者温度为负、为 NaN。

    Notes
    -----
    分数离 0 很远的行先减去最大值再取指数，结果不变，而且不会溢出。

    Examples
    --------
    >>> softmax([0.0, np.log(3.0)]).round(4)
    array([0.25, 0.75])
    >>> softmax([1.0, 5.0, 9.0], mask=np.array([True, True, False]), temperature=0)
    array([0., 1., 0.])
    """
    dtype, table = to_floats("scores", scores)
    check_axis(axis, "scores", table)
    temperature = check_temperature(temperature)
    axis = int(axis) - (axis >= 0) * table.ndim   # 从后往前数，因为掩码会在前面添上轴
    if mask is not None:
        mask = check_mask(mask, table.shape)
    overwrite_scores = check_flag("overwrite_scores", overwrite_scores)
    if table is scores and not (overwrite_scores and scores.flags.carray):   # 只读的、排列特别的也要一份副本
        table = scores.copy()
    with np.errstate(all="ignore"):   # 被遮住的分数可以是 NaN，差距极大时可以溢出成 -inf
        return cast(unchecked_softmax(table, mask, temperature, axis), dtype)


def unchecked_softmax(scores, mask, temperature, axis=-1):
    """`softmax` 去掉检查以后剩下的计算，就地改写 ``scores``；大表一块一块地算，每一块都留在缓存里。"""
    if mask is not None:
        scores = _apply_mask(scores, mask)
    if temperature != 1:
        temperature = float(scores.dtype.type(temperature))   # float32 放不下太小、太大的温度
    small = True   # 先当作分数都不大，不必减去最大值
    for rows in cache_blocks(scores if axis == -1 else np.moveaxis(scores, axis, -1)):   # (..., S)
        powers, total, small = powers_and_total(rows, temperature, small)   # exp(rows / temperature) 和它的和
        np.divide(powers, total, out=rows)
    return scores


def weighted_sum(weights, value):
    """第三步，加权求和：按权重把每个值各取一份，混成一份。

    ``output = weights @ value``

    Parameters
    ----------
    weights : array_like, shape (..., L, S)
    value : array_like, shape (..., S, d_v)

    Returns
    -------
    output : ndarray, shape (..., L, d_v)

    Raises
    ------
    ValueError
        值的个数与权重的个数不同，或者形状、类型不对。

    Notes
    -----
    权重恰好是 0 的值一份也不取，哪怕它是 NaN 或无穷大。

    Examples
    --------
    >>> weighted_sum([[0.25, 0.75]], [[4, 0], [0, 8]])
    array([[1., 6.]])
    """
    dtype, weights, value = to_floats("weights value", weights, value)
    check_weights(weights, value)
    with np.errstate(all="ignore"):
        return cast(unchecked_weighted_sum(weights, value), dtype)


def unchecked_weighted_sum(weights, value):
    """`weighted_sum` 去掉检查以后剩下的计算。"""
    return matmul(weights, value) if all_finite(value) else _sum_of_taken(weights, value)   # (..., L, d_v)


def _apply_mask(scores, mask):
    """返回不许看的位置是 -inf 的分数；是替换，不是相加，因为 NaN - inf 仍是 NaN。"""
    if mask.shape != scores.shape[-2:]:
        shape = np.broadcast_shapes(scores.shape, mask.shape)
        if shape != scores.shape:   # 掩码的前导轴可以更多、更长
            scores = np.broadcast_to(scores, shape).copy()
    if mask.dtype != bool:
        # float64 的掩码里很小的有限数，到 float32 里不能成为 -inf：只有 -inf 才是不许看
        scores += np.maximum(mask, np.finfo(scores.dtype).min).astype(scores.dtype, copy=False)
    np.copyto(scores, -np.inf, where=~mask if mask.dtype == bool else mask == -np.inf)
    return scores


def _sum_of_taken(weights, value):
    """值里有 NaN 或无穷大时的加权求和：这些值只交给权重不为 0 的查询。"""
    finite = np.isfinite(value)
    output = weights @ np.where(finite, value, 0)   # (..., L, d_v)
    has_bad = ~finite.all(axis=-1).reshape(-1, value.shape[-2]).all(axis=0)   # (S,)
    bad_keys = np.flatnonzero(has_bad)
    taken = (weights[..., bad_keys] != 0).any(axis=tuple(range(weights.ndim - 1)))   # 补齐用的键谁也不取，不必细算
    for j in bad_keys[taken]:
        weight = weights[..., :, j:j + 1]   # (..., L, 1)
        bad = np.where(finite[..., j:j + 1, :], 0, value[..., j:j + 1, :])   # (..., 1, d_v)
        output += np.multiply(weight, bad, out=np.zeros_like(output), where=weight != 0)
    return output
