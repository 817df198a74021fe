"""练习：每道题的正确写法都收，每种错法都叫得出名字；读者写出什么来都不会弄坏笔记本。"""

import ast
import functools
import inspect
import itertools
import re
import subprocess
import sys
import warnings
from pathlib import Path

import nbformat
import numpy as np
import pytest
from markdown_it import MarkdownIt

import attention_core as core
from attention_core.exercises import check, show_progress
from attention_core.exercises.frame import Exercise, find, in_section
from attention_core.series import SERIES
from refresh_notebooks import RefreshError, has_tag, with_exercises

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
EXERCISES = [exercise for notebook in SERIES for exercise in in_section(notebook.section)]

every_exercise = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
every_right = pytest.mark.parametrize(
    ("exercise", "function"),
    [pytest.param(exercise, function, id=f"{exercise.id}-{function.__name__}")
     for exercise in EXERCISES for function in exercise.rights])
every_wrong = pytest.mark.parametrize(
    ("exercise", "wrong"),
    [pytest.param(exercise, wrong, id=f"{exercise.id}-{wrong.function.__name__}")
     for exercise in EXERCISES for wrong in exercise.wrongs])


def in_notebook(exercise, code):
    """像笔记本那样运行一格代码，返回里面定义的函数。"""
    namespace = {"np": np, "check": lambda id, function: None}
    exec(compile(code, "<cell>", "exec"), namespace)
    return namespace[exercise.function_name]


# ---------------------------------------------------------------- 每一道题


@every_right
def test_right_solution_is_accepted(exercise, function):
    verdict = exercise.judge(function)
    assert verdict.text == f"{exercise.id} 通过：{exercise.title}。"
    assert verdict.status == "passed"


@every_wrong
def test_wrong_solution_is_named_with_numbers_and_reason(exercise, wrong):
    verdict = exercise.judge(wrong.function)
    first, *lines = verdict.text.splitlines()
    assert verdict.status == "wrong"
    assert first.startswith(f"{exercise.id} 还不对：")
    assert first.endswith(wrong.name)
    assert f"  原因：{wrong.why}" in lines
    shown = dict(line.strip().split("：", 1) for line in lines if "：" in line)
    # 形状对不上的错法（如 11-1 的 own_values）得不出结果，numpy 的原话就是它的数字。
    assert shown.get("你得到的") != shown.get("应该得到") or "ValueError: " in verdict.text
    assert next(iter(inspect.signature(exercise.rights[0]).parameters)) in shown["拿来试的"]


def with_cases(exercise, cases):
    """The same exercise with other cases, and without names for mistakes."""
    smaller = Exercise(exercise.id, exercise.title, task="", hint="")
    smaller.stub(exercise._stub)
    smaller.cases = cases
    return smaller


@every_wrong
def test_what_the_reader_prints_comes_once_for_each_case_up_to_the_mistake(exercise, wrong, capsys):
    @functools.wraps(wrong.function)
    def debugged(*args):
        print("看一看")
        return wrong.function(*args)

    n_passed = next(n for n, case in enumerate(exercise.cases)
                    if with_cases(exercise, [case]).judge(wrong.function).status == "wrong")
    assert exercise.judge(debugged).text.splitlines()[0].endswith(wrong.name)
    assert capsys.readouterr().out == "看一看\n" * (n_passed + 1)


@every_exercise
def test_every_case_is_the_first_to_reject_some_wrong_solution(exercise):
    for place, case in enumerate(exercise.cases):
        before = with_cases(exercise, exercise.cases[:place])
        caught_here = [wrong.name for wrong in exercise.wrongs
                       if before.judge(wrong.function).status == "passed"
                       and with_cases(exercise, [case]).judge(wrong.function).status == "wrong"]
        assert caught_here, f"{exercise.id}：没有一种错法要靠“{case.mechanism}”这个例子才抓得住"


@every_exercise
def test_solutions_differ_and_wrong_ones_have_names_of_their_own(exercise):
    bodies = {re.sub(r"\A(@.*\n)*def \w+", "", inspect.getsource(function)) for function in exercise.rights}
    assert len(bodies) >= 2
    assert len({wrong.name for wrong in exercise.wrongs}) == len(exercise.wrongs) >= 3


@every_exercise
def test_untouched_stub_says_one_line_and_raises_nothing(exercise):
    stub = in_notebook(exercise, exercise.stub_code())
    verdict = exercise.judge(stub)
    assert verdict.status == "unsolved"
    assert verdict.text == f"{exercise.id} 还没写：{exercise.title}。补完 {exercise.function_name} 再运行这一格。"
    assert len(exercise.stub_code().splitlines()) <= 6
    assert exercise.stub_code().splitlines()[-1] == f'check("{exercise.id}", {exercise.function_name})'


@every_exercise
def test_folded_answer_is_code_that_passes(exercise):
    fences = [token.content for token in MarkdownIt("commonmark").parse(exercise.markdown()) if token.type == "fence"]
    assert len(fences) == 1
    assert exercise.judge(in_notebook(exercise, fences[0])).status == "passed"
    assert exercise.markdown().count("<details>") == exercise.markdown().count("</details>") == 2
    assert exercise.hint in exercise.markdown()
    assert exercise.task in exercise.markdown()


@every_exercise
def test_text_keeps_to_the_style(exercise):
    texts = [exercise.title, exercise.task, exercise.hint,
             *(text for wrong in exercise.wrongs for text in (wrong.name, wrong.why)),
             *(text for case in exercise.cases for text in (case.mechanism, case.why))]
    for text in texts:
        text = re.sub(r"`[^`]*`", "", text)
        assert "您" not in text
        assert "！" not in text
        assert not re.search(r"[\u4e00-\u9fff][,;:?!]", text), text
        assert not re.search(r"[\u4e00-\u9fff]\n[\u4e00-\u9fff]", text), text


@pytest.mark.parametrize("notebook", SERIES, ids=lambda notebook: notebook.stem)
def test_a_section_has_two_to_four_exercises_numbered_in_order(notebook):
    ids = [exercise.id for exercise in in_section(notebook.section)]
    assert ids == [f"{notebook.section:02}-{n}" for n in range(1, len(ids) + 1)]
    assert 2 <= len(ids) <= 4


# ---------------------------------------------------------------- 碰巧对的，也要抓得住

# 本来就不影响结果的参数。
IDLE = {("03-3", "w_k"), ("09-3", "n_heads")}
# 各个参数的各轴叫什么，同一个字母是同一个长度；单独一个数也可以是长度；- 不看。例子的轴比写的少时，从右边对起。
AXES = {
    "02-1": "S, -", "02-2": "S, S v", "02-3": "d, S d, S d", "03-1": "n m, m k", "03-2": "n m, m k, m k",
    "03-3": "n n, n m, m -, m v", "04-1": "n S", "04-3": "k, S k, S v", "05-1": "L k, S k",
    "05-2": "n m, m k, m k", "06-2": "S, S", "07-1": "n m, m k, m k, m v", "07-2": "n m, p m", "07-3": "n d, n",
    "08-2": "n, h, b", "09-1": "n m, h", "09-2": "h n k", "10-2": "n S, n S", "10-3": "s, n", "10-4": "n S, n S",
    "11-1": "L d, S d", "11-2": "L, s, S", "11-3": "L S, S", "12-1": "n S",
}


@every_exercise
def test_a_solution_that_does_not_look_at_an_argument_fails(exercise):
    right = exercise.rights[0]
    for fixed in exercise.cases:
        assert exercise.judge(lambda *args, fixed=fixed: fixed.expected).status == "wrong", "一律返回同样的结果"
        for place, name in enumerate(inspect.signature(right).parameters):
            def without_reading(*args, place=place, fixed=fixed):
                return right(*args[:place], fixed.args[place], *args[place + 1:])

            if (exercise.id, name) not in IDLE:
                assert exercise.judge(without_reading).status == "wrong", f"{name} 一律当成 {fixed.args[place]}"


@pytest.mark.parametrize("id", AXES)
def test_axes_that_may_differ_in_length_do_so_in_some_case(id):
    lengths = []
    for case in find(id).cases:
        here = {}
        for names, arg in zip(AXES[id].split(", "), case.args, strict=True):
            for name, length in zip(names.split()[::-1], (np.shape(arg) or (arg,))[::-1], strict=False):
                assert name == "-" or here.setdefault(name, length) == length
        lengths.append(here)
    for one, other in itertools.combinations(sorted(set().union(*lengths)), 2):
        assert any(one in here and other in here and here[one] != here[other] for here in lengths), (one, other)


def slips(node, parameters):
    """一处常犯的疏忽：漏了转置，漏了 exp、log 或平方根，漏了半个算式，轴写错了，参数拿错了。"""
    if isinstance(node, ast.Attribute) and node.attr == "T":
        yield node.value
    if isinstance(node, ast.BinOp):
        yield from (node.left, node.right)
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("np.exp", "np.log", "np.sqrt"):
        yield node.args[0]
    if isinstance(node, ast.keyword) and node.arg == "axis":
        yield ast.keyword("axis", ast.Constant(0))
    if isinstance(node, ast.Name) and node.id in parameters:
        yield from (ast.Name(other) for other in parameters if other != node.id)


# 疏忽了也还是对的：例子里的分数都不大时，减不减最大值、减谁都一样；d 从哪一边的形状读都一样。
HARMLESS = [
    r"04-3 grown = np.exp\(scores\)",
    r"06-2 grown = np.exp\(scores( - np.max\(values\))?\)",
    r"07-1 grown = np.exp\(scores\)",
    r"10-2 grown = np.exp\(shut\)",
    r"10-4 grown = np.exp\(shut\)",
    r"05-1 .*query.shape\[-1\].*",
    r"11-1 grown = np.exp\(scores\)",
    r"11-1 .*target.shape\[-1\].*",
]


@every_exercise
def test_the_answer_with_one_slip_fails(exercise):
    source = inspect.getsource(exercise.rights[0])
    tree = ast.parse(source).body[0]
    tree.decorator_list = []
    parameters = [arg.arg for arg in tree.args.args]
    lines = ast.unparse(tree).splitlines()
    for node in list(ast.walk(tree)):
        for field, value in list(ast.iter_fields(node)):
            for place, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                for slip in slips(child, parameters) if isinstance(child, ast.AST) else ():
                    setattr(node, field, slip if place is None else [*value[:place], slip, *value[place + 1:]])
                    slipped = ast.unparse(tree)
                    setattr(node, field, value)
                    changed = " ".join(line.strip() for line in slipped.splitlines() if line not in lines)
                    if not changed or any(re.fullmatch(harmless, f"{exercise.id} {changed}") for harmless in HARMLESS):
                        continue
                    namespace = dict(exercise.rights[0].__globals__)
                    exec(slipped, namespace)
                    with np.errstate(all="ignore"):
                        assert exercise.judge(namespace[tree.name]).status == "wrong", slipped


def softmax_without_care(scores, axis=-1):
    return np.exp(scores) / np.exp(scores).sum(axis=axis, keepdims=True)


# 读者写得出的错法，写法与登记的不一样，也要叫得出同样的名字。
READERS_SLIPS = [
    ("01-2", lambda words, first, second: len(words[words.index(first):]) - 1, "一直数到了句末"),
    ("02-1", lambda s, t: np.exp(s) / t / (np.exp(s) / t).sum(), "温度没有起作用"),
    ("02-2", lambda weights, values: np.sum(weights * values, axis=0), "份额乘到列上去了"),
    ("02-3", lambda query, keys, values: (keys @ query / np.sum(keys @ query)) @ values, "没有取 e 的次方"),
    ("02-3", lambda query, keys, values: query @ keys.T @ values, "没有变成份额，直接拿相似度去乘了"),
    ("02-3", lambda query, keys, values: values[(keys @ query).argmax()], "只取了最像的一条"),
    ("03-2", lambda x, w_q, w_k: (x @ w_q) @ (x @ w_k), "键忘了转置"),
    ("03-2", lambda x, w_q, w_k: x @ w_k.T @ x.T, "没有乘 W_Q，直接拿输入当了查询"),
    ("04-1", lambda scores: np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum(-1, keepdims=True),
     "减的是整张表的最大值"),
    ("04-1", lambda scores: np.exp(scores - scores.max(-1, keepdims=True)) / np.exp(
        scores - scores.max(-1, keepdims=True)).sum(0), "归一沿错了轴：每一列加起来是 1"),
    ("04-2", lambda s, t: np.exp(s - s.max()) / t / (np.exp(s - s.max()) / t).sum(), "温度没有起作用"),
    ("04-2", lambda s, t: np.exp(s / t - s.max()) / np.exp(s / t - s.max()).sum(),
     "减去的不是除过温度以后的最大值（或者没有减）"),
    ("04-3", lambda query, keys, values: (keys @ query / np.sum(keys @ query)) @ values, "没有取 e 的次方"),
    ("05-1", lambda query, keys: query @ keys.T / np.sqrt(len(query)), "按查询的个数缩放了"),
    ("05-2", lambda x, w_q, w_k: x @ w_q @ (x @ w_k).T / np.sqrt(len(x)), "按词的个数缩放了"),
    ("06-3", lambda f, x, step: (f(x + step) - f(x - step)) / 2 * step,
     "少了括号：/ 2 * step 是先除以 2 再乘 step"),
    ("06-3", lambda f, x, step: (f(x + step) - f(x - step)) * 0.5, "只除以了 2，没有除以步长"),
    ("07-1", lambda x, w_q, w_k, w_v: softmax_without_care(x @ w_q @ (x @ w_k).T / len(w_q) ** 0.5) @ x @ w_v,
     "按 d_model 缩放了"),
    ("07-1", lambda x, w_q, w_k, w_v: softmax_without_care(x @ w_q @ (x @ w_k).T / w_q.shape[1] ** 0.5),
     "停在了权重这一步"),
    ("07-1", lambda x, w_q, w_k, w_v: softmax_without_care(x @ w_q @ (x @ w_k).T / w_q.shape[1] ** 0.5) @ x @ w_k,
     "取走了键，没有取值"),
    ("07-1", lambda x, w_q, w_k, w_v: softmax_without_care(x @ w_q @ (x @ w_k).T / w_q.shape[1] ** 0.5, 0) @ x @ w_v,
     "归一沿错了轴：每一列加起来是 1"),
    ("07-2", lambda x, positions: x + positions[:x.shape[-1]], "行数用了 d_model"),
    ("10-2", lambda scores, mask: np.exp(scores) * mask / (np.exp(scores) * mask).sum(-1, keepdims=True),
     "遮得太晚：被遮的分数已经进了次方，再补一次归一"),
    ("11-3", lambda weights, words: [words[i] for i in np.argmax(weights, 0)], "沿错了轴：找的是每一列的最大"),
    ("12-2", lambda weights: np.diagonal(weights, -1).sum(), "加起来了，没有取平均"),
    ("13-1", lambda weights, target: -np.log(np.max(weights)), "看的是概率最大的选项"),
    ("01-2", lambda words, first, second: sum(map(len, words[words.index(first) + 1:words.index(second) + 1])),
     "数了字，没有数词"),
    ("02-1", lambda s, t: softmax_without_care(s - t), "温度没有起作用"),
    ("02-2", lambda weights, values: values[0], "总是取第一条"),
    ("04-1", lambda scores: np.exp(scores - scores.max(-1)) / np.exp(scores - scores.max(-1)).sum(-1),
     "少了 keepdims=True"),
    ("04-2", lambda s, t: softmax_without_care(s - t), "温度没有起作用"),
    ("05-1", lambda query, keys: query @ keys / keys.shape[1] ** 0.5, "键忘了转置"),
    ("05-1", lambda query, keys: query @ keys.T / keys.shape[1] ** 1/2,
     "少了括号：/ d_k ** 1/2 是先除以 d_k，再除以 2"),
    ("05-1", lambda query, keys: query @ keys.T / (keys.shape[1] ** 1/2), "除以了 d_k 的一半，没有开平方"),
    ("05-2", lambda x, w_q, w_k: x @ w_q @ (x @ w_k), "键忘了转置，或者 x 与矩阵左右写反了"),
    ("05-2", lambda x, w_q, w_k: w_q @ x @ (w_k @ x).T, "键忘了转置，或者 x 与矩阵左右写反了"),
    ("05-3", lambda d_k: d_k ** 1/2, "除以了 2，没有开平方"),
    ("07-1", lambda x, w_q, w_k, w_v: softmax_without_care(x @ w_q @ (x @ w_k).T / w_q.shape[1] ** 0.5).T @ x @ w_v,
     "权重转置了"),
    ("07-1", lambda x, w_q, w_k, w_v: softmax_without_care(x @ w_q @ (x @ w_k).T / w_v.shape[1] ** 0.5) @ x @ w_v,
     "按 d_v 缩放了"),
    ("07-1", lambda x, w_q, w_k, w_v: softmax_without_care(x @ w_q @ (x @ w_k)) @ x @ w_v,
     "键忘了转置，或者 x 与矩阵左右写反了"),
    ("07-3", lambda output, order: np.roll(output, -1, axis=0), "只是整体往上挪了一位"),
    ("08-3", lambda left, right: [max(left[0], right[0]), *(left[1:] + right[1:] * np.exp(
        right[0] - max(left[0], right[0])))], "只换算了右边"),
    ("10-2", lambda scores, mask: right(scores - 1000 * ~mask), "减去的数不够大，没有遮住"),
    ("10-2", lambda scores, mask: (grown := np.exp(np.where(mask, scores, -np.inf))) / grown.sum(axis=1),
     "少了 keepdims=True"),
    ("10-4", lambda scores, mask: (grown := np.exp(np.where(mask, scores, -np.inf))) / grown.sum(axis=1),
     "少了 keepdims=True"),
    ("11-1", lambda target, source: softmax_without_care(target @ source / source.shape[1] ** 0.5) @ source,
     "键忘了转置"),
    ("11-1", lambda target, source: (grown := np.exp(target @ source.T)) / grown.sum(axis=1) @ source,
     "少了 keepdims=True"),
    ("11-3", lambda weights, words: np.argmax(weights, axis=1).tolist(), "停在了列号"),
    ("13-2", lambda weights, target: weights - np.float64(target), "减去的是编号本身"),
    ("13-2", lambda weights, target: np.abs(weights - np.eye(len(weights))[target]), "正确的选项上减反了"),
]


# 两种错法在头一个例子上碰巧一样时，只有一种的名字说得对；对不上的，宁可不说名字。
@pytest.mark.parametrize(("id", "function", "name"), [
    ("11-3", lambda weights, words: [words[i] for i in weights.argmax(-1)][::-1], "找成了权重最小的"),
    ("10-2", lambda scores, mask: right(scores - 100 * ~mask), "没有遮"),
])
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
def test_a_readers_slip_does_not_get_anothers_name(id, function, name):
    assert not find(id).judge(function).text.splitlines()[0].endswith(f"：{name}")


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize(("id", "function", "name"), READERS_SLIPS)
def test_a_readers_slip_gets_its_own_name(id, function, name):
    assert find(id).judge(function).text.splitlines()[0].endswith(name)


@every_exercise
def test_code_in_a_hint_gives_functions_only_what_the_reader_has(exercise):
    codes = [code for code in re.findall(r"`([^`]+)`", exercise.hint) if re.search(r"\w\(", code)]
    nodes = [node for code in codes for node in ast.walk(ast.parse(code))]
    known = set(inspect.signature(exercise._stub).parameters) | {
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in nodes:
        if isinstance(node, ast.Call):
            assert {arg.id for arg in node.args if isinstance(arg, ast.Name)} <= known, ast.unparse(node)


# 例子里应有的结果是手写的；这里用核心再对一遍：核心自己也要通过练习。
CORE_SOLUTIONS = {
    "02-1": lambda similarity, temperature: core.softmax(similarity, temperature=temperature),
    "02-2": lambda weights, values: core.weighted_sum(weights[None], values)[0],
    "02-3": lambda query, keys, values: core.soft_lookup(query, keys, values)[0],
    "04-1": core.softmax,
    "04-2": lambda scores, temperature: core.softmax(scores, temperature=temperature),
    "04-3": lambda query, keys, values: core.soft_lookup(query, keys, values)[0],
    "05-1": core.score,
    "05-2": lambda x, w_q, w_k: core.score(x @ w_q, x @ w_k),
    "06-1": core.softmax_jacobian,
    "07-1": lambda x, w_q, w_k, w_v: core.scaled_dot_product_attention(x @ w_q, x @ w_k, x @ w_v)[0],
    "09-1": core.split_heads,
    "09-2": core.merge_heads,
    "09-3": lambda d_model, n_heads: core.MultiHeadAttention(
        d_model, n_heads, bias=False, rng=np.random.default_rng(0)).n_parameters,
    "10-1": core.causal_mask,
    "10-2": lambda scores, mask: core.softmax(scores, mask=mask),
    "10-3": lambda length, n_words: np.tile(core.padding_mask([length], n_words)[0], (n_words, 1)),
    "10-4": lambda scores, mask: core.softmax(scores, mask=mask),
    "11-1": lambda target, source: core.scaled_dot_product_attention(target, source, source)[0],
}


@pytest.mark.parametrize("id", CORE_SOLUTIONS)
def test_core_passes_its_own_exercises(id):
    verdict = find(id).judge(CORE_SOLUTIONS[id])
    assert verdict.status == "passed", verdict.text


# ---------------------------------------------------------------- 笔记本里的练习

PRESENT = [notebook for notebook in SERIES if (NOTEBOOKS / notebook.filename).exists()]


@pytest.mark.parametrize("notebook", PRESENT, ids=lambda notebook: notebook.stem)
def test_notebook_holds_each_exercise_of_its_section_once(notebook):
    cells = nbformat.read(NOTEBOOKS / notebook.filename, as_version=4).cells
    expected = in_section(notebook.section)
    places = [n for n, cell in enumerate(cells) if has_tag(cell, "exercise")]
    assert [cells[n].source for n in places] == [exercise.stub_code() for exercise in expected]
    assert [cells[n - 1].source for n in places] == [exercise.markdown() for exercise in expected]
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    if any("np." in exercise.markdown() for exercise in expected):
        assert "import numpy as np" in code, "参考答案要用 np"


def exercise_cell(source):
    return nbformat.v4.new_code_cell(source, metadata={"tags": ["exercise"]})


def test_refresh_fills_the_cell_and_puts_the_text_before_it():
    once = list(with_exercises([exercise_cell('check("04-1")')]))
    assert [cell.source for cell in once] == [find("04-1").markdown(), find("04-1").stub_code()]
    once[0].source = "改过的题目"
    once[1].source = once[1].source.replace("...", "return 3")
    twice = list(with_exercises(once))
    assert [cell.source for cell in twice] == [find("04-1").markdown(), find("04-1").stub_code()]
    assert twice[0].id == "exercise-04-1"


def test_refresh_refuses_an_exercise_that_does_not_exist():
    with pytest.raises(RefreshError, match="04-9"):
        list(with_exercises([exercise_cell('check("04-9", my_softmax)')]))


# ---------------------------------------------------------------- 读者写得出的各种东西


@pytest.fixture
def softmax():
    return find("04-1")


def right(scores):
    return np.exp(scores - np.max(scores, -1, keepdims=True)) / np.exp(
        scores - np.max(scores, -1, keepdims=True)).sum(-1, keepdims=True)


def test_reader_may_return_lists_tuples_float32_and_views(softmax):
    for convert in (np.ndarray.tolist, lambda x: tuple(map(np.asarray, x)), np.asfortranarray):
        assert softmax.judge(lambda scores, convert=convert: convert(right(scores))).status == "passed"
    merge = find("08-3")   # 它的结果里有 ln 2，float32 装不准
    assert merge.judge(lambda left, right: np.float32(merge.rights[0](left, right))).status == "passed"


def test_reader_may_annotate_rename_and_add_defaults(softmax):
    def my_softmax(s: np.ndarray, *, verbose: bool = False) -> np.ndarray:
        return right(s)

    assert softmax.judge(my_softmax).status == "passed"


@pytest.mark.parametrize("unsolved", ["...", "pass", "return None", "return ...", "raise NotImplementedError",
                                      '"""说明"""', '"""说明"""\n    ...'])
def test_every_way_of_not_having_begun(softmax, unsolved):
    function = in_notebook(softmax, f"def my_softmax(scores):\n    {unsolved}")
    assert softmax.judge(function).status == "unsolved"


def test_forgotten_return_is_not_mistaken_for_an_untouched_stub(softmax):
    def my_softmax(scores):
        weights = right(scores)
        weights.sum()

    assert "是不是忘了写 return" in softmax.judge(my_softmax).text


def test_two_mistakes_at_once_name_the_one_that_the_case_isolates(softmax):
    def wrong_axis_and_no_maximum(scores):
        return np.exp(scores) / np.exp(scores).sum(axis=0)

    assert "归一沿错了轴" in softmax.judge(wrong_axis_and_no_maximum).text.splitlines()[0]


def test_the_same_mistake_written_otherwise_gets_the_same_name(softmax):
    def by_columns(scores):
        if scores.ndim == 1:
            return right(scores)
        return np.stack([right(column) for column in scores.T], axis=1)

    assert softmax.judge(by_columns).text.splitlines()[0] == "04-1 还不对：归一沿错了轴：每一列加起来是 1"


def test_a_crash_that_a_wrong_solution_shares_is_named_too():
    def my_cross_attention(target, source):
        weights = right(target @ source.T / np.sqrt(target.shape[-1]))
        return weights @ target

    text = find("11-1").judge(my_cross_attention).text
    assert text.splitlines()[0] == "11-1 还不对：取走的是 target 自己"
    assert "return weights @ target" in text


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda scores: 2 * right(scores), "权重加起来不是 1"),
        (lambda scores: np.exp(scores - scores.max()) if scores.ndim == 1 else ..., "权重加起来不是 1"),
        (max, "形状是一个数，应该是 (2,)"),
        (lambda scores: right(scores)[..., None], "形状是 (2, 1)，应该是 (2,)"),
        (lambda scores: right(scores)[::-1], "这个例子检查：一行"),
        (lambda scores: scores * np.nan, "结果里有 nan"),
        (lambda scores: np.full(scores.shape, np.inf), "结果里有无穷大"),
        (lambda scores: {"weights": scores}, "返回的是 dict，应该返回数或者数组"),
        (lambda scores: (w for w in scores), "返回的是 generator"),
        (lambda scores: "0.25 0.75", "返回的是 str，应该返回数或者数组"),
        (lambda scores: [[1.0], [1.0, 2.0]], "返回的 list 变不成数组"),
        (lambda scores: [None, 1.0], "返回的 list 里不全是数"),
        (lambda scores: ["0.25", "0.75"], "返回的是词，应该是数"),
        (lambda scores: np.array("猫"), "形状是一个词，应该是 (2,)。返回的是词，应该是数"),
        (lambda scores: right, "返回的是 function"),
        (lambda scores: scores @ np.ones(7), "ValueError"),
        (lambda scores: missing(scores), "用到了没有定义的名字"),  # noqa: F821
        (lambda scores: 1 / 0, "除以了 0"),
        (lambda scores: sys.exit(3), "代码要退出 Python"),
        (lambda: 1, "参数不对。这道题这样调用：my_softmax(scores)"),
        (lambda scores, temperature: scores, "参数不对"),
        (np.array([0.25, 0.75]), "第二个参数要给函数本身（my_softmax，后面不带括号和参数）"),
        (None, "第二个参数要给函数本身"),
    ],
)
def test_what_is_wrong_is_said_not_raised(softmax, function, words):
    verdict = softmax.judge(function)
    assert verdict.status == "wrong"
    assert words in verdict.text
    assert verdict.text.startswith("04-1 还不对：")
    assert len(verdict.text.splitlines()) <= 8


def test_exception_shows_type_message_and_the_readers_own_line(softmax, tmp_path):
    cell = tmp_path / "cell.py"
    cell.write_text("def helper(scores):\n    return np.take(scores, 99)\n\n"
                    "def my_softmax(scores):\n    return helper(scores)\n", encoding="utf-8")
    namespace = {"np": np}
    exec(compile(cell.read_text(encoding="utf-8"), str(cell), "exec"), namespace)
    lines = softmax.judge(namespace["my_softmax"]).text.splitlines()
    assert lines[0].startswith("04-1 还不对：运行时出错（下标超出了范围）：IndexError: index 99 is out of bounds")
    assert lines[1] == "  出在第 2 行：return np.take(scores, 99)"


def test_endless_recursion_is_explained(softmax):
    def my_softmax(scores):
        return my_softmax(scores)

    text = softmax.judge(my_softmax).text
    assert "函数不停地调用自己" in text
    assert "return my_softmax(scores)" in text


def test_exception_that_cannot_be_shown_is_survived(softmax):
    class BrokenError(Exception):
        def __str__(self):
            raise RuntimeError("说不出来")

    def my_softmax(scores):
        raise BrokenError

    assert "BrokenError" in softmax.judge(my_softmax).text


def test_stop_button_still_stops(softmax):
    def my_softmax(scores):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        softmax.judge(my_softmax)


def test_changed_input_is_named_even_if_the_result_is_right(softmax):
    def in_place(scores):
        weights = right(scores)
        scores[...] = weights
        return scores

    text = softmax.judge(in_place).text
    assert "改动了输入 scores" in text
    assert softmax.judge(right).status == "passed", "例子本身不能被读者改动"


def test_changed_list_is_named():
    def my_rewrites(words, first, second):
        words.remove(first)
        return 1

    assert "改动了输入 words" in find("01-2").judge(my_rewrites).text


def test_warning_is_passed_on_but_a_right_result_still_passes(softmax):
    def my_softmax(scores):
        np.log(np.zeros(1))
        warnings.warn("自己的提醒", stacklevel=1)
        return right(scores)

    verdict = softmax.judge(my_softmax)
    assert verdict.status == "passed"
    assert verdict.text.splitlines() == [
        "04-1 通过：把分数变成权重。", "  Python 提醒：divide by zero encountered in log", "  Python 提醒：自己的提醒"]


@pytest.mark.parametrize("id", ["10-1", "10-3", "11-2"])
@pytest.mark.parametrize("number", [int, float, np.float32])
def test_a_mask_of_numbers_is_not_a_mask(id, number):
    exercise = find(id)
    for right in exercise.rights:
        text = exercise.judge(lambda *args, right=right: np.asarray(right(*args)).astype(number)).text
        assert "这道题要 True 和 False（比较的结果，或者 .astype(bool)）" in text.splitlines()[0]
        assert exercise.judge(lambda *args, right=right: np.asarray(right(*args)).tolist()).status == "passed"


def test_an_additive_mask_is_not_told_to_become_bool():
    for shut, words in [(-np.inf, "返回的是要加到分数上的表"), (-1e9, "返回的是数，这道题要 True 和 False")]:
        text = find("10-1").judge(lambda n, shut=shut: np.where(np.tri(n) > 0, 0.0, shut)).text
        assert text.splitlines()[0].endswith(words)


def test_a_name_agrees_with_every_outcome_so_far():
    exercise = Exercise("00-1", "加倍", task="", hint="")
    exercise.stub(find("04-1")._stub)
    exercise.wrong("平方了", "平方是自己乘自己。")(lambda numbers: numbers ** 2)
    exercise.case("头一个例子", [1.0, 3.0], expected=[2.0, 6.0], why="两倍。")
    exercise.case("第二个例子", [4.0, 5.0], expected=[8.0, 10.0], why="两倍。")

    def right_at_first(numbers):
        return 2 * numbers if numbers[0] == 1 else numbers ** 2

    assert exercise.judge(lambda numbers: numbers ** 2).text.splitlines()[0].endswith("平方了")
    assert "平方了" not in exercise.judge(right_at_first).text


def test_underflow_is_as_silent_as_numpy_leaves_it():
    def my_masked_softmax(scores, mask):
        return right(np.where(mask, scores, -1e9))

    verdict = find("10-2").judge(my_masked_softmax)
    assert verdict.text.splitlines() == [f"10-2 通过：{find('10-2').title}。"]


def test_later_cases_are_silent_on_stderr_too(softmax, capsys):
    def my_softmax(scores):
        print("看一看", file=sys.stderr)
        return np.exp(scores - scores.max(axis=-1, keepdims=True))

    assert "权重加起来不是 1" in softmax.judge(my_softmax).text
    assert capsys.readouterr().err == "看一看\n"


@pytest.mark.parametrize(("result", "words"), [
    ([0, 1], "返回的是数，应该是词"),
    ([[2.0, 0.0]], "形状是 (1, 2)，应该是 (2,)。返回的是数，应该是词"),
    (3, "形状是一个数，应该是 (2,)。返回的是数，应该是词"),
    ("累", "形状是一个词，应该是 (2,)"),
    ([], "形状是 (0,)，应该是 (2,)。先把形状弄对"),
    (["累", None], "返回的 list 里不全是词"),
    ({"累": 1}, "返回的是 dict，应该返回词的列表"),
])
def test_words_and_numbers_are_told_apart(result, words):
    assert words in find("11-3").judge(lambda weights, source_words: result).text.splitlines()[0]


def test_return_left_inside_the_loop_is_suspected():
    def my_note_left(n_rewrites, overwrite):  # noqa: RET503
        left = 1.0
        for _ in range(n_rewrites):
            left -= left * overwrite
            return left

    assert "return 写在了循环里面" in find("01-1").judge(my_note_left).text


def test_long_messages_are_cut_short(softmax):
    def my_softmax(scores):
        raise ValueError("很长" * 10_000)

    assert len(softmax.judge(my_softmax).text) < 500
    assert len(softmax.judge(lambda scores: np.zeros((300, 300))).text) < 500


def test_tiny_differences_are_shown_with_more_digits(softmax):
    text = softmax.judge(lambda scores: right(scores) + np.array([4e-5, -4e-5])).text
    assert "[0.25004, 0.74996]" in text


def test_scalar_is_not_named_after_a_coincidence():
    # 一直返回 1：与“少乘了一次”在一个例子上碰巧相同，却不是那个错。
    assert "少乘了一次" not in find("01-1").judge(lambda n_rewrites, overwrite: 1.0).text


def test_constant_multiple_and_transposed_are_recognised_without_a_named_solution():
    assert "应有的 3 倍" in find("03-1").judge(lambda x, w: 3 * x @ w).text
    assert "行和列对调了" in find("03-1").judge(lambda x, w: (x @ w).T).text


# ---------------------------------------------------------------- check 与 find


def test_unknown_exercise_is_the_authors_mistake():
    with pytest.raises(ValueError, match=r"id 应为一道题的编号（04-1、04-2、04-3、04-4），收到的是 '04-9'"):
        check("04-9", right)
    for id in ("99-1", "", None, "猫"):
        with pytest.raises(ValueError, match="id 应为一道题的编号"):
            find(id)


def test_only_the_section_asked_for_is_loaded():
    code = ("import sys; from attention_core.exercises import check; check('04-1', lambda scores: ...); "
            "print(sorted(name[-10:] for name in sys.modules if '.section_' in name), 'matplotlib' in sys.modules)")
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True)
    assert out.stdout.splitlines()[-1] == "['section_04'] False"


def test_check_prints_the_verdict_and_counts_the_section(capsys, clean_progress):
    check("04-1", lambda scores: ...)
    assert capsys.readouterr().out == "04-1 还没写：把分数变成权重。补完 my_softmax 再运行这一格。\n"
    assert not clean_progress.exists()
    check("04-1", right)
    assert capsys.readouterr().out == "04-1 通过：把分数变成权重。\n  这一节 4 道题，过了 1 道。\n"
    check("04-4", lambda a, b: np.exp(a - b))
    assert capsys.readouterr().out.endswith("  这一节 4 道题，过了 2 道。\n")


def test_progress_table_shows_every_notebook(clean_progress):
    table = show_progress()
    assert repr(table).splitlines()[-1] == f"一共 {len(EXERCISES)} 道练习，过了 0 道。"
    assert "04_three_steps             0/4  ○○○○" in repr(table)
    check("04-2", find("04-2").rights[0])
    table = show_progress()
    assert "04_three_steps             1/4  ○●○○" in repr(table)
    html = table._repr_html_()
    for notebook in SERIES:
        assert f'<a href="{notebook.filename}">' in html
    assert "<td>1 / 4</td><td>04-1 把分数变成权重、04-3 把一行从头算到尾、04-4 两个权重差几倍</td>" in html
    assert '<th scope="col">' in html
