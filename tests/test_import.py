"""谁可以导入谁，以及核心有多大。"""

import ast
import io
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

import attention_core

PACKAGE = Path(attention_core.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
NUMERICS = sorted(PACKAGE.glob("*.py"))
# 读者会从头读到尾的七个文件。只管检查输入的 _arrays、管溢出和快慢的 _fast 另有限额；
# tiled、recurrent、learning 是后来的对照，不算在内。
CORE = ("steps", "attention", "masks", "multihead", "gradients", "lookup", "book")
CORE_LINES, CHECK_LINES, FAST_LINES, FUNCTION_LINES = 360, 140, 60, 30

# 每一层可以导入包里的哪些层；不在左边的，都是数值部分。
LAYERS = {
    "numerics": {"numerics"},
    "series": set(),
    "figures": {"numerics", "figures"},
    "panels": {"numerics", "series", "figures", "panels"},
    "exercises": {"numerics", "series", "figures", "exercises"},
}


def loaded_by(statement):
    """在全新的进程里执行一句导入，返回因它而载入的顶层模块。"""
    code = (
        "import sys\nbefore = set(sys.modules)\n"
        f"{statement}\n"
        "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True, timeout=60)
    return set(result.stdout.split()) - set(sys.stdlib_module_names)


def test_importing_the_core_loads_numpy_only():
    assert loaded_by("import attention_core") == {"attention_core", "numpy"}


def test_series_needs_nothing_but_the_package_itself():
    tree = ast.parse((PACKAGE / "series.py").read_text(encoding="utf-8"))
    assert {module.split(".")[0] for module in imports(tree, PACKAGE / "series.py")} <= set(sys.stdlib_module_names)


@pytest.mark.parametrize("part", ["panels", "exercises"])
def test_matplotlib_waits_until_a_curve_is_drawn(part):
    """载入 matplotlib 要大半秒；滑块和练习用不着等它。"""
    assert "matplotlib" not in loaded_by(f"import attention_core.{part}")


def imports(tree, path):
    """一个文件导入的模块全名，函数里面的也算。"""
    package = ("attention_core", *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level:
            base = ".".join(package[: len(package) - node.level + 1])
            if node.module:
                yield f"{base}.{node.module}"
            else:
                yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "attention_core":
            yield from (f"attention_core.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def layer(name):
    """``attention_core`` 之下第一级的名字属于哪一层。"""
    return name if name in LAYERS else "numerics"


def layer_violations(path, source):
    """一个文件越过层界的导入。"""
    own = layer(path.relative_to(PACKAGE).with_suffix("").parts[0])
    for module in imports(ast.parse(source), path):
        parts = module.split(".")
        if parts[0] == "attention_core":
            if len(parts) > 1 and layer(parts[1]) not in LAYERS[own]:
                yield f"{own} 不可以导入 {module}"
        elif own == "numerics" and parts[0] not in {"numpy", *sys.stdlib_module_names}:
            yield f"数值部分只用 numpy，不可以导入 {module}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_layers(path):
    assert list(layer_violations(path, path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("steps.py", "from . import panels"),
        ("steps.py", "from .figures.style import new_figure"),
        ("masks.py", "from .series import SERIES"),
        ("gradients.py", "def f():\n    import matplotlib.pyplot"),
        ("figures/charts.py", "from .. import panels"),
        ("figures/charts.py", "from ..panels.panel import Panel"),
        ("figures/charts.py", "import attention_core.exercises"),
        ("panels/panel.py", "from attention_core import exercises"),
        ("exercises/frame.py", "from ..panels import Panel"),
        ("series.py", "from .steps import softmax"),
    ],
)
def test_a_crossed_layer_is_seen(name, source):
    assert len(list(layer_violations(PACKAGE / name, source))) == 1


def code_lines(source):
    """真正是代码的行号：不算空行、注释、docstring。"""
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in silent and token.type != tokenize.ENDMARKER:
            lines.update(range(token.start[0], token.end[0] + 1))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return lines


def function_lengths(source):
    """每个函数有几行代码。"""
    lines = code_lines(source)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, len(lines & set(range(node.lineno, node.end_lineno + 1)))


def test_code_lines_are_counted_by_hand():
    source = (
        '"""说明。\n\n两行。\n"""\n\nx = 1  # 注释\n# 注释\n\n\n'
        'def f(\n    a,\n):\n    """说明。"""\n    return """\n甲\n"""\n'
    )
    assert code_lines(source) == {6, 10, 11, 12, 14, 15, 16}
    assert dict(function_lengths(source)) == {"f": 6}


def test_core_can_be_read_in_one_sitting():
    sizes = {name: len(code_lines((PACKAGE / f"{name}.py").read_text(encoding="utf-8"))) for name in CORE}
    assert sum(sizes.values()) < CORE_LINES, sizes
    for name, most in (("_arrays", CHECK_LINES), ("_fast", FAST_LINES)):
        assert len(code_lines((PACKAGE / f"{name}.py").read_text(encoding="utf-8"))) < most


@pytest.mark.parametrize("path", NUMERICS, ids=lambda path: path.name)
def test_no_function_of_the_numerics_is_too_long(path):
    lengths = dict(function_lengths(path.read_text(encoding="utf-8")))
    assert {name: n for name, n in lengths.items() if n > FUNCTION_LINES} == {}
