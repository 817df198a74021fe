"""隔得多远还推得动：前面的词动一点，后面的输出动多少；自注意力和循环网络用同一把尺子量。

尺子是雅可比矩阵所有格子的平方和再开方（Frobenius 范数），除以 ``sqrt(d_model)``：原样传过来是 1。
"""

import numpy as np

from ._arrays import check_count, check_function, check_number, check_rng
from .attention import scaled_dot_product_attention
from .gradients import softmax_jacobian
from .recurrent import TanhRNN


def attention_reach(n_words, *, d_model=64, temperature=1.0, rng):
    """没有训练过的自注意力里，最后一个词的输出对每个词的输入有多敏感。

    词向量取自标准正态分布，W_Q、W_K、W_V 的每个数方差是 1/d_model，都是随机的。

    Parameters
    ----------
    n_words : int
        一句话有几个词。
    d_model : int
        词向量、查询、键、值的长度。
    temperature : float
    rng : numpy.random.Generator

    Returns
    -------
    sizes : ndarray, shape (n_words,)
        第 i 个是隔 i 个词的那个输入，0 是最后一个词自己。

    Raises
    ------
    ValueError
        个数不是正整数，温度为负，或者 ``rng`` 不是 Generator。

    Examples
    --------
    >>> attention_reach(8, rng=np.random.default_rng(0)).shape
    (8,)
    """
    n_words, d_model = check_count("n_words", n_words, minimum=1), check_count("d_model", d_model, minimum=1)
    check_rng(rng)
    x = rng.standard_normal((n_words, d_model))
    w_q, w_k, w_v = rng.standard_normal((3, d_model, d_model)) / np.sqrt(d_model)
    query, key, value = x[-1:] @ w_q, x @ w_k, x @ w_v   # (1, d_model), (n_words, d_model) 两份
    _, weights = scaled_dot_product_attention(query, key, value, temperature=temperature)   # (1, n_words)
    # 权重对点积的雅可比矩阵：点积先除以 sqrt(d_model) 才是分数
    moved = softmax_jacobian(weights[0], temperature=temperature) / np.sqrt(d_model)   # (n_words, n_words)
    by_scores = value.T @ moved   # (d_model, n_words)
    by_value = weights[0][:, None, None] * w_v.T   # (n_words, d_model, d_model)
    by_input = by_value + by_scores.T[:, :, None] * (w_k @ query[0])
    by_input[-1] += by_scores @ key @ w_q.T   # 最后一个词还提问
    return np.linalg.norm(by_input, axis=(-2, -1))[::-1] / np.sqrt(d_model)


def recurrent_reach(n_words, *, d_model=64, gain=1.0, orthogonal=False, input_std=1.0, rng):
    """没有训练过的循环网络里，第一个词的输入隔了几步，还推得动笔记多少。

    Parameters
    ----------
    n_words : int
        一句话有几个词。
    d_model : int
        词向量和笔记的长度。
    gain, orthogonal
        见 `TanhRNN`。
    input_std : float
        词向量里每个数的标准差。
    rng : numpy.random.Generator

    Returns
    -------
    sizes : ndarray, shape (n_words,)
        第 i 个是读完第一个词以后再改写 i 次的笔记。

    Raises
    ------
    ValueError
        个数不是正整数，增益、标准差不是有限的数，或者 ``rng`` 不是 Generator。

    Examples
    --------
    >>> bool(recurrent_reach(8, gain=0, rng=np.random.default_rng(0))[1:].any())
    False
    """
    n_words, d_model = check_count("n_words", n_words, minimum=1), check_count("d_model", d_model, minimum=1)
    input_std = check_number("input_std", input_std, "不小于 0 的有限的数", lambda x: 0 <= x < np.inf)
    rnn = TanhRNN(d_model, d_model, gain=gain, orthogonal=orthogonal, rng=rng)
    return rnn.gradient_by_distance(input_std * rng.standard_normal((n_words, d_model)))


def typical_reach(measure, n_words, *, n_trials=10, **settings):
    """换几个随机数种子各量一遍，取中位数。

    Parameters
    ----------
    measure : callable
        `attention_reach` 或 `recurrent_reach`。
    n_words : int
    n_trials : int
        种子取 0 到 ``n_trials - 1``。
    **settings
        原样交给 ``measure``。

    Returns
    -------
    sizes : ndarray, shape (n_words,)

    Raises
    ------
    ValueError
        ``measure`` 不是函数，或者 ``n_trials`` 不是正整数。

    Examples
    --------
    >>> typical_reach(attention_reach, 11, n_trials=3).shape
    (11,)
    """
    check_function("measure", measure, "例如 typical_reach(attention_reach, 11)。")
    n_trials = check_count("n_trials", n_trials, minimum=1)
    runs = [measure(n_words, rng=np.random.default_rng(seed), **settings) for seed in range(n_trials)]
    return np.median(runs, axis=0)
