"""第 8 节的面板：一句话传多远还听得见；三种算法各要多少时间和内存；整张表要多少格、多少字节。"""

from functools import cache

import numpy as np

from ..attention import scaled_dot_product_attention
from ..measure import fastest_seconds, peak_bytes
from ..reach import attention_reach, recurrent_reach, typical_reach
from ..recurrent import TanhRNN
from ..tiled import KEY_BLOCK, QUERY_BLOCK, tiled_attention
from . import blocks, controls
from .panel import Panel
from .view import View

__all__ = ["far_apart", "stopwatch", "table_bill"]

FARTHEST = 50
D_MODEL = 64
DISTANCES = np.arange(FARTHEST + 1)
SMALL = 0.1


@cache
def _recurrent(gain, orthogonal, small):
    """循环网络：隔几步还推得动多少，shape (FARTHEST + 1,)。"""
    return typical_reach(recurrent_reach, FARTHEST + 1, gain=gain, orthogonal=orthogonal,
                         input_std=SMALL if small else 1.0)


@cache
def _attention(temperature):
    """自注意力的同一个量，shape (FARTHEST + 1,)。"""
    return typical_reach(attention_reach, FARTHEST + 1, temperature=temperature)


def _render_far_apart(distance, gain, orthogonal, small, temperature):
    """两种网络：前面的词动一点，隔这么远还动多少。"""
    recurrent, attention = _recurrent(gain, orthogonal, small), _attention(temperature)
    ours, theirs = attention[distance], recurrent[distance]
    finding = (f"隔 {distance} 个词：循环网络走 {distance} 步，还推得动 {blocks.short_number(theirs)}；"
               f"自注意力走 1 步，{blocks.short_number(ours)}。（都没有训练过，{FARTHEST + 1} 个词）")
    return View((
        blocks.curve(DISTANCES, {"循环网络": recurrent, "自注意力": attention}, point=(distance, theirs),
                     x_label="隔几个词", y_label="还推得动多少", log_y=True, x_limits=(0, FARTHEST),
                     y_limits=(1e-12, 1e6), title="前面的词动一点，后面动多少", height=294),
        blocks.text_table(("", "循环网络", "自注意力"), [
            ("走几步", str(distance), "1"),
            ("还推得动", blocks.short_number(theirs), blocks.short_number(ours)),
            ("隔 1 个词时", blocks.short_number(recurrent[1]), blocks.short_number(attention[1])),
            (f"隔 {FARTHEST} 个词时", blocks.short_number(recurrent[-1]), blocks.short_number(attention[-1])),
        ], title="1 是原样传到（十次的中位数）"),
    ), finding)


def far_apart():
    """循环网络与自注意力：隔得越远，前面的词还推得动后面多少。"""
    return Panel(_render_far_apart, {
        "distance": controls.stops("隔几个词", [1, 2, 3, 5, 7, 8, 10, 20, 30, 40, FARTHEST], 5,
                                   tooltip="前面的词与最后一个词隔多远；「猫」到「它」是 5"),
        "gain": controls.stops("循环增益", [("0.5", 0.5), ("1", 1.0), ("1.5", 1.5), ("2", 2.0), ("3", 3.0)], 1.0,
                               tooltip="循环网络每改写一次，旧笔记先乘上它"),
        "orthogonal": controls.toggle("正交的循环矩阵", tooltip="本身不改变任何向量长短的矩阵"),
        "small": controls.toggle("输入缩小到十分之一", tooltip="让 tanh 留在几乎是直线的那一段"),
        "temperature": controls.temperature(),
    })


MEASURED_SIZES = (32, 64, 128, 256, 512, 1024, 2048)   # 再长，第一次拖到要等几秒
REPEAT = 5   # 格子里跑 12 遍；拖滑块的人等不了那么久


@cache
def _ways():
    """三种算法：收下 ``(N, D_MODEL)`` 的词向量，交出同样形状的输出；矩阵都是随机的。"""
    projections = np.random.default_rng(8).standard_normal((3, D_MODEL, D_MODEL)) / np.sqrt(D_MODEL)
    return {
        "整张表": lambda x: scaled_dot_product_attention(*(x @ projections))[0],
        "分块": lambda x: tiled_attention(*(x @ projections)),
        "循环网络": TanhRNN(D_MODEL, D_MODEL, rng=np.random.default_rng(0)),
    }


@cache
def _costs(n_words, run):
    """在这台机器上量一遍 N 个词，shape (3, 2)：每种算法的毫秒数和 MB 数。

    记住每一遍量到的：同样的设置总是同样的画面，拖回来也不用再等。量的时候别的格子正在运行，
    它占的内存也算在内，时间也变长，记住的就偏大。
    """
    x = np.random.default_rng(run).standard_normal((n_words, D_MODEL))
    return np.array([(1e3 * fastest_seconds(way, x, repeat=REPEAT), peak_bytes(way, x) / 1e6)
                     for way in _ways().values()])


def _render_stopwatch(n_words, run):
    """从最短的一档量到 N 个词：三种算法的时间和内存。"""
    sizes = [n for n in MEASURED_SIZES if n <= n_words]
    costs = np.array([_costs(n, run) for n in sizes])   # (len(sizes), 3, 2)
    texts = [[blocks.short_number(cost) for cost in way] for way in costs[-1]]
    ratios = [[f"{ratio:.1f} 倍" for ratio in way] for way in costs[-1] / costs[-2]]
    rows = [(name, ms, ms_ratio, mb, mb_ratio)
            for name, (ms, mb), (ms_ratio, mb_ratio) in zip(_ways(), texts, ratios, strict=True)]
    curves = [
        blocks.curve(sizes, dict(zip(_ways(), costs[:, :, kind].T, strict=True)), point=(n_words, costs[-1, 0, kind]),
                     x_label="句长 N", y_label=unit, log_x=True, log_y=True, y_limits=limits, title=title, height=294,
                     x_limits=(MEASURED_SIZES[0], MEASURED_SIZES[-1]),
                     label=f"{title}。{n_words} 个词：" + "，".join(
                         f"{name} {way[kind]} {unit}" for name, way in zip(_ways(), texts, strict=True)))
        for kind, (unit, limits, title) in enumerate([
            ("毫秒", (1e-2, 1e4), f"时间：{REPEAT} 遍里最快的一遍"), ("MB", (1e-2, 1e3), "内存：最多同时占多少")])]
    finding = "；".join(f"{name} {ms} 毫秒、{mb} MB" for name, ms, _, mb, _ in rows)
    return View((
        blocks.text_table(("", "毫秒", "几倍", "MB", "几倍"), rows,
                          title=f"{n_words} 个词，是 {n_words // 2} 个词的几倍"),
        *curves,
    ), f"运行这一格的机器上，{n_words} 个词，第 {run} 次量：{finding}。")


def stopwatch():
    """整张表、分块、循环网络：在读者的机器上当场量时间和内存。"""
    return Panel(_render_stopwatch, {
        "n_words": controls.stops("句长 N", MEASURED_SIZES[1:], 512, tooltip="第一次拖到一档，要等它当场量完"),
        "run": controls.integer("第几次量", 1, 1, 5,
                                tooltip="每一次都从头再量，看数会变多少；别的格子正在运行时，量到的偏大"),
    })


SIZES = tuple(2 ** k for k in range(4, 17))


def _bytes(count):
    """字节数写成文字。"""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= size:
            return f"{blocks.short_number(count / size)} {unit}"
    return f"{count} 字节"


def _tile(n_words):
    """分块计算时，同一时刻只有这么多格。"""
    return min(n_words, QUERY_BLOCK) * min(n_words, KEY_BLOCK)


def _render_table_bill(n_words, n_heads, width):
    """N 个词的整张表，和分块时的一块。"""
    cells = n_words ** 2
    whole, tile = n_heads * cells * width, _tile(n_words) * width
    sizes = np.array(SIZES)
    return View((
        blocks.text_table(("", "格子", "字节"), [
            ("一张表", f"{cells:,}", _bytes(cells * width)),
            (f"{n_heads} 个头的表", f"{n_heads * cells:,}", _bytes(whole)),
            ("句长翻倍以后", f"{4 * n_heads * cells:,}", _bytes(4 * whole)),
            ("分块时的一块", f"{_tile(n_words):,}", _bytes(tile)),
            ("循环网络的笔记", f"{D_MODEL}", _bytes(D_MODEL * width)),
        ], mark=1, title=f"{n_words} 个词"),
        blocks.curve(sizes, {"整张表": n_heads * width * sizes.astype(float) ** 2,
                             "一块": [_tile(n) * width for n in SIZES]},
                     point=(n_words, whole), x_label="句长 N", y_label="字节", log_x=True, log_y=True,
                     x_limits=(SIZES[0], SIZES[-1]), y_limits=(1e2, 1e13), title="表随句长的平方涨", height=294),
    ), f"{n_words} 个词、{n_heads} 个头：全部的表 {_bytes(whole)}，句长翻倍就是 {_bytes(4 * whole)}；"
       f"分块时同一时刻只存 {_bytes(tile)}。")


def table_bill():
    """整张表的账单：句长、头数、一个数几个字节。"""
    return Panel(_render_table_bill, {
        "n_words": controls.stops("句长 N", SIZES, 1024),
        "n_heads": controls.stops("头数 h", [1, 8, 16, 32], 8, tooltip="每个头各有一张表"),
        "width": controls.choice("一个数", [("float16：2 字节", 2), ("float32：4 字节", 4), ("float64：8 字节", 8)], 4),
    })
