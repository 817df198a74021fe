"""Every backward pass against central differences; PyTorch's: test_torch_reference.py."""

import math

import numpy as np
import pytest

import attention_core as ac
from core_calls import BATCH, D_K, D_V, HEADS, L, S, normal

INF, NAN = np.inf, np.nan
attend, attend_backward = ac.scaled_dot_product_attention, ac.scaled_dot_product_attention_backward


def central_differences(function, x, d_output, step=1e-5):
    """Gradient of sum(d_output * function(x)), one entry of x nudged at a time."""
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        nudge = np.zeros_like(x)
        nudge[index] = step
        difference = function(x + nudge) - function(x - nudge)
        gradient[index] = (difference * d_output).sum() / (2 * step)
    return gradient


def assert_is_gradient(gradient, function, x, d_output):
    assert gradient.shape == x.shape
    expected = central_differences(function, x, d_output)
    # error: step^2 = 1e-10 times a third derivative, and 1e-15 / step of rounding
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)


# Small enough to nudge every entry, still no two axes alike.
SMALL = {"query": (3, 5), "key": (4, 5), "value": (4, 2)}


def small(*lead):
    return [normal(*lead, *shape, seed=n) for n, shape in enumerate(SMALL.values())]


class TestScore:
    @pytest.mark.parametrize("scale", [None, 0.0, 1.0, -0.4])
    def test_gradient(self, scale):
        query, key, _ = small(2)
        d_scores = normal(2, 3, 4)
        d_query, d_key = ac.score_backward(d_scores, query, key, scale=scale)
        assert_is_gradient(d_query, lambda x: ac.score(x, key, scale=scale), query, d_scores)
        assert_is_gradient(d_key, lambda x: ac.score(query, x, scale=scale), key, d_scores)

    @pytest.mark.parametrize(("query_lead", "key_lead"), [((2, 1), (3,)), ((), (2,)), ((1,), (2, 1)), ((2,), ())])
    def test_broadcast(self, query_lead, key_lead):
        query, key = normal(*query_lead, 3, 5), normal(*key_lead, 4, 5)
        d_scores = normal(*np.broadcast_shapes(query_lead, key_lead), 3, 4)
        d_query, d_key = ac.score_backward(d_scores, query, key)
        assert_is_gradient(d_query, lambda x: ac.score(x, key), query, d_scores)
        assert_is_gradient(d_key, lambda x: ac.score(query, x), key, d_scores)


class TestSoftmax:
    @pytest.mark.parametrize("temperature", [0.2, 1.0, 3.0])
    @pytest.mark.parametrize("axis", [-1, 0, 1])
    def test_gradient(self, temperature, axis):
        scores, d_weights = normal(2, 3, 4), normal(2, 3, 4, seed=1)
        options = {"temperature": temperature, "axis": axis}
        d_scores = ac.softmax_backward(d_weights, ac.softmax(scores, **options), **options)
        assert_is_gradient(d_scores, lambda x: ac.softmax(x, **options), scores, d_weights)

    @pytest.mark.parametrize("additive", [False, True])
    @pytest.mark.parametrize("temperature", [0.5, 1.0])
    def test_gradient_with_mask(self, additive, temperature):
        scores, d_weights = normal(3, 4), normal(3, 4, seed=1)
        mask = np.array([[1, 0, 1, 1], [0, 0, 0, 0], [0, 1, 0, 0]], bool)
        given = np.where(mask, [0.5, -1, 2, 0], -INF) if additive else mask
        options = {"mask": given, "temperature": temperature}
        weights = ac.softmax(scores, **options)
        d_scores = ac.softmax_backward(d_weights, weights, temperature=temperature)
        assert_is_gradient(d_scores, lambda x: ac.softmax(x, **options), scores, d_weights)
        np.testing.assert_array_equal(d_scores[~mask], 0)
        # one visible key: its weight is 1 whatever its score
        np.testing.assert_array_equal(d_scores[2], 0)

    def test_by_hand(self):
        # two keys, weights p and 1 - p: dp/ds = p (1 - p)
        for p in (0.5, 0.9, 0.999):
            d_scores = ac.softmax_backward([1.0, 0.0], [p, 1 - p])
            np.testing.assert_allclose(d_scores, [p * (1 - p), -p * (1 - p)], rtol=1e-9)

    def test_a_rows_gradient_adds_up_to_zero(self):
        # adding a number to a whole row changes no weight
        weights = ac.softmax(normal(BATCH, L, S))
        d_scores = ac.softmax_backward(normal(BATCH, L, S, seed=1), weights)
        np.testing.assert_allclose(d_scores.sum(axis=-1), np.zeros((BATCH, L)), atol=1e-15)

    @pytest.mark.parametrize("temperature", [0, INF])
    def test_no_gradient_at_the_limits(self, temperature):
        scores = np.array([[1.0, 2.0, 4.0], [3.0, 1.0, 0.0]])
        weights = ac.softmax(scores, temperature=temperature)
        d_scores = ac.softmax_backward(normal(2, 3), weights, temperature=temperature)
        np.testing.assert_array_equal(d_scores, np.zeros((2, 3)))

    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
    @pytest.mark.parametrize("temperature", [5e-324, 1e-310, 1e-46, 1e-30, 1e30, 1e39, 1e308])
    def test_extreme_temperatures_give_no_nan(self, temperature, dtype):
        scores = np.array([[1, 2, 4], [3, 0, 1]], dtype)
        weights = ac.softmax(scores, temperature=temperature)
        d_weights = normal(2, 3, dtype=dtype)
        for gradient in (
            ac.softmax_backward(d_weights, weights, temperature=temperature),
            ac.softmax_jacobian(weights, temperature=temperature),
        ):
            np.testing.assert_allclose(gradient, np.zeros_like(gradient), atol=1e-7)

    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
    @pytest.mark.parametrize("temperature", [5e-324, 1e-310, 1e-46])
    def test_ties_at_extreme_temperatures_give_no_nan(self, temperature, dtype):
        weights = np.array([[0.5, 0.5, 0]], dtype)
        gradient = ac.softmax_backward(np.eye(3, dtype=dtype)[:1], weights, temperature=temperature)
        assert not np.isnan(gradient).any()

    @pytest.mark.parametrize("poison", [NAN, INF, -INF])
    def test_poison_at_a_weight_of_zero_changes_nothing(self, poison):
        weights = ac.softmax(normal(L, S), mask=np.tri(L, S, dtype=bool))
        d_weights = normal(L, S)
        expected = ac.softmax_backward(d_weights, weights)
        d_weights[weights == 0] = poison
        np.testing.assert_array_equal(ac.softmax_backward(d_weights, weights), expected)

    @pytest.mark.parametrize("dtypes", [(np.float32, np.float32), (np.float32, np.float64), (np.float64, np.float32)])
    @pytest.mark.parametrize("axis", [0, 1])
    def test_large_tables_are_computed_like_small_ones(self, dtypes, axis):
        d_weights, weights = normal(700, 800, dtype=dtypes[0]), np.abs(normal(700, 800, seed=1, dtype=dtypes[1]))
        weights[650, 700] = 0   # in the last block
        inner = (weights * d_weights.astype(float)).sum(axis=axis, keepdims=True)   # by the formula, in float64
        expected = weights * (d_weights.astype(float) - inner) / 0.5
        d_weights[650, 700] = NAN
        for overwrite in (False, True):
            d_scores = ac.softmax_backward(
                d_weights, weights, temperature=0.5, axis=axis, overwrite_d_weights=overwrite
            )  # fmt: skip
            assert d_scores.dtype == np.result_type(*dtypes)
            np.testing.assert_allclose(d_scores, expected, rtol=1e-4, atol=1e-3)

    def test_overwrite_does_not_insist(self):
        weights, d_weights = ac.softmax(normal(L, S)), normal(L, S, seed=1)
        expected = ac.softmax_backward(d_weights, weights)
        d_weights.flags.writeable = False
        np.testing.assert_array_equal(ac.softmax_backward(d_weights, weights, overwrite_d_weights=True), expected)

    def test_the_same_array_twice(self):
        weights = ac.softmax(normal(L, S))
        expected = ac.softmax_backward(weights.copy(), weights)
        np.testing.assert_array_equal(ac.softmax_backward(weights, weights, overwrite_d_weights=True), expected)

    def test_overwrite_may_work_in_place(self):
        weights, d_weights = ac.softmax(normal(L, S)), normal(L, S, seed=1)
        kept, expected = d_weights.copy(), ac.softmax_backward(d_weights, weights)
        np.testing.assert_array_equal(d_weights, kept)
        in_place = ac.softmax_backward(d_weights, weights, overwrite_d_weights=True)
        np.testing.assert_array_equal(in_place, expected)
        assert np.shares_memory(in_place, d_weights)

    @pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)])
    def test_empty(self, shape):
        assert ac.softmax_backward(np.ones(shape), np.ones(shape)).shape == shape


class TestSoftmaxJacobian:
    @pytest.mark.parametrize("temperature", [0.5, 1.0, 4.0])
    def test_columns_are_nudges(self, temperature):
        scores = normal(2, 5)
        jacobian = ac.softmax_jacobian(ac.softmax(scores, temperature=temperature), temperature=temperature)
        assert jacobian.shape == (2, 5, 5)
        for b, i in np.ndindex(2, 5):

            def weight_i(x):
                return ac.softmax(x, temperature=temperature)[i]  # noqa: B023

            assert_is_gradient(jacobian[b, i], weight_i, scores[b], 1.0)

    def test_closed_form(self):
        # uniform over n: (1/n)(1 - 1/n) on the diagonal, -1/n^2 beside it
        n = 7
        expected = np.eye(n) / n - 1 / n**2
        np.testing.assert_allclose(ac.softmax_jacobian(np.full(n, 1 / n)), expected, atol=1e-16)

    def test_backward_is_the_product_with_the_jacobian(self):
        weights, d_weights = ac.softmax(normal(BATCH, L, S)), normal(BATCH, L, S, seed=1)
        jacobian = ac.softmax_jacobian(weights, temperature=0.3)
        product = np.einsum("blij,bli->blj", jacobian, d_weights)
        d_scores = ac.softmax_backward(d_weights, weights, temperature=0.3)
        np.testing.assert_allclose(product, d_scores, atol=1e-14)

    @pytest.mark.parametrize("temperature", [0, INF])
    def test_zero_at_the_limits(self, temperature):
        jacobian = ac.softmax_jacobian([0.0, 1.0], temperature=temperature)
        np.testing.assert_array_equal(jacobian, np.zeros((2, 2)))

    def test_float32_and_a_row_without_weights(self):
        jacobian = ac.softmax_jacobian(np.array([[0, 0], [0.25, 0.75]], np.float32))
        assert jacobian.dtype == np.float32
        np.testing.assert_array_equal(jacobian[0], 0)
        np.testing.assert_array_equal(jacobian[1], [[0.1875, -0.1875], [-0.1875, 0.1875]])


class TestWeightedSum:
    def test_gradient(self):
        weights, value, d_output = normal(2, 3, 4), normal(2, 4, 5), normal(2, 3, 5)
        d_weights, d_value = ac.weighted_sum_backward(d_output, weights, value)
        assert_is_gradient(d_weights, lambda x: ac.weighted_sum(x, value), weights, d_output)
        assert_is_gradient(d_value, lambda x: ac.weighted_sum(weights, x), value, d_output)

    @pytest.mark.parametrize(("weights_lead", "value_lead"), [((2, 1), (3,)), ((), (2,)), ((1,), (2, 1)), ((2,), ())])
    def test_broadcast(self, weights_lead, value_lead):
        weights, value = normal(*weights_lead, 3, 4), normal(*value_lead, 4, 5)
        d_output = normal(*np.broadcast_shapes(weights_lead, value_lead), 3, 5)
        d_weights, d_value = ac.weighted_sum_backward(d_output, weights, value)
        assert_is_gradient(d_weights, lambda x: ac.weighted_sum(x, value), weights, d_output)
        assert_is_gradient(d_value, lambda x: ac.weighted_sum(weights, x), value, d_output)


MASKS = {
    "none": None,
    "boolean": np.array([[1, 0, 1, 1], [0, 0, 0, 0], [0, 1, 0, 0]], bool),
    "additive": np.array([[0.5, -INF, 2, 0], [-INF] * 4, [-1.0, 1, 0, 3]]),
    "causal": np.tri(3, 4, dtype=bool),
    "per batch": np.array([[[1, 1, 0, 1]], [[0, 1, 1, 1]]], bool),
}


class TestAttention:
    @pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
    @pytest.mark.parametrize(("scale", "temperature"), [(None, 1.0), (0.0, 1.0), (0.3, 0.25), (-1.0, 2.0)])
    def test_gradient(self, mask, scale, temperature):
        inputs = small(2)
        options = {"mask": mask, "scale": scale, "temperature": temperature}
        d_output = normal(2, 3, 2)
        gradients = attend_backward(d_output, *inputs, **options)
        for position, gradient in enumerate(gradients):

            def function(x):
                changed = [*inputs[:position], x, *inputs[position + 1 :]]  # noqa: B023
                return attend(*changed, **options)[0]

            assert_is_gradient(gradient, function, inputs[position], d_output)

    @pytest.mark.parametrize(
        ("query_lead", "key_lead", "value_lead"),
        [((2, 1), (3,), ()), ((), (2,), (1,)), ((2,), (), (3, 1)), ((1, 1), (2,), (3, 2))],
    )
    def test_broadcast(self, query_lead, key_lead, value_lead):
        leads = query_lead, key_lead, value_lead
        inputs = [normal(*lead, *shape) for lead, shape in zip(leads, SMALL.values(), strict=True)]
        d_output = normal(*np.broadcast_shapes(*leads), 3, 2)
        gradients = attend_backward(d_output, *inputs)
        for position, gradient in enumerate(gradients):

            def function(x):
                changed = [*inputs[:position], x, *inputs[position + 1 :]]  # noqa: B023
                return attend(*changed)[0]

            assert_is_gradient(gradient, function, inputs[position], d_output)

    def test_two_keys_by_hand(self):
        # weights p, 1 - p with p = 1 / (1 + e^-(s0 - s1)); output p v0 + (1 - p) v1
        q, k0, k1, v0, v1 = 0.3, 2.0, -1.0, 5.0, 7.0
        p = 1 / (1 + math.exp(-q * (k0 - k1)))
        slope = p * (1 - p) * (v0 - v1)
        d_query, d_key, d_value = attend_backward([[1.0]], [[q]], [[k0], [k1]], [[v0], [v1]])
        np.testing.assert_allclose(d_query, [[slope * (k0 - k1)]], rtol=1e-13)
        np.testing.assert_allclose(d_key, [[slope * q], [-slope * q]], rtol=1e-13)
        np.testing.assert_allclose(d_value, [[p], [1 - p]], rtol=1e-13)

    def test_given_weights_are_used_not_recomputed(self):
        query, key, value = small()
        d_output, mask = normal(3, 2), np.tri(3, 4, dtype=bool)
        weights = attend(query, key, value, mask=mask, temperature=0.5)[1]
        given = attend_backward(d_output, query, key, value, weights=weights, temperature=0.5)
        recomputed = attend_backward(d_output, query, key, value, mask=mask, temperature=0.5)
        for one, other in zip(given, recomputed, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-13)
        uniform = attend_backward(d_output, query, key, value, weights=np.full((3, 4), 0.25))
        np.testing.assert_allclose(uniform[2], np.tile(d_output.sum(axis=0) / 4, (4, 1)), rtol=1e-13)

    @pytest.mark.parametrize("additive", [False, True])
    def test_a_fully_masked_row_gives_and_gets_nothing(self, additive):
        inputs = small(2)
        d_output = normal(2, 3, 2)
        mask = np.ones((3, 4), bool)
        mask[1] = False
        form = np.where(mask, 0.0, -INF) if additive else mask
        d_query, d_key, d_value = attend_backward(d_output, *inputs, mask=form)
        np.testing.assert_array_equal(d_query[:, 1], 0)
        rest = [inputs[0][:, [0, 2]], *inputs[1:]]
        expected = attend_backward(d_output[:, [0, 2]], *rest)
        np.testing.assert_allclose(d_query[:, [0, 2]], expected[0], rtol=1e-12)
        np.testing.assert_allclose(d_key, expected[1], rtol=1e-12)
        np.testing.assert_allclose(d_value, expected[2], rtol=1e-12)

    def test_everything_masked(self):
        gradients = attend_backward(normal(3, 2), *small(), mask=np.zeros((3, 4), bool))
        for gradient in gradients:
            np.testing.assert_array_equal(gradient, np.zeros_like(gradient))

    @pytest.mark.parametrize("poison", [NAN, INF, -INF])
    @pytest.mark.parametrize("weights_given", [False, True])
    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
    def test_poison_behind_a_mask_changes_nothing(self, poison, weights_given, dtype):
        query, key, value = (x.astype(dtype) for x in small(2))
        d_output = normal(2, 3, 2, dtype=dtype)
        mask = np.array([[1, 0, 1, 1], [0, 0, 0, 0], [1, 0, 0, 1]], bool)
        expected = attend_backward(d_output, query, key, value, mask=mask)
        query[:, 1] = key[:, 1] = value[:, 1] = poison
        weights = attend(query, key, value, mask=mask)[1] if weights_given else None
        gradients = attend_backward(d_output, query, key, value, mask=mask, weights=weights)
        for gradient, clean in zip(gradients, expected, strict=True):
            tolerance = 1e-2 if dtype == np.float16 else 1e-5
            np.testing.assert_allclose(gradient, clean, rtol=tolerance, atol=tolerance / 100)

    @pytest.mark.parametrize("temperature", [0, INF])
    def test_at_the_limits_only_the_values_get_a_gradient(self, temperature):
        query, key, value = small()
        weights = attend(query, key, value, temperature=temperature)[1]
        d_output = normal(3, 2)
        d_query, d_key, d_value = attend_backward(d_output, query, key, value, temperature=temperature)
        np.testing.assert_array_equal(d_query, np.zeros_like(query))
        np.testing.assert_array_equal(d_key, np.zeros_like(key))
        np.testing.assert_allclose(d_value, weights.T @ d_output, rtol=1e-13)

    def test_float16_scores_beyond_its_range(self):
        # q.k = 64 * 40 * 40 does not fit float16; both keys equal: weights 1/2 each
        query = np.full((1, 64), 40, np.float16)
        key, value = np.concatenate([query, query]), np.array([[1], [3]], np.float16)
        d_query, d_key, d_value = attend_backward(np.ones((1, 1), np.float16), query, key, value)
        assert d_query.dtype == d_key.dtype == d_value.dtype == np.float16
        np.testing.assert_array_equal(d_query, np.zeros((1, 64)))
        # p (1 - p) (v0 - v1) q / sqrt(64) = 0.25 * -2 * 40 / 8
        np.testing.assert_array_equal(d_key, [[-2.5] * 64, [2.5] * 64])
        np.testing.assert_array_equal(d_value, [[0.5], [0.5]])

    @pytest.mark.parametrize("sizes", [(0, 3, 2, 5), (4, 0, 2, 5), (4, 3, 0, 5), (4, 3, 2, 0)])
    @pytest.mark.parametrize("lead", [(), (0,)])
    def test_empty(self, sizes, lead):
        n_queries, n_keys, d_k, d_v = sizes
        shapes = (n_queries, d_k), (n_keys, d_k), (n_keys, d_v)
        inputs = [np.ones((*lead, *shape)) for shape in shapes]
        gradients = attend_backward(np.ones((*lead, n_queries, d_v)), *inputs)
        for gradient, x in zip(gradients, inputs, strict=True):
            assert gradient.shape == x.shape
            assert np.isfinite(gradient).all()

    def test_float16_gradients_beyond_its_range_are_infinite(self):
        # 300 * 300 * 2 = 180000 > 65504
        large = np.full((2, 3), 300, np.float16)
        for d_x in ac.score_backward(np.full((2, 2), 300, np.float16), large, large, scale=1):
            np.testing.assert_array_equal(d_x, np.full((2, 3), INF))

    def test_larger_with_heads_in_float32(self):
        shapes = {"query": (L, D_K), "key": (S, D_K), "value": (S, D_V)}
        exact = [normal(BATCH, HEADS, *shape) for shape in shapes.values()]
        d_output = normal(BATCH, HEADS, L, D_V)
        single = attend_backward(*(x.astype(np.float32) for x in (d_output, *exact)))
        for gradient, expected in zip(single, attend_backward(d_output, *exact), strict=True):
            assert gradient.dtype == np.float32
            np.testing.assert_allclose(gradient, expected, atol=2e-5)


def test_given_weights_do_not_excuse_a_key_that_does_not_fit():
    weights = np.full((2, 3), 1 / 3)
    with pytest.raises(ValueError, match=r"^key ") as error:
        ac.scaled_dot_product_attention_backward(
            np.ones((2, 1)), np.ones((2, 4)), np.ones((3, 5)), np.ones((3, 1)), weights=weights)
    assert "d_k=4" in str(error.value)


@pytest.mark.parametrize("extra", [1, 2])
def test_extra_and_stretched_leading_axes_are_summed_together(extra):
    query, key, d_scores = normal(3, 1, 2, 5), normal(extra, 3, 4, 7, 5, seed=1), normal(extra, 3, 4, 2, 7, seed=2)
    d_query, d_key = ac.score_backward(d_scores, query, key, scale=1)
    # the sums written out with einsum: a is an extra axis, c was stretched from 1
    np.testing.assert_allclose(d_query, np.einsum("abcls,abcsd->bld", d_scores, key)[:, None], rtol=1e-12)
    np.testing.assert_allclose(d_key, np.einsum("abcls,bld->abcsd", d_scores, query[:, 0]), rtol=1e-12)


def test_what_a_dtype_cannot_hold_is_no_error():
    # 2 x 3e38 is infinite in float32; 6e-8 x 6e-8 is 0 in float16
    tiny = np.full((1, 2), 2.0**-24, np.float16)   # the smallest there is
    ones, huge = np.ones((2, 1, 1), np.float32), np.full((2, 1, 1), 3e38, np.float32)
    with np.errstate(all="raise"):
        d_query, _ = ac.score_backward(huge[0], ones[0], ones[0], scale=2.0)
        d_scores = ac.softmax_backward(tiny, tiny)
        # the axis along which the weights were stretched is summed: 3e38 + 3e38
        d_weights, _ = ac.weighted_sum_backward(huge, ones[0], ones)
    assert d_query == d_weights == INF
    np.testing.assert_array_equal(d_scores, [[0, 0]])


@pytest.mark.parametrize("poison", [NAN, INF])
@pytest.mark.parametrize("layout", ["axis 0", "Fortran", "every second"])
def test_a_rows_hidden_poison_changes_no_other_row_to_the_bit_in_any_layout(poison, layout):
    # the way that drops what is hidden must not sum the other rows in another order
    def gradient(d_weights):
        if layout == "axis 0":
            return ac.softmax_backward(np.asfortranarray(d_weights).T, weights.T, axis=0).T
        if layout == "Fortran":
            return ac.softmax_backward(np.asfortranarray(d_weights), weights)
        return ac.softmax_backward(np.repeat(d_weights, 2, axis=-1)[:, ::2], weights)

    weights = ac.softmax(normal(300, 700), mask=np.arange(700) < 500)
    d_weights = normal(300, 700, seed=1)
    poisoned = d_weights.copy()
    poisoned[0, 500:] = poison
    np.testing.assert_array_equal(gradient(poisoned)[1:], gradient(d_weights)[1:])


@pytest.mark.parametrize(("bad", "expected"), [(np.nan, np.nan), (np.inf, -np.inf), (-np.inf, np.inf)])
def test_a_negative_share_of_a_bad_key_counts(bad, expected):
    # d_query = scale * d_scores @ key; only a share of 0 leaves the key alone.
    d_query, _ = ac.score_backward([[-1.0]], [[1.0]], [[bad]], scale=1)
    np.testing.assert_array_equal(d_query, [[expected]])
    d_query, _ = ac.score_backward([[0.0]], [[1.0]], [[bad]], scale=1)
    np.testing.assert_array_equal(d_query, [[0.0]])
