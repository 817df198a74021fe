"""Every notebook in a real JupyterLab page: what the reader sees is what the core computes."""

import json
from pathlib import Path

import pytest
from lab import NOTEBOOK, NotebookPage

NOTEBOOKS = sorted(path.name for path in (Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))

# Asks the notebook's kernel what each panel should show for the settings read off the page. It
# calls the panel's pure render function, past all wiring, and lists the elements of the picture
# as the page does.
EXPECTED = """
import json
from xml.etree import ElementTree
from attention_core.panels.panel import open_panels

def value(control, shown):
    options = getattr(control, "_options_full", None)
    if options is not None:
        return dict(options)[shown]
    return int(shown) if isinstance(control.value, int) and not isinstance(shown, bool) else shown

panels = {panel.widget.model_id: panel for panel in open_panels()}
answers = []
for model_id, shown in json.loads(QUESTIONS):
    panel = panels[model_id]
    settings = {name: value(control, text)
                for (name, control), text in zip(panel.controls.items(), shown, strict=True)}
    view = panel.render(**settings)
    picture = [[e.tag, {k: v for k, v in e.attrib.items() if k != "xmlns"}, e.text or ""]
               for block in view.blocks for e in block.iter()]
    answers.append({"finding": " ".join(view.finding.split()), "picture": picture})
print(json.dumps(answers))
"""


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda name: name.removesuffix(".ipynb"))
def notebook(request, browser, lab):
    page = NotebookPage(browser, lab, request.param)
    yield page
    page.close()


def check_readings(notebook, readings):
    """Each reading (panel, what the page showed) equals what render gives for its settings."""
    questions = json.dumps([(panel, seen["settings"]) for panel, seen in readings])
    printed = notebook.tell(f"exec({EXPECTED!r}, {{'QUESTIONS': {questions!r}}})")
    assert printed.startswith("["), printed
    answers = json.loads(printed)
    for (_, seen), expected in zip(readings, answers, strict=True):
        for tag, attributes, _ in seen["picture"]:
            if tag == "svg":  # what only the page needs
                del attributes["xmlns"], attributes["style"]
        assert " ".join(seen["finding"].split()) == expected["finding"], seen["settings"]
        assert seen["picture"] == expected["picture"], seen["settings"]
        assert seen["visible"], seen["settings"]


def test_before_running_every_picture_is_there(notebook):
    """A reader who has run nothing (and trusts nothing) sees the still pictures and the hint."""
    if notebook.ran:
        pytest.fail("this test must come before the notebook is run")
    notebook.page.wait_for_timeout(300)
    seen = notebook.page.evaluate("""(async () => {
      const images = Array.from(document.querySelectorAll('.jp-Notebook img'));
      await Promise.all(images.map(i => i.decode().catch(() => null)));
      return {images: images.map(i => [i.naturalWidth, i.alt]),
              text: document.querySelector('.jp-Notebook').textContent}; })()""")
    for width, alternative in seen["images"]:
        assert width > 0
        assert len(alternative) > 4
    for broken in ("model not found", "Loading widget", "Error displaying widget"):
        assert broken not in seen["text"]


def test_runs_without_errors(notebook):
    notebook.run_all()
    outputs = notebook.page.evaluate(f"""Array.from({{length: {NOTEBOOK}.content.model.cells.length}},
        (_, i) => {NOTEBOOK}.content.model.cells.get(i).toJSON().outputs ?? []).flat()""")
    assert [o for o in outputs if o["output_type"] == "error" or o.get("name") == "stderr"] == []
    assert notebook.page.locator(".jupyter-widgets-error-widget").count() == 0
    stills = notebook.page.evaluate("""Array.from(document.querySelectorAll('.ac-still'),
        e => [e.checkVisibility(), !!e.closest('.jp-OutputArea').querySelector('.ac-panel')])""")
    # A live panel hides its own still picture, and no other.
    assert all(visible != live for visible, live in stills)
    assert len([1 for _, live in stills if live]) == len(notebook.panels())


def test_every_control_by_keyboard(notebook):
    notebook.run_all()
    readings = []
    for panel in notebook.panels():
        readings.append((panel, notebook.read(panel)))
        for control in notebook.controls(panel):
            readings += [(panel, seen) for seen in by_keyboard(notebook, panel, control)]
        notebook.page.locator(f".ac-{panel} button").press("Enter")
        notebook.settle()
        assert notebook.read(panel) == next(seen for p, seen in readings if p == panel)
    check_readings(notebook, readings)
    assert notebook.page.evaluate("window.driver.stray") == []


def by_keyboard(notebook, panel, control):
    """Move one control through its stops (of long sliders: a few), reading after each."""
    kind = control.evaluate("e => e.type ?? e.getAttribute('role')")
    control.focus()
    if kind == "checkbox":
        keys = ["Space", "Space"]
    elif kind == "select-one":
        keys = ["ArrowDown"] * min(control.locator("option").count(), 6)
    elif kind == "text":
        control.fill('一只 <b>"😀"</b> 猫')
        keys = ["Enter"]
    else:
        # The handle has a name for screen readers, and JupyterLab's shortcuts leave it alone.
        assert control.get_attribute("aria-label").strip("\u200b ")
        cells = notebook.page.locator(".jp-Notebook .jp-Cell").count()
        notebook.page.keyboard.press("b")
        assert notebook.page.locator(".jp-Notebook .jp-Cell").count() == cells
        stops = int(float(control.get_attribute("aria-valuemax"))
                    - float(control.get_attribute("aria-valuemin"))) + 1
        keys = ["Home"] + ["ArrowRight"] * min(stops - 1, 12) + ["End"] * (stops > 13)
    for key in keys:
        control.press(key)
        notebook.settle()
        yield notebook.read(panel)


def test_every_slider_by_mouse_without_flicker(notebook):
    notebook.run_all()
    readings = []
    for panel in notebook.panels():
        for control in notebook.controls(panel):
            if control.get_attribute("role") == "slider":
                check_frames(notebook.drag(control, panel))
                assert control.get_attribute("aria-valuenow") == control.get_attribute(
                    "aria-valuemax")
                readings.append((panel, notebook.read(panel)))
    check_readings(notebook, readings)


def check_frames(frames):
    assert len(frames) > 10
    assert all(good for _, good in frames), "the picture was gone in a frame"
    heights = [height for height, _ in frames]
    assert max(heights) - min(heights) <= 0.5, "the height changed"


def test_narrow_windows(notebook):
    notebook.run_all()
    size = notebook.page.viewport_size
    try:
        for width in (700, 400):
            notebook.page.set_viewport_size({**size, "width": width})
            notebook.page.wait_for_timeout(200)
            assert notebook.page.evaluate("window.driver.faults()") == [], width
        for panel in notebook.panels():
            sliders = [control for control in notebook.controls(panel)
                       if control.get_attribute("role") == "slider"]
            for control in sliders[:1]:
                check_frames(notebook.drag(control, panel, events=25))
    finally:
        notebook.page.set_viewport_size(size)
    assert notebook.page.evaluate("window.driver.faults()") == []


def test_dark_theme(notebook):
    notebook.run_all()
    if not notebook.panels():
        return
    switch = "name => window.jupyterapp.commands.execute('apputils:change-theme', {theme: name})"
    notebook.page.evaluate(switch, "JupyterLab Dark")
    try:
        notebook.wait_for("document.body.dataset.jpThemeLight === 'false'")
        notebook.page.wait_for_timeout(300)
        # Through a canvas, so that color-mix comes out as plain numbers.
        colours = notebook.page.evaluate("""(() => {
          const canvas = document.createElement('canvas').getContext('2d');
          const rgba = css => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = css;
            canvas.fillRect(0, 0, 1, 1); return Array.from(canvas.getImageData(0, 0, 1, 1).data); };
          const all = s => Array.from(document.querySelectorAll('.ac-view ' + s),
                                      e => rgba(getComputedStyle(e).fill));
          return {ground: all('.ac-ground'), cell: all('.ac-cell'),
                  text: all('text:not(.ac-black)')}; })()""")
    finally:
        notebook.page.evaluate(switch, "JupyterLab Light")
        notebook.wait_for("document.body.dataset.jpThemeLight === 'true'")
    assert all(max(colour[:3]) < 60 and colour[3] == 255 for colour in colours["ground"])
    assert all(min(colour[:3]) > 200 for colour in colours["text"])
    assert all(colour[3] == 255 for colour in colours["cell"])


def test_running_a_panels_cell_again_replaces_it(notebook):
    notebook.run_all()
    before = notebook.panels()
    for panel in before:
        index = notebook.page.evaluate("""id => { const cell = document.querySelector('.ac-' + id)
            .closest('.jp-Cell'); return Array.from(cell.closest('.jp-Notebook')
            .querySelectorAll('.jp-Cell')).indexOf(cell); }""", panel)
        notebook.page.evaluate(f"i => {{ {NOTEBOOK}.content.activeCellIndex = i; }}", index)
        notebook.page.evaluate("window.jupyterapp.commands.execute('notebook:run-cell')")
        notebook.settle()
    after = notebook.panels()
    assert len(after) == len(before)
    assert not set(after) & set(before)
    alive = notebook.tell("from attention_core.panels.panel import open_panels as _o; "
                          "print(*[p.widget.model_id for p in _o()]); del _o").split()
    assert sorted(alive) == sorted(after)
    check_readings(notebook, [(panel, notebook.read(panel)) for panel in after])


def test_the_console_is_silent(notebook):
    """Last: nothing above made the page complain."""
    assert notebook.complaints == []
