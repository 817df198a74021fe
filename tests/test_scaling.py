"""random_scores, jacobian_norm."""

import math

import numpy as np
import pytest

from attention_core.scaling import jacobian_norm, random_scores


class TestRandomScores:
    @pytest.mark.parametrize("d_k", [1, 3, 64, 700])
    def test_variance_is_d_k(self, d_k):
        # The sum of d_k independent products of two N(0, 1), each of mean 0 and variance 1.
        scores = random_scores(d_k, n_keys=5, n_trials=4000, rng=np.random.default_rng(1))
        assert scores.shape == (4000, 5)
        assert scores.mean() == pytest.approx(0, abs=4 * math.sqrt(d_k / scores.size))
        assert scores.var() == pytest.approx(d_k, rel=0.1)

    def test_all_trials_are_drawn_when_they_do_not_fit_at_once(self):
        # 4096 * 11 numbers a trial: 44 trials at once, so the last piece is an odd one.
        scores = random_scores(4096, n_trials=90, rng=np.random.default_rng(2))
        assert scores.shape == (90, 10)
        assert len(np.unique(scores)) == scores.size

    def test_trials_are_independent_and_keys_share_their_query(self):
        # Given |q|, scores are N(0, |q|^2): with d_k = 1 the sizes within a row go together.
        sizes = np.abs(random_scores(1, n_keys=2, n_trials=4000, rng=np.random.default_rng(3)))
        within = np.corrcoef(sizes[:, 0], sizes[:, 1])[0, 1]
        between = np.corrcoef(sizes[:-1, 0], sizes[1:, 0])[0, 1]
        # E|q k| |q k'| = E q^2 (E|k|)^2 = 2/pi, E|q k| = 2/pi: (2/pi - 4/pi^2) / (1 - 4/pi^2) = 0.389
        assert within == pytest.approx(0.389, abs=0.1)
        assert between == pytest.approx(0, abs=0.1)

    def test_the_same_seed_gives_the_same_scores(self):
        first, second = (random_scores(8, n_trials=3, rng=np.random.default_rng(4)) for _ in range(2))
        np.testing.assert_array_equal(first, second)

    @pytest.mark.parametrize(("name", "bad"), [
        ("d_k", {"d_k": 0}), ("d_k", {"d_k": 2.0}), ("n_keys", {"n_keys": 0}),
        ("n_trials", {"n_trials": -1}), ("rng", {"rng": 0}), ("rng", {"rng": None}),
    ])
    def test_wrong_input(self, name, bad):
        arguments = {"d_k": 4, "rng": np.random.default_rng(0)} | bad
        with pytest.raises(ValueError, match=f"^{name} "):
            random_scores(arguments.pop("d_k"), **arguments)


class TestJacobianNorm:
    @pytest.mark.parametrize("p", [0.5, 0.25, 1 - 1e-12])
    def test_two_keys(self, p):
        # All four cells are +-p(1-p), so the norm is 2p(1-p).
        assert jacobian_norm([p, 1 - p]) == pytest.approx(2 * p * (1 - p), rel=1e-4)

    @pytest.mark.parametrize("n", [2, 7])
    def test_equal_weights(self, n):
        # n cells (n-1)/n^2 and n(n-1) cells 1/n^2: the squares add up to (n-1)/n^2.
        assert jacobian_norm(np.full(n, 1 / n)) == pytest.approx(math.sqrt(n - 1) / n, rel=1e-12)

    def test_leading_axes_and_temperature(self):
        weights = np.full((3, 5, 2), 0.5)
        np.testing.assert_allclose(jacobian_norm(weights, temperature=4), np.full((3, 5), 0.125))
        assert jacobian_norm([1.0, 0.0], temperature=0) == 0
