"""重新执行并整理全部笔记本：唯一允许写 ``notebooks/*.ipynb`` 的命令。

用法::

    python tests/refresh_notebooks.py              # 全部
    python tests/refresh_notebooks.py 04 05        # 只要文件名以此开头的
    python tests/refresh_notebooks.py --no-run     # 不执行，只更新导航、地图和格式
    python tests/refresh_notebooks.py --check      # 什么也不写；有出入就报告，并以 1 退出
    python tests/refresh_notebooks.py --repository OWNER/NAME    # 换仓库的地址和全部链接，不执行

整理之后，同样的内容永远是同样的字节：

- 每次都用全新的内核从头执行；报错或往 stderr 写字的格子会被点名拒绝。
- 元数据只留下朴素的 ``python3`` 内核和标签 (tags)，不留时间和版本号。
- 带 ``navigation`` 标签的两个格子（标题之后、全文末尾）和带 ``map`` 标签的格子由
  ``attention_core/series.py`` 生成，手改无效。README 里的地图也是这样生成的。
- 带 ``exercise`` 标签的格子只要写一行 ``check("04-1")``：空着的函数，和它前面那格题目、提示、参考答案，
  都由 ``attention_core/exercises`` 生成，所以题目与检查永远是同一份。
- 活动控件的视图记录会被剥掉：没有内核时它只会显示“找不到模型”，还会让 GitHub 拒绝渲染。
- 格子的 id：像随机数的换成由内容算出的，其余原样保留，所以改一个格子只动一处。
- 重画的图若肉眼分辨不出差别，就保留旧的字节：换一版 matplotlib 不该改动每一张图。
- 写着 ``# NBVAL_IGNORE_OUTPUT`` 的格子（计时）照样执行，但保留旧的输出：每次量出来的时间都不同。
"""

import argparse
import asyncio
import base64
import difflib
import hashlib
import io
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from jupyter_client import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal, DeadKernelError
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, NbvalKernelspecManager
from nbval.plugin import find_comment_markers

from attention_core import series
from attention_core.exercises.frame import find
from attention_core.series import SERIES, neighbours

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
README = ROOT / "README.md"

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE_INFO = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
# 两张图的均方根差（0 到 255）不超过它，就当作同一张图。
PICTURE_TOLERANCE = 3.0
# 最慢的格子也该在这么多秒里算完。
CELL_TIMEOUT = 120
RANDOM_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){0,3}(-[0-9a-f]{12})?")
EXERCISE_CHECK = re.compile(r'^check\("([^"]*)"', re.MULTILINE)
REPOSITORY_LINE = re.compile(r"^REPOSITORY = .*$", re.MULTILINE)
REPOSITORY_NAME = re.compile(r"[A-Za-z0-9-]+/[A-Za-z0-9._-]+")
README_BLOCK = r"(<!-- {name}\b[^>]*-->\n).*?(<!-- /{name} -->)"
# README 里教人拼网址时用的 JupyterHub，谁也不会真有这个域名。
EXAMPLE_HUB = "https://hub.example.edu"


class RefreshError(Exception):
    """一本笔记本没法整理；消息说明是哪一本、哪一格、为什么。"""


# ---------------------------------------------------------------- 由清单生成的文字


def present_series(folder):
    """清单里在 ``folder`` 中已经有文件的那些。"""
    return tuple(notebook for notebook in SERIES if (folder / notebook.filename).exists())


def navigation_text(notebook, present):
    """一本笔记本顶上和底下那一行：前一本、地图、后一本。"""
    previous, following = neighbours(notebook, present)
    links = [f"第 {notebook.section} 节 · 约 {notebook.minutes} 分钟"]
    if previous:
        links.append(f"[← 第 {previous.section} 节 {previous.title}]({previous.filename})")
    if notebook is not present[0]:
        links.append(f"[地图]({present[0].filename})")
    if following:
        links.append(f"[第 {following.section} 节 {following.title} →]({following.filename})")
    return " | ".join(links)


def map_text(present, prefix="", *, online=True):
    """章节到笔记本的对照表；还没有的笔记本不给链接，``online`` 是要不要 Binder 那一列。"""
    rows = ["| 节 | 笔记本 | 读完带走 | 分钟 |", "|---|---|---|---|"]
    for notebook in SERIES:
        name = notebook.title
        if notebook in present:
            name = f"[{name}]({prefix}{notebook.filename})"
        rows.append(f"| {notebook.section} | {name} | {notebook.takeaway} | {notebook.minutes} |")
    if online:
        links = (f"[Binder]({notebook.binder_url})" if notebook in present else "" for notebook in SERIES)
        rows = [f"{row} {cell} |" for row, cell in zip(rows, ["不装也能跑", "---", *links], strict=True)]
    return "\n".join(rows)


def address_text():
    """README 里说明链接指向哪里的那句话；地址还没有定时，说怎样定。"""
    if series.REPOSITORY == series.PLACEHOLDER:
        return (
            f"**仓库还没有公开**：上面的 Binder 链接里写的是占位的 `{series.PLACEHOLDER}`，还打不开。公开以后运行一次 "
            "`.venv/bin/python tests/refresh_notebooks.py --repository OWNER/NAME`，全部链接就换成真的。"
        )
    page = f"https://github.com/{series.REPOSITORY}"
    return f"Binder 链接打开的是 [{series.REPOSITORY}]({page}) 的 {series.BRANCH} 分支。"


def readme_text(text, present):
    """换掉 README 里由清单生成的几块：地图、地址、一门课的链接。"""
    blocks = {
        "map": map_text(present, prefix="notebooks/"),
        "address": address_text(),
        "class": f"```text\n{SERIES[0].class_url(EXAMPLE_HUB)}\n```",
    }
    for name, content in blocks.items():
        pattern = re.compile(README_BLOCK.format(name=name), re.DOTALL)
        text, found = pattern.subn(lambda match, content=content: f"{match[1]}{content}\n{match[2]}", text)
        if found != 1:
            raise RefreshError(f"README.md：应当恰好有一对 <!-- {name} --> 标记，找到 {found} 对。")
    return text


def set_repository(name, source=Path(series.__file__)):
    """把清单里的仓库地址换成 ``name``，这一次运行里也立刻生效。"""
    text, found = REPOSITORY_LINE.subn(f'REPOSITORY = "{name}"', source.read_text(encoding="utf-8"))
    if found != 1:
        raise RefreshError(f"{source.name}：应当恰好有一行 REPOSITORY = …，找到 {found} 行。")
    write_text(source, text)
    series.REPOSITORY = name


def has_tag(cell, tag):
    """格子带不带这个标签。"""
    return tag in cell.metadata.get("tags", [])


def with_exercises(cells):
    """填好练习格子里空着的函数，在每格前面放上题目、提示和参考答案（旧的先拿掉）。"""
    for cell in cells:
        if has_tag(cell, "exercise-text"):
            continue
        asked = EXERCISE_CHECK.search(cell.source) if has_tag(cell, "exercise") else None
        if asked:
            try:
                exercise = find(asked[1])
            except ValueError as error:
                raise RefreshError(f"练习格子 {asked[0]}：{error}") from None
            cell.source = exercise.stub_code()
            yield nbformat.v4.new_markdown_cell(
                exercise.markdown(), id=f"exercise-{exercise.id}", metadata={"tags": ["exercise-text"]}
            )
        yield cell


def place_generated_cells(nb, notebook, present):
    """放好导航格子和练习（旧的先拿掉），重写地图格子。"""
    text = navigation_text(notebook, present)
    cells = [cell for cell in with_exercises(nb.cells) if not has_tag(cell, "navigation")]
    top, bottom = (
        nbformat.v4.new_markdown_cell(text, id=f"navigation-{place}", metadata={"tags": ["navigation"]})
        for place in ("top", "bottom")
    )
    nb.cells = [*cells[:1], top, *cells[1:], bottom]
    for cell in nb.cells:
        if has_tag(cell, "map"):
            cell.source = map_text(present)


# ---------------------------------------------------------------- 执行


def execute(nb, name, folder):
    """在 ``folder`` 里用全新的内核执行，输出写进 ``nb``。

    Raises
    ------
    RefreshError
        有格子报错、超时、弄死了内核，或者往 stderr 写了字。
    """
    current = []
    manager = AsyncKernelManager(kernel_name=CURRENT_ENV_KERNEL_NAME, kernel_spec_manager=NbvalKernelspecManager())
    client = NotebookClient(
        nb,
        km=manager,
        timeout=CELL_TIMEOUT,
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        coalesce_streams=True,  # 慢的格子会分几批打印，批次每次不同
        extra_arguments=["--HistoryManager.hist_file=:memory:"],
        on_cell_start=lambda cell, cell_index: current.append(cell_index),
    )
    try:
        # 内核自己写到终端的启动提示与笔记本无关；格子里的 stderr 走另一条路，下面会查。
        # 进度放在一个空文件夹里：存下来的是还没动手的样子，也不碰维护者自己的进度。
        with tempfile.TemporaryDirectory() as empty:
            environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ,
                           "ATTENTION_PROGRESS": str(Path(empty) / "progress.json")}
            asyncio.run(client.async_execute(cleanup_kc=True, stderr=subprocess.DEVNULL, env=environment))
    except (CellControlSignal, DeadKernelError) as error:
        message = getattr(error, "traceback", str(error))
        raise RefreshError(describe(nb, name, current[-1], message)) from None
    for index, cell in enumerate(nb.cells):
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                raise RefreshError(describe(nb, name, index, f"往 stderr 写了字：\n{output.text}"))


def describe(nb, name, index, message):
    """把一格的失败写成读得懂的话。"""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", message).strip()
    return f"{name}，第 {index + 1} 格：\n{nb.cells[index].source}\n----\n{plain}"


# ---------------------------------------------------------------- 整理


def stable_ids(cells):
    """留住像人起的 id，像随机数的、缺的、重复的换成由内容算出的。"""
    taken = set()
    for cell in cells:
        wanted = cell.get("id", "")
        if not wanted or wanted in taken or RANDOM_ID.fullmatch(wanted):
            digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()
            wanted = base = f"cell-{digest[:8]}"
            copies = 1
            while wanted in taken:
                copies += 1
                wanted = f"{base}-{copies}"
        taken.add(wanted)
        cell.id = wanted


def clean_output(output):
    """剥掉控件视图，元数据只留给仍在的图用（宽、高、替代文字）。"""
    if "data" not in output:
        return
    output.data.pop(WIDGET_VIEW, None)
    output.metadata = {kind: value for kind, value in output.metadata.items() if kind in output.data}


def normalise(nb):
    """整理元数据、id、源码末尾的空行和输出。"""
    nb.metadata = nbformat.from_dict({"kernelspec": KERNELSPEC, "language_info": LANGUAGE_INFO})
    nb.nbformat, nb.nbformat_minor = 4, 5
    for cell in nb.cells:
        tags = cell.metadata.get("tags")
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
        cell.source = cell.source.rstrip("\n")
        cell.pop("attachments", None)
        for output in cell.get("outputs", []):
            clean_output(output)
    stable_ids(nb.cells)


def looks_the_same(old, new):
    """两张 base64 的 PNG 是不是肉眼分辨不出差别。"""
    # 只有真的重画了图才用得着，所以不在文件开头导入。
    import numpy as np
    from matplotlib.image import imread
    from matplotlib.testing.compare import calculate_rms

    pictures = [imread(io.BytesIO(base64.b64decode(png)), format="png") for png in (old, new)]
    if pictures[0].shape != pictures[1].shape:
        return False
    old_pixels, new_pixels = (np.asarray(picture * 255.0) for picture in pictures)
    return calculate_rms(old_pixels, new_pixels) <= PICTURE_TOLERANCE


def keep_pictures(old, new):
    """新旧两本里分辨不出差别的图，用旧的字节。"""
    before = {cell.id: cell.get("outputs", []) for cell in old.cells}
    for cell in new.cells:
        pairs = zip(before.get(cell.id, []), cell.get("outputs", []), strict=False)
        for old_output, new_output in pairs:
            was, now = (output.get("data", {}).get("image/png") for output in (old_output, new_output))
            if was and now and was != now and looks_the_same(was, now):
                for kind in ("image/png", "text/html"):  # 带替代文字的 <img> 里是同一张图
                    if kind in new_output.data:
                        new_output.data[kind] = new_output.data[kind].replace(now, was)


def keep_uncompared(old, new):
    """nbval 不比较输出的格子，有旧的输出就用旧的。"""
    before = {cell.id: cell.get("outputs", []) for cell in old.cells}
    for cell in new.cells:
        is_compared = cell.cell_type != "code" or dict(find_comment_markers(cell.source)).get("check", True)
        if not is_compared and before.get(cell.id):
            cell.outputs = before[cell.id]


def refreshed(path, present, *, run=True):
    """一本笔记本现在的文字，和整理之后应有的文字。

    Parameters
    ----------
    path : Path
    present : sequence of Notebook
        清单里已有文件的那些，导航据此生成。
    run : bool, optional
        要不要重新执行。

    Returns
    -------
    before, after : str
    """
    by_stem = {notebook.stem: notebook for notebook in SERIES}
    if path.stem not in by_stem:
        raise RefreshError(f"{path.name}：清单 attention_core/series.py 里没有这一本。")
    before = path.read_text(encoding="utf-8")
    nb = nbformat.reads(before, as_version=4)
    place_generated_cells(nb, by_stem[path.stem], present)
    normalise(nb)
    if run:
        old = nbformat.from_dict(nb)
        execute(nb, path.name, path.parent)
        normalise(nb)
        keep_pictures(old, nb)
        keep_uncompared(old, nb)
    nbformat.validate(nb)
    return before, nbformat.writes(nb) + "\n"


def readable_diff(name, before, after, limit=60):
    """两份文字的差别；过长的行（多半是图）截短。"""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), f"{name} 现在", f"{name} 应当是", lineterm="", n=2
    )
    lines = [line if len(line) <= 160 else f"{line[:150]}… 共 {len(line)} 字" for line in lines]
    if len(lines) > limit:
        lines[limit:] = [f"… 还有 {len(lines) - limit} 行"]
    return "\n".join(lines)


# ---------------------------------------------------------------- 命令


def write_text(path, text):
    """整个写好再换上去，中途打断也不会留下半本。"""
    draft = path.with_name(f".{path.name}.tmp")
    draft.write_text(text, encoding="utf-8", newline="\n")
    draft.replace(path)


def settle(path, work, *, check):
    """算出一个文件应有的样子，写下或比较；返回它是否无可挑剔。"""
    start = time.perf_counter()
    try:
        before, after = work()
    except RefreshError as error:
        print(f"失败 {error}\n", flush=True)
        return False
    took = f"{time.perf_counter() - start:.1f} 秒"
    if before == after:
        print(f"不变 {path.name} {took}", flush=True)
        return True
    if check:
        print(f"有出入 {path.name} {took}\n{readable_diff(path.name, before, after)}\n", flush=True)
        return False
    write_text(path, after)
    print(f"已更新 {path.name} {took}", flush=True)
    return True


def main(arguments=None, *, folder=NOTEBOOKS, readme=README):
    """命令行入口；返回退出码。"""
    parser = argparse.ArgumentParser(description="重新执行并整理笔记本。")
    parser.add_argument("names", nargs="*", help="只处理文件名以此开头的笔记本")
    parser.add_argument("--check", action="store_true", help="只比较，不写；有出入就以 1 退出")
    parser.add_argument("--no-run", action="store_true", help="不执行，只整理")
    parser.add_argument("--repository", metavar="OWNER/NAME", help="换仓库的地址和全部链接，不执行笔记本")
    options = parser.parse_args(arguments)
    if options.repository:
        if options.check or options.names or not REPOSITORY_NAME.fullmatch(options.repository):
            parser.error("--repository 应为 OWNER/NAME 的样子，单独使用")
        set_repository(options.repository)
        options.no_run = True
    present = present_series(folder)
    paths = [
        path
        for path in sorted(folder.glob("*.ipynb"))
        if not options.names or path.name.startswith(tuple(options.names))
    ]
    if not paths:
        parser.error(f"在 {folder} 里没有找到这样的笔记本")

    def settle_notebook(path):
        return settle(path, lambda: refreshed(path, present, run=not options.no_run), check=options.check)

    # 两个内核同时跑：再多，普通的机器也快不起来。
    with ThreadPoolExecutor(max_workers=2) as pool:
        fine = list(pool.map(settle_notebook, paths))

    def readme_work():
        text = readme.read_text(encoding="utf-8")
        return text, readme_text(text, present)

    fine.append(settle(readme, readme_work, check=options.check))
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
