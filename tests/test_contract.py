"""What holds for every public function of the core: see core_calls.py."""

import inspect

import numpy as np
import pytest

import attention_core as ac
from core_calls import ARRAYS, D_K, D_MODEL, HEADS, normal, results_of, valid_calls

CALLS = sorted(valid_calls())
ARRAY_ARGUMENTS = [(name, argument) for name, arguments in ARRAYS.items() for argument in arguments]
# float64 in, float64 out: what the same call gives in a smaller dtype, and how near.
NEARNESS = {np.float16: 2e-2, np.float32: 2e-5, np.float64: 0}


def flat(x):
    return np.asarray(x, dtype=float).ravel()


def test_the_tables_hold_every_public_function():
    public = {name for name in ac.__all__ if callable(getattr(ac, name))}
    # *masks, words, and a layer that cannot be compared: tests of their own
    elsewhere = {"combine_masks", "exact_lookup", "TanhRNN"}
    assert public - elsewhere == set(valid_calls()) - {"multihead_call", "rnn_call"}
    for name, (function, arguments) in valid_calls().items():
        parameters = set(inspect.signature(function).parameters)
        assert set(arguments) <= parameters, name
        assert set(ARRAYS.get(name, [])) <= set(arguments), name


def test_every_name_of_the_contract_is_there():
    contract = [
        "score",
        "softmax",
        "weighted_sum",
        "scaled_dot_product_attention",
        "score_backward",
        "softmax_backward",
        "weighted_sum_backward",
        "softmax_jacobian",
        "scaled_dot_product_attention_backward",
        "causal_mask",
        "padding_mask",
        "combine_masks",
        "split_heads",
        "merge_heads",
        "MultiHeadAttention",
        "exact_lookup",
        "soft_lookup",
        "cosine_similarity",
    ]
    assert set(contract) <= set(ac.__all__)


@pytest.mark.parametrize("name", CALLS)
def test_inputs_are_never_modified(name):
    function, arguments = valid_calls()[name]
    for dtype in NEARNESS:
        given = {
            n: x.astype(dtype) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x for n, x in arguments.items()
        }
        kept = {n: np.array(x, copy=True) for n, x in given.items()}
        first = function(**given)
        second = function(**given)
        for n, before in kept.items():
            np.testing.assert_array_equal(given[n], before, err_msg=n)
        if name != "MultiHeadAttention":
            for one, other in zip(results_of(first), results_of(second), strict=True):
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", sorted(ARRAYS))
def test_read_only_and_strided_inputs(name):
    function, arguments = valid_calls()[name]
    expected = results_of(function(**arguments))
    given = dict(arguments)
    for argument in ARRAYS[name]:
        padded = np.repeat(arguments[argument], 2, axis=-1)[..., ::2]
        padded.flags.writeable = False
        given[argument] = padded
    for one, other in zip(results_of(function(**given)), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", NEARNESS)
@pytest.mark.parametrize("name", sorted(set(ARRAYS) - {"multihead_call"}))
def test_dtypes_are_kept(name, dtype):
    function, arguments = valid_calls()[name]
    expected = results_of(function(**arguments))
    given = arguments | {argument: arguments[argument].astype(dtype) for argument in ARRAYS[name]}
    for one, other in zip(results_of(function(**given)), expected, strict=True):
        assert one.dtype == dtype
        np.testing.assert_allclose(flat(one), flat(other), rtol=0, atol=NEARNESS[dtype] * 20)


@pytest.mark.parametrize("dtype", NEARNESS)
def test_a_layers_dtype_is_the_widest(dtype):
    parameters = {"in_proj_weight": normal(3 * D_MODEL, D_MODEL, dtype=dtype),
                  "out_proj_weight": normal(D_MODEL, D_MODEL, dtype=dtype)}  # fmt: skip
    layer = ac.MultiHeadAttention(D_MODEL, HEADS, **parameters)
    for x_dtype in NEARNESS:
        output, weights = layer(normal(4, D_MODEL, dtype=x_dtype) / D_MODEL)
        assert output.dtype == weights.dtype == np.result_type(dtype, x_dtype)
        assert np.isfinite(output).all()


@pytest.mark.parametrize("name", sorted(ARRAYS))
def test_lists_and_integers_become_float64(name):
    function, arguments = valid_calls()[name]
    whole = {a: np.rint(3 * arguments[a]).astype(int) for a in ARRAYS[name]}
    expected = results_of(function(**(arguments | {a: x.astype(float) for a, x in whole.items()})))
    for form in (
        whole,
        {a: x.tolist() for a, x in whole.items()},
        {a: x.astype(np.int16) for a, x in whole.items()},
    ):
        for one, other in zip(results_of(function(**(arguments | form))), expected, strict=True):
            assert one.dtype == np.float64
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("name", "argument"), ARRAY_ARGUMENTS)
def test_one_wider_argument_widens_the_result(name, argument):
    function, arguments = valid_calls()[name]
    given = arguments | {a: arguments[a].astype(np.float32) for a in ARRAYS[name]}
    given[argument] = arguments[argument]
    assert all(result.dtype == np.float64 for result in results_of(function(**given)))


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("mask_dtype", [bool, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("number", [1, np.float64(1), np.float32(1), np.int64(1)])
def test_masks_and_numbers_do_not_change_the_dtype(dtype, mask_dtype, number):
    query, key, value = (normal(3, D_K, dtype=dtype, seed=seed) for seed in range(3))
    mask = np.zeros((3, 3), mask_dtype)
    mask[:, 0] = mask_dtype(True)
    results = ac.scaled_dot_product_attention(query, key, value, mask=mask, scale=number, temperature=number)
    gradients = ac.scaled_dot_product_attention_backward(
        query, query, key, value, mask=mask, scale=number, temperature=number
    )
    assert {x.dtype for x in (*results, *gradients)} == {np.dtype(dtype)}
    assert ac.softmax(query, mask=mask[:, :1], temperature=number).dtype == dtype


def test_numbers_beyond_float64_do_not_warn():
    huge = np.array([[np.longdouble("1e4000") if np.finfo(np.longdouble).max > 1e4000 else np.inf, 0]])
    np.testing.assert_array_equal(ac.softmax(huge), [[1.0, 0.0]])
