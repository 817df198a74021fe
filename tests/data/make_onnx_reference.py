"""Write onnx_attention_more.{npz,json}: the Attention operator's other test cases.

onnx_attention.{npz,json} came with the task; these are all further cases of the onnx
package (Apache-2.0) that use nothing but Q, K, V, a mask, causal, scale and heads, in
the same format. The project does not depend on onnx; run this by hand:

    python tests/data/make_onnx_reference.py
"""

import json
from pathlib import Path

import numpy as np
import onnx
from onnx.backend.test.case.node import collect_testcases

DATA = Path(__file__).parent
ATTRIBUTES = {"scale", "is_causal", "q_num_heads", "kv_num_heads"}


def plain_cases():
    """Yield name, attributes and arrays of the cases within attention_core's contract."""
    for case in collect_testcases("Attention"):
        (*_, node) = case.model.graph.node
        if node.op_type != "Attention":
            continue
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        inputs = dict(
            zip((i.name for i in case.model.graph.input), case.data_sets[0][0], strict=True)
        )
        outputs = dict(
            zip((o.name for o in case.model.graph.output), case.data_sets[0][1], strict=True)
        )
        grouped = attributes.get("q_num_heads") != attributes.get("kv_num_heads")
        if inputs["Q"].ndim == 4:
            grouped = inputs["Q"].shape[1] != inputs["K"].shape[1]
        known = set(attributes) <= ATTRIBUTES and set(inputs) <= {"Q", "K", "V", "attn_mask"}
        if known and not grouped and list(outputs) == ["Y"] and inputs["Q"].dtype.kind == "f":
            yield case.name.replace("test_attention", "onnx"), attributes, inputs | outputs


def main():
    given = json.loads((DATA / "onnx_attention.json").read_text(encoding="utf-8"))
    known = {case["name"] for case in given}
    cases, arrays = [], {}
    for name, attributes, parts in plain_cases():
        if name in known:
            continue
        arrays |= {f"{name}.{part}": array for part, array in parts.items()}
        cases.append(
            {
                "name": name,
                "is_causal": bool(attributes.get("is_causal", 0)),
                "scale": attributes.get("scale"),
                "num_heads": attributes.get("q_num_heads"),
                "onnx_version": onnx.__version__,
            }
        )
    np.savez_compressed(DATA / "onnx_attention_more.npz", **arrays)
    text = json.dumps(cases, indent=1) + "\n"
    (DATA / "onnx_attention_more.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
