"""练习的框架：一道题是什么，怎样检查读者写的函数，怎样把结果说清楚。

一道题由五样东西组成：要写的函数 (`Exercise.stub`)、几个小例子 (`Exercise.case`)、几种正确的写法
(`Exercise.right`)、几种有名字的错法 (`Exercise.wrong`) 和一句提示。例子从易到难，一个只检查一件事；
读者的结果与例子不符时，先看它是不是正好等于某种错法的结果，是的话就叫得出错在哪里。
"""

import contextlib
import copy
import dis
import importlib
import inspect
import io
import re
import traceback
import warnings
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from .._arrays import fail
from ..series import SERIES
from . import progress

_EXCEPTIONS_IN_CHINESE = MappingProxyType({
    "AssertionError": "断言不成立",
    "AttributeError": "没有这个属性或方法",
    "IndexError": "下标超出了范围",
    "KeyError": "字典里没有这个键",
    "MemoryError": "内存不够",
    "NameError": "用到了没有定义的名字",
    "OverflowError": "数太大了",
    "RecursionError": "函数不停地调用自己，停不下来",
    "SystemExit": "代码要退出 Python",
    "TypeError": "类型不对，或者参数的个数不对",
    "UnboundLocalError": "变量还没有赋值就用了",
    "ValueError": "值或形状不对",
    "ZeroDivisionError": "除以了 0",
})


@dataclass(frozen=True)
class Case:
    """一个小例子：单独检查哪一件事，输入，应有的结果，为什么。"""

    mechanism: str
    args: tuple
    expected: np.ndarray
    why: str


@dataclass(frozen=True)
class Wrong:
    """一种有名字的错法：它叫什么，为什么不对，照它写出来的函数。"""

    name: str
    why: str
    function: Any


@dataclass(frozen=True)
class Verdict:
    """检查的结果：``"passed"``、``"unsolved"`` 或 ``"wrong"``，和给读者看的话。"""

    status: str
    text: str


class _ProblemError(Exception):
    """读者的函数没有给出能比较的结果：怎么说给读者听；如果是异常，它的原话。"""

    def __init__(self, *lines, crash=None):
        super().__init__(*lines)
        self.lines = lines
        self.crash = crash


class _UnsolvedError(Exception):
    """读者还没有动手写。"""


class Exercise:
    """一道练习。在 ``section_NN.py`` 里建一个，再用它的四个方法登记内容。

    Parameters
    ----------
    id : str
        节号加题号，如 ``"04-1"``。
    title : str
        一句话的题目。
    task : str
        要写什么 (Markdown)。
    hint : str
        折叠起来的提示 (Markdown)。

    Examples
    --------
    >>> double = Exercise("00-1", "加倍", task="把一个数加倍。", hint="乘以 2。")
    >>> double.case("加倍", 3.0, expected=6.0, why="3 的两倍是 6。")
    >>> @double.wrong("平方了", "平方是自己乘自己。")
    ... def squared(number):
    ...     return number ** 2
    >>> @double.stub
    ... def my_double(number):
    ...     ...
    >>> print(double.judge(squared).text)
    00-1 还不对：平方了
      拿来试的：number = 3
      你得到的：9
      应该得到：6
      原因：平方是自己乘自己。
    """

    def __init__(self, id, title, *, task, hint):
        self.id = id
        self.title = title
        self.task = _unwrap(inspect.cleandoc(task))
        self.hint = _unwrap(inspect.cleandoc(hint))
        self.cases = []
        self.rights = []
        self.wrongs = []

    def stub(self, function):
        """登记读者要补完的函数：名字、参数、说明和空着的身体。"""
        self._stub = function
        return function

    def right(self, function):
        """登记一种正确的写法；头一种是给读者看的参考答案。"""
        self.rights.append(function)
        return function

    def wrong(self, name, why):
        """登记一种有名字的错法。

        Parameters
        ----------
        name : str
            错在哪里，如“没有缩放”。
        why : str
            为什么不对，一两句。
        """
        def register(function):
            self.wrongs.append(Wrong(name, why, function))
            return function
        return register

    def case(self, mechanism, *args, expected, why):
        """登记一个小例子。

        Parameters
        ----------
        mechanism : str
            这个例子单独检查哪一件事。
        *args
            函数的参数；数的列表变成数组，别的原样交给函数。
        expected : array_like
            应有的结果。
        why : str
            为什么应该是这样，一两句。
        """
        args = tuple(_numbers_as_array(arg) for arg in args)
        self.cases.append(Case(mechanism, args, np.asarray(expected), why))

    @property
    def function_name(self):
        """读者要写的函数的名字。"""
        return self._stub.__name__

    def stub_code(self):
        """返回笔记本里练习格的内容：空着的函数，和检查它的一行。"""
        return f'{_source(self._stub)}\n\ncheck("{self.id}", {self.function_name})'

    def markdown(self):
        """返回笔记本里练习格上面的文字：题目、要写什么，折叠的提示和参考答案。"""
        answer = re.sub(r"(?m)^def \w+", f"def {self.function_name}", _source(self.rights[0]), count=1)
        return (f"### 练习 {self.id}：{self.title}\n\n{self.task}\n\n"
                f"<details><summary>提示</summary>\n\n{self.hint}\n\n</details>\n\n"
                f"<details><summary>参考答案</summary>\n\n```python\n{answer}\n```\n\n</details>")

    def judge(self, function):
        """用每个小例子检查一个函数。

        Parameters
        ----------
        function : callable
            读者写的函数。

        Returns
        -------
        verdict : Verdict
            从不抛出读者的异常。
        """
        if not callable(function):
            return self._not_yet(f"第二个参数要给函数本身（{self.function_name}，后面不带括号和参数）")
        noticed, outcomes = [], []
        for case in self.cases:
            try:
                outcomes.append(self._run(function, case, noticed))
            except _UnsolvedError:
                return Verdict("unsolved", f"{self.id} 还没写：{self.title}。补完 {self.function_name} 再运行这一格。")
            except _ProblemError as problem:
                wrong = problem.crash and self._recognise(function, [*outcomes, problem.crash])
                lines = [wrong.name, *problem.lines, f"原因：{wrong.why}"] if wrong else problem.lines
                return self._not_yet(*lines, self._tried(case), *noticed)
            if not _same(outcomes[-1], case.expected):
                return self._mistaken(function, outcomes, noticed)
        return Verdict("passed", "\n  ".join([f"{self.id} 通过：{self.title}。", *noticed]))

    def _run(self, function, case, noticed):
        """在输入的副本上运行一次；把 numpy 的警告记进 ``noticed``。"""
        args = copy.deepcopy(case.args)
        try:
            inspect.signature(function).bind(*args)
        except TypeError:
            called = f"{self.function_name}{inspect.signature(self._stub)}"
            raise _ProblemError(f"参数不对。这道题这样调用：{called}") from None
        except ValueError:
            pass   # 有些用 C 写的函数说不出自己的参数
        try:
            with warnings.catch_warnings(record=True) as caught, np.errstate(all="warn", under="ignore"):
                warnings.simplefilter("always")
                result = function(*args)
        except NotImplementedError:
            raise _UnsolvedError from None
        except (Exception, SystemExit) as error:
            raise _describe(error, function) from None
        for warning in caught:
            line = f"Python 提醒：{_shorten(warning.message)}"
            if line not in noticed:
                noticed.append(line)
        if result is Ellipsis or (result is None and _is_untouched(function, self._stub)):
            raise _UnsolvedError
        for name, before, after in zip(self._parameters(), case.args, args, strict=True):
            if not _unchanged(before, after):
                raise _ProblemError(f"改动了输入 {name}。请先复制一份（{name}.copy()），或者每一步都算出新的数组")
        return _comparable(result, case.expected)

    def _mistaken(self, function, outcomes, noticed):
        """说出错在哪里：形状、名字、试的是什么、得到什么、应该得到什么、为什么。"""
        case, got = self.cases[len(outcomes) - 1], outcomes[-1]
        wrong = self._recognise(function, outcomes)
        if wrong:
            name, why = wrong.name, wrong.why
        else:
            name, why = _symptom(got, case.expected) or f"结果不对（这个例子检查：{case.mechanism}）", case.why
        if got.shape != case.expected.shape:
            name = f"形状是{_shape(got)}，应该是{_shape(case.expected)}。{name}"
        shown, wanted = _show_apart(got, case.expected)
        return self._not_yet(name, self._tried(case), f"你得到的：{shown}", f"应该得到：{wanted}",
                             f"原因：{why}", *noticed)

    def _recognise(self, function, outcomes):
        """找出与读者到此为止的结果（数组，或异常的原话）都相同的错法；不止一种时，看哪一种在后面的例子上也相同。

        结果只是一个数时容易碰巧相同，所以要在每个例子上都相同才算。``outcomes`` 是读者到此为止的结果；
        后面的例子在这里补上，读者自己的 print 和写到 ``sys.stderr`` 的话不再出声。
        """
        def run(function, case):
            try:
                return self._run(function, case, [])
            except _ProblemError as problem:
                return problem.crash
            except _UnsolvedError:
                return None

        def agree(one, other):
            if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
                return _same(one, other) and _same(other, one)
            return isinstance(one, str) and isinstance(other, str) and one == other

        candidates = [wrong for wrong in self.wrongs
                      if all(agree(run(wrong.function, earlier), outcome)
                             for earlier, outcome in zip(self.cases, outcomes, strict=False))]
        if not candidates:
            return None
        one_number = self.cases[len(outcomes) - 1].expected.ndim == 0
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            outcomes = [*outcomes, *(run(function, later) for later in self.cases[len(outcomes):])]
        agreeing = [sum(agree(run(wrong.function, other), outcome)
                        for other, outcome in zip(self.cases, outcomes, strict=True)) for wrong in candidates]
        if one_number and max(agreeing) < len(self.cases):
            return None
        return candidates[agreeing.index(max(agreeing))]

    def _parameters(self):
        return inspect.signature(self._stub).parameters

    def _tried(self, case):
        pairs = (f"{name} = {_show(arg)}" for name, arg in zip(self._parameters(), case.args, strict=True))
        return "拿来试的：" + "，".join(pairs)

    def _not_yet(self, first, *lines):
        return Verdict("wrong", "\n  ".join([f"{self.id} 还不对：{first}", *lines]))


def find(id):
    """按编号找一道题；只载入它那一节。

    Parameters
    ----------
    id : str
        如 ``"04-1"``。

    Returns
    -------
    exercise : Exercise

    Raises
    ------
    ValueError
        没有这道题。

    Examples
    --------
    >>> find("04-1").function_name
    'my_softmax'
    """
    sections = {f"{notebook.section:02}": notebook.section for notebook in SERIES}
    section = sections.get(str(id)[:2])
    exercises = {exercise.id: exercise for exercise in in_section(section)} if section else {}
    if id not in exercises:
        known = "、".join(exercises) or "01-1 到 13-3 这样的编号"
        fail("id", f"一道题的编号（{known}）", f"{id!r}", "请照练习格里原来的写。")
    return exercises[id]


def in_section(section):
    """返回一节的全部练习。

    Parameters
    ----------
    section : int
        节号。

    Returns
    -------
    exercises : list of Exercise
        按编号排列。
    """
    module = importlib.import_module(f".section_{section:02}", __package__)
    found = [value for value in vars(module).values() if isinstance(value, Exercise)]
    return sorted(found, key=lambda exercise: exercise.id)


def check(id, function):
    """检查读者写的函数，打印结果；通过的记进进度。

    Parameters
    ----------
    id : str
        题号，如 ``"04-1"``。
    function : callable
        读者写的函数。

    Raises
    ------
    ValueError
        没有这道题。读者的函数出错不会抛出，只会说明。

    Examples
    --------
    >>> def my_softmax(scores):
    ...     ...
    >>> check("04-1", my_softmax)
    04-1 还没写：把分数变成权重。补完 my_softmax 再运行这一格。
    """
    exercise = find(id)
    verdict = exercise.judge(function)
    print(verdict.text)
    if verdict.status == "passed":
        passed, trouble = progress.record(id)
        section = in_section(int(id[:2]))
        done = sum(other.id in passed for other in section)
        print(f"  这一节 {len(section)} 道题，过了 {done} 道。")
        if trouble:
            print(f"  {trouble}")


# 读者的结果 ---------------------------------------------------------------------------------------

def _numbers_as_array(arg):
    """数的列表变成数组；词的列表、单个的数、函数原样返回。"""
    if isinstance(arg, list) and np.asarray(arg).dtype.kind in "biuf":
        return np.asarray(arg)
    return arg


def _unchanged(before, after):
    if isinstance(before, np.ndarray):
        return before.shape == after.shape and np.array_equal(before, after)
    return before == after


def _is_untouched(function, stub):
    """读者的函数与空着的身体做的事一样吗（说明文字改了不算）。"""
    def steps(function):
        return [step.opname for step in dis.get_instructions(function)]

    return not hasattr(function, "__code__") or steps(function) == steps(stub)


def _comparable(result, expected):
    """把读者返回的东西变成能与 ``expected`` 比较的数组。"""
    if result is None:
        raise _ProblemError("函数运行完了，却什么也没有返回。是不是忘了写 return，或者 return 写在了循环里面？")
    try:
        array = np.asarray(result)
    except Exception:   # 读者的对象在转换时可以抛出任何异常
        raise _ProblemError(f"返回的 {type(result).__name__} 变不成数组：里面的各行不一样长") from None
    words = expected.dtype.kind == "U"
    # 该是词的地方是数，或者反过来，都能比：比出来不同，再由 _symptom 说明
    if array.dtype.kind not in "biufcU" or (isinstance(result, str) and not words):
        if isinstance(result, list | tuple | np.ndarray):
            raise _ProblemError(f"返回的 {type(result).__name__} 里不全是{'词' if words else '数'}")
        raise _ProblemError(f"返回的是 {type(result).__name__}，应该返回{'词的列表' if words else '数或者数组'}")
    return array


def _same(got, expected):
    if got.shape != expected.shape or _another_kind(got, expected):
        return False
    if expected.dtype.kind == "U":
        return np.array_equal(got, expected)
    # 读者用 float32 算也算对；例子里的错法都差得比这远得多
    return np.allclose(got, expected, rtol=1e-4, atol=1e-6, equal_nan=True)


def _another_kind(got, expected):
    """种类不对时说是什么：词与数，数与 ``True``、``False``。用 0 和 1 当掩码，会加到分数上去，什么也没有遮。"""
    if got.size == 0:
        return None   # 空的列表里什么种类也没有
    if (got.dtype.kind == "U") != (expected.dtype.kind == "U"):
        return "返回的是数，应该是词" if expected.dtype.kind == "U" else "返回的是词，应该是数"
    if expected.dtype.kind == "b" and got.dtype.kind != "b":
        if np.isin(got, (0, 1)).all():
            return "返回的是 0 和 1 这样的数，这道题要 True 和 False（比较的结果，或者 .astype(bool)）"
        return "返回的是数，这道题要 True 和 False"
    return None


def _symptom(got, expected):
    """没有对得上的错法时，看结果有没有一眼认得出的毛病。"""
    if another := _another_kind(got, expected):
        return another
    if got.dtype.kind == "U":
        return None
    if np.isnan(got).any():
        return "结果里有 nan（不是一个数，常常来自 0/0 或者 ∞-∞）"
    if np.isinf(got).any() and np.isfinite(expected).all():
        return "结果里有无穷大"
    if expected.ndim > 1 and _same(got, expected.swapaxes(-1, -2)):
        return "行和列对调了（转置）"
    if got.shape != expected.shape:
        return "先把形状弄对"
    if not np.iscomplexobj(got) and _adds_up_to_1(expected) and not _adds_up_to_1(got):
        return "权重加起来不是 1"
    ratio = _constant_ratio(got, expected)
    return f"每个数都正好是应有的 {ratio:.4g} 倍" if ratio else None


def _adds_up_to_1(weights):
    return (weights.ndim > 0 and weights.dtype.kind == "f" and (weights >= 0).all()
            and np.allclose(weights.sum(axis=-1), 1))


def _constant_ratio(got, expected):
    """``got`` 处处是 ``expected`` 的同一倍时返回倍数；一个数看不出倍数。"""
    if expected.dtype.kind == "b" or np.count_nonzero(expected) < 2 or np.iscomplexobj(got):
        return None
    ratio = got[expected != 0].flat[0] / expected[expected != 0].flat[0]
    return ratio if ratio and _same(ratio * expected, got) else None


def _describe(error, function):
    """一两行说清读者的异常：类型、原话、出在哪一行。"""
    said = _shorten(traceback.format_exception_only(error)[-1].strip())
    chinese = _EXCEPTIONS_IN_CHINESE.get(type(error).__name__)
    first = f"运行时出错（{chinese}）：{said}" if chinese else f"运行时出错：{said}"
    own_file = getattr(getattr(function, "__code__", None), "co_filename", None)
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == own_file]
    where = [f"出在第 {own[-1].lineno} 行：{own[-1].line}"] if own else []
    return _ProblemError(first, *where, crash=said)


# 写给读者看 ---------------------------------------------------------------------------------------

def _unwrap(text):
    """接起汉字之间、标点之后的换行：Markdown 会把它显示成空格。"""
    return re.sub(r"(?<=[\u2e80-\uffef“”])\n(?=[\u2e80-\uffef“”])|(?<=[，。：；、）？])\n(?=\S)", "", text)


def _source(function):
    """函数的源代码，不带登记用的装饰器。"""
    return re.sub(r"\A(@.*\n)+", "", inspect.getsource(function)).rstrip()


def _shorten(message, limit=200):
    text = str(message)
    return text if len(text) <= limit else text[:limit] + "……"


def _shape(array):
    return f" {array.shape}" if array.ndim else "一个词" if array.dtype.kind == "U" else "一个数"


def _show(value, digits=4):
    """写成一行：小数最多 ``digits`` 位，函数只说名字。"""
    if callable(value):
        return value.__name__
    if isinstance(value, str):
        return repr(value)
    array = np.asarray(value)
    if array.ndim == 0:
        return _number(array[()], digits)
    text = np.array2string(array, separator=", ", threshold=50,
                           formatter={"float_kind": lambda number: _number(number, digits)})
    return re.sub(r"\n\s*", " ", text)


def _number(number, digits):
    if not isinstance(number, np.floating):
        return str(number)
    size = abs(float(number))   # float16 与 1e9 比大小会溢出，发出警告
    if 0 < size < 1e-3 or size > 1e9:
        return f"{number:.{digits}g}"
    text = f"{number:z.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _show_apart(got, expected):
    """四位小数分不出两者时，多写几位。"""
    for digits in (4, 8):
        shown, wanted = _show(got, digits), _show(expected, digits)
        if shown != wanted:
            break
    return shown, wanted
