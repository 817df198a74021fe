"""Values made once with PyTorch in float64 (tests/data/make_torch_reference.py)."""

import numpy as np
import pytest

import attention_core as ac
from reference_cases import load_cases

CASES = load_cases("torch_reference")
FORWARD = {"rtol": 1e-12, "atol": 1e-12}
BACKWARD = {"rtol": 1e-10, "atol": 1e-10}


def of_kind(kind):
    cases = [case for case in CASES if case["kind"] == kind]
    return pytest.mark.parametrize("case", cases, ids=[case["name"] for case in cases])


def attention_arguments(case):
    arrays = case["arrays"]
    query, key, value = arrays["query"], arrays["key"], arrays["value"]
    causal = ac.causal_mask(query.shape[-2], key.shape[-2]) if case.get("causal") else None
    mask = ac.combine_masks(arrays.get("mask"), causal)
    return (query, key, value), {"mask": mask, "scale": case.get("scale")}


@of_kind("attention")
def test_attention_forward(case):
    inputs, options = attention_arguments(case)
    output, weights = ac.scaled_dot_product_attention(*inputs, **options)
    np.testing.assert_allclose(output, case["arrays"]["output"], **FORWARD)
    np.testing.assert_allclose(weights, case["arrays"]["weights"], **FORWARD)


@pytest.mark.parametrize("weights_given", [False, True], ids=["recomputed", "weights_given"])
@of_kind("attention")
def test_attention_backward(case, weights_given):
    inputs, options = attention_arguments(case)
    if weights_given:
        options["weights"] = ac.scaled_dot_product_attention(*inputs, **options)[1]
    gradients = ac.scaled_dot_product_attention_backward(case["arrays"]["d_output"], *inputs, **options)
    for name, gradient in zip(("d_query", "d_key", "d_value"), gradients, strict=True):
        assert gradient.shape == case["arrays"][name].shape, name
        np.testing.assert_allclose(gradient, case["arrays"][name], **BACKWARD, err_msg=name)


@of_kind("softmax")
def test_softmax_forward(case):
    arrays = case["arrays"]
    weights = ac.softmax(
        arrays["scores"],
        mask=arrays.get("mask"),
        temperature=case["temperature"],
        axis=case["axis"],
    )
    np.testing.assert_allclose(weights, arrays["weights"], **FORWARD)


@of_kind("softmax")
def test_softmax_backward(case):
    arrays = case["arrays"]
    d_scores = ac.softmax_backward(
        arrays["d_weights"],
        arrays["weights"],
        temperature=case["temperature"],
        axis=case["axis"],
    )
    np.testing.assert_allclose(d_scores, arrays["d_scores"], **BACKWARD)


@of_kind("multihead")
def test_multihead(case):
    arrays = case["arrays"]
    parameters = {name: array for name, array in arrays.items() if "proj" in name}
    layer = ac.MultiHeadAttention(
        arrays["query"].shape[-1], case["n_heads"], bias="in_proj_bias" in arrays, **parameters
    )
    masks = []
    if "attn_mask" in arrays:  # PyTorch's module: True may NOT look
        masks.append(~arrays["attn_mask"])
    if "key_padding_mask" in arrays:
        masks.append(~arrays["key_padding_mask"][:, None, :])  # (batch, 1, S)
    output, weights = layer(arrays["query"], arrays.get("key"), arrays.get("value"), mask=ac.combine_masks(*masks))
    np.testing.assert_allclose(output, arrays["output"], **FORWARD)
    np.testing.assert_allclose(weights, arrays["weights"], **FORWARD)
    assert layer.n_parameters == sum(array.size for array in parameters.values())
