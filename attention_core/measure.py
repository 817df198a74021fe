"""在这台机器上量时间和内存。量到的数随机器、随时刻而变，所以从不写进文字里。"""

import threading
import timeit
import tracemalloc
from functools import partial

from ._arrays import check_count, check_function

_APART = "要量 f(x)，请把 f 和 x 分开给，例如 peak_bytes(f, x)。"

# JupyterLab 里，滑块可以与格子在两个线程里同时跑；tracemalloc 整个进程只有一份，计时也会互相拖慢。
_one_at_a_time = threading.RLock()


def fastest_seconds(function, *arguments, repeat=12):
    """同一个调用跑几遍，最快的一遍用了几秒。

    机器上别的事情只会让它变慢，所以最快的一遍最接近它自己要的时间。

    Parameters
    ----------
    function : callable
    *arguments
        原样交给 ``function``。
    repeat : int
        跑几遍。

    Returns
    -------
    seconds : float
        墙上的钟走过的秒数。

    Raises
    ------
    ValueError
        ``function`` 不能调用，或者 ``repeat`` 不是正整数。

    Examples
    --------
    >>> fastest_seconds(sum, range(1000)) > 0
    True
    """
    check_function("function", function, _APART)
    repeat = check_count("repeat", repeat, minimum=1)
    with _one_at_a_time:
        return min(timeit.repeat(partial(function, *arguments), number=1, repeat=repeat))


def peak_bytes(function, *arguments):
    """一个调用从开始到结束，最多同时多占了几个字节；返回的结果也算在内。

    Parameters
    ----------
    function : callable
    *arguments
        原样交给 ``function``。

    Returns
    -------
    n_bytes : int
        `tracemalloc` 记下的，Python 的和 numpy 的都算；先前就有的（例如输入）不算。

    Raises
    ------
    ValueError
        ``function`` 不能调用。

    Notes
    -----
    别的线程这时占的也算在内。已经在用 `tracemalloc` 的话，它会继续记，但峰值从这里重新算起。

    Examples
    --------
    >>> 1000 <= peak_bytes(bytes, 1000) < 10_000
    True
    """
    check_function("function", function, _APART)
    with _one_at_a_time:
        already = tracemalloc.is_tracing()   # 别人正在记的话，不能替他停
        tracemalloc.start()
        try:
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            function(*arguments)
            return tracemalloc.get_traced_memory()[1] - before
        finally:
            if not already:
                tracemalloc.stop()
