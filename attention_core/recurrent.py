"""对照用的循环网络：边读边改写的笔记（第 1 节），和最朴素的 tanh 循环网络 (RNN)（第 8 节）。

形状里的字母：n 是词的个数，d_input 是一个词向量的长度，d_hidden 是笔记（隐藏状态）的长度。
"""

import math

import numpy as np

from ._arrays import cast, check_count, check_flag, check_matrix, check_number, check_rng, fail, to_floats


def note_shares(n_words, kept):
    """一份笔记从头改写到尾，每读一个词之后，前面各个词在笔记里还占几份。

    读到第一个词，笔记就是它；以后每读一个词，旧笔记留下 ``kept``，新词占 ``1 - kept``。

    Parameters
    ----------
    n_words : int
        词的个数 n。
    kept : float
        每次改写留下旧笔记的几分之几，0 到 1。

    Returns
    -------
    shares : ndarray, shape (n, n)
        第 t 行是读完第 t 个词（从 0 数起）时各个词的份额，加起来是 1，可以和注意力的权重并排看。
        第一个词改写 t 次以后剩下 ``kept ** t``。

    Raises
    ------
    ValueError
        ``n_words`` 不是非负整数，或者 ``kept`` 不在 0 到 1 之间。

    Examples
    --------
    >>> note_shares(3, 0.5)
    array([[1.  , 0.  , 0.  ],
           [0.5 , 0.5 , 0.  ],
           [0.25, 0.25, 0.5 ]])
    """
    n_words = check_count("n_words", n_words)
    kept = check_number("kept", kept, " 0 到 1 之间的数", lambda x: 0 <= x <= 1)
    word = np.arange(n_words)
    rewrites = word[:, None] - word   # (n, n)，第 j 个词到第 t 行为止经过几次改写
    written = np.where(word == 0, 1, 1 - kept)   # 每个词刚写进笔记时的份额
    return np.where(rewrites >= 0, written * kept ** np.maximum(rewrites, 0.0), 0.0)


class TanhRNN:
    """朴素循环网络：``h_t = tanh(W_x x_t + W_h h_{t-1})``,``h_{-1} = 0``。

    Parameters
    ----------
    d_input, d_hidden : int
    gain : float
        循环增益：``W_h`` 抽好以后乘上它。1 时一次改写大致保持长短，大于 1 放大，小于 1 缩小。
    orthogonal : bool
        True 时 ``W_h`` 是 ``gain`` 乘一个随机的正交矩阵，它本身不改变任何向量的长短。
    rng : numpy.random.Generator
        没有训练，矩阵都从这里抽：``W_x`` 的方差是 1/d_input，``W_h`` 的是 1/d_hidden。

    Attributes
    ----------
    input_weight : ndarray, shape (d_hidden, d_input)
    hidden_weight : ndarray, shape (d_hidden, d_hidden)

    Raises
    ------
    ValueError
        长度不是正整数，增益不是有限的数，或者 ``rng`` 不是 Generator。

    Notes
    -----
    Elman, "Finding Structure in Time" (1990)；梯度为何随距离消失或爆炸，
    见 Pascanu 等，"On the difficulty of training recurrent neural networks" (2013)。

    Examples
    --------
    >>> rnn = TanhRNN(2, 3, rng=np.random.default_rng(0))
    >>> rnn(np.ones((5, 2))).shape
    (5, 3)
    """

    def __init__(self, d_input, d_hidden, *, gain=1.0, orthogonal=False, rng):
        d_input, d_hidden = check_count("d_input", d_input, 1), check_count("d_hidden", d_hidden, 1)
        gain = check_number("gain", gain, "有限的数", math.isfinite)
        orthogonal, rng = check_flag("orthogonal", orthogonal), check_rng(rng)
        self.input_weight = rng.normal(size=(d_hidden, d_input)) / math.sqrt(d_input)
        hidden_weight = rng.normal(size=(d_hidden, d_hidden)) / math.sqrt(d_hidden)
        self.hidden_weight = gain * (np.linalg.qr(hidden_weight).Q if orthogonal else hidden_weight)

    def __call__(self, x):
        """一步一步读完 ``x``，返回每一步的隐藏状态。

        Parameters
        ----------
        x : array_like, shape (..., n, d_input)

        Returns
        -------
        hidden : ndarray, shape (..., n, d_hidden)
            第 t 步要等第 t-1 步算完，这个循环没法并行。

        Raises
        ------
        ValueError
            形状或类型不对。
        """
        dtype, x = to_floats("x", x)
        check_matrix("x", x, "(..., n, d_input)")
        if x.shape[-1] != self.input_weight.shape[1]:
            fail("x", f"最后一轴长度为 d_input={self.input_weight.shape[1]} 的数组", f"形状 {x.shape}",
                 "每个词向量的长度要与建网络时给的相同。")
        hidden = x @ self.input_weight.T.astype(x.dtype)   # (..., n, d_hidden)
        hidden_weight = self.hidden_weight.T.astype(x.dtype)
        for t in range(hidden.shape[-2]):
            now = hidden[..., t, :]   # (..., d_hidden)，视图
            if t:
                now += hidden[..., t - 1, :] @ hidden_weight
            np.tanh(now, out=now)
        return cast(hidden, dtype)

    def first_word_jacobians(self, x):
        """每一步的隐藏状态对第一个词的雅可比矩阵 ``d h_t / d x_0``。

        Parameters
        ----------
        x : array_like, shape (..., n, d_input)

        Returns
        -------
        jacobians : ndarray, shape (..., n, d_hidden, d_input)
            链式法则：每过一步乘一次 ``diag(1 - h_t^2) W_h``。

        Raises
        ------
        ValueError
            形状或类型不对。
        """
        dtype, x = to_floats("x", x)
        hidden = self(x)
        slope = (1 - hidden * hidden)[..., None]   # (..., n, d_hidden, 1)
        jacobians = np.empty((*hidden.shape, self.input_weight.shape[1]), hidden.dtype)
        for t in range(hidden.shape[-2]):
            before = self.hidden_weight @ jacobians[..., t - 1, :, :] if t else self.input_weight
            jacobians[..., t, :, :] = slope[..., t, :, :] * before
        return cast(jacobians, dtype)

    def gradient_by_distance(self, x):
        """第一个词动一点，隔 t 步以后的隐藏状态平均动多少。

        Parameters
        ----------
        x : array_like, shape (..., n, d_input)

        Returns
        -------
        sizes : ndarray, shape (..., n)
            `first_word_jacobians` 的 Frobenius 范数除以 ``sqrt(d_input)``，
            也就是对单位长、方向随机的一动取均方根。除以第 0 个就是还剩几分之几。

        Raises
        ------
        ValueError
            形状或类型不对。
        """
        jacobians = self.first_word_jacobians(x)
        return np.linalg.norm(jacobians, axis=(-2, -1)) / math.sqrt(jacobians.shape[-1])
