"""输入的转换与检查：每个公开函数都从这里拿到浮点数组，或者拿到一句说得清的错误。"""

import math
import numbers

import numpy as np

_FLOAT32, _FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


def fail(name, expected, got, mend):
    """抛出统一格式的 ``ValueError``：参数名、应当怎样、收到什么、怎么改。"""
    raise ValueError(f"{name} 应为{_spaced(expected)}，收到的是{_spaced(got)}。{mend}")


def _spaced(text):
    """汉字后面接英文或数字时空一格。"""
    text = text.strip()
    return f" {text}" if text[:1].isascii() else text


def to_array(name, x):
    """把 ``x`` 变成数组；类型照旧，已经是数组的原样返回。"""
    try:
        return np.asarray(x)
    except ValueError:
        fail(name, "各行等长的数组", "长短不齐的嵌套列表", "请让每一行的个数相同。")


def to_mask(name, mask):
    """把 ``mask`` 变成布尔或浮点数组；别的类型有两种读法，不猜。"""
    mask = to_array(name, mask)
    if mask.dtype == bool:
        return mask
    if mask.dtype.kind != "f":
        fail(name, "布尔数组（True 表示可以看）或浮点数组（加到分数上，-inf 表示不许看）",
             f"dtype={mask.dtype} 的数组", "0/1 的整数有两种读法，请写明：mask.astype(bool)，或者换成 0 和 -inf。")
    if not np.max(mask, initial=-np.inf) < np.inf:
        fail(name, "不含 NaN 和 +inf 的浮点数组", "含有 NaN 或 +inf 的数组", "不许看的位置写 -inf，其余写 0。")
    return mask


def to_float(name, x):
    """把 ``x`` 变成 float32 或 float64 数组；已经是的原样返回，否则是一份新的。"""
    if type(x) is np.ndarray and (x.dtype == _FLOAT32 or x.dtype == _FLOAT64):
        return x
    array = to_array(name, x)
    if array.dtype.kind not in "fiub":
        fail(name, "数字数组", f"dtype={array.dtype} 的数组", "请先转换成浮点数，例如 np.asarray(x, dtype=float)。")
    with np.errstate(all="ignore"):   # longdouble 里放不下的成为无穷大
        return array.astype(_FLOAT32 if result_dtype(x).itemsize < _FLOAT64.itemsize else _FLOAT64)


def result_dtype(*arrays):
    """返回结果的类型：全是 float16 才是 float16；有 float64、整数或列表就是 float64。"""
    dtypes = {x.dtype if isinstance(x, np.ndarray) else _FLOAT64 for x in arrays}
    if _FLOAT64 in dtypes or any(dtype.kind != "f" for dtype in dtypes):
        return _FLOAT64
    return min(np.result_type(*dtypes), _FLOAT64, key=lambda dtype: dtype.itemsize)


def to_floats(names, *arrays):
    """一次转换几个参数，``names`` 里按顺序写着它们的名字；返回结果的类型，然后是各个浮点数组。"""
    dtypes = [x.dtype for x in arrays if type(x) is np.ndarray] or [None]
    if dtypes.count(dtypes[0]) == len(arrays) and (dtypes[0] is _FLOAT64 or dtypes[0] is _FLOAT32):
        return dtypes[0], *arrays   # 常见情形：已经是同一种浮点数，什么也不用做（字节序倒过来的不是同一个对象）
    return result_dtype(*arrays), *(to_float(name, x) for name, x in zip(names.split(), arrays, strict=True))


def cast(x, dtype):
    """float16 在内部按 float32 计算，返回之前才转回去；其余原样返回。"""
    if x.dtype == dtype:
        return x
    with np.errstate(all="ignore"):   # 放不下的成为无穷大或 0
        return x.astype(dtype)


def check_matrix(name, x, shape):
    """检查 ``x`` 至少有两个轴；``shape`` 是写给读者看的形状。"""
    if x.ndim < 2:
        fail(name, f"形状 {shape} 的数组（至少两个轴）", f"形状 {x.shape}", f"只有一个向量时写成 {name}[None, :]。")


def broadcast(*shapes):
    """几个形状广播以后的形状；不能广播时是 None。"""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def check_broadcast(name, x, other_name, other):
    """检查两个数组除最后两个轴以外的前导轴能广播。"""
    leading, others = x.shape[:-2], other.shape[:-2]
    if leading != others and broadcast(leading, others) is None:
        fail(name, f"前导轴能与 {other_name} 的 {others} 广播的数组", f"前导轴 {leading}",
             "对应的轴长度要相等，或者有一个是 1。")


def check_number(name, x, expected, is_valid):
    """检查 ``x`` 是满足条件的一个实数，返回 Python 浮点数。"""
    if type(x) is float and is_valid(x):
        return x
    if isinstance(x, np.ndarray) and x.ndim == 0:
        x = x.item()
    number = math.nan
    if isinstance(x, numbers.Real) and not isinstance(x, bool):
        try:
            number = float(x)
        except OverflowError:   # 几百位的整数
            number = math.copysign(math.inf, x > 0 or -1)
    if not is_valid(number):
        fail(name, expected, repr(x), f"请给 {name} 一个这样的数。")
    return number


def check_temperature(temperature):
    """检查温度：0 到无穷大（两端都可以取）。"""
    return check_number("temperature", temperature, "不小于 0 的数（可以是 0 或无穷大）", lambda t: t >= 0)


def check_scale(scale, d_k):
    """检查缩放；没有给就是 ``1/sqrt(d_k)``（d_k 为 0 时点积总是 0，取 1）。"""
    if scale is None:
        return 1 / math.sqrt(d_k) if d_k else 1.0
    return check_number("scale", scale, "有限的数，或者 None（即 1/sqrt(d_k)）", math.isfinite)


def check_axis(axis, name, x):
    """检查 ``axis`` 是 ``x`` 已有的一个轴。"""
    if x.ndim == 0:
        fail(name, "至少有一个轴的数组", f"单独一个数 {x}", f"一串数写成 {name}=[...]。")
    if not isinstance(axis, numbers.Integral) or isinstance(axis, bool) or not -x.ndim <= axis < x.ndim:
        fail("axis", f"{name} 已有的轴（{name} 有 {x.ndim} 个轴）", repr(axis), "最后一轴写成 -1。")


def check_count(name, x, minimum=0):
    """检查 ``x`` 是不小于 ``minimum`` 的整数（再大也放得进内存），返回 Python 整数。"""
    if not isinstance(x, numbers.Integral) or isinstance(x, bool) or not minimum <= x < 2**31:
        fail(name, f"不小于 {minimum} 的整数", repr(x)[:80], f"请给 {name} 一个这样的整数，小于 2 的 31 次方。")
    return int(x)


def check_ids(name, ids, shape, n, mend):
    """检查 ``ids`` 是 0 到 ``n - 1`` 的整数编号，返回数组；``shape`` 里写成字母的轴多长都行。"""
    ids = to_array(name, ids)
    fits = len(shape) == ids.ndim and all(isinstance(want, str) or want == size for want, size in zip(shape, ids.shape))
    if not fits or ids.dtype.kind not in "iu":
        letters = str(shape).replace("'", "")
        fail(name, f"形状 {letters} 的整数编号", f"形状 {ids.shape}、dtype={ids.dtype} 的数组", mend)
    strangers = ids[(ids < 0) | (ids >= n)]
    if strangers.size:
        fail(name, f"0 到 {n - 1} 的编号", str(strangers[0]), mend)
    return ids


def check_flag(name, x):
    """检查 ``x`` 是真或假，返回 Python 布尔；别的值有真假两种读法，不猜。"""
    if not isinstance(x, bool | np.bool_):
        fail(name, "True 或 False", repr(x)[:80], f"请写 {name}=True 或 {name}=False。")
    return bool(x)


def check_function(name, x, mend):
    """检查 ``x`` 能调用，而不是已经算好的结果。"""
    if not callable(x):
        fail(name, "能调用的函数", " ".join(repr(x).split())[:80], mend)


def check_rng(rng):
    """检查 ``rng`` 是随机数生成器。"""
    if not isinstance(rng, np.random.Generator):
        fail("rng", "随机数生成器 (numpy.random.Generator)", repr(rng)[:80], "例如 rng=np.random.default_rng(0)。")
    return rng


def check_attention(query, key, value):
    """检查三个输入能连成一次注意力，返回分数表的形状 (..., L, S)。"""
    if query.ndim == key.ndim == value.ndim == 2 and query.shape[1] == key.shape[1] and len(key) == len(value):
        return len(query), len(key)   # 最常见的情形；拖滑块时每一微秒都算数
    check_query_key(query, key)
    _check_pair("key", key, "(..., S, d_k)", -2, "value", value, "(..., S, d_v)", -2, "S")
    check_broadcast("value", value, "query", query)
    table = query.shape[-2], key.shape[-2]
    return *np.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2]), *table


def check_query_key(query, key):
    """检查查询和键能做点积。"""
    _check_pair("query", query, "(..., L, d_k)", -1, "key", key, "(..., S, d_k)", -1, "d_k")


def check_weights(weights, value):
    """检查有几份权重就有几个值。"""
    _check_pair("weights", weights, "(..., L, S)", -1, "value", value, "(..., S, d_v)", -2, "S")


def check_mask(mask, shape):
    """检查掩码的类型，以及它能否盖在形状 ``shape`` 的分数表上；返回数组。"""
    mask, table = to_mask("mask", mask), shape[-2:]
    if mask.shape != table and (mask.ndim == 0 or (broadcast(shape, mask.shape) or (None,))[-len(table):] != table):
        got = f"形状 {mask.shape}" if mask.ndim else f"单独一个 {mask}"
        fail("mask", f"能广播到 scores 的形状 {shape} 的数组", got,
             "最后两轴应为 (L, S)，其中可以有 1；遮住后文用 causal_mask(L, S)。")
    return mask


def _check_pair(name, x, shape, axis, other_name, other, other_shape, other_axis, letter):
    """检查 ``x`` 的第 ``axis`` 轴与 ``other`` 的第 ``other_axis`` 轴一样长，前导轴能广播。"""
    if x.ndim == other.ndim == 2 and x.shape[axis] == other.shape[other_axis]:
        return
    check_matrix(name, x, shape)
    check_matrix(other_name, other, other_shape)
    if x.shape[axis] != other.shape[other_axis]:
        same = f"{letter}={x.shape[axis]}（与 {name} 的{'最后一轴' if axis == -1 else '倒数第二轴'}相同）"
        fail(other_name, f"形状 {other_shape} 的数组，其中 {same}", f"形状 {other.shape}", "这两个轴要一一对应。")
    check_broadcast(other_name, other, name, x)
