"""一个真实模型的注意力权重：英文句子编码器 MiniLM，6 层，每层 12 个头。

权重事先算好存在 ``data/minilm`` 里（来源、许可和做法见那里的 README），读它只要 numpy。
句子是二十对，每一对只差最后一个词，例如
"The cat didn't cross the street because it was too tired." 和 "... too wide."。
层和头都从 1 数起：L4H2 是第 4 层的第 2 个头。
"""

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from ._arrays import cast, check_axis, check_count, check_number, fail, to_array, to_floats

ANIMAL_AT, PLACE_AT, IT_AT, STATE_AT = 2, 8, 10, 13   # 这些词在每一句里的位置
N_LAYERS, N_HEADS = 6, 12
ROLES = ("句首", "前一个词", "后一个词", "自己", "句末")
UNNAMED = "说不出"


@dataclass(frozen=True)
class RealHead:
    """一个真实的头，连同它那一层的输入：够你自己把它的权重算出来。

    Parameters
    ----------
    name : str
        例如 "L4H2"。
    layer_input : ndarray, shape (2, N, 384)
        第一对的两句话走到这一层时的样子。
    w_q, w_k : ndarray, shape (384, 32)
        ``query = layer_input @ w_q + b_q``。
    b_q, b_k : ndarray, shape (32,)
    """

    name: str
    layer_input: np.ndarray
    w_q: np.ndarray
    b_q: np.ndarray
    w_k: np.ndarray
    b_k: np.ndarray


@dataclass(frozen=True)
class MiniLM:
    """存下来的全部。

    Parameters
    ----------
    tokens : tuple of tuple of str
        四十句话的词；第 2i 和 2i + 1 句是一对，前者的状态词说的是动物，后者说的是地方。
    token_ids : ndarray of int, shape (40, N)
        词在模型词表里的编号。
    weights : ndarray, shape (40, 6, 12, N, N)
        全部权重，存的时候取到 1/255，所以一行加起来只是大约等于 1。
    log_weights : ndarray, shape (6, 6, 12, N, N)
        前三对的权重的对数，较精细。softmax 不在乎一行整体加减，所以它也就是分数。
    heads : dict of str to RealHead
    """

    tokens: tuple
    token_ids: np.ndarray
    weights: np.ndarray
    log_weights: np.ndarray
    heads: dict


@cache
def load():
    """读出存下来的权重；只读一次，数组不可改写。

    Returns
    -------
    MiniLM

    Raises
    ------
    ValueError
        数据文件与记下的校验和不符。

    Examples
    --------
    >>> data = load()
    >>> " ".join(data.tokens[0])
    "[CLS] the cat didn ' t cross the street because it was too tired . [SEP]"
    >>> data.weights.shape
    (40, 6, 12, 16, 16)
    """
    folder = files(__package__) / "data" / "minilm"
    about = json.loads((folder / "minilm.json").read_text("utf-8"))
    with (folder / "minilm.npz").open("rb") as file:
        found = hashlib.sha256(file.read()).hexdigest()
        if found != about["sha256"]:
            fail("minilm.npz", f"校验和是 {about['sha256']} 的文件", f"校验和是 {found} 的",
                 "请重新安装或重新取出这个文件。")
        file.seek(0)
        with np.load(file) as stored:
            arrays = {name: stored[name] for name in stored.files}
    weights = np.moveaxis(arrays["weights_255"], -1, 0) / 255   # 存的时候句子放在最后一轴，压缩得更小
    log_weights = arrays["log_weights"].astype(np.float64)
    for array in (weights, log_weights, *arrays.values()):
        array.flags.writeable = False
    heads = {name: RealHead(name, arrays[f"input_L{name[1]}"],
                            *(arrays[f"{name}_{part}"] for part in ("w_q", "b_q", "w_k", "b_k")))
             for name in about["heads"]}
    return MiniLM(tuple(map(tuple, about["tokens"])), arrays["token_ids"], weights, log_weights, heads)


def head_name(layer, head):
    """从 0 数起的层和头，写成从 1 数起的名字。

    Examples
    --------
    >>> head_name(3, 1)
    'L4H2'
    """
    return f"L{check_count('layer', layer) + 1}H{check_count('head', head) + 1}"


def role_shares(weights):
    """每个头平均把多少权重给了每一种说得出名字的位置。

    Parameters
    ----------
    weights : array_like, shape (n, layers, heads, N, N)
        n 句话的权重；N 至少是 2，一个词没有前一个词。

    Returns
    -------
    shares : ndarray, shape (5, layers, heads)
        次序同 `ROLES`，对所有句子和所有提问的位置取平均。「前一个词」不算第一个位置，
        「后一个词」不算最后一个位置，因为它们没有。

    Examples
    --------
    >>> looks_back = np.eye(4, k=-1)[None, None, None]
    >>> role_shares(looks_back)[:, 0, 0]
    array([0.25, 1.  , 0.  , 0.  , 0.  ])
    """
    dtype, weights = _tables(weights, 2)
    looked_at = (weights[..., 0], *(np.diagonal(weights, offset, -2, -1) for offset in (-1, 1, 0)), weights[..., -1])
    return cast(np.stack([share.mean(axis=(0, -1)) for share in looked_at]), dtype)   # (5, layers, heads)


def _tables(weights, n_words):
    """检查每句、每层、每个头一张表，每张至少 ``n_words`` 个词；返回结果的类型和浮点数组。"""
    dtype, weights = to_floats("weights", weights)
    if weights.ndim != 5 or weights.shape[-1] != weights.shape[-2] or weights.shape[-1] < n_words or not len(weights):
        fail("weights", f"形状 (n, layers, heads, N, N) 的数组，至少一句、{n_words} 个词", f"形状 {weights.shape}",
             "一句话写成 weights[None]。")
    return dtype, weights


def name_roles(weights, *, threshold=0.5):
    """给每个头一个名字：平均权重过了 ``threshold`` 的那种位置，没有就是「说不出」。

    Parameters
    ----------
    weights : ndarray, shape (n, layers, heads, N, N)
    threshold : float
        0.5 以上时最多只有一种过得了，「自己」与它重叠的除外；取最大的。

    Returns
    -------
    names : ndarray of str, shape (layers, heads)
    """
    threshold = check_number("threshold", threshold, " 0 到 1 的数", lambda share: 0 <= share <= 1)
    shares = role_shares(weights)
    names = np.array(ROLES)[shares.argmax(axis=0)]
    return np.where(shares.max(axis=0) > threshold, names, UNNAMED)


def count_roles(names):
    """每个名字有多少个头。

    Parameters
    ----------
    names : array_like of str
        `name_roles` 的结果。

    Returns
    -------
    counts : dict of str to int
        次序同 `ROLES`，最后是「说不出」。
    """
    names, known = to_array("names", names), (*ROLES, UNNAMED)
    if not np.isin(names, known).all():
        fail("names", f"{known} 里的名字", repr(names)[:80], "用 name_roles 得到。")
    return {role: int((names == role).sum()) for role in known}


def entropy(weights):
    """每一行的熵：全压在一个位置上是 0，N 个位置平分是 ``log(N)``。

    ``entropy = -sum(weights * log(weights))``

    Parameters
    ----------
    weights : array_like, shape (..., S)

    Returns
    -------
    entropy : ndarray, shape (...)

    Examples
    --------
    >>> entropy([[1.0, 0.0], [0.5, 0.5]]).round(4)
    array([0.    , 0.6931])
    """
    dtype, weights = to_floats("weights", weights)
    check_axis(-1, "weights", weights)
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    return cast(0 - (weights * logs).sum(axis=-1), dtype)   # 只加负号的话，0 会成为 -0.0


def count_flips(weights):
    """每个头有几对句子是翻转的：状态词说动物时 it 更看动物，说地方时更看地方。

    Parameters
    ----------
    weights : array_like, shape (2 * pairs, layers, heads, N, N)
        一对一对的句子，次序同 `MiniLM` 的 ``tokens``。

    Returns
    -------
    flips : ndarray of int, shape (layers, heads)
    """
    _, weights = _tables(weights, IT_AT + 1)
    if len(weights) % 2:
        fail("weights", "一对一对的句子，句数是偶数", f"{len(weights)} 句", "每一对都要两句齐全。")
    row = weights[..., IT_AT, :]   # (2 * pairs, layers, heads, N)
    leans = row[..., ANIMAL_AT] - row[..., PLACE_AT]
    return ((leans[0::2] > 0) & (leans[1::2] < 0)).sum(axis=0)
