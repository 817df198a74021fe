"""The numbers that the panels of sections 7 and 8 state."""

import math
import re

import numpy as np
import pytest

from attention_core import inputs, scaled_dot_product_attention
from attention_core.panels import section_07, section_08

IT, CAT, TIRED, THAT = 7, 2, 9, 0


def texts(block):
    return [element.text for element in block.iter("text")]


class TestEveryWordAsks:
    def test_it_asks_for_an_animal(self):
        # By hand: the query of 它 is (8, 0, ...), so its scores are 8/sqrt(6) at 猫, 2.4/sqrt(6) at 只, else 0.
        cat, one = math.exp(8 / math.sqrt(6)), math.exp(2.4 / math.sqrt(6))
        share = cat / (cat + one + 9)
        view = section_07._render_every_word(IT, 1.0)
        assert f"「猫」最多，{share:.2f}；给自己 {1 / (cat + one + 9):.2f}" in view.finding
        # 动物 of the new content: all of 猫, 0.3 of 只.
        assert f"动物 {(cat + 0.3 * one) / (cat + one + 9):.2f}" in view.blocks[2].get("aria-label")

    def test_a_word_that_asks_nobody_shares_alike(self):
        assert "十一个词各分 0.09" in section_07._render_every_word(THAT, 1.0).finding

    def test_uniform_at_infinity_and_one_word_at_zero(self):
        assert "十一个词各分 0.09" in section_07._render_every_word(CAT, math.inf).finding
        assert "「马路」最多，1.00；给自己 0.00" in section_07._render_every_word(CAT, 0.0).finding
        assert "「它」最多，1.00" in section_07._render_every_word(TIRED, 0.0).finding

    def test_ties_are_named_together(self):
        # At T = 0 those who ask nobody tie with all; nobody else ties in the made-up sentence.
        for asker in range(11):
            assert "并列" not in section_07._render_every_word(asker, 0.0).finding


class TestWordOrder:
    @pytest.mark.parametrize("temperature", [0.1, 1.0, 5.0])
    @pytest.mark.parametrize("how", ["swap", "reverse", "random", "same"])
    def test_without_positions_the_outputs_only_move(self, how, temperature):
        view = section_07._render_word_order("猫追狗", how, 0.0, temperature)
        assert "一点没变" in view.finding
        assert texts(view.blocks[2]).count("0.00") == 3

    @pytest.mark.parametrize("how", ["swap", "reverse", "random"])
    def test_with_positions_every_word_changes(self, how):
        view = section_07._render_word_order("我爱北京天安门", how, 1.0, 1.0)
        assert "变得最多" in view.finding
        assert "0.00" not in texts(view.blocks[2])

    def test_each_word_is_compared_with_itself(self):
        words = list("我爱北京天安门")
        vectors, places = inputs.word_vectors(words, 16), inputs.position_vectors(7, 16)
        order = list(section_07.shuffled(7, "random"))
        assert order != list(np.argsort(order))   # else the direction could not be told
        before, after = (scaled_dot_product_attention(*((x + places) @ section_07.PROJECTIONS))[0]
                         for x in (vectors, vectors[order]))
        expected = [f"{math.dist(before[j], after[order.index(j)]):.2f}" for j in range(7)]
        shown = texts(section_07._render_word_order("".join(words), "random", 1.0, 1.0).blocks[2])
        assert shown[-7:] == expected

    def test_the_same_order_changes_nothing(self):
        assert "一点没变" in section_07._render_word_order("猫追狗", "same", 2.0, 1.0).finding

    @pytest.mark.parametrize("how", ["swap", "reverse", "random", "same"])
    @pytest.mark.parametrize("n", [0, 1, 2, 16])
    def test_an_order_has_every_place_once(self, n, how):
        assert sorted(section_07.shuffled(n, how)) == list(range(n))

    def test_the_second_table_has_the_new_order(self):
        words = [text for text in texts(section_07._render_word_order("甲 乙 丙", "swap", 0.0, 1.0).blocks[1])
                 if text in "甲乙丙"]
        assert words == list("丙乙甲丙乙甲")   # columns, then rows


class TestFarApart:
    def test_typical_sizes(self):
        # Measured apart from this code (hidden 64, gain 1): .65 of the first step after 1, .10 after 5, 9e-11 after 50.
        sizes = section_08._recurrent(1.0, False, False)
        left = sizes / sizes[0]
        assert left[1] == pytest.approx(0.65, abs=0.05)
        assert left[5] == pytest.approx(0.10, abs=0.03)
        assert 1e-12 < left[50] < 1e-9

    def test_gains_vanish_and_explode(self):
        half, one, three = (section_08._recurrent(gain, False, False)[50] for gain in (0.5, 1.0, 3.0))
        assert half < 1e-20 < one < 1e-8 < 1e3 < three

    def test_orthogonal_with_small_inputs_lasts(self):
        assert section_08._recurrent(1.0, True, True)[50] > 1e8 * section_08._recurrent(1.0, True, False)[50]

    def test_attention_is_flat(self):
        # T = infinity: every input arrives as W_V / N, and the norm of W_V / sqrt(64) is close to 1.
        np.testing.assert_allclose(section_08._attention(math.inf)[1:], 1 / 51, rtol=0.05)

    def test_finding_states_both(self):
        finding = section_08._render_far_apart(50, 1.0, False, False, 1.0).finding
        assert "循环网络走 50 步" in finding
        assert "自注意力走 1 步" in finding


class TestStopwatch:
    @pytest.fixture
    def measured(self, monkeypatch):
        """A stopwatch that needs no time: N words always take N^2 / 10^6 seconds and 1000 N bytes."""
        measured = []

        def seconds(way, x, *, repeat):
            n_words = len(x)
            measured.append((n_words, repeat))
            return n_words ** 2 / 1e6

        monkeypatch.setattr(section_08, "fastest_seconds", seconds)
        monkeypatch.setattr(section_08, "peak_bytes", lambda way, x: 1000 * len(x))
        section_08._costs.cache_clear()
        yield measured
        section_08._costs.cache_clear()

    def test_shows_what_was_measured(self, measured):
        # 128^2 / 10^6 s are 16.384 ms and 128 kB; half as many words take a quarter and a half.
        view = section_08._render_stopwatch(128, 2)
        rows = texts(view.blocks[0])[-15:]
        for name, row in zip(["整张表", "分块", "循环网络"], (rows[:5], rows[5:10], rows[10:]), strict=True):
            assert row == [name, "16.4", "4.0 倍", "0.128", "2.0 倍"]
            assert f"{name} 16.4 毫秒、0.128 MB" in view.finding
        assert "128 个词，第 2 次量" in view.finding
        assert [texts(block)[-1] for block in view.blocks[1:]] == ["16.4", "0.128"]   # beside the points

    def test_measures_once_up_to_n(self, measured):
        first = section_08._render_stopwatch(256, 1)
        assert sorted(measured) == [(n, 5) for n in (64, 128, 256) for _ in range(3)]
        assert section_08._render_stopwatch(256, 1).html() == first.html()
        assert section_08._render_stopwatch(128, 1).blocks[0].get("aria-label").count("16.4") == 3
        assert len(measured) == 9
        section_08._render_stopwatch(64, 1)   # wants 32 words, to compare with
        section_08._render_stopwatch(128, 2)  # measures again
        assert sorted(measured[9:]) == [(32, 5)] * 3 + [(n, 5) for n in (64, 128) for _ in range(3)]

    def test_the_three_ways_are_what_they_are_called(self):
        x = np.random.default_rng(3).standard_normal((600, 64))   # more than one tile
        whole, tiled, recurrent = (way(x) for way in section_08._ways().values())
        np.testing.assert_allclose(tiled, whole, atol=1e-14)
        assert recurrent.shape == whole.shape
        assert np.abs(recurrent).max() < 1   # tanh

    def test_real_memory(self):
        # Computed: 1024^2 float64 alone are 8.39 MB, one tile of 512 x 512 2.1 MB; 64 numbers a word are 0.52 MB.
        section_08._costs.cache_clear()
        whole, tiled, recurrent = section_08._costs(1024, 1)[:, 1]
        assert 8.39 < whole < 17
        assert 2.1 < tiled < 8.39
        assert 0.52 < recurrent < 1.5
        assert (section_08._costs(1024, 1)[:, 0] > 0).all()


class TestTableBill:
    def test_cells_and_bytes(self):
        # 8 x 1024^2 = 8,388,608 cells of 4 bytes are 33.55 MB; a tile of 512 x 512 is 262,144 cells.
        view = section_08._render_table_bill(1024, 8, 4)
        table = texts(view.blocks[0])
        assert {"1,048,576", "8,388,608", "33.6 MB", "33,554,432", "134 MB", "262,144", "1.05 MB"} <= set(table)
        assert "33.6 MB" in view.finding

    @pytest.mark.parametrize(("count", "text"), [
        (1, "1 字节"), (999, "999 字节"), (1000, "1 KB"), (524_288, "524 KB"), (2_147_483_648, "2.15 GB"),
        (1_099_511_627_776, "1100 GB"),
    ])
    def test_sizes_in_words(self, count, text):
        assert section_08._bytes(count) == text

    def test_a_short_sentence_is_one_tile(self):
        assert re.search(r"同一时刻只存 1\.02 KB", section_08._render_table_bill(16, 8, 4).finding)
