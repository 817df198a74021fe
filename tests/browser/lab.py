"""A private JupyterLab server, and a notebook open in a real browser page.

Used by the browser tests and by `tests/benchmarks/panel_latency.py`.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

BROWSER_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# No network of its own, and no sandbox: in containers there is none to be had.
BROWSER_ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"]

# What JupyterLab itself complains about on every page, with or without a notebook of ours.
NOT_OURS = ("favicon", "api/lsp", "ResizeObserver loop")

NOTEBOOK = "window.jupyterapp.shell.currentWidget"
KERNEL = f"{NOTEBOOK}.sessionContext.session.kernel"

# Helpers inside the page. `settle` waits until the kernel is done with everything that was sent to
# it, and the page with everything that came back. JupyterLab sends the messages of widgets to a
# thread of their own in the kernel ("subshell"), so an answer on the main one says nothing about
# them: each is followed until its idle status.
IN_PAGE = """
window.driver = {
  frame: () => new Promise(requestAnimationFrame),
  follow: () => {
    const waiting = window.driver.waiting = new Set();
    KERNEL.anyMessage.connect((_, {msg, direction}) => {
      if (direction === 'send' && msg.header.msg_type === 'comm_msg')
        waiting.add(msg.header.msg_id);
      if (msg.header.msg_type === 'status' && msg.content.execution_state === 'idle')
        waiting.delete(msg.parent_header.msg_id);
    });
  },
  settle: async () => {
    await window.driver.frame();
    await KERNEL.requestKernelInfo();
    let quiet = 0;
    while (quiet < 2) {
      quiet = window.driver.waiting.size ? 0 : quiet + 1;
      await window.driver.frame();
    }
  },
  tell: async code => {
    const future = KERNEL.requestExecute({code, store_history: false, stop_on_error: false});
    let out = '';
    future.onIOPub = m => {
      if (m.header.msg_type === 'stream') out += m.content.text;
      if (m.header.msg_type === 'error') out += m.content.traceback.join('\\n');
    };
    await future.done;
    return out;
  },
  // What a panel shows: its controls as the reader reads them, the finding, every SVG element.
  read: id => {
    const panel = document.querySelector('.ac-' + id);
    const visible = e => e.checkVisibility();
    const row = panel.querySelector('.widget-box');
    const settings = Array.from(row.children).filter(c => !c.matches('button')).map(c => {
      const box = c.querySelector('input[type=checkbox]');
      if (box) return box.checked;
      const list = c.querySelector('select');
      // ipywidgets writes the spaces of a list's texts as no-break spaces.
      if (list) return list.selectedOptions[0].textContent.replaceAll('\u00a0', ' ');
      const field = c.querySelector('input');
      return field ? field.value : c.querySelector('.widget-readout').textContent;
    });
    const picture = Array.from(panel.querySelectorAll('.ac-view svg, .ac-view svg *')).map(e => [
      e.tagName, Object.fromEntries(Array.from(e.attributes, a => [a.name, a.value])),
      Array.from(e.childNodes).filter(n => n.nodeType === 3).map(n => n.data).join('')]);
    return {settings, finding: panel.querySelector('.ac-finding').textContent.trim(), picture,
            visible: Array.from(panel.querySelectorAll('.ac-view svg')).every(visible)};
  },
  // Per frame while something moves: is a picture there, did the height change?
  watch: id => {
    const panel = document.querySelector('.ac-' + id);
    const frames = window.driver.frames = [];
    window.driver.watching = true;
    const look = () => {
      if (!window.driver.watching) return;
      const pictures = Array.from(panel.querySelectorAll('.ac-view svg'));
      const good = pictures.length > 0 && pictures.every(
        p => p.checkVisibility() && p.getBoundingClientRect().height > 20 && p.childNodes.length);
      frames.push([panel.getBoundingClientRect().height, good]);
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  },
  // Outputs that stick out of their cell, and text that became too small to read.
  faults: () => {
    const found = [];
    for (const output of document.querySelectorAll('.jp-Cell-outputWrapper')) {
      const edge = output.getBoundingClientRect().right;
      if (!edge) continue;
      for (const e of output.querySelectorAll(
          'img,svg,table,pre,button,select,input,.noUi-target,.widget-readout,.ac-finding')) {
        const box = e.getBoundingClientRect();
        if (box.width && box.right > edge + 1)
          found.push(`${e.tagName} sticks out by ${Math.round(box.right - edge)} px`);
      }
      for (const svg of output.querySelectorAll('.ac-view svg')) {
        const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
        const size = scale * parseFloat(getComputedStyle(svg).fontSize);
        if (size < 11) found.push(`text of ${size.toFixed(1)} px`);
      }
    }
    return found;
  },
};
""".replace("KERNEL", KERNEL)


def find_browser():
    """The browser's path: ``$CHROMIUM``, or the first known name on the PATH, or None."""
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, BROWSER_NAMES)), None)


def launch(playwright, path):
    return playwright.chromium.launch(executable_path=path, headless=True, args=BROWSER_ARGUMENTS)


class Lab:
    """JupyterLab serving ``folder`` on this machine only, with settings of its own."""

    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        self.private = Path(tempfile.mkdtemp(prefix="lab-"))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        settings = self.private / "settings" / "@jupyterlab" / "apputils-extension"
        settings.mkdir(parents=True)
        (settings / "notification.jupyterlab-settings").write_text(
            json.dumps({"fetchNews": "false", "checkForUpdates": False}), encoding="utf-8")
        # A kernel started from inside pytest must not take itself for a part of pytest.
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("PYTEST")}
        environment.update(
            {f"JUPYTER_{kind.upper()}_DIR": str(self.private / kind)
             for kind in ("config", "data", "runtime")},
            IPYTHONDIR=str(self.private / "ipython"),
            # Beside a busy browser, threads of BLAS that wait for each other take 15 times as long.
            OPENBLAS_NUM_THREADS="1",
            JUPYTERLAB_SETTINGS_DIR=str(self.private / "settings"),
            JUPYTERLAB_WORKSPACES_DIR=str(self.private / "workspaces"))
        self.log = (self.private / "log").open("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1",
             f"--port={self.port}", "--IdentityProvider.token=", "--ServerApp.password=",
             "--LabApp.expose_app_in_browser=True", "--LabApp.news_url=",
             "--ServerApp.disable_check_xsrf=True",
             # The expected pictures come back as one long print.
             "--ZMQChannelsWebsocketConnection.iopub_data_rate_limit=1e9", f"--ServerApp.root_dir={self.folder}"],
            cwd=self.folder, env=environment, stdout=self.log, stderr=subprocess.STDOUT,
            start_new_session=True)

    def wait(self, seconds=60):
        """Return when the server answers."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                with urllib.request.urlopen(self.url + "/api/status", timeout=2):
                    return self
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.log.seek(0)
                    raise RuntimeError("JupyterLab did not start:\n" + self.log.read()) from None
                time.sleep(0.05)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        self.log.close()
        shutil.rmtree(self.private, ignore_errors=True)


class NotebookPage:
    """One notebook in one browser page."""

    def __init__(self, browser, lab, name, width=1280, height=900):
        self.context = browser.new_context(viewport={"width": width, "height": height})
        self.page = self.context.new_page()
        self.complaints = []
        self.page.on("console", lambda message: message.type == "error"
                     and self._complain(f"{message.text} ({message.location.get('url')})"))
        self.page.on("pageerror", lambda error: self._complain(str(error)))
        # A workspace of its own, or JupyterLab would bring back the notebooks opened before.
        workspace = Path(name).stem
        self.page.goto(f"{lab.url}/lab/workspaces/{workspace}/tree/{name}", wait_until="commit")
        self.wait_for(f"window.jupyterapp?.shell && {NOTEBOOK}?.context?.isReady"
                      " && document.querySelector('.jp-Notebook .jp-Cell')")
        self.page.evaluate("window.jupyterapp.shell.collapseLeft()")
        self.page.evaluate(IN_PAGE)
        self.ran = False

    def _complain(self, text):
        if not any(part in text for part in NOT_OURS):
            self.complaints.append(text)

    def wait_for(self, condition, seconds=90):
        self.page.wait_for_function(f"(() => !!({condition}))()", timeout=seconds * 1000,
                                    polling=30)

    def run_all(self):
        """Run every cell, once."""
        if not self.ran:
            self.wait_for(f"{NOTEBOOK}.sessionContext.session?.kernel?.status === 'idle'")
            self.page.evaluate("window.driver.follow()")
            self.page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
            self.settle()
            # What a callback raises reaches no cell, only the kernel's message stream.
            self.page.evaluate(f"""window.driver.stray = [];
                {NOTEBOOK}.sessionContext.iopubMessage.connect((_, m) => {{
                  if (m.parent_header?.msg_type === 'execute_request') return;
                  if (m.header.msg_type === 'error') window.driver.stray.push(m.content.evalue);
                  if (m.header.msg_type === 'stream' && m.content.name === 'stderr')
                    window.driver.stray.push(m.content.text); }})""")
            self.ran = True
        return self

    def settle(self):
        self.page.evaluate("window.driver.settle()")

    def panels(self):
        """Ids of the live panels, from the top of the page to its end."""
        return self.page.evaluate("""Array.from(document.querySelectorAll('.jp-Notebook .ac-panel'),
            e => Array.from(e.classList).find(c => /^ac-[0-9a-f]{32}$/.test(c)).slice(3))""")

    def read(self, panel):
        return self.page.evaluate("id => window.driver.read(id)", panel)

    def tell(self, code):
        """Run code in the notebook's kernel; what it prints."""
        return self.page.evaluate("code => window.driver.tell(code)", code)

    def controls(self, panel):
        """Handles, check boxes, lists and fields of a panel, as locators, in order."""
        found = self.page.locator(
            f".ac-{panel} :is(.noUi-handle, select, input[type=checkbox], input[type=text])")
        return [found.nth(i) for i in range(found.count())]

    def drag(self, handle, panel, events=60, milliseconds=10):
        """Drag a slider from one end to the other; [height, picture is there] of every frame."""
        handle.scroll_into_view_if_needed()
        handle.press("Home")
        self.settle()
        track = handle.evaluate("""e => { const r = e.closest('.noUi-target')
            .getBoundingClientRect(); return [r.left, r.top + r.height / 2, r.width]; }""")
        box = handle.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.page.mouse.move(x, y)
        self.page.evaluate("id => window.driver.watch(id)", panel)
        self.page.mouse.down()
        for k in range(1, events + 1):
            self.page.mouse.move(x + (track[0] + track[2] - x) * k / events, y)
            time.sleep(milliseconds / 1000)
        self.page.mouse.up()
        self.settle()
        return self.page.evaluate("(window.driver.watching = false, window.driver.frames)")

    def close(self):
        """Close the page and end its kernel."""
        self.page.evaluate(f"{NOTEBOOK}.sessionContext.shutdown()")
        self.context.close()
