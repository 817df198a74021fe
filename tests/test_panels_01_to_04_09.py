"""The numbers that the panels of sections 1 to 4 and 9 state."""

import math
import re

import pytest

from attention_core import book
from attention_core.panels import section_01, section_02, section_03, section_04, section_09


def numbers_in(finding):
    return [float(found) for found in re.findall(r"\d+(?:\.\d+)?", finding)]


class TestFadingNote:
    @pytest.mark.parametrize(("unit", "rewrites"), [("词", 5), ("字", 7), ("字和逗号", 8)])   # counted by hand
    @pytest.mark.parametrize("overwrite", [0.1, 0.3, 0.9])
    def test_left_of_the_cat(self, unit, rewrites, overwrite):
        finding = section_01.render(overwrite, unit, 1.0).finding
        left = round((1 - overwrite) ** rewrites, 2)
        share = round(overwrite * (1 - overwrite) ** rewrites, 2)
        # 猫 at T = 1 over eleven words: e^4.2 over the sum of the reconciled row's powers
        look = math.exp(4.2) / sum(math.exp(s) for s in book.RECONCILED_SCORES.values())
        assert numbers_in(finding) == [overwrite, rewrites, left, share, 1, round(look, 2)]


class TestSoftDictionary:
    def ask(self, query="机器学习", temperature=0.1, own="", computer=9, brain=3, kitchen=0):
        return section_02.render(query, temperature, own, computer, brain, kitchen).finding

    def test_an_entry_of_the_dictionary_finds_itself(self):
        for label in section_02.DICTIONARY_LABELS:
            assert f"份额最大的是「{label}」，1.00" in self.ask(label, temperature=0)

    def test_without_a_label_the_own_entry_takes_no_part(self):
        assert "每一条的份额一样大，各 0.25" in self.ask(temperature=math.inf)   # four entries
        assert "每一条的份额一样大，各 0.20" in self.ask(temperature=math.inf, own="机器人")   # five

    def test_topics_that_tie_are_not_ranked(self):
        # at T = 0 the reader's own entry alone is taken: half principles, half applications
        assert "“讲原理”“讲应用”一样多：各 0.50" in self.ask(temperature=0, own="机器人")

    def test_only_direction_counts(self):
        assert self.ask(own="机器人", computer=9, brain=3) == self.ask(own="机器人", computer=6, brain=2)
        assert "份额最大的是「机器人」" in self.ask(own="机器人")


class TestThreeIdentities:
    def ask(self, asker=7, change="", stretch=1, temperature=1.0):
        return section_03.render(asker, change, stretch, temperature).finding

    def test_each_matrix_moves_its_own(self):
        # By hand: 它's query is 8 on 动物, 猫's key 1, 只's 0.3, d_k = 6.
        powers = {"猫": math.exp(8 / 6**0.5), "只": math.exp(2.4 / 6**0.5)}
        total = sum(powers.values()) + 9
        cat = f"{powers['猫'] / total:.2f}"
        assert f"最看「猫」，权重 {cat}" in self.ask()
        assert "“动物”最多" in self.ask()
        assert f"最看「猫」，权重 {cat}" in self.ask(change="W_V")
        assert "“地点”最多" in self.ask(change="W_V")
        assert "最看「马路」" in self.ask(change="W_K")
        assert "最看「马路」" in self.ask(change="W_Q")

    def test_a_long_key_wins_without_being_more_alike(self):
        assert "最看「猫」" in self.ask(stretch=3)
        alike = f"方向相似度 {0.3 / math.hypot(0.3, 0.7):.2f}"
        assert "最看「只」" in self.ask(stretch=4)
        assert alike in self.ask(stretch=4)

    def test_a_query_of_zero_looks_at_all(self):
        # animal, action and state: one word whole and one by 0.3, of eleven; place: one word only
        assert "看每个词一样多，各 0.09；新内容里“动物”“动作”“状态”一样多：各 0.12" in self.ask(asker=0)

    def test_where_all_is_nothing_nobody_wins(self):
        # At T = 0.1 太 looks at 累 alone, whose value has no meaning among the four: each is drawn as 0.00.
        assert self.ask(asker=8, temperature=0.1).endswith("新内容里都几乎是 0。")

    @pytest.mark.parametrize("d_k", [1, 8, 64])
    def test_shapes(self, d_k):
        finding = section_03.render_shapes(d_k, 1.0).finding
        assert numbers_in(finding)[:6] == [d_k, 1, d_k, 16 * d_k * 2 + 16 * 4, 11, 11]


class TestThreeSteps:
    def test_the_row(self):
        powers = {token: math.exp(s) for token, s in book.SECTION_4_SCORES.items()}
        cat, road = (powers[token] / sum(powers.values()) for token in ("猫", "马路"))
        finding = section_04.render(1.0, False).finding
        assert f"「猫」{cat:.2f}，其次「马路」{road:.2f}" in finding
        before = sum(powers[token] for token in book.TOKENS[:book.TOKENS.index("它")])
        assert f"「猫」{powers['猫'] / before:.2f}，" in section_04.render(1.0, True).finding

    def test_all_alike(self):
        assert "看得见的各 0.10，10 份" in section_04.render(math.inf, False).finding
        assert "看得见的各 0.14，7 份" in section_04.render(math.inf, True).finding

    def test_no_runner_up_where_the_rest_is_nothing(self):
        assert "「猫」1.00，别的都是 0，10 份合计 1.00" in section_04.render(0.0, False).finding
        assert "「猫」1.00，别的都几乎是 0，10 份合计 1.00" in section_04.render(0.1, False).finding


class TestHeads:
    def test_one_head_cannot_tell_the_sentences_apart(self):
        cat = math.exp(8 / 3**0.5) / (math.exp(8 / 3**0.5) + 3)   # a query of 8 against keys of length 3
        straight, turned = (section_09.render(s, 1.0).finding for s in ("猫没过马路", "马路没过猫"))
        assert numbers_in(straight)[1:3] == numbers_in(turned)[1:3]
        assert numbers_in(straight)[3:] == numbers_in(turned)[3:][::-1] == [round(cat, 2), round((1 - cat) / 3, 2)]

    def test_no_space_between_two_chinese_words(self):
        for temperature in (0.0, 1.0):
            finding = section_09.render("猫没过马路", temperature).finding
            assert not re.search(r"[\u4e00-\u9fff] [\u4e00-\u9fff]", finding)
            assert re.search(r"一个头得到猫 0\.50、马路 0\.50；.*”得到猫 ", finding)

    def test_no_parameter_more(self):
        for n_heads in (1, 2, 4, 8):
            assert f"每个头 d_k = {16 // n_heads}，参数 1024 个" in section_09.render_heads(n_heads, 1.0).finding

    def test_a_head_that_is_not_there_is_not_described(self):
        label = section_09.render_heads(2, 1.0).blocks[0].get("aria-label")
        assert "2 个头" in label
        assert "头 2 的权重里" in label
        assert "头 3" not in label


class TestWhatTheFoldedAnswersSay:
    """The notebooks' folded answers state these numbers in prose, which nothing else compares."""

    @pytest.mark.parametrize(("temperature", "share"), [(1.0, "0.45"), (0.5, "0.67"), (0.2, "0.97")])
    def test_the_far_word_asks_for_itself(self, temperature, share):
        pork, others = (0.0, 0.1, 1.0), ((0.9, 0.6, 0.1), (0.7, 0.8, 0.0), (0.9, 0.5, 0.0))
        powers = [math.exp(sum(map(float.__mul__, pork, other)) / math.hypot(*pork) / math.hypot(*other) / temperature)
                  for other in others]
        itself = math.exp(1 / temperature)
        assert f"{itself / (itself + sum(powers)):.2f}" == share
        assert f"「红烧肉」，{share}；" in section_02.render("红烧肉", temperature, "", 9, 2, 0).finding

    def test_at_one_and_a_half_the_cat_fits_and_the_rest_does_not(self):
        powers = {token: math.exp(s / 1.5) for token, s in book.SECTION_4_SCORES.items()}
        cat, tired, road = (powers[token] / sum(powers.values()) for token in ("猫", "累", "马路"))
        assert f"{tired:.2f}" == "0.05"
        assert tired < road
        assert f"「猫」{cat:.2f}" == "「猫」0.56"
        assert "「猫」0.56" in section_04.render(1.5, False).finding
        assert "「猫」0.81" in section_04.render(1.0, False).finding
        assert "「猫」0.87" in section_04.render(1.0, True).finding

    def test_three_of_eight_heads_look_at_one_word_and_the_mean_hides_it(self):
        view = section_09.render_heads(8, 1.0)
        largest = re.findall(r"头 (\d) 的权重里「[^」]*」最多：([\d.]+)", view.blocks[0].get("aria-label"))
        assert [int(head) for head, share in largest if float(share) >= 0.99] == [2, 6, 8]
        assert "平均以后最大的权重 0.25，各头里最大的 1.00" in view.finding
        assert "各头里最大的 0.38" in section_09.render_heads(8, 10.0).finding
