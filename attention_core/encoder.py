"""BERT 一类编码器的正向计算，只用 numpy：真实模型的注意力权重就是这样算出来的。

每一层两段：多头自注意力，再是逐位置的前馈网络；每一段之后都加回输入，再做层归一化。
形状里的字母：B 是句数，N 是一句的位置数，d 是向量长度，h 是头数。
"""

import math

import numpy as np

from ._arrays import check_count, fail, to_float
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
        与 ``x`` 同形。

    Notes
    -----
    Hendrycks 与 Gimpel, "Gaussian Error Linear Units" (2016)。这里是精确式，不是 tanh 近似。

    Examples
    --------
    >>> gelu([0.0, 1.0, -1.0]).round(4)
    array([ 0.    ,  0.8413, -0.1587])
    """
    x = to_float("x", x)
    return (x / 2 * (1 + _erf(x / math.sqrt(2)).astype(x.dtype))).astype(x.dtype, copy=False)


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

    Examples
    --------
    >>> layer_norm([1.0, 3.0], [1, 1], [0, 0])
    array([-1.,  1.])
    """
    x = to_float("x", x)
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + epsilon) * gain + shift


class Encoder:
    """BERT 编码器：词的编号进，每一层的向量和权重出。

    Parameters
    ----------
    tensors : mapping of str to ndarray
        参数，名字与 BERT 的权重文件相同，例如 ``encoder.layer.0.attention.self.query.weight``。
    n_heads : int
        每层的头数。

    Notes
    -----
    Devlin 等，"BERT" (2019)；层归一化在相加之后。没有填充：一批句子必须一样长。
    """

    def __init__(self, tensors, n_heads):
        self.tensors = {name: to_float(name, tensor) for name, tensor in tensors.items()
                        if name.startswith(("embeddings.", "encoder.")) and not name.endswith("position_ids")}
        if "embeddings.word_embeddings.weight" not in self.tensors:
            fail("tensors", "含有 embeddings.word_embeddings.weight 等 BERT 参数的字典", f" {len(tensors)} 个别的参数",
                 "请用 BERT 权重文件里的名字，或者 random_tensors 的结果。")
        d = self.tensors["embeddings.word_embeddings.weight"].shape[1]
        self.n_layers = len({name.split(".")[2] for name in self.tensors if name.startswith("encoder.layer.")})
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
        """
        token_ids = np.asarray(token_ids)
        if token_ids.ndim != 2 or token_ids.dtype.kind not in "iu":
            fail("token_ids", "形状 (B, N) 的整数数组", f"形状 {token_ids.shape}、dtype={token_ids.dtype} 的数组",
                 "一句话写成 token_ids[None, :]。")
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
    for name, count in (("n_words", n_words), ("n_places", n_places), ("n_layers", n_layers), ("d_model", d_model)):
        check_count(name, count, minimum=1)
    shapes = {f"embeddings.{name}_embeddings.weight": (rows, d_model)
              for name, rows in (("word", n_words), ("position", n_places), ("token_type", 2))}
    norms = ["embeddings"]
    for layer in range(n_layers):
        name = f"encoder.layer.{layer}"
        blocks = {f"{name}.attention.self.{role}": (d_model, d_model) for role in ("query", "key", "value")}
        blocks |= {f"{name}.attention.output.dense": (d_model, d_model),
                   f"{name}.intermediate.dense": (4 * d_model, d_model),
                   f"{name}.output.dense": (d_model, 4 * d_model)}
        shapes |= {f"{block}.weight": shape for block, shape in blocks.items()}
        shapes |= {f"{block}.bias": shape[:1] for block, shape in blocks.items()}
        norms += [f"{name}.attention.output", f"{name}.output"]
    tensors = {name: np.zeros(shape) if name.endswith("bias") else rng.normal(scale=std, size=shape)
               for name, shape in shapes.items()}
    for name in norms:
        tensors[f"{name}.LayerNorm.weight"], tensors[f"{name}.LayerNorm.bias"] = np.ones(d_model), np.zeros(d_model)
    return tensors
