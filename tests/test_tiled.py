"""The tiled computation gives the plain one's output without its table."""

import tracemalloc

import numpy as np
import pytest

import attention_core as ac
from attention_core import tiled
from attention_core.measure import peak_bytes
from core_calls import BATCH, D_K, D_V, HEADS, L, S, normal
from reference_cases import load_cases, onnx_inputs

INF, NAN = np.inf, np.nan
BLOCKS = [(1, 1), (2, 3), (3, 2), (4, 4), (1, 100), (100, 1), (256, 512)]
FITTING = [
    case
    for case in load_cases("onnx_attention") + load_cases("onnx_attention_more")
    if "attn_mask" not in case["arrays"]
]


def plain(query, key, value, *, causal=False, **options):
    mask = ac.causal_mask(np.shape(query)[-2], np.shape(key)[-2]) if causal else None
    return ac.scaled_dot_product_attention(query, key, value, mask=mask, **options)[0]


def inputs(dtype=np.float64, n_queries=L, n_keys=S):
    return (
        normal(n_queries, D_K, dtype=dtype),
        normal(n_keys, D_K, seed=1, dtype=dtype),
        normal(n_keys, D_V, seed=2, dtype=dtype),
    )


@pytest.mark.parametrize("case", FITTING, ids=lambda case: case["name"])
@pytest.mark.parametrize("blocks", [(1, 2), (256, 512)])
def test_onnx_case(case, blocks):
    # The expected values are the operator's own, see tests/data/make_onnx_reference.py.
    query, key, value, _ = onnx_inputs(case)
    output = ac.tiled_attention(
        query, key, value, causal=case["is_causal"], scale=case["scale"],
        query_block=blocks[0], key_block=blocks[1],
    )  # fmt: skip
    expected = case["arrays"]["Y"]
    if case["num_heads"] is not None:
        output = ac.merge_heads(output)
    tolerance = 1e-2 if expected.dtype == np.float16 else 1e-5
    assert output.dtype == expected.dtype
    np.testing.assert_allclose(output, expected, rtol=tolerance, atol=tolerance)


def test_there_are_such_cases():
    assert {case["is_causal"] for case in FITTING} == {False, True}
    assert len(FITTING) > 8


@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shape", [(L, S), (S, L), (S, S), (1, S), (S, 1)])
@pytest.mark.parametrize("temperature", [0, 0.5, 1, 3.0, INF])
def test_equals_the_plain_one(blocks, causal, shape, temperature):
    for dtype, tolerance in ((np.float64, 1e-14), (np.float32, 1e-6), (np.float16, 1e-2)):
        arrays = inputs(dtype, *shape)
        options = {"causal": causal, "temperature": temperature, "scale": 0.7}
        output = ac.tiled_attention(*arrays, query_block=blocks[0], key_block=blocks[1], **options)
        assert output.dtype == dtype
        np.testing.assert_allclose(output, plain(*arrays, **options), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("causal", [False, True])
def test_equals_the_plain_one_at_real_size(causal):
    query, key, value = (normal(2, 700, 64, seed=i, dtype=np.float32) for i in range(3))
    output = ac.tiled_attention(query, key, value, causal=causal)
    np.testing.assert_allclose(output, plain(query, key, value, causal=causal), atol=1e-6)


def test_first_row_of_a_causal_table_is_the_first_value():
    query, key, value = inputs(n_queries=S)
    output = ac.tiled_attention(query, key, value, causal=True, query_block=2, key_block=3)
    np.testing.assert_allclose(output[0], value[0], rtol=1e-15)


def test_equal_scores_give_the_mean_of_what_was_seen():
    # Q = K = 0 and V = arange: row i is the mean of 0 .. i, that is i / 2
    output = ac.tiled_attention(
        np.zeros((S, 2)), np.zeros((S, 2)), np.arange(S)[:, None], causal=True, query_block=2, key_block=2
    )
    np.testing.assert_allclose(output[:, 0], np.arange(S) / 2, rtol=1e-15)


@pytest.mark.parametrize("ascending", [1, -1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_running_maximum_survives_huge_steps(ascending, dtype):
    # each key block beats the ones before by far more than exp can hold, or is beaten by them
    key = (1000.0 * ascending * np.arange(S)[:, None]).astype(dtype)
    value = normal(S, D_V, dtype=dtype)
    output = ac.tiled_attention(np.ones((1, 1), dtype), key, value, key_block=2, scale=1)
    np.testing.assert_array_equal(output[0], value[-1 if ascending == 1 else 0])


@pytest.mark.parametrize(
    "lead",
    [((), (), ()), ((BATCH, HEADS),) * 3, ((BATCH, 1), (HEADS,), (1, 1)), ((), (), (BATCH,))],
)
def test_leading_axes_broadcast(lead):
    query, key, value = (
        normal(*axes, *shape, seed=seed)
        for seed, (axes, shape) in enumerate(zip(lead, ((L, D_K), (S, D_K), (S, D_V)), strict=True))
    )
    output = ac.tiled_attention(query, key, value, query_block=2, key_block=3)
    expected = plain(query, key, value)
    assert output.shape == expected.shape
    np.testing.assert_allclose(output, expected, rtol=1e-13)


@pytest.mark.parametrize("poison", [NAN, INF, -INF, 1e300])
@pytest.mark.parametrize("temperature", [0, 0.5, 1, INF])
def test_the_future_changes_nothing_to_the_bit(poison, temperature):
    query, key, value = inputs(n_queries=S)
    options = {"causal": True, "temperature": temperature, "query_block": 3, "key_block": 2}
    clean = ac.tiled_attention(query, key, value, **options)
    for i in range(S - 1):
        bad_key, bad_value = key.copy(), value.copy()
        bad_key[i + 1 :], bad_value[i + 1 :] = poison, poison
        output = ac.tiled_attention(query, bad_key, bad_value, **options)
        np.testing.assert_array_equal(output[: i + 1], clean[: i + 1])


@pytest.mark.parametrize("poison", [NAN, INF, -INF])
@pytest.mark.parametrize("size", [1e-28, 1e-36, 1e-42])
def test_the_future_changes_nothing_of_tiny_values(poison, size):
    query, key, value = inputs(np.float32, S)
    value = (value * size).astype(np.float32)
    clean = ac.tiled_attention(query, key, value, causal=True, query_block=3, key_block=2)
    value[-1] = poison
    output = ac.tiled_attention(query, key, value, causal=True, query_block=3, key_block=2)
    np.testing.assert_array_equal(output[:-1], clean[:-1])


def test_lengths_whose_squares_underflow_are_not_small():
    # the squares of 2e-23 are 0 in float32, yet the two scores differ by 6.4e-4 / 1e-5 = 64: all goes to the first
    query = np.full((1, 64), 2e-23, np.float32)
    key = np.stack([np.full(64, 1e18), np.full(64, 5e17)]).astype(np.float32)
    output = ac.tiled_attention(query, key, np.array([[1], [0]], np.float32), scale=1, temperature=1e-5)
    np.testing.assert_allclose(output, [[1]], rtol=1e-6)


def test_nothing_large_is_kept_afterwards():
    arrays = (np.zeros((4096, 2), np.float32),) * 3
    tracemalloc.start()
    output = ac.tiled_attention(*arrays, causal=True, query_block=4096, key_block=4096)
    assert tracemalloc.get_traced_memory()[0] < output.nbytes + 2**20
    tracemalloc.stop()


@pytest.mark.parametrize("other", [1e3, 1e-3, NAN, INF])
@pytest.mark.parametrize("causal", [False, True])
def test_a_query_changes_no_other_row_to_the_bit(other, causal):
    # large and small scores take different ways (with and without a running maximum)
    query, key, value = inputs(np.float32, S)
    options = {"causal": causal, "query_block": 3, "key_block": 2}
    changed = query.copy()
    changed[4] = other
    output, clean = (ac.tiled_attention(q, key, value, **options) for q in (changed, query))
    rest = np.arange(S) != 4
    np.testing.assert_array_equal(output[rest], clean[rest])


def test_key_blocks_of_the_future_are_never_read(monkeypatch):
    reads = []
    monkeypatch.setattr(tiled, "row_sums", lambda x: reads.append(x.shape) or x.sum(axis=-1, keepdims=True))
    for causal, tables in ((False, 4 * 4), (True, 4 + 3 + 2 + 1)):
        reads.clear()
        query, key, value = inputs(n_queries=8, n_keys=8)
        ac.tiled_attention(query, key, value, causal=causal, query_block=2, key_block=2)
        assert reads == [(2, 2)] * tables


@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize("temperature", [0, 0.5, 1, INF])
def test_infinite_scores_take_everything_or_nothing(blocks, temperature):
    key = np.array([[1.0], [INF], [2.0], [-INF], [INF], [0.5]])
    value = normal(6, D_V)
    options = {"temperature": temperature, "scale": 1}
    arrays = (np.array([[1.0], [-1.0]]), key, value)
    output = ac.tiled_attention(*arrays, query_block=blocks[0], key_block=blocks[1], **options)
    np.testing.assert_allclose(output[0], (value[1] + value[4]) / 2, rtol=1e-14)
    np.testing.assert_allclose(output[1], value[3], rtol=1e-14)


@pytest.mark.parametrize("blocks", BLOCKS)
def test_nothing_to_look_at_gives_zero(blocks):
    key = np.full((S, 1), -INF)
    output = ac.tiled_attention(np.ones((2, 1)), key, np.ones((S, D_V)), query_block=blocks[0], key_block=blocks[1])
    np.testing.assert_array_equal(output, np.zeros((2, D_V)))


@pytest.mark.parametrize("poison", [NAN, INF])
def test_a_weight_of_zero_takes_nothing(poison):
    # the second key is 1000 below the first: its weight is exactly 0
    value = np.array([[3.0], [poison]])
    for order in ([0, 1], [1, 0]):
        output = ac.tiled_attention([[1.0]], np.array([[1000.0], [0.0]])[order], value[order], key_block=1)
        np.testing.assert_array_equal(output, [[3.0]])


@pytest.mark.parametrize("huge", [3e38, -1e37])
def test_huge_values_stay_finite(huge):
    value = np.full((S, D_V), huge, np.float32)
    output = ac.tiled_attention(*inputs(np.float32)[:2], value)
    np.testing.assert_allclose(output, np.full((L, D_V), huge, np.float32), rtol=1e-6)


def test_huge_values_with_scores_that_are_just_small():
    # every score is 15.9, just below the bound under which no maximum is subtracted
    arrays = np.full((1, 1), 15.9, np.float32), np.ones((S, 1), np.float32), np.full((S, 2), 3e38, np.float32)
    np.testing.assert_allclose(ac.tiled_attention(*arrays, scale=1), arrays[2][:1], rtol=1e-6)


@pytest.mark.parametrize("temperature", [1.4e-45, 2e-45, 1e-40])
def test_temperatures_that_float32_rounds(temperature):
    arrays = np.ones((1, 1), np.float32), np.array([[-3.08e-44], [-3.5e-44]], np.float32), np.eye(2, dtype=np.float32)
    options = {"scale": 1, "temperature": temperature}
    np.testing.assert_allclose(ac.tiled_attention(*arrays, **options), plain(*arrays, **options), rtol=1e-5)


@pytest.mark.parametrize("key_block", [1, 2, 512])
@pytest.mark.parametrize(("dtype", "length"), [(np.float32, 1.8e19), (np.float64, 1.3e154)])
@pytest.mark.parametrize("exponent", [0, 3])
def test_scores_whose_difference_overflows(dtype, length, key_block, exponent):
    # Scores of +-length^2: their difference is beyond the dtype, the exponents are not. Closed form: shares of
    # e^exponent, e^-exponent and 1; at T = infinity all alike.
    query, key = np.array([[length]], dtype), np.array([[length], [-length], [0]], dtype)
    output = tiled.tiled_attention(query, key, np.array([[1.0], [2.0], [4.0]], dtype), key_block=key_block,
                                   temperature=length * length / exponent if exponent else INF)
    shares = np.exp([exponent, -exponent, 0.0])
    np.testing.assert_allclose(output, [[shares @ [1, 2, 4] / shares.sum()]], rtol=1e-6)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("place", [0, 4, S - 1])
def test_a_head_with_huge_scores_beside_others(causal, place):
    query, key, value = (normal(HEADS, S, 4, seed=seed, dtype=np.float32) for seed in range(3))
    clean = ac.tiled_attention(query, key, value, causal=causal, query_block=3, key_block=2)
    key[1, place] *= 1000
    output = ac.tiled_attention(query, key, value, causal=causal, query_block=3, key_block=2)
    np.testing.assert_allclose(output, plain(query, key, value, causal=causal), atol=1e-6)
    np.testing.assert_array_equal(output[[0, 2]], clean[[0, 2]])


@pytest.mark.parametrize("size", [1e-36, 1e-30, 1e18, 1e20, 1e37])
@pytest.mark.parametrize("causal", [False, True])
def test_values_of_every_size(size, causal):
    query, key, value = inputs(np.float32, S)
    options = {"causal": causal, "query_block": 3, "key_block": 2}
    expected = plain(query, key, value.astype(float), causal=causal) * size
    output = ac.tiled_attention(query, key, (value * size).astype(np.float32), **options)
    np.testing.assert_allclose(output, expected, rtol=1e-5, atol=1e-6 * size)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("temperature", [0, 1, INF])
@pytest.mark.parametrize("filling", [1.0, INF, NAN])
def test_empty(shape, causal, temperature, filling):
    query, key, value = inputs(np.float64, *shape)
    output = ac.tiled_attention(query * filling, key, value, causal=causal, temperature=temperature)
    np.testing.assert_array_equal(output, np.zeros((shape[0], D_V)))


def test_lists_and_integers_become_float64():
    output = ac.tiled_attention([[0, 0]], [[1, 2], [3, 4]], [[2], [4]])
    assert output.dtype == np.float64
    np.testing.assert_array_equal(output, [[3.0]])


def test_inputs_are_left_alone():
    arrays = inputs()
    kept = [x.copy() for x in arrays]
    ac.tiled_attention(*arrays, causal=True, query_block=2, key_block=2)
    for x, before in zip(arrays, kept, strict=True):
        np.testing.assert_array_equal(x, before)


def test_memory_grows_linearly():
    # One head, float32: the table alone would be 64 MiB at N = 4096 and 4 times less at half of it.
    peaks = {}
    for n in (2048, 4096):
        query, key, value = (np.zeros((n, 64), np.float32) for _ in range(3))
        peaks[n] = peak_bytes(ac.tiled_attention, query, key, value)
    assert peaks[4096] < 8 * 2**20
    assert peaks[4096] < 2 * peaks[2048]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"query": np.ones(D_K)}, ["query", "(..., L, d_k)"]),
        ({"key": np.ones((S, D_K + 1))}, ["key", f"d_k={D_K}"]),
        ({"value": np.ones((S + 1, D_V))}, ["value", f"S={S}"]),
        ({"value": np.ones(S)}, ["value", "(..., S, d_v)"]),
        ({"query": np.ones((2, L, D_K)), "key": np.ones((3, S, D_K))}, ["key", "(2,)", "(3,)"]),
        ({"query": np.ones((2, L, D_K)), "value": np.ones((3, S, D_V))}, ["value", "(2,)", "(3,)"]),
        ({"causal": np.tri(L, S, dtype=bool)}, ["causal", "True"]),
        ({"causal": 1}, ["causal", "True"]),
        ({"scale": NAN}, ["scale"]),
        ({"temperature": -1}, ["temperature"]),
        ({"query_block": 0}, ["query_block", "1"]),
        ({"key_block": 2.0}, ["key_block", "1"]),
    ],
)
def test_wrong_input_is_named(changes, words):
    query, key, value = inputs()
    with pytest.raises(ValueError) as error:  # noqa: PT011 (the words are checked below)
        ac.tiled_attention(**{"query": query, "key": key, "value": value} | changes)
    for word in words:
        assert word in str(error.value)
