import ast
import base64
import inspect
import io
import itertools
import json
import logging
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from fontTools.pens.recordingPen import RecordingPen
from fontTools.ttLib import TTCollection, TTFont
from IPython.core.formatters import DisplayFormatter
from matplotlib.colors import to_rgb
from matplotlib.font_manager import fontManager
from nbval.plugin import get_sanitize_patterns
from PIL import Image

from attention_core.figures import label_axes, lines, new_figure
from attention_core.figures.fonts import make_subset
from attention_core.figures.style import FACE, FONT_FAMILY, FONT_FILE, PALETTE, in_style
from refresh_notebooks import keep_pictures

ROOT = Path(__file__).parents[1]
ALT = "缩放之后一直在 0.3 附近，不缩放升到 0.97。"
NAMES = {"xlabel": "横轴", "ylabel": "纵轴"}


@pytest.fixture(scope="module")
def font():
    return TTFont(FONT_FILE)


@pytest.fixture(scope="module")
def dejavu():
    return TTFont(fontManager.findfont("DejaVu Sans"))


def pixels(figure):
    return np.asarray(Image.open(io.BytesIO(figure.png())).convert("RGB")).astype(int)


def drawn_text(text):
    """The picture of an axes whose y label is ``text``."""
    figure, ax = new_figure(ALT)
    lines(ax, [0, 1], {"线": [0, 1]})
    label_axes(ax, xlabel="横轴", ylabel=text)
    return pixels(figure)


# The shipped font


def test_font_has_a_name_of_its_own_and_keeps_copyright_and_licence(font):
    names = [font["name"].getDebugName(i) for i in (1, 3, 4, 6)]
    cff = font["CFF "].cff
    names += [*cff.fontNames, cff[0].FullName, cff[0].FamilyName]
    assert FONT_FAMILY in names
    for name in names:
        assert "Attention" in name
        assert not re.search("noto|source", name, re.IGNORECASE)
    assert "Adobe" in font["name"].getDebugName(0)
    assert "SIL Open Font License" in font["name"].getDebugName(13)
    licence = FONT_FILE.with_name("OFL.txt").read_text(encoding="utf-8")
    assert "Version 1.1" in licence
    assert "Copyright 2014-2021 Adobe" in licence
    assert "DISCLAIMER" in licence
    assert FONT_FILE.stat().st_size < 1_000_000


def test_font_is_registered_once():
    assert [entry.fname for entry in fontManager.ttflist if entry.name == FONT_FAMILY] == [str(FONT_FILE)]


def test_font_holds_gb2312_level_1_and_a_minus_sign(font):
    # GB 2312-80: level 1 is rows 16 to 55, 3755 characters, from 啊 to 座.
    level_1 = make_subset.gb2312_level_1()
    assert len(level_1) == 3755
    assert {"啊", "座"} <= level_1
    assert "亍" not in level_1  # the first of level 2
    assert set(map(ord, level_1)) <= font.getBestCmap().keys()
    assert {*range(0x20, 0x7F), 0x2212} <= font.getBestCmap().keys()


def test_every_chinese_character_of_the_project_is_in_the_font(font):
    texts = make_subset.project_text(ROOT)
    assert Path(make_subset.__file__) in texts
    for path, text in texts.items():
        missing = sorted(c for c in set(text) if make_subset.is_cjk(c) and ord(c) not in font.getBestCmap())
        assert not missing, f"{path.name}: 字体里没有 {missing}，请重做字体 (attention_core/figures/fonts/README.md)"


def test_characters_escaped_in_a_notebook_are_found(tmp_path):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "a.ipynb").write_text(json.dumps({"source": "龘"}), encoding="utf-8")
    assert "龘" in make_subset.wanted_characters(tmp_path)
    assert "龘" not in make_subset.wanted_characters(ROOT / "tests")


def sources_that_draw():
    """Every piece of the project's Python that makes figures."""
    for path in sorted(ROOT.glob("attention_core/figures/*.py")):
        yield path.name, path.read_text(encoding="utf-8")
    for path in sorted(ROOT.glob("notebooks/*.ipynb")):
        for n, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
            source = "".join(cell["source"])
            if cell["cell_type"] == "code" and "label_axes(" in source:
                yield f"{path.name}[{n}]", source


def strings(source):
    return [node.value for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def missing_symbols(text, font, dejavu):
    """What neither font can draw; next to a formula only the first font is asked."""
    plain = "".join(re.split(r"\$[^$]*\$", text)) if text.count("$") > 1 else text
    known = font.getBestCmap().keys() | (set() if plain != text else dejavu.getBestCmap().keys())
    return sorted(c for c in set(plain) if ord(c) not in known and c != "\n")


def test_every_symbol_in_a_figure_can_be_drawn(font, dejavu):
    assert missing_symbols("🙂", font, dejavu) == ["🙂"]
    assert missing_symbols("a₁ $b$ ₂", font, dejavu) == ["₁", "₂"]
    assert missing_symbols("a₁ ⋅ $", font, dejavu) == []
    sources = list(sources_that_draw())
    assert sources
    for name, source in sources:
        for text in strings(source):
            assert not missing_symbols(text, font, dejavu), f"{name}: {text!r}"


def test_subset_is_made_from_the_named_font_only():
    with pytest.raises(ValueError, match=f"path 应是含有 Noto Sans CJK SC .*{FONT_FAMILY}"):
        make_subset.open_source(FONT_FILE)


@pytest.fixture
def stand_in(tmp_path):
    """The original is too large to ship: the subset under the original's name stands in for it."""
    stand_in = TTFont(FONT_FILE)
    stand_in["name"].setName(make_subset.SOURCE_FAMILY, 1, 3, 1, 0x409)
    stand_in.save(tmp_path / "stand_in.otf")
    return tmp_path / "stand_in.otf"


def test_command_that_makes_the_subset(stand_in, tmp_path, monkeypatch, capsys):
    target = tmp_path / "made.otf"
    monkeypatch.setattr("sys.argv", ["make_subset", str(stand_in), "--target", str(target)])
    make_subset.main()
    n_characters = len(TTFont(target).getBestCmap())
    size = round(target.stat().st_size / 1e3)
    assert capsys.readouterr().out == f"made.otf：{n_characters} 个字符，{size} kB\n"


def test_subset_is_found_in_a_collection(stand_in, tmp_path):
    other, wanted = TTFont(FONT_FILE), TTFont(stand_in)
    collection = TTCollection()
    collection.fonts = [other, wanted]
    collection.save(tmp_path / "both.ttc")
    assert make_subset.open_source(tmp_path / "both.ttc")["name"].getDebugName(1) == make_subset.SOURCE_FAMILY


def test_making_the_subset_keeps_outlines_and_renames(stand_in, tmp_path, font):
    count = make_subset.make_subset(stand_in, tmp_path / "made.otf", tmp_path)
    made = TTFont(tmp_path / "made.otf")
    assert made["name"].getDebugName(1) == FONT_FAMILY
    wanted = {ord(c) for c in make_subset.wanted_characters(tmp_path)} & font.getBestCmap().keys()
    assert made.getBestCmap().keys() == wanted
    assert count == len(wanted)
    for character in "猫g−":
        outlines = []
        for each in (font, made):
            pen = RecordingPen()
            each.getGlyphSet()[each.getBestCmap()[ord(character)]].draw(pen)
            outlines.append(pen.value)
        assert outlines[0] == outlines[1]
        assert outlines[0]


# Rendering


@pytest.mark.parametrize("text", [
    "那只猫没过马路，因为它太累了。",
    "温度 −1 ≤ T,√N ≈ 3.3,q₁⋅k₂ → ⟨q, k⟩ 10⁻³",
    r"一个键的长度 $d_k$,$\sqrt{d_k}$,$-\infty$,$\partial w_i / \partial s_j$,$q \cdot k$",
])
def test_chinese_symbols_and_formulas_are_drawn_without_a_box(text, caplog):
    # pytest turns matplotlib's "Glyph missing" into an error; for formulas it is a log record.
    with caplog.at_level(logging.WARNING):
        drawn_text(text)
    assert not caplog.records


def test_a_missing_character_is_reported():
    with pytest.warns(UserWarning, match="missing from font"):
        drawn_text("\U00020BB7 这个字")


def test_different_characters_look_different():
    pictures = [drawn_text(character) for character in ("猫", "路", "₁", "₂", "−", "-")]
    for one, other in itertools.combinations(pictures, 2):
        assert (one != other).any()


def test_negative_ticks_have_a_true_minus_sign():
    figure, ax = new_figure(ALT)
    lines(ax, [-2, 2], {"线": [-1, 1]})
    label_axes(ax, **NAMES, xticks=[-2, 0.5])
    figure.png()
    assert [label.get_text() for label in ax.get_xticklabels()] == ["−2", "0.5"]
    with in_style():
        assert "−1.00" in [label.get_text() for label in ax.get_yticklabels()]


@pytest.mark.parametrize("height", [200, 380])
def test_png_has_the_same_size_whatever_is_in_it(height):
    for label in ("短", "一个相当长的名字" * 3):
        figure, ax = new_figure(ALT, height=height)
        lines(ax, [1, 2], {label: [1, 2], "另一条": [2, 1]})
        label_axes(ax, **NAMES)
        assert pixels(figure).shape == (2 * height, 1400, 3)


def test_png_is_opaque_and_light():
    figure, ax = new_figure(ALT)
    label_axes(ax, **NAMES)
    picture = Image.open(io.BytesIO(figure.png()))
    assert "transparency" not in picture.info
    assert picture.convert("RGB").getpixel((0, 0)) == tuple(round(255 * c) for c in to_rgb(FACE))


def test_picture_is_the_same_every_time_and_under_the_readers_own_settings():
    def draw():
        figure, ax = new_figure(ALT)
        lines(ax, [1, 2, 3], {"甲": [-1, 2, 3], "乙": [3, 2, 1]})
        label_axes(ax, **NAMES)
        return figure.png()

    first = draw()
    before = dict(matplotlib.rcParams)
    assert draw() == first
    assert dict(matplotlib.rcParams) == before
    odd = {"savefig.bbox": "tight", "figure.dpi": 50, "font.size": 30, "axes.unicode_minus": False,
           "axes.facecolor": "black", "savefig.transparent": True, "font.family": "serif"}
    with matplotlib.rc_context(odd):
        assert draw() == first


def test_no_pyplot_and_no_figures_for_the_core():
    code = """
import sys
import attention_core
assert "matplotlib" not in sys.modules
from attention_core.figures import label_axes, lines, new_figure
figure, ax = new_figure("从 0 升到 1 的一条直线。")
lines(ax, [0, 1], {"线": [0, 1]})
label_axes(ax, xlabel="横", ylabel="纵")
figure.png()
print("matplotlib" in sys.modules, "matplotlib.pyplot" in sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                         encoding="utf-8", check=False)
    assert (run.stdout, run.stderr) == ("True False\n", "")


def luminance(colour):
    # WCAG 2.2, "relative luminance".
    return linear(colour) @ [0.2126, 0.7152, 0.0722]


def linear(colour):
    c = np.array(to_rgb(colour))
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def cie_lab(rgb):
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ rgb
    f = np.cbrt(np.clip(xyz / [0.9505, 1, 1.089], 0.008856, None))
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


# Machado, Oliveira, Fernandes, "A Physiologically-based Model for Simulation of Color Vision
# Deficiency" (2009), table 1, severity 1.0.
@pytest.mark.parametrize("vision", [
    np.eye(3),
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
], ids=["common", "protan", "deutan", "tritan"])
def test_colours_stay_apart_for_every_colour_vision(vision):
    seen = [cie_lab(np.clip(np.array(vision) @ linear(colour), 0, 1)) for colour in PALETTE]
    # A difference of about 2 is just noticeable.
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 15


def test_colours_stand_out_from_the_face():
    for colour in PALETTE:
        # WCAG 2.2, 1.4.11: at least 3 : 1 for graphics.
        assert (luminance(FACE) + 0.05) / (luminance(colour) + 0.05) >= 3


# In a notebook


class Images(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.found = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def notebook_output(alt=ALT, top=1.0):
    figure, ax = new_figure(alt)
    lines(ax, [0, 1], {"线": [0, top]})
    label_axes(ax, **NAMES)
    return DisplayFormatter().format(figure)


def test_a_figure_shows_as_an_image_that_states_its_finding():
    alt = '猫的权重 <0.81> 比 "书里" & 表里的 0.55 大'
    data, metadata = notebook_output(alt)
    assert data["text/plain"] == f"图：{alt}"
    [(tag, image)] = Images(data["text/html"]).found
    assert tag == "img"
    assert image["alt"] == alt
    assert image["width"] == "700"
    assert image["src"] == "data:image/png;base64," + data["image/png"]
    assert Image.open(io.BytesIO(base64.b64decode(data["image/png"]))).size == (1400, 760)
    assert metadata["image/png"] == {"alt": alt, "width": 700, "height": 380}


def test_nbval_compares_the_finding_but_not_the_bytes_of_the_png(pytestconfig):
    patterns = get_sanitize_patterns(Path(pytestconfig.option.nbval_sanitize_with).read_text(encoding="utf-8"))

    def compared(data):
        html = data["text/html"]
        for regex, replacement in patterns:
            html = re.sub(regex, replacement, html)
        return html

    one, other = notebook_output()[0], notebook_output(top=0.5)[0]
    assert one["text/html"] != other["text/html"]
    assert compared(one) == compared(other)
    assert compared(one) != compared(notebook_output(ALT + "?")[0])


def test_refreshing_keeps_the_old_bytes_of_a_png_in_both_places():
    data = notebook_output()[0]
    same = io.BytesIO()
    Image.open(io.BytesIO(base64.b64decode(data["image/png"]))).save(same, format="png", compress_level=1)
    old_png = base64.b64encode(same.getvalue()).decode()
    old_html = data["text/html"].replace(data["image/png"], old_png)
    assert old_png != data["image/png"]

    def notebook(data):
        output = SimpleNamespace(data=data, get=lambda key, default: data)
        cell = SimpleNamespace(id="a", get=lambda key, default: [output])
        return SimpleNamespace(cells=[cell])

    new = dict(data)
    keep_pictures(notebook({"image/png": old_png, "text/html": old_html}), notebook(new))
    assert new["image/png"] == old_png
    assert new["text/html"] == old_html


# The charts hold the data


def test_lines_hold_exactly_the_data():
    _, ax = new_figure(ALT)
    x = [1, 2, 4, 8]
    drawn = lines(ax, x, {"甲": [3, 1, 2, 5], "乙": np.array([0.5, 0.25, 0.125, 0.0625], dtype=np.float32)})
    label_axes(ax, **NAMES)
    assert ax.get_lines() == drawn
    np.testing.assert_array_equal(drawn[0].get_xydata(), [[1, 3], [2, 1], [4, 2], [8, 5]])
    np.testing.assert_array_equal(drawn[1].get_ydata(), [0.5, 0.25, 0.125, 0.0625])
    assert [line.get_label() for line in drawn] == ["甲", "乙"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("横轴", "纵轴")


def test_five_series_differ_in_colour_line_and_marker_across_calls():
    _, ax = new_figure(ALT)
    drawn = lines(ax, [1, 2], {"甲": [1, 2], "乙": [2, 3]})
    drawn += lines(ax, [1, 2], {"丙": [3, 4]})
    drawn += lines(ax, [1, 2], {"丁": [5, 6], "戊": [6, 7]})
    # get_linestyle() answers "--" for every pattern of one's own.
    dashes = [str(line._unscaled_dash_pattern) for line in drawn]
    for values in ([line.get_color() for line in drawn], dashes, [line.get_marker() for line in drawn]):
        assert len(set(values)) == 5


# Naming the axes


def test_legend_follows_the_ends_of_the_lines():
    _, ax = new_figure(ALT)
    lines(ax, [1, 2], {"低": [9, 1], "高": [0, 8], "中": [5, 4]})
    label_axes(ax, **NAMES)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["高", "中", "低"]


def test_legends_of_axes_side_by_side_stand_above():
    figure, axes = new_figure(ALT, columns=2)
    for ax in axes:
        lines(ax, [1, 2], {"低": [9, 1], "高": [0, 8]})
        label_axes(ax, **NAMES)
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["低", "高"]
    figure.png()
    widths = [ax.get_position().width for ax in axes]
    assert min(widths) > 0.35
    for ax in axes:
        assert ax.get_legend().get_window_extent().y0 >= ax.get_window_extent().y1


def test_a_single_series_needs_no_legend():
    _, ax = new_figure(ALT)
    lines(ax, [1, 2], {"一条": [1, 2]})
    label_axes(ax, **NAMES)
    assert ax.get_legend() is None


def test_log_axes_with_plain_ticks():
    figure, ax = new_figure(ALT)
    lines(ax, [1, 2, 1024], {"线": [1, 1e-3, 1e-6]})
    label_axes(ax, **NAMES, xscale="log", yscale="log", xticks=[1, 32, 1024])
    figure.png()
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "32", "1024"]
    assert not ax.get_xticklabels(minor=True)


@pytest.mark.parametrize("function", [label_axes, lines, new_figure], ids=lambda function: function.__name__)
def test_every_argument_is_used_by_some_notebook(function):
    parameters = inspect.signature(function).parameters
    used = set()
    for _, source in sources_that_draw():
        for call in ast.walk(ast.parse(source)):
            if isinstance(call, ast.Call) and getattr(call.func, "id", None) == function.__name__:
                used |= {*list(parameters)[:len(call.args)], *(keyword.arg for keyword in call.keywords)}
    assert used == set(parameters)


# What is refused, and how


def on_axes(function, *args, **kwargs):
    return lambda: function(new_figure(ALT)[1], *args, **kwargs)


def unnamed():
    new_figure(ALT)[0].png()


def labelled(series, **kwargs):
    figure, ax = new_figure(ALT)
    lines(ax, [0, 1], series)
    label_axes(ax, **{**NAMES, **kwargs})
    return figure


def six_in_two_calls():
    _, ax = new_figure(ALT)
    for names in ("甲乙丙", "丁戊己"):
        lines(ax, [1], {name: [1] for name in names})


@pytest.mark.parametrize(("call", "message"), [
    (lambda: new_figure(""), "alt 应为.*结论"),
    (lambda: new_figure("   图    "), "alt 应为.*至少 10 个字"),
    (lambda: new_figure(None), "alt 应为.*None"),
    (lambda: new_figure(ALT, height=50), "height 应为不小于 100 的整数.* 50"),
    (lambda: new_figure(ALT, height=300.5), "height 应为.*300.5"),
    (lambda: new_figure(ALT, columns=0), "columns 应为.* 0"),
    (lambda: labelled({"很长的名字" * 20: [1, 2], "短": [2, 1]}).png(), "figure 应为文字放得下的图.*写短"),
    (unnamed, "figure 应为每个坐标轴都写明.*label_axes"),
    (on_axes(lines, [1, 2], {"线": [1, 2, 3]}), r"线 应为形状 \(2,\) 的数组.*\(3,\)"),
    (on_axes(lines, [1, 2], {"线": [[1, 2]]}), r"线 应为形状 \(2,\) 的数组.*\(1, 2\)"),
    (on_axes(lines, [1, 2], {"线": [1, np.nan]}), "线 应为全是有限数.*NaN"),
    (on_axes(lines, [1, np.inf], {"线": [1, 2]}), "x 应为全是有限数"),
    (on_axes(lines, [], {"线": []}), r"x 应为至少有一个数的数组.*\(0,\)"),
    (on_axes(lines, [[1, 2]], {"线": [1, 2]}), r"x 应为至少有一个数的数组.*\(1, 2\)"),
    (on_axes(lines, ["一"], {"线": [1]}), "x 应为数字数组"),
    (on_axes(lines, [1, 2], {}), "series 应为至少有一项的字典"),
    (on_axes(lines, [1, 2], [1, 2]), "series 应为.*字典.*list"),
    (on_axes(lines, [1, 2], {"_线": [1, 2]}), "series 应为.*'_线'"),
    (on_axes(lines, [1, 2], {" ": [1, 2]}), "series 应为以非空的名字"),
    (six_in_two_calls, "series 应为.*不超过 5 组数据.* 6 组"),
    (on_axes(label_axes, xlabel="", ylabel="纵"), "xlabel 应为非空的文字"),
    (on_axes(label_axes, xlabel="横", ylabel=None), "ylabel 应为非空的文字"),
    (on_axes(label_axes, **NAMES, xscale="log2"), "xscale 应为.*log2"),
    (on_axes(label_axes, **NAMES, xticks=[np.nan]), "xticks 应为全是有限数"),
    (lambda: labelled({"线": [1, 2]}, xscale="log"), "线 应为对数轴上全部大于 0 .*xscale.*最小值 0"),
    (lambda: labelled({"线": [1, -2]}, yscale="log"), "线 应为对数轴上全部大于 0 .*yscale.*最小值 -2"),
])
def test_mistakes_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
