"""BERT 一类编码器的正向计算，只用 numpy：真实模型的注意力权重就是这样算出来的。

每一层两段：多头自注意力，再是逐位置的前馈网络；每一段之后都加回输入，再做层归一化。
形状里的字母：B 是句数，N 是一句的位置数，d 是向量长度，h 是头数。
"""

import math
from collections.abc import Mapping

import numpy as np

from ._arrays import cast, check_axis, check_count, check_ids, check_number, check_rng, fail, to_float, to_floats
from .multihead import MultiHeadAttention

_erf = np.frompyfunc(math.erf, 1, 1)   # numpy 没有误差函数


def gelu(x):
    """激活函数 GELU：``x * P(Z <= x)``，Z 是标准正态变量。

    Parameters
    ----------
    x : array_like

    Returns
    -------
    y : ndarray
        与 ``x`` 同形、同类型。

    Notes
    -----
    Hendrycks 与 Gimpel, "Gaussian Error Linear Units" (2016)。这里是精确式，不是 tanh 近似。

    Examples
    --------
    >>> gelu([0.0, 1.0, -1.0]).round(4)
    array([ 0.    ,  0.8413, -0.1587])
    """
    dtype, x = to_floats("x", x)
    with np.errstate(invalid="ignore"):   # -inf 乘 0 没有值，极限是 0
        y = x / 2 * (1 + np.asarray(_erf(x / math.sqrt(2)), x.dtype))
    return cast(np.where(x == -np.inf, 0, y).astype(x.dtype, copy=False), dtype)


def layer_norm(x, gain, shift, *, epsilon=1e-12):
    """层归一化：每个位置的向量减去自己的平均，除以自己的标准差。

    Parameters
    ----------
    x : array_like, shape (..., d)
    gain, shift : array_like, shape (d,)
        归一之后逐个分量乘上、加上的数。
    epsilon : float
        加在方差上，防止除以 0。

    Returns
    -------
    y : ndarray, shape (..., d)
        与 ``x`` 同类型，不管 ``gain`` 和 ``shift`` 是哪一种数。

    Raises
    ------
    ValueError
        向量里没有数，或者 ``gain``、``shift`` 不是同样长的一串数。

    Examples
    --------
    >>> layer_norm([1.0, 3.0], [1, 1], [0, 0])
    array([-1.,  1.])
    """
    dtype, x = to_floats("x", x)
    check_axis(-1, "x", x)
    if not x.shape[-1]:
        fail("x", "形状 (..., d) 的数组，d 至少是 1", f"形状 {x.shape}", "没有数就没有平均。")
    epsilon = check_number("epsilon", epsilon, "大于 0 的有限的数", lambda number: 0 < number < math.inf)
    epsilon = max(epsilon, float(np.finfo(x.dtype).tiny))   # 在 float32 里也不能下溢成 0
    gain, shift = (_check_shape(name, to_float(name, vector), x.shape[-1:]).astype(x.dtype, copy=False)
                   for name, vector in (("gain", gain), ("shift", shift)))
    centred = x - x.mean(axis=-1, keepdims=True)
    return cast(centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + epsilon) * gain + shift, dtype)


class Encoder:
    """BERT 编码器：词的编号进，每一层的向量和权重出。

    Parameters
    ----------
    tensors : mapping of str to ndarray
        参数，名字与 BERT 的权重文件相同，例如 ``encoder.layer.0.attention.self.query.weight``。
    n_heads : int
        每层的头数。

    Raises
    ------
    ValueError
        缺了参数，形状互相配不上，或者头数不整除向量长度。

    Notes
    -----
    Devlin 等，"BERT" (2019)；层归一化在相加之后。没有填充：一批句子必须一样长。
    """

    def __init__(self, tensors, n_heads):
        if not isinstance(tensors, Mapping):
            fail("tensors", "从参数的名字到数组的字典", repr(tensors)[:80], "例如 random_tensors 的结果。")
        self.tensors = {name: to_float(name, tensor) for name, tensor in tensors.items()
                        if name.startswith(("embeddings.", "encoder.")) and not name.endswith("position_ids")}
        layers = {name.split(".")[2] for name in self.tensors if name.startswith("encoder.layer.")}
        self.n_layers = max(len(layers), 1)
        _check_tensors(self.tensors, self.n_layers)
        self.n_words, d = self.tensors["embeddings.word_embeddings.weight"].shape
        self.n_places = len(self.tensors["embeddings.position_embeddings.weight"])
        self.attention = [self._attention(layer, d, n_heads) for layer in range(self.n_layers)]

    def __call__(self, token_ids):
        """走一遍编码器。

        Parameters
        ----------
        token_ids : array_like of int, shape (B, N)

        Returns
        -------
        hidden : list of ndarray, each of shape (B, N, d)
            第 i 个是第 i 层的输入，最后一个是输出。
        weights : list of ndarray, each of shape (B, h, N, N)
            每一层的注意力权重。

        Raises
        ------
        ValueError
            没有这个编号，或者句子比位置向量还长。
        """
        token_ids = check_ids("token_ids", token_ids, ("B", "N"), self.n_words, "一句话写成 token_ids[None, :]。")
        if token_ids.shape[1] > self.n_places:
            fail("token_ids", f"每句至多 {self.n_places} 个词的编号", f"{token_ids.shape[1]} 个词", "请把句子截短。")
        hidden, weights = [self._embed(token_ids)], []
        for layer in range(self.n_layers):
            output, layer_weights = self._layer(layer, hidden[-1])
            hidden.append(output)
            weights.append(layer_weights)
        return hidden, weights

    def _embed(self, token_ids):
        words, places, kinds = (self.tensors[f"embeddings.{name}_embeddings.weight"]
                                for name in ("word", "position", "token_type"))
        x = words[token_ids] + places[:token_ids.shape[1]] + kinds[0]   # (B, N, d)
        return self._norm("embeddings", x)

    def _layer(self, layer, x):
        name = f"encoder.layer.{layer}"
        mixed, weights = self.attention[layer](x)   # (B, N, d), (B, h, N, N)
        x = self._norm(f"{name}.attention.output", x + mixed)
        wide = gelu(self._linear(f"{name}.intermediate.dense", x))   # (B, N, 4d)
        return self._norm(f"{name}.output", x + self._linear(f"{name}.output.dense", wide)), weights

    def _attention(self, layer, d, n_heads):
        name = f"encoder.layer.{layer}.attention"
        roles = [f"{name}.self.{role}" for role in ("query", "key", "value")]
        weight, bias = (np.concatenate([self.tensors[f"{role}.{kind}"] for role in roles])
                        for kind in ("weight", "bias"))
        return MultiHeadAttention(d, n_heads, in_proj_weight=weight, in_proj_bias=bias,
                                  out_proj_weight=self.tensors[f"{name}.output.dense.weight"],
                                  out_proj_bias=self.tensors[f"{name}.output.dense.bias"])

    def _linear(self, name, x):
        return x @ self.tensors[f"{name}.weight"].T + self.tensors[f"{name}.bias"]

    def _norm(self, name, x):
        return layer_norm(x, self.tensors[f"{name}.LayerNorm.weight"], self.tensors[f"{name}.LayerNorm.bias"])


def random_tensors(rng, *, n_words, n_places, n_layers=6, d_model=384, std=0.02):
    """没有训练过的 BERT 参数：矩阵从正态分布取，偏置是 0，层归一化什么也不改。

    Parameters
    ----------
    rng : numpy.random.Generator
    n_words, n_places : int
        词表的大小，最长的句子。
    n_layers, d_model : int
        缺省是 MiniLM 的大小。
    std : float
        标准差；0.02 是 BERT 的设定 (``initializer_range``)。

    Returns
    -------
    tensors : dict of str to ndarray
        可以交给 `Encoder`。
    """
    check_rng(rng)
    counts = {"n_words": n_words, "n_places": n_places, "n_layers": n_layers, "d_model": d_model}
    n_words, n_places, n_layers, d_model = (check_count(name, n, minimum=1) for name, n in counts.items())
    std = check_number("std", std, "不小于 0 的有限的数", lambda number: 0 <= number < math.inf)
    shapes = _shapes(n_words, n_places, 2, n_layers, d_model, 4 * d_model)
    return {name: np.zeros(shape) if name.endswith("bias") else
            np.ones(shape) if name.endswith("LayerNorm.weight") else rng.normal(scale=std, size=shape)
            for name, shape in shapes.items()}


def _shapes(n_words, n_places, n_kinds, n_layers, d, d_wide):
    """每个参数的名字和形状；``d_wide`` 是前馈网络中间那一层的长度。"""
    shapes = {f"embeddings.{name}_embeddings.weight": (rows, d)
              for name, rows in (("word", n_words), ("position", n_places), ("token_type", n_kinds))}
    norms = ["embeddings"]
    for layer in range(n_layers):
        name = f"encoder.layer.{layer}"
        blocks = {f"{name}.attention.self.{role}": (d, d) for role in ("query", "key", "value")}
        blocks |= {f"{name}.attention.output.dense": (d, d), f"{name}.intermediate.dense": (d_wide, d),
                   f"{name}.output.dense": (d, d_wide)}
        shapes |= {f"{block}.weight": shape for block, shape in blocks.items()}
        shapes |= {f"{block}.bias": shape[:1] for block, shape in blocks.items()}
        norms += [f"{name}.attention.output", f"{name}.output"]
    return shapes | {f"{name}.LayerNorm.{kind}": (d,) for name in norms for kind in ("weight", "bias")}


def _check_tensors(tensors, n_layers):
    """检查一个参数也不缺，形状互相配得上。"""
    missing = [name for name in _shapes(0, 0, 0, n_layers, 0, 0) if name not in tensors]
    if missing:
        fail("tensors", f"含有 {missing[0]} 等 BERT 参数的字典", f"缺 {len(missing)} 个参数的",
             "请用 BERT 权重文件里的名字，或者 random_tensors 的结果。")
    tables = [tensors[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")]
    d = np.atleast_1d(tables[0]).shape[-1]
    rows = [max(table.size // max(d, 1), 1) for table in tables]   # 空的表会在下面被点名
    d_wide = tensors["encoder.layer.0.intermediate.dense.bias"].size
    for name, shape in _shapes(*rows, n_layers, d, d_wide).items():
        _check_shape(name, tensors[name], shape)


def _check_shape(name, x, shape):
    """检查 ``x`` 的形状，返回它。"""
    if x.shape != shape:
        fail(name, f"形状 {shape} 的数组", f"形状 {x.shape}", "每个向量的长度要与别的参数一致。")
    return x
