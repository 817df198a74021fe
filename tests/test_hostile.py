"""存心捣乱的输入：每个能打字的地方，每个公开函数的每个参数。

要么给出结果，要么说一句看得懂的中文；不抛别的异常，不发警告，不执行任何东西，不改动传进来的数组。
"""

import contextlib
import re
from decimal import Decimal
from fractions import Fraction
from xml.etree import ElementTree

import hypothesis.extra.numpy as arrays_of
import ipywidgets
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attention_core import exact_lookup, panels
from attention_core.exercises import check
from attention_core.panels.words import MAX_TOKENS
from core_calls import valid_calls

CHINESE = re.compile(r"[\u4e00-\u9fff]")
# 面板的画面里只会有这些标签；别的都是读者打的字混进去了。
TAGS = {"div", "svg", "g", "rect", "text", "tspan", "path", "line", "circle", "title"}

ODD_TEXTS = [
    "", " ", "\n\t", "\u3000", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</svg></div>",
    "&lt;&amp;&#0;",
    "]]><!--", "{0} {x} %s $d_k$ **粗** `码`", "🐱" * 50, "👨‍👩‍👧‍👦 🏳️‍🌈", "\u202e倒过来\u202c", "e\u0301" * 30,
    "\x00\x01\x1b[31m\ufffe\ufffd", "\ud800", "猫" * 10_000, "a" * 10_000, " ".join("词" * 5_000),
    "'; DROP TABLE 猫; --", "猫\u200b\u200d猫", "٣ ४ Ⅷ ½", "-inf NaN None",
]

# ---------------------------------------------------------------- 面板里能打字的地方


def text_fields():
    """每个面板里的每个文本框：面板的名字，设置的名字。"""
    for name in panels.PANELS:
        panel = getattr(panels, name)()
        yield from ((name, setting) for setting, control in panel.controls.items()
                    if isinstance(control, ipywidgets.Text))
        panel.close()


FIELDS = list(text_fields())


@pytest.fixture(scope="module")
def opened():
    made = {name: getattr(panels, name)() for name, _ in FIELDS}
    yield made
    for panel in made.values():
        panel.close()


def assert_sound(panel):
    """画面是好的：没有错误，是合格的 XML，没有混进去的标签和属性，大小有限。"""
    assert panel.error is None
    for source in (panel.view.html(), panel.view.finding_html(), panel.view.still()):
        assert len(source) < 400_000
        for element in ElementTree.fromstring(source.encode()).iter():
            tag = element.tag.split("}")[-1]
            assert tag in TAGS | {"figure", "figcaption", "img"}, tag
            assert not [name for name in element.attrib if name.startswith("on")]
            assert not element.get("src", "data:image/svg+xml;").strip().startswith("javascript")
            assert element.get("href") is None
    assert panel.view.finding.strip()
    for table in panel.view.blocks:
        assert float(table.get("width")) <= 400


def test_there_are_fields_to_type_into():
    assert {name for name, _ in FIELDS} >= {"word_order"}


@pytest.mark.parametrize("text", ODD_TEXTS, ids=[f"text{n}" for n in range(len(ODD_TEXTS))])
@pytest.mark.parametrize(("name", "setting"), FIELDS)
def test_odd_text_in_every_field(opened, name, setting, text):
    panel = opened[name]
    if "\ud800" in text:
        # 半个代理对进不了网页，也就打不进文本框；控件自己不拒绝，画面照样要是好的。
        panel.controls[setting].value = text
    else:
        panel.set(**{setting: text})
    assert_sound(panel)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=60))
@pytest.mark.parametrize(("name", "setting"), FIELDS)
def test_any_text_in_every_field(opened, name, setting, text):
    panel = opened[name]
    panel.set(**{setting: text})
    assert_sound(panel)


def test_a_sentence_is_cut_to_what_the_picture_can_hold(opened):
    for name, setting in FIELDS:
        opened[name].set(**{setting: "词 " * 5_000})
        tables = [block.get("aria-label", "") for block in opened[name].view.blocks]
        assert all(label.count("词") <= MAX_TOKENS * (MAX_TOKENS + 1) for label in tables)


# ---------------------------------------------------------------- 公开函数的参数

NUMBERS = st.one_of(
    st.integers(), st.floats(allow_nan=True, allow_infinity=True), st.complex_numbers(), st.booleans(),
    st.fractions(), st.decimals().filter(lambda x: not x.is_snan()), st.just(10**400), st.just(-(10**400)),
)
DTYPES = st.one_of(
    arrays_of.boolean_dtypes(), arrays_of.integer_dtypes(), arrays_of.unsigned_integer_dtypes(),
    arrays_of.floating_dtypes(sizes=(16, 32, 64)), arrays_of.complex_number_dtypes(), arrays_of.unicode_string_dtypes(),
    arrays_of.datetime64_dtypes(), st.just(np.dtype(object)),
)
ARRAYS = DTYPES.flatmap(lambda dtype: arrays_of.arrays(
    dtype, arrays_of.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3),
    elements=st.none() if dtype.kind == "O" else None))
ODD_THINGS = st.one_of(
    NUMBERS, ARRAYS, st.text(max_size=5), st.binary(max_size=5), st.none(),
    st.lists(st.one_of(NUMBERS, st.text(max_size=2), st.none(), st.lists(NUMBERS, max_size=2)), max_size=3),
    st.dictionaries(st.text(max_size=2), NUMBERS, max_size=2), st.sets(st.integers(), max_size=2),
    st.sampled_from([object(), len, np.add, range(3), slice(None), ..., NotImplemented, np.ma.masked, type,
                     np.zeros((2, 0)), np.ma.array([1.0, 2.0], mask=[0, 1]),
                     np.array([("猫", 1)], dtype=[("a", "U1"), ("b", "i4")]), memoryview(b"ab"),
                     Decimal("NaN"), Fraction(1, 3)]),
)


def complaint(function, **given_arguments):
    """函数说的那句话；没有怨言就是 None。别的异常照样抛出。"""
    try:
        function(**given_arguments)
    except ValueError as error:
        return str(error)
    return None


def arguments():
    return [(name, argument) for name, (_, given) in sorted(valid_calls().items()) for argument in given]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
@pytest.mark.parametrize(("name", "argument"), arguments())
def test_any_thing_for_any_argument(name, argument, data):
    function, given_arguments = valid_calls()[name]
    odd = data.draw(ODD_THINGS, label=argument)
    # 大得离谱的个数是内存的事，不是这里要查的。
    if isinstance(odd, int) and not isinstance(odd, bool) and abs(odd) > 100 and argument.startswith(("n_", "d_")):
        odd = 10**400
    before = odd.copy() if isinstance(odd, np.ndarray) else None
    said = complaint(function, **given_arguments | {argument: odd})
    # 与别的参数对不上时，说的可以是那一个。
    assert said is None or (CHINESE.search(said) and any(name in said for name in given_arguments)), said
    if before is not None:
        # numpy 2.0 不认为 np.ma.masked 等于它自己
        np.testing.assert_array_equal(np.ma.getdata(odd), np.ma.getdata(before))


@settings(max_examples=100, deadline=None)
@given(query=ODD_THINGS, keys=ODD_THINGS, values=ODD_THINGS)
def test_any_thing_in_a_dictionary(query, keys, values):
    with contextlib.suppress(KeyError):  # 查不到：这正是精确查找要演示的
        said = complaint(exact_lookup, query=query, keys=keys, values=values)
        assert said is None or CHINESE.search(said), said


@settings(max_examples=60, deadline=None)
@given(returned=ODD_THINGS)
def test_a_solution_that_returns_any_thing(returned):
    """读者的函数返回什么，检查都说得出话，不抛出。"""
    def my_softmax(scores):
        return returned

    check("04-1", my_softmax)
