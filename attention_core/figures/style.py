"""图的样式：字体、颜色、大小，以及图怎样显示在笔记本里。"""

import base64
import io
import warnings
from functools import wraps
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.style
from cycler import cycler
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from PIL import Image

from .._arrays import check_count, fail

FONT_FAMILY = "Attention Sans SC"
FONT_FILE = Path(__file__).parent / "fonts" / "AttentionSansSC-Regular.otf"

# Apart from each other for every kind of colour vision, and at least 3 : 1 against FACE. The first
# four (but the black) are Okabe and Ito's; line style and marker say the same as the colour.
PALETTE = ["#0072B2", "#D55E00", "#222222", "#009E73", "#882255"]
LINE_STYLES = ["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1))]
MARKERS = ["o", "s", "^", "D", "v"]

# Opaque: on JupyterLab's dark theme black text on a transparent face would vanish.
FACE = "#FCFCFA"
INK = "#222222"
QUIET = "#6B6B6B"

WIDTH = 700  # in CSS pixels; the PNG holds twice as many for sharp screens
DPI = 100
SHARPNESS = 2

STYLE = {
    # The Chinese font comes first: with DejaVu first, Chinese next to $...$ becomes boxes. Named
    # here, not in font.sans-serif: of a generic family matplotlib takes the first font alone, and
    # what that lacks (subscripts, U+22C5) becomes boxes, too.
    "font.family": [FONT_FAMILY, "DejaVu Sans"],
    "font.size": 11,
    "axes.unicode_minus": True,  # the shipped font has U+2212; a test draws it
    "mathtext.fontset": "dejavusans",
    "axes.labelsize": 11,
    "legend.fontsize": 11,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "figure.facecolor": FACE,
    "axes.facecolor": FACE,
    "savefig.facecolor": FACE,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": QUIET,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E3E3DE",
    "grid.linewidth": 0.8,
    "lines.linewidth": 2,
    "lines.markersize": 6,
    "legend.frameon": False,
    "legend.handlelength": 3,
    "figure.constrained_layout.w_pad": 0.1,  # inches: room around the text on a dark page
    "figure.constrained_layout.h_pad": 0.1,
    "axes.prop_cycle": (cycler(color=PALETTE) + cycler(linestyle=LINE_STYLES)
                        + cycler(marker=MARKERS)),
}

if FONT_FAMILY not in fontManager.get_font_names():
    fontManager.addfont(FONT_FILE)


def in_style():
    """本包的样式，作为上下文 (context)：里面的设置与读者自己改过的无关，出来后一切照旧。

    Returns
    -------
    context : contextmanager
    """
    return matplotlib.style.context(["default", STYLE])


def styled(function):
    """让 ``function`` 在本包的样式里运行。"""
    @wraps(function)
    def wrapper(*args, **kwargs):
        with in_style():
            return function(*args, **kwargs)
    return wrapper


class NotebookFigure(Figure):
    """写在单元格最后一行就会显示的图，自带替代文字 (alternative text)。

    它不经过 pyplot，所以用不着关闭，也不会留下打开的图。

    Parameters
    ----------
    alt : str
        图里看得到的结论，读屏软件念它，笔记本的测试比较它。
    height : int
        显示的高度，单位是像素；宽度总是 700。
    """

    def __init__(self, alt, *, height):
        if not isinstance(alt, str) or len(alt.strip()) < 10:
            fail("alt", "一句话（至少 10 个字），说出图里看得到的结论", f"{alt!r}",
                 "请写上谁比谁大、差多少、从哪里开始变，而不是只写“图”。")
        self.alt = alt.strip()
        self.height = check_count("height", height, minimum=100)
        with in_style():
            super().__init__(figsize=(WIDTH / DPI, self.height / DPI), dpi=DPI,
                             layout="constrained")

    def png(self):
        """画成 PNG。

        Returns
        -------
        data : bytes
            ``1400 x (2 * height)`` 像素。

        Raises
        ------
        ValueError
            有坐标轴没有写明名字，或者文字太长，放不下。
        """
        for ax in self.axes:
            if not (ax.get_xlabel() and ax.get_ylabel()):
                fail("figure", "每个坐标轴都写明横轴和纵轴是什么的图", "没有名字的坐标轴",
                     "请在画完之后调用 label_axes(ax, xlabel=..., ylabel=...)。")
        buffer = io.BytesIO()
        # Minus signs and formulas take their settings when drawn.
        with in_style(), warnings.catch_warnings():
            warnings.filterwarnings("error", message="constrained_layout not applied")
            try:
                self.savefig(buffer, format="png", dpi=SHARPNESS * DPI)
            except UserWarning as warning:
                if "constrained_layout" not in str(warning):
                    raise
                fail("figure", "文字放得下的图", "名字太长、没有地方画数据的图",
                     "请把图例、轴名或刻度上的文字写短些。")
        # A few flat colours: an indexed PNG looks the same and is a third of the size.
        small = io.BytesIO()
        Image.open(buffer).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(
            small, format="png", optimize=True)
        return small.getvalue()

    def _repr_mimebundle_(self, include=None, exclude=None):
        # JupyterLab gives an image/png output no alternative text, an <img> keeps its own, also in
        # an untrusted notebook. The bare PNG is for viewers that refuse HTML, and for PDF export.
        png = base64.b64encode(self.png()).decode("ascii")
        image = ElementTree.Element("img", {
            "src": f"data:image/png;base64,{png}",
            "alt": self.alt,
            "width": str(WIDTH),
            "style": "max-width: 100%; height: auto;",
        })
        return {
            "text/plain": f"图：{self.alt}",
            "text/html": ElementTree.tostring(image, encoding="unicode", method="html"),
            "image/png": png,
        }, {"image/png": {"alt": self.alt, "width": WIDTH, "height": self.height}}


def new_figure(alt, *, columns=1, height=380):
    """一张新图和它的坐标轴。

    Parameters
    ----------
    alt : str
        图里看得到的结论，一句话；其中的数字应当来自刚算出的数组。
    columns : int
        并排几个坐标轴。
    height : int
        显示的高度，单位是像素；宽度总是 700。

    Returns
    -------
    figure : NotebookFigure
        写在单元格的最后一行就会显示。
    axes : matplotlib.axes.Axes, or ndarray of them, shape (columns,)
        ``columns=1`` 时是坐标轴本身。

    Raises
    ------
    ValueError
        ``alt`` 是空的或太短，或者 ``columns``、``height`` 不是合适的整数。

    Examples
    --------
    >>> figure, ax = new_figure("一条直线从 0 升到 1，斜率不变。", height=300)
    >>> figure.alt
    '一条直线从 0 升到 1，斜率不变。'
    """
    figure = NotebookFigure(alt, height=height)
    with in_style():
        return figure, figure.subplots(1, check_count("columns", columns, minimum=1))
