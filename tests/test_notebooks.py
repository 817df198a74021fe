"""每本笔记本守每条规矩；每条规矩抓得住它的反例；nbval 抓得住一个改错的数字。"""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import notebook_rules
from attention_core.series import SERIES
from notebook_rules import RULES, Page
from refresh_notebooks import NOTEBOOKS, ROOT, WIDGET_VIEW, normalise, place_generated_cells

DATA = Path(__file__).parent / "data"
PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))


def test_there_are_notebooks_and_all_belong_to_the_series():
    assert PATHS
    assert {path.stem for path in PATHS} <= {notebook.stem for notebook in SERIES}


@pytest.fixture(scope="module", params=PATHS, ids=lambda path: path.stem)
def page(request):
    return Page.read(request.param)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_rule(rule, page):
    violations = list(rule(page))
    assert not violations, "\n".join(violations)


# ---------------------------------------------------------------- 规矩真的抓得住


def good_notebook():
    """一本守规矩的小笔记本。"""
    cells = [
        new_markdown_cell("# 题目\n\n**粗体**，和[一节](#小-节)。"),
        new_markdown_cell('## 小 节\n\n<img src="04_three_steps.ipynb" alt="图">'),
        new_markdown_cell("正文"),
        new_code_cell("from attention_core import softmax\n\nx = 1"),
    ]
    for n in range(22):
        output = new_output("stream", name="stdout", text=f"{n}.8125\n")
        cells.append(new_code_cell(f"print({n}.8125)", outputs=[output]))
    for count, cell in enumerate(cells[3:], 1):
        cell.execution_count = count
    return new_notebook(cells=cells)


def page_of(nb, folder):
    """把 ``nb`` 整理好，写进 ``folder``，当作第 4 节的笔记本读回来。"""
    notebook = SERIES[3]
    path = folder / notebook.filename
    place_generated_cells(nb, notebook, (notebook,))
    normalise(nb)
    path.write_text(nbformat.writes(nb), encoding="utf-8")
    return Page.read(path)


def spoil(change):
    """整理好之后再弄坏：``change`` 接笔记本的 cells 和 nb。"""

    def spoiled(folder):
        page = page_of(good_notebook(), folder)
        nb = nbformat.from_dict(page.nb)
        change(nb)
        page.path.write_text(nbformat.writes(nb), encoding="utf-8")
        return Page.read(page.path)

    return spoiled


# 整理好之后的位置：正文，导入，第一个只打印的代码格子，最后一个代码格子
TEXT, IMPORT, FIRST, LAST = 3, 4, 5, -2


def source(text, cell=FIRST, **extra):
    """把一格的源码换掉。"""

    def change(nb):
        nb.cells[cell].update({"source": text, **extra})

    return spoil(change)


def output(kind="display_data", cell=FIRST, **fields):
    """给一格换一份输出。"""

    def change(nb):
        nb.cells[cell].outputs = [new_output(kind, **fields)]

    return spoil(change)


def printed(text):
    return output("stream", name="stdout", text=text)


def markdown(text):
    return source(text, cell=TEXT)


def attribute(**changes):
    """改动一格的属性。"""
    return spoil(lambda nb: nb.cells[FIRST].update(changes))


def metadata(**changes):
    return spoil(lambda nb: nb.metadata.update(changes))


LONG = "\n".join(f"x{n} = {n}" for n in range(16))

VIOLATIONS = {
    "executed_in_order": [attribute(execution_count=None), attribute(execution_count=7)],
    "no_errors_and_no_stderr": [
        output("stream", name="stderr", text="糟"),
        output("error", ename="ValueError", evalue="糟", traceback=[]),
    ],
    "plain_metadata": [
        metadata(widgets={"state": {}}),
        metadata(kernelspec={"name": "mine", "display_name": "mine", "language": "python"}),
        metadata(language_info={"name": "python", "version": "3.11.7"}),
        attribute(metadata={"collapsed": True}),
        attribute(metadata={"execution": {"iopub.status.busy": "2026"}}),
        output(data={"text/plain": "x"}, metadata={"时间": 3}),
    ],
    "no_widget_views": [output(data={WIDGET_VIEW: {"model_id": "1"}, "text/plain": "x"})],
    "small_file": [source("x = 1\n# " + "长" * 200_000)],
    "output_is_the_same_everywhere": [
        printed("<object object at 0x7f3a10aa20>"),
        printed("np.float64(0.8125)"),
        printed("差 -0.0000"),
        printed("-0"),
        printed("/home/me/x"),
        printed("0.81250000001"),
        output(data={"text/html": "<p>0.81250000001</p>"}),
    ],
    "generated_cells_are_current": [
        spoil(lambda nb: nb.cells.pop(1)),
        spoil(lambda nb: nb.cells.pop()),
        source("第 5 节", cell=1),
        spoil(lambda nb: nb.cells.append(new_markdown_cell("旧的地图", metadata={"tags": ["map"]}))),
    ],
    "one_title_at_the_top": [source("没有标题", cell=0), markdown("# 第二个题目")],
    "links_resolve": [
        markdown("[没有](05_scaling.ipynb)"),
        markdown("[没有](#没有)"),
        markdown("[没有](04_three_steps.ipynb#没有)"),
        markdown('<a href="no.md">没有</a>'),
        markdown("![图](no.png)"),
    ],
    "pictures_have_alternative_text": [
        markdown("![](04_three_steps.ipynb)"),
        markdown('<img src="04_three_steps.ipynb">'),
        markdown("<svg></svg>"),
        output(data={"text/html": "<img src='data:,' alt=' '>"}),
        output(data={"text/html": "<figure><svg><path/></svg></figure>"}),
        output(data={"image/png": "aGk=", "text/plain": "<Figure>"}),
    ],
    "plain_python": [source("%matplotlib inline"), source("!ls")],
    "right_number_of_cells": [
        spoil(lambda nb: nb.cells.__delitem__(slice(5, 10))),
        spoil(lambda nb: nb.cells.extend(new_markdown_cell("多") for _ in range(25))),
    ],
    "short_cells": [
        source(LONG),
        spoil(lambda nb: [cell.update(source="x = 1\n" * 6) for cell in nb.cells[IMPORT:-1]]),
    ],
    "only_the_reader_defines_functions": [
        source("def f(x):\n    return x"),
        source("class A:\n    pass"),
        source("if x:\n    def f(x):\n        return x"),
    ],
    "imports_the_core": [source("import numpy", cell=IMPORT)],
    "core_names_keep_their_meaning": [
        source("def softmax(x):\n    return x"),
        source("score = 3"),
        source("for score in []:\n    pass"),
        source("from numpy import exp as softmax"),
    ],
    "no_trailing_semicolon": [source("x;"), source("x; \n")],
    "every_ignored_output_is_checked_beside": [
        source("# NBVAL_IGNORE_OUTPUT\nx", cell=LAST),
        source("# NBVAL_SKIP\nx", cell=LAST),
        attribute(metadata={"tags": ["raises-exception"]}),
        spoil(
            lambda nb: (
                nb.cells[FIRST].update(metadata={"tags": ["nbval-ignore-output"]}),
                nb.cells[FIRST + 1].update(outputs=[]),
            )
        ),
    ],
}


def test_a_good_notebook_breaks_no_rule(tmp_path):
    page = page_of(good_notebook(), tmp_path)
    assert {rule.__name__: list(rule(page)) for rule in RULES if list(rule(page))} == {}


def test_what_is_allowed_breaks_no_rule(tmp_path):
    """容易被误伤的写法。"""
    allowed = {
        "only_the_reader_defines_functions": source(
            "def my_softmax(x):\n    return x", metadata={"tags": ["exercise"]}
        ),
        "every_ignored_output_is_checked_beside": source("# NBVAL_IGNORE_OUTPUT\nx"),
        "pictures_have_alternative_text": output(data={"image/png": "aGk="}, metadata={"image/png": {"alt": "猫最高"}}),
        "output_is_the_same_everywhere": printed("-0.0001 和 10-0.5 和 0.8125"),
        "links_resolve": markdown("[论文](https://arxiv.org/abs/1706.03762)"),
    }
    for name, spoiled in allowed.items():
        assert list(getattr(notebook_rules, name)(spoiled(tmp_path))) == [], name


def test_every_rule_has_a_violation():
    assert set(VIOLATIONS) == {rule.__name__ for rule in RULES}


@pytest.mark.parametrize(
    ("name", "spoiled"),
    [
        pytest.param(name, spoiled, id=f"{name}-{n}")
        for name, cases in VIOLATIONS.items()
        for n, spoiled in enumerate(cases)
    ],
)
def test_rule_catches_its_violation(name, spoiled, tmp_path):
    assert list(getattr(notebook_rules, name)(spoiled(tmp_path)))


# ---------------------------------------------------------------- nbval 真的在比较


def run_pytest(folder):
    """用本项目自己的设置，在别的当前目录里跑一个文件夹的笔记本。"""
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-c",
            str(ROOT / "pyproject.toml"),
            "-p",
            "no:cacheprovider",
            "--color=no",
            str(folder),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
    )


def test_one_wrong_digit_makes_pytest_fail(tmp_path):
    """``one_wrong_digit.ipynb`` 存着 0.8126；算出来的是 0.8125。改对了的那一本要通过。"""
    wrong = (DATA / "one_wrong_digit.ipynb").read_text(encoding="utf-8")
    assert wrong.count("0.8126\\n") == 1
    (tmp_path / "wrong.ipynb").write_text(wrong, encoding="utf-8")
    right = wrong.replace("0.8126\\n", "0.8125\\n")
    (tmp_path / "right.ipynb").write_text(right, encoding="utf-8")
    result = run_pytest(tmp_path)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "1 failed, 5 passed" in result.stdout
    assert "'0.8126\\n' == '0.8125\\n'" in result.stdout
