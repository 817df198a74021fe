"""换一台机器也一样：编码处处写明，路径不靠某一种系统。"""

import ast
import re
from pathlib import Path

import pytest

from refresh_notebooks import ROOT

FILES = [path for folder in ("attention_core", "tests") for path in sorted((ROOT / folder).rglob("*.py"))]
FILES.append(ROOT / "conftest.py")

# 打开文字的函数 -> 二进制模式写在第几个位置（没有这个参数的是 None）。
OPENERS = {"open": 1, "fdopen": 1, "NamedTemporaryFile": 0, "TemporaryFile": 0,
           "read_text": None, "write_text": None}
# 有 text=True 就按文字读写的函数。
RUNNERS = {"run", "Popen", "check_output"}


def literal(node):
    return node.value if isinstance(node, ast.Constant) else None


def literal_name(node):
    return getattr(node, "id", None)


def without_encoding(source):
    """源码里按文字打开文件或进程、却没有写明编码的地方。"""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        # 裸名字 read_text(...) 是我们自己的函数，编码写在它里面。
        is_our_own = isinstance(node.func, ast.Name) and name in ("read_text", "write_text")
        is_said = "encoding" in given or any(literal(argument) == "utf-8" for argument in node.args)
        is_picture = isinstance(node.func, ast.Attribute) and literal_name(node.func.value) == "Image"
        if is_said or is_our_own or is_picture:
            continue
        if name in OPENERS:
            place = OPENERS[name]
            if isinstance(node.func, ast.Attribute) and name == "open":
                place = 0  # Path.open(mode)
            modes = [given.get("mode"), *(node.args[place : place + 1] if place is not None else [])]
            if not any("b" in (literal(mode) or "") for mode in modes if mode is not None):
                yield f"第 {node.lineno} 行：{name} 没有写 encoding"
        elif name in RUNNERS and (literal(given.get("text")) or literal(given.get("universal_newlines"))):
            yield f"第 {node.lineno} 行：{name}(text=True) 没有写 encoding"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_text_file_is_opened_as_utf8(path):
    assert list(without_encoding(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("source", [
    "open('x')", "open('x', 'w')", "Path('x').open()", "Path('x').open('w')", "Path('x').read_text()",
    "Path('x').write_text('y')", "file.write_text('y')", "subprocess.run(['x'], text=True)", "os.fdopen(3, 'w')",
])
def test_a_missing_encoding_is_caught(source):
    assert list(without_encoding(source))


@pytest.mark.parametrize("source", [
    "open('x', encoding='utf-8')", "open('x', 'rb')", "Path('x').open('rb')", "open('x', mode='wb')",
    "Path('x').read_bytes()", "Path('x').read_text('utf-8')", "Path('x').write_text('y', 'utf-8')", "Image.open(x)",
    "subprocess.run(['x'])", "subprocess.run(['x'], text=True, encoding='utf-8')",
])
def test_binary_and_explicit_encodings_are_allowed(source):
    assert list(without_encoding(source)) == []


def test_file_names_are_allowed_on_every_system():
    """Windows 不许的字符和名字；不分大小写的磁盘上会撞在一起的名字。"""
    folders = ["attention_core", "notebooks", "tests", ".github", ".ci"]
    paths = [path.relative_to(ROOT) for folder in folders for path in (ROOT / folder).rglob("*")
             if not {"__pycache__", ".ipynb_checkpoints"} & set(path.parts)]
    reserved = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
    for path in paths:
        assert re.fullmatch(r"[\w.-]+", path.name), path
        assert not reserved.fullmatch(path.name), path
        assert not path.name.endswith("."), path
    lowered = [path.as_posix().lower() for path in paths]
    assert len(set(lowered)) == len(lowered)


def test_text_files_are_utf8_with_plain_line_ends():
    suffixes = {".py", ".ipynb", ".md", ".txt", ".toml", ".cfg", ".yml", ".json"}
    for folder in ("attention_core", "notebooks", "tests", ".github"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in suffixes and ".ipynb_checkpoints" not in path.parts:
                content = path.read_bytes()
                assert not content.startswith(b"\xef\xbb\xbf"), path
                assert b"\r\n" not in content, path
                content.decode("utf-8")


def test_git_keeps_line_ends_on_every_system():
    """不写明，Windows 上的 git 会换掉行尾，笔记本就与整理命令写的不一样了。"""
    lines = Path(ROOT / ".gitattributes").read_text(encoding="utf-8").splitlines()
    assert "* text=auto eol=lf" in lines
