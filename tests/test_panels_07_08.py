"""The numbers that the panels of sections 7 and 8 state."""

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from attention_core import inputs, scaled_dot_product_attention
from attention_core.panels import blocks, random_sentence, section_07, section_08

IT_AT, CAT_AT, TIRED_AT, THAT_AT = 7, 2, 9, 0


def texts(block):
    return [element.text for element in block.iter("text")]


class TestEveryWordAsks:
    def test_it_asks_for_an_animal(self):
        # By hand: the query of 它 is (8, 0, ...), so its scores are 8/sqrt(6) at 猫, 2.4/sqrt(6) at 只, else 0.
        cat, one = math.exp(8 / math.sqrt(6)), math.exp(2.4 / math.sqrt(6))
        share = cat / (cat + one + 9)
        view = section_07._render_every_word(IT_AT, 1.0)
        assert f"「猫」最多，{share:.2f}；给自己 {1 / (cat + one + 9):.2f}" in view.finding
        # 动物 of the new content: all of 猫, 0.3 of 只.
        assert f"动物 {(cat + 0.3 * one) / (cat + one + 9):.2f}" in view.blocks[2].get("aria-label")

    def test_a_word_that_asks_nobody_shares_alike(self):
        assert "十一个词各分 0.09" in section_07._render_every_word(THAT_AT, 1.0).finding

    def test_uniform_at_infinity_and_one_word_at_zero(self):
        assert "十一个词各分 0.09" in section_07._render_every_word(CAT_AT, math.inf).finding
        assert "「马路」最多，1.00；给自己 0.00" in section_07._render_every_word(CAT_AT, 0.0).finding
        assert "「它」最多，1.00" in section_07._render_every_word(TIRED_AT, 0.0).finding

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
        order = list(random_sentence.shuffled(7, "random"))
        assert order != list(np.argsort(order))   # else the direction could not be told
        before, after = (scaled_dot_product_attention(*((x + places) @ random_sentence.PROJECTIONS))[0]
                         for x in (vectors, vectors[order]))
        expected = [f"{math.dist(before[j], after[order.index(j)]):.2f}" for j in range(7)]
        shown = texts(section_07._render_word_order("".join(words), "random", 1.0, 1.0).blocks[2])
        assert shown[-7:] == expected

    def test_the_same_order_changes_nothing(self):
        assert "一点没变" in section_07._render_word_order("猫追狗", "same", 2.0, 1.0).finding

    @pytest.mark.parametrize("n", range(2, 17))
    @pytest.mark.parametrize("how", ["swap", "reverse", "random"])
    def test_another_order_is_another_order(self, n, how):
        assert list(random_sentence.shuffled(n, how)) != list(range(n))

    @pytest.mark.parametrize("strength", [0.0, 1.0])
    @pytest.mark.parametrize(("text", "how"), [("猫追狗", "same"), ("猫", "random"), ("", "same")])
    def test_an_order_that_stays_is_called_so(self, text, how, strength):
        finding = section_07._render_word_order(text, how, strength, 1.0).finding
        assert "词序没有动" in finding
        assert "变动以后" not in finding

    @pytest.mark.parametrize("how", ["swap", "reverse", "random", "same"])
    @pytest.mark.parametrize("n", [0, 1, 2, 16])
    def test_an_order_has_every_place_once(self, n, how):
        assert sorted(random_sentence.shuffled(n, how)) == list(range(n))

    def test_long_words_are_cut(self):
        words = [c * 60 for c in "甲乙丙"]
        finding = section_07._render_word_order(" ".join(words), "swap", 1.0, 1.0).finding
        assert re.search(r"：「(甲{8}|乙{8}|丙{8})」变得最多，\d", finding)
        assert len(finding) <= 160

    def test_more_than_three_who_tie_are_counted(self, monkeypatch):
        def norms(x, axis):
            return np.array([2.0, 2.0, 2.0, 2.0, 1.0])[:len(x)]
        monkeypatch.setattr(section_07.np.linalg, "norm", norms)
        finding = section_07._render_word_order("甲乙丙丁戊", "swap", 1.0, 1.0).finding
        assert "词序变动以后：有 4 个词变得一样多，各 2.00。" in finding

    def test_the_two_tables_do_not_read_alike(self):
        before, after, _ = section_07._render_word_order("猫追狗", "same", 0.0, 1.0).blocks
        assert before.get("aria-label").startswith("原来的词序。")
        assert after.get("aria-label").startswith("新的词序。")

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
    """With made-up costs, different for every way, size and time of measuring."""

    NAMES = ("整张表", "分块", "循环网络")

    @staticmethod
    def milliseconds(way, n_words, run):
        return run * n_words ** (1 + way / 2) / 10

    @staticmethod
    def megabytes(way, n_words, run):
        return 3 * run * n_words ** (2 - way / 2) / 1000

    @pytest.fixture
    def measured(self, monkeypatch):
        """The panel's stopwatch replaced; a list of what it was asked to measure: (way, N, run, repeat)."""
        measured = []
        ways = list(section_08._ways().values())
        runs = {np.random.default_rng(run).standard_normal(): run for run in range(1, 6)}

        def seconds(way, x, *, repeat):
            measured.append((ways.index(way), len(x), runs[x[0, 0]], repeat))
            return self.milliseconds(*measured[-1][:3]) / 1000

        def n_bytes(way, x):
            return self.megabytes(ways.index(way), len(x), runs[x[0, 0]]) * 1e6

        monkeypatch.setattr(section_08, "fastest_seconds", seconds)
        monkeypatch.setattr(section_08, "peak_bytes", n_bytes)
        section_08._costs.cache_clear()
        yield measured
        section_08._costs.cache_clear()

    def test_the_table_shows_what_was_measured(self, measured):
        # By hand: 2 x 128 / 10 ms; twice the words take 2, 2^1.5 and 4 times as long; 6 x 128^2 / 1000 MB.
        view = section_08._render_stopwatch(128, 2)
        assert texts(view.blocks[0]) == [
            "128 个词，是 64 个词的几倍", "", "毫秒", "几倍", "MB", "几倍",
            "整张表", "25.6", "2.0 倍", "98.3", "4.0 倍",
            "分块", "290", "2.8 倍", "8.69", "2.8 倍",
            "循环网络", "3277", "4.0 倍", "0.768", "2.0 倍",
        ]
        assert view.finding == ("运行这一格的机器上，128 个词，第 2 次量：整张表 25.6 毫秒、98.3 MB；"
                                "分块 290 毫秒、8.69 MB；循环网络 3277 毫秒、0.768 MB。")

    def test_the_curves_show_what_was_measured(self, measured):
        sizes = [32, 64, 128]
        _, *curves = section_08._render_stopwatch(128, 2).blocks
        for curve, cost, limits, title, unit, said in zip(
                curves, (self.milliseconds, self.megabytes), ((1e-2, 1e4), (1e-2, 1e3)),
                ("时间：5 遍里最快的一遍", "内存：最多同时占多少"), ("毫秒", "MB"),
                ("整张表 25.6 毫秒，分块 290 毫秒，循环网络 3277 毫秒",
                 "整张表 98.3 MB，分块 8.69 MB，循环网络 0.768 MB"),
                strict=True):
            lines = {name: [cost(way, n, 2) for n in sizes] for way, name in enumerate(self.NAMES)}
            expected = blocks.curve(
                sizes, lines, point=(128, cost(0, 128, 2)), x_label="句长 N", y_label=unit, log_x=True, log_y=True,
                x_limits=(32, 2048), y_limits=limits, title=title, label=f"{title}。128 个词：{said}", height=294)
            assert ElementTree.tostring(curve) == ElementTree.tostring(expected)

    def test_measures_once_up_to_n(self, measured):
        def all_ways(sizes, run):
            return [(way, n, run, 5) for n in sizes for way in range(3)]

        first = section_08._render_stopwatch(128, 1)
        assert measured == all_ways((32, 64, 128), 1)
        assert section_08._render_stopwatch(128, 1).html() == first.html()
        section_08._render_stopwatch(64, 1)
        assert len(measured) == 9
        section_08._render_stopwatch(256, 1)
        section_08._render_stopwatch(64, 3)
        assert measured[9:] == all_ways((256,), 1) + all_ways((32, 64), 3)

    def test_what_the_reader_can_choose(self, measured):
        panel = section_08.stopwatch()
        n_words, run = panel.controls.values()
        assert [value for _, value in n_words._options_full] == [64, 128, 256, 512, 1024, 2048]
        assert (n_words.value, run.value, run.min, run.max) == (512, 1, 1, 5)
        assert "别的格子正在运行时，量到的偏大" in run.tooltip
        assert "偏大" in section_08._costs.__doc__
        panel.close()

    def test_the_three_ways_are_what_they_are_called(self):
        x = np.random.default_rng(3).standard_normal((600, 64))   # more than one tile
        assert tuple(section_08._ways()) == self.NAMES
        whole, tiled, recurrent = section_08._ways().values()
        np.testing.assert_allclose(tiled(x), whole(x), atol=1e-14)
        nudged = x.copy()
        nudged[0] += 1
        # A recurrent network hands the first word on to those after it, and none back.
        np.testing.assert_array_equal(recurrent(nudged[::-1])[:-1], recurrent(x[::-1])[:-1])
        moved = np.abs(recurrent(nudged) - recurrent(x)).max(axis=1)
        assert (moved[:4] > 0.01).all()
        assert np.abs(recurrent(x)).max() < 1   # tanh
        assert (np.abs(whole(nudged) - whole(x)).max(axis=1) > 0).all()   # everyone looks at everyone

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
        (1, "1 字节"), (999, "999 字节"), (1000, "1 KB"), (999_600, "1000 KB"), (524_288, "524 KB"),
        (2_147_483_648, "2.15 GB"), (1_099_511_627_776, "1100 GB"),
    ])
    def test_sizes_in_words(self, count, text):
        assert section_08._bytes(count) == text

    def test_a_short_sentence_is_one_tile(self):
        assert re.search(r"同一时刻只存 1\.02 KB", section_08._render_table_bill(16, 8, 4).finding)
