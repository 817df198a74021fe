"""The three steps: score, softmax, weighted_sum."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import attention_core as ac
import plain_python
from core_calls import BATCH, D_K, D_V, HEADS, L, S, normal

EXAMPLES = settings(max_examples=120, deadline=None, derandomize=True, database=None)
INF, NAN = np.inf, np.nan


class TestScore:
    def test_by_hand(self):
        # 1*3 + 2*4 = 11, 1*0 + 2*1 = 2; divided by sqrt(2)
        scores = ac.score([[1, 2]], [[3, 4], [0, 1]])
        np.testing.assert_allclose(scores, [[11 / 2**0.5, 2 / 2**0.5]], rtol=1e-15)

    def test_every_cell_is_a_scaled_dot_product(self):
        query, key = normal(BATCH, HEADS, L, D_K), normal(BATCH, HEADS, S, D_K, seed=1)
        scores = ac.score(query, key)
        assert scores.shape == (BATCH, HEADS, L, S)
        for b, h, i, j in np.ndindex(scores.shape):
            products = [q * k for q, k in zip(query[b, h, i], key[b, h, j], strict=True)]
            assert scores[b, h, i, j] == pytest.approx(math.fsum(products) / math.sqrt(D_K))

    @pytest.mark.parametrize("d_k", [1, 2, 4, 16, 64, 256])
    def test_default_scale_is_one_over_root_d_k(self, d_k):
        # all ones: the dot product is d_k, scaled it is sqrt(d_k)
        assert ac.score(np.ones((1, d_k)), np.ones((1, d_k)))[0, 0] == pytest.approx(d_k**0.5)

    @pytest.mark.parametrize("scale", [0, 0.0, -2, 3.5, np.float32(0.5), 1e-300])
    def test_scale_is_taken_literally(self, scale):
        query, key = [[1.0, 2.0]], [[3.0, 4.0]]
        np.testing.assert_allclose(ac.score(query, key, scale=scale), [[11.0 * float(scale)]])

    def test_scale_zero_is_zero_even_for_huge_products(self):
        assert ac.score([[1e200]], [[1e200]], scale=0)[0, 0] == 0

    def test_leading_axes_broadcast(self):
        query, key = normal(BATCH, 1, L, D_K), normal(HEADS, S, D_K, seed=1)
        scores = ac.score(query, key)
        assert scores.shape == (BATCH, HEADS, L, S)
        np.testing.assert_allclose(scores[1, 2], ac.score(query[1, 0], key[2]), rtol=1e-12)

    @pytest.mark.parametrize("n_queries", [1, 2])
    def test_zero_times_nan_and_infinity_is_nan_for_one_query_too(self, n_queries):
        scores = ac.score(np.zeros((n_queries, 1)), [[INF], [NAN], [3.0]])
        np.testing.assert_array_equal(scores, [[NAN, NAN, 0]] * n_queries)

    def test_no_features_means_score_zero(self):
        np.testing.assert_array_equal(ac.score(np.ones((2, 0)), np.ones((3, 0))), np.zeros((2, 3)))

    def test_float16_beyond_its_range_is_inf_not_nan(self):
        # 64 * 256 * 256 > 65504: the score itself does not fit, and becomes inf without warning
        big = np.full((1, 64), 256, np.float16)
        scores = ac.score(big, big, scale=1)
        assert scores.dtype == np.float16
        assert scores[0, 0] == np.inf

    def test_float16_is_summed_in_float32(self):
        # 4096 times 1: float16 would stop counting at 2048
        ones = np.ones((1, 4096), np.float16)
        assert ac.score(ones, ones, scale=1)[0, 0] == 4096


class TestSoftmax:
    def test_closed_forms(self):
        np.testing.assert_allclose(ac.softmax([0.0, math.log(3)]), [0.25, 0.75], rtol=1e-15)
        np.testing.assert_allclose(ac.softmax(np.zeros(7)), np.full(7, 1 / 7), rtol=1e-15)
        # two keys: 1 / (1 + e^gap)
        for gap in (0.1, 1.0, 5.0, 30.0):
            expected = [1 / (1 + math.exp(gap)), 1 / (1 + math.exp(-gap))]
            np.testing.assert_allclose(ac.softmax([0.0, gap]), expected, rtol=1e-13)

    def test_one_score_gets_everything(self):
        for score in (-1e308, -3.0, 0.0, 1e308, INF):
            assert ac.softmax([score]).tolist() == [1.0]

    @pytest.mark.parametrize("shift", [-1e5, -3.0, 0.5, 700.0, 1e5])
    def test_adding_a_number_to_a_row_changes_nothing(self, shift):
        scores = normal(L, S)
        np.testing.assert_allclose(ac.softmax(scores + shift), ac.softmax(scores), atol=1e-9)

    def test_huge_scores_do_not_overflow(self):
        np.testing.assert_allclose(ac.softmax([1e308, 1e308 * 1.5, -1e308]), [0, 1, 0])
        np.testing.assert_allclose(ac.softmax([-1e308, -1e308]), [0.5, 0.5])
        np.testing.assert_array_equal(ac.softmax([-1.7e308, 1.7e308]), [0, 1])

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("temperature", [0.01, 0.5, 1, 3.0, 1e4])
    @pytest.mark.parametrize("shift", [-1000, -90, -40, -17, -16, -15, 0, 15, 16, 17, 40, 90, 1000])
    def test_rows_of_every_height(self, dtype, temperature, shift):
        # with and without the maximum subtracted; multiples of 1/8, so that shifting is exact
        scores = np.round(normal(L, S) * 8) / 8 * temperature
        weights = ac.softmax((scores + shift * temperature).astype(dtype), temperature=temperature)
        expected = [plain_python.softmax_row(row, [True] * S, temperature) for row in scores.tolist()]
        precision = np.finfo(dtype).eps * max(16, 2 * abs(shift))
        np.testing.assert_allclose(weights, expected, rtol=precision)

    @pytest.mark.parametrize("temperature", [0, 0.5, 1, INF])
    @pytest.mark.parametrize("other", [1e3, -1e3, 20.0, NAN, INF, -INF])
    @pytest.mark.parametrize("height", [0, 40])
    @pytest.mark.parametrize("shape", [(L, S), (300, 800)])
    def test_a_row_changes_no_other_row_to_the_bit(self, temperature, other, height, shape):
        # large and small scores take different ways, and so do the blocks of a large table after a large row
        scores = normal(*shape, dtype=np.float32)
        scores[2] += height
        changed = scores.copy()
        changed[0] = other
        weights, clean = (ac.softmax(x, temperature=temperature) for x in (changed, scores))
        np.testing.assert_array_equal(weights[1:], clean[1:])

    @pytest.mark.parametrize("layout", ["axis 0", "Fortran", "every second", "a mask with more axes"])
    def test_a_row_changes_no_other_row_to_the_bit_in_any_layout(self, layout):
        # a block of a view and a copy of it must be summed in the same order
        def weights(scores):
            if layout == "axis 0":
                return ac.softmax(scores.T, axis=0).T
            if layout == "Fortran":
                return ac.softmax(np.asfortranarray(scores), overwrite_scores=True)
            if layout == "every second":
                return ac.softmax(np.repeat(scores, 2, axis=-1)[:, ::2], overwrite_scores=True)
            return ac.softmax(np.ones(800, np.float32), mask=scores)

        scores = normal(300, 800, dtype=np.float32)
        changed = scores.copy()
        changed[0] = 900
        np.testing.assert_array_equal(weights(changed)[1:], weights(scores)[1:])

    def test_axis_counts_the_axes_of_the_scores(self):
        # a mask that adds an axis in front must not shift it
        scores, masks = normal(L, S), np.stack([np.tri(L, S, dtype=bool)] * 3)
        for axis in (0, 1):
            alone = ac.softmax(scores, mask=masks[0], axis=axis)
            np.testing.assert_allclose(ac.softmax(scores, mask=masks, axis=axis), [alone] * 3, rtol=1e-14)

    @pytest.mark.parametrize("integer", [np.int8, np.uint8, np.uint64])
    def test_axis_may_be_any_integer_of_numpys(self, integer):
        scores = normal(L, S)
        for axis in (0, 1):
            np.testing.assert_array_equal(ac.softmax(scores, axis=integer(axis)), ac.softmax(scores, axis=axis))

    def test_a_mask_with_more_axes_leaves_the_keys_side_by_side(self):
        # a table whose keys lie far apart takes twice as long
        weights = ac.softmax(normal(L, S), mask=np.ones((HEADS, L, S), bool))
        assert weights.flags.c_contiguous

    @pytest.mark.parametrize("temperature", [1.4e-45, 2e-45, 3e-45, 1e-40, 3e38])
    def test_temperatures_that_float32_rounds(self, temperature):
        rounded = float(np.float32(temperature))
        scores = np.array([[-3.08e-44, -3.5e-44], [1e-40, 2e-40], [-1e38, 1e38]], np.float32)
        weights = ac.softmax(scores, temperature=temperature)
        expected = [plain_python.softmax_row(row, [True] * 2, rounded) for row in scores.tolist()]
        np.testing.assert_allclose(weights, expected, rtol=1e-5)

    def test_nothing_large_is_kept_afterwards(self):
        scores = np.zeros(2**22, np.float32)   # 16 MiB
        tracemalloc.start()
        ac.softmax(scores)
        assert tracemalloc.get_traced_memory()[0] < 2**20
        tracemalloc.stop()

    @pytest.mark.parametrize("temperature", [0.7, 1, 2.5])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_rows_at_the_edge_of_being_large_take_one_way_only(self, temperature, dtype):
        def weights_beside(row, other):
            table = np.array([row, np.zeros(S), np.full(S, other)]) * temperature
            return ac.softmax(table.astype(dtype), temperature=temperature)[0]

        for height in np.linspace(14, 18, 81):
            for row in (np.eye(S)[0] * height, np.full(S, height), np.full(S, -height), -height - np.arange(S)):
                np.testing.assert_array_equal(weights_beside(row - 0.01, 0), weights_beside(row - 0.01, 900))

    def test_temperature_divides_the_scores(self):
        scores = normal(L, S)
        for temperature in (0.1, 0.5, 1.5, 10.0):
            np.testing.assert_allclose(
                ac.softmax(scores, temperature=temperature),
                ac.softmax(scores / temperature),
                rtol=1e-12,
            )
        # ratio of the weights is e^(gap / T), from the definition
        ratio = np.divide(*ac.softmax([2.0, 1.0], temperature=0.25))
        assert ratio == pytest.approx(math.exp(4))

    def test_permuting_the_keys_permutes_the_weights(self):
        scores, order = normal(L, S), np.random.default_rng(0).permutation(S)
        np.testing.assert_allclose(ac.softmax(scores[:, order]), ac.softmax(scores)[:, order], rtol=1e-14)

    @pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
    def test_axis(self, axis):
        scores = normal(HEADS, L, S)
        weights = ac.softmax(scores, axis=axis)
        np.testing.assert_allclose(weights.sum(axis=axis), 1, rtol=1e-14)
        moved = ac.softmax(np.moveaxis(scores, axis, -1))
        np.testing.assert_allclose(np.moveaxis(weights, axis, -1), moved, rtol=1e-14)

    @pytest.mark.parametrize("temperature", [0, 0.5, INF])
    def test_axis_with_mask(self, temperature):
        scores, mask = normal(S, L), np.tri(L, S, dtype=bool).T
        weights = ac.softmax(scores, mask=mask, axis=0, temperature=temperature)
        along_last = ac.softmax(scores.T, mask=mask.T, temperature=temperature)
        np.testing.assert_allclose(weights, along_last.T, rtol=1e-14)

    @EXAMPLES
    @given(st.data())
    def test_against_the_definition(self, data):
        shape = (3, data.draw(st.integers(0, 6), "S"))
        number = st.one_of(st.floats(-50, 50), st.sampled_from([-INF, INF, 0.0, 1.0, 1e30, -1e30]))
        scores = data.draw(hnp.arrays(np.float64, shape, elements=number), "scores")
        mask = data.draw(hnp.arrays(bool, shape), "mask")
        temperature = data.draw(
            st.one_of(st.floats(0.01, 100), st.sampled_from([0, 5e-324, 1e-320, 1e-30, 1e300, INF])),
            "temperature",
        )
        weights = ac.softmax(scores, mask=mask, temperature=temperature)
        expected = [
            plain_python.softmax_row(row, looks, temperature)
            for row, looks in zip(scores.tolist(), mask.tolist(), strict=True)
        ]
        np.testing.assert_allclose(weights, np.array(expected).reshape(shape), rtol=1e-12, atol=0)

    @EXAMPLES
    @given(
        hnp.arrays(
            st.sampled_from([np.float16, np.float32, np.float64]),
            hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4),
            elements=st.floats(-1000, 1000, width=16),
        ),
        st.one_of(st.floats(0, 1e4), st.sampled_from([0, 1e-320, 1e-40, 1e39, 1e300, INF])),
    )
    def test_always_shares_that_add_up_to_one(self, scores, temperature):
        weights = ac.softmax(scores, temperature=temperature)
        assert weights.dtype == scores.dtype
        assert weights.shape == scores.shape
        assert (weights >= 0).all()
        total = weights.astype(float).sum(axis=-1)
        np.testing.assert_allclose(total, np.full_like(total, bool(scores.shape[-1])), atol=5e-3)
        # a higher score never gets a smaller weight, whatever the temperature (N2)
        order = np.argsort(scores, axis=-1)
        assert (np.diff(np.take_along_axis(weights, order, -1), axis=-1) >= 0).all()

    def test_temperature_zero_is_all_on_the_maximum_and_ties_share(self):
        scores = [[1, 3, 2], [3, 1, 3], [2, 2, 2]]
        expected = [[0, 1, 0], [0.5, 0, 0.5], [1 / 3, 1 / 3, 1 / 3]]
        np.testing.assert_array_equal(ac.softmax(scores, temperature=0), expected)

    def test_temperature_zero_looks_only_at_the_visible(self):
        weights = ac.softmax([1.0, 5.0, 9.0], mask=[True, True, False], temperature=0)
        np.testing.assert_array_equal(weights, [0, 1, 0])

    def test_temperature_infinity_is_uniform_over_the_visible(self):
        weights = ac.softmax([[1.0, 500.0, -9.0, 4.0]], mask=[True, True, False, True],
                             temperature=INF)  # fmt: skip
        np.testing.assert_array_equal(weights, [[1 / 3, 1 / 3, 0, 1 / 3]])

    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
    @pytest.mark.parametrize(
        ("temperature", "limit"),
        [(1e-320, 0), (1e-46, 0), (5e-324, 0), (1e300, INF), (1.7e308, INF)],
    )
    def test_temperatures_beyond_a_dtype_act_as_their_limit(self, dtype, temperature, limit):
        scores = np.array([[1, 3, 3, -2], [0, 0, 0, 0]], dtype)
        weights = ac.softmax(scores, temperature=temperature)
        np.testing.assert_allclose(weights, ac.softmax(scores, temperature=limit), rtol=1e-15)

    def test_plus_infinity_takes_everything_and_ties_share(self):
        for temperature in (0, 0.5, 1, 100, INF):
            weights = ac.softmax([[INF, 1, 2], [INF, 1, INF]], temperature=temperature)
            np.testing.assert_array_equal(weights, [[1, 0, 0], [0.5, 0, 0.5]])

    def test_minus_infinity_gets_nothing(self):
        for temperature in (0, 0.5, 1, 100, INF):
            weights = ac.softmax([[-INF, 2.0, 2.0], [-INF] * 3], temperature=temperature)
            np.testing.assert_array_equal(weights, [[0, 0.5, 0.5], [0, 0, 0]])

    @pytest.mark.parametrize("poison", [NAN, INF, -INF, 1e308])
    @pytest.mark.parametrize("temperature", [0, 0.5, 1, INF])
    @pytest.mark.parametrize("additive", [False, True])
    def test_a_masked_score_changes_nothing(self, poison, temperature, additive):
        clean, mask = normal(L, S), np.tri(L, S, dtype=bool)
        mask[2] = False
        poisoned = np.where(mask, clean, poison)
        given_mask = np.where(mask, 0.0, -INF) if additive else mask
        weights = ac.softmax(poisoned, mask=given_mask, temperature=temperature)
        clean_weights = ac.softmax(clean, mask=given_mask, temperature=temperature)
        np.testing.assert_array_equal(weights, clean_weights)
        np.testing.assert_array_equal(weights[~mask], 0)
        np.testing.assert_allclose(weights.sum(axis=-1), [1, 1, 0, 1, 1], rtol=1e-15)

    def test_masked_weights_are_the_rest_rescaled(self):
        # shutting a key and renormalising: w_j / (1 - w_shut)
        scores = normal(S)
        free = ac.softmax(scores)
        mask = np.arange(S) != 3
        np.testing.assert_allclose(ac.softmax(scores, mask=mask), np.where(mask, free / (1 - free[3]), 0), rtol=1e-13)

    def test_additive_mask_is_added_before_the_temperature(self):
        # ln 3 added to one of two equal scores: 3 : 1; at T = 2 sqrt(3) : 1
        mask = np.array([math.log(3), 0.0])
        np.testing.assert_allclose(ac.softmax([5.0, 5.0], mask=mask), [0.75, 0.25])
        odds = np.divide(*ac.softmax([5.0, 5.0], mask=mask, temperature=2))
        assert odds == pytest.approx(3**0.5)

    def test_mask_broadcasts_to_the_scores(self):
        scores, keys = normal(BATCH, L, S), np.arange(S) < 4
        whole = ac.softmax(scores, mask=np.broadcast_to(keys, scores.shape))
        np.testing.assert_array_equal(ac.softmax(scores, mask=keys), whole)
        column = np.arange(L)[:, None] < 3
        weights = ac.softmax(scores, mask=column)
        np.testing.assert_allclose(weights.sum(-1), np.tile([1, 1, 1, 0, 0], (BATCH, 1)))

    @pytest.mark.parametrize("shape", [(700, 800), (3, 5, 200, 300), (2, 300_000), (600_000,)])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_large_tables_are_computed_like_small_ones(self, shape, dtype):
        scores = normal(*shape, dtype=dtype)
        scores[..., 3] = -INF
        weights = ac.softmax(scores)
        exp = np.exp(scores.astype(float))
        expected = exp / exp.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(weights, expected, rtol=1e-5 if dtype == np.float32 else 1e-12)
        strided = np.repeat(scores, 2, axis=-1)[..., ::2]
        np.testing.assert_array_equal(ac.softmax(strided), weights)

    def test_a_mask_may_have_more_axes_than_the_scores(self):
        scores, masks = normal(S), np.tri(L, S, dtype=bool)
        weights = ac.softmax(scores, mask=masks)
        np.testing.assert_allclose(weights, [ac.softmax(scores, mask=mask) for mask in masks], rtol=1e-14)

    def test_overwrite_scores_may_work_in_place(self):
        scores = normal(L, S)
        kept, expected = scores.copy(), ac.softmax(scores)
        np.testing.assert_array_equal(scores, kept)
        weights = ac.softmax(scores, overwrite_scores=True)
        np.testing.assert_array_equal(weights, expected)
        assert np.shares_memory(weights, scores)

    @pytest.mark.parametrize("strange", ["read-only", "broadcast", "backwards"])
    def test_overwrite_does_not_insist(self, strange):
        scores = normal(L, S)
        if strange == "read-only":
            scores.flags.writeable = False
        elif strange == "broadcast":
            scores = np.broadcast_to(scores[:1], (L, S))
        else:
            scores = scores[:, ::-1]
        kept = scores.copy()
        np.testing.assert_array_equal(ac.softmax(scores, overwrite_scores=True), ac.softmax(kept))
        np.testing.assert_array_equal(scores, kept)

    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
    @pytest.mark.parametrize("mask", [None, np.tri(L, S, dtype=bool), np.zeros((L, S))])
    def test_scores_survive_by_default(self, dtype, mask):
        scores = normal(L, S, dtype=dtype)
        for temperature in (0, 0.5, 1, INF):
            kept = scores.copy()
            weights = ac.softmax(scores, mask=mask, temperature=temperature)
            np.testing.assert_array_equal(scores, kept)
            assert not np.shares_memory(weights, scores)

    @pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3), (0, 0), (2, 0, 3), (2, 3, 0)])
    @pytest.mark.parametrize("temperature", [0, 1, INF])
    def test_empty(self, shape, temperature):
        for mask in (None, np.ones(shape, bool), np.zeros(shape)):
            assert ac.softmax(np.ones(shape), mask=mask, temperature=temperature).shape == shape


class TestWeightedSum:
    def test_by_hand(self):
        # 0.25 * 4 + 0.75 * 0, 0.25 * 0 + 0.75 * 8
        np.testing.assert_array_equal(ac.weighted_sum([[0.25, 0.75]], [[4, 0], [0, 8]]), [[1, 6]])

    def test_one_hot_weights_fetch_a_value(self):
        value = normal(S, D_V)
        np.testing.assert_array_equal(ac.weighted_sum(np.eye(S)[[3, 0]], value), value[[3, 0]])

    def test_every_cell(self):
        weights, value = normal(BATCH, 1, L, S), normal(HEADS, S, D_V, seed=1)
        output = ac.weighted_sum(weights, value)
        assert output.shape == (BATCH, HEADS, L, D_V)
        for b, h, i, c in np.ndindex(output.shape):
            products = [w * v for w, v in zip(weights[b, 0, i], value[h, :, c], strict=True)]
            assert output[b, h, i, c] == pytest.approx(math.fsum(products), abs=1e-13)

    @pytest.mark.parametrize("poison", [NAN, INF, -INF])
    def test_a_weight_of_zero_takes_nothing(self, poison):
        weights = np.array([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0], [0.25, 0.0, 0.75]])
        clean = normal(BATCH, 3, D_V)
        value = clean.copy()
        value[0, 1, 2] = poison
        output, expected = ac.weighted_sum(weights, value), ac.weighted_sum(weights, clean)
        # only query 1 of batch 0 takes it, and only in component 2
        expected[0, 1, 2] = poison
        np.testing.assert_allclose(output, expected, rtol=1e-14)

    def test_infinities_that_are_taken(self):
        value = np.array([[INF], [-INF], [1.0]])
        weights = [[0.5, 0, 0.5], [0, 0.5, 0.5], [0, 0, 1], [0.5, 0.5, 0]]
        np.testing.assert_array_equal(ac.weighted_sum(weights, value), [[INF], [-INF], [1], [NAN]])

    def test_float16_is_summed_in_float32(self):
        ones = np.ones((1, 4096), np.float16)
        assert ac.weighted_sum(ones, ones.T)[0, 0] == 4096

    def test_huge_finite_values_stay_finite(self):
        np.testing.assert_allclose(ac.weighted_sum([[0.5, 0.5]], [[1e300], [1e300]]), [[1e300]])


def test_an_integer_beyond_every_float_is_a_temperature_like_infinity():
    np.testing.assert_array_equal(ac.softmax([1.0, 2.0], temperature=10**400), [0.5, 0.5])
    with pytest.raises(ValueError, match="temperature"):
        ac.softmax([1.0, 2.0], temperature=-(10**400))


@pytest.mark.parametrize("key", [0, 100, 199])
def test_nan_anywhere_in_a_long_value_reaches_nobody_who_does_not_take_it(key):
    value = np.ones((200, 64))   # longer than one piece of the finiteness check
    value[key, 0] = math.nan
    weights = np.full((1, 200), 1 / 199)
    weights[0, key] = 0
    np.testing.assert_allclose(ac.weighted_sum(weights, value), 1)
