"""From key press to changed pixels: our panel against ``interact`` with ``plt.show()``.

Both draw section 4's row of 它 and run in one notebook, one page, one kernel, taking turns, so
that whatever slows the machine slows both. Not part of pytest: a time depends on the machine,
only the ratio means something.

    python tests/benchmarks/panel_latency.py [--rounds 4]
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import nbformat
import numpy as np
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "browser"))

import lab as lab_module

PANEL = "from attention_core import panels\npanels.three_steps()"

RIVAL = (Path(__file__).parent / "rival_panel.py").read_text(encoding="utf-8")

# Notes when each changed picture of a cell's output was painted. An <img> counts once decoded.
WATCH = """
cell => {
  const wrap = document.querySelectorAll('.jp-Notebook .jp-Cell')[cell]
      .querySelector('.jp-Cell-outputWrapper');
  const log = window.latency = {input: null, painted: []};
  const painted = () => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => log.painted.push(performance.now());
    channel.port2.postMessage(0);
  });
  const seen = new WeakSet();
  new MutationObserver(() => {
    for (const picture of wrap.querySelectorAll('img:not(.ac-still img), .ac-view')) {
      if (seen.has(picture)) continue;
      seen.add(picture);
      if (picture.matches('img')) picture.decode().then(painted, () => null);
      else painted();
    }
  }).observe(wrap, {childList: true, subtree: true});
  wrap.querySelectorAll('img, .ac-view').forEach(picture => seen.add(picture));
  const stamp = event => { log.input = event.timeStamp; };
  document.addEventListener('keydown', stamp, true);
  document.addEventListener('pointermove', e => { if (e.buttons) stamp(e); }, true);
}
"""


def press(page, handle, key):
    """Milliseconds from a key press to the last picture that it changed; None: none did."""
    page.page.evaluate("window.latency.painted.length = 0")
    handle.press(key)
    page.settle()
    page.page.wait_for_timeout(100)
    took = page.page.evaluate("window.latency.painted.map(t => t - window.latency.input)")
    return max(took) if took else None


def drag(page, handle, events=60):
    """A fast drag: pictures drawn, and how long after the last event the last one came (ms)."""
    handle.press("Home")
    page.settle()
    track = handle.evaluate("""e => { const r = e.closest('.noUi-target').getBoundingClientRect();
        return [r.right, r.top + r.height / 2]; }""")
    box = handle.bounding_box()
    x = box["x"] + box["width"] / 2
    page.page.mouse.move(x, track[1])
    page.page.evaluate("window.latency.painted.length = 0")
    page.page.mouse.down()
    for k in range(1, events + 1):
        page.page.mouse.move(x + (track[0] - x) * k / events, track[1])
        time.sleep(0.01)
    page.page.mouse.up()
    page.settle()
    page.page.wait_for_timeout(300)
    return page.page.evaluate("""[window.latency.painted.length,
        Math.max(...window.latency.painted) - window.latency.input]""")


def measure(page, cell, rounds):
    """Key presses over all stops and back, then a drag, for the slider of one cell."""
    page.page.evaluate(WATCH, cell)
    handle = page.page.locator(".jp-Notebook .jp-Cell").nth(cell).locator(".noUi-handle").first
    handle.scroll_into_view_if_needed()
    handle.focus()
    handle.press("Home")
    page.settle()
    took = [press(page, handle, key) for _ in range(rounds)
            for key in ["ArrowRight"] * 9 + ["ArrowLeft"] * 9]
    return [t for t in took if t is not None], drag(page, handle)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2, help="turns of each of the two")
    arguments = parser.parse_args()
    browser_path = lab_module.find_browser()
    if browser_path is None:
        raise SystemExit("no browser found; set CHROMIUM")
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in (PANEL, RIVAL)],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    folder = tempfile.TemporaryDirectory()
    nbformat.write(notebook, Path(folder.name) / "latency.ipynb")
    server = lab_module.Lab(folder.name)
    names = ("panel", "interact")
    took, drags = {name: [] for name in names}, {name: [] for name in names}
    try:
        server.wait()
        with sync_playwright() as playwright:
            browser = lab_module.launch(playwright, browser_path)
            page = lab_module.NotebookPage(browser, server, "latency.ipynb", height=1400).run_all()
            for _ in range(arguments.rounds):
                for cell, name in enumerate(names):
                    times, dragged = measure(page, cell, 1)
                    took[name] += times
                    drags[name].append(dragged)
            page.close()
            browser.close()
    finally:
        server.stop()
        folder.cleanup()
    for name in names:
        middle, high = np.percentile(took[name], [50, 95])
        late = max(0, *(wait for _, wait in drags[name]))
        print(f"{name:9s} key to pixels: median {middle:6.1f} ms, p95 {high:6.1f} ms "
              f"(n = {len(took[name])}); drag of 60: {[n for n, _ in drags[name]]} pictures, "
              f"the last at most {late:.0f} ms = {late / middle:.1f} medians after the last event")
    ratios = np.percentile(took["interact"], [50, 95]) / np.percentile(took["panel"], [50, 95])
    print(f"ratio: {ratios[0]:.1f} by medians, {ratios[1]:.1f} by p95 (wanted: at least 5)")


if __name__ == "__main__":
    main()
