"""The ONNX Attention operator's own test cases (tests/data/onnx_attention*.npz)."""

import numpy as np
import pytest

from reference_cases import load_cases, run_onnx_case

CASES = load_cases("onnx_attention") + load_cases("onnx_attention_more")
TOLERANCES = {"float32": 1e-5, "float16": 1e-2}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_onnx_case(case):
    expected = case["arrays"]["Y"]
    output, weights = run_onnx_case(case)
    assert output.dtype == weights.dtype == expected.dtype
    tolerance = TOLERANCES[expected.dtype.name]
    np.testing.assert_allclose(output, expected, rtol=tolerance, atol=tolerance)


def test_no_case_was_lost():
    # 14 were given, 13 more lie within the contract; both halves cover every feature.
    assert [len(load_cases(f"onnx_attention{more}")) for more in ("", "_more")] == [14, 13]
    for feature in (
        lambda case: case["is_causal"] and "attn_mask" in case["arrays"],
        lambda case: case["is_causal"] and case["num_heads"],
        lambda case: case["scale"] is not None and case["num_heads"],
        lambda case: case["arrays"]["Q"].dtype == np.float16,
        lambda case: case["arrays"].get("attn_mask", np.zeros(0)).ndim == 4,
    ):
        assert any(feature(case) for case in CASES)
