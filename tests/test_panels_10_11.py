"""The numbers that the panels of sections 10 and 11 state."""

import re

import numpy as np
import pytest

from attention_core.panels import section_10, section_11


def decimals_in(finding):
    return [float(found) for found in re.findall(r"\d+\.\d+", finding)]


class TestMaskedRow:
    # 猫, the shut words, the whole row. The audit's N7: .7980 unmasked, .8487 masked, .0598 taken from 太累了.
    @pytest.mark.parametrize(("how", "expected"), [
        ("none", [0.7980, 0.0598, 1.0]), ("before", [0.8487, 0.0, 1.0]), ("after", [0.7980, 0.0, 0.9402]),
        ("large", [0.8487, 0.0, 1.0]),
    ])
    def test_the_chapters_row(self, how, expected):
        assert decimals_in(section_10._render_row(how, 0.4, False, 1.0).finding) == expected

    def test_zeros_before_softmax_share(self):
        # The eight seen add up to e^4.2 / .8487; each of the three shut adds e^0 = 1.
        total = np.exp([0.4, 0.3, 4.2, 0.2, 0.3, 1.1, 0.6, 0.5]).sum() + 3
        assert decimals_in(section_10._render_row("zero", 0.4, False, 1.0).finding) == pytest.approx(
            [np.exp(4.2) / total, 3 / total, 1.0], abs=5e-5)

    @pytest.mark.parametrize("late", [-2.0, 8.0, 1000.0])
    def test_only_minus_infinity_keeps_the_later_score_out(self, late):
        def finding(how, score):
            return section_10._render_row(how, score, False, 1.0).finding

        assert finding("before", late) == finding("before", 0.4)
        assert finding("after", late) != finding("after", 0.4)

    @pytest.mark.parametrize(("how", "shut", "whole"), [
        ("before", 0.0, 0.0), ("after", 0.0, 0.0), ("zero", 1.0, 1.0), ("large", 1.0, 1.0)])
    def test_a_row_with_nothing_to_see(self, how, shut, whole):
        assert decimals_in(section_10._render_row(how, 0.4, True, 1.0).finding)[1:] == [shut, whole]

    def test_infinite_temperature_opens_the_large_negative_number(self):
        # Eleven words share alike, eight are open.
        assert decimals_in(section_10._render_row("large", 0.4, False, np.inf).finding)[1] == 0.2727
        assert decimals_in(section_10._render_row("before", 0.4, False, np.inf).finding) == [0.125, 0.0, 1.0]


class TestLaterWord:
    @staticmethod
    def moved(finding):
        return [int(found) for found in re.findall(r"的有 (\d+) 个", finding)]

    @pytest.mark.parametrize("n_layers", [1, 2, 4])
    @pytest.mark.parametrize("place", [1, 6, 11])
    def test_under_the_mask_the_earlier_ones_stay_bit_for_bit(self, place, n_layers):
        view = section_10._render_later("", place, "宽", True, n_layers, 1.0)
        assert self.moved(view.finding) == [0, 12 - place]

    def test_without_the_mask_all_move(self):
        assert self.moved(section_10._render_later("", 10, "宽", False, 1, 1.0).finding) == [9, 2]

    def test_the_same_word_again_changes_nothing(self):
        assert self.moved(section_10._render_later("猫没过马路", 2, "没", False, 2, 1.0).finding) == [0, 0]

    def test_a_place_after_the_end_is_said(self):
        finding = section_10._render_later("猫累了", 9, "宽", True, 1, 1.0).finding
        assert finding.startswith("没有第 9 个词，最后一个「了」换成「宽」：前面 2 个词")


class TestCrossAttention:
    # The query of "it" is 12 (.7 代词 + .5 动物), d_k is 9: its scores are 2.8 at 它, 2 at 猫, .6 at 只, else 0.
    IT_AT = 7
    CAT, CLASSIFIER, PRONOUN = np.exp([2.0, 0.6, 2.8])

    def test_it_asks_the_whole_sentence(self):
        share, blanks = decimals_in(section_11._render(self.IT_AT, 11, True, 1.0).finding)
        assert share == pytest.approx(self.PRONOUN / (self.PRONOUN + self.CAT + self.CLASSIFIER + 8), abs=5e-3)
        assert blanks == 0

    @pytest.mark.parametrize(("shut", "others"), [(True, 4), (False, 9)])
    def test_six_words_and_five_blanks(self, shut, others):
        finding = section_11._render(self.IT_AT, 6, shut, 1.0).finding
        total = self.CAT + self.CLASSIFIER + others
        assert "最看「猫」" in finding
        assert decimals_in(finding) == pytest.approx([self.CAT / total, (others - 4) / total], abs=5e-3)

    @pytest.mark.parametrize(("shut", "shared_by"), [(True, 3), (False, 11)])
    def test_a_word_without_a_counterpart_spreads_out(self, shut, shared_by):
        finding = section_11._render(8, 3, shut, 1.0).finding   # was
        assert f"没有最看谁，{shared_by} 个位置并列，各 {1 / shared_by:.2f}" in finding

    def test_hard(self):
        assert decimals_in(section_11._render(self.IT_AT, 11, True, 0.0).finding) == [1.0, 0.0]
