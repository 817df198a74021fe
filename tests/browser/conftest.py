"""One JupyterLab and one browser for all browser tests."""

import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import lab as lab_module

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def browser():
    # Module scope, not session: Playwright keeps an event loop running in this thread, and the
    # notebook tests that come later need one of their own.
    path = lab_module.find_browser()
    if path is None:
        message = (f"没有浏览器：PATH 里找不到 {', '.join(lab_module.BROWSER_NAMES)}，"
                   "环境变量 CHROMIUM 也没有设")
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import sync_playwright
    with sync_playwright() as playwright:
        running = lab_module.launch(playwright, path)
        yield running
        running.close()


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebooks")
    shutil.copytree(ROOT / "notebooks", folder, dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    running = lab_module.Lab(folder)
    try:
        yield running.wait()
    finally:
        running.stop()
