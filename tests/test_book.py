"""The chapter's numbers, and what they say when they are recomputed.

The expected values stand in the audit of the chapter (N1 to N11 are its numbers); they
were worked out apart from this package and are compared to the places printed there.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import attention_core as ac
from attention_core import book

ROOT = Path(__file__).parents[1]
TEN = [token for token in book.TOKENS if token != "它"]
PRINTED = {token: np.mean(bounds) for token, bounds in book.PRINTED_WEIGHTS.items()}
# N1, N4: weights of the chapter's scores at T = 1 and at the T that gives 猫 its .55
AT_ONE = {"猫": 0.8125, "马路": 0.0366, "累": 0.0245, "因为": 0.0222, "太": 0.0201,
          "那": 0.0182, "了": 0.0182, "只": 0.0164, "过": 0.0164, "没": 0.0149}  # fmt: skip
AT_1_5334 = {"猫": 0.55, "马路": 0.0728, "累": 0.0561, "因为": 0.0526, "太": 0.0492,
             "那": 0.0461, "了": 0.0461, "只": 0.0432, "过": 0.0432, "没": 0.0405}  # fmt: skip


def weights_of(scores, **options):
    row = np.array([list(scores.values())])
    return dict(zip(scores, ac.softmax(row, **options)[0].tolist(), strict=True))


def assert_printed_alike(weights, expected, places=4):
    assert {token: round(weight, places) for token, weight in weights.items()} == expected


def test_the_chapters_rows():
    # straight from the chapter: section 4's list and section 10's two columns
    assert "".join(book.TOKENS) == book.SENTENCE.replace(",", "").replace("，", "")
    assert len(book.TOKENS) == 11
    assert [book.SECTION_4_SCORES[token] for token in TEN] == [
        0.4, 0.3, 4.2, 0.2, 0.3, 1.1, 0.6, 0.5, 0.7, 0.4,
    ]  # fmt: skip
    assert [book.SECTION_10_SCORES[token] for token in book.TOKENS] == [
        0.4, 0.3, 4.2, 0.2, 0.3, 1.1, 0.6, 0.5, 0.7, 0.4, 0.4,
    ]  # fmt: skip
    assert list(book.SECTION_4_SCORES) == TEN
    assert list(book.SECTION_10_SCORES) == list(book.RECONCILED_SCORES) == list(book.TOKENS)


def test_the_chapters_printed_weights():
    single = {"猫": 0.55, "累": 0.10, "马路": 0.08, "因为": 0.06, "太": 0.05, "了": 0.05}
    ranges = dict.fromkeys(["那", "只", "没", "过"], (0.02, 0.04))
    assert {t: tuple(b) for t, b in book.PRINTED_WEIGHTS.items()} == {
        token: (weight, weight) for token, weight in single.items()
    } | ranges


@pytest.mark.parametrize("name", ["SECTION_4_SCORES", "SECTION_10_SCORES", "RECONCILED_SCORES", "PRINTED_WEIGHTS"])
def test_a_reader_cannot_change_the_book(name):
    with pytest.raises(TypeError):
        getattr(book, name)["猫"] = 5.0


def test_n1_weights_at_temperature_one():
    assert_printed_alike(weights_of(book.SECTION_4_SCORES), AT_ONE)


@pytest.mark.parametrize("temperature", [0, 0.1, 0.5, 1, 1.5334, 2, 5, 10, np.inf])
def test_n2_no_temperature_puts_the_lower_score_first(temperature):
    weights = weights_of(book.SECTION_4_SCORES, temperature=temperature)
    assert book.SECTION_4_SCORES["累"] < book.SECTION_4_SCORES["马路"]
    assert weights["累"] <= weights["马路"]
    assert PRINTED["累"] > PRINTED["马路"]


@pytest.mark.parametrize("temperature", [0, 0.1, 1, 1.5334, 10, np.inf])
def test_n3_equal_scores_get_equal_weights(temperature):
    weights = weights_of(book.SECTION_4_SCORES, temperature=temperature)
    assert book.SECTION_4_SCORES["那"] == book.SECTION_4_SCORES["了"]
    assert weights["那"] == weights["了"]
    assert book.PRINTED_WEIGHTS["那"][1] < book.PRINTED_WEIGHTS["了"][0]


def test_n4_the_temperature_that_gives_the_cat_its_share():
    cold, hot = 1.0, 3.0
    for _ in range(60):
        middle = (cold + hot) / 2
        too_much = weights_of(book.SECTION_4_SCORES, temperature=middle)["猫"] > PRINTED["猫"]
        cold, hot = (middle, hot) if too_much else (cold, middle)
    assert round(middle, 4) == 1.5334
    assert_printed_alike(weights_of(book.SECTION_4_SCORES, temperature=middle), AT_1_5334)


@pytest.mark.parametrize(
    ("readings", "best_squared"),
    [
        # the ranges read so that the ten weights add up to 1: the audit's 1.5344
        ({"那": 0.03, "只": 0.03, "没": 0.02, "过": 0.03}, 1.5344),
        # the middle of each range: worked out apart, by a scan in steps of 1e-4
        ({}, 1.5369),
    ],
)
def test_n4_the_best_temperatures(readings, best_squared):
    temperatures = np.arange(1.4, 1.7, 1e-4)
    printed = np.array([readings.get(t, PRINTED[t]) for t in book.SECTION_4_SCORES])
    row = np.array(list(book.SECTION_4_SCORES.values()))
    errors = np.array([ac.softmax(row, temperature=t) for t in temperatures]) - printed
    assert round(temperatures[(errors**2).sum(axis=1).argmin()], 4) == best_squared
    assert round(temperatures[np.abs(errors).sum(axis=1).argmin()], 4) == 1.5334


def test_n4_other_ways_do_no_better():
    for d_k, cat in ((2, 0.599), (4, 0.412)):
        weights = weights_of({t: s / d_k**0.5 for t, s in book.SECTION_4_SCORES.items()})
        assert round(weights["猫"], 3) == cat
    scores = book.SECTION_4_SCORES
    assert round(scores["猫"] / sum(scores.values()), 3) == 0.483


def test_n5_the_printed_weights_do_not_add_up_to_one():
    bounds = list(book.PRINTED_WEIGHTS.values())
    single = [low for low, high in bounds if low == high]
    assert len(single) == 6
    assert round(sum(single), 2) == 0.89
    assert round(sum(low for low, _ in bounds), 2) == 0.97
    assert round(sum(high for _, high in bounds), 2) == 1.05
    assert sum(weights_of(book.SECTION_4_SCORES).values()) == pytest.approx(1, abs=1e-15)


def test_n6_the_two_rows_disagree_and_are_reconciled():
    disagree = {t for t in TEN if book.SECTION_4_SCORES[t] != book.SECTION_10_SCORES[t]}
    assert disagree == {"太", "累"}
    # section 10 looks like section 4 with 它's 0.5 put in and the rest moved by one
    moved = list(book.SECTION_4_SCORES.values())
    assert list(book.SECTION_10_SCORES.values())[:-1] == moved
    assert book.RECONCILED_SCORES == {
        "那": 0.4, "只": 0.3, "猫": 4.2, "没": 0.2, "过": 0.3, "马路": 1.1,
        "因为": 0.6, "它": 0.5, "太": 0.5, "累": 0.7, "了": 0.4,
    }  # fmt: skip


def test_n7_what_the_mask_does_to_its_row():
    scores = np.array(list(book.SECTION_10_SCORES.values()))
    asker = book.TOKENS.index(book.ASKER)
    row_mask = ac.causal_mask(len(book.TOKENS))[asker]
    free, masked = ac.softmax(scores), ac.softmax(scores, mask=row_mask)
    cat = book.TOKENS.index("猫")
    assert round(free[cat], 4) == 0.7980
    assert round(masked[cat], 4) == 0.8487
    assert round(free[~row_mask].sum(), 4) == 0.0598
    assert [t for t, look in zip(book.TOKENS, row_mask, strict=True) if not look] == list("太累了")
    np.testing.assert_array_equal(masked[~row_mask], 0)
    np.testing.assert_array_equal(np.round(masked[row_mask] / free[row_mask], 4), 1.0636)


def test_n9_the_gap_that_makes_one_of_ten_certain():
    # ln(99 * 9) = 6.79 over nine equal others
    gap = np.log(99 * 9)
    assert round(gap, 2) == 6.79
    assert ac.softmax(np.array([gap] + [0.0] * 9))[0] == pytest.approx(0.99, abs=1e-12)
    ordered = sorted(book.SECTION_4_SCORES.values())
    assert round(ordered[-1] - ordered[-2], 1) == 3.1
    assert round(max(weights_of(book.SECTION_4_SCORES).values()), 2) == 0.81


def test_n10_parameters_of_heads():
    for n_heads in (1, 8, 16):
        layer = ac.MultiHeadAttention(512, n_heads, bias=False, rng=np.random.default_rng(0))
        assert layer.n_parameters == 1_048_576


def test_n11_cells_that_the_causal_mask_shuts():
    mask = ac.causal_mask(len(book.TOKENS))
    assert mask.size == 121
    assert (~mask).sum() == 55
    assert mask.diagonal().all()


# ---- nothing else types the chapter's rows in -------------------------------------------


def sources():
    """Yield (path, text as written) of every module, page and notebook; outputs left out."""
    for path in sorted(ROOT.glob("attention_core/**/*.py")):
        if path.name != "book.py":
            yield path, path.read_text(encoding="utf-8")
    for path in sorted(ROOT.glob("*.md")):
        yield path, path.read_text(encoding="utf-8")
    for path in sorted(ROOT.glob("notebooks/*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        yield path, "\n".join("".join(cell["source"]) for cell in cells)


def typed_rows(text):
    """Stretches of four numbers in `text` that are a piece of one of the chapter's rows."""
    numbers = [float(n) for n in re.findall(r"(?<![\w.])(?:\d+\.\d*|\.\d+)(?![\w.])", text)]
    rows = (
        list(book.SECTION_4_SCORES.values()),
        list(book.SECTION_10_SCORES.values()),
        list(AT_ONE.values()),
        [0.55, 0.10, 0.08, 0.06],
    )
    pieces = {tuple(row[i : i + 4]) for row in rows for i in range(len(row) - 3)}
    windows = zip(*(numbers[i:] for i in range(4)), strict=False)
    return [window for window in windows if window in pieces]


def test_typed_rows_are_found():
    for text in (
        "scores = [0.4, 0.3, 4.2, 0.2]",
        "那 0.4 只 0.3 猫 4.2 没 0.2",
        '{"猫": 4.2, "没": 0.20, "过": .3, "马路": 1.1}',
        "| 猫 | 0.55 |\n| 累 | 0.10 |\n| 马路 | 0.08 |\n| 因为 | 0.06 |",
        "0.8125, 0.0366, 0.0245, 0.0222",
    ):
        assert typed_rows(text), text
    assert not typed_rows("0.1, 0.2, 0.5, 1.0, 1.5, 2.0; 4.2 and 1.1")


def test_no_one_else_types_the_chapters_rows():
    assert len(list(sources())) > 8
    found = {str(path.relative_to(ROOT)): typed_rows(text) for path, text in sources()}
    assert {path: rows for path, rows in found.items() if rows} == {}
