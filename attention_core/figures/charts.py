"""从数组到坐标轴：线，和给它们写上名字的 ``label_axes``。

`lines` 只往给定的坐标轴里添东西，所以可以多次叠着用；一个坐标轴里最多五组数据，
它们的颜色、线型和标记依次取自 ``style.PALETTE``。画完之后调用一次 ``label_axes``。
"""

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from .._arrays import fail, to_float
from .style import PALETTE, styled


def _vector(name, x):
    """检查 ``x`` 是一串有限的数，至少一个。"""
    x = to_float(name, x)
    if x.ndim != 1 or x.size == 0:
        fail(name, "至少有一个数的数组，形状 (n,)", f"形状 {x.shape}", "一次只画一串；多串请分别命名。")
    return _finite(name, x)


def _finite(name, x):
    if not np.isfinite(x).all():
        fail(name, "全是有限数的数组", "含有 NaN 或无穷大的数组", "请先查明它从哪来，再去掉这些点。")
    return x


def _series(ax, series, n):
    """检查一组命名的数据：个数放得下，每组都有 ``n`` 个数。"""
    if not isinstance(series, dict) or not series:
        fail("series", "至少有一项的字典（名字和数据）", f"{type(series).__name__}",
             '例如 {"缩放之后": y}。')
    taken = len(ax.get_legend_handles_labels()[1])
    if taken + len(series) > len(PALETTE):
        fail("series", f"同一个坐标轴里总共不超过 {len(PALETTE)} 组数据", f"{taken + len(series)} 组",
             "再多就分不清了，请分成两个坐标轴。")
    checked = {}
    for label, values in series.items():
        if not isinstance(label, str) or not label.strip() or label.startswith("_"):
            fail("series", "以非空的名字（不以下划线开头）为键的字典", f"键 {label!r}",
                 "名字会写在图例里。")
        y = _finite(label, to_float(label, values))
        if y.shape != (n,):
            fail(label, f"形状 ({n},) 的数组", f"形状 {y.shape}", "要与横轴一一对应。")
        checked[label] = y
    return checked


def _line(ax, x, y, label):
    # Markers on every point of a long curve would run together; a number below one is a distance.
    line, = ax.plot(x, y, label=label, markevery=None if x.size <= 25 else 0.12)
    return line


@styled
def lines(ax, x, series):
    """折线：每组数据一条，标记均匀地分布在线上。

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    x : array_like, shape (n,)
    series : dict of str to array_like, shape (n,)
        图例里的名字和纵坐标。

    Returns
    -------
    drawn : list of matplotlib.lines.Line2D

    Raises
    ------
    ValueError
        数据不是有限的数、长短不一，或者超过五组。

    Examples
    --------
    >>> from attention_core.figures import new_figure
    >>> figure, ax = new_figure("两点之间的一条线，从 0 升到 3。")
    >>> [line] = lines(ax, [1, 2], {"随便一条线": [0, 3]})
    >>> line.get_ydata()
    array([0., 3.])
    """
    x = _vector("x", x)
    return [_line(ax, x, y, label) for label, y in _series(ax, series, x.size).items()]


def _set_scale(ax, axis, scale):
    """一个轴用线性还是对数的刻度。"""
    name = f"{axis}scale"
    if scale not in ("linear", "log"):
        fail(name, '"linear" 或 "log"', f"{scale!r}", "请二者取一。")
    if scale == "log":
        for line in ax.get_lines():
            values = line.get_xdata() if axis == "x" else line.get_ydata()
            if (np.asarray(values) <= 0).any():
                fail(line.get_label(), f"对数轴上全部大于 0 的数据（{name}=\"log\"）",
                     f"最小值 {np.min(values)}", "请只画大于 0 的点，并在文字里说明哪些是 0。")
    if scale != getattr(ax, f"get_{name}")():
        getattr(ax, f"set_{name}")(scale)


@styled
def label_axes(ax, *, xlabel, ylabel, xscale="linear", yscale="linear", xticks=None):
    """给画好的坐标轴写上名字、刻度和图例。在画完数据之后调用一次。

    只有一组数据时不画图例：纵轴的名字已经说清。多条线时图例在右侧，顺序与线尾
    从上到下相同；并排的坐标轴的图例在上方。

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    xlabel, ylabel : str
        横轴、纵轴是什么量。
    xscale, yscale : {"linear", "log"}
    xticks : array_like, shape (m,), optional
        横轴只在这些地方写刻度，写成普通的数，不写成 10 的幂。

    Returns
    -------
    ax : matplotlib.axes.Axes

    Raises
    ------
    ValueError
        名字是空的，刻度的种类不认识，或者对数轴上有不大于 0 的数据。
    """
    for name, text in (("xlabel", xlabel), ("ylabel", ylabel)):
        if not isinstance(text, str) or not text.strip():
            fail(name, "非空的文字", f"{text!r}", "请写明这个轴是什么量，需要时带上单位。")
    _set_scale(ax, "x", xscale)
    _set_scale(ax, "y", yscale)
    if xticks is not None:
        ax.xaxis.set_major_locator(FixedLocator(_vector("xticks", xticks)))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}".replace("-", "−")))
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    _add_legend(ax)
    return ax


def _add_legend(ax):
    handles, labels = ax.get_legend_handles_labels()
    if len(handles) < 2:
        return
    if len(ax.figure.axes) > 1:
        ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 1), ncols=2, borderaxespad=0.2, columnspacing=1.2)
        return
    # Read like names at the ends of the lines: the highest end comes first.
    ends = [handle.get_ydata()[-1] for handle in handles]
    order = np.argsort(ends, kind="stable")[::-1]
    ax.legend([handles[i] for i in order], [labels[i] for i in order],
              loc="center left", bbox_to_anchor=(1.01, 0.5))
