"""causal_mask, padding_mask, combine_masks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import attention_core as ac

EXAMPLES = settings(max_examples=60, deadline=None, derandomize=True, database=None)
INF = np.inf


@EXAMPLES
@given(st.integers(0, 12), st.one_of(st.none(), st.integers(0, 12)))
def test_causal_mask_lets_look_back_and_at_oneself(n_queries, n_keys):
    mask = ac.causal_mask(n_queries, n_keys)
    width = n_queries if n_keys is None else n_keys
    assert mask.dtype == bool
    assert mask.shape == (n_queries, width)
    assert mask.tolist() == [[j <= i for j in range(width)] for i in range(n_queries)]


def test_causal_mask_shuts_the_strict_upper_triangle():
    for n in (1, 2, 11, 64):
        assert (~ac.causal_mask(n)).sum() == n * (n - 1) // 2
    # N11: 55 of the 121 cells of the chapter's sentence
    assert (~ac.causal_mask(11)).sum() == 55


@pytest.mark.parametrize("integer", [np.int8(3), np.int64(3), np.uint8(3)])
def test_numpy_integers_are_integers(integer):
    assert ac.causal_mask(integer).shape == (3, 3)
    assert ac.padding_mask(integer, 5).tolist() == [[True, True, True, False, False]]
    assert ac.padding_mask(2, integer).tolist() == [[True, True, False]]


@EXAMPLES
@given(st.lists(st.integers(0, 7), max_size=5), st.integers(7, 9))
def test_padding_mask_shows_the_first_keys(lengths, n_keys):
    mask = ac.padding_mask(lengths, n_keys)
    assert mask.dtype == bool
    assert mask.shape == (len(lengths), 1, n_keys)
    assert mask[:, 0].tolist() == [[j < length for j in range(n_keys)] for length in lengths]


def test_padding_mask_keeps_the_leading_axes():
    lengths = np.array([[0, 1, 2], [3, 4, 5]], np.uint8)
    mask = ac.padding_mask(lengths, 5)
    assert mask.shape == (2, 3, 1, 5)
    np.testing.assert_array_equal(mask.sum(axis=-1)[..., 0], lengths)
    assert ac.padding_mask(2, 3).shape == (1, 3)
    assert ac.padding_mask(0, 0).shape == (1, 0)


class TestCombineMasks:
    look = np.array([[True, True, False], [True, False, True]])
    other = np.array([[True, False, False], [False, False, True]])

    def test_no_masks(self):
        assert ac.combine_masks() is None
        assert ac.combine_masks(None, None) is None

    def test_none_is_no_limit(self):
        np.testing.assert_array_equal(ac.combine_masks(None, self.look, None), self.look)

    def test_booleans_must_all_agree(self):
        both = ac.combine_masks(self.look, self.other)
        assert both.dtype == bool
        assert both.tolist() == [[True, False, False], [False, False, True]]

    def test_floats_are_added(self):
        added = ac.combine_masks(np.array([[1.0, -INF, 2.0]]), np.array([[0.5, -INF, -INF]]))
        np.testing.assert_array_equal(added, [[1.5, -INF, -INF]])

    def test_boolean_and_float(self):
        bonus = np.array([[0.5, 1.0, 2.0]])
        expected = [[0.5, 1.0, -INF], [0.5, -INF, 2.0]]
        np.testing.assert_array_equal(ac.combine_masks(self.look, bonus), expected)
        np.testing.assert_array_equal(ac.combine_masks(bonus, self.look), expected)

    def test_three_masks_broadcast(self):
        combined = ac.combine_masks(ac.causal_mask(3), ac.padding_mask([1, 3], 3), np.array([[0.0, 0.0, 7.0]]))
        expected = [
            [[0, -INF, -INF]] * 3,
            [[0, -INF, -INF], [0, 0, -INF], [0, 0, 7]],
        ]
        np.testing.assert_array_equal(combined, expected)

    def test_large_floats_that_add_up_to_infinity(self):
        # -60000 - 60000 does not fit float16: shut, without a warning
        half = np.array([[-6e4, 0]], np.float16)
        np.testing.assert_array_equal(ac.combine_masks(half, half), [[-INF, 0]])

    def test_lists_of_booleans(self):
        assert ac.combine_masks([True, False], [[True, True]]).tolist() == [[True, False]]

    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
    def test_float_dtypes(self, dtype):
        combined = ac.combine_masks(self.look, np.zeros((2, 3), dtype))
        np.testing.assert_array_equal(combined, np.where(self.look, 0, -INF))


@pytest.mark.parametrize("wrong", [np.finfo(float).min, -1e300, -1e39])
def test_only_minus_infinity_shuts(wrong):
    # Beyond float32, but finite: alike for both keys, so it changes nothing between them.
    weights = ac.softmax(np.zeros((1, 2), np.float32), mask=np.full((1, 2), wrong))
    np.testing.assert_array_equal(weights, [[0.5, 0.5]])
    weights = ac.softmax(np.zeros((1, 2), np.float32), mask=np.array([[wrong, 0.0]]))
    np.testing.assert_array_equal(weights, [[0.0, 1.0]])
