"""Every verdict on the chapter's claims is recomputed, and every row leads to a heading that exists."""

import re
from pathlib import Path

import pytest

from attention_core import claims
from attention_core.claims import (
    CLAIMS,
    CONDITION,
    HOLDS,
    NOT_AS_PRINTED,
    UNTESTABLE,
    as_markdown,
    count_verdicts,
    judge,
)
from notebook_rules import Page

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"

# Judged by hand from the chapter's wording and from closed forms
EXPECTED = {
    "「猫」到「它」要过七八次手": CONDITION,                      # 5 by words, 7 by characters, 8 with the comma
    "过了七八次手，「猫」的那份所剩无几": CONDITION,              # small inputs keep tanh nearly straight
    "精确匹配要一字不差，柔性查询各取一部分": HOLDS,
    "键负责被匹配，值负责被取走，两份是分开的": HOLDS,
    "「猫」的键带着“句首”": CONDITION,                            # only with position vectors
    "两串数越像，点积越大": CONDITION,                            # (3, 3) against (1, .1): 3 > 1, cosine .71 < .995
    "「猫」的权重是 0.55": NOT_AS_PRINTED,                        # .8125
    "「累」的权重比「马路」大": NOT_AS_PRINTED,                   # softmax is monotone
    "「那」与「了」分数相同，权重不同": NOT_AS_PRINTED,
    "表上的权重加起来正好是 1": CONDITION,                        # between .97 and 1.05
    "softmax 把分数的差距拉开": CONDITION,                        # exp(3.1) = 22.2 > 3.82 > exp(.31) = 1.36
    "注意力的全部计算就是三步": CONDITION,                        # with the scaling inside the first
    "「它」问的是前面每个位置": NOT_AS_PRINTED,                   # 太, 累, 了 come after it
    "串越长，点积越容易大": HOLDS,                                # the variance is d_k
    "分数差距一大，往回传的信号趋近于零": HOLDS,
    "除以 √d_k 就把分数按回温和的范围": CONDITION,                # independent entries; an aligned key keeps sqrt(d_k)
    "不缩放，学习就停摆": CONDITION,                              # not with small initial weights
    "只取一个，第二名收不到任何信号": HOLDS,
    "只取一个就没法用梯度下降训练": CONDITION,                    # straight-through
    "每个位置都收到自己的信号": CONDITION,                        # float32: exp(-104) = 0
    "差距大时相当于精确匹配": CONDITION,                          # .99 among ten needs log(99 * 9) = 6.79
    "每个位置综合的方式各不相同": CONDITION,                      # the same word twice, without positions: the same row
    "「猫」从「马路」多取，因为它过的是马路": CONDITION,
    "任何两个位置之间只隔一次打分": HOLDS,
    "全句一口气算完，与一个一个算一样": HOLDS,
    "句长翻倍，表变四倍": HOLDS,
    "“训练大模型”第一次和显卡的胃口对上": UNTESTABLE,
    "总参数量不随头数线性涨": HOLDS,                              # not at all
    "一个头可能正好盯着指代": CONDITION,
    "负无穷过了 softmax 就是 0，一份值也取不走": HOLDS,
    "遮住后文，整句仍然一次算完": HOLDS,                          # row n of the masked table sees the prefix of n words
    "右上半部分整片关掉": CONDITION,                              # strictly above the diagonal: 55 of 121
    "第 10 节那一行就是第 4 节的那一行": NOT_AS_PRINTED,
    "遮住后文，「猫」仍然得到多数": HOLDS,                        # .7980 -> .8487
    "只看前文的「它」，靠「累」找到「猫」": NOT_AS_PRINTED,
    "生成时让模型看到后文，它只会照抄": HOLDS,
    "交叉注意力的计算一步不变": HOLDS,
    "很多头没有干净的分工，难以命名": HOLDS,
    "真实模型的打分也是这三步的形状": HOLDS,
    "“唯一可行”今天不能照单全收": UNTESTABLE,
    "训练之前，打分毫无意义": HOLDS,
    "那三个矩阵是训练出来的": HOLDS,
}

# Numbers known from closed forms or from the audit of the chapter, by the claim that must print them
NUMBERS = {
    "「猫」的权重是 0.55": ["0.8125"],
    "「那」与「了」分数相同，权重不同": ["0.0182"],
    "「猫」到「它」要过七八次手": ["按词 5", "按字 7", "8"],
    "表上的权重加起来正好是 1": ["0.97", "1.05"],
    "softmax 把分数的差距拉开": ["3.82", "22.2", "1.36"],
    "差距大时相当于精确匹配": ["6.79", "3.1", "0.81"],
    "右上半部分整片关掉": ["121", "55"],
    "遮住后文，「猫」仍然得到多数": ["0.7980", "0.8487"],
    "句长翻倍，表变四倍": ["121", "484"],
    "除以 √d_k 就把分数按回温和的范围": ["1.00", "23.3"],   # |v|^2 / sqrt(512), about sqrt(512) = 22.6
    "每个位置综合的方式各不相同": ["11 种", "10 种"],
    "总参数量不随头数线性涨": ["16384、16384、16384"],   # 4 * 64 * 64
}


def test_every_claim_has_a_verdict_judged_by_hand():
    assert [claim.text for claim in CLAIMS] == list(EXPECTED)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.text)
def test_verdict_is_recomputed(claim):
    found = claim.find()
    assert found.verdict == EXPECTED[claim.text]
    assert all(number in found.number for number in NUMBERS.get(claim.text, []))
    assert found.number


def test_sections_come_in_order_and_all_that_can_be_tested_are_there():
    sections = [claim.section for claim in CLAIMS]
    assert sections == sorted(sections)
    assert set(sections) == set(range(1, 14))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.text)
def test_row_leads_to_the_cell_with_its_heading(claim):
    stem, cell_id = claim.link(NOTEBOOKS).split(".ipynb#cell-id=")
    cell, = (cell for cell in Page.read(NOTEBOOKS / f"{stem}.ipynb").nb.cells if cell.id == cell_id)
    assert claim.heading in [line.lstrip("# ") for line in cell.source.splitlines() if line.startswith("#")]


def test_links_stored_in_the_notebook_are_current():
    stored, = (output.data["text/markdown"] for _, output in Page.read(NOTEBOOKS / "12_evidence.ipynb").outputs
               if "text/markdown" in output.get("data", {}))
    # a cell's id is new when its author made the cell anew: run tests/refresh_notebooks.py 12
    assert re.findall(r"\]\((.*?)\)", stored) == [claim.link(NOTEBOOKS) for claim in CLAIMS]


def test_without_the_notebook_the_link_is_the_file(tmp_path):
    assert CLAIMS[0].link(tmp_path) == "01_the_cat.ipynb"


@pytest.mark.parametrize(("cases", "verdict"), [
    ([True], HOLDS), ([True, True], HOLDS), ([True, False], CONDITION), ([False, True], CONDITION),
    ([False], NOT_AS_PRINTED), ([False, False], NOT_AS_PRINTED), ([], UNTESTABLE),
])
def test_verdict_follows_from_the_cases(cases, verdict):
    assert judge(*cases) == verdict


def test_table_has_a_row_a_claim_and_counts_add_up(tmp_path):
    two = [claim for claim in CLAIMS if claim.text in ("「猫」的权重是 0.55", "“唯一可行”今天不能照单全收")]
    findings = [claim.find() for claim in two]
    lines = as_markdown(two, findings, tmp_path).splitlines()
    assert lines[2] == "| 4 | 「猫」的权重是 0.55 | 照印的不成立 | 0.8125 | [04](04_three_steps.ipynb) |"
    assert len(lines) == 4
    assert count_verdicts(findings) == {HOLDS: 0, CONDITION: 0, NOT_AS_PRINTED: 1, UNTESTABLE: 1}
    with pytest.raises(ValueError, match="zip"):
        as_markdown(two, findings[:1])


def test_a_changed_book_changes_the_verdict(monkeypatch):
    cat, = (claim for claim in CLAIMS if claim.text == "「猫」的权重是 0.55")
    monkeypatch.setattr(claims, "PRINTED_WEIGHTS", claims.PRINTED_WEIGHTS | {"猫": (0.81, 0.81)})
    assert cat.find().verdict == HOLDS
