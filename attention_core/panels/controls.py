"""面板上的控件：滑块、下拉框、开关、输入框，都带中文名、符号和提示。

滑块的档位是挑出来的，所以 0.5 就是 0.5;``FloatLogSlider`` 会把它吸成 0.501，还只念指数。
每个控件都给 tooltip：不给的话，ipywidgets 会把标签的提示写成 ``null``。
"""

import math

import ipywidgets

from .words import MAX_TOKENS

TEMPERATURES = (
    ("0（硬）", 0.0), ("0.1", 0.1), ("0.2", 0.2), ("0.5", 0.5), ("1", 1.0), ("1.5", 1.5),
    ("2", 2.0), ("5", 5.0), ("10", 10.0), ("∞", math.inf))


def _layout(width):
    # 窗口只有 400 像素宽时，面板里只剩 284 像素：控件要能缩。
    return ipywidgets.Layout(width=f"{width}px", max_width="100%", margin="2px 16px 2px 0")


def stops(description, options, value=None, *, tooltip=None, width=340):
    """在挑好的几档里选一档的滑块。

    Parameters
    ----------
    description : str
        中文名加符号，例如 ``"维数 d_k"``。
    options : sequence
        每一档：值，或者 ``(显示的文字, 值)``。
    value : optional
        开始时的值，缺省是第一档。
    tooltip : str, optional
        鼠标停留时的说明，缺省与 description 相同。
    width : int
        像素；窗口窄时会自己缩。

    Returns
    -------
    slider : ipywidgets.SelectionSlider
    """
    extra = {} if value is None else {"value": value}
    return ipywidgets.SelectionSlider(
        options=list(options), description=description, tooltip=tooltip or description,
        style={"description_width": "initial"}, layout=_layout(width), **extra)


def temperature(value=1.0):
    """温度 T：从硬选择（0）到平均分（∞）。"""
    return stops("温度 T", TEMPERATURES, value, tooltip="温度越低越只挑最大的，越高越平均")


def d_k(value=64, *, largest=1024):
    """维数 d_k:1 到 1024，每档翻一倍。"""
    sizes = [2 ** k for k in range(largest.bit_length())]
    return stops("维数 d_k", sizes, value, tooltip="查询和键有几个数")


def token(tokens, value=0, *, description="谁在提问"):
    """在一句话里选一个词；值是它的位置（从 0 数起）。"""
    options = [(f"{i + 1} {word}", i) for i, word in enumerate(tokens)]
    return stops(description, options, value, tooltip="在这句话里选一个位置")


def choice(description, options, value=None, *, tooltip=None, width=300):
    """下拉框：options 是值，或者 ``(显示的文字, 值)``。"""
    extra = {} if value is None else {"value": value}
    return ipywidgets.Dropdown(
        options=list(options), description=description, tooltip=tooltip or description,
        style={"description_width": "initial"}, layout=_layout(width), **extra)


def toggle(description, value=False, *, tooltip=None):
    """开关。"""
    return ipywidgets.Checkbox(
        value=value, description=description, tooltip=tooltip or description, indent=False,
        layout=_layout(240))


def integer(description, value, low, high, *, step=1, tooltip=None, width=340):
    """整数滑块，从 low 到 high，两端都含。"""
    return ipywidgets.IntSlider(
        value=value, min=low, max=high, step=step, description=description,
        tooltip=tooltip or description, style={"description_width": "initial"},
        layout=_layout(width))


def _text(description, value, placeholder, tooltip, width):
    # 按回车才更新，免得拼音还没选完字就跟着跳。
    return ipywidgets.Text(
        value=value, description=description, placeholder=placeholder, tooltip=tooltip, continuous_update=False,
        style={"description_width": "initial"}, layout=_layout(width))


def sentence_field(value="", *, description="你的句子"):
    """读者自己的句子；按回车才更新。用 `split_sentence` 切成词。"""
    return _text(description, value, "写一句话，按回车",
                 f"有空格按空格切，没有就一个字一个词，最多 {MAX_TOKENS} 个；写完按回车", 420)


def label_field(description, *, longest):
    """读者自己的一个词；按回车才更新，空着就不参加。"""
    return _text(description, "", "写一个词，按回车", f"最多 {longest} 个字；写完按回车，空着就不参加", 300)
