"""Every panel and every building block, without a browser.

A panel is found through `attention_core.panels.PANELS`, so a new one is tested as soon as it is
listed there: each stop of each of its controls is set and what the panel shows is read back.
"""

import base64
import importlib
import inspect
import math
import re
import subprocess
import sys
import threading
from pathlib import Path
from xml.etree import ElementTree

import ipywidgets
import jupyterlab
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from traitlets import TraitError

from attention_core import book, panels
from attention_core.panels import blocks, controls, palette
from attention_core.panels import panel as panel_module
from attention_core.panels.panel import Panel
from attention_core.panels.view import View
from attention_core.panels.words import MAX_TOKENS, split_sentence

# What a reader might type: nothing, markup, quotes, emoji, right-to-left, control characters,
# half a surrogate pair, very long.
ODD_TEXTS = ["", "   ", "<script>alert(1)</script>", "\"'&<>", "猫😀 👩‍👩‍👧 مرحبا", "\x00\x0b\x1b",
             "\ud800", "\ufffe", "长" * 10_000, "a b " * 5000, "]]>", "{x} %s \\",
             "猫 " + "长" * 190, " ".join(c * 60 for c in "甲乙丙")]


@pytest.fixture(autouse=True)
def no_panel_left_open():
    yield
    for panel in panel_module.open_panels():
        panel.close()


def texts(block):
    """The words on a picture, in drawing order."""
    return [element.text for element in block.iter("text")]


def numbers(block):
    return [float(text.replace("∞", "inf").replace("−", "-")) for text in texts(block)
            if re.fullmatch(r"[-−]?(\d*\.?\d+|∞)", text)]


def cells(block):
    """(sign, percent) of each coloured cell, in drawing order."""
    return [("negative" if "ac-negative" in cell.get("class") else "positive",
             int(re.search(r"--w:(\d+)%", cell.get("style"))[1]))
            for cell in block.iter("rect") if "ac-cell" in cell.get("class", "")]


def stops(control):
    """Every value that a reader can give a control (of long integer sliders: 25 of them)."""
    if isinstance(control, ipywidgets.SelectionSlider | ipywidgets.Dropdown):
        return [value for _, value in control._options_full]
    if isinstance(control, ipywidgets.Checkbox):
        return [True, False]
    if isinstance(control, ipywidgets.IntSlider):
        values = np.arange(control.min, control.max + 1, control.step)
        return values[np.unique(np.linspace(0, len(values) - 1, 25).round().astype(int))].tolist()
    if isinstance(control, ipywidgets.Text):
        return ODD_TEXTS
    raise AssertionError(f"teach this test the stops of {type(control).__name__}")


def shown(panel):
    """What the reader's page would show: (finding, picture)."""
    return panel._finding.value, panel._picture.value


# ---------------------------------------------------------------- every panel

def test_every_section_lists_its_panels():
    folder = Path(panels.__file__).parent
    found = {}
    for path in folder.glob("section_*.py"):
        module = __import__(f"attention_core.panels.{path.stem}", fromlist=["__all__"])
        found |= dict.fromkeys(module.__all__, path.stem)
    assert found == panels.PANELS


def panel_modules():
    return [importlib.import_module(f"attention_core.panels.{path.stem}")
            for path in sorted(Path(panels.__file__).parent.glob("*.py")) if path.stem != "__init__"]


def test_a_constant_of_one_name_is_one_kind_of_thing_in_all_panels():
    kinds = {}
    for module in panel_modules():
        for name, value in vars(module).items():
            if name.isupper():
                kind = ("several", type(value[0])) if isinstance(value, tuple | list) else type(value)
                kinds.setdefault(name, {}).setdefault(kind, []).append(module.__name__)
    assert {name: found for name, found in kinds.items() if len(found) > 1} == {}
    positions = {name: found for name, found in kinds.items() if name.endswith("_AT")}
    assert len(positions) >= 5
    assert all(found.keys() == {int} for found in positions.values())


def test_no_section_needs_another_section():
    for module in panel_modules():
        assert not re.search(r"from \.section_|panels\.section_", inspect.getsource(module)), module.__name__


def test_the_example_of_a_new_panel_works():
    source = re.search(r"给了谁::\n\n((?:    .*\n|\n)+)", panels.__doc__)[1]
    namespace = {"__package__": panels.__name__}
    exec(inspect.cleandoc(source), namespace)
    panel = namespace["one_row"]()
    assert panel.view.finding == "「猫」最多：0.80。"
    assert "每一样都一样多" in panel.set(temperature=math.inf).finding
    panel.close()


@pytest.mark.parametrize("name", sorted(panels.PANELS))
def test_every_control_of_every_panel(name):
    panel = getattr(panels, name)()
    assert inspect.getdoc(getattr(panels, name))
    start, sizes = panel.view, None
    for control_name, control in panel.controls.items():
        assert control.tooltip, f"{control_name} has no tooltip"
        assert control.description, f"{control_name} has no name"
        pictures = set()
        for value in stops(control):
            control.value = value  # as the page does it, through the observer
            where = f"{name}: {control_name} = {str(value)[:30]!r}"
            assert panel.error is None, where
            fresh = panel.render(**panel.settings)
            assert shown(panel) == (fresh.finding_html(), fresh.html()), where
            pictures.add(shown(panel))
            check_view(fresh, where)
            if not isinstance(control, ipywidgets.Text):
                # The page must not jump in a drag.
                now = [(block.get("width"), block.get("height")) for block in fresh.blocks]
                assert sizes in (None, now), where
                sizes = now
        panel.reset()
        # A control that changes nothing anywhere would be a broken wire.
        assert len(pictures) > 1 or matters_beside_another(panel, control), control_name
        panel.reset()
        assert shown(panel) == (start.finding_html(), start.html())
    panel.close()


@pytest.mark.parametrize("name", sorted(panels.PANELS))
def test_long_words_beside_every_stop_of_the_other_controls(name):
    panel = getattr(panels, name)()
    start = panel.settings
    for field, control in panel.controls.items():
        if isinstance(control, ipywidgets.Text):
            for text in ODD_TEXTS[-2:]:
                for other in panel.controls.keys() - {field}:
                    for value in stops(panel.controls[other]):
                        settings = start | {field: text, other: value}
                        check_view(panel.render(**settings), f"{name}: {settings}"[:200])
    panel.close()


def matters_beside_another(panel, control):
    """Whether a control without effect at the start has one once another control is moved."""
    for other in panel.controls.values():
        for beside in stops(other):
            other.value, pictures = beside, set()
            for value in stops(control):
                control.value = value
                pictures.add(shown(panel))
            if other is not control and len(pictures) > 1:
                return True
        panel.reset()
    return False


def check_view(view, where):
    assert re.search(r"[\u4e00-\u9fff]", view.finding), where
    assert len(view.finding) <= 160, where
    assert "nan" not in view.html().lower(), where
    assert view.blocks, where
    for block in view.blocks:
        assert block.get("role") == "img", where
        # An alternative text that says something, not "picture".
        assert len(block.get("aria-label")) >= 5, where
        assert float(block.get("width")) <= blocks.WIDTH, where
        cut = [text.text for text in block.iter("text") if text.get("class") == "ac-title" and text.text.endswith("…")]
        assert not cut, where
    for image in re.findall(r"base64,([^\"]+)", view.still()):
        ElementTree.fromstring(base64.b64decode(image))


def test_three_steps_shows_the_chapters_row():
    # Expected values: exp(s) / sum(exp(s)) of the chapter's ten scores, by 50-digit arithmetic.
    expected = [.0182, .0164, .8125, .0149, .0164, .0366, .0222, .0201, .0245, .0182]
    panel = panels.three_steps()
    sentence, bars, vectors = panel.view.blocks
    assert_allclose(numbers(sentence), expected, atol=.00501)
    column = numbers(bars)
    assert column[:10] == [.4, .3, 4.2, .2, .3, 1.1, .6, .5, .7, .4]
    assert_allclose(column[10:20], expected, atol=.00501)
    # The share .8125 of 猫 times its 1.0 in the first row, plus .1 .3 .1 .3 of four others.
    assert numbers(vectors)[-4] == pytest.approx(
        .8125 + .1 * .0182 + .3 * .0164 + .1 * .0164 + .3 * .0245, abs=.00501)
    assert "「猫」0.81" in panel.view.finding
    # The printed table stands beside the computed one.
    assert texts(bars)[-10:] == [
        "0.02–0.04", "0.02–0.04", "0.55", "0.02–0.04", "0.02–0.04", "0.08", "0.06", "0.05",
        "0.10", "0.05"]

    # Hard choice: everything on 猫. Uniform over what may be seen: 1/10, masked 1/7.
    assert sorted(numbers(panel.set(temperature=0.0).blocks[0])) == [0.0] * 9 + [1.0]
    assert numbers(panel.set(temperature=math.inf).blocks[0]) == [0.1] * 10
    assert sorted(numbers(panel.set(causal=True).blocks[0])) == [0.0] * 3 + [0.14] * 7
    panel.close()


# ---------------------------------------------------------------- the wiring

def one_panel(render=None):
    def plain(n):
        return View([blocks.bars(["个数"], {"值": [n]})], f"个数是 {n}")
    return Panel(render or plain, {"n": controls.integer("个数 n", 1, 1, 9)})


def test_an_exception_in_render_is_shown_and_goes_away():
    def render(n):
        if n == 3:
            raise ValueError("n 不能是 3 <b>")
        return View([blocks.bars(["个数"], {"值": [n]})], f"个数是 {n}")
    panel = one_panel(render)
    panel.controls["n"].value = 2
    panel.controls["n"].value = 3
    finding, picture = shown(panel)
    assert "出了错" in finding
    assert "n 不能是 3 &lt;b&gt;" in finding
    assert "ac-stale" in picture
    assert "2.00" in picture  # the last good picture stays, faded
    assert isinstance(panel.error, ValueError)
    panel.controls["n"].value = 4
    assert panel.error is None
    assert "出了错" not in shown(panel)[0]
    assert "ac-stale" not in shown(panel)[1]
    panel.close()


def test_render_must_return_a_view():
    with pytest.raises(TypeError, match="View"):
        one_panel(lambda n: "text")


def test_unknown_setting_is_named():
    panel = one_panel()
    with pytest.raises(ValueError, match=r"^控件的名字 应为 n 之一，收到的是 m。.*panel\.controls.*。$"):
        panel.set(m=1)
    panel.close()


@pytest.mark.parametrize("settings", [{"n": 2, "m": 99}, {"m": 2, "n": "多"}], ids=["second bad", "both moved"])
def test_a_setting_that_is_refused_moves_nothing(settings):
    def render(n, m):
        return View([blocks.bars(["个数"], {"值": [n]})], f"个数是 {n} 和 {m}")
    panel = Panel(render, {"n": controls.integer("个数 n", 1, 1, 9), "m": controls.stops("个数 m", [1, 2, 3])})
    before = shown(panel)
    with pytest.raises(TraitError):
        panel.set(**settings)
    assert panel.settings == {"n": 1, "m": 1}
    assert shown(panel) == before
    assert panel.set(n=2, m=3).finding == "个数是 2 和 3"   # and the panel still works
    panel.controls["n"].value = 4
    assert "个数是 4 和 3" in shown(panel)[0]
    panel.close()


def test_set_after_closing_returns_the_last_view():
    calls = []

    def render(n):
        calls.append(n)
        return View([blocks.bars(["个数"], {"值": [n]})], f"个数是 {n}")
    panel = one_panel(render)
    last = panel.set(n=2)
    panel.close()
    assert panel.set(n=3) is last
    assert panel.reset() is last
    assert calls == [1, 2]
    assert panel.settings == {"n": 2}


@pytest.mark.parametrize("move", [
    lambda panel: panel.set(n=3), lambda panel: setattr(panel.controls["n"], "value", 3),
], ids=["set", "slider"])
def test_an_interrupted_picture_is_said_to_be_old(move):
    def render(n):
        if n == 3:
            raise KeyboardInterrupt
        return View([blocks.bars(["个数"], {"值": [n]})], f"个数是 {n}")
    panel = one_panel(render)
    with pytest.raises(KeyboardInterrupt):
        move(panel)
    finding, picture = shown(panel)
    assert finding == "<div>这里出了错，下面的图还停在上一次：KeyboardInterrupt</div>"
    assert "ac-stale" in picture
    assert isinstance(panel.error, KeyboardInterrupt)
    assert panel.set(n=4).finding == "个数是 4"
    assert panel.error is None
    assert "ac-stale" not in shown(panel)[1]
    panel.close()


def test_what_is_no_view_is_shown_as_an_error():
    panel = one_panel(lambda n: "text" if n == 3 else View([blocks.bars(["个数"], {"值": [n]})], f"个数是 {n}"))
    first = panel.view
    panel.set(n=3)
    assert panel.error is not None
    assert panel.view is first
    assert "出了错" in shown(panel)[0]
    panel.close()


def test_reset_button_goes_back_to_the_start():
    panel = one_panel()
    start = shown(panel)
    panel.set(n=5)
    assert shown(panel) != start
    panel._button.click()
    assert shown(panel) == start
    assert panel.settings == {"n": 1}
    panel.close()


def test_several_settings_at_once_draw_once():
    calls = []

    def render(a, b):
        calls.append((a, b))
        return View([blocks.bars(["个数"], {"值": [a + b]})], f"和是 {a + b}")
    panel = Panel(render, {"a": controls.integer("甲 a", 1, 1, 9),
                           "b": controls.integer("乙 b", 1, 1, 9)})
    panel.set(a=2, b=3)
    assert calls == [(1, 1), (2, 3)]
    panel.close()


@pytest.mark.parametrize("later", [
    lambda panel: panel.set(n=3), lambda panel: setattr(panel.controls["n"], "value", 3),
    lambda panel: panel._button.click(), lambda panel: panel.close(),
], ids=["set", "slider", "reset", "close"])
@pytest.mark.parametrize("sooner", [
    lambda panel: panel.set(n=2), lambda panel: setattr(panel.controls["n"], "value", 2),
], ids=["set", "slider"])
def test_a_slow_picture_does_not_cover_a_later_one(sooner, later):
    """JupyterLab runs the callbacks of sliders in a thread beside the running cell."""
    slow, released = threading.Event(), threading.Event()

    def render(n):
        if n == 2:
            slow.set()
            assert released.wait(10)
        return View([blocks.bars(["个数"], {"值": [n]})], f"个数是 {n}")
    panel = one_panel(render)
    threads = [threading.Thread(target=move, args=[panel], daemon=True) for move in (sooner, later)]
    threads[0].start()
    assert slow.wait(10)
    threads[1].start()
    threads[1].join(0.2)   # time enough to overtake, if it can
    assert not panel.closed   # else the slow picture would be shown in widgets that are gone
    released.set()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()
    n = panel.settings["n"]
    assert panel.view.finding == f"个数是 {n}"
    assert shown(panel) == (panel.render(n=n).finding_html(), panel.render(n=n).html())
    assert panel.error is None
    panel.close()


def test_a_slider_moved_after_closing_draws_nothing():
    panel = one_panel()
    on_change = panel._on_change   # a callback that was waiting while the panel was closed
    panel.close()
    panel.controls["n"].value = 9
    on_change({})
    assert "个数是 1" in shown(panel)[0]


def test_two_panels_do_not_interfere():
    left, right = one_panel(), one_panel()
    before = shown(right)
    left.set(n=7)
    assert shown(right) == before
    left.close()
    right.controls["n"].value = 8
    assert "个数是 8" in shown(right)[0]
    right.close()


def test_close_removes_observers_and_widgets():
    before = len(ipywidgets.Widget._instances if hasattr(ipywidgets.Widget, "_instances")
                 else ipywidgets.widgets.widget._instances)
    panel = one_panel()
    panel.close()
    panel.controls["n"].value = 9
    assert "个数是 1" in shown(panel)[0]
    assert panel.closed
    after = len(ipywidgets.Widget._instances if hasattr(ipywidgets.Widget, "_instances")
                else ipywidgets.widgets.widget._instances)
    # Each widget brings a layout and a style of its own, which ipywidgets closes when collected.
    assert after - before <= 14


class FakeShell:
    """As much of a kernel as `_running_cell` looks at."""

    def __init__(self):
        self.kernel = self
        self.message = {}

    def get_parent(self, channel):
        return self.message

    def run(self, code, run, cell=None):
        metadata = {} if cell is None else {"cellId": cell}
        self.message = {"metadata": metadata, "content": {"code": code},
                        "header": {"msg_id": run}}
        return one_panel()


@pytest.mark.parametrize("has_ids", [True, False])
def test_running_a_cell_again_closes_what_it_made_before(monkeypatch, has_ids):
    shell = FakeShell()
    monkeypatch.setattr(panel_module, "get_ipython", lambda: shell)
    monkeypatch.setattr(panel_module, "_made_by", {})
    ids = ("first", "second") if has_ids else (None, None)
    first = shell.run("one()", "run 1", ids[0])
    twin = shell.run("one()", "run 1", ids[0])  # two panels made by one run of one cell
    other = shell.run("two()", "run 2", ids[1])
    assert not first.closed
    assert not twin.closed
    again = shell.run("one()", "run 3", ids[0])
    assert first.closed
    assert twin.closed
    assert not other.closed
    assert not again.closed
    assert panel_module.open_panels() == [again, other]


def test_what_a_cell_puts_out(monkeypatch):
    bundles = []
    monkeypatch.setattr(panel_module, "display", lambda bundle, raw: bundles.append(bundle))
    panel = one_panel()
    panel.set(n=5)
    panel._ipython_display_()
    still, script, live = bundles
    # The still picture shows the settings that a fresh run starts with, wherever the slider is.
    assert still == {"text/html": panel.render(n=1).still(), "text/plain": "个数是 1"}
    assert "aria-label" in script["application/javascript"]
    assert script["text/plain"] == ""
    assert "application/vnd.jupyter.widget-view+json" in live
    assert live["text/plain"] == panel_module.HINT
    panel.close()
    bundles.clear()
    panel._ipython_display_()
    assert [list(bundle) for bundle in bundles] == [["text/html", "text/plain"]]


def test_a_still_picture_survives_without_scripts_styles_or_inline_svg():
    view = View([blocks.sentence(["猫"], [1.0]), [blocks.bars(["猫"], {"权重": [1.0]})]], "猫拿走 1.00")
    figure = ElementTree.fromstring(view.still())
    assert {element.tag for element in figure.iter()} == {"figure", "div", "img", "figcaption"}
    assert figure.find("figcaption").text == "猫拿走 1.00"
    first, second = figure.iter("img")
    assert first.get("alt") == "份额最大的是「猫」，1.00"
    assert second.get("alt") == "权重：「猫」1.00"
    assert view._repr_mimebundle_() == {"text/html": view.still(), "text/plain": "猫拿走 1.00"}


def test_import_is_light():
    code = ("import sys, attention_core.panels as p; "
            "print([m for m in ('ipywidgets', 'matplotlib') if m in sys.modules]); p.three_steps; "
            "print([m for m in ('ipywidgets', 'matplotlib') if m in sys.modules])")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert run.stdout.split("\n")[:2] == ["[]", "['ipywidgets']"]
    assert "three_steps" in dir(panels)
    with pytest.raises(AttributeError):
        panels.no_such_panel  # noqa: B018


# ---------------------------------------------------------------- the blocks

def test_sentence_says_who_asks_and_who_answers():
    block = blocks.sentence(["那", "只", "猫"], [.25, .05, .7], query=1, mask=[True, False, True])
    assert texts(block) == ["那", "0.25", "只", "0.05", "问▾", "猫", "0.70"]
    # 只 is shut: no colour, hatched.
    assert [percent for _, percent in cells(block)] == [25, 0, 70]
    assert len(block.findall("path[@class='ac-shut']")) == 1
    assert block.get("aria-label") == "「只」在提问：份额最大的是「猫」，0.70"


def test_sentence_wraps_instead_of_overflowing():
    block = blocks.sentence(["街道"] * 16, np.full(16, 1 / 16))
    right = max(float(cell.get("x")) + float(cell.get("width")) for cell in block.iter("rect")
                if "ac-cell" in cell.get("class"))
    assert right <= blocks.WIDTH
    assert len({cell.get("y") for cell in block.iter("rect")}) > 2
    assert "16 个位置并列" in block.get("aria-label")


def test_bars_lengths_are_the_numbers():
    block = blocks.bars(["甲", "乙", "丙"], {"分数": [2.0, -1.0, -np.inf], "说明": ["a", "b", "c"]},
                        mask=[True, True, False])
    lengths = [(bar.get("class"), float(bar.get("width"))) for bar in block.iter("rect")
               if "ac-bar" in bar.get("class")]
    assert [name for name, _ in lengths] == ["ac-bar-positive", "ac-bar-negative"]
    assert lengths[0][1] == pytest.approx(2 * lengths[1][1], abs=.11)
    assert texts(block) == ["甲", "乙", "丙", "分数", "2.00", "-1.00", "−∞", "说明", "a", "b", "c"]


def test_bars_keep_their_scale_when_told():
    def length(value):
        block = blocks.bars(["甲"], {"分数": [value]}, limits={"分数": 4.0})
        return next(float(bar.get("width")) for bar in block.iter("rect")
                    if "ac-bar" in bar.get("class"))
    assert length(4.0) == pytest.approx(4 * length(1.0), abs=.2)


@pytest.mark.parametrize(("value", "is_cut"), [(3.9, False), (4.0, False), (4.1, True), (-4.1, True), (1e6, True)])
def test_a_bar_longer_than_the_scale_is_cut(value, is_cut):
    block = blocks.bars(["甲", "乙"], {"分数": [value, 1.0]}, limits={"分数": 4.0})
    cut = block.find("path[@class='ac-cut']")
    assert (cut is not None) == is_cut
    if is_cut:   # the two strokes lie within the bar
        bar = next(bar for bar in block.iter("rect") if "ac-bar" in bar.get("class"))
        left, right = float(bar.get("x")), float(bar.get("x")) + float(bar.get("width"))
        starts = [float(start.split()[0]) for start in cut.get("d").split("M")[1:]]
        assert len(starts) == 2
        assert all(left < x and x + 4 < right for x in starts)


def test_table_draws_every_cell_where_it_belongs():
    values = np.array([[.2, .3, .5], [.07, .11, .82]])  # all different, so no transposition passes
    block = blocks.table(values, ["问一", "问二"], ["甲", "乙", "丙"], query=1)
    assert texts(block) == ["甲", "乙", "丙", "问一", "0.20", "0.30", "0.50", "问二", "0.07", "0.11",
                            "0.82"]
    assert cells(block) == [("positive", p) for p in (20, 30, 50, 7, 11, 82)]
    assert block.get("aria-label") == "2 行 3 列的表。「问二」：份额最大的是「丙」，0.82"


def test_table_hatches_what_is_shut_and_frames_the_diagonal():
    mask = np.tril(np.ones((3, 3), dtype=bool))
    block = blocks.table(np.full((3, 3), .5), mask=mask, diagonal=True)
    assert len(numbers(block)) - 6 == 6  # six labels 1 2 3, and six open cells
    assert [percent for _, percent in cells(block)] == [50, 0, 0, 50, 50, 0, 50, 50, 50]
    assert "关掉 3 格" in block.get("aria-label")
    assert block.find("path[@class='ac-line']").get("d").count("M") == 3
    open_block = blocks.table(np.full((3, 3), .5))
    assert open_block.find("path[@class='ac-shut']") is None


def test_table_of_eleven_words_has_room_for_numbers_and_of_sixteen_has_hints():
    eleven = blocks.table(np.full((11, 11), .81), book.TOKENS)
    assert texts(eleven).count(".81") == 121
    assert not any("ac-tight" in text.get("class", "") for text in eleven.iter("text"))
    crowded = blocks.table(np.full((10, 10), -.81), book.TOKENS[:10], signed=True)
    assert sum("ac-tight" in text.get("class", "") for text in crowded.iter("text")) == 100
    sixteen = blocks.table(np.full((16, 16), .81))
    assert ".81" not in texts(sixteen)
    hints = [hint.text for hint in sixteen.iter("title")]
    assert hints[:2] == ["1 → 1: 0.81", "1 → 2: 0.81"]
    assert len(hints) == 256


def test_signed_table_and_vectors_show_the_sign_by_colour_and_by_text():
    block = blocks.vectors([[2.0, -1.0], [0.0, -0.001]], ["查询", "键"], mark=0)
    assert cells(block) == [("positive", 100), ("negative", 50), ("positive", 0), ("negative", 0)]
    assert texts(block)[2:] == ["查询", "2.00", "-1.00", "键", "0.00", "0.00"]
    assert block.get("data-block") == "vectors"
    assert block.get("aria-label") == "「查询」：1 2.00，2 -1.00"
    score = blocks.table([[3.0, -np.inf], [1.0, 2.0]], ["那", "只"], signed=True)
    assert "最大的是「那」对「那」，3.00" in score.get("aria-label")


def test_heads_are_one_table_each():
    weights = np.arange(1, 9).reshape(2, 2, 2) / 10
    first, second = blocks.heads(weights, ["那", "只"], mask=np.tril(np.ones((2, 2), bool)))
    assert cells(first) == [("positive", p) for p in (10, 0, 30, 40)]
    assert cells(second) == [("positive", p) for p in (50, 0, 70, 80)]
    assert [texts(one)[0] for one in (first, second)] == ["第 1 个头", "第 2 个头"]


@pytest.mark.parametrize(("log_x", "log_y"), [(False, False), (True, False), (True, True)])
def test_the_point_lies_on_the_curve(log_x, log_y):
    x = np.array([1.0, 10.0, 100.0])
    block = blocks.curve(x, x ** 2, point=(10.0, 100.0), log_x=log_x, log_y=log_y)
    path = block.find("path[@class='ac-curve ac-curve-0']").get("d")
    vertices = [tuple(map(float, pair.split())) for pair in re.split("[ML]", path)[1:]]
    circle = block.find("circle")
    assert vertices[1] == (float(circle.get("cx")), float(circle.get("cy")))
    # The tick that says 10 stands under the point, and the curve fills the axes.
    tick = next(text for text in block.iter("text") if text.text == ("10" if log_x else "50"))
    if log_x:
        assert float(tick.get("x")) == vertices[1][0]
    else:
        assert (float(tick.get("x")) - vertices[1][0]) / (vertices[2][0] - vertices[1][0]) == (
            pytest.approx(40 / 90, abs=.002))
    assert vertices[2][0] > blocks.WIDTH - 30
    assert vertices[2][1] < 60
    if log_x and log_y:  # a straight line with equal steps
        assert_allclose(np.diff(vertices, axis=0)[0], np.diff(vertices, axis=0)[1], atol=.11)


def test_curve_leaves_gaps_where_there_is_nothing_to_draw():
    block = blocks.curve([1, 2, 3, 4], [1.0, np.nan, 0.0, 4.0], log_y=True)
    path = block.find("path[@class='ac-curve ac-curve-0']").get("d")
    assert path.count("M") == 2  # NaN and 0 have no place on a logarithmic axis
    assert "L" not in path


@pytest.mark.parametrize("log_y", [False, True])
def test_a_curve_that_is_all_zero_says_so_where_it_cannot_be_drawn(log_y):
    block = blocks.curve([1, 2, 3], {"甲": [1.0, 2.0, 3.0], "乙": [0.0, 0.0, 0.0]}, log_y=log_y)
    assert ("乙：0" in texts(block)) == log_y
    assert "甲" in texts(block)


@pytest.mark.parametrize(("level", "log_y"), [(0.0, False), (7.0, False), (7.0, True)])
def test_a_flat_curve_lies_inside_its_axes(level, log_y):
    block = blocks.curve([1, 2, 3], [level] * 3, log_y=log_y)
    path = block.find("path[@class='ac-curve ac-curve-0']").get("d")
    heights = {float(pair.split()[1]) for pair in re.split("[ML]", path)[1:]}
    assert len(heights) == 1
    assert 0 < heights.pop() < float(block.get("height"))


@pytest.mark.parametrize(("value", "text"), [
    (1e-11, "10⁻¹¹"), (2.5e-6, "2.5×10⁻⁶"), (0.05, "0.05"), (1000.0, "1000"), (0.0, "0"),
    (200000.0, "2×10⁵"), (999.4, "999"), (999.6, "1000"), (-999.6, "-1000"), (99999.4, "99999"), (99999.6, "10⁵"),
    (0.0009996, "10⁻³")])
def test_numbers_on_an_axis(value, text):
    assert blocks.short_number(value) == text


@pytest.mark.parametrize(("value", "text"), [
    (-0.0, "0.00"), (-0.004, "0.00"), (np.inf, "∞"), (-np.inf, "−∞"), (np.float32(.125), "0.12")])
def test_numbers_in_a_cell(value, text):
    assert blocks.number(value) == text


@pytest.mark.parametrize(("call", "message"), [
    (lambda: blocks.most(["猫"], [1, 2]), r"values 应为长 1 的一维数组，收到的是形状 \(2,\)"),
    (lambda: blocks.most(["猫", "它"], [1, np.nan]), "values 应为至少一个数，没有 NaN，收到的是含有 NaN 的数组"),
    (lambda: blocks.most([], []), "values 应为至少一个数，没有 NaN，收到的是空的"),
    (lambda: blocks.most(["猫"], [1], quotes="'"), "quotes 应为左引号和右引号，收到的是"),
    (lambda: blocks.sentence(["猫"], [.5, .5]), r"weights 应为长 1 的一维数组，收到的是形状 \(2,\)"),
    (lambda: blocks.sentence(["猫"], ["多"]), "weights 应为数字数组"),
    (lambda: blocks.sentence(["猫"], [.5], mask=[1]),
     r"mask 应为能广播到 \(1,\) 的布尔数组.* int64 类型、形状 \(1,\)。0 和 1 请写成 mask.astype\(bool\)。$"),
    (lambda: blocks.sentence(["猫"], [.5], mask=[True, False]),
     r"mask 应为能广播到 \(1,\) .*形状 \(2,\)。形状要与画的数相同。$"),
    (lambda: blocks.bars(["猫"], {"权重": [.5]}, mask=[1, 0]),
     r"mask 应为能广播到 \(1,\) .*。0 和 1 请写成 mask.astype\(bool\)；形状要与画的数相同。$"),
    (lambda: blocks.sentence(["猫"], [.5], mask=[[True], [True]]), r"mask 应为能广播到 \(1,\) .*形状 \(2, 1\)"),
    (lambda: blocks.bars(["猫"], {"权重": [.5]}, mask=[True, False]), r"mask 应为能广播到 \(1,\)"),
    (lambda: blocks.bars(["猫"], {"权重": [.5, .5]}), r"columns 的「权重」 应为长 1 的一维数组.*形状 \(2,\)"),
    (lambda: blocks.bars(["猫"], {"说明": ["a", "b"]}), "columns 的「说明」 应为 1 项，收到的是 2 项"),
    (lambda: blocks.table([.5]), r"values 应为形状 \(L, S\) 的表，收到的是形状 \(1,\)。.*heads"),
    (lambda: blocks.table([[.5], [.5, .5]]), "values 应为各行等长的数组"),
    (lambda: blocks.table([[.5]], ["猫", "它"]), "rows 应为 1 项，收到的是 2 项"),
    (lambda: blocks.table([[.5]], ["猫"], []), "columns 应为 1 项，收到的是 0 项"),
    (lambda: blocks.table([[.5]], mask=np.ones((2, 2), bool)), r"mask 应为能广播到 \(1, 1\) .*形状 \(2, 2\)"),
    (lambda: blocks.table([[.5, .5]], mask=np.ones((3, 1), bool)), r"mask 应为能广播到 \(1, 2\) .*形状 \(3, 1\)"),
    (lambda: blocks.table([[.5, .5]], mask=np.ones(3, bool)), r"mask 应为能广播到 \(1, 2\) .*形状 \(3,\)"),
    (lambda: blocks.heads([[.5]]), r"weights 应为形状 \(h, L, S\) 的数组，收到的是形状 \(1, 1\)。.*table"),
    (lambda: blocks.heads([[[.5]], [[.5]]], names=["x"]), "names 应为 2 项，收到的是 1 项"),
    (lambda: blocks.vectors([.5]), r"values 应为形状 \(n, d\) 的数组，收到的是形状 \(1,\)"),
    (lambda: blocks.vectors([[.5]], []), "rows 应为 1 项，收到的是 0 项"),
    (lambda: blocks.vectors([[.5]], ["猫"], ["a", "b"]), "columns 应为 1 项，收到的是 2 项"),
    (lambda: blocks.curve([1, 2], {name: [1, 2] for name in "abcd"}), "series 应为最多三条曲线，收到的是 4 条"),
    (lambda: blocks.curve([1, 2], [1, 2, 3]), r"series 的「」 应为长 2 的一维数组，收到的是形状 \(3,\)"),
    (lambda: blocks.curve([[1, 2], [3, 4]], [1, 2]), r"x 应为一维数组，收到的是形状 \(2, 2\)"),
    (lambda: blocks.curve(1, [1, 2]), r"x 应为一维数组，收到的是形状 \(\)"),
    (lambda: blocks.text_table(["甲"], [["1"], ["1", "2"]]), "rows 的第 2 行 应为 1 项，收到的是 2 项"),
])
def test_wrong_input_is_named_in_chinese(call, message):
    with pytest.raises(ValueError, match=f"^{message}.*(?<=。)$"):
        call()


@pytest.mark.parametrize(("block", "name", "n"), [
    (lambda i: blocks.sentence("那只猫", [0, 0, 1], query=i), "query", 3),
    (lambda i: blocks.sentence("那只猫", query=i), "query", 3),
    (lambda i: blocks.bars("那只猫", {"权重": [0, 0, 1]}, mark=i), "mark", 3),
    (lambda i: blocks.table(np.eye(3), query=i), "query", 3),
    (lambda i: blocks.table(np.ones((2, 5)), query=i), "query", 2),
    (lambda i: blocks.heads(np.ones((4, 2, 3)), query=i), "query", 2),
    (lambda i: blocks.vectors(np.ones((3, 5)), mark=i), "mark", 3),
    (lambda i: blocks.text_table("甲乙", ["12", "34", "56"], mark=i), "mark", 3),
])
def test_a_place_is_one_of_those_there_are(block, name, n):
    for i in (None, 0, n - 1, np.int64(1)):
        block(i)
    for i in (n, 9, -1, -n, 1.0, "它", True):
        expected = f"{name} 应为小于 {n} 的位置（整数，从 0 数起），收到的是 {i!r}。一个也不标时写 None。"
        with pytest.raises(ValueError, match=f"^{expected}$"):
            block(i)


@pytest.mark.parametrize("axis", ["x", "y"])
@pytest.mark.parametrize(("log", "limits"), [
    (True, (0, 1)), (True, (-1, 1)), (True, (10, 1)), (False, (1, 0)), (False, (0, math.inf)), (False, (math.nan, 1)),
    (False, (1, 2, 3)), (False, 5), (False, "ab"),
])
def test_an_axis_that_cannot_be_drawn_is_named(axis, log, limits):
    with pytest.raises(ValueError, match=f"^{axis}_limits 应为"):
        blocks.curve([1, 2], [1, 2], **{f"log_{axis}": log, f"{axis}_limits": limits})


@pytest.mark.parametrize("block", [
    blocks.sentence([], []), blocks.bars([], {"权重": []}), blocks.table(np.zeros((0, 0))),
    blocks.vectors(np.zeros((0, 3))), blocks.curve([], []), blocks.text_table(["甲"], [])])
def test_nothing_to_draw_is_still_a_picture(block):
    assert float(block.get("height")) > 0


@pytest.mark.parametrize("draw", [
    lambda title: blocks.sentence(["猫"], [1.0], title=title), lambda title: blocks.vectors([[1.0]], title=title),
    lambda title: blocks.bars(["猫"], {"权重": [1]}, title=title),
    lambda title: blocks.table([[1.0]], ["猫"], title=title),
    lambda title: blocks.curve([1, 2], [1, 2], y_label="权重", label="一条直线", title=title),
    lambda title: blocks.text_table(["甲"], [["1"]], title=title),
])
def test_the_alternative_text_says_the_title_once(draw):
    plain, titled = draw(None).get("aria-label"), draw("原来的词序").get("aria-label")
    assert titled == f"原来的词序。{plain}"
    assert draw(plain).get("aria-label") == plain


def test_a_table_without_a_corner_reads_without_a_gap():
    assert blocks.text_table(["", "字节"], [["一张表", "4"]]).get("aria-label") == "一张表，字节 4"


@pytest.mark.parametrize("name", sorted(panels.PANELS))
def test_pictures_of_one_panel_do_not_read_alike(name):
    panel = getattr(panels, name)()
    labels = [block.get("aria-label") for block in panel.view.blocks]
    panel.close()
    assert len(set(labels)) == len(labels)
    for block in panel.view.blocks:
        for title in block.findall("text[@class='ac-title']"):
            assert title.text in block.get("aria-label")


# ---------------------------------------------------------------- what the reader types

@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(), max_size=40))
def test_any_text_is_escaped(text):
    view = View([
        blocks.sentence([text, "猫"], [.5, .5], title=text),
        blocks.table([[.5, .5], [.5, .5]], [text, "猫"], query=0),
        blocks.bars([text], {"权重": [.5]}),
        blocks.text_table([text], [[text]])], text)
    for source in (view.html(), view.still(), view.finding_html()):
        tree = ElementTree.fromstring(source.encode())
        assert {element.tag.split("}")[-1] for element in tree.iter()} <= {
            "div", "svg", "rect", "text", "path", "title", "figure", "img", "figcaption"}
    picture = base64.b64decode(re.search(r"base64,([^\"]+)", view.still())[1])
    assert ElementTree.fromstring(picture).tag.endswith("svg")


def test_markup_is_shown_as_text():
    block = blocks.sentence(["<b>&\"'"], [1.0])
    assert texts(block)[0] == "<b>&\"'"
    html = View([block], "<script>alert(1)</script>").finding_html()
    assert html == "<div>&lt;script&gt;alert(1)&lt;/script&gt;</div>"


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_any_sentence_is_split(text):
    tokens = split_sentence(text, fallback=("它",))
    assert 1 <= len(tokens) <= MAX_TOKENS
    assert all(tokens)
    assert sum(map(len, tokens)) <= 200


# ---------------------------------------------------------------- colours

def theme_colours(name):
    """The colours of JupyterLab's own theme, from its installed style sheet."""
    folder = Path(jupyterlab.__file__).parents[4] / "share" / "jupyter" / "lab" / "themes"
    css = (folder / "@jupyterlab" / f"theme-{name}-extension" / "index.css").read_text(encoding="utf-8")
    declared = dict(re.findall(r"(--[\w-]+):\s*([^;]+);", css))

    def resolve(value):
        inner = re.fullmatch(r"var\(\s*(--[\w-]+)\s*(?:,\s*(.*?)\s*)?\)", value)   # older themes are not minified
        if inner:
            return resolve(declared.get(inner[1]) or inner[2])
        if value.startswith("rgba("):
            *colour, opacity = (float(part) for part in value[5:-1].split(","))
            assert opacity == 1, value
            return np.array(colour)
        digits = {"white": "ffffff", "black": "000000"}.get(value, value.lstrip("#"))
        digits = "".join(2 * d for d in digits) if len(digits) == 3 else digits
        return np.array([int(digits[i:i + 2], 16) for i in (0, 2, 4)], dtype=float)
    return lambda variable: resolve(declared[variable])


def contrast(one, other):
    """WCAG 2.2 contrast ratio of two sRGB colours."""
    def luminance(rgb):
        c = rgb / 255
        c = np.where(c <= .04045, c / 12.92, ((c + .055) / 1.055) ** 2.4)
        return c @ [.2126, .7152, .0722]
    light, dark = sorted([luminance(one), luminance(other)], reverse=True)
    return (light + .05) / (dark + .05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("sign", ["positive", "negative"])
def test_text_on_every_cell_is_readable(theme, sign):
    colour = theme_colours(theme)
    full = colour({"positive": "--jp-brand-color1", "negative": "--jp-warn-color1"}[sign])
    ground = colour("--jp-layout-color1")
    for percent in range(101):
        cell = full * percent / 100 + ground * (100 - percent) / 100  # color-mix(in srgb, …)
        css = blocks._paint(ElementTree.Element("svg"), 0, 0, 1, 1,
                            percent / 100 * (1 if sign == "positive" else -1) or 0.0)
        text = np.zeros(3) if css == "ac-black" else colour("--jp-ui-font-color0")
        assert contrast(cell, text) >= 4.5, (theme, sign, percent)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_lines_and_bars_stand_out(theme):
    colour = theme_colours(theme)
    for variable in ("--jp-brand-color1", "--jp-ui-font-color0"):
        assert contrast(colour(variable), colour("--jp-layout-color1")) >= 3


def test_fallback_colours_are_the_light_theme():
    colour = theme_colours("light")
    pairs = set(re.findall(r"var\((--jp-[\w-]+-color\d),(#\w+)\)",
                           palette.STYLE + palette.PAGE_STYLE))
    assert {variable for variable, _ in pairs} >= {"--jp-brand-color1", "--jp-warn-color1"}
    for variable, fallback in pairs - {("--jp-ui-font-color2", "#757575"),
                                       ("--jp-content-font-color1", "#000")}:
        digits = fallback.lstrip("#")
        digits = "".join(2 * d for d in digits) if len(digits) == 3 else digits
        assert [int(digits[i:i + 2], 16) for i in (0, 2, 4)] == colour(variable).tolist(), variable


def test_blue_and_orange_differ_for_every_kind_of_colour_vision():
    """The two colours of signed cells differ in lightness-free hue along the blue-yellow axis.

    Red-green deficiencies (99 % of all) leave that axis; tritanopia keeps red-green.
    """
    for theme in ("light", "dark"):
        colour = theme_colours(theme)
        blue, orange = colour("--jp-brand-color1"), colour("--jp-warn-color1")
        assert (blue[2] - blue[:2].mean()) - (orange[2] - orange[:2].mean()) > 150
        assert orange[0] - blue[0] > 100
