"""The fading note and the plain tanh RNN."""

import math

import numpy as np
import pytest

import attention_core as ac
from core_calls import normal


def rng(seed=0):
    return np.random.default_rng(seed)


class TestNoteShares:
    def test_by_hand(self):
        # 0.8 of the old note stays: 1; .8 .2; .64 .16 .2
        np.testing.assert_allclose(
            ac.note_shares(3, 0.8), [[1, 0, 0], [0.8, 0.2, 0], [0.64, 0.16, 0.2]], rtol=1e-15
        )

    @pytest.mark.parametrize("kept", [0, 0.25, 0.9, 1])
    def test_rewriting_step_by_step(self, kept):
        # the definition: the whole note shrinks, the new word takes what is free
        note = np.zeros(8)
        note[0] = 1
        for t, row in enumerate(ac.note_shares(8, kept)):
            if t:
                note *= kept
                note[t] = 1 - kept
            np.testing.assert_allclose(row, note, rtol=1e-14)
            assert row.sum() == pytest.approx(1)

    @pytest.mark.parametrize("rewrites", [0, 5, 7, 8])
    def test_first_word_after_n_rewrites(self, rewrites):
        assert ac.note_shares(9, 0.7)[rewrites, 0] == pytest.approx(0.7**rewrites)

    def test_empty(self):
        assert ac.note_shares(0, 0.5).shape == (0, 0)

    @pytest.mark.parametrize(
        ("n_words", "kept", "name"),
        [(-1, 0.5, "n_words"), (2.5, 0.5, "n_words"), (3, 1.1, "kept"), (3, -0.1, "kept"), (3, math.nan, "kept")],
    )
    def test_wrong_input_is_named(self, n_words, kept, name):
        with pytest.raises(ValueError, match=name):
            ac.note_shares(n_words, kept)


class TestTanhRNN:
    def test_forward_is_the_recurrence(self):
        rnn, x = ac.TanhRNN(3, 5, rng=rng()), normal(7, 3)
        hidden, before = rnn(x), [0.0] * 5
        for t in range(7):
            before = [
                math.tanh(
                    math.fsum(w * v for w, v in zip(rnn.input_weight[i], x[t], strict=True))
                    + math.fsum(w * v for w, v in zip(rnn.hidden_weight[i], before, strict=True))
                )
                for i in range(5)
            ]
            np.testing.assert_allclose(hidden[t], before, rtol=1e-12)

    def test_batches_are_read_side_by_side(self):
        rnn, x = ac.TanhRNN(3, 5, rng=rng()), normal(2, 7, 3)
        np.testing.assert_allclose(rnn(x)[1], rnn(x[1]), rtol=1e-13)
        np.testing.assert_allclose(rnn.gradient_by_distance(x)[1], rnn.gradient_by_distance(x[1]), rtol=1e-12)

    def test_a_step_knows_nothing_of_later_words(self):
        rnn, x = ac.TanhRNN(3, 5, rng=rng()), normal(7, 3)
        changed = x.copy()
        changed[4:] = 9
        np.testing.assert_array_equal(rnn(changed)[:4], rnn(x)[:4])

    def test_jacobians_against_central_differences(self):
        rnn, x = ac.TanhRNN(3, 5, rng=rng(), gain=1.3), normal(6, 3)
        jacobians, step = rnn.first_word_jacobians(x), 1e-5
        assert jacobians.shape == (6, 5, 3)
        for k in range(3):
            up, down = x.copy(), x.copy()
            up[0, k] += step
            down[0, k] -= step
            slope = (rnn(up) - rnn(down)) / (2 * step)
            np.testing.assert_allclose(jacobians[:, :, k], slope, atol=1e-9)

    def test_size_is_the_root_mean_square_over_directions(self):
        rnn, x = ac.TanhRNN(3, 5, rng=rng()), normal(6, 3)
        jacobians = rnn.first_word_jacobians(x)
        each = [np.linalg.norm(jacobians[4] @ unit) for unit in np.eye(3)]
        assert rnn.gradient_by_distance(x)[4] == pytest.approx(math.sqrt(np.mean(np.square(each))))

    @pytest.mark.parametrize("gain", [0.5, 1.0, 2.0])
    def test_orthogonal_with_silent_input_keeps_the_length(self, gain):
        # h stays 0, tanh has slope 1 there: every step multiplies by the gain, exactly
        rnn = ac.TanhRNN(4, 16, gain=gain, orthogonal=True, rng=rng())
        sizes = rnn.gradient_by_distance(np.zeros((12, 4)))
        np.testing.assert_allclose(sizes / sizes[0], gain ** np.arange(12.0), rtol=1e-10)
        np.testing.assert_allclose(
            rnn.hidden_weight @ rnn.hidden_weight.T, gain**2 * np.eye(16), atol=1e-12
        )

    def test_gain_scales_the_recurrent_matrix_only(self):
        one, two = (ac.TanhRNN(3, 5, gain=gain, rng=rng()) for gain in (1, 2))
        np.testing.assert_allclose(two.hidden_weight, 2 * one.hidden_weight)
        np.testing.assert_array_equal(two.input_weight, one.input_weight)

    def test_entries_have_the_stated_variance(self):
        rnn = ac.TanhRNN(100, 200, rng=rng())
        # 20 000 and 40 000 draws: the standard deviation of a measured variance is below 1 %
        assert rnn.input_weight.var() == pytest.approx(1 / 100, rel=0.05)
        assert rnn.hidden_weight.var() == pytest.approx(1 / 200, rel=0.05)

    def test_typical_gradient_fades_and_high_gain_does_not(self):
        # Measured once apart from this code with other seeds (hidden 64, geometric mean of 10,
        # relative to distance 0): .65 after 1 step, .10 after 5, .025 after 8, 1e-4 after 20.
        def mean(gain):
            sizes = [
                ac.TanhRNN(64, 64, gain=gain, rng=rng(seed)).gradient_by_distance(normal(21, 64, seed=seed))
                for seed in range(10)
            ]
            logs = np.log(sizes).mean(axis=0)
            return np.exp(logs - logs[0])

        np.testing.assert_allclose(mean(1.0)[[1, 5, 8, 20]], [0.65, 0.10, 0.025, 1e-4], rtol=0.4)
        assert mean(3.0)[20] > 1

    def test_dtypes(self):
        rnn, x = ac.TanhRNN(3, 5, rng=rng()), normal(7, 3)
        for dtype in (np.float16, np.float32, np.float64):
            assert rnn(x.astype(dtype)).dtype == dtype
        assert rnn([[1, 2, 3]]).dtype == np.float64
        kept = x.copy()
        rnn(x)
        np.testing.assert_array_equal(x, kept)

    def test_no_words(self):
        rnn = ac.TanhRNN(3, 5, rng=rng())
        assert rnn(np.ones((0, 3))).shape == (0, 5)
        assert rnn.gradient_by_distance(np.ones((0, 3))).shape == (0,)

    @pytest.mark.parametrize(
        ("changes", "name"),
        [
            ({"d_input": 0}, "d_input"),
            ({"d_hidden": 1.5}, "d_hidden"),
            ({"gain": math.inf}, "gain"),
            ({"rng": 0}, "rng"),
        ],
    )
    def test_wrong_settings_are_named(self, changes, name):
        with pytest.raises(ValueError, match=name):
            ac.TanhRNN(**{"d_input": 3, "d_hidden": 5, "rng": rng()} | changes)

    @pytest.mark.parametrize("shape", [(3,), (7, 4)])
    def test_wrong_words_are_named(self, shape):
        with pytest.raises(ValueError, match=r"x 应为.*d_input"):
            ac.TanhRNN(3, 5, rng=rng())(np.ones(shape))
