"""split_heads, merge_heads, MultiHeadAttention; PyTorch's values: test_torch_reference.py."""

import numpy as np
import pytest

import attention_core as ac
from core_calls import BATCH, D_K, D_MODEL, HEADS, L, S, drawn_layer, normal


def test_split_heads_gives_each_head_its_own_slice():
    x = np.arange(L * D_MODEL, dtype=float).reshape(L, D_MODEL)
    heads = ac.split_heads(x, HEADS)
    assert heads.shape == (HEADS, L, D_K)
    for h in range(HEADS):
        np.testing.assert_array_equal(heads[h], x[:, h * D_K : (h + 1) * D_K])


@pytest.mark.parametrize("lead", [(), (BATCH,), (BATCH, 1, 4), (0,)])
def test_merge_heads_undoes_split_heads(lead):
    x = normal(*lead, L, D_MODEL)
    heads = ac.split_heads(x, HEADS)
    assert heads.shape == (*lead, HEADS, L, D_K)
    np.testing.assert_array_equal(ac.merge_heads(heads), x)


def test_merge_heads_by_hand():
    # two heads, two positions: position 0 gets head 0's [1, 2] and head 1's [5, 6]
    merged = ac.merge_heads([[[1, 2], [3, 4]], [[5, 6], [7, 8]]])
    np.testing.assert_array_equal(merged, [[1, 2, 5, 6], [3, 4, 7, 8]])


def test_empty_sequences_and_heads_of_width_zero():
    assert ac.split_heads(np.ones((2, 0, 6)), 3).shape == (2, 3, 0, 2)
    assert ac.merge_heads(np.ones((2, 3, 0, 2))).shape == (2, 0, 6)
    assert ac.split_heads(np.ones((4, 0)), 3).shape == (3, 4, 0)


def by_hand(layer, query, key, value, mask=None):
    """One head after another, straight from the formula (Vaswani et al. 2017, 3.2.2)."""
    d, h = layer.d_model, layer.n_heads
    w_in, w_out = layer.in_proj_weight, layer.out_proj_weight
    b_in = np.zeros(3 * d) if layer.in_proj_bias is None else layer.in_proj_bias
    b_out = np.zeros(d) if layer.out_proj_bias is None else layer.out_proj_bias
    q, k, v = (x @ w_in[i * d : (i + 1) * d].T + b_in[i * d : (i + 1) * d] for i, x in enumerate((query, key, value)))
    outputs, tables = [], []
    for rows in np.split(np.arange(d), h):
        scores = q[:, rows] @ k[:, rows].T / (d / h) ** 0.5
        exp = np.exp(scores - scores.max(axis=1, keepdims=True))
        exp = exp if mask is None else exp * mask
        tables.append(exp / exp.sum(axis=1, keepdims=True))
        outputs.append(tables[-1] @ v[:, rows])
    return np.concatenate(outputs, axis=1) @ w_out.T + b_out, np.array(tables)


def given_layer(bias=True):
    parameters = {
        "in_proj_weight": normal(3 * D_MODEL, D_MODEL) / D_MODEL**0.5,
        "out_proj_weight": normal(D_MODEL, D_MODEL, seed=1) / D_MODEL**0.5,
    }
    if bias:
        parameters |= {"in_proj_bias": normal(3 * D_MODEL), "out_proj_bias": normal(D_MODEL)}
    return ac.MultiHeadAttention(D_MODEL, HEADS, bias=bias, **parameters)


class TestLayer:
    @pytest.mark.parametrize("bias", [True, False])
    @pytest.mark.parametrize("masked", [True, False])
    def test_self_attention(self, bias, masked):
        layer, x = given_layer(bias), normal(S, D_MODEL)
        mask = ac.causal_mask(S) if masked else None
        output, weights = layer(x, mask=mask)
        expected_output, expected_weights = by_hand(layer, x, x, x, mask)
        assert weights.shape == (HEADS, S, S)
        np.testing.assert_allclose(output, expected_output, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(weights, expected_weights, rtol=1e-11, atol=1e-14)

    def test_cross_attention_with_values_of_their_own(self):
        layer = given_layer()
        query, key = normal(L, D_MODEL), normal(S, D_MODEL)
        value = normal(S, D_MODEL, seed=5)
        for given_value, used in ((value, value), (None, key)):
            output, weights = layer(query, key, given_value)
            expected_output, expected_weights = by_hand(layer, query, key, used)
            assert weights.shape == (HEADS, L, S)
            np.testing.assert_allclose(output, expected_output, rtol=1e-10, atol=1e-12)
            np.testing.assert_allclose(weights, expected_weights, rtol=1e-11)

    def test_batches(self):
        layer, x = drawn_layer(), normal(4, BATCH, L, D_MODEL)
        output, weights = layer(x)
        assert weights.shape == (4, BATCH, HEADS, L, L)
        for i, b in np.ndindex(4, BATCH):
            alone = layer(x[i, b])
            np.testing.assert_allclose(output[i, b], alone[0], rtol=1e-10, atol=1e-12)
            np.testing.assert_allclose(weights[i, b], alone[1], rtol=1e-11)

    def test_a_mask_per_batch_and_a_mask_per_head(self):
        layer, x = drawn_layer(), normal(BATCH, L, D_MODEL)
        lengths = [2, 5]
        weights = layer(x, mask=ac.padding_mask(lengths, L))[1]
        for b, length in enumerate(lengths):
            assert (weights[b, ..., :length] > 0).all()
            np.testing.assert_array_equal(weights[b, ..., length:], 0)
        per_head = np.random.default_rng(0).random((BATCH, HEADS, L, L)) < 0.5
        weights = layer(x, mask=per_head)[1]
        np.testing.assert_array_equal(weights > 0, per_head)

    @pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
    def test_poison_in_the_padding_changes_nothing(self, poison):
        layer, x = given_layer(), normal(BATCH, L, D_MODEL)
        mask = ac.padding_mask([3, L], L)
        output, weights = layer(x, mask=mask)
        x[0, 3:] = poison
        poisoned = layer(x, mask=mask)
        np.testing.assert_array_equal(poisoned[0][0, :3], output[0, :3])
        np.testing.assert_array_equal(poisoned[0][1], output[1])
        np.testing.assert_array_equal(poisoned[1][0, :, :3], weights[0, :, :3])

    def test_a_row_that_sees_nothing_gets_the_bias_alone(self):
        layer, x = given_layer(), normal(L, D_MODEL)
        mask = np.ones((L, L), bool)
        mask[2] = False
        output, weights = layer(x, mask=mask)
        np.testing.assert_array_equal(weights[:, 2], 0)
        np.testing.assert_allclose(output[2], layer.out_proj_bias, rtol=1e-15)

    def test_temperature(self):
        layer, x = drawn_layer(), normal(L, D_MODEL)
        uniform = layer(x, temperature=np.inf)[1]
        np.testing.assert_allclose(uniform, np.full((HEADS, L, L), 1 / L))
        hard = layer(x, temperature=0)[1]
        np.testing.assert_array_equal(np.sort(hard)[..., :-1], 0)
        np.testing.assert_array_equal(hard.argmax(-1), layer(x)[1].argmax(-1))

    def test_permuting_the_sequence_permutes_the_output(self):
        layer, x = given_layer(), normal(S, D_MODEL)
        order = np.random.default_rng(3).permutation(S)
        np.testing.assert_allclose(layer(x[order])[0], layer(x)[0][order], rtol=1e-9, atol=1e-12)

    @pytest.mark.parametrize("shape", [(0, D_MODEL), (BATCH, 0, D_MODEL), (0, L, D_MODEL)])
    def test_empty(self, shape):
        output, weights = drawn_layer()(np.ones(shape))
        assert output.shape == shape
        assert weights.shape == (*shape[:-2], HEADS, shape[-2], shape[-2])


class TestParameters:
    @pytest.mark.parametrize("n_heads", [1, 8, 16])
    def test_count_does_not_depend_on_the_heads(self, n_heads):
        # N10: four matrices of 512 x 512; with biases 4 x 512 more
        draw = np.random.default_rng(0)
        bare = ac.MultiHeadAttention(512, n_heads, bias=False, rng=draw)
        assert bare.n_parameters == 4 * 512 * 512 == 1_048_576
        whole = ac.MultiHeadAttention(512, n_heads, rng=draw)
        assert whole.n_parameters == 1_048_576 + 4 * 512

    def test_drawn_from_the_generator_alone(self):
        first, second = drawn_layer(), drawn_layer()
        np.testing.assert_array_equal(first.in_proj_weight, second.in_proj_weight)
        other = ac.MultiHeadAttention(D_MODEL, HEADS, rng=np.random.default_rng(1))
        assert not np.array_equal(first.in_proj_weight, other.in_proj_weight)

    def test_drawn_as_pytorch_draws(self):
        # Xavier uniform over the whole (3d, d) block: bound sqrt(6 / 4d); biases 0
        layer = ac.MultiHeadAttention(128, 4, rng=np.random.default_rng(0))
        bound = (6 / (4 * 128)) ** 0.5
        assert np.abs(layer.in_proj_weight).max() == pytest.approx(bound, rel=1e-3)
        assert layer.in_proj_weight.std() == pytest.approx(bound / 3**0.5, rel=0.01)
        assert not layer.in_proj_bias.any()
        assert not layer.out_proj_bias.any()
        assert (layer.in_proj_weight.shape, layer.out_proj_weight.shape) == ((384, 128), (128, 128))

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_float32_layers_stay_float32(self, dtype):
        parameters = {"in_proj_weight": normal(18, 6), "out_proj_weight": normal(6, 6)}
        layer = ac.MultiHeadAttention(6, 2, **{n: p.astype(dtype) for n, p in parameters.items()})
        output, weights = layer(normal(L, 6, dtype=dtype))
        assert output.dtype == weights.dtype == dtype


def test_one_head_and_one_number_are_allowed():
    x = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(ac.split_heads(x, 1), x[None])
    output, weights = ac.MultiHeadAttention(1, 1, rng=np.random.default_rng(0))(np.ones((3, 1)))
    assert output.shape == (3, 1)
    np.testing.assert_allclose(weights, 1 / 3)   # three equal keys
