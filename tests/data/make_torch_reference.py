"""Write torch_reference.{npz,json} beside this script: values made once with PyTorch.

The project does not depend on PyTorch and no test imports it. Run this by hand,
in an environment that has torch, only when a case is added:

    python tests/data/make_torch_reference.py

Every array is float64. `<case>.<array>` names an array in the npz; the json holds
each case's kind and settings, and the versions and the seed that made the file.
Boolean masks are stored as PyTorch wants them: True may look for
scaled_dot_product_attention, True may NOT look for nn.MultiheadAttention.
"""

import json
import platform
from pathlib import Path

import numpy as np
import torch

SEED = 20170612
DATA = Path(__file__).parent
# Distinct primes: an axis taken for another cannot give the right shape by chance.
BATCH, HEADS, L, S, D_K, D_V = 2, 3, 5, 7, 11, 13


def normal(rng, shape, spread=1.0):
    """Normal numbers with few digits: they compress to a quarter, and nothing is lost."""
    return (spread * rng.normal(size=shape)).astype(np.float16).astype(np.float64)


def attention_cases(rng):
    """Inputs of scaled_dot_product_attention: name -> (settings, arrays)."""

    def draw(query=(BATCH, L, D_K), key=(BATCH, S, D_K), value=(BATCH, S, D_V), **masks):
        arrays = {"query": query, "key": key, "value": value}
        return {name: normal(rng, shape) for name, shape in arrays.items()} | masks

    boolean = rng.random((L, S)) < 0.6
    boolean[np.arange(L), np.arange(L)] = True
    one_row_shut = boolean.copy()
    one_row_shut[3] = False
    additive = normal(rng, (L, S))
    additive_shut = np.where(boolean, additive, -np.inf)
    per_batch = rng.random((BATCH, 1, S)) < 0.5
    per_batch[..., 0] = True
    return {
        "plain": ({}, draw()),
        "no_leading_axes": ({}, draw((L, D_K), (S, D_K), (S, D_V))),
        "mask_boolean": ({}, draw(mask=boolean)),
        "mask_boolean_row_shut": ({}, draw(mask=one_row_shut)),
        "mask_boolean_per_batch": ({"scale": 0.7}, draw(mask=per_batch)),
        "mask_additive": ({}, draw(mask=additive)),
        "mask_additive_minus_inf": ({"scale": 1.25}, draw(mask=additive_shut)),
        "causal_fewer_queries": ({"causal": True}, draw()),
        "causal_more_queries": (
            {"causal": True},
            draw((BATCH, S, D_K), (BATCH, L, D_K), (BATCH, L, D_V)),
        ),
        "scale_small": ({"scale": 0.01}, draw()),
        "scale_zero": ({"scale": 0.0}, draw()),
        "scale_negative": ({"scale": -0.5}, draw()),
        "broadcast_query": ({}, draw((L, D_K))),
        "broadcast_key_value": ({}, draw(key=(S, D_K), value=(1, S, D_V))),
        "broadcast_both": (
            {},
            draw((BATCH, 1, L, D_K), (HEADS, S, D_K), (BATCH, HEADS, S, D_V)),
        ),
    }


def run_attention(settings, arrays, rng):
    """Forward and backward; the weights are read out with the identity as values."""
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    inputs = [tensors[name].requires_grad_() for name in ("query", "key", "value")]
    query, key, value = inputs
    options = {"is_causal": settings.get("causal", False), "scale": settings.get("scale")}
    lead = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])

    def attend(values):
        # Expanded by hand: PyTorch's kernels do not promise to broadcast; the gradient
        # of expand is the sum over the repeated axes that ours must give as well.
        wide = [x.expand(*lead, *x.shape[-2:]) for x in (query, key, values)]
        return torch.nn.functional.scaled_dot_product_attention(
            *wide, attn_mask=tensors.get("mask"), **options
        )

    output = attend(value)
    d_output = torch.from_numpy(normal(rng, output.shape))
    gradients = torch.autograd.grad(output, inputs, d_output)
    weights = attend(torch.eye(key.shape[-2], dtype=torch.float64))
    results = {"output": output, "weights": weights, "d_output": d_output}
    results |= dict(zip(("d_query", "d_key", "d_value"), gradients, strict=True))
    return arrays | {name: tensor.detach().numpy() for name, tensor in results.items()}


def softmax_cases(rng):
    """Scores with a temperature (and a mask), softmax along one axis."""
    shape = (HEADS, L, S)
    mask = rng.random(shape) < 0.6
    mask[..., 2] = True
    return {
        "softmax_plain": ({"temperature": 1.0, "axis": -1}, {"scores": normal(rng, shape)}),
        "softmax_cold": ({"temperature": 0.1, "axis": -1}, {"scores": normal(rng, shape)}),
        "softmax_warm": ({"temperature": 2.5, "axis": -1}, {"scores": normal(rng, shape)}),
        "softmax_axis_0": ({"temperature": 0.5, "axis": 0}, {"scores": normal(rng, shape)}),
        "softmax_axis_1": ({"temperature": 1.0, "axis": 1}, {"scores": normal(rng, shape)}),
        "softmax_masked": (
            {"temperature": 0.7, "axis": -1},
            {"scores": normal(rng, shape), "mask": mask},
        ),
    }


def run_softmax(settings, arrays, rng):
    scores = torch.from_numpy(arrays["scores"]).requires_grad_()
    tempered = scores / settings["temperature"]
    if "mask" in arrays:
        tempered = tempered.masked_fill(~torch.from_numpy(arrays["mask"]), -torch.inf)
    weights = torch.softmax(tempered, dim=settings["axis"])
    d_weights = torch.from_numpy(normal(rng, arrays["scores"].shape))
    (d_scores,) = torch.autograd.grad(weights, scores, d_weights)
    results = {"weights": weights, "d_weights": d_weights, "d_scores": d_scores}
    return arrays | {name: tensor.detach().numpy() for name, tensor in results.items()}


def multihead_cases(rng):
    """nn.MultiheadAttention; masks in its own polarity, True may NOT look."""
    d_model = HEADS * L

    def draw(bias=True, cross=False, **masks):
        arrays = {"query": normal(rng, (BATCH, S, d_model))}
        if cross:
            arrays["key"] = normal(rng, (BATCH, D_K, d_model))
            arrays["value"] = normal(rng, (BATCH, D_K, d_model))
        arrays["in_proj_weight"] = normal(rng, (3 * d_model, d_model), d_model**-0.5)
        arrays["out_proj_weight"] = normal(rng, (d_model, d_model), d_model**-0.5)
        if bias:
            arrays["in_proj_bias"] = normal(rng, 3 * d_model)
            arrays["out_proj_bias"] = normal(rng, d_model)
        return arrays | masks

    shut = rng.random((S, D_K)) < 0.4
    shut[:, 0] = False
    padding = np.arange(D_K) >= np.array([[4], [9]])
    causal = ~np.tri(S, dtype=bool)
    settings = {"n_heads": HEADS}
    return {
        "multihead_self": (settings, draw()),
        "multihead_self_no_bias": (settings, draw(bias=False)),
        "multihead_self_causal": (settings, draw(attn_mask=causal)),
        "multihead_cross": (settings, draw(cross=True)),
        "multihead_cross_no_bias_mask": (settings, draw(bias=False, cross=True, attn_mask=shut)),
        "multihead_cross_padding": (settings, draw(cross=True, key_padding_mask=padding)),
        "multihead_cross_both_masks": (
            settings,
            draw(cross=True, attn_mask=shut, key_padding_mask=padding),
        ),
    }


def run_multihead(settings, arrays, rng):
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    d_model = arrays["out_proj_weight"].shape[0]
    module = torch.nn.MultiheadAttention(
        d_model,
        settings["n_heads"],
        bias="in_proj_bias" in arrays,
        batch_first=True,
        dtype=torch.float64,
    )
    names = {name: name.replace("out_proj_", "out_proj.") for name in tensors if "proj" in name}
    module.load_state_dict({new: tensors[old] for old, new in names.items()})
    query = tensors["query"]
    output, weights = module(
        query,
        tensors.get("key", query),
        tensors.get("value", query),
        key_padding_mask=tensors.get("key_padding_mask"),
        attn_mask=tensors.get("attn_mask"),
        average_attn_weights=False,
    )
    results = {"output": output, "weights": weights}
    return arrays | {name: tensor.detach().numpy() for name, tensor in results.items()}


KINDS = {
    "attention": (attention_cases, run_attention),
    "softmax": (softmax_cases, run_softmax),
    "multihead": (multihead_cases, run_multihead),
}


def main():
    rng = np.random.default_rng(SEED)
    arrays, cases = {}, []
    for kind, (make_cases, run) in KINDS.items():
        for name, (settings, inputs) in make_cases(rng).items():
            results = run(settings, inputs, rng)
            arrays |= {f"{name}.{part}": array for part, array in results.items()}
            cases.append({"name": name, "kind": kind, **settings})
    versions = {
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    np.savez_compressed(DATA / "torch_reference.npz", **arrays)
    text = json.dumps({"seed": SEED, "versions": versions, "cases": cases}, indent=1)
    (DATA / "torch_reference.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
