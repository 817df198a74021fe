"""画图用的积木：数组进，一张 SVG（一个 ``xml.etree.ElementTree.Element``）出。

每块积木都是纯函数，不碰任何控件。公用的约定：

- 宽度固定为 ``width``（缺省 320 像素）。笔记本在 400 像素宽的窗口里只剩 284 像素可用，
  图会按比例缩小；最小的字是 13 像素，缩小以后还有 11.5 像素（只有挤的格子里的数再小一号）。
- ``title`` 是图上方的小标题；``label`` 是读屏软件念的替代文字，说出图里的结论，
  缺省由积木自己从数据里得出。
- ``mask`` 与数值部分一致：布尔数组，True 表示可以看。看不到的格子画斜线，不只靠颜色区分。
- 读者输入的文字由元素树转义。
"""

import functools
import math
import numbers
import unicodedata
from xml.etree import ElementTree

import numpy as np

from .._arrays import broadcast, fail, to_array, to_float
from .palette import BLACK_TEXT_FROM

WIDTH = 320
MARGIN = 8
FONT = 13
TITLE_HEIGHT = 26
ROW = 24
CROWD = 3   # 比这还多的并列，不一一点名


# ---------------------------------------------------------------- 公用的小零件

def clean(text):
    """去掉 XML 里不许出现的字符（控制字符、半个代理对），换成替代符号。"""
    text = str(text)
    if text.isprintable():  # 绝大多数文字走这里，快
        return text
    return "".join(c if c in "\t\n" or (ord(c) >= 32 and unicodedata.category(c) not in ("Cc", "Cs")
                                        and ord(c) & 0xFFFE != 0xFFFE) else "\ufffd"
                   for c in text)


def number(value, digits=2):
    """把一个数写成图上的文字：固定小数位，没有负零，无穷写成 ∞。"""
    value = float(value)
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:z.{digits}f}"


@functools.lru_cache(maxsize=4096)
def text_width(text, size=FONT):
    """估计文字的宽度（像素）：汉字一个字宽，小数点和减号约三分之一，其余约 0.62。"""
    return size * sum(1.0 if unicodedata.east_asian_width(c) in "WF" else 0.36 if c in ".-" else 0.62
                      for c in text)


def shorten(text, room, size=FONT):
    """文字比 ``room`` 像素宽时截短，末尾加省略号。"""
    text = clean(text)
    if text_width(text, size) <= room:
        return text
    while text and text_width(text + "…", size) > room:
        text = text[:-1]
    return text + "…"


def leaders(values):
    """最大的数在哪些位置；相差不到 1e-12 的算并列。

    Parameters
    ----------
    values : array_like, shape (n,)
        至少一个数，没有 NaN。

    Returns
    -------
    places : ndarray of int
        从前到后。

    Examples
    --------
    >>> leaders([0.4, 0.2, 0.1 + 0.3])
    array([0, 2])
    """
    values = np.asarray(values)
    return np.flatnonzero(values >= values.max() - 1e-12)


def telling(best, others):
    """最大的数写成文字：两位小数与别的分不开时多写几位，最多六位；六位还分不开，就仍旧写两位。

    Examples
    --------
    >>> telling(0.81, [0.19]), telling(0.2908, [0.2906, 0.1]), telling(0.5 + 1e-9, [0.5])
    ('0.81', '0.2908', '0.50')
    """
    second = np.max(others, initial=-math.inf)
    shown = (number(best, digits) for digits in range(2, 7) if number(best, digits) != number(second, digits))
    return next(shown, number(best))


def most(names, values, *, one="{who}最多：{share}", tied="{who}一样多：各 {share}",
         alike="每一样都一样多：各 {share}", crowd=None, nothing="都{nearly}是 0", quotes="“”"):
    """说出最大的是哪一样；并列时不替它们排名次。

    Parameters
    ----------
    names : sequence of str, length n
        至少一个。
    values : array_like, shape (n,)
        没有 NaN。最大的数写两位小数，与第二名分不开时多写几位，见 `telling`。
    one, tied : str
        只有一个最大、有几个并列时怎样说；里面可以有 ``{who}``（谁）、``{n}``（几个）和
        ``{share}``（多少）。
    alike : str or None
        全部并列时怎样说；None 时不另说，与部分并列一样。
    crowd : str, optional
        多于三个并列（又不是全部）时怎样说，缺省与 tied 相同。
    nothing : str
        每个数写出来都是 0.00 时怎样说；``{nearly}`` 是“几乎”，恰好都是 0 时是空的。
    quotes : sequence of str
        名字左边和右边的引号，当中可以写上隔开名字的标点，例如 ``"「、」"``；至少两项，
        不要引号时写成 ``("", "、", "")``。

    Returns
    -------
    text : str

    Examples
    --------
    >>> most(["动物", "地点"], [0.7, 0.3])
    '“动物”最多：0.70'
    >>> most(["动物", "地点", "状态"], [0.4, 0.2, 0.4])
    '“动物”“状态”一样多：各 0.40'
    >>> most(["动物", "地点"], [0.5, 0.5])
    '每一样都一样多：各 0.50'
    >>> most(["猫", "它", "了"], [0.4, 0.4, 0.2], tied="最看{who}，各 {share}", quotes="「、」")
    '最看「猫」、「它」，各 0.40'
    >>> most(["动物", "地点"], [0.2908, 0.2906])
    '“动物”最多：0.2908'
    >>> most(["动物", "地点"], [0.001, 0.0])
    '都几乎是 0'
    """
    names = [str(name) for name in names]
    values = _row("values", values, len(names))
    if not names or np.isnan(values).any():
        fail("values", "至少一个数，没有 NaN", "含有 NaN 的数组" if names else "空的", "请先去掉不参加的。")
    if len(quotes) < 2:
        fail("quotes", "左引号和右引号", f"{quotes!r}", "例如“”或「、」，当中是隔开名字的标点。")
    if number(values.max()) == number(values.min()) == "0.00":
        return nothing.format(nearly="几乎" if values.any() else "")
    best = leaders(values)
    if len(best) == 1:
        say = one
    elif len(best) == len(values) and alike is not None:
        say = alike
    else:
        say = crowd if crowd is not None and len(best) > CROWD else tied
    opening, *between, closing = quotes
    who = "".join(between).join(f"{opening}{names[i]}{closing}" for i in best)
    return say.format(who=who, n=len(best), share=telling(values[best[0]], np.delete(values, best)))


def _format(x):
    return f"{x:.1f}".removesuffix(".0")


def _add(parent, tag, css=None, **attributes):
    if css:
        attributes["class"] = css
    return ElementTree.SubElement(parent, tag, {
        name.replace("_", "-"): _format(value) if isinstance(value, (int, float)) else str(value)
        for name, value in attributes.items()})


def _write(parent, x, y, text, css=None, anchor="start", **attributes):
    """在 (x, y) 写字，y 是文字的竖直中心。"""
    if anchor != "start":
        attributes["text_anchor"] = anchor
    element = _add(parent, "text", css, x=x, y=y + 0.36 * FONT, **attributes)
    element.text = clean(text)
    return element


def _canvas(kind, height, label, title, width=WIDTH):
    if title and title not in label:   # 读屏软件只念替代文字，画上去的标题它看不见
        label = f"{title}。{label}"
    svg = ElementTree.Element("svg", {
        "xmlns": "http://www.w3.org/2000/svg", "class": "ac-svg", "data-block": kind,
        "role": "img", "aria-label": clean(label),
        "width": _format(width), "height": _format(height),
        "viewBox": f"0 0 {_format(width)} {_format(height)}"})
    _add(svg, "rect", "ac-ground", width=width, height=height, rx=4)
    if title:
        _write(svg, MARGIN, TITLE_HEIGHT / 2 + 1, shorten(title, width - 2 * MARGIN, 14),
               "ac-title")
    return svg


def _top(title):
    return TITLE_HEIGHT if title else MARGIN


def _hatch(x, y, w, h):
    """一个格子里的斜线。不用 <pattern>：它要 id，一页里有几张图时 id 会互相打架。"""
    step, lines = 6, []
    for offset in range(step, int(w + h), step):
        x0, y0 = (x + offset, y) if offset < w else (x + w, y + offset - w)
        x1, y1 = (x, y + offset) if offset < h else (x + offset - h, y + h)
        lines.append(f"M{_format(x0)} {_format(y0)}L{_format(x1)} {_format(y1)}")
    return "".join(lines)


def _paint(parent, x, y, w, h, fraction):
    """画一个上色的格子，返回格子里的字该用的 CSS 类。fraction 在 -1 与 1 之间。"""
    sign = "negative" if fraction < 0 else "positive"
    percent = round(100 * min(abs(fraction), 1.0))
    _add(parent, "rect", f"ac-cell ac-{sign}", x=x, y=y, width=w, height=h, style=f"--w:{percent}%")
    return "ac-black" if percent >= BLACK_TEXT_FROM[sign] else None


def _fraction(value, limit):
    """数值占 limit 的几分之几；无穷算满格，limit 为 0 时算空格。"""
    if math.isnan(value) or limit == 0:
        return 0.0
    return float(np.clip(value / limit, -1, 1))


def _limit(values):
    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max(initial=0.0))


def _row(name, values, n):
    """n 个数；与 figures 里的不同，NaN 和无穷大都有画法。"""
    values = to_float(name, values)
    if values.shape != (n,):
        fail(name, f"长 {n} 的一维数组", f"形状 {values.shape}", "要一一对应。")
    return values


def _texts(name, texts, n):
    """n 段文字。"""
    texts = [str(text) for text in texts]
    if len(texts) != n:
        fail(name, f"{n} 项", f"{len(texts)} 项", "要一一对应。")
    return texts


def _place(name, i, n):
    """检查 ``i`` 是 n 个位置里的一个，或者 None。"""
    if i is not None and (not isinstance(i, numbers.Integral) or isinstance(i, bool) or not 0 <= i < n):
        fail(name, f"小于 {n} 的位置（整数，从 0 数起）", f"{i!r}", "一个也不标时写 None。")


def _open(mask, shape):
    """把 mask 变成布尔数组，缺省处处可看。"""
    if mask is None:
        return np.ones(shape, dtype=bool)
    mask = to_array("mask", mask)
    fits = broadcast(mask.shape, shape) == shape
    if mask.dtype != bool or not fits:
        mends = ["0 和 1 请写成 mask.astype(bool)"] * (mask.dtype != bool) + ["形状要与画的数相同"] * (not fits)
        fail("mask", f"能广播到 {shape} 的布尔数组（True 表示可以看）", f"{mask.dtype} 类型、形状 {mask.shape}",
             "；".join(mends) + "。")
    return np.broadcast_to(mask, shape)


def _strongest(labels, weights, is_open):
    """“份额最大的是「猫」，0.81”；并列时全部说出来，多于三个就只说有几个。"""
    seen = is_open & ~np.isnan(weights)
    if not seen.any():
        return "没有一个位置可以看"
    return most([labels[i] for i in np.flatnonzero(seen)], weights[seen], one="份额最大的是{who}，{share}",
                tied="份额最大的是{who}，各 {share}", alike=None, crowd="最大的份额 {share}，{n} 个位置并列",
                nothing="份额都{nearly}是 0", quotes="「、」")


# ---------------------------------------------------------------- 积木

def sentence(tokens, weights=None, *, query=None, verb="问", mask=None, title=None, label=None, digits=2,
             width=WIDTH):
    """一句话，每个词的底色是它分到的权重，权重写在词下面。

    Parameters
    ----------
    tokens : sequence of str, length S
    weights : array_like, shape (S,), optional
        softmax 之后的权重。不给就只排词；NaN 表示这个词不参加，不写数。
    query : int, optional
        谁在提问：这个词加粗框，上面标 ``verb``。
    verb : str
        这个词在做什么；不是在问的时候（例如读到这里），自己给 ``label``。
    mask : array_like of bool, shape (S,), optional
        True 表示可以看；看不到的词画斜线。
    title, label : str, optional
    digits : int
        权重写几位小数。
    width : int

    Returns
    -------
    svg : Element

    Examples
    --------
    >>> svg = sentence(["那", "只", "猫"], [0.1, 0.1, 0.8], query=0)
    >>> svg.get("aria-label")
    '「那」在提问：份额最大的是「猫」，0.80'
    """
    tokens = [str(token) for token in tokens]
    is_open = _open(mask, (len(tokens),))
    _place("query", query, len(tokens))
    if weights is not None:
        weights = _row("weights", weights, len(tokens))
    if label is None:
        who = f"「{tokens[query]}」在提问：" if query is not None else ""
        label = who + (_strongest(tokens, weights, is_open) if weights is not None
                       else " ".join(tokens))

    # 先排版：一行放不下就换行。
    words = [shorten(token, 76, 15) for token in tokens]
    sizes = [max(text_width(word, 15) + 10, 0 if weights is None else 34) for word in words]
    places, x, line = [], MARGIN, 0
    for size in sizes:
        if x + size > width - MARGIN and x > MARGIN:
            x, line = MARGIN, line + 1
        places.append((x, line))
        x += size + 2
    above = 18 if query is not None else 4
    pitch = above + 28 + (0 if weights is None else 22)
    top = _top(title)
    svg = _canvas("sentence", top + pitch * (line + 1) + 4, label, title, width)
    shut = []
    for i, ((x, line), size) in enumerate(zip(places, sizes, strict=True)):
        y = top + pitch * line + above
        fraction = 0.0 if weights is None or not is_open[i] else _fraction(weights[i], 1.0)
        css = _paint(svg, x, y, size, 28, fraction)
        if not is_open[i]:
            shut.append(_hatch(x, y, size, 28))
        _write(svg, x + size / 2, y + 14, words[i], css, "middle", font_size=15)
        if weights is not None and not np.isnan(weights[i]):
            _write(svg, x + size / 2, y + 38, number(weights[i], digits), None, "middle")
        if i == query:
            _add(svg, "rect", "ac-ask", x=x + 1, y=y + 1, width=size - 2, height=26)
            _write(svg, x + size / 2, y - 9, f"{verb}▾", "ac-strong", "middle")
    if shut:
        _add(svg, "path", "ac-shut", d="".join(shut))
    return svg


def bars(labels, columns, *, mask=None, mark=None, limits=None, title=None, label=None, digits=2,
         width=WIDTH):
    """一行一个词，一列一种量（分数、权重……），数写成文字，旁边是横条。

    Parameters
    ----------
    labels : sequence of str, length S
    columns : dict of str to sequence of length S
        列名到一列数。一列里也可以是文字（例如书里印的“0.02–0.04”），那样就只写字不画条。
    mask : array_like of bool, shape (S,), optional
        True 表示可以看；看不到的行画斜线。
    mark : int, optional
        加粗的一行。
    limits : dict of str to float, optional
        每列满格的数。缺省是 1（这一列都在 0 与 1 之间）或这一列里最大的绝对值；
        滑块动的时候不想让条的比例跟着变，就写死它。超过满格的条画一个断口。
    title, label : str, optional
    digits : int
    width : int

    Returns
    -------
    svg : Element

    Examples
    --------
    >>> svg = bars(["猫", "马路"], {"分数": [4.2, 1.1], "权重": [0.96, 0.04]})
    >>> svg.get("aria-label")
    '分数：「猫」4.20，「马路」1.10；权重：「猫」0.96，「马路」0.04'
    """
    labels = [str(name) for name in labels]
    is_open = _open(mask, (len(labels),))
    _place("mark", mark, len(labels))
    limits = limits or {}
    texts, lengths = {}, {}
    for name, values in columns.items():
        column = f"columns 的「{name}」"
        if any(isinstance(value, str) for value in values):
            texts[name] = _texts(column, values, len(labels))
        else:
            lengths[name] = _row(column, values, len(labels))
            texts[name] = [number(value, digits) for value in values]
    if label is None:
        label = "；".join(
            f"{name}：" + "，".join(f"「{who}」{text}" for who, text in zip(labels, column, strict=True))
            for name, column in texts.items())

    top = _top(title)
    svg = _canvas("bars", top + ROW * (len(labels) + 1) + 4, label, title, width)
    names_width = min(max((text_width(name) for name in labels), default=0), 64) + 8
    start = MARGIN + names_width
    column_width = (width - MARGIN - start) / max(len(columns), 1)
    shut, cuts = [], []
    for i, name in enumerate(labels):
        y = top + ROW * (i + 1)
        css = "ac-strong" if i == mark else None
        _write(svg, MARGIN, y + ROW / 2, shorten(name, names_width), css)
        if not is_open[i]:
            shut.append(_hatch(start, y + 2, width - MARGIN - start, ROW - 4))
    for c, name in enumerate(columns):
        x = start + c * column_width
        _write(svg, x, top + ROW / 2, shorten(name, column_width - 4), "ac-strong")
        room = max((text_width(text) for text in texts[name]), default=0) + 5
        values = lengths.get(name)
        if values is not None:
            limit = limits.get(name) or (1.0 if _limit(values) <= 1 and np.all(values >= 0)
                                         else _limit(values))
            zero, length = _bar_axis(values, x + room, column_width - room - 8)
        for i, text in enumerate(texts[name]):
            y = top + ROW * (i + 1)
            if values is not None and is_open[i] and np.isfinite(values[i]):
                reach = length * _fraction(values[i], limit)
                _add(svg, "rect", "ac-bar-negative" if reach < 0 else "ac-bar-positive",
                     x=zero + min(reach, 0), y=y + 5, width=abs(reach), height=ROW - 10)
                if abs(values[i]) > limit * (1 + 1e-9):
                    cuts.append(_cut(zero + reach * (1 - 7 / length), y + 5, ROW - 10))
            _write(svg, x, y + ROW / 2, text, "ac-strong" if i == mark else None)
        if values is not None:
            _add(svg, "path", "ac-faint", d=f"M{_format(zero)} {_format(top + ROW + 2)}"
                                            f"v{_format(ROW * len(labels) - 4)}")
    if shut:
        _add(svg, "path", "ac-shut", d="".join(shut))
    if cuts:
        _add(svg, "path", "ac-cut", d="".join(cuts))
    return svg


def _cut(x, y, height):
    """横条上的断口：这个数超过了满格，画不下。"""
    return "".join(f"M{_format(x + shift)} {_format(y + height + 1)}l4 {_format(-height - 2)}" for shift in (-4, 1))


def _bar_axis(values, x, room):
    """零点的位置与满格的长度：有负数时零点在中间。"""
    if np.any(values[np.isfinite(values)] < 0):
        return x + room / 2, room / 2
    return x, room


def table(values, rows=None, columns=None, *, mask=None, query=None, diagonal=False, signed=False,
          limit=None, title=None, label=None, digits=2, width=WIDTH):
    """L × S 的表：每行一个查询，每列一个键；格子的颜色深浅是数的大小，放得下时写上数。

    Parameters
    ----------
    values : array_like, shape (L, S)
        权重（缺省）或分数（``signed=True``：蓝正橙负）。
    rows, columns : sequence of str, optional
        行（查询）与列（键）的名字；不给 columns 时与 rows 相同。
    mask : array_like of bool, optional
        能广播到 (L, S);False 的格子画斜线。
    query : int, optional
        用粗框圈出的一行。
    diagonal : bool
        对角线上的格子加框（自己看自己）。
    signed : bool
    limit : float, optional
        满格的数；缺省权重是 1，分数是最大的绝对值。
    title, label : str, optional
    digits : int
    width : int
        320 放得下 11 列带数的格子；一排小表用 200。

    Returns
    -------
    svg : Element

    Examples
    --------
    >>> svg = table([[1, 0], [0.5, 0.5]], ["那", "只"], mask=[[True, False], [True, True]])
    >>> svg.get("aria-label")
    '2 行 2 列的表，关掉 1 格。「那」：份额最大的是「那」，1.00；「只」：份额最大的是「那」、「只」，各 0.50'
    """
    values = to_float("values", values)
    if values.ndim != 2:
        fail("values", "形状 (L, S) 的表", f"形状 {values.shape}", "多头的结果请取出一个头，或用 heads。")
    n_rows, n_columns = values.shape
    rows = _texts("rows", range(1, n_rows + 1) if rows is None else rows, n_rows)
    if columns is None:
        columns = rows if n_rows == n_columns else range(1, n_columns + 1)
    columns = _texts("columns", columns, n_columns)
    _place("query", query, n_rows)
    is_open = _open(mask, values.shape)
    if limit is None:
        limit = _limit(values[is_open]) if signed else 1.0
    if label is None:
        label = _table_label(values, rows, columns, is_open, query, signed)

    names_width = min(max((text_width(name) for name in rows), default=0), 64) + 6
    size = min((width - 2 * MARGIN - names_width) / max(n_columns, 1), 44)
    height = min(max(size, 16), ROW)
    heads_height = max((_label_height(name, size) for name in columns), default=0) + 6
    top = _top(title) + heads_height
    left = MARGIN + names_width
    # 列少的时候不占满宽度，旁边的积木可以靠过来。
    width = min(width, max(left + size * n_columns, MARGIN + text_width(title or "", 14)) + MARGIN)
    svg = _canvas("table", top + height * n_rows + MARGIN, label, title, width)
    for j, name in enumerate(columns):
        _column_label(svg, left + (j + 0.5) * size, top - 4, name, size)
    shut = []
    # 分数可能带正负号和两位整数，表里只留放得下的小数位。
    texts, room, tight = _cell_texts(values, is_open, digits, size)
    for i, name in enumerate(rows):
        y = top + height * i
        _write(svg, left - 5, y + height / 2, shorten(name, names_width),
               "ac-strong" if i == query else None, "end")
        for j in range(n_columns):
            x = left + size * j
            seen = is_open[i, j]
            css = _paint(svg, x, y, size, height, _fraction(values[i, j], limit) if seen else 0.0)
            if not seen:
                shut.append(_hatch(x, y, size, height))
            elif room:
                _write(svg, x + size / 2, y + height / 2, texts[i][j], f"{css or ''}{tight}" or None, "middle")
            else:
                _add(svg[-1], "title").text = clean(
                    f"{name} → {columns[j]}: {number(values[i, j], digits)}")
    if shut:
        _add(svg, "path", "ac-shut", d="".join(shut))
    if diagonal:
        d = "".join(f"M{_format(left + size * k + 1)} {_format(top + height * k + 1)}"
                    f"h{_format(size - 2)}v{_format(height - 2)}h{_format(2 - size)}z"
                    for k in range(min(n_rows, n_columns)))
        _add(svg, "path", "ac-line", d=d)
    if query is not None:
        _add(svg, "rect", "ac-ask", x=left, y=top + height * query, width=size * n_columns,
             height=height)
    return svg


def _table_label(values, rows, columns, is_open, query, signed):
    shut = int((~is_open).sum())
    text = f"{len(rows)} 行 {len(columns)} 列的表" + (f"，关掉 {shut} 格" if shut else "")
    if not values.size:
        return text
    if signed:
        return f"{text}。{_extremes(values, rows, columns, is_open & np.isfinite(values))}"
    picked = range(len(rows)) if query is None else [query]
    return f"{text}。" + "；".join(
        f"「{rows[i]}」：{_strongest(columns, values[i], is_open[i])}" for i in picked)


def _extremes(values, rows, columns, seen):
    """“最大的是「那」对「猫」，3.00”；有负数时也说最小的。"""
    if not seen.any():
        return "没有一格有数可看"
    pairs, values = [f"「{rows[i]}」对「{columns[j]}」" for i, j in np.argwhere(seen)], values[seen]

    def outermost(word, values, sign=""):
        return most(pairs, values, one=f"{word}的是{{who}}，{sign}{{share}}",
                    tied=f"{word}的是{{who}}，各 {sign}{{share}}", alike=None,
                    crowd=f"{word}的数 {sign}{{share}}，{{n}} 格并列", nothing="每一格都{nearly}是 0",
                    quotes=("", "、", ""))
    text = outermost("最大", values)
    has_negative = number(values.min()).startswith("-") and len(leaders(values)) < len(values)
    return text + ("，" + outermost("最小", -values, "-") if has_negative else "")


def _cell_texts(values, is_open, digits, size):
    """格子里的文字，是否放得下，和要加的样式；0.81 放不下时写成 .81，还挤就小一号。"""
    texts = [[number(value, digits) for value in row] for row in values]
    shown = [text for row, seen in zip(texts, is_open, strict=True)
             for text, s in zip(row, seen, strict=True) if s]
    if shown and max(map(text_width, shown)) > size - 2:
        texts = [[text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text
                  for text in row] for row in texts]
        texts = [["1" if text == f"{1:.{digits}f}" else text for text in row] for row in texts]
        shown = [text for row, seen in zip(texts, is_open, strict=True)
                 for text, s in zip(row, seen, strict=True) if s]
    widest = max(map(text_width, shown), default=0)
    return texts, widest <= size, " ac-tight" if widest > size - 3 else ""


def _stacked(name):
    return any(unicodedata.east_asian_width(c) in "WF" for c in name)


def _label_height(name, size):
    name = clean(name)
    if text_width(name) <= size - 3:
        return FONT
    return min(len(name), 4) * FONT if _stacked(name) else min(text_width(name), 52)


def _column_label(svg, x, bottom, name, size):
    """列名：横着放得下就横着；汉字竖着叠起来，字母转九十度。"""
    if text_width(clean(name)) <= size - 3:
        _write(svg, x, bottom - FONT / 2, name, None, "middle")
    elif _stacked(name):
        name = clean(name) if len(name) <= 4 else clean(name)[:3] + "…"
        for k, character in enumerate(reversed(name)):
            _write(svg, x, bottom - FONT * (k + 0.5), character, None, "middle")
    else:
        _write(svg, x, bottom, shorten(name, 52),
               transform=f"rotate(-90 {_format(x)} {_format(bottom)})")


def heads(weights, rows=None, columns=None, *, names=None, mask=None, query=None, diagonal=False,
          digits=2, width=200):
    """一排小表，一个头一张；窗口窄时自己换行。

    Parameters
    ----------
    weights : array_like, shape (h, L, S)
    rows, columns : sequence of str, optional
    names : sequence of str, length h, optional
        每个头的小标题，缺省是“第 1 个头”……
    mask, query, diagonal, digits, width
        同 `table`。

    Returns
    -------
    svgs : list of Element
        可以直接放进 `View` 的积木列表里。
    """
    weights = to_float("weights", weights)
    if weights.ndim != 3:
        fail("weights", "形状 (h, L, S) 的数组", f"形状 {weights.shape}", "只有一个头时用 table。")
    names = _texts("names", [f"第 {i + 1} 个头" for i in range(len(weights))] if names is None else names, len(weights))
    return [table(one, rows, columns, mask=mask, query=query, diagonal=diagonal, title=name,
                  digits=digits, width=width)
            for name, one in zip(names, weights, strict=True)]


def vectors(values, rows=None, columns=None, *, mark=None, limit=None, title=None, label=None,
            digits=2, width=WIDTH):
    """几个向量，一行一个：有正负的彩色格子（蓝正橙负），格子里是数。

    Parameters
    ----------
    values : array_like, shape (n, d)
    rows, columns : sequence of str, optional
        向量的名字，各维的名字。
    mark : int, optional
        用粗框圈出的一行，例如混出来的新向量。
    limit : float, optional
        满格的数，缺省是最大的绝对值。
    title, label : str, optional
    digits : int
    width : int
        320 放得下 8 维带数的格子；维数更多时只留颜色，数在鼠标停留的提示里。

    Returns
    -------
    svg : Element

    Examples
    --------
    >>> vectors([[1, -0.5]], ["猫"], ["动物", "地点"]).get("aria-label")
    '「猫」：动物 1.00，地点 -0.50'
    """
    values = to_float("values", values)
    if values.ndim != 2:
        fail("values", "形状 (n, d) 的数组", f"形状 {values.shape}", "只有一个向量时写成 values[None, :]。")
    n, d = values.shape
    rows = _texts("rows", range(1, n + 1) if rows is None else rows, n)
    columns = _texts("columns", range(1, d + 1) if columns is None else columns, d)
    _place("mark", mark, n)
    if label is None:
        label = "；".join(f"「{rows[i]}」：" + "，".join(
            f"{columns[j]} {number(values[i, j], digits)}" for j in range(d))
            for i in (range(n) if mark is None else [mark]))
    svg = table(values, rows, columns, query=mark, signed=True, limit=limit, title=title,
                label=label, digits=digits, width=width)
    svg.set("data-block", "vectors")
    return svg


def curve(x, series, *, point=None, x_label="", y_label="", log_x=False, log_y=False,
          x_limits=None, y_limits=None, title=None, label=None, width=WIDTH, height=220):
    """一条或几条曲线，加一个随滑块移动的点；有刻度和轴名。

    Parameters
    ----------
    x : array_like, shape (n,)
    series : array_like, shape (n,), or dict of str to array_like
        一条曲线，或者名字到曲线（最多三条，线型各不相同）。
    point : tuple of float, optional
        (x, y)，当前设置所在的点，旁边写上 y。
    x_label, y_label : str
    log_x, log_y : bool
        对数轴；不是正数的点不画。
    x_limits, y_limits : tuple of float, optional
        轴的范围，缺省由曲线得出。
    title, label : str, optional
    width, height : int

    Returns
    -------
    svg : Element
    """
    x = to_float("x", x)
    if x.ndim != 1:
        fail("x", "一维数组", f"形状 {x.shape}", "一串数写成 [1, 2, 3]。")
    if not isinstance(series, dict):
        series = {"": series}
    if len(series) > 3:
        fail("series", "最多三条曲线", f"{len(series)} 条", "再多就分不清了，请分成两张图。")
    series = {name: _row(f"series 的「{name}」", y, len(x)) for name, y in series.items()}
    if label is None:
        label = title or y_label
        if point is not None:
            label += f"：{x_label} {short_number(point[0])} 时，{y_label} {short_number(point[1])}"

    top, left, bottom, right = _top(title) + 20, 52, height - 40, width - MARGIN - 8
    legend = [name for name in series if name]
    across = _Axis(x, log_x, "x_limits", x_limits, left, right)
    # 没有图例时也要空一点，最上面的刻度才不压着纵轴的名字。
    up = _Axis(np.concatenate([*series.values(), np.zeros(0)]), log_y, "y_limits", y_limits, bottom,
               top + (24 if legend else 8))
    svg = _canvas("curve", height, label, title, width)
    for value in across.ticks():
        place = across(value)
        _add(svg, "path", "ac-faint", d=f"M{_format(place)} {_format(bottom)}v4")
        _write(svg, place, bottom + 14, short_number(value), None, "middle")
    for value in up.ticks():
        place = up(value)
        _add(svg, "path", "ac-faint",
             d=f"M{_format(left)} {_format(place)}H{_format(right)}")
        _write(svg, left - 4, place, short_number(value), None, "end")
    _add(svg, "path", "ac-line", d=f"M{left} {_format(up.end)}V{bottom}H{_format(right)}")
    _write(svg, (left + right) / 2, height - 10, x_label, None, "middle")
    _write(svg, MARGIN, top - 8, y_label)
    for k, (name, y) in enumerate(series.items()):
        shown = across.holds(x) & up.holds(y)
        pieces, pen = [], "M"
        for place_x, place_y, ok in zip(x, y, shown, strict=True):
            if ok:
                pieces.append(f"{pen}{_format(across(place_x))} {_format(up(place_y))}")
            pen = "L" if ok else "M"
        _add(svg, "path", f"ac-curve ac-curve-{k}", d="".join(pieces) or "M0 0")
        if name:
            lane = left + 8 + k * (right - left) / len(legend)
            if not shown.any() and not y.any():
                name += "：0"   # 对数轴上没有 0 的位置
            _add(svg, "path", f"ac-curve ac-curve-{k}", d=f"M{_format(lane)} {top + 11}h18")
            _write(svg, lane + 22, top + 11, shorten(name, (right - left) / len(legend) - 30))
    if point is not None and across.holds(point[0]) and up.holds(point[1]):
        place_x, place_y = across(point[0]), up(point[1])
        _add(svg, "circle", "ac-point", cx=place_x, cy=place_y, r=5)
        far = place_x > (left + right) / 2
        _write(svg, place_x + (-9 if far else 9), max(place_y - 11, up.end + 4), short_number(point[1]),
               "ac-strong ac-halo", "end" if far else "start")
    return svg


def short_number(value):
    """把大小差得很远的数写短：三位有效数字，太大太小时写成 10 的幂。

    Examples
    --------
    >>> short_number(0.12345), short_number(2.345e-7), short_number(0.1 ** 5), short_number(1e6)
    ('0.123', '2.3×10⁻⁷', '10⁻⁵', '10⁶')
    """
    if value == 0 or math.isinf(value):
        return "0" if value == 0 else number(value)
    if 1e-3 <= abs(value) < 99999.5:
        return f"{value:.3g}" if abs(value) < 999.5 else f"{value:.0f}"   # .3g 会把 999.5 写成 1e+03
    front, power = f"{value:.1e}".split("e")   # 先舍入再取次方，9.99e-6 才写成 10⁻⁵
    front = f"{float(front):g}"
    raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}" if front == "1" else f"{front}×10{raised}"


class _Axis:
    """把数换成像素位置：线性或对数。"""

    def __init__(self, values, log, name, limits, start, end):
        self.log, self.start, self.end = log, start, end
        if limits is None:
            good = values[np.isfinite(values) & ((values > 0) | (not log))]
            low, high = (good.min(), good.max()) if good.size else (1.0, 10.0)
            if not log:
                low = min(low, 0.0)
        else:
            low, high = _row(name, limits, 2)
            if not (low <= high and np.isfinite([low, high]).all() and (low > 0 or not log)):
                fail(name, "从小到大的两个有限数" + "（对数轴上都大于 0）" * log, f"{limits}", "先写小的，再写大的。")
        if low == high:
            high = low * 10 if log else low + 1
        self.low, self.high = float(low), float(high)

    def __call__(self, value):
        low, high = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)
        at = math.log(value) if self.log else value
        return self.start + (self.end - self.start) * (at - low) / (high - low)

    def holds(self, value):
        slack = 1e-9 * (abs(self.low) + abs(self.high))
        return np.isfinite(value) & (value >= self.low - slack * (not self.log)) & (
            value <= self.high + slack) & (np.asarray(value) > 0 if self.log else True)

    def ticks(self):
        if self.log:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(
                math.log10(self.high) + 1e-9)
            step = max(1, math.ceil((last - first + 1) / 5))
            return [10.0 ** k for k in range(first, last + 1, step)] or [self.low, self.high]
        rough = (self.high - self.low) / 4
        size = 10.0 ** math.floor(math.log10(rough))
        step = next(size * k for k in (1, 2, 2.5, 5, 10) if size * k >= rough - 1e-12)
        first = math.ceil(self.low / step - 1e-9)
        return [step * k for k in range(first, math.floor(self.high / step + 1e-9) + 1)]


def text_table(header, rows, *, mark=None, title=None, label=None, width=WIDTH):
    """一张只有文字的小表，例如把几个数并排写出来。

    Parameters
    ----------
    header : sequence of str, length c
    rows : sequence of sequence of str
        每行 c 个单元格；数请先写成文字（例如用 `number`）。
    mark : int, optional
        加粗的一行。
    title, label : str, optional
    width : int

    Returns
    -------
    svg : Element
    """
    header = [str(name) for name in header]
    rows = [_texts(f"rows 的第 {i} 行", row, len(header)) for i, row in enumerate(rows, 1)]
    _place("mark", mark, len(rows))
    if label is None:
        label = "；".join("，".join(f"{name} {cell}".strip() for name, cell in zip(header, row, strict=True))
                         for row in rows)
    wanted = [max(text_width(line[c]) for line in [header, *rows]) + 10 for c in range(len(header))]
    stretch = (width - 2 * MARGIN) / max(sum(wanted), 1)
    top = _top(title)
    svg = _canvas("text_table", top + ROW * (len(rows) + 1) + 4, label, title, width)
    for i, row in enumerate([header, *rows]):
        x, y = MARGIN, top + ROW * i
        for cell, room in zip(row, wanted, strict=True):
            _write(svg, x, y + ROW / 2, shorten(cell, room * stretch - 4),
                   "ac-strong" if i == 0 or i - 1 == mark else None)
            x += room * stretch
        _add(svg, "path", "ac-faint", d=f"M{MARGIN} {_format(y + ROW)}H{_format(width - MARGIN)}")
    return svg
