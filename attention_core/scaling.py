"""缩放的测量：随机的查询和键给出怎样的分数，softmax 在那里还剩多少梯度。"""

import numpy as np

from ._arrays import check_count, check_rng
from .gradients import softmax_jacobian
from .steps import score

# 一次最多抽这么多个随机数：d_k = 4096 时全部一次抽出来要几百 MB
_DRAWS_AT_ONCE = 2_000_000


def random_scores(d_k, *, n_keys=10, n_trials=500, rng):
    """随机的查询对随机的键，不缩放的分数；每一行是一次独立的试验。

    查询和键的每个数都取自标准正态分布（平均 0，方差 1），彼此独立，所以点积的方差是 d_k。

    Parameters
    ----------
    d_k : int
        查询和键的长度。
    n_keys : int
        每次试验有几个键。
    n_trials : int
        试验几次。
    rng : numpy.random.Generator

    Returns
    -------
    scores : ndarray, shape (n_trials, n_keys)

    Raises
    ------
    ValueError
        个数不是正整数，或者 ``rng`` 不是 Generator。

    Notes
    -----
    这些假设出自 Vaswani 等，"Attention Is All You Need" (2017), 3.2.1 节的脚注。

    Examples
    --------
    >>> scores = random_scores(64, rng=np.random.default_rng(0))
    >>> scores.shape, round(float(scores.std()))
    ((500, 10), 8)
    """
    d_k = check_count("d_k", d_k, minimum=1)
    n_keys = check_count("n_keys", n_keys, minimum=1)
    n_trials = check_count("n_trials", n_trials, minimum=1)
    check_rng(rng)
    at_once = max(1, _DRAWS_AT_ONCE // (d_k * (n_keys + 1)))
    pieces = []
    for start in range(0, n_trials, at_once):
        drawn = rng.standard_normal((min(at_once, n_trials - start), n_keys + 1, d_k))
        query, key = drawn[:, :1], drawn[:, 1:]   # (n, 1, d_k), (n, n_keys, d_k)
        pieces.append(score(query, key, scale=1)[:, 0])   # (n, n_keys)
    return np.concatenate(pieces)


def jacobian_norm(weights, *, temperature=1.0):
    """`softmax` 的雅可比矩阵有多大：所有格子的平方和再开方（Frobenius 范数）。

    Parameters
    ----------
    weights : array_like, shape (..., S)
    temperature : float
        与正向相同。

    Returns
    -------
    norm : ndarray, shape (...)
        接近 0 表示：无论怎么推分数，权重几乎不动，往回也传不了信号。

    Raises
    ------
    ValueError
        见 `softmax_jacobian`。

    Notes
    -----
    平方和有不用矩阵的写法，但在饱和处它是几个几乎相等的数相减，最小只能到 1e-8。

    Examples
    --------
    >>> print(jacobian_norm([0.5, 0.5]))
    0.5
    """
    return np.linalg.norm(softmax_jacobian(weights, temperature=temperature), axis=(-2, -1))
