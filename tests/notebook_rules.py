"""笔记本的规矩：每条规矩是一个函数，接一本笔记本，逐条说出它违反在哪里。

规矩只看存下来的文件，不执行；数字对不对由 nbval 管。新规矩写成一个带 ``@rule`` 的函数，
再到 ``test_notebooks.py`` 里给它一个必须被抓住的反例。
"""

import ast
import re
import statistics
from dataclasses import dataclass
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
from markdown_it import MarkdownIt
from nbval.plugin import find_comment_markers, find_metadata_tags

import attention_core
from attention_core.series import SERIES
from refresh_notebooks import (
    KERNELSPEC,
    LANGUAGE_INFO,
    WIDGET_VIEW,
    has_tag,
    place_generated_cells,
    present_series,
)

FEWEST_CELLS, MOST_CELLS = 25, 45
LONGEST_CELL, MEDIAN_CELL = 15, 5
LARGEST_FILE = 600_000

RULES = []


def rule(function):
    """把一条规矩登记进 RULES。"""
    RULES.append(function)
    return function


class Tags(HTMLParser):
    """一段 HTML 里的起始标签，以及每个 svg 里有没有 title。"""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.open_svg = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        if tag == "svg":
            self.open_svg.append(attributes)
        elif tag == "title" and self.open_svg:
            self.open_svg[-1]["title"] = True

    def handle_endtag(self, tag):
        if tag == "svg" and self.open_svg:
            self.open_svg.pop()


def missing_alternatives(html):
    """一段 HTML 里没有替代文字的图。"""
    for tag, attributes in Tags(html).tags:
        if tag == "img" and not (attributes.get("alt") or "").strip():
            yield "<img> 没有替代文字 alt"
        if tag == "svg" and not (
            attributes.get("title")
            or (attributes.get("aria-label") or "").strip()
            or attributes.get("aria-labelledby")
            or attributes.get("aria-hidden") == "true"
        ):
            yield "<svg> 没有 <title> 或 aria-label"


class Markdown:
    """一段 Markdown 经 CommonMark 解析之后的样子。"""

    parser = MarkdownIt("commonmark").enable("table")

    def __init__(self, source):
        # 公式里的 * 和 _ 不是 Markdown。
        without_math = re.sub(r"\$\$.*?\$\$|\$[^$\n]+\$", "", source, flags=re.DOTALL)
        self.texts, self.links, self.images, self.html, self.headings = [], [], [], [], []
        blocks = self.parser.parse(without_math)
        for place, block in enumerate(blocks):
            if block.type == "html_block":
                self.html.append(block.content)
            for token in block.children or []:
                self.read(token)
            if block.type == "inline" and blocks[place - 1].type == "heading_open":
                text = "".join(token.content for token in block.children)
                self.headings.append((blocks[place - 1].tag, text))
        for html in self.html:
            self.links += [
                attributes[name]
                for _, attributes in Tags(html).tags
                for name in ("href", "src")
                if attributes.get(name)
            ]

    def read(self, token):
        if token.type == "text":
            self.texts.append(token.content)
        elif token.type == "html_inline":
            self.html.append(token.content)
        elif token.type == "link_open":
            self.links.append(token.attrs["href"])
        elif token.type == "image":
            self.images.append(token.content)
            self.links.append(token.attrs["src"])


@dataclass
class Page:
    """一本笔记本，连同它的文件。"""

    path: Path
    text: str

    @classmethod
    def read(cls, path):
        return cls(path, path.read_text(encoding="utf-8"))

    @cached_property
    def nb(self):
        return nbformat.reads(self.text, as_version=4)

    @cached_property
    def code(self):
        """代码格子，连同它们从 1 数起的位置。"""
        return [(n, cell) for n, cell in enumerate(self.nb.cells, 1) if cell.cell_type == "code"]

    @cached_property
    def markdown(self):
        return [(n, Markdown(cell.source)) for n, cell in enumerate(self.nb.cells, 1) if cell.cell_type == "markdown"]

    @cached_property
    def trees(self):
        return [(n, cell, ast.parse(cell.source)) for n, cell in self.code if is_python(cell)]

    @cached_property
    def outputs(self):
        return [(n, output) for n, cell in self.code for output in cell.outputs]


def is_python(cell):
    """格子是不是普通的 Python（魔法命令不是）。"""
    try:
        ast.parse(cell.source)
    except SyntaxError:
        return False
    return True


def output_texts(output):
    """一份输出里所有给人看的文字。"""
    if output.output_type == "stream":
        return [output.text]
    return [text for kind, text in output.get("data", {}).items() if kind.startswith("text/")]


# ---------------------------------------------------------------- 执行过、干净


@rule
def executed_in_order(page):
    for expected, (n, cell) in enumerate(page.code, 1):
        if cell.execution_count != expected:
            yield f"第 {n} 格：执行次序是 {cell.execution_count}，应当是 {expected}"


@rule
def no_errors_and_no_stderr(page):
    for n, output in page.outputs:
        if output.output_type == "error":
            yield f"第 {n} 格：存着一个错误 {output.ename}"
        elif output.get("name") == "stderr":
            yield f"第 {n} 格：往 stderr 写了字"


@rule
def plain_metadata(page):
    if page.nb.metadata != {"kernelspec": KERNELSPEC, "language_info": LANGUAGE_INFO}:
        yield f"元数据应当只有朴素的 python3 内核，现在是 {dict(page.nb.metadata)}"
    for n, cell in enumerate(page.nb.cells, 1):
        if set(cell.metadata) - {"tags"}:
            yield f"第 {n} 格：元数据里有 {sorted(cell.metadata)}，只该有 tags"
    for n, output in page.outputs:
        if set(output.get("metadata", {})) - set(output.get("data", {})):
            yield f"第 {n} 格：输出的元数据里有 {sorted(output.metadata)}"


@rule
def no_widget_views(page):
    for n, output in page.outputs:
        if WIDGET_VIEW in output.get("data", {}):
            yield f"第 {n} 格：存着控件的视图，没有内核时它显示不出来"


@rule
def small_file(page):
    size = len(page.text.encode())
    if size >= LARGEST_FILE:
        yield f"文件有 {size} 字节，应当小于 {LARGEST_FILE}"


@rule
def output_is_the_same_everywhere(page):
    unstable = {
        r"\b0x[0-9a-f]{6,}": "内存地址",
        r"\bnp\.\w+\(": "numpy 标量的写法，请先格式化",
        r"(?<![\w.])-0(\.0+)?(?![\w.])": '负零，请用 f"{x:z.4f}"',
        r"/(home|root|tmp|usr|Users)/|[A-Z]:\\": "某台机器上的路径",
        r"\d\.\d{7,}": "太多位小数，最后几位会随处理器变",
    }
    for n, output in page.outputs:
        for text in output_texts(output):
            # 嵌在网页里的图是编码过的数据，不是给人读的数字。
            readable = re.sub(r"data:[^\"')]*", "", text)
            for pattern, name in unstable.items():
                if found := re.search(pattern, readable):
                    yield f"第 {n} 格：输出里有{name}：{found[0]}"


# ---------------------------------------------------------------- 由清单生成的、链接、图


@rule
def generated_cells_are_current(page):
    expected = nbformat.from_dict(page.nb)
    notebook = next(entry for entry in SERIES if entry.stem == page.path.stem)
    place_generated_cells(expected, notebook, present_series(page.path.parent))
    if [cell.source for cell in page.nb.cells] != [cell.source for cell in expected.cells]:
        yield "导航或地图不是现在的清单生成的：运行 tests/refresh_notebooks.py --no-run"


@rule
def one_title_at_the_top(page):
    titles = [n for n, markdown in page.markdown for tag, _ in markdown.headings if tag == "h1"]
    if titles != [1]:
        yield f"应当只有第 1 格里有一个一级标题，现在一级标题在第 {titles} 格"


def headings(page):
    """JupyterLab 给标题的锚点：空格换成连字符。"""
    return {text.replace(" ", "-") for _, markdown in page.markdown for _, text in markdown.headings}


@rule
def links_resolve(page):
    for n, markdown in page.markdown:
        for link in markdown.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = page.path.parent / unquote(parts.path) if parts.path else page.path
            if not target.is_file():
                yield f"第 {n} 格：链接指向的文件不存在：{link}"
            elif parts.fragment:
                other = page if target == page.path else Page.read(target)
                if unquote(parts.fragment) not in headings(other):
                    yield f"第 {n} 格：{target.name} 里没有这个标题：#{unquote(parts.fragment)}"


@rule
def pictures_have_alternative_text(page):
    for n, markdown in page.markdown:
        if not all(alternative.strip() for alternative in markdown.images):
            yield f"第 {n} 格：Markdown 图片没有替代文字"
        for html in markdown.html:
            yield from (f"第 {n} 格：{problem}" for problem in missing_alternatives(html))
    for n, output in page.outputs:
        data = output.get("data", {})
        html = data.get("text/html", "")
        yield from (f"第 {n} 格：输出里的 {problem}" for problem in missing_alternatives(html))
        for kind in data:
            # text/html 排在图片前面显示，它里面的图上面已经查过。
            described = html or output.metadata.get(kind, {}).get("alt", "").strip()
            if kind.startswith("image/") and not described:
                yield f"第 {n} 格：输出的 {kind} 没有替代文字（元数据里的 alt）"


# ---------------------------------------------------------------- 代码


@rule
def plain_python(page):
    for n, cell in page.code:
        if not is_python(cell):
            yield f"第 {n} 格：不是普通的 Python（魔法命令请改成函数调用）"


@rule
def right_number_of_cells(page):
    if not FEWEST_CELLS <= len(page.nb.cells) <= MOST_CELLS:
        yield f"有 {len(page.nb.cells)} 格，应当有 {FEWEST_CELLS} 到 {MOST_CELLS} 格"


@rule
def short_cells(page):
    lengths = [len(cell.source.splitlines()) for _, cell in page.code]
    for (n, _), length in zip(page.code, lengths, strict=True):
        if length > LONGEST_CELL:
            yield f"第 {n} 格：{length} 行，最多 {LONGEST_CELL} 行"
    if lengths and statistics.median(lengths) > MEDIAN_CELL:
        yield f"代码格子行数的中位数是 {statistics.median(lengths)}，最多 {MEDIAN_CELL}"


@rule
def only_the_reader_defines_functions(page):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for n, cell, tree in page.trees:
        names = [node.name for node in ast.walk(tree) if isinstance(node, kinds)]
        if names and not has_tag(cell, "exercise"):
            yield f"第 {n} 格：定义了 {names}；不是练习，就该放进 attention_core"


def imported_modules(tree):
    """一棵语法树里导入的模块，取全名。"""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


@rule
def imports_the_core(page):
    modules = {module.split(".")[0] for _, _, tree in page.trees for module in imported_modules(tree)}
    if "attention_core" not in modules:
        yield "没有导入 attention_core"


def bound_names(tree):
    """一格代码里绑定的名字；从 attention_core 导入的不算。"""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import) or (
            isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] != "attention_core"
        ):
            yield from (alias.asname or alias.name for alias in node.names)


@rule
def core_names_keep_their_meaning(page):
    for n, _, tree in page.trees:
        if taken := sorted(set(bound_names(tree)) & set(attention_core.__all__)):
            yield f"第 {n} 格：重新定义了 attention_core 的 {taken}"


@rule
def no_trailing_semicolon(page):
    for n, cell in page.code:
        if cell.source.rstrip().endswith(";"):
            yield f"第 {n} 格：末尾的分号；nbval 下它藏不住输出"


@rule
def every_ignored_output_is_checked_beside(page):
    for place, (n, cell) in enumerate(page.code):
        markers = dict(find_metadata_tags(cell.metadata)) | dict(find_comment_markers(cell.source))
        if "check_exception" in markers:
            yield f"第 {n} 格：放过了例外；请在代码里接住它，打印它的消息"
        if markers.get("check", True) and "skip" not in markers:
            continue
        following = page.code[place + 1][1] if place + 1 < len(page.code) else None
        if following is None or not any(map(output_texts, following.outputs)):
            yield f"第 {n} 格：输出不比较，紧接着的代码格子也没有可比的输出"
