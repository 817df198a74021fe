"""word_vectors, position_vectors, and the made-up sentence."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

from attention_core import book, inputs, scaled_dot_product_attention
from attention_core.inputs import position_vectors, word_vectors


class TestWordVectors:
    def test_a_word_has_one_vector_wherever_it_stands(self):
        x = word_vectors(["狗", "追", "猫", "狗"], 8)
        np.testing.assert_array_equal(x[0], x[3])
        np.testing.assert_array_equal(x, word_vectors(["猫", "狗", "追", "狗"], 8)[[1, 2, 0, 3]])
        assert len(np.unique(x)) == 24

    def test_another_process_draws_the_same(self):
        # The built-in hash differs from process to process; PYTHONHASHSEED makes sure that it does.
        code = "from attention_core.inputs import word_vectors; print(repr(word_vectors(['猫'], 3).tolist()))"
        drawn = {subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed}, check=True,
                                capture_output=True, encoding="utf-8").stdout for seed in ("1", "2")}
        assert drawn == {repr(word_vectors(["猫"], 3).tolist()) + "\n"}

    def test_standard_normal(self):
        x = word_vectors([str(i) for i in range(400)], 50)
        assert x.mean() == pytest.approx(0, abs=4 / math.sqrt(x.size))
        assert x.var() == pytest.approx(1, abs=4 * math.sqrt(2 / x.size))

    @pytest.mark.parametrize("token", ["", "\ud800", "\x00", "😀" * 1000])
    def test_any_text_is_a_word(self, token):
        assert np.isfinite(word_vectors([token], 4)).all()

    def test_a_returned_array_is_the_readers_own(self):
        word_vectors(["猫"], 4)[:] = 7
        assert not (word_vectors(["猫"], 4) == 7).any()

    def test_no_words(self):
        assert word_vectors([], 5).shape == (0, 5)

    @pytest.mark.parametrize(("tokens", "d_model", "named"), [
        (["猫", 3], 4, "tokens"), ([None], 4, "tokens"), (["猫"], 0, "d_model"), (["猫"], 2.0, "d_model")])
    def test_wrong_input(self, tokens, d_model, named):
        with pytest.raises(ValueError, match=f"^{named} "):
            word_vectors(tokens, d_model)


class TestPositionVectors:
    @pytest.mark.parametrize(("position", "column"), [(0, 0), (3, 0), (3, 1), (7, 4), (7, 5), (20, 6)])
    def test_the_papers_formula(self, position, column):
        # Vaswani et al. 2017, 3.5: PE(pos, 2i) = sin(pos / 10000^(2i / d_model)), PE(pos, 2i + 1) = cos(same)
        wave = math.cos if column % 2 else math.sin
        expected = wave(position / 10000 ** (2 * (column // 2) / 7))
        assert position_vectors(21, 7)[position, column] == pytest.approx(expected, rel=1e-12, abs=1e-15)

    def test_dot_products_depend_on_the_distance_alone(self):
        # sin a sin b + cos a cos b = cos(a - b), so p_i . p_j is a function of i - j.
        table = position_vectors(12, 8) @ position_vectors(12, 8).T
        for distance in range(12):
            diagonal = np.diag(table, distance)
            np.testing.assert_allclose(diagonal, diagonal[0], atol=1e-12)
        assert (np.diag(table) > np.diag(table, 1)[0]).all()

    def test_no_positions(self):
        assert position_vectors(0, 4).shape == (0, 4)

    @pytest.mark.parametrize(("n", "d_model", "named"), [
        (-1, 4, "n_positions"), (1.5, 4, "n_positions"), (3, 0, "d_model")])
    def test_wrong_input(self, n, d_model, named):
        with pytest.raises(ValueError, match=f"^{named} "):
            position_vectors(n, d_model)


class TestMadeUpSentence:
    def test_shapes(self):
        assert inputs.WORDS.shape == (len(book.TOKENS), len(inputs.KINDS))
        assert inputs.W_Q.shape == inputs.W_K.shape == (6, 6)
        assert inputs.W_V.shape == (6, 4)

    def test_it_asks_for_an_animal(self):
        # By hand: the query of 它 is (8, 0, 0, 0, 0, 0), so its scores are 8/sqrt(6) at 猫, 0.3 of that at 只, else 0.
        _, weights = scaled_dot_product_attention(inputs.WORDS @ inputs.W_Q, inputs.WORDS @ inputs.W_K, inputs.WORDS)
        cat, half = math.exp(8 / math.sqrt(6)), math.exp(2.4 / math.sqrt(6))
        assert weights[7, 2] == pytest.approx(cat / (cat + half + 9), rel=1e-12)

    def test_nobody_can_change_it(self):
        for table in (inputs.WORDS, inputs.W_Q, inputs.W_K, inputs.W_V, inputs.CHINESE_VECTORS,
                      inputs.ENGLISH_VECTORS, inputs.ENGLISH_W_Q):
            with pytest.raises(ValueError, match="read-only"):
                table[0, 0] = 1
