"""不存整张 N x N 表的注意力：一块一块地算，只记住每个查询到目前为止的最大值和总和。

形状里的字母见 `attention_core.steps`。
"""

import functools
import math

import numpy as np

from ._arrays import (
    cast,
    check_broadcast,
    check_count,
    check_query_key,
    check_scale,
    check_temperature,
    check_weights,
    fail,
    to_floats,
)
from ._fast import all_finite, matmul, row_sums
from .steps import SMALL, exp_below, unchecked_weighted_sum


def tiled_attention(query, key, value, *, causal=False, scale=None, temperature=1.0, query_block=None,
                    key_block=512):
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
        一块有几个查询；缺省 256，因果时 128。只影响快慢和内存，不影响结果。
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
    lead = _check_inputs(query, key, value, causal)
    scale, temperature = check_scale(scale, query.shape[-1]), check_temperature(temperature)
    query_block = check_count("query_block", (128 if causal else 256) if query_block is None else query_block, 1)
    key_block = check_count("key_block", key_block, 1)
    output = np.zeros((*lead, query.shape[-2], value.shape[-1]), np.result_type(query, key, value))
    total = np.zeros((*output.shape[:-1], 1), np.result_type(query, key))   # 权重还没有归一时的总和，(..., L, 1)
    tile = np.empty(min(query_block, query.shape[-2]) * min(key_block, key.shape[-2]), total.dtype)
    with np.errstate(all="ignore"):   # 未来的键可以是 NaN 或无穷大
        query = query * scale
        peak = _first_peaks(query, key, causal, temperature)   # (..., L, 1)
        value, unit, mix = _prepare_values(value)
        arrays = [np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (query, key, value, peak)]
        for head in np.ndindex(lead):
            q, k, v, p = (x[head] for x in arrays)
            for i in range(0, len(q), query_block):
                rows, seen = slice(i, i + query_block), slice(i + query_block if causal else None)
                scored = _score_blocks(q[rows], k[seen], i if causal else None, key_block, tile)
                _read_blocks(scored, v[seen], p[rows], temperature, mix, output[head][rows], total[head][rows])
        output /= np.where(total == 0, 1, total) * unit
    return cast(output, dtype)


def _prepare_values(value):
    """返回乘了 ``unit`` 的值、``unit`` 和混合的办法；值很大时才缩小，免得与没有归一的权重相乘时溢出。

    没有归一的权重最大 exp(SMALL)，一共 S 个；``unit`` 是 2 的幂，只要没有下溢就不损失精度。
    """
    if all_finite(value):
        return value, 1, matmul
    unit = 0.5 ** (value.shape[-2].bit_length() + math.ceil(SMALL / math.log(2)))
    return value * unit, unit, unchecked_weighted_sum


def _first_peaks(query, key, causal, temperature):
    """分数一定不大的查询从最大值 0 开始，而且一直是 0，不必再找；别的从 -inf 开始。

    点积不超过长度之积；一个查询只看它看得见的键，所以与后文无关。
    """
    lengths = np.sqrt(np.vecdot(key, key))   # (..., S)
    if not key.shape[-2]:
        longest = np.zeros((1, 1), key.dtype)
    elif causal:
        longest = np.maximum.accumulate(lengths, axis=-1)
        longest = longest[..., np.minimum(np.arange(query.shape[-2]), key.shape[-2] - 1), None]   # (..., L, 1)
    else:
        longest = lengths.max(axis=-1, keepdims=True)[..., None]   # (..., 1, 1)
    most = np.sqrt(np.vecdot(query, query))[..., None] * longest   # (..., L, 1)
    return np.where(most < SMALL * temperature, 0, -np.inf).astype(most.dtype)


def _check_inputs(query, key, value, causal):
    """检查三个输入能连成一次注意力，返回广播之后的前导轴。"""
    check_query_key(query, key)
    check_weights(np.broadcast_to(0, (*key.shape[:-2], 0, key.shape[-2])), value)
    check_broadcast("value", value, "query", query)
    if causal is not True and causal is not False:
        fail("causal", " True 或 False", f" {causal!r}", "别的掩码请交给 scaled_dot_product_attention 的 mask。")
    return np.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])


def _score_blocks(query, key, first, key_block, tile):
    """给一块查询看得见的每一块键打分；``first`` 是因果掩码下这块查询的第一个位置，``tile`` 是轮流用的内存。"""
    for j in range(0, len(key), key_block):
        block = slice(j, j + key_block)
        keys = key[block]
        scores = np.matmul(query, keys.T, out=tile[:len(query) * len(keys)].reshape(len(query), -1))
        if first is not None and first < j + len(keys):
            recent = scores[:, max(first - j, 0):]   # 这一列之前全都看得见
            np.copyto(recent, -np.inf, where=_future(*recent.shape, min(first - j, 0)))
        yield block, scores   # (rows, keys)


@functools.lru_cache(maxsize=2)
def _future(n_queries, n_keys, first):
    """哪些键在未来；第一个查询能看到第 ``first`` 个键为止。"""
    return ~np.tri(n_queries, n_keys, first, dtype=bool)


def _read_blocks(scored, value, peak, temperature, mix, blend, total):
    """一块查询读完每一块键，混合与权重的总和加进 ``blend`` 和 ``total``，都没有归一。

    ``peak`` 是到目前为止的最大值，见 `_first_peaks`。
    """
    small = peak == 0   # (rows, 1)
    for block, scores in scored:
        if not small.all():
            old, peak = peak, np.where(small, 0, np.maximum(peak, scores.max(axis=-1, keepdims=True, initial=-np.inf)))
            kept = exp_below(peak, old.copy(), temperature)   # (rows, 1)
            total *= kept
            blend *= kept
            np.copyto(blend, 0, where=kept == 0)
        powers = exp_below(peak, scores, temperature)
        total += row_sums(powers)
        blend += mix(powers, value[block])
