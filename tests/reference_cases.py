"""Read the stored reference cases of tests/data and run the ONNX ones."""

import json
from pathlib import Path

import numpy as np

import attention_core as ac

DATA = Path(__file__).parent / "data"


def load_cases(stem):
    """Return the cases of `<stem>.json`, each with its arrays out of `<stem>.npz`."""
    cases = json.loads((DATA / f"{stem}.json").read_text(encoding="utf-8"))
    cases = cases if isinstance(cases, list) else cases["cases"]
    with np.load(DATA / f"{stem}.npz") as stored:
        for case in cases:
            prefix = case["name"] + "."
            names = [name for name in stored.files if name.startswith(prefix)]
            case["arrays"] = {name.removeprefix(prefix): stored[name] for name in names}
    return cases


def onnx_inputs(case):
    """Return query, key, value and mask as attention_core takes them."""
    arrays = case["arrays"]
    query, key, value = arrays["Q"], arrays["K"], arrays["V"]
    if case["num_heads"] is not None:
        query, key, value = (ac.split_heads(x, case["num_heads"]) for x in (query, key, value))
    causal = ac.causal_mask(query.shape[-2], key.shape[-2]) if case["is_causal"] else None
    return query, key, value, ac.combine_masks(arrays.get("attn_mask"), causal)


def run_onnx_case(case):
    """Return our output in the layout of the case's Y, and the weights."""
    query, key, value, mask = onnx_inputs(case)
    output, weights = ac.scaled_dot_product_attention(query, key, value, mask=mask, scale=case["scale"])
    return output if case["num_heads"] is None else ac.merge_heads(output), weights
