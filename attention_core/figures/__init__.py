"""matplotlib 画的图：有坐标轴的曲线。

数组进、坐标轴 (Axes) 出；数字都由调用的人算好，这里只画。用法::

    figure, ax = new_figure("一句话说清图里看得到的结论，读屏软件会念出来。")
    lines(ax, x, {"图例里的名字": y})
    label_axes(ax, xlabel="横轴的量", ylabel="纵轴的量")
    figure
"""

from .charts import label_axes, lines
from .style import new_figure

__all__ = ["label_axes", "lines", "new_figure"]
