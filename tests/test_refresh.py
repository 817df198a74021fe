"""整理命令：小小的笔记本进去，应有的笔记本出来。"""

import base64
import io
from pathlib import Path

import nbformat
import numpy as np
import pytest
from matplotlib.image import imsave
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import refresh_notebooks as refresh

README = "# 说明\n" + "".join(f"<!-- {name} -->\n<!-- /{name} -->\n" for name in ("map", "address", "class"))


@pytest.fixture
def book(tmp_path):
    """一个临时的笔记本文件夹：写入格子，运行命令，读回来。"""
    return Book(tmp_path)


class Book:
    def __init__(self, folder):
        self.folder = folder / "notebooks"
        self.folder.mkdir()
        self.readme = folder / "README.md"
        self.readme.write_text(README, encoding="utf-8")

    def path(self, stem="04_three_steps"):
        return self.folder / f"{stem}.ipynb"

    def write(self, *cells, stem="04_three_steps", **metadata):
        nb = new_notebook(cells=[new_markdown_cell("# 题目"), *cells], metadata=metadata)
        nbformat.write(nb, self.path(stem))

    def run(self, *arguments):
        return refresh.main(list(arguments), folder=self.folder, readme=self.readme)

    def cells(self, stem="04_three_steps"):
        return nbformat.read(self.path(stem), as_version=4).cells


def png(shade, size=8):
    """一张纯灰的 PNG 的 base64。"""
    file = io.BytesIO()
    imsave(file, np.full((size, size, 3), shade), format="png")
    return base64.b64encode(file.getvalue()).decode()


def test_executes_in_order_and_settles_after_one_run(book, capsys):
    book.write(new_code_cell("x = 3"), new_code_cell("print(x * 7)", execution_count=9))
    assert book.run() == 0
    code = [cell for cell in book.cells() if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == [1, 2]
    assert code[1].outputs[0].text == "21\n"
    settled = book.path().read_bytes()
    assert b"\r" not in settled
    assert book.run("--check") == 0
    assert book.run() == 0
    assert book.path().read_bytes() == settled
    assert "有出入" not in capsys.readouterr().out


def test_check_writes_nothing_and_shows_the_digit_that_differs(book, capsys):
    book.write(new_code_cell("print('0.8125')"))
    book.run()
    changed = book.path().read_text(encoding="utf-8").replace('"0.8125\\n"', '"0.8126\\n"')
    book.path().write_text(changed, encoding="utf-8")
    capsys.readouterr()
    assert book.run("--check") == 1
    assert book.path().read_text(encoding="utf-8") == changed
    report = capsys.readouterr().out
    assert '-      "0.8126\\n"' in report
    assert '+      "0.8125\\n"' in report


def test_widget_view_is_stripped_and_its_short_text_stays(book):
    book.write(new_code_cell("import ipywidgets\nipywidgets.HTML('猫')"))
    assert book.run() == 0
    text = book.path().read_text(encoding="utf-8")
    assert "widget-view" not in text
    assert "HTML(value='猫')" in text
    assert set(nbformat.reads(text, as_version=4).metadata) == {"kernelspec", "language_info"}


def test_metadata_holds_no_version_no_time_and_only_tags(book):
    cell = new_code_cell(
        "pass", metadata={"tags": ["exercise"], "collapsed": True, "execution": {"iopub.status.busy": "2026"}}
    )
    book.write(
        cell,
        kernelspec={"name": "my-env", "display_name": "x", "language": "python"},
        language_info={"name": "python", "version": "3.11.7"},
        widgets={},
        jupytext={"formats": "ipynb,py"},
    )
    assert book.run("--no-run") == 0
    nb = nbformat.read(book.path(), as_version=4)
    assert nb.metadata.kernelspec == refresh.KERNELSPEC
    assert "version" not in nb.metadata.language_info
    assert [c.metadata for c in nb.cells if c.cell_type == "code"] == [{"tags": ["exercise"]}]


def test_human_ids_stay_random_ones_become_stable_and_none_repeats(book):
    def write(first, second):
        book.write(
            new_code_cell("a = 1", id=first), new_code_cell("a = 1", id=second), new_code_cell("b = 2", id="the-panel")
        )
        assert book.run("--no-run") == 0
        return [cell.id for cell in book.cells()]

    ids = write("0a1b2c3d", "0a1b2c3e")
    assert len(set(ids)) == len(ids)
    assert ids[4] == "the-panel"
    assert write("99999999", "12345678-1234-1234-1234-123456789abc") == ids


def test_id_survives_an_edit(book):
    book.write(new_code_cell("a = 1"))
    book.run("--no-run")
    nb = nbformat.read(book.path(), as_version=4)
    before = nb.cells[2].id
    nb.cells[2].source = "a = 2"
    nbformat.write(nb, book.path())
    book.run("--no-run")
    assert book.cells()[2].id == before


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import sys\nprint('糟糕', file=sys.stderr)", "糟糕"),
        ("import warnings\nwarnings.warn('过时了')", "过时了"),
        ("1 / 0", "ZeroDivisionError"),
        ("import os\nos._exit(1)", "Kernel died"),
    ],
)
def test_failing_cell_is_named_and_the_file_left_alone(book, capsys, source, reason):
    book.write(new_code_cell("x = 1"), new_code_cell(source))
    before = book.path().read_bytes()
    assert book.run() == 1
    report = capsys.readouterr().out
    assert "04_three_steps.ipynb，第 4 格" in report
    assert source in report
    assert reason in report
    assert book.path().read_bytes() == before


def test_a_cell_that_never_ends_is_a_failure(book, capsys, monkeypatch):
    monkeypatch.setattr(refresh, "CELL_TIMEOUT", 1)
    book.write(new_code_cell("while True: pass"))
    assert book.run() == 1
    assert "while True: pass" in capsys.readouterr().out


def test_navigation_links_only_to_what_is_there(book):
    for stem in ("01_the_cat", "04_three_steps", "10_causal_mask"):
        book.write(new_markdown_cell("正文"), stem=stem)
    assert book.run("--no-run") == 0
    middle, first, last = (book.cells(stem) for stem in ("04_three_steps", "01_the_cat", "10_causal_mask"))
    assert [cell.id for cell in middle][1::2] == ["navigation-top", "navigation-bottom"]
    assert middle[1].source == middle[3].source
    for link in ("](01_the_cat.ipynb)", "[地图](01_the_cat.ipynb)", "→](10_causal_mask.ipynb)"):
        assert link in middle[1].source
    assert "地图" not in first[1].source
    assert "←" not in first[1].source
    assert "→" not in last[1].source
    assert len(middle) == 4
    book.run("--no-run")
    assert len(book.cells()) == 4


def test_map_is_written_into_tagged_cell_and_readme(book):
    book.write(new_markdown_cell("旧的", metadata={"tags": ["map"]}), stem="01_the_cat")
    assert book.run("--no-run") == 0
    table = book.cells("01_the_cat")[2].source
    assert "](01_the_cat.ipynb)" in table
    assert "04_three_steps.ipynb" not in table
    assert "走查" in table
    readme = book.readme.read_text(encoding="utf-8")
    assert readme.startswith("# 说明\n<!-- map -->\n| 节 |")
    assert "](notebooks/01_the_cat.ipynb)" in readme
    assert book.run("--no-run", "--check") == 0


def test_readme_without_the_marks_is_refused(book, capsys):
    book.write()
    book.readme.write_text("# 说明\n", encoding="utf-8")
    assert book.run("--no-run") == 1
    assert "<!-- map -->" in capsys.readouterr().out


def test_notebook_outside_the_series_is_refused(book, capsys):
    book.write(stem="99_other")
    assert book.run("--no-run") == 1
    assert "99_other.ipynb" in capsys.readouterr().out


def test_picture_is_replaced_only_when_an_eye_sees_the_difference():
    def notebook(picture):
        html = f'<img alt="灰" src="data:image/png;base64,{picture}">'
        output = new_output("display_data", data={"image/png": picture, "text/html": html})
        return new_notebook(cells=[new_code_cell("draw()", id="picture", outputs=[output])])

    def kept(old, new):
        fresh = notebook(new)
        refresh.keep_pictures(notebook(old), fresh)
        data = fresh.cells[0].outputs[0].data
        # <img> 里嵌的是同一张图，不能只换一处。
        assert data["image/png"] in data["text/html"]
        return data["image/png"] == old

    assert kept(png(0.500), png(0.504))
    assert not kept(png(0.5), png(0.6))
    assert not kept(png(0.5, size=8), png(0.5, size=9))


def test_measured_times_settle_because_the_old_output_stays(book):
    timed = new_code_cell("# NBVAL_IGNORE_OUTPUT\nimport time\nprint(time.perf_counter_ns())", id="timed")
    shown = new_code_cell("import time\nprint(time.perf_counter_ns())", id="shown")
    book.write(timed, shown)
    assert book.run() == 0
    first = {cell.id: cell.get("outputs") for cell in book.cells()}
    assert book.run() == 0
    second = {cell.id: cell.get("outputs") for cell in book.cells()}
    assert first["timed"][0].text.strip().isdigit()
    assert second["timed"] == first["timed"]
    assert second["shown"] != first["shown"]


def test_what_a_slow_cell_prints_piece_by_piece_is_one_output(book):
    book.write(new_code_cell("import time\nfor n in (1, 2):\n    print(n, flush=True)\n    time.sleep(0.5)"))
    assert book.run() == 0
    assert [output.text for output in book.cells()[2].outputs] == ["1\n2\n"]


def test_names_choose_the_notebooks(book):
    book.write(new_code_cell("pass"), stem="04_three_steps")
    book.write(new_code_cell("1 / 0"), stem="05_scaling")
    assert book.run("04") == 0
    with pytest.raises(SystemExit):
        book.run("07")


# ---------------------------------------------------------------- 仓库的地址


@pytest.fixture
def address(tmp_path, monkeypatch):
    """一份清单文件的拷贝，命令只改它；测试过后，地址恢复原样。"""
    copy = tmp_path / "series.py"
    copy.write_text(Path(refresh.series.__file__).read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(refresh.series, "REPOSITORY", refresh.series.PLACEHOLDER)
    monkeypatch.setattr(refresh.set_repository, "__defaults__", (copy,))
    return copy


def test_one_command_sets_the_address_everywhere(book, address):
    book.write(new_code_cell("1 / 0"), new_markdown_cell("旧的", metadata={"tags": ["map"]}))
    assert book.run("--no-run") == 0
    for text in (book.readme.read_text(encoding="utf-8"), book.path().read_text(encoding="utf-8")):
        assert refresh.series.PLACEHOLDER in text
    assert "还没有公开" in book.readme.read_text(encoding="utf-8")
    # 不执行：这本笔记本执行起来会报错。
    assert book.run("--repository", "someone/the-cat") == 0
    readme, notebook = book.readme.read_text(encoding="utf-8"), book.path().read_text(encoding="utf-8")
    assert "https://mybinder.org/v2/gh/someone/the-cat/main?urlpath=lab/tree/notebooks/04_three_steps.ipynb" in notebook
    assert "https%3A%2F%2Fgithub.com%2Fsomeone%2Fthe-cat&" in readme
    assert "lab%2Ftree%2Fthe-cat%2Fnotebooks" in readme
    for text in (readme, notebook):
        assert refresh.series.PLACEHOLDER not in text
    assert "还没有公开" not in readme
    module = {}
    exec(address.read_text(encoding="utf-8"), module | {"__name__": "copy"}, module)
    assert module["REPOSITORY"] == "someone/the-cat"
    assert book.run("--no-run", "--check") == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["someone"],
        ["https://github.com/someone/the-cat"],
        ["someone/the cat"],
        ['a/b"c'],
        ["a/b", "--check"],
        ["a/b", "04"],
    ],
)
def test_what_is_not_owner_and_name_is_refused(book, address, arguments, capsys):
    book.write(new_code_cell("1"))
    before = address.read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        book.run("--repository", *arguments)
    assert "OWNER/NAME" in capsys.readouterr().err
    assert address.read_text(encoding="utf-8") == before
