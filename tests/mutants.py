"""Break the numeric core in every small way and see whether its tests notice.

    python tests/mutants.py                  # all modules of the core, two at a time
    python tests/mutants.py steps masks      # only these
    python tests/mutants.py --list steps     # show the mutants, run nothing

A mutant is one small change of one module: a comparison, an operator, a constant, a
condition or a keyword changed, or a statement dropped. Each one is written into a copy of
the package, and the core's tests run there until the first failure. What survives is
printed at the end: either a test is missing, or the change makes no difference.
"""

import argparse
import ast
import copy
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODULES = ["_arrays", "_fast", "steps", "attention", "masks", "multihead", "gradients", "lookup", "tiled"]
# Helpers and tests that a copy needs, the quickest to fail first.
HELPERS = ["core_calls.py", "plain_python.py", "reference_cases.py"]
TESTS = [
    "test_torch_reference.py",
    "test_fast.py",
    "test_steps.py",
    "test_attention.py",
    "test_masks.py",
    "test_multihead.py",
    "test_lookup.py",
    "test_gradients.py",
    "test_contract.py",
    "test_wrong_input.py",
    "test_onnx_cases.py",
    "test_book.py",
    "test_tiled.py",
]
# Where a module's mutants are most likely to be caught: these run first, alone, because
# collecting all the others takes longer than most mutants live.
FIRST = {
    "_arrays": ["test_wrong_input.py"],
    "_fast": ["test_fast.py"],
    "steps": ["test_steps.py"],
    "attention": ["test_torch_reference.py"],
    "masks": ["test_masks.py"],
    "multihead": ["test_multihead.py"],
    "gradients": ["test_gradients.py"],
    "lookup": ["test_lookup.py"],
    "tiled": ["test_tiled.py"],
}
SETTINGS = "[pytest]\nfilterwarnings = error\n"
TIMEOUT = 120  # seconds; a mutant that hangs is caught
TARGET = 0.9

SWAPS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.Mod: ast.Mult, ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


def changes(node):
    """Yield (what, function that makes the change in a copy of `node`)."""

    def put(field, value):
        return lambda new: setattr(new, field, value)

    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        for i, op in enumerate(node.ops):
            swapped = SWAPS[type(op)]
            yield (
                f"{type(op).__name__} -> {swapped.__name__}",
                put("ops", [*node.ops[:i], swapped(), *node.ops[i + 1 :]]),
            )
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp) and type(node.op) in SWAPS:
        swapped = SWAPS[type(node.op)]
        yield f"{type(node.op).__name__} -> {swapped.__name__}", put("op", swapped())
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield f"{node.value} -> {not node.value}", put("value", not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield f"{node.value} -> {node.value + 1}", put("value", node.value + 1)
    elif isinstance(node, ast.If | ast.IfExp):
        yield "condition negated", put("test", ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.Call):
        for i, keyword in enumerate(node.keywords):
            rest = [*node.keywords[:i], *node.keywords[i + 1 :]]
            yield f"argument {keyword.arg} dropped", put("keywords", rest)


def replacements(node):
    """Yield (what, node that takes the place of `node`)."""
    for what, change in changes(node):
        new = copy.copy(node)
        change(new)
        yield what, new
    if isinstance(node, ast.UnaryOp):
        yield f"{type(node.op).__name__} dropped", node.operand
    is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Expr | ast.AugAssign) and not is_docstring:
        yield "statement dropped", ast.Pass()


def children(node):
    """Yield (field, index or None, child); the text of messages is left alone."""
    for field, value in ast.iter_fields(node):
        if isinstance(value, list):
            yield from ((field, i, x) for i, x in enumerate(value) if isinstance(x, ast.AST))
        elif isinstance(value, ast.AST) and not isinstance(value, ast.JoinedStr):
            yield field, None, value


def mutants_below(node):
    """Yield (line, what) with the tree changed while the consumer looks at it."""
    for field, index, child in list(children(node)):
        if isinstance(child, ast.JoinedStr):
            continue

        def place(new, field=field, index=index):
            if index is None:
                setattr(node, field, new)
            else:
                getattr(node, field)[index] = new

        for what, new in replacements(child):
            place(new)
            yield getattr(child, "lineno", 0), what
            place(child)
        yield from mutants_below(child)


def mutants_of(source):
    """Return a list of (line, what, mutated source)."""
    tree = ast.parse(source)
    return [(line, what, ast.unparse(ast.fix_missing_locations(tree))) for line, what in mutants_below(tree)]


def make_copy(folder):
    """Copy what the core's tests need: the package's modules, the tests, their data."""
    package, tests = folder / "attention_core", folder / "tests"
    package.mkdir(parents=True)
    for path in (ROOT / "attention_core").glob("*.py"):
        shutil.copy(path, package)
    tests.mkdir()
    for name in HELPERS + TESTS:
        shutil.copy(ROOT / "tests" / name, tests)
    (tests / "data").mkdir()
    for path in (ROOT / "tests" / "data").glob("*_*.*"):
        if path.suffix in (".npz", ".json"):
            shutil.copy(path, tests / "data")
    (folder / "pytest.ini").write_text(SETTINGS, encoding="utf-8")


def failure(folder, tests):
    """Run `tests` in the copy; return the first failure's line, or None when all pass."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=no", "-p"]
    command += ["no:cacheprovider", *(f"tests/{name}" for name in tests)]
    # Only pytest itself: the project's plugins cost a second a run.
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    try:
        run = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8",
            timeout=TIMEOUT, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "timeout"
    if run.returncode == 0:
        return None
    marked = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return marked[0] if marked else run.stdout + run.stderr


def write_module(path, source):
    """Write a module and drop its bytecode, which is not seen to be old within a second."""
    path.write_text(source, encoding="utf-8")
    for cached in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
        cached.unlink()


class Workshop:
    """A copy of the project for each worker; a mutant is put in, tested and taken out."""

    def __init__(self, folder, jobs):
        self.folder, self.jobs, self.free = Path(folder), jobs, []
        for number in range(jobs):
            self.free.append(self.folder / str(number))
            make_copy(self.free[-1])

    def try_one(self, module, source, groups):
        copy_folder = self.free.pop()
        path = copy_folder / "attention_core" / f"{module}.py"
        original = path.read_text(encoding="utf-8")
        try:
            write_module(path, source)
            return next(filter(None, (failure(copy_folder, tests) for tests in groups)), None)
        finally:
            write_module(path, original)
            self.free.append(copy_folder)

    def try_all(self, attempts):
        """Yield the failure of each (module, source, groups of tests), in order."""
        with ThreadPoolExecutor(self.jobs) as pool:
            yield from pool.map(lambda attempt: self.try_one(*attempt), attempts)


def tests_for(module):
    """Return the tests in the two groups in which they are run."""
    return FIRST[module], [name for name in TESTS if name not in FIRST[module]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", metavar="module", help=", ".join(MODULES))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    found = []
    for module in options.modules or MODULES:
        source = (ROOT / "attention_core" / f"{module}.py").read_text(encoding="utf-8")
        found += [(module, *mutant) for mutant in mutants_of(source)]
    if options.list:
        for module, line, what, _ in found:
            print(f"{module}.py:{line}: {what}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        workshop = Workshop(folder, options.jobs)
        if unbroken := failure(workshop.free[0], TESTS):
            print("The tests fail without any mutant:", unbroken)
            return 2
        attempts = [(module, source, tests_for(module)) for module, _, _, source in found]
        survivors = []
        for (module, line, what, _), caught in zip(found, workshop.try_all(attempts), strict=True):
            if caught is None:
                survivors.append(f"{module}.py:{line}: {what}")
                print("survived", survivors[-1], flush=True)
    share = 1 - len(survivors) / len(found)
    print(f"{len(found)} mutants, {len(survivors)} survived, {share:.1%} caught")
    return 0 if share >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
