"""attention_reach, recurrent_reach: how far a nudge of one word's input is felt."""

import math

import numpy as np
import pytest

from attention_core import scaled_dot_product_attention, scaled_dot_product_attention_backward
from attention_core.reach import attention_reach, recurrent_reach, typical_reach


def drawn(n, d, seed):
    """What attention_reach draws from its generator."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal((3, d, d)) / math.sqrt(d)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_against_central_differences(temperature):
    n, d, step = 5, 3, 1e-6
    x, (w_q, w_k, w_v) = drawn(n, d, 1)

    def last_output(x):
        return scaled_dot_product_attention(x @ w_q, x @ w_k, x @ w_v, temperature=temperature)[0][-1]

    squares = np.zeros(n)
    for word in range(n):
        for i in range(d):
            nudge = np.zeros((n, d))
            nudge[word, i] = step
            squares[word] += (((last_output(x + nudge) - last_output(x - nudge)) / (2 * step)) ** 2).sum()
    sizes = attention_reach(n, d_model=d, temperature=temperature, rng=np.random.default_rng(1))
    np.testing.assert_allclose(sizes, np.sqrt(squares / d)[::-1], rtol=1e-6)


def test_against_the_backward_pass():
    n, d = 7, 4
    x, (w_q, w_k, w_v) = drawn(n, d, 2)
    squares = np.zeros(n)
    for i in range(d):
        d_output = np.zeros((n, d))
        d_output[-1, i] = 1
        d_query, d_key, d_value = scaled_dot_product_attention_backward(d_output, x @ w_q, x @ w_k, x @ w_v)
        squares += ((d_query @ w_q.T + d_key @ w_k.T + d_value @ w_v.T) ** 2).sum(axis=-1)
    sizes = attention_reach(n, d_model=d, rng=np.random.default_rng(2))
    np.testing.assert_allclose(sizes, np.sqrt(squares / d)[::-1], rtol=1e-10)


def test_shared_equally_every_input_arrives_as_one_nth():
    # T = infinity: the output is the mean of x W_V, so every Jacobian is W_V / n.
    n, d = 6, 5
    _, (_, _, w_v) = drawn(n, d, 3)
    sizes = attention_reach(n, d_model=d, temperature=math.inf, rng=np.random.default_rng(3))
    np.testing.assert_allclose(sizes, np.linalg.norm(w_v) / n / math.sqrt(d), rtol=1e-12)


def test_hard_choice_reaches_one_word_alone():
    sizes = attention_reach(9, temperature=0, rng=np.random.default_rng(4))
    assert np.count_nonzero(sizes) == 1


def test_no_trend_with_distance_and_one_nth_in_size():
    sizes = np.mean([attention_reach(40, rng=np.random.default_rng(seed)) for seed in range(200)], axis=0)[1:]
    assert sizes[:13].mean() == pytest.approx(sizes[-13:].mean(), rel=0.1)
    assert 0.5 / 40 < sizes.mean() < 2 / 40


def test_a_straight_orthogonal_network_forgets_nothing():
    # Tiny inputs: tanh is the identity, so the Jacobian after i steps is (2 Q)^i W_x, of size 2^i that of W_x.
    sizes = recurrent_reach(6, d_model=8, gain=2.0, orthogonal=True, input_std=1e-9, rng=np.random.default_rng(5))
    np.testing.assert_allclose(sizes / sizes[0], 2.0 ** np.arange(6), rtol=1e-9)


def test_larger_inputs_bend_tanh_and_fade():
    fades = [typical_reach(recurrent_reach, 21, input_std=std)[20] for std in (0.01, 1.0, 5.0)]
    assert fades[0] > 100 * fades[1] > 10_000 * fades[2]


def test_typical_is_the_median_of_the_seeds():
    drawn_here = []

    def measure(n_words, *, rng, factor):
        drawn_here.append(factor * rng.random(n_words))
        return drawn_here[-1]

    typical = typical_reach(measure, 4, n_trials=5, factor=3)
    np.testing.assert_array_equal(typical, np.sort(drawn_here, axis=0)[2])
    np.testing.assert_array_equal(drawn_here[3], 3 * np.random.default_rng(3).random(4))


@pytest.mark.parametrize(("name", "bad"), [
    ("n_words", {"n_words": -1}), ("d_model", {"d_model": 0}),
    ("gain", {"gain": math.nan}), ("rng", {"rng": 1}), ("orthogonal", {"orthogonal": "no"}),
    ("input_std", {"input_std": math.nan}), ("input_std", {"input_std": math.inf}), ("input_std", {"input_std": -1}),
    ("input_std", {"input_std": "a"})])
def test_wrong_input_of_the_recurrent_one(name, bad):
    arguments = {"n_words": 3, "rng": np.random.default_rng(0)} | bad
    with pytest.raises(ValueError, match=f"^{name} "):
        recurrent_reach(**arguments)


def test_swapped_arguments():
    with pytest.raises(ValueError, match=r"^measure 应为能调用的函数，收到的是 5。.*typical_reach"):
        typical_reach(5, attention_reach)


def test_wrong_number_of_trials():
    with pytest.raises(ValueError, match=r"^n_trials "):
        typical_reach(attention_reach, 3, n_trials=0)


@pytest.mark.parametrize(("name", "bad"), [
    ("n_words", {"n_words": 0}), ("d_model", {"d_model": 0}), ("rng", {"rng": 3}),
    ("temperature", {"temperature": -1})])
def test_wrong_input(name, bad):
    arguments = {"n_words": 3, "rng": np.random.default_rng(0)} | bad
    with pytest.raises(ValueError, match=f"^{name} "):
        attention_reach(**arguments)
