"""不存整张 N x N 表的注意力：一块一块地算，只记住每个查询到目前为止的最大值和总和。

形状里的字母见 `attention_core.steps`。
"""

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
from .steps import all_finite, exp_below, make_finite, matmul, unchecked_weighted_sum

_SMALL = 16   # 不超过它的分数，取指数以后还远远没到 float32 的上限
_SMALL_BITS = 24   # exp(16) < 2 ** 24


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
    output = np.empty((*lead, query.shape[-2], value.shape[-1]), np.result_type(query, key, value))
    # 2 的幂，不损失精度；没有归一的权重（最大 exp(_SMALL)，一共 S 个）乘上大的值也不会溢出
    unit = 0.5 ** (value.shape[-2].bit_length() + _SMALL_BITS)
    with np.errstate(all="ignore"):   # 未来的键可以是 NaN 或无穷大
        query, value = query * scale, value * unit
        small = _scores_are_small(query, key, causal, temperature)
        arrays = [np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (query, key, value, small)]
        for head in np.ndindex(lead):
            q, k, v, known = (x[head] for x in arrays)
            for i in range(0, len(q), query_block):
                rows = slice(i, i + query_block)
                blend, total = _read_keys(q[rows], k, v, known[rows], i if causal else None, temperature, key_block)
                np.divide(blend, np.where(total == 0, 1, total) * unit, out=output[head][rows])   # (rows, d_v)
    return cast(output, dtype)


def _scores_are_small(query, key, causal, temperature):
    """哪些查询的分数一定小到不必减去最大值：点积不超过长度之积，只看它看得见的键，所以与后文无关。"""
    lengths = np.sqrt(np.vecdot(key, key))   # (..., S)
    if not key.shape[-2]:
        longest = np.zeros((1, 1), key.dtype)
    elif causal:
        longest = np.maximum.accumulate(lengths, axis=-1)
        longest = longest[..., np.minimum(np.arange(query.shape[-2]), key.shape[-2] - 1), None]   # (..., L, 1)
    else:
        longest = lengths.max(axis=-1, keepdims=True)[..., None]   # (..., 1, 1)
    return np.sqrt(np.vecdot(query, query))[..., None] * longest < _SMALL * temperature   # (..., L, 1)


def _check_inputs(query, key, value, causal):
    """检查三个输入能连成一次注意力，返回广播之后的前导轴。"""
    check_query_key(query, key)
    check_weights(np.broadcast_to(0, (*key.shape[:-2], 0, key.shape[-2])), value)
    check_broadcast("value", value, "query", query)
    if causal is not True and causal is not False:
        fail("causal", " True 或 False", f" {causal!r}", "别的掩码请交给 scaled_dot_product_attention 的 mask。")
    return np.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])


def _read_keys(query, key, value, small, first, temperature, key_block):
    """一块查询读完看得见的每一块键，返回没有归一的混合与权重的总和；``first`` 是因果掩码下这块查询的第一个位置。"""
    n_seen = len(key) if first is None else min(len(key), first + len(query))
    peak = np.where(small, 0, -np.inf).astype(query.dtype)   # (rows, 1)
    total = np.zeros_like(peak)
    blend = np.zeros((len(query), value.shape[-1]), value.dtype)   # (rows, d_v)
    all_small = small.all()
    for j in range(0, n_seen, key_block):
        block = slice(j, min(j + key_block, n_seen))
        scores = matmul(query, key[block].T)   # (rows, keys)
        if first is not None:
            _shut_future(scores, first, j)
        if not all_small:
            old, peak = peak, np.where(small, 0, np.maximum(peak, scores.max(axis=-1, keepdims=True)))
            kept = exp_below(None, np.where(old == peak, 0, old - peak), temperature)   # (rows, 1)
            total, blend = total * kept, np.where(kept == 0, 0, blend * kept)
            scores -= _finite(peak, scores)
        weights = exp_below(None, scores, temperature)
        total += matmul(weights, np.ones((weights.shape[-1], 1), weights.dtype))
        blend += unchecked_weighted_sum(weights, value[block])
    return blend, total


def _finite(peak, scores):
    """最大值的一份能够减去的副本，见 `make_finite`。"""
    if all_finite(peak):
        return peak
    peak = peak.copy()
    make_finite(peak, scores)
    return peak


def _shut_future(scores, i, j):
    """把未来的键的分数就地换成 -inf；这块分数从第 i 个查询、第 j 个键开始。"""
    start = max(i - j, 0)   # 这一列之前全都看得见
    recent = scores[:, start:]
    np.copyto(recent, -np.inf, where=~np.tri(*recent.shape, i - j - start, dtype=bool))
