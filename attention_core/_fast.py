"""同样的结果，更快的做法；以及怎样取指数才不溢出，又不必总是先找最大值。"""

import functools
import math

import numpy as np

_CACHE_SIZE = 2**17   # 一块几个数；float32 是 512 KiB，连同一份临时的，也放得进常见的二级缓存
_LONG_ROW = 10_000   # 更长的一行，sum 一样快，更准，也不必留着那么长的一列 1
SMALL = 16.0   # 最大值（除以温度）在正负它之间的一行，不减去最大值也不会溢出，不会整行下溢
LEAST_TOTAL = 1e-8   # 看得见东西的行，总和至少 exp(-SMALL)；什么也看不到的行是 0，除以它还是 0
# 没减最大值的总和：平均每个键多于这么多，平方和小于这么多，就一定都是这样的行；两个 2 是给舍入留的余地
_LEAST_SHARE, _MOST_SQUARED = 2 * math.exp(-SMALL), (math.exp(SMALL) / 2)**2
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


def powers_and_total(rows, temperature, small):
    """`softmax` 的分子和分母：每个分数的指数，和每一行的总和。

    先当作分数都不大，直接取指数，从总和看得出对不对；不对（或者 ``small`` 说不必试）才找最大值、减去它。
    哪些行要减去最大值，只由这一行自己定，所以别的行一位也不变。

    Returns
    -------
    powers : ndarray, shape (..., S)
    total : ndarray, shape (..., 1)
    small : bool
        这一块的分数是不是都不大。
    """
    if small:
        powers = np.exp(rows if temperature == 1 else rows / temperature)
        total = row_sums(powers)   # (..., 1)
        least = np.minimum.reduce(total, None, initial=np.inf)
        if square_sum(total) < _MOST_SQUARED and least > rows.shape[-1] * _LEAST_SHARE:
            return powers, total, True
    peak = rows.max(axis=-1, keepdims=True, initial=-np.inf)
    np.copyto(peak, 0, where=np.abs(peak) < SMALL * temperature)
    powers = exp_below(peak, rows.copy("K"), temperature)   # 与上面同样的排列，总和才逐位相同
    return powers, np.maximum(row_sums(powers), LEAST_TOTAL), False


def exp_below(peak, scores, temperature):
    """就地变成 ``exp((scores - peak) / temperature)``。"""
    if peak.any():
        if not all_finite(peak):   # inf - inf 没有值：最高分和与它并列的是 0，其余是 -inf
            np.copyto(scores, np.where(scores == np.inf, 0, -np.inf), where=peak == np.inf)
            peak = np.where(np.isinf(peak), 0, peak)
        scores -= peak
    return exp_of(scores, temperature)


def exp_of(scores, temperature):
    """就地变成 ``exp(scores / temperature)``；温度 0 和无穷大取极限。"""
    if temperature == 0 or temperature == np.inf:   # 0/0 和 inf/inf 没有值
        np.divide(scores, temperature, out=scores, where=(scores != 0) & (scores != -np.inf))
    elif temperature != 1:
        scores /= temperature
    return np.exp(scores, out=scores)
