"""不存整张 N x N 表的注意力：一块一块地算，只记住每个查询到目前为止的最大值和总和。

形状里的字母见 `attention_core.steps`。
"""

import functools
import math

import numpy as np

from ._arrays import cast, check_attention, check_count, check_flag, check_scale, check_temperature, to_floats
from ._fast import LEAST_TOTAL, SMALL, all_finite, exp_below, exp_of, matmul, row_sums
from .steps import unchecked_weighted_sum

# 一块有几个查询、几个键：多了放不进缓存，少了调用太多；因果时还要少算对角线以外的
QUERY_BLOCK, CAUSAL_QUERY_BLOCK, KEY_BLOCK = 512, 128, 512


def tiled_attention(query, key, value, *, causal=False, scale=None, temperature=1.0, query_block=None,
                    key_block=KEY_BLOCK):
    """与 `scaled_dot_product_attention` 的输出相同，但内存只随句长线性增长。

    Parameters
    ----------
    query : array_like, shape (..., L, d_k)
    key : array_like, shape (..., S, d_k)
    value : array_like, shape (..., S, d_v)
    causal : bool
        True 时第 i 个查询只看第 0 到 i 个键（同 `causal_mask`）；整块在未来的键不去算。
    scale : float, optional
        缺省是 ``1 / sqrt(d_k)``。
    temperature : float
        见 `softmax`。
    query_block : int, optional
        一块有几个查询；缺省 512，因果时 128。只影响快慢和内存，结果最多差在最后几位。
    key_block : int
        一块有几个键，也一样。

    Returns
    -------
    output : ndarray, shape (..., L, d_v)

    Raises
    ------
    ValueError
        形状、类型不对，``causal`` 不是 True 或 False，或者一块不到 1 个。

    Notes
    -----
    每读一块键，最大值可能变大；之前攒下的总和与混合就乘上 ``exp(旧最大值 - 新最大值)``，
    与一开始就减去新最大值是一回事。出自 Milakov 与 Gimelshein,
    "Online normalizer calculation for softmax" (2018) 和 Dao 等，"FlashAttention" (2022)。

    Examples
    --------
    >>> tiled_attention([[0.0], [0.0]], [[1.0], [1.0]], [[2.0], [4.0]], causal=True)
    array([[2.],
           [3.]])
    """
    dtype, query, key, value = to_floats("query key value", query, key, value)
    lead = check_attention(query, key, value)[:-2]
    causal = check_flag("causal", causal)   # 别的掩码请交给 scaled_dot_product_attention
    scale, temperature = check_scale(scale, query.shape[-1]), check_temperature(temperature)
    if query_block is None:
        query_block = CAUSAL_QUERY_BLOCK if causal else QUERY_BLOCK
    query_block, key_block = check_count("query_block", query_block, 1), check_count("key_block", key_block, 1)
    output = np.zeros((*lead, query.shape[-2], value.shape[-1]), np.result_type(query, key, value))
    total = np.zeros((*output.shape[:-1], 1), np.result_type(query, key))   # 权重还没有归一时的总和，(..., L, 1)
    tile = np.empty(min(query_block, query.shape[-2]) * min(key_block, key.shape[-2]), total.dtype)
    future = functools.lru_cache(maxsize=2)(_future) if causal else None   # 几乎每一块的形状都一样
    with np.errstate(all="ignore"):   # 未来的键可以是 NaN 或无穷大
        query, temperature = query * scale, float(total.dtype.type(temperature))
        small = _are_small(query, key, causal, temperature)   # (..., L, 1)
        value, unit, mix = _prepare_values(value)
        arrays = [np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (query, key, value, small)]
        for head in np.ndindex(lead):
            q, k, v, is_small = (x[head] for x in arrays)
            for i in range(0, len(q), query_block):
                rows, seen = slice(i, i + query_block), slice(i + query_block if causal else None)
                scored = _score_blocks(q[rows], k[seen], i, future, key_block, tile)
                _read_blocks(scored, v[seen], is_small[rows], temperature, mix, output[head][rows], total[head][rows])
        output /= np.maximum(total, LEAST_TOTAL) * unit
    return cast(output, dtype)


def _prepare_values(value):
    """返回乘了 ``unit`` 的值、``unit`` 和混合的办法；值很大时才缩小，免得与没有归一的权重相乘时溢出。

    没有归一的权重最大 exp(SMALL)，一共 S 个；``unit`` 是 2 的幂，只有小得下溢的值才损失精度。
    """
    if all_finite(value):
        return value, 1, matmul
    if all_finite(np.where(np.isfinite(value), value, 0)):
        return value, 1, unchecked_weighted_sum
    unit = 0.5 ** (value.shape[-2].bit_length() + math.ceil(SMALL / math.log(2)))
    return value * unit, unit, unchecked_weighted_sum


def _are_small(query, key, causal, temperature):
    """哪些查询的分数一定不大，不必减去最大值：点积不超过长度之积，只看它看得见的键，所以与后文无关。"""
    squared, key_squared = _squared_lengths(query), _squared_lengths(key)   # (..., L), (..., S)
    most = (SMALL * temperature) * (SMALL * temperature)
    if not key_squared.size or squared.max(initial=0) * key_squared.max() < most:   # 常见情形：都不大
        return np.ones((query.shape[-2], 1), bool)
    if causal:
        last_seen = np.minimum(np.arange(query.shape[-2]), key.shape[-2] - 1)
        longest = np.maximum.accumulate(key_squared, axis=-1)[..., last_seen]   # (..., L)
    else:
        longest = key_squared.max(axis=-1, keepdims=True)   # (..., 1)
    return (squared * longest < most)[..., None]   # (..., L, 1)


def _squared_lengths(x):
    """每个向量长度的平方；小得下溢的分量也算在内，所以除了舍入，不小于真的。"""
    return np.vecdot(x, x) + x.shape[-1] * np.finfo(x.dtype).tiny


def _score_blocks(query, key, first, future, key_block, tile):
    """给一块查询看得见的每一块键打分；这块查询从第 ``first`` 个开始，``tile`` 是轮流用的内存。"""
    for j in range(0, len(key), key_block):
        block = slice(j, j + key_block)
        keys = key[block]
        scores = np.matmul(query, keys.T, out=tile[:len(query) * len(keys)].reshape(len(query), -1))
        if future is not None and first < j + len(keys):
            recent = scores[:, max(first - j, 0):]   # 这一列之前全都看得见
            np.copyto(recent, -np.inf, where=future(*recent.shape, min(first - j, 0)))
        yield block, scores   # (rows, keys)


def _future(n_queries, n_keys, first):
    """哪些键在未来；第一个查询能看到第 ``first`` 个键为止。"""
    return ~np.tri(n_queries, n_keys, first, dtype=bool)


def _read_blocks(scored, value, small, temperature, mix, blend, total):
    """一块查询读完看得见的每一块键，没有归一的混合与权重的总和加进 ``blend`` 和 ``total``。

    ``small`` 的查询不必找最大值，见 `_are_small`。
    """
    all_small = small.all()
    peak = None if all_small else np.where(small, 0, -np.inf).astype(total.dtype)   # (rows, 1)，到目前为止的最大值
    for block, scores in scored:
        if all_small:
            powers = exp_of(scores, temperature)
        else:
            highest = scores.max(axis=-1, keepdims=True, initial=-np.inf)   # 有 initial，numpy 快一倍
            old, peak = peak, np.maximum(peak, highest)
            np.copyto(peak, 0, where=small | (np.abs(peak) < SMALL * temperature))   # 与 softmax 同样的规矩
            kept = exp_below(peak, old, temperature)   # (rows, 1)
            total *= kept
            blend *= kept
            np.copyto(blend, 0, where=kept == 0)
            powers = exp_below(peak, scores, temperature)
        total += row_sums(powers)
        blend += mix(powers, value[block])
