"""One valid call of every public function of the numeric core.

Tests that must hold for all of them (inputs left alone, dtypes, wrong input, no
warnings) go through this table; a new function gets one entry and all those tests.
Every axis is a different prime, so that no axis can be taken for another unnoticed.
"""

import numpy as np

import attention_core as ac

BATCH, HEADS, L, S, D_K, D_V = 2, 3, 5, 7, 11, 13
D_MODEL = HEADS * D_K


def normal(*shape, seed=0, dtype=np.float64):
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(dtype)


def drawn_layer():
    return ac.MultiHeadAttention(D_MODEL, HEADS, rng=np.random.default_rng(0))


def _weights():
    weights = np.abs(normal(BATCH, L, S))
    return weights / weights.sum(axis=-1, keepdims=True)


def valid_calls():
    """Return name -> (function, keyword arguments), with fresh arrays at every call."""
    query, key, value = normal(BATCH, L, D_K), normal(BATCH, S, D_K), normal(BATCH, S, D_V)
    mask = np.tri(L, S, dtype=bool)
    additive = np.where(mask, 0.5, -np.inf)
    sequence = normal(BATCH, L, D_MODEL)
    other = normal(BATCH, S, D_MODEL)
    parameters = {
        "in_proj_weight": normal(3 * D_MODEL, D_MODEL),
        "in_proj_bias": normal(3 * D_MODEL),
        "out_proj_weight": normal(D_MODEL, D_MODEL),
        "out_proj_bias": normal(D_MODEL),
    }
    return {
        "score": (ac.score, {"query": query, "key": key, "scale": 0.5}),
        "softmax": (
            ac.softmax,
            {"scores": normal(BATCH, L, S), "mask": mask, "temperature": 2.0, "axis": -1},
        ),
        "weighted_sum": (ac.weighted_sum, {"weights": _weights(), "value": value}),
        "scaled_dot_product_attention": (
            ac.scaled_dot_product_attention,
            {
                "query": query,
                "key": key,
                "value": value,
                "mask": additive,
                "scale": 0.5,
                "temperature": 2.0,
            },
        ),
        "score_backward": (
            ac.score_backward,
            {"d_scores": normal(BATCH, L, S), "query": query, "key": key, "scale": 0.5},
        ),
        "softmax_backward": (
            ac.softmax_backward,
            {
                "d_weights": normal(BATCH, L, S),
                "weights": _weights(),
                "temperature": 2.0,
                "axis": -1,
            },
        ),
        "weighted_sum_backward": (
            ac.weighted_sum_backward,
            {"d_output": normal(BATCH, L, D_V), "weights": _weights(), "value": value},
        ),
        "softmax_jacobian": (ac.softmax_jacobian, {"weights": _weights(), "temperature": 2.0}),
        "scaled_dot_product_attention_backward": (
            ac.scaled_dot_product_attention_backward,
            {
                "d_output": normal(BATCH, L, D_V),
                "query": query,
                "key": key,
                "value": value,
                "mask": mask,
                "scale": 0.5,
                "temperature": 2.0,
            },
        ),
        "causal_mask": (ac.causal_mask, {"n_queries": L, "n_keys": S}),
        "padding_mask": (ac.padding_mask, {"lengths": np.array([2, 7]), "n_keys": S}),
        "split_heads": (ac.split_heads, {"x": sequence, "n_heads": HEADS}),
        "merge_heads": (ac.merge_heads, {"x": normal(BATCH, HEADS, L, D_K)}),
        "MultiHeadAttention": (
            ac.MultiHeadAttention,
            {"d_model": D_MODEL, "n_heads": HEADS, **parameters},
        ),
        "multihead_call": (
            drawn_layer(),
            {"query": sequence, "key": other, "value": other + 1, "mask": mask, "temperature": 2.0},
        ),
        "soft_lookup": (
            ac.soft_lookup,
            {
                "query": normal(D_K),
                "keys": normal(S, D_K),
                "values": normal(S, D_V),
                "temperature": 2.0,
                "scale": 0.5,
            },
        ),
        "cosine_similarity": (ac.cosine_similarity, {"query": query, "key": key}),
        "tiled_attention": (
            ac.tiled_attention,
            {
                "query": query,
                "key": key,
                "value": value,
                "causal": True,
                "scale": 0.5,
                "temperature": 2.0,
                "query_block": 2,
                "key_block": 3,
            },
        ),
        "note_shares": (ac.note_shares, {"n_words": L, "kept": 0.8}),
        "rnn_call": (ac.TanhRNN(D_K, D_V, rng=np.random.default_rng(0)), {"x": query}),
    }


# Every argument of these calls that is an array of numbers (masks and lengths stand apart).
ARRAYS = {
    "score": ["query", "key"],
    "softmax": ["scores"],
    "weighted_sum": ["weights", "value"],
    "scaled_dot_product_attention": ["query", "key", "value"],
    "score_backward": ["d_scores", "query", "key"],
    "softmax_backward": ["d_weights", "weights"],
    "weighted_sum_backward": ["d_output", "weights", "value"],
    "softmax_jacobian": ["weights"],
    "scaled_dot_product_attention_backward": ["d_output", "query", "key", "value"],
    "split_heads": ["x"],
    "merge_heads": ["x"],
    "multihead_call": ["query", "key", "value"],
    "soft_lookup": ["query", "keys", "values"],
    "cosine_similarity": ["query", "key"],
    "tiled_attention": ["query", "key", "value"],
    "rnn_call": ["x"],
}


def results_of(result):
    """The arrays that a call returned, as a tuple."""
    return result if isinstance(result, tuple) else (result,)
