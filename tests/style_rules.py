"""中文写法的规矩：从每个文件里取出给人读的文字，逐条检查。

术语和说法的清单只有一份，是 ``.github/STYLE.md`` 里的表格，这里读它。新规矩写成一个带 ``@rule`` 的函数，
再到 ``test_style.py`` 里给它一个必须被抓住的反例。
"""

import ast
import io
import re
import tokenize
from dataclasses import dataclass
from functools import cache, cached_property
from html.parser import HTMLParser

import nbformat
from markdown_it import MarkdownIt

from notebook_rules import Markdown, has_tag, is_python, output_texts
from refresh_notebooks import ROOT

STYLE = ROOT / ".github" / "STYLE.md"
CHINESE = r"[\u3400-\u9fff]"
# 反引号里的、公式里的、写成列表或字典的、链接的地址，都不是文章，一律不查。
NOT_PROSE = re.compile(
    r"```.*?```|``[^`]+``|`[^`\n]+`"
    r"|\]\([^)\n]*\)"
    r"|[\[{]\"[^\]}]*[\]}]"
    r"|\$\$.*?\$\$|\$[^$\n]+\$",
    re.DOTALL,
)

# 由 refresh_notebooks.py 生成的格子：用到的词在别处解释。
GENERATED = ("navigation", "map", "exercise-text")

RULES = []


def rule(function):
    """把一条规矩登记进 RULES。"""
    RULES.append(function)
    return function


@dataclass(frozen=True)
class Passage:
    """一段给人读的文字：出自哪里，是哪一种。"""

    where: str
    kind: str  # markdown、string、comment、output
    text: str

    @cached_property
    def prose(self):
        """去掉代码和公式以后的文字；英文句子里提到几个中文字的，不算中文，留空。"""
        text = NOT_PROSE.sub(" ` ", self.text)
        is_english = len(re.findall(r"[A-Za-z]{2,}", text)) >= len(re.findall(CHINESE, text))
        return "" if is_english else text


# ---------------------------------------------------------------- 从文件里取出文字


def of_markdown(where, source):
    yield Passage(where, "markdown", source)


def without_examples(text):
    """去掉文档字符串里的例子：``>>>`` 开头的行、它们的结果和 ``::`` 之后缩进的代码。"""
    kept, dropping = [], None
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if not line.strip():
            dropping = None if dropping == "doctest" else dropping
        elif line.lstrip().startswith((">>> ", "... ")):
            dropping = "doctest"
        elif isinstance(dropping, int) and indent <= dropping:
            dropping = None
        if dropping is None:
            kept.append(line)
            if line.rstrip().endswith("::"):
                kept[-1] = line.rstrip()[:-2]
                dropping = indent
    return "\n".join(kept)


def of_python(where, source, *, strings=True):
    """Python 源码里的注释和字符串（或只有文档字符串）。"""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Passage(f"{where}:{token.start[0]}", "comment", token.string.lstrip("# "))
    tree = ast.parse(source)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node):
            docstrings.add(node.body[0].value)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (strings or node in docstrings):
            yield Passage(f"{where}:{node.lineno}", "string", without_examples(node.value))


class VisibleText(HTMLParser):
    """一段 HTML 里看得见、读得出的文字：正文和替代文字。"""

    def __init__(self, text):
        super().__init__()
        self.texts, self.hidden = [], 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.hidden += tag in ("style", "script")
        self.texts += [value for name, value in attrs if name in ("alt", "aria-label", "title") and value]

    def handle_endtag(self, tag):
        self.hidden -= tag in ("style", "script")

    def handle_data(self, data):
        if not self.hidden:
            self.texts.append(data)


def of_notebook(where, source):
    nb = nbformat.reads(source, as_version=4)
    for n, cell in enumerate(nb.cells, 1):
        here = f"{where} 第 {n} 格"
        if cell.cell_type == "markdown" and not has_tag(cell, "navigation"):
            yield from of_markdown(here, cell.source)
        if cell.cell_type != "code":
            continue
        if is_python(cell):
            yield from of_python(here, cell.source)
        for output in cell.outputs:
            html = output.get("data", {}).get("text/html", "")
            texts = [text for text in output_texts(output) if text != html]
            yield from (Passage(f"{here}的输出", "output", text) for text in [*texts, *VisibleText(html).texts])


def of_file(path):
    """一个文件里全部给人读的文字。"""
    where, source = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        yield from of_notebook(where, source)
    elif path.suffix == ".md":
        yield from of_markdown(where, source)
    elif path.suffix == ".py":
        # 测试里的字符串有意写错，只查文档字符串和注释。
        yield from of_python(where, source, strings=not where.startswith("tests/"))
    else:
        yield from (Passage(f"{where}:{n}", "comment", line) for n, line in enumerate(source.splitlines(), 1))


def files():
    """要查的文件。"""
    patterns = [
        "README.md", ".github/*.md", ".ci/run", "conftest.py", "requirements.txt",
        "attention_core/**/*.py", "attention_core/**/*.md", "tests/**/*.py", "tests/*.txt", "notebooks/*.ipynb",
    ]
    found = {path for pattern in patterns for path in ROOT.glob(pattern)}
    return sorted(path for path in found if ".ipynb_checkpoints" not in path.parts)


# ---------------------------------------------------------------- 术语表


@cache
def tables():
    """写法页里的表格，每行一个字典，键是表头。"""
    found, headers, row = [], [], None
    for token in MarkdownIt("commonmark").enable("table").parse(STYLE.read_text(encoding="utf-8")):
        if token.type == "thead_open":
            headers = []
        elif token.type == "tr_open":
            row = []
        elif token.type == "inline" and row is not None:
            row.append(token)
        elif token.type == "tr_close":
            if headers:
                found.append(dict(zip(headers, row, strict=True)))
            else:
                headers = [cell.content for cell in row]
            row = None
    return found


def codes(cell):
    """一格里写在反引号中的词。"""
    return [child.content for child in cell.children if child.type == "code_inline"]


def banned():
    """不用的词 -> 该用的词。"""
    return {word: next(iter(row.values())).content for row in tables() for word in codes(row["不用"])}


def terms():
    """中文术语 -> 英文，和每本笔记本是不是必须写出它。"""
    rows = [row for row in tables() if "English" in row]
    return {row["中文"].content: (row["English"].content, bool(row["必写"].content)) for row in rows}


# ---------------------------------------------------------------- 规矩


def quoted(text, match):
    """抓住的地方，连同前后几个字。"""
    return text[max(0, match.start() - 10) : match.end() + 10].replace("\n", " ").strip()


def search(passage, pattern, advice):
    for match in re.finditer(pattern, passage.prose):
        yield f"{advice}：{quoted(passage.prose, match)}"


@rule
def one_word_for_one_thing(passage):
    for word, right in banned().items():
        if word in passage.prose:
            yield from search(passage, re.escape(word), f"不用“{word}”，用“{right}”")


@rule
def full_width_punctuation(passage):
    yield from search(passage, rf"(?<={CHINESE})[,;:?!]|[,;:?!](?={CHINESE})", "中文旁边的标点用全角")
    yield from search(passage, rf"(?<={CHINESE})\.(?!\w)", "中文的句号是“。”")


@rule
def parentheses(passage):
    yield from search(passage, rf"\([^()]*{CHINESE}[^()]*\)", "括号里有中文，用全角（）")
    yield from search(passage, r"（[A-Za-z][A-Za-z0-9 .,'-]*）", "括号里只有英文，前面空一格，用半角 ()")
    yield from search(passage, rf"(?<={CHINESE})\([A-Za-z]", "英文的括号前面空一格")


@rule
def quotation_marks(passage):
    if passage.kind != "comment":
        yield from search(passage, rf'"(?={CHINESE})|(?<={CHINESE})"', "中文的引号用“ ”")


@rule
def ellipsis_and_dash(passage):
    yield from search(passage, rf"(?<={CHINESE})\.\.\.", "省略号用……")
    yield from search(passage, r"——|(?<=\s)—(?=\s)|！", "不用破折号和感叹号")


@rule
def space_between_chinese_and_latin(passage):
    yield from search(passage, rf"{CHINESE}[A-Za-z0-9]|[A-Za-z0-9]{CHINESE}", "中文与字母、数字之间空一格")


@rule
def no_space_inside_chinese(passage):
    if passage.kind == "markdown":
        # 只有“第 4 节”与标题之间可以空一格。
        yield from search(passage, rf"(?<!节)(?<={CHINESE})[ \t]+(?={CHINESE})", "中文之间不空格")


@rule
def bold_renders(passage):
    if passage.kind != "markdown":
        return
    markdown = Markdown(passage.text)
    for text in [*markdown.texts, *markdown.html]:
        if "**" in text:
            yield f"粗体没有生效，标点和引号要放在 ** 外面：{text.strip()[:40]}"


def missing_english(nb):
    """一本笔记本自己的文字里用到了、却没有一处给出英文的必写术语。"""
    own = "\n".join(
        NOT_PROSE.sub(" ", cell.source)
        for cell in nb.cells
        if cell.cell_type == "markdown" and not any(has_tag(cell, tag) for tag in GENERATED)
    )
    for term, (english, required) in terms().items():
        # 单写“掩码”才算用到它：“因果掩码”是另一条。“查询、键、值 (query, …)”一并写出的也算。
        used = re.search(rf"(?<!因果)(?<!填充){term}", own)
        if required and used and not re.search(rf"{term}[^()|\n]{{0,6}} ?(\(|\| ){english}\b", own):
            yield f"用到了“{term}”，没有一处写出 {term} ({english})"
