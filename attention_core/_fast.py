"""同样的结果，更快的做法：numpy 的几个调用，换一种写法能快几成。"""

import functools
import math

import numpy as np

_CACHE_SIZE = 2**17   # 一块几个数；float32 是 512 KiB，连同一份临时的，也放得进常见的二级缓存
_LONG_ROW = 10_000   # 更长的一行，sum 一样快，更准，也不必留着那么长的一列 1
_ONE_THREAD = 10_000   # 点积再长，OpenBLAS 就开多个线程；机器忙的时候，等线程比算久几百倍


def matmul(a, b):
    """做 ``a @ b``；只有两个轴时用 dot，小数组快一半。"""
    # 1 x 1 的因子除外：它是 0 时，dot 不去看对面的 NaN 和无穷大
    return a.dot(b) if a.ndim == b.ndim == 2 and a.size != 1 != b.size else a @ b


def row_sums(x):
    """每一行的和，形状 (..., 1)；乘上一列 1，大表比 sum 快三倍。"""
    n = x.shape[-1]
    if n > _LONG_ROW:
        return x.sum(axis=-1, keepdims=True)
    ones = _ones_column(n, x.dtype)   # 乘 1，不必像 matmul 那样提防 0；小表拖滑块时每一步都算数
    return x.dot(ones) if x.ndim == 2 else x @ ones


@functools.lru_cache(maxsize=8)
def _ones_column(n, dtype):
    return np.ones((n, 1), dtype)


def square_sum(x):
    """所有数的平方和。"""
    flat = x.ravel()
    if flat.size <= _ONE_THREAD:
        return flat.dot(flat)
    pieces = (flat[i:i + _ONE_THREAD] for i in range(0, flat.size, _ONE_THREAD))
    return sum(piece.dot(piece) for piece in pieces)


def all_finite(x):
    """``x`` 里是否没有 NaN 和无穷大；平方和溢出时也答否，调用方只会走较慢而同样正确的路。"""
    return math.isfinite(square_sum(x))


def cache_blocks(x):
    """把数组切成放得进缓存的块（都是视图），最后一轴总是完整的；形状相同的数组切法相同。"""
    if x.ndim == 1 or x.size <= _CACHE_SIZE:
        return [x]
    step = max(1, _CACHE_SIZE * len(x) // x.size)
    pieces = x if step == 1 else (x[i:i + step] for i in range(0, len(x), step))
    return [block for piece in pieces for block in cache_blocks(piece)]
