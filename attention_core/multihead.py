"""多头注意力：切成几个头，各看各的，再拼起来。

形状里的字母：d_model 是一个词的向量长度，h 是头数 (n_heads)，每个头的 d_k = d_model / h。
"""

import numpy as np

from ._arrays import (
    cast,
    check_attention,
    check_count,
    check_flag,
    check_matrix,
    check_rng,
    fail,
    result_dtype,
    to_float,
    to_mask,
)
from .attention import scaled_dot_product_attention


def split_heads(x, n_heads):
    """把最后一轴切成 h 段，一段给一个头。

    Parameters
    ----------
    x : array_like, shape (..., n, h * d)
    n_heads : int
        头数 h，必须整除最后一轴的长度。

    Returns
    -------
    heads : ndarray, shape (..., h, n, d)

    Raises
    ------
    ValueError
        头数不是正整数，或者不能整除。

    Examples
    --------
    >>> split_heads([[1, 2, 3, 4], [5, 6, 7, 8]], 2)
    array([[[1., 2.],
            [5., 6.]],
    <BLANKLINE>
           [[3., 4.],
            [7., 8.]]])
    """
    dtype, x = result_dtype(x), to_float("x", x)
    check_matrix("x", x, "(..., n, h * d)")
    n_heads = check_count("n_heads", n_heads, minimum=1)
    if x.shape[-1] % n_heads:
        fail("n_heads", f"能整除最后一轴长度 {x.shape[-1]} 的整数", f"{n_heads}", "每个头分到的长度必须一样。")
    heads = x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads)   # (..., n, h, d)
    return cast(heads.swapaxes(-2, -3), dtype)   # (..., h, n, d)


def merge_heads(x):
    """把 h 个头拼回一轴，是 `split_heads` 的逆。

    Parameters
    ----------
    x : array_like, shape (..., h, n, d)

    Returns
    -------
    merged : ndarray, shape (..., n, h * d)

    Raises
    ------
    ValueError
        少于三个轴。

    Examples
    --------
    >>> merge_heads([[[1, 2], [5, 6]], [[3, 4], [7, 8]]])
    array([[1., 2., 3., 4.],
           [5., 6., 7., 8.]])
    """
    dtype, x = result_dtype(x), to_float("x", x)
    if x.ndim < 3:
        fail("x", "形状 (..., h, n, d) 的数组（至少三个轴）", f"形状 {x.shape}", "只有一个头时写成 x[None]。")
    heads = x.swapaxes(-2, -3)   # (..., n, h, d)
    return cast(heads.reshape(*heads.shape[:-2], heads.shape[-2] * heads.shape[-1]), dtype)   # (..., n, h * d)


class MultiHeadAttention:
    """多头注意力层：投影、切头、注意力、拼接、再投影。

    ``y = x @ W.T + b`` 的约定和权重的排法都与 PyTorch 的 ``nn.MultiheadAttention`` 相同。

    Parameters
    ----------
    d_model : int
        输入和输出的向量长度。
    n_heads : int
        头数 h，必须整除 ``d_model``。
    bias : bool
        投影是否带偏置（随机取权重时）。
    rng : numpy.random.Generator, optional
        没有给权重时，用它按 Xavier 均匀分布取。
    in_proj_weight : array_like, shape (3 * d_model, d_model), optional
        W_Q、W_K、W_V 上下叠放。
    in_proj_bias : array_like, shape (3 * d_model,), optional
    out_proj_weight : array_like, shape (d_model, d_model), optional
    out_proj_bias : array_like, shape (d_model,), optional

    Raises
    ------
    ValueError
        头数不整除，形状不对，权重只给了一半，或者既没有权重也没有 ``rng``。

    Notes
    -----
    Vaswani 等 (2017), 3.2.2 节。掩码里 True 表示可以看，与 ``nn.MultiheadAttention`` 相反。

    Examples
    --------
    >>> layer = MultiHeadAttention(8, 2, rng=np.random.default_rng(0))
    >>> output, weights = layer(np.ones((5, 8)))
    >>> output.shape, weights.shape, layer.n_parameters
    ((5, 8), (2, 5, 5), 288)
    """

    def __init__(self, d_model, n_heads, *, bias=True, rng=None, in_proj_weight=None, in_proj_bias=None,
                 out_proj_weight=None, out_proj_bias=None):
        d_model, n_heads = check_count("d_model", d_model, 1), check_count("n_heads", n_heads, 1)
        bias = check_flag("bias", bias)
        if d_model % n_heads:
            fail("n_heads", f"能整除 d_model={d_model} 的整数", f"{n_heads}", "每个头分到的长度必须一样。")
        self.d_model, self.n_heads = d_model, n_heads
        if in_proj_weight is None and out_proj_weight is None:
            check_rng(rng)
            in_proj_weight = _xavier_uniform(rng, 3 * d_model, d_model)
            out_proj_weight = _xavier_uniform(rng, d_model, d_model)
            in_proj_bias = np.zeros(3 * d_model) if bias and in_proj_bias is None else in_proj_bias
            out_proj_bias = np.zeros(d_model) if bias and out_proj_bias is None else out_proj_bias
        self._dtype = result_dtype(in_proj_weight, out_proj_weight)
        self.in_proj_weight = _given("in_proj_weight", in_proj_weight, (3 * d_model, d_model))
        self.out_proj_weight = _given("out_proj_weight", out_proj_weight, (d_model, d_model))
        self.in_proj_bias = _given("in_proj_bias", in_proj_bias, (3 * d_model,), optional=True)
        self.out_proj_bias = _given("out_proj_bias", out_proj_bias, (d_model,), optional=True)

    @property
    def n_parameters(self):
        """参数的总个数；与头数无关。"""
        arrays = (self.in_proj_weight, self.in_proj_bias, self.out_proj_weight, self.out_proj_bias)
        return sum(array.size for array in arrays if array is not None)

    def __call__(self, query, key=None, value=None, *, mask=None, temperature=1.0):
        """做一次多头注意力；只给 ``query`` 是自注意力，再给 ``key`` 是交叉注意力。

        Parameters
        ----------
        query : array_like, shape (..., L, d_model)
        key : array_like, shape (..., S, d_model), optional
            缺省与 ``query`` 相同。
        value : array_like, shape (..., S, d_model), optional
            缺省与 ``key`` 相同。
        mask : array_like, optional
            形状能广播到 (..., L, S) 时，每个头都用它；比输入多一个轴时是 (..., h, L, S)，一个头一份。
        temperature : float
            见 `softmax`。

        Returns
        -------
        output : ndarray, shape (..., L, d_model)
        weights : ndarray, shape (..., h, L, S)
            每个头一份，没有平均。
        """
        key = query if key is None else key
        value = key if value is None else value
        inputs = {"query": query, "key": key, "value": value}
        dtype = np.result_type(result_dtype(query, key, value), self._dtype)
        weight_rows = np.split(self.in_proj_weight, 3)   # 3 x (d_model, d_model)
        bias_rows = [None] * 3 if self.in_proj_bias is None else np.split(self.in_proj_bias, 3)
        projected = [_project(name, x, weight, bias)   # (..., n, d_model)
                     for (name, x), weight, bias in zip(inputs.items(), weight_rows, bias_rows, strict=True)]
        check_attention(*projected)   # 切成头以前就说，说的才是读者给的形状
        heads = [split_heads(x, self.n_heads) for x in projected]   # (..., h, n, d_k)
        if mask is not None:
            mask = to_mask("mask", mask)
            if 2 < mask.ndim < max(head.ndim for head in heads):
                mask = np.expand_dims(mask, -3)   # (..., 1, L, S)
        output, weights = scaled_dot_product_attention(*heads, mask=mask, temperature=temperature)
        output = _project("output", merge_heads(output), self.out_proj_weight, self.out_proj_bias)
        return cast(output, dtype), cast(weights, dtype)


def _project(name, x, weight, bias):
    """PyTorch 约定的线性变换 ``x @ weight.T + bias``。"""
    x = to_float(name, x)
    if x.ndim < 2 or x.shape[-1] != weight.shape[-1]:
        fail(name, f"形状 (..., n, d_model={weight.shape[-1]}) 的数组", f"形状 {x.shape}", "请核对词向量的长度。")
    with np.errstate(all="ignore"):   # 被遮住的词可以是 NaN 或无穷大
        projected = x @ weight.T   # (..., n, d_model)
        return projected if bias is None else projected + bias


def _xavier_uniform(rng, n_out, n_in):
    """Glorot 与 Bengio (2010) 的均匀分布初始化。"""
    bound = np.sqrt(6 / (n_in + n_out))
    return rng.uniform(-bound, bound, size=(n_out, n_in))


def _given(name, array, shape, *, optional=False):
    """检查给定的权重或偏置的形状。"""
    if array is None and optional:
        return None
    array = None if array is None else to_float(name, array)
    if array is None or array.shape != shape:
        fail(name, f"形状 {shape} 的数组", "空缺 (None)" if array is None else f"形状 {array.shape}",
             "排法与 PyTorch 的 nn.MultiheadAttention 相同；两个权重要么都给，要么都不给。")
    return array
