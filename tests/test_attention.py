"""Whole attention: the three steps joined, and its edge cases."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import attention_core as ac
import plain_python
from core_calls import BATCH, D_K, D_V, HEADS, L, S, normal

EXAMPLES = settings(max_examples=80, deadline=None, derandomize=True, database=None)
INF, NAN = np.inf, np.nan
attend = ac.scaled_dot_product_attention


def inputs(*lead, d_k=D_K, dtype=np.float64):
    shapes = ((L, d_k), (S, d_k), (S, D_V))
    return [normal(*lead, *shape, seed=n, dtype=dtype) for n, shape in enumerate(shapes)]


class TestClosedForms:
    def test_two_keys(self):
        # one query, keys +1 and -1: weights are the logistic function of 2q
        for q in (-3.0, 0.0, 0.7, 5.0):
            output, weights = attend([[q]], [[1.0], [-1.0]], [[1.0], [0.0]])
            share = 1 / (1 + math.exp(-2 * q))
            np.testing.assert_allclose(weights, [[share, 1 - share]], rtol=1e-12)
            np.testing.assert_allclose(output, [[share]], rtol=1e-12)

    def test_equal_keys_give_the_mean_value(self):
        query, _, value = inputs()
        output, weights = attend(query, np.ones((S, D_K)), value)
        np.testing.assert_allclose(weights, np.full((L, S), 1 / S), rtol=1e-13)
        np.testing.assert_allclose(output, np.tile(value.mean(axis=0), (L, 1)), rtol=1e-11)

    def test_far_apart_keys_fetch_one_value(self):
        # one-hot queries and keys, scale 1000: e^-1000 is 0 in float64
        value = normal(S, D_V)
        output, weights = attend(np.eye(S)[[4, 1]], np.eye(S), value, scale=1000)
        np.testing.assert_array_equal(weights, np.eye(S)[[4, 1]])
        np.testing.assert_array_equal(output, value[[4, 1]])

    def test_weights_of_a_chosen_odds(self):
        # key j scores ln(j + 1), so that its weight is (j + 1) / (1 + ... + S)
        key = np.log(np.arange(1, S + 1))[:, None]
        output, weights = attend([[1.0]], key, np.ones((S, 1)), scale=1)
        expected = np.arange(1, S + 1) / (S * (S + 1) / 2)
        np.testing.assert_allclose(weights, [expected], rtol=1e-13)
        np.testing.assert_allclose(output, [[1]], rtol=1e-13)

    @pytest.mark.parametrize("d_k", [1, 3, 16, 97])
    def test_the_default_scale_is_that_of_d_k(self, d_k):
        query, key, value = inputs(d_k=d_k)
        for given_, written in zip(
            attend(query, key, value), attend(query, key, value, scale=1 / math.sqrt(d_k)),
            strict=True,
        ):  # fmt: skip
            np.testing.assert_allclose(given_, written, rtol=1e-12)

    def test_scale_and_temperature_undo_each_other(self):
        query, key, value = inputs()
        hot = attend(query, key, value, scale=3.0, temperature=3.0)
        np.testing.assert_allclose(hot[0], attend(query, key, value, scale=1.0)[0], rtol=1e-12)

    def test_scale_zero_is_uniform(self):
        query, key, value = inputs()
        output, weights = attend(query, key, value, scale=0)
        np.testing.assert_array_equal(weights, np.full((L, S), 1 / S))
        np.testing.assert_allclose(output, np.tile(value.mean(0), (L, 1)), rtol=1e-12)


class TestMaskAsReadableNumber:
    """Q = K = 0 with V = arange: the output is the mean of the visible positions."""

    @staticmethod
    def read(mask, n_queries, n_keys):
        value = np.arange(n_keys, dtype=float)[:, None]
        zeros = np.zeros((n_queries, 1)), np.zeros((n_keys, 1))
        output, _ = attend(*zeros, value, mask=mask)
        return output[..., 0]

    def test_no_mask(self):
        np.testing.assert_allclose(self.read(None, 2, 5), [2, 2])

    def test_causal(self):
        # query i sees 0..i: mean i / 2
        np.testing.assert_allclose(self.read(ac.causal_mask(5), 5, 5), [0, 0.5, 1, 1.5, 2])

    def test_causal_aligned_to_the_top_left(self):
        np.testing.assert_allclose(self.read(ac.causal_mask(3, 5), 3, 5), [0, 0.5, 1])
        np.testing.assert_allclose(self.read(ac.causal_mask(5, 3), 5, 3), [0, 0.5, 1, 1, 1])

    def test_polarity(self):
        mask = np.array([[False, False, True, True], [True, False, False, False]])
        np.testing.assert_allclose(self.read(mask, 2, 4), [2.5, 0])
        np.testing.assert_allclose(self.read(np.where(mask, 0.0, -INF), 2, 4), [2.5, 0])
        np.testing.assert_allclose(self.read(~mask, 2, 4), [0.5, 2])

    def test_padding(self):
        mask = ac.padding_mask([1, 4, 0], 4)
        np.testing.assert_allclose(self.read(mask, 2, 4), [[0, 0], [1.5, 1.5], [0, 0]])

    def test_causal_and_padding(self):
        mask = ac.combine_masks(ac.causal_mask(4), ac.padding_mask([2], 4))
        np.testing.assert_allclose(self.read(mask, 4, 4), [[0, 0.5, 0.5, 0.5]])


class TestAgainstTheDefinition:
    @EXAMPLES
    @given(st.data())
    def test_plain_python(self, data):
        sizes = [data.draw(st.integers(1, 5), name) for name in ("L", "S", "d_k", "d_v")]
        n_queries, n_keys, d_k, d_v = sizes
        numbers = st.floats(-10, 10)
        query = data.draw(hnp.arrays(float, (n_queries, d_k), elements=numbers), "query")
        key = data.draw(hnp.arrays(float, (n_keys, d_k), elements=numbers), "key")
        value = data.draw(hnp.arrays(float, (n_keys, d_v), elements=numbers), "value")
        mask = data.draw(hnp.arrays(bool, (n_queries, n_keys)), "mask")
        scale = data.draw(st.sampled_from([None, 0.0, 0.3, -1.0, 2.0]), "scale")
        temperature = data.draw(st.sampled_from([0.1, 0.5, 1.0, 7.0, INF]), "temperature")
        output, weights = attend(query, key, value, mask=mask, scale=scale, temperature=temperature)
        expected_output, expected_weights = plain_python.attention(
            query.tolist(),
            key.tolist(),
            value.tolist(),
            mask.tolist(),
            1 / math.sqrt(d_k) if scale is None else scale,
            temperature,
        )
        np.testing.assert_allclose(weights, expected_weights, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(output, expected_output, rtol=1e-9, atol=1e-10)

    def test_every_head_is_attention_of_its_own(self):
        query, key, value = inputs(BATCH, HEADS)
        mask = np.random.default_rng(1).random((BATCH, 1, L, S)) < 0.6
        output, weights = attend(query, key, value, mask=mask)
        assert output.shape == (BATCH, HEADS, L, D_V)
        assert weights.shape == (BATCH, HEADS, L, S)
        for b, h in np.ndindex(BATCH, HEADS):
            expected_output, expected_weights = plain_python.attention(
                query[b, h].tolist(),
                key[b, h].tolist(),
                value[b, h].tolist(),
                mask[b, 0].tolist(),
                1 / math.sqrt(D_K),
                1.0,
            )
            np.testing.assert_allclose(weights[b, h], expected_weights, rtol=1e-12)
            np.testing.assert_allclose(output[b, h], expected_output, rtol=1e-11, atol=1e-14)

    @pytest.mark.parametrize(
        ("query_lead", "key_lead", "value_lead"),
        [
            ((BATCH, 1), (HEADS,), ()),
            ((), (BATCH, HEADS), (1, HEADS)),
            ((BATCH, HEADS), (1, 1), (BATCH, 1)),
            ((1,), (), (BATCH, 1)),
        ],
    )
    def test_leading_axes_broadcast(self, query_lead, key_lead, value_lead):
        query, key = normal(*query_lead, L, D_K), normal(*key_lead, S, D_K, seed=1)
        value = normal(*value_lead, S, D_V, seed=2)
        output, weights = attend(query, key, value)
        lead = np.broadcast_shapes(query_lead, key_lead, value_lead)
        wide = [np.broadcast_to(x, lead + x.shape[-2:]) for x in (query, key, value)]
        expected_output, expected_weights = attend(*wide)
        assert output.shape == (*lead, L, D_V)
        np.testing.assert_allclose(output, expected_output, rtol=1e-11, atol=1e-14)
        np.testing.assert_allclose(np.broadcast_to(weights, expected_weights.shape), expected_weights, rtol=1e-12)

    @pytest.mark.parametrize("lead", [(), (1,), (1, 1)])
    @pytest.mark.parametrize("additive", [False, True])
    def test_a_mask_may_bring_leading_axes(self, lead, additive):
        query, key, value = inputs(*lead)
        masks = np.random.default_rng(0).random((BATCH, L, S)) < 0.6
        given_masks = np.where(masks, 0.0, -INF) if additive else masks
        output, weights = attend(query, key, value, mask=given_masks)
        assert output.shape == (*lead[1:], BATCH, L, D_V)
        for b in range(BATCH):
            alone = attend(query, key, value, mask=masks[b])
            np.testing.assert_allclose(output[..., b, :, :], alone[0].reshape(output[..., b, :, :].shape), rtol=1e-12)
            np.testing.assert_allclose(weights[..., b, :, :], alone[1].reshape(weights[..., b, :, :].shape), rtol=1e-12)


class TestSymmetries:
    def test_permuting_keys_with_their_values_changes_nothing(self):
        query, key, value = inputs(BATCH)
        order = np.random.default_rng(0).permutation(S)
        output, weights = attend(query, key, value)
        permuted, permuted_weights = attend(query, key[:, order], value[:, order])
        np.testing.assert_allclose(permuted, output, rtol=1e-11)
        np.testing.assert_allclose(permuted_weights, weights[..., order], rtol=1e-12)

    def test_permuting_a_sequence_permutes_its_self_attention(self):
        x, order = normal(S, D_K), np.random.default_rng(0).permutation(S)
        output, weights = attend(x, x, x)
        permuted, permuted_weights = attend(x[order], x[order], x[order])
        np.testing.assert_allclose(permuted, output[order], rtol=1e-11)
        np.testing.assert_allclose(permuted_weights, weights[order][:, order], rtol=1e-11)

    def test_shifting_every_key_by_one_vector_changes_nothing(self):
        # adds the same number to a whole row of scores
        query, key, value = inputs()
        shifted = attend(query, key + normal(D_K, seed=9), value)
        np.testing.assert_allclose(shifted[1], attend(query, key, value)[1], rtol=1e-11)

    def test_output_is_linear_in_the_values(self):
        query, key, value = inputs()
        other = normal(S, D_V, seed=7)
        both = attend(query, key, 2 * value - 3 * other)[0]
        apart = 2 * attend(query, key, value)[0] - 3 * attend(query, key, other)[0]
        np.testing.assert_allclose(both, apart, rtol=1e-11, atol=1e-13)

    def test_changing_the_future_leaves_the_past(self):
        x = normal(S, D_K)
        changed = x.copy()
        changed[4:] = 99
        mask = ac.causal_mask(S)
        for before, after in zip(attend(x, x, x, mask=mask), attend(changed, changed, changed, mask=mask), strict=True):
            np.testing.assert_array_equal(before[:4], after[:4])
            assert not np.array_equal(before[4:], after[4:])


class TestNothingToLookAt:
    @pytest.mark.parametrize("additive", [False, True])
    @pytest.mark.parametrize("temperature", [0, 1, INF])
    def test_a_fully_masked_row_is_zero(self, additive, temperature):
        query, key, value = inputs(BATCH)
        mask = np.ones((L, S), bool)
        mask[2] = False
        given_mask = np.where(mask, 0.0, -INF) if additive else mask
        output, weights = attend(query, key, value, mask=given_mask, temperature=temperature)
        np.testing.assert_array_equal(weights[:, 2], 0)
        np.testing.assert_array_equal(output[:, 2], 0)
        free = attend(query, key, value, temperature=temperature)[0]
        np.testing.assert_allclose(np.delete(output, 2, 1), np.delete(free, 2, 1), rtol=1e-12)

    @pytest.mark.parametrize("poison", [NAN, INF, -INF])
    @pytest.mark.parametrize("where", ["key", "value", "both"])
    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
    def test_poison_behind_a_mask_changes_nothing(self, poison, where, dtype):
        query, key, value = inputs(BATCH, dtype=dtype)
        mask = np.random.default_rng(0).random((L, S)) < 0.7
        mask[:, [1, 4]] = False
        mask[3] = False
        expected = attend(query, key, value, mask=mask)
        if where in ("key", "both"):
            key[:, 1] = poison
            key[0, 4, 2] = poison
        if where in ("value", "both"):
            value[:, 4] = poison
            value[1, 1, 0] = poison
        for form in (mask, np.where(mask, 0.0, -INF)):
            output, weights = attend(query, key, value, mask=form)
            np.testing.assert_array_equal(weights, expected[1])
            np.testing.assert_allclose(output, expected[0], rtol=1e-5)

    def test_poison_seen_by_some_queries_only_reaches_those(self):
        query, key, value = inputs()
        clean = attend(query, key, value, mask=ac.causal_mask(L, S))
        value[3, 5] = NAN
        output, weights = attend(query, key, value, mask=ac.causal_mask(L, S))
        np.testing.assert_array_equal(weights, clean[1])
        expected = clean[0].copy()
        expected[3:, 5] = NAN
        np.testing.assert_allclose(output, expected, rtol=1e-12)

    def test_nan_at_a_masked_querys_row(self):
        query, key, value = inputs()
        query[2] = NAN
        mask = np.ones((L, S), bool)
        mask[2] = False
        output, weights = attend(query, key, value, mask=mask)
        np.testing.assert_array_equal(output[2], 0)
        np.testing.assert_array_equal(weights[2], 0)
        assert np.isfinite(output).all()


class TestTemperature:
    def test_zero_is_hard_choice_with_shared_ties(self):
        output, weights = attend([[1.0]], [[2.0], [5.0], [5.0]], [[1.0], [10.0], [20.0]], temperature=0)
        np.testing.assert_array_equal(weights, [[0, 0.5, 0.5]])
        np.testing.assert_array_equal(output, [[15]])

    def test_infinity_is_the_mean_over_the_visible(self):
        query, key, value = inputs()
        mask = np.tri(L, S, dtype=bool)
        output, _ = attend(query, key, value, mask=mask, temperature=INF)
        expected = [value[: i + 1].mean(axis=0) for i in range(L)]
        np.testing.assert_allclose(output, expected, rtol=1e-12)

    def test_small_temperatures_approach_zero(self):
        query, key, value = inputs()
        hard = attend(query, key, value, temperature=0)[1]
        for temperature in (1e-4, 1e-30, 1e-310, 5e-324):
            weights = attend(query, key, value, temperature=temperature)[1]
            np.testing.assert_allclose(weights, hard, atol=1e-12)

    def test_large_temperatures_approach_uniform(self):
        query, key, value = inputs()
        for temperature in (1e9, 1e100, 1e308):
            weights = attend(query, key, value, temperature=temperature)[1]
            np.testing.assert_allclose(weights, np.full((L, S), 1 / S), rtol=1e-7)


class TestTypes:
    def test_lists_and_integers(self):
        # scores 1 * 1 / sqrt(1) = 1 and 0: weights e / (e + 1) and 1 / (e + 1)
        output, weights = attend([[1]], [[1], [0]], [[0], [3]])
        assert output.dtype == weights.dtype == np.float64
        np.testing.assert_allclose(output, [[3 / (math.e + 1)]], rtol=1e-14)
        for dtype in (np.int8, np.uint8, np.int64):
            # 100 * 2 does not fit an int8: computed in float64 all the same
            q, k = np.array([[100]], dtype), np.array([[2], [1]], dtype)
            np.testing.assert_array_equal(ac.score(q, k, scale=1), [[200, 100]])

    def test_float16_scores_beyond_its_range(self):
        # q.k = 64 * 40 * 40 = 102400 > 65504, the largest float16; scaled 12800
        query = np.full((1, 64), 40, np.float16)
        key = np.stack([query[0], query[0], -query[0]])
        value = np.array([[1], [3], [5]], np.float16)
        output, weights = attend(query, key, value)
        assert output.dtype == weights.dtype == np.float16
        np.testing.assert_array_equal(weights, [[0.5, 0.5, 0]])
        np.testing.assert_array_equal(output, [[2]])

    def test_float16_scores_beyond_its_range_even_scaled(self):
        # scores 64 * 400 * 400 / 8 = 1.28e6 and half of it: only inside do they exist
        query = np.full((1, 64), 400, np.float16)
        key = np.stack([query[0] / 2, query[0]])
        output, weights = attend(query, key, np.array([[1], [3]], np.float16))
        np.testing.assert_array_equal(weights, [[0, 1]])
        np.testing.assert_array_equal(output, [[3]])

    def test_float16_keeps_three_digits(self):
        query, key, value = inputs(BATCH, dtype=np.float16)
        output, weights = attend(query, key, value)
        exact = attend(*(x.astype(float) for x in (query, key, value)))
        np.testing.assert_allclose(output, exact[0], atol=2e-3)
        np.testing.assert_allclose(weights, exact[1], atol=5e-4)

    @pytest.mark.parametrize("shape", [(0, 3, 2, 5), (4, 0, 2, 5), (4, 3, 0, 5), (4, 3, 2, 0)])
    @pytest.mark.parametrize("temperature", [0, 1, INF])
    @pytest.mark.parametrize("lead", [(), (0,), (2, 0)])
    def test_empty(self, shape, temperature, lead):
        n_queries, n_keys, d_k, d_v = shape
        query, key = np.ones((*lead, n_queries, d_k)), np.ones((*lead, n_keys, d_k))
        for mask in (None, np.ones((n_queries, n_keys), bool), np.zeros((n_queries, n_keys))):
            output, weights = attend(query, key, np.ones((*lead, n_keys, d_v)), mask=mask, temperature=temperature)
            assert output.shape == (*lead, n_queries, d_v)
            assert weights.shape == (*lead, n_queries, n_keys)
            # no keys: nothing to look at, output 0; otherwise the mean of ones
            np.testing.assert_allclose(output, np.full(output.shape, float(n_keys > 0)))

    def test_plus_infinity_in_a_key(self):
        output, weights = attend([[1.0]], [[INF], [2.0]], [[3.0], [9.0]])
        np.testing.assert_array_equal(weights, [[1, 0]])
        np.testing.assert_array_equal(output, [[3]])
