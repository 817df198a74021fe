"""Who is largest: every panel that names one winner, at every stop, has one."""

import inspect
import re

import numpy as np
import pytest

from attention_core import panels
from attention_core.panels import (
    blocks,
    section_02,
    section_03,
    section_04,
    section_06,
    section_07,
    section_11,
    section_12,
)
from attention_core.panels.words import LONGEST_WORD
from test_panels import stops

# What a finding says of one winner: the name, and the share where it is stated.
CLAIMS = (
    re.compile(r"(?:最看|份额最大的是|的份额：)「([^」]*)」(?:，(?:权重 )?)?(\d+\.\d{2,6})"),
    re.compile(r"(?<![、」”])[「“]([^」”]*)[」”](?:变得)?最多[，：](\d+\.\d{2,6})"),
    re.compile(r"硬选择取「([^」]*)」()；"),
)
CLAIMING = {"soft_dictionary", "three_identities", "three_steps", "soft_and_hard", "every_word_asks", "word_order",
            "cross_attention", "real_heads"}


def claims(finding):
    return [(name, share or "1.00") for pattern in CLAIMS for name, share in pattern.findall(finding)]


def rows_of_sentence(tokens, weights, mask, **_):
    return [] if weights is None else [(tokens, weights, mask)]


def rows_of_bars(labels, columns, mask, **_):
    return [(labels, column, mask) for column in columns.values() if not isinstance(column[0], str)]


def rows_of_table(values, rows, columns, mask, query, **_):
    values = np.asarray(values)
    masks = np.broadcast_to(True if mask is None else mask, values.shape)
    return [(columns or rows, values[i], masks[i]) for i in (range(len(values)) if query is None else [query])]


@pytest.fixture
def drawn(monkeypatch):
    """(names, numbers) of each row that the pictures show, as they are drawn; what is shut counts as -inf."""
    drawn = []

    def spy(block, rows_of):
        original = getattr(blocks, block)

        def draw(*args, **kwargs):
            given = inspect.signature(original).bind(*args, **kwargs)
            given.apply_defaults()
            for names, values, mask in rows_of(**given.arguments):
                values = np.asarray(values, dtype=float)
                seen = ~np.isnan(values) & (True if mask is None else mask)
                drawn.append(([blocks.clean(name) for name in names], np.where(seen, values, -np.inf)))
            return original(*args, **kwargs)
        monkeypatch.setattr(blocks, block, draw)

    spy("sentence", rows_of_sentence)
    spy("bars", rows_of_bars)
    spy("table", rows_of_table)   # vectors and heads draw tables
    return drawn


def check_claims(finding, drawn):
    """Each winner in the finding is the only largest of the rows that it can be about, by the number stated too."""
    found = claims(finding)
    for name, share in found:
        digits = len(share.partition(".")[2])
        about = [values for names, values in drawn if blocks.number(values.max(), digits) == share
                 and any(name in (each, each[:LONGEST_WORD]) and blocks.number(value, digits) == share
                         for each, value in zip(names, values, strict=True))]
        assert about, finding
        for values in about:
            assert np.count_nonzero(values >= values.max() - 1e-12) == 1, finding
            assert alone(share, values), finding
    return bool(found)


def alone(share, values):
    """Whether nobody else's number reads like the stated share of the largest; six digits need not suffice."""
    second, best = np.sort(values)[-2:] if len(values) > 1 else (-np.inf, values[0])
    if f"{best:.6f}" == f"{second:.6f}":
        return len(share.partition(".")[2]) == 2
    return f"{second:.{len(share.partition('.')[2])}f}" != share


def every_stop(panel):
    """The start with one control moved, also at both ends of the temperature."""
    start = panel.settings
    ends = [{"temperature": end} for end in (0.0, np.inf)] if "temperature" in start else []
    for beside in ({}, *ends):
        for name, control in panel.controls.items():
            yield from ({**start, **beside, name: value} for value in stops(control))


@pytest.mark.parametrize("name", sorted(panels.PANELS))
def test_who_is_named_alone_wins_alone(name, drawn):
    panel = getattr(panels, name)()
    claimed = False
    for settings in every_stop(panel):
        drawn.clear()
        claimed |= check_claims(panel.render(**settings).finding, drawn)
    panel.close()
    assert claimed == (name in CLAIMING)   # else the patterns above have fallen behind


@pytest.mark.parametrize("name", sorted(panels.PANELS))
def test_no_number_of_a_winner_is_also_that_of_a_loser(name, monkeypatch):
    """In findings and in alternative texts; and nobody wins where every number is 0.00."""
    original, said = blocks.most, []

    def spy(names, values, **ways):
        said.append((np.array(values), original(names, values, **ways)))
        return said[-1][1]
    monkeypatch.setattr(blocks, "most", spy)
    panel = getattr(panels, name)()
    for settings in every_stop(panel):
        panel.render(**settings)
    panel.close()
    for values, text in said:
        shares = re.findall(r"(?<![\d.])-?\d+\.\d{2,6}(?!\d)", text)   # the reader's own words have none
        if all(f"{value:.2f}".strip("-") == "0.00" for value in values):
            assert re.search(r"都(几乎)?是 0$|几乎没变$", text), text
        elif shares and (values < values.max() - 1e-12).any():
            losers = values[values < values.max() - 1e-12]
            assert alone(shares[-1].strip("-"), np.append(losers, values.max())), (text, values)


def test_the_picture_of_two_equal_numbers_has_one_winner_in_words():
    panel = panels.soft_dictionary()
    view = panel.set(temperature=1.5)
    panel.close()
    assert "份额最大的是「深度学习」，0.291；" in view.finding


def tie(weights):
    """The two largest weights of each row, made equal; whatever they were."""
    weights = np.array(weights)
    best = np.argsort(weights, axis=-1)[..., -2:]
    np.put_along_axis(weights, best, np.take_along_axis(weights, best, -1).mean(axis=-1, keepdims=True), -1)
    return weights


@pytest.mark.parametrize(("panel", "module", "computed"), [
    ("soft_dictionary", section_02, "softmax"), ("three_identities", section_03, "softmax"),
    ("three_steps", section_04, "softmax"), ("soft_and_hard", section_06, "softmax"),
    ("every_word_asks", section_07, "scaled_dot_product_attention"),
    ("cross_attention", section_11, "scaled_dot_product_attention"), ("real_heads", section_12, "softmax"),
])
def test_two_that_tie_are_both_named(panel, module, computed, monkeypatch, drawn):
    original = getattr(module, computed)

    def tied(*args, **kwargs):
        result = original(*args, **kwargs)
        return (*result[:-1], tie(result[-1])) if isinstance(result, tuple) else tie(result)
    monkeypatch.setattr(module, computed, tied)
    opened = getattr(panels, panel)()
    finding = opened.set(temperature=1.0).finding
    opened.close()
    assert opened.error is None
    assert re.search(r"」[、和]「[^」]*」(（打平）|各|，各|，权重各|并列最多，各)|2 个位置并列", finding), finding
    check_claims(finding, drawn)


@pytest.mark.parametrize(("text", "verdict"), [
    ("猫 猫", "每个词变得一样多，各 "), ("猫 狗 猫", "「猫」、「猫」变得一样多，各 "), ("猫 狗 鱼", "变得最多，"),
])
def test_words_that_move_alike(text, verdict):
    assert verdict in section_07._render_word_order(text, "swap", 1.0, 1.0).finding


def test_all_alike_in_a_real_head():
    panel = panels.real_heads()
    assert "it 看每个词一样多，各 0.06；" in panel.set(temperature=np.inf).finding
    panel.close()


@pytest.mark.parametrize(("scores", "text"), [
    (dict.fromkeys("那只没过", 4.2), "：5 个词各 0.19，其次「马路」0.009，"),
    (dict.fromkeys("那只没过", 1.1), "：「猫」0.75，其次 5 个词各 0.03，"),
    ({"马路": 4.2}, "「猫」、「马路」各 0.46，其次「累」0.014，"),
    ({"累": 1.1}, "「猫」0.80，其次「马路」、「累」各 0.04，"),
    (dict.fromkeys("那只没过太累了", 1.1) | {"因为": 1.1}, "「猫」0.71，别的各 0.03，"),
])
def test_three_steps_also_ranks_the_second_place_fairly(scores, text, monkeypatch):
    row = dict(zip(section_04.KEY_TOKENS, section_04.SCORES, strict=True)) | scores
    monkeypatch.setattr(section_04, "SCORES", np.array(list(row.values())))
    assert text in section_04.render(1.0, False).finding


# ---------------------------------------------------------------- the blocks

@pytest.mark.parametrize(("values", "places"), [
    ([1.0], [0]), ([1.0, 2.0, 0.0], [1]), ([0.1 + 0.2, 0.0, 0.3], [0, 2]), ([1.0, 1.0 - 1e-9], [0]),
    ([-np.inf, -np.inf], [0, 1]), ([-1.0, -np.inf], [0]),
])
def test_leaders(values, places):
    assert blocks.leaders(values).tolist() == places


NAMED = [
    ([0.7, 0.1, 0.1, 0.1], "份额最大的是「甲」，0.70"), ([0.1, 0.4, 0.4, 0.1], "份额最大的是「乙」、「丙」，各 0.40"),
    ([0.3, 0.3, 0.3, 0.1], "份额最大的是「甲」、「乙」、「丙」，各 0.30"),
    ([0.25] * 4, "最大的份额 0.25，4 个位置并列"),
    ([0.25, np.nan, np.nan, 0.25], "份额最大的是「甲」、「丁」，各 0.25"),
    ([0.2908, 0.2906, 0.2, 0.2], "份额最大的是「甲」，0.2908"), ([0.001, 0.0, 0.0, 0.0], "份额都几乎是 0"),
    ([0.0] * 4, "份额都是 0"), ([np.nan] * 4, "没有一个位置可以看"),
]


@pytest.mark.parametrize(("weights", "said"), NAMED)
def test_labels_name_all_who_tie(weights, said):
    names = list("甲乙丙丁")
    assert blocks.sentence(names, weights).get("aria-label") == said
    assert blocks.table([weights], ["问"], names).get("aria-label").endswith(f"「问」：{said}")


def test_labels_leave_out_who_is_shut():
    three = blocks.sentence("甲乙丙丁", [0.25] * 4, mask=[True, False, True, True])
    assert three.get("aria-label") == "份额最大的是「甲」、「丙」、「丁」，各 0.25"
    assert "没有一个位置可以看" in blocks.sentence("甲", [1.0], mask=[False]).get("aria-label")


@pytest.mark.parametrize(("values", "mask", "said"), [
    ([[1, 2], [3, 0]], None, "最大的是「乙」对「甲」，3.00"),
    ([[3, 2], [3, 0]], None, "最大的是「甲」对「甲」、「乙」对「甲」，各 3.00"),
    ([[0, 0], [0, 0]], None, "每一格都是 0"),
    ([[0, 0], [0.004, -0.004]], None, "每一格都几乎是 0"),
    ([[2, 2], [2, 2]], None, "最大的数 2.00，4 格并列"),
    ([[-2, -2], [-2, -2]], None, "最大的数 -2.00，4 格并列"),
    ([[1, -2], [3, 0]], None, "最大的是「乙」对「甲」，3.00，最小的是「甲」对「乙」，-2.00"),
    ([[1, -2], [3, -2]], None, "最大的是「乙」对「甲」，3.00，最小的是「甲」对「乙」、「乙」对「乙」，各 -2.00"),
    ([[-1, -2], [-3, -4]], None, "最大的是「甲」对「甲」，-1.00，最小的是「乙」对「乙」，-4.00"),
    ([[1, -0.004], [3, 0]], None, "最大的是「乙」对「甲」，3.00"),
    ([[1, -9], [3, 0]], [[True, False], [True, True]], "最大的是「乙」对「甲」，3.00"),
    ([[1, -np.inf], [3, 0]], None, "最大的是「乙」对「甲」，3.00"),
    ([[9, 2], [1, 0]], [[False, True], [True, True]], "最大的是「甲」对「乙」，2.00"),
    ([[9, -np.inf], [1, np.nan]], [[False, True], [False, True]], "没有一格有数可看"),
])
def test_labels_of_signed_tables_name_all_who_tie(values, mask, said):
    assert blocks.table(values, ["甲", "乙"], mask=mask, signed=True).get("aria-label").endswith(f"。{said}")


def test_many_smallest_cells_are_counted():
    label = blocks.table([[-1, -1, -1], [-1, 2, 0]], ["甲", "乙"], "丙丁戊", signed=True).get("aria-label")
    assert label.endswith("最大的是「乙」对「丁」，2.00，最小的数 -1.00，4 格并列")


@pytest.mark.parametrize(("values", "share"), [
    ([0.81, 0.19], "0.81"), ([0.2908, 0.2906], "0.2908"), ([0.294, 0.286], "0.294"), ([0.5 + 2e-7, 0.5], "0.50"),
    ([0.5 + 1e-6, 0.5], "0.500001"), ([3.0, -np.inf], "3.00"), ([-1.001, -1.002], "-1.001"),
])
def test_a_winner_has_the_digits_that_tell(values, share):
    assert blocks.most("甲乙", values) == f"“甲”最多：{share}"


@pytest.mark.parametrize(("values", "said"), [
    ([4, 4, 4, 1, 1], "“甲”“乙”“丙”一样多"), ([4, 4, 4, 4, 1], "有 4 个"), ([4] * 5, "都一样"), ([0.0] * 5, "都是 0"),
])
def test_a_crowd_is_counted(values, said):
    assert blocks.most("甲乙丙丁戊", values, tied="{who}一样多", crowd="有 {n} 个", alike="都一样") == said


def test_a_crowd_of_all_is_a_crowd_where_all_is_nothing_special():
    assert blocks.most("甲乙丙丁", [1] * 4, tied="{who}", crowd="有 {n} 个", alike=None) == "有 4 个"
    assert blocks.most("甲乙", [1] * 2, tied="{who}", crowd="有 {n} 个", alike=None) == "“甲”“乙”"
