"""每一步的反向传播：输出的梯度进，输入的梯度出。

``d_x`` 表示损失对 ``x`` 的梯度，形状与 ``x`` 相同。前导轴在正向时广播过的，梯度在那里求和。
"""

import numpy as np

from ._arrays import (
    broadcast,
    cast,
    check_attention,
    check_axis,
    check_flag,
    check_mask,
    check_query_key,
    check_scale,
    check_temperature,
    check_weights,
    fail,
    to_floats,
)
from ._fast import all_finite, cache_blocks
from .steps import score, softmax, weighted_sum

_SAME_SHAPE = "它要与正向算出来的形状相同。"


def score_backward(d_scores, query, key, *, scale=None):
    """`score` 的反向传播。

    ``d_query = scale * d_scores @ key``,``d_key = scale * d_scores^T @ query``

    Parameters
    ----------
    d_scores : array_like, shape (..., L, S)
    query : array_like, shape (..., L, d_k)
    key : array_like, shape (..., S, d_k)
    scale : float, optional
        与正向相同。

    Returns
    -------
    d_query : ndarray, shape (..., L, d_k)
    d_key : ndarray, shape (..., S, d_k)

    Raises
    ------
    ValueError
        形状与正向的对不上。

    Examples
    --------
    >>> score_backward([[1.0]], [[2.0, 3.0]], [[5.0, 7.0]], scale=1)
    (array([[5., 7.]]), array([[2., 3.]]))
    """
    dtype, d_scores, query, key = to_floats("d_scores query key", d_scores, query, key)
    check_query_key(query, key)
    _check_shape("d_scores", d_scores, (query.shape[-2], key.shape[-2]), query, key)
    scale = check_scale(scale, query.shape[-1])
    # 用 weighted_sum 而不是 @：遮住的键、没人看的查询可以是 NaN，0 份就是一份不取
    d_query, d_key = weighted_sum(d_scores, key), weighted_sum(d_scores.mT, query)   # (..., L, d_k), (..., S, d_k)
    with np.errstate(all="ignore"):   # 放不下的成为无穷大或 0
        d_query *= scale
        d_key *= scale
        return cast(_sum_to(d_query, query.shape), dtype), cast(_sum_to(d_key, key.shape), dtype)


def softmax_backward(d_weights, weights, *, temperature=1.0, axis=-1, overwrite_d_weights=False):
    """`softmax` 的反向传播；掩码不必再给，遮住的位置权重是 0，梯度也是 0。

    ``d_scores = weights * (d_weights - sum(weights * d_weights)) / temperature``

    Parameters
    ----------
    d_weights : array_like, shape (..., L, S)
    weights : array_like, shape (..., L, S)
        正向得到的权重。
    temperature : float
        与正向相同。温度为 0 时权重不随分数连续变化，为无穷大时不随分数变化，梯度都是 0。
    axis : int
        与正向相同。
    overwrite_d_weights : bool
        True 允许就地改写 ``d_weights`` 来省一份内存。

    Returns
    -------
    d_scores : ndarray, shape (..., L, S)

    Raises
    ------
    ValueError
        两个数组的形状不同，或者温度为负、为 NaN。

    Examples
    --------
    >>> softmax_backward([1.0, 0.0], [0.5, 0.5])
    array([ 0.25, -0.25])
    """
    given = d_weights
    dtype, d_weights, weights = to_floats("d_weights weights", d_weights, weights)
    temperature = check_temperature(temperature)
    if d_weights.shape != weights.shape:
        fail("d_weights", f"与 weights 形状 {weights.shape} 相同的数组", f"形状 {d_weights.shape}", _SAME_SHAPE)
    check_axis(axis, "weights", weights)
    common = np.result_type(d_weights, weights)
    overwrite_d_weights = check_flag("overwrite_d_weights", overwrite_d_weights)
    lent = overwrite_d_weights and d_weights.flags.writeable and not np.may_share_memory(d_weights, weights)
    may_overwrite = (lent or d_weights is not given) and d_weights.dtype == common
    with np.errstate(all="ignore"):
        sharpness = 1 / common.type(temperature)
        if sharpness == 0 or sharpness == np.inf:   # 在 float32 里下溢成 0、上溢成无穷大的也算
            return np.zeros(weights.shape, dtype)
        d_scores = d_weights if may_overwrite else np.empty(weights.shape, common)
        blocks = (cache_blocks(np.moveaxis(x, axis, -1)) for x in (d_weights, weights, d_scores))
        for d, w, out in zip(*blocks, strict=True):   # (..., S)
            inner = np.vecdot(w, d)[..., None]   # (..., 1)
            if not all_finite(inner):   # 遮住的值可以是 NaN 或无穷大
                d = np.where(w == 0, 0, d)
                np.copyto(inner, np.vecdot(w, d)[..., None], where=~np.isfinite(inner))   # 别的行一位也不变
            np.subtract(d, inner, out=out)
            out *= w
            if temperature != 1:
                out *= sharpness
    return cast(d_scores, dtype)


def softmax_jacobian(weights, *, temperature=1.0):
    """`softmax` 的雅可比矩阵：第 j 个分数动一点，第 i 个权重动多少。

    ``jacobian[i, j] = weights[i] * ((i == j) - weights[j]) / temperature``

    Parameters
    ----------
    weights : array_like, shape (..., S)
    temperature : float
        与正向相同；0 和无穷大时全是 0，理由见 `softmax_backward`。

    Returns
    -------
    jacobian : ndarray, shape (..., S, S)

    Raises
    ------
    ValueError
        没有轴，或者温度为负、为 NaN。

    Examples
    --------
    >>> softmax_jacobian([0.25, 0.75])
    array([[ 0.1875, -0.1875],
           [-0.1875,  0.1875]])
    """
    dtype, weights = to_floats("weights", weights)
    temperature = check_temperature(temperature)
    check_axis(-1, "weights", weights)
    each = np.broadcast_to(np.eye(weights.shape[-1], dtype=weights.dtype), (*weights.shape, weights.shape[-1]))
    rows = np.broadcast_to(weights[..., None, :], each.shape)   # (..., S, S)
    return cast(softmax_backward(each, rows, temperature=temperature), dtype)


def weighted_sum_backward(d_output, weights, value):
    """`weighted_sum` 的反向传播。

    ``d_weights = d_output @ value^T``,``d_value = weights^T @ d_output``

    Parameters
    ----------
    d_output : array_like, shape (..., L, d_v)
    weights : array_like, shape (..., L, S)
    value : array_like, shape (..., S, d_v)

    Returns
    -------
    d_weights : ndarray, shape (..., L, S)
    d_value : ndarray, shape (..., S, d_v)

    Raises
    ------
    ValueError
        形状与正向的对不上。

    Examples
    --------
    >>> weighted_sum_backward([[1.0]], [[0.25, 0.75]], [[4.0], [8.0]])
    (array([[4., 8.]]), array([[0.25],
           [0.75]]))
    """
    dtype, d_output, weights, value = to_floats("d_output weights value", d_output, weights, value)
    check_weights(weights, value)
    _check_shape("d_output", d_output, (weights.shape[-2], value.shape[-1]), weights, value)
    d_weights = score(d_output, value, scale=1)   # (..., L, S)
    d_value = weighted_sum(weights.mT, d_output)   # (..., S, d_v)
    with np.errstate(all="ignore"):
        return cast(_sum_to(d_weights, weights.shape), dtype), cast(_sum_to(d_value, value.shape), dtype)


def scaled_dot_product_attention_backward(d_output, query, key, value, *, mask=None, scale=None,
                                          temperature=1.0, weights=None):
    """`scaled_dot_product_attention` 的反向传播：三步倒着走一遍。

    Parameters
    ----------
    d_output : array_like, shape (..., L, d_v)
    query : array_like, shape (..., L, d_k)
    key : array_like, shape (..., S, d_k)
    value : array_like, shape (..., S, d_v)
    mask, scale, temperature
        与正向相同。
    weights : array_like, shape (..., L, S), optional
        正向得到的权重；给了就不再重算，``mask`` 也用不到了。

    Returns
    -------
    d_query : ndarray, shape (..., L, d_k)
    d_key : ndarray, shape (..., S, d_k)
    d_value : ndarray, shape (..., S, d_v)
        什么都看不到的查询，对三者的梯度都没有贡献。

    Raises
    ------
    ValueError
        形状与正向的对不上。

    Examples
    --------
    >>> d_query, d_key, d_value = scaled_dot_product_attention_backward(
    ...     [[1.0]], [[0.0]], [[1.0], [-1.0]], [[3.0], [5.0]])
    >>> d_query, d_value.T
    (array([[-1.]]), array([[0.5, 0.5]]))
    """
    dtype, d_output, query, key, value = to_floats("d_output query key value", d_output, query, key, value)
    shape = check_attention(query, key, value)
    if d_output.shape[-2:] != (shape[-2], value.shape[-1]):   # 先说，再算那张 L x S 的表
        fail("d_output", f"形状 {(*shape[:-1], value.shape[-1])} 的数组", f"形状 {d_output.shape}", _SAME_SHAPE)
    if weights is None:
        mask = mask if mask is None else check_mask(mask, shape)
        weights = softmax(score(query, key, scale=scale), mask=mask, temperature=temperature, overwrite_scores=True)
    else:
        _, weights = to_floats("weights", weights)
        _check_shape("weights", weights, (query.shape[-2], key.shape[-2]), query, key)

    d_weights, d_value = weighted_sum_backward(d_output, weights, value)
    d_scores = softmax_backward(d_weights, weights, temperature=temperature, overwrite_d_weights=True)
    d_query, d_key = score_backward(d_scores, query, key, scale=scale)

    return cast(d_query, dtype), cast(d_key, dtype), cast(d_value, dtype)


def _check_shape(name, array, last_two, *inputs):
    """检查 ``array`` 的形状与正向用这些输入算出来的相同；掩码带来的前导轴可以更多。"""
    shape = (*np.broadcast_shapes(*(x.shape[:-2] for x in inputs)), *last_two)
    if array.shape[-2:] != last_two or broadcast(array.shape, shape) != array.shape:
        fail(name, f"形状 {shape} 的数组", f"形状 {array.shape}", _SAME_SHAPE)


def _sum_to(gradient, shape):
    """把广播出来的前导轴加回去，得到形状 ``shape``。"""
    extra = gradient.ndim - len(shape)
    stretched = tuple(extra + axis for axis, length in enumerate(shape) if length == 1 != gradient.shape[extra + axis])
    if not extra and not stretched:
        return gradient
    return gradient.sum(axis=(*range(extra), *stretched), keepdims=True).reshape(shape)
