"""Wrong input to every public function: a Chinese ValueError that helps.

Each error names the argument first, then what was expected (应为), what came (收到的是),
and how to mend it. Rows of the tables: function, argument, wrong value, and a piece of
text that must say what came.
"""

import re

import numpy as np
import pytest

import attention_core as ac
from attention_core import _arrays
from core_calls import (
    ARRAYS,
    BATCH,
    D_K,
    D_MODEL,
    D_V,
    HEADS,
    L,
    S,
    drawn_layer,
    normal,
    valid_calls,
)

NAN, INF = np.nan, np.inf


def assert_helps(error, argument, got=""):
    """The message names the argument, 应为 ..., 收到的是 ..., and a mend in Chinese."""
    message = str(error.value)
    parts = re.fullmatch(r"(.+?) 应为(.+?)，收到的是(.+?)。(.*[\u4e00-\u9fff].*)", message, re.S)
    assert parts, message
    name, expected, came, mend = parts.groups()
    assert re.search(rf"(^|[^\w]){re.escape(argument)}([^\w]|$)", name), message
    assert re.search(r"[\u4e00-\u9fff]", expected), message
    assert got in came, message
    assert len(mend) >= 5, message


def call(name, **changed):
    function, arguments = valid_calls()[name]
    return function(**(arguments | changed))


def check(name, argument, wrong, got=""):
    with pytest.raises(ValueError, match="应为") as error:
        call(name, **{argument: wrong})
    assert_helps(error, argument, got)


# ---- arrays of numbers: every array argument of every function -------------------------

NOT_NUMBERS = {
    "words": (["猫", "狗"], "U"),
    "bytes": (np.array([[b"a"]]), "S"),
    "complex": (np.ones((2, 2), complex), "complex128"),
    "objects": (np.array([[1, None]]), "object"),
    "none": (None, ""),
    "ragged": ([[1, 2], [3]], "长短不齐"),
    "dates": (np.array([["2017-06-12"]], "datetime64[D]"), "datetime64"),
    "a dictionary": ({"猫": 1}, "object"),
}
ARRAY_ARGUMENTS = [(name, argument) for name, arguments in ARRAYS.items() for argument in arguments]


@pytest.mark.parametrize("wrong", NOT_NUMBERS)
@pytest.mark.parametrize(("name", "argument"), ARRAY_ARGUMENTS)
def test_not_an_array_of_numbers(name, argument, wrong):
    value, got = NOT_NUMBERS[wrong]
    if value is None and name == "multihead_call" and argument != "query":
        value, got = 3 + 4j, "complex"  # None is allowed there: the default
    check(name, argument, value, got)


TOO_FEW_AXES = [
    (name, argument)
    for name, argument in ARRAY_ARGUMENTS
    if name not in ("softmax", "softmax_backward", "softmax_jacobian") and (name, argument) != ("soft_lookup", "query")
]


@pytest.mark.parametrize(("name", "argument"), TOO_FEW_AXES)
@pytest.mark.parametrize("ndim", [0, 1])
def test_too_few_axes(name, argument, ndim):
    wrong = np.float64(3) if ndim == 0 else np.ones(D_K)
    check(name, argument, wrong, "()" if ndim == 0 else f"({D_K},)")


# ---- shapes that do not fit -----------------------------------------------------------

SHAPES = [
    ("score", "key", (BATCH, S, D_K + 1), D_K + 1),
    ("score", "key", (3, S, D_K), 3),
    ("softmax", "mask", (L, S + 1), S + 1),
    ("softmax", "mask", (3, L, S), 3),
    ("weighted_sum", "value", (BATCH, S + 1, D_V), S + 1),
    ("weighted_sum", "value", (3, S, D_V), 3),
    ("scaled_dot_product_attention", "key", (BATCH, S, D_K - 1), D_K - 1),
    ("scaled_dot_product_attention", "key", (5, S, D_K), 5),
    ("scaled_dot_product_attention", "value", (BATCH, L, D_V), L),
    ("scaled_dot_product_attention", "value", (3, S, D_V), 3),
    ("scaled_dot_product_attention", "mask", (S, L), S),
    ("scaled_dot_product_attention", "mask", (L,), L),
    ("score_backward", "d_scores", (BATCH, L, S + 1), S + 1),
    ("score_backward", "d_scores", (S,), S),
    ("score_backward", "d_scores", (3, L, S), 3),
    ("score_backward", "key", (BATCH, S, D_K + 1), D_K + 1),
    ("softmax_backward", "d_weights", (BATCH, L, S + 1), S + 1),
    ("softmax_backward", "d_weights", (L, S), L),
    ("weighted_sum_backward", "d_output", (BATCH, L, D_V + 1), D_V + 1),
    ("weighted_sum_backward", "d_output", (3, L, D_V), 3),
    ("weighted_sum_backward", "value", (BATCH, S + 1, D_V), S + 1),
    ("scaled_dot_product_attention_backward", "d_output", (BATCH, L, D_V + 2), D_V + 2),
    ("scaled_dot_product_attention_backward", "d_output", (BATCH, L + 1, D_V), L + 1),
    ("scaled_dot_product_attention_backward", "d_output", (3, L, D_V), 3),
    ("scaled_dot_product_attention_backward", "d_output", (L, D_V), L),
    ("scaled_dot_product_attention_backward", "key", (BATCH, S, D_K - 1), D_K - 1),
    ("scaled_dot_product_attention_backward", "value", (BATCH, L, D_V), L),
    ("scaled_dot_product_attention_backward", "mask", (S, L), S),
    ("scaled_dot_product_attention_backward", "weights", (BATCH, L, S + 1), S + 1),
    ("scaled_dot_product_attention_backward", "weights", (BATCH, S, L), L),
    ("scaled_dot_product_attention_backward", "weights", (3, L, S), 3),
    ("scaled_dot_product_attention_backward", "weights", (S,), S),
    ("merge_heads", "x", (L, D_K), L),
    ("multihead_call", "query", (BATCH, L, D_MODEL + 1), D_MODEL + 1),
    ("multihead_call", "key", (BATCH, S, D_MODEL - 1), D_MODEL - 1),
    ("multihead_call", "value", (BATCH, S + 1, D_MODEL), S + 1),
    ("multihead_call", "value", (BATCH, S, D_MODEL + 1), D_MODEL + 1),
    ("multihead_call", "key", (3, S, D_MODEL), 3),
    ("multihead_call", "mask", (S, L), S),
    ("multihead_call", "mask", (BATCH, L, S + 1), S + 1),
    ("MultiHeadAttention", "in_proj_weight", (D_MODEL, 3 * D_MODEL), D_MODEL),
    ("MultiHeadAttention", "in_proj_bias", (3 * D_MODEL + 1,), 3 * D_MODEL + 1),
    ("MultiHeadAttention", "out_proj_weight", (D_MODEL,), D_MODEL),
    ("MultiHeadAttention", "out_proj_bias", (1, D_MODEL), D_MODEL),
    ("soft_lookup", "query", (D_K + 1,), D_K + 1),
    ("soft_lookup", "query", (1, D_K), D_K),
    ("soft_lookup", "keys", (S, D_K + 1), D_K + 1),
    ("soft_lookup", "keys", (2, S, D_K), 2),
    ("soft_lookup", "values", (S + 1, D_V), S + 1),
    ("soft_lookup", "values", (2, S, D_V), 2),
    ("cosine_similarity", "key", (BATCH, S, D_K + 1), D_K + 1),
    ("cosine_similarity", "key", (3, S, D_K), 3),
]


@pytest.mark.parametrize(("name", "argument", "shape", "got"), SHAPES)
def test_shapes_that_do_not_fit(name, argument, shape, got):
    wrong = np.ones(shape, bool) if argument == "mask" else np.ones(shape)
    if (name, argument) == ("soft_lookup", "query") and len(shape) == 1:
        argument, got = "keys", D_K  # the keys are what does not fit the query
        with pytest.raises(ValueError, match="应为") as error:
            call(name, query=wrong)
        assert_helps(error, argument, str(got))
        return
    check(name, argument, wrong, str(got))


def test_softmax_needs_an_axis():
    check("softmax", "scores", 3.0)
    check("softmax_jacobian", "weights", 3.0)
    with pytest.raises(ValueError, match="应为") as error:
        ac.softmax_backward(1.0, 1.0)
    assert_helps(error, "weights")


# ---- masks ------------------------------------------------------------------------------

MASKED = [
    "softmax",
    "scaled_dot_product_attention",
    "scaled_dot_product_attention_backward",
    "multihead_call",
]


@pytest.mark.parametrize("name", MASKED)
@pytest.mark.parametrize(
    ("mask", "got"),
    [
        (np.ones((L, S), int), "int64"),
        (np.ones((L, S), np.uint8), "uint8"),
        ([[1] * S] * L, "int64"),
        (np.ones((L, S), complex), "complex128"),
        (np.full((L, S), "x"), "U1"),
        (np.full((L, S), None), "object"),
        ("causal", "U6"),
    ],
)
def test_a_mask_that_is_neither_boolean_nor_float(name, mask, got):
    check(name, "mask", mask, got)


@pytest.mark.parametrize("name", MASKED)
@pytest.mark.parametrize("mask", [True, False, np.True_, np.array(True), 0.0, -INF], ids=repr)
def test_a_switch_instead_of_a_mask(name, mask):
    # mask=True does not mean "mask on"; broadcast over the table it would mask nothing.
    check(name, "mask", mask, f"单独一个 {mask}")


# ---- flags ------------------------------------------------------------------------------

FLAGS = [("softmax", "overwrite_scores"), ("softmax_backward", "overwrite_d_weights"), ("tiled_attention", "causal"),
         ("MultiHeadAttention", "bias")]


@pytest.mark.parametrize("wrong", ["no", "", 0, 1, None, 1.0, [], np.ones(2, bool)], ids=repr)
@pytest.mark.parametrize(("name", "argument"), FLAGS)
def test_a_flag_is_true_or_false(name, argument, wrong):
    check(name, argument, wrong, repr(wrong))


@pytest.mark.parametrize("wrong", ["no", 1, None])
def test_a_flag_of_the_recurrent_network(wrong):
    with pytest.raises(ValueError, match="应为") as error:
        ac.TanhRNN(2, 3, orthogonal=wrong, rng=np.random.default_rng(0))
    assert_helps(error, "orthogonal", repr(wrong))


@pytest.mark.parametrize("flag", [True, False])
def test_numpys_own_booleans_are_flags(flag):
    query, key, value = normal(L, D_K), normal(S, D_K), normal(S, D_V)
    output = ac.tiled_attention(query, key, value, causal=np.bool_(flag))
    np.testing.assert_array_equal(output, ac.tiled_attention(query, key, value, causal=flag))


@pytest.mark.parametrize("name", MASKED)
def test_a_mask_of_0_and_1_is_refused_with_both_ways_named(name):
    with pytest.raises(ValueError, match="mask") as error:
        call(name, mask=np.tri(L, S, dtype=int))
    for both_ways in ("布尔", "True", "浮点", "-inf", "astype(bool)"):
        assert both_ways in str(error.value)


@pytest.mark.parametrize("name", MASKED)
@pytest.mark.parametrize("bad", [NAN, INF])
def test_an_additive_mask_with_nan_or_plus_infinity(name, bad):
    mask = np.zeros((L, S))
    mask[1, 2] = bad
    check(name, "mask", mask, "NaN" if np.isnan(bad) else "inf")


@pytest.mark.parametrize("name", MASKED)
def test_a_ragged_mask(name):
    check(name, "mask", [[True], [True, False]], "长短不齐")


@pytest.mark.parametrize(
    ("wrong", "got"),
    [
        (np.ones((L, S), int), "int64"),
        ([[0, 1]], "int64"),
        (np.ones((L, S), complex), "complex128"),
        ("causal", "U6"),
        ([[True], [True, False]], "长短不齐"),
        (np.ones((L, S + 1), bool), str(S + 1)),
        (np.full((L, S), NAN), "NaN"),
        (np.full((L, S), INF), "inf"),
    ],
)
def test_combine_masks(wrong, got):
    good = np.ones((L, S), bool)
    with pytest.raises(ValueError, match="应为") as error:
        ac.combine_masks(good, wrong)
    assert_helps(error, "masks", got)
    assert "2" in str(error.value).split("应为")[0]  # says which of them


# ---- numbers ----------------------------------------------------------------------------

TEMPERED = [*MASKED, "softmax_backward", "softmax_jacobian", "soft_lookup"]
SCALED = [
    "score",
    "score_backward",
    "scaled_dot_product_attention",
    "scaled_dot_product_attention_backward",
    "soft_lookup",
]
NOT_A_NUMBER = ["1", "热", b"1", 1j, [1.0], [1.0, 2.0], np.ones(1), np.ones((2, 2)), {}]


@pytest.mark.parametrize("wrong", [-1, -1e-300, -INF, NAN, None, *NOT_A_NUMBER], ids=repr)
@pytest.mark.parametrize("name", TEMPERED)
def test_temperature(name, wrong):
    check(name, "temperature", wrong)


@pytest.mark.parametrize("wrong", [NAN, INF, -INF, 10**400, *NOT_A_NUMBER], ids=repr)
@pytest.mark.parametrize("name", SCALED)
def test_scale(name, wrong):
    check(name, "scale", wrong)


@pytest.mark.parametrize("wrong", [3, -4, 1.0, "最后", None, True, (0,)], ids=repr)
@pytest.mark.parametrize("name", ["softmax", "softmax_backward"])
def test_axis(name, wrong):
    check(name, "axis", wrong, repr(wrong))


COUNTS = [
    ("causal_mask", "n_queries"),
    ("causal_mask", "n_keys"),
    ("padding_mask", "n_keys"),
    ("split_heads", "n_heads"),
    ("MultiHeadAttention", "n_heads"),
    ("MultiHeadAttention", "d_model"),
]


@pytest.mark.parametrize("wrong", [-1, 2.0, 2.5, NAN, INF, "2", True, np.True_, [2], np.array([2]), 1j], ids=repr)
@pytest.mark.parametrize(("name", "argument"), COUNTS)
def test_counts(name, argument, wrong):
    check(name, argument, wrong, repr(wrong))


@pytest.mark.parametrize(("name", "argument"), [c for c in COUNTS if c != ("causal_mask", "n_keys")])
def test_counts_are_not_optional(name, argument):
    check(name, argument, None, "None")


@pytest.mark.parametrize(("name", "argument"), [c for c in COUNTS if c[0] in ("split_heads", "MultiHeadAttention")])
def test_no_heads_and_no_width(name, argument):
    check(name, argument, 0, "0")


@pytest.mark.parametrize("name", ["split_heads", "MultiHeadAttention"])
@pytest.mark.parametrize("n_heads", [2, 7, D_MODEL + 1])
def test_heads_that_do_not_divide(name, n_heads):
    check(name, "n_heads", n_heads, str(n_heads))


@pytest.mark.parametrize(
    ("lengths", "got"),
    [
        ([-1, 2], "-1"),
        ([2, S + 1], str(S + 1)),
        (S + 1, str(S + 1)),
        (-3, "-3"),
        ([1.0, 2.0], "float64"),
        (2.5, "float64"),
        ([True, False], "bool"),
        (True, "bool"),
        (["2"], "U1"),
        (None, "object"),
        ([[1], [2, 3]], "长短不齐"),
    ],
)
def test_lengths(lengths, got):
    check("padding_mask", "lengths", lengths, got)


# ---- MultiHeadAttention and the lookups ---------------------------------------------------


def test_a_layer_without_weights_needs_a_generator():
    for rng in (None, 0, np.random.RandomState(0), "default"):
        with pytest.raises(ValueError, match="default_rng") as error:
            ac.MultiHeadAttention(D_MODEL, HEADS, rng=rng)
        assert_helps(error, "rng", repr(rng)[:6])


@pytest.mark.parametrize("missing", ["in_proj_weight", "out_proj_weight"])
def test_a_layer_with_half_its_weights(missing):
    with pytest.raises(ValueError, match="应为") as error:
        call("MultiHeadAttention", **{missing: None})
    assert_helps(error, missing, "None")


@pytest.mark.parametrize("argument", ["in_proj_weight", "in_proj_bias", "out_proj_weight", "out_proj_bias"])
@pytest.mark.parametrize("wrong", ["words", "complex", "objects", "ragged"])
def test_a_layers_weights_that_are_not_numbers(argument, wrong):
    check("MultiHeadAttention", argument, *NOT_NUMBERS[wrong])


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.int64])
def test_numpy_integers_count_like_pythons(kind):
    # 3 x 96 does not fit into eight bits.
    layer = ac.MultiHeadAttention(kind(96), kind(2), rng=np.random.default_rng(0))
    assert layer.n_parameters == 4 * 96 * 96 + 4 * 96
    assert layer(normal(3, 96))[0].shape == (3, 96)


@pytest.mark.parametrize("changes", [{"value": normal(S + 1, D_V)}, {"mask": np.ones((S, L), bool)},
                                     {"value": normal(3, S, D_V), "query": normal(2, L, D_K), "mask": None},
                                     {"value": normal(3, S, D_V), "mask": np.ones((2, L, S), bool)}])
def test_everything_is_checked_before_the_table_is_computed(changes, monkeypatch):
    monkeypatch.setattr("attention_core.attention.unchecked_score", None)   # calling it would be another error
    arguments = {"query": normal(L, D_K), "key": normal(S, D_K), "value": normal(S, D_V)} | changes
    with pytest.raises(ValueError, match="应为") as error:
        ac.scaled_dot_product_attention(**arguments)
    assert_helps(error, "mask" if changes.get("mask") is not None else "value")


@pytest.mark.parametrize(("changes", "argument"), [
    ({"value": normal(2, S, D_V), "mask": np.ones((3, L, S), bool)}, "mask"),
    ({"value": normal(S + 1, D_V)}, "value"),
    ({"d_output": normal(L, D_V + 1)}, "d_output"),
    ({"d_output": normal(L + 1, D_V)}, "d_output"),
])
def test_the_backward_pass_names_what_was_given(changes, argument, monkeypatch):
    monkeypatch.setattr("attention_core.gradients.score", None)   # before the table is computed
    arguments = {"d_output": normal(L, D_V), "query": normal(L, D_K), "key": normal(S, D_K), "value": normal(S, D_V)}
    with pytest.raises(ValueError, match="应为") as error:
        ac.scaled_dot_product_attention_backward(**arguments | changes)
    assert_helps(error, argument)


@pytest.mark.parametrize(("changes", "argument", "got"), [
    ({"value": normal(S + 1, D_MODEL)}, "value", f"({S + 1}, {D_MODEL})"),
    ({"query": normal(2, L, D_MODEL), "key": normal(3, S, D_MODEL)}, "key", "(3,)"),
])
def test_a_layer_speaks_of_shapes_before_the_heads(changes, argument, got):
    arguments = {"query": normal(L, D_MODEL), "key": normal(S, D_MODEL)} | changes
    with pytest.raises(ValueError, match="应为") as error:
        drawn_layer()(**arguments)
    assert_helps(error, argument, got)


@pytest.mark.parametrize("text", ["numpy", "3 个", "-1", "(2,)"])
def test_a_space_between_chinese_and_the_rest(text):
    for given in (text, f" {text}"):
        with pytest.raises(ValueError, match=f"应为 {re.escape(text)}，收到的是 {re.escape(text)}。"):
            _arrays.fail("x", given, given, "")
    with pytest.raises(ValueError, match="应为数组，收到的是形状"):
        _arrays.fail("x", "数组", "形状", "")


def test_value_without_key():
    layer, x = drawn_layer(), normal(L, D_MODEL)
    with pytest.raises(ValueError, match="value"):
        layer(x, value=normal(S, D_MODEL))


@pytest.mark.parametrize(
    ("keys", "values", "argument"),
    [(["a", "b"], [1], "values"), ([], [1], "values"), (3, [1], "keys"), (["a"], None, "values"),
     # A set has no order, a dictionary is looked up by its own keys.
     ({"a", "b"}, [1, 2], "keys"), ({"a": 1}, [1], "keys"), (["a"], {1}, "values"), (["a"], {"a": 1}, "values")],
)
def test_exact_lookup(keys, values, argument):
    with pytest.raises(ValueError, match="应为") as error:
        ac.exact_lookup("a", keys, values)
    assert_helps(error, argument)
