"""缩放点积注意力：三步连成一次调用。"""

import numpy as np

from ._arrays import cast, check_attention, check_mask, check_scale, check_temperature, to_floats
from .steps import unchecked_score, unchecked_softmax, unchecked_weighted_sum


def scaled_dot_product_attention(query, key, value, *, mask=None, scale=None, temperature=1.0):
    """打分、归一、加权求和，一次做完。

    ``output = softmax(scale * query @ key^T + mask) @ value``

    Parameters
    ----------
    query : array_like, shape (..., L, d_k)
    key : array_like, shape (..., S, d_k)
    value : array_like, shape (..., S, d_v)
    mask : array_like, optional，能广播到 (..., L, S)
        布尔：True 表示可以看。浮点：加到分数上，``-inf`` 表示不许看。
    scale : float, optional
        缺省是 ``1 / sqrt(d_k)``。
    temperature : float
        见 `softmax`。

    Returns
    -------
    output : ndarray, shape (..., L, d_v)
    weights : ndarray, shape (..., L, S)
        什么都看不到的一行，权重和输出都是 0。

    Raises
    ------
    ValueError
        哪个参数不对、应当怎样、收到什么，都写在错误里。

    Notes
    -----
    出自 Vaswani 等，"Attention Is All You Need" (2017), 3.2.1 节。
    掩码的约定与 PyTorch 的同名函数和 ONNX 的 Attention 算子相同。

    Examples
    --------
    >>> output, weights = scaled_dot_product_attention([[1, 0]], [[1, 0], [1, 0]], [[2], [4]])
    >>> output, weights
    (array([[3.]]), array([[0.5, 0.5]]))
    """
    # float16 的分数在缩放之前就可能溢出，所以三步都在转换之后做
    dtype, query, key, value = to_floats("query key value", query, key, value)
    shape = check_attention(query, key, value)
    mask = mask if mask is None else check_mask(mask, shape)
    scale, temperature = check_scale(scale, query.shape[-1]), check_temperature(temperature)

    with np.errstate(all="ignore"):   # 被遮住的键可以是 NaN 或无穷大
        scores = unchecked_score(query, key, scale)   # (..., L, S)
        weights = unchecked_softmax(scores, mask, temperature)   # (..., L, S)
        output = unchecked_weighted_sum(weights, value)   # (..., L, d_v)

    return cast(output, dtype), cast(weights, dtype)
