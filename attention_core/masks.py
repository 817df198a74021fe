"""掩码：哪个查询可以看哪个键。布尔数组，True 表示可以看。"""

import numpy as np

from ._arrays import broadcast, check_count, fail, to_array, to_mask


def causal_mask(n_queries, n_keys=None):
    """因果掩码：第 i 个查询只能看第 0 到 i 个键，自己也算。

    Parameters
    ----------
    n_queries : int
        查询的个数 L。
    n_keys : int, optional
        键的个数 S，缺省与 L 相同。

    Returns
    -------
    mask : ndarray of bool, shape (L, S)
        L 与 S 不等时对齐左上角，与 PyTorch、ONNX 的缺省相同。

    Raises
    ------
    ValueError
        个数不是非负整数。

    Examples
    --------
    >>> causal_mask(3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    """
    n_queries = check_count("n_queries", n_queries)
    n_keys = n_queries if n_keys is None else check_count("n_keys", n_keys)
    return np.tri(n_queries, n_keys, dtype=bool)   # (L, S)


def padding_mask(lengths, n_keys):
    """填充掩码：每个序列只有前 ``length`` 个键是真的，其余是补齐用的。

    Parameters
    ----------
    lengths : int 或整数数组，shape (...)
        每个序列真正的长度，0 到 ``n_keys``。
    n_keys : int
        补齐以后的长度 S。

    Returns
    -------
    mask : ndarray of bool, shape (..., 1, S)
        中间的 1 广播到所有查询：挡住的是键，不是查询。

    Raises
    ------
    ValueError
        长度不是整数，或者超出 0 到 ``n_keys``。

    Examples
    --------
    >>> padding_mask([1, 3], 3).astype(int)
    array([[[1, 0, 0]],
    <BLANKLINE>
           [[1, 1, 1]]])
    """
    n_keys = check_count("n_keys", n_keys)
    lengths = to_array("lengths", lengths)
    if lengths.size == 0 and lengths.dtype.kind in "bf":   # 空列表的 dtype 是 float64
        lengths = lengths.astype(int)
    if lengths.dtype.kind not in "iu":
        fail("lengths", "整数，或者整数数组", f"dtype={lengths.dtype} 的数组", "长度是个数，请写成整数。")
    if lengths.size and (lengths.min() < 0 or lengths.max() > n_keys):
        fail("lengths", f"0 到 n_keys={n_keys} 之间的整数", f"{lengths.min()} 到 {lengths.max()}",
             "长度不能为负，也不能超过补齐以后的长度。")
    return np.arange(n_keys) < lengths[..., None, None]   # (..., 1, S)


def combine_masks(*masks):
    """合并几个掩码：每一个都许可的位置才可以看。

    Parameters
    ----------
    *masks : array_like 或 None
        布尔掩码取“且”；浮点掩码相加；两种混用时结果是浮点掩码。``None`` 表示不设限，跳过。

    Returns
    -------
    mask : ndarray 或 None
        布尔或浮点；没有任何掩码时是 ``None``。

    Raises
    ------
    ValueError
        有掩码既不是布尔也不是浮点，或者形状不能广播。

    Examples
    --------
    >>> combine_masks(causal_mask(2), padding_mask(1, 2)).astype(int)
    array([[1, 0],
           [1, 0]])
    """
    combined = None
    for number, mask in enumerate(masks, 1):
        if mask is None:
            continue
        mask = to_mask(f"masks 的第 {number} 个", mask)
        if combined is not None and broadcast(combined.shape, mask.shape) is None:
            fail(f"masks 的第 {number} 个", f"能与前面的 {combined.shape} 广播的数组", f"形状 {mask.shape}",
                 "最后两轴应为 (L, S)，其中可以有 1。")
        combined = mask if combined is None else _both(combined, mask)
    return combined


def _both(left, right):
    """两个掩码都许可才许可；只要有一个是浮点，布尔的那个就换成 0 与 -inf。"""
    if left.dtype == bool and right.dtype == bool:
        return left & right
    left, right = (np.where(mask, 0.0, -np.inf) if mask.dtype == bool else mask for mask in (left, right))
    with np.errstate(over="ignore"):   # 放不下的成为无穷大
        return left + right
