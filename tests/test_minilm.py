"""The real model: the numpy encoder against PyTorch, the stored data against a fresh extraction, the roles."""

import hashlib
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import make_minilm_data
from attention_core import minilm, scaled_dot_product_attention, softmax
from attention_core.encoder import Encoder, gelu, layer_norm, random_tensors
from attention_core.minilm import (
    count_flips,
    count_roles,
    entropy,
    head_name,
    load,
    name_roles,
    role_shares,
)
from test_learning import assert_refused

# Made once with PyTorch and transformers by tests/data/make_minilm_reference.py
REFERENCE = np.load(Path(__file__).parent / "data" / "minilm_reference.npz")

# In CI the extra is required: there a missing package is an error, not a reason to leave the test out.
needs_model = pytest.mark.skipif(not make_minilm_data.is_installed() and os.environ.get("CI") != "true",
                                 reason="the extra `minilm` is not installed (CI installs it)")


# The encoder

def test_encoder_agrees_with_transformers_on_a_small_bert():
    tensors = {name.removeprefix("small."): REFERENCE[name] for name in REFERENCE.files if name.startswith("small.")}
    hidden, weights = Encoder(tensors, 3)(REFERENCE["small_token_ids"])
    np.testing.assert_allclose(np.stack(hidden), REFERENCE["small_hidden"], atol=1e-12)
    np.testing.assert_allclose(np.stack(weights), REFERENCE["small_attentions"], atol=1e-12)


def test_gelu_is_x_times_the_normal_distribution():
    # Phi(1) = 0.8413447460685429, Phi(2) = 0.9772498680518208 (tables of the normal distribution)
    x = np.array([0.0, 1.0, -1.0, 2.0, 40.0, -40.0])
    expected = [0, 0.8413447460685429, 0.8413447460685429 - 1, 2 * 0.9772498680518208, 40, 0]
    np.testing.assert_allclose(gelu(x), expected, atol=1e-15)
    assert gelu(x.astype(np.float32)).dtype == np.float32


def test_layer_norm_centres_and_scales_each_vector():
    # (1, 2, 6) has mean 3 and variance 14/3
    expected = np.array([-2, -1, 3]) / np.sqrt(14 / 3) * [2, 3, 5] + [7, 11, 13]
    np.testing.assert_allclose(layer_norm([[1, 2, 6], [10, 20, 60]], [2, 3, 5], [7, 11, 13]), [expected] * 2)
    assert np.all(layer_norm([4.0, 4.0], [1, 1], [0, 0]) == 0)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, int])
@pytest.mark.parametrize("function", [
    gelu,
    lambda x: layer_norm(x, [1, 1, 1], [0, 0, 0]),
    lambda x: layer_norm(x, np.ones(3), np.zeros(3, np.float16)),
    entropy,
])
def test_the_type_is_that_of_the_input(function, dtype):
    x = np.array([[0, 1, 0], [1, 0, 0]], dtype)
    result = function(x)
    assert result.dtype == (np.float64 if dtype is int else dtype)
    np.testing.assert_allclose(result, function(x.astype(float)), atol=2e-3)


def test_gelu_of_one_number():
    np.testing.assert_allclose([gelu(1.0), gelu(np.float32(-1)), gelu(0)], [0.841344746, -0.158655254, 0], atol=1e-8)


def small_tensors(**changed):
    return random_tensors(np.random.default_rng(0), n_words=7, n_places=5, n_layers=2, d_model=4) | changed


@pytest.mark.parametrize("name", small_tensors())
def test_a_parameter_that_is_missing_or_of_another_shape_is_named_at_once(name):
    tensors = small_tensors()
    array = tensors.pop(name)
    with pytest.raises(ValueError, match=f"^tensors 应为含有 {name} "):
        Encoder(tensors, 2)
    for wrong in (array[..., :-1], array[:0], array[None], array.sum(), array.astype(str)):
        with pytest.raises(ValueError, match=r"^(embeddings|encoder)\.[\w.]+ 应为.+，收到的是.+。.+。$"):
            Encoder(tensors | {name: wrong}, 2)


@pytest.mark.parametrize("wrong", [[0, 1], [[0, 7]], [[-1, 0]], [[0] * 6], [[0.0]], [[True]], [["猫"]], [[0], [0, 1]],
                                   None, 3], ids=repr)
def test_ids_that_the_encoder_does_not_have_are_refused(wrong):
    assert_refused("token_ids", Encoder(small_tensors(), 2), wrong)


@pytest.mark.parametrize("token_ids", [np.array([[6, 0, 1]], np.uint8), np.zeros((2, 5), int), np.zeros((0, 3), int),
                                       np.zeros((2, 0), int)])
def test_ids_that_it_has_are_read(token_ids):
    hidden, weights = Encoder(small_tensors(), 2)(token_ids)
    assert hidden[-1].shape == (*token_ids.shape, 4)
    assert weights[-1].shape == (len(token_ids), 2, token_ids.shape[1], token_ids.shape[1])


def drawn(rng=None, **sizes):
    rng = np.random.default_rng(0) if rng is None else rng
    return random_tensors(rng, **{"n_words": 3, "n_places": 3, "n_layers": 1, "d_model": 4} | sizes)


TABLES = np.ones((2, 1, 1, 16, 16))


@pytest.mark.parametrize(("named", "call"), [
    ("tensors", lambda: Encoder({"weight": np.ones(3)}, 1)),
    ("tensors", lambda: Encoder(None, 1)),
    ("tensors", lambda: Encoder({**drawn(), "encoder.layer.5.output.dense.bias": np.zeros(4)}, 1)),
    ("n_heads", lambda: Encoder(drawn(), 3)),
    ("n_heads", lambda: Encoder(drawn(), 0)),
    *(("rng", lambda wrong=wrong: drawn(wrong)) for wrong in (0, "0", np.random.RandomState(0))),
    *((name, lambda name=name, wrong=wrong: drawn(**{name: wrong})) for wrong in (0, -1, 1.5, None, "3")
      for name in ("n_words", "n_places", "n_layers", "d_model")),
    *(("std", lambda wrong=wrong: drawn(std=wrong)) for wrong in (-1, np.nan, np.inf, "x")),
    *(("x", lambda wrong=wrong: gelu(wrong)) for wrong in ("x", None, [[1], [1, 2]])),
    *(("x", lambda wrong=wrong: layer_norm(wrong, [1], [0])) for wrong in (1.0, "x", None, [], np.zeros((2, 0)))),
    *(("gain", lambda wrong=wrong: layer_norm([1, 2], wrong, [0, 0])) for wrong in (1, [1], [1, 1, 1], [[1, 1]], None)),
    *(("shift", lambda wrong=wrong: layer_norm([1, 2], [1, 1], wrong)) for wrong in (0, [0], [0, 0, 0], ["a", "b"])),
    *(("epsilon", lambda wrong=wrong: layer_norm([1, 2], [1, 1], [0, 0], epsilon=wrong)) for wrong in (0, -1, np.nan)),
    *(("weights", lambda function=function, wrong=wrong: function(wrong))
      for function in (role_shares, name_roles, count_flips)
      for wrong in (np.ones((6, 12, 4, 4)), np.ones((2, 1, 1, 16, 15)), TABLES[:0], TABLES[..., :1, :1], None, "x")),
    *(("weights", lambda wrong=wrong: count_flips(wrong)) for wrong in (TABLES[:1], np.ones((3, 1, 1, 16, 16)),
                                                                       TABLES[..., :10, :10])),
    *(("weights", lambda wrong=wrong: entropy(wrong)) for wrong in (1.0, "x", None)),
    ("threshold", lambda: name_roles(TABLES, threshold=2)),
    *((name, lambda name=name, wrong=wrong: head_name(**{"layer": 0, "head": 0, name: wrong}))
      for name in ("layer", "head") for wrong in (-1, 1.5, "1", None, True)),
    *(("names", lambda wrong=wrong: count_roles(wrong)) for wrong in ([["水槽"]], [1, 2], None, [["自己"], []])),
])
def test_wrong_arguments_are_named(named, call):
    assert_refused(named, call)


def test_untrained_encoder_looks_everywhere_alike():
    tensors = random_tensors(np.random.default_rng(0), n_words=40, n_places=16)
    assert len(tensors) == 5 + 6 * 16   # BERT's own count without the pooler: 3 embeddings, a norm; 16 a layer
    _, weights = Encoder(tensors, 12)(np.arange(32).reshape(2, 16))
    weights = np.stack(weights, axis=1)
    assert entropy(weights).min() > 0.99 * np.log(16)
    assert count_roles(name_roles(weights))[minilm.UNNAMED] == 72


# The stored data

def test_data_comes_with_licence_and_checksum():
    folder = make_minilm_data.FOLDER
    assert "Apache License" in (folder / "LICENSE-Apache-2.0.txt").read_text("utf-8")
    digest = hashlib.sha256((folder / "minilm.npz").read_bytes()).hexdigest()
    assert f'"sha256": "{digest}"' in (folder / "minilm.json").read_text("utf-8")


def test_changed_data_are_refused(tmp_path, monkeypatch):
    folder = tmp_path / "data" / "minilm"
    shutil.copytree(make_minilm_data.FOLDER, folder)
    with (folder / "minilm.npz").open("ab") as file:
        file.write(b"x")
    monkeypatch.setattr(minilm, "files", lambda package: tmp_path)
    with pytest.raises(ValueError, match=r"minilm\.npz"):
        load.__wrapped__()


def test_data_cannot_be_changed_by_a_reader():
    with pytest.raises(ValueError, match="read-only"):
        load().weights[0] = 0


def test_sentences_are_minimal_pairs():
    tokens = load().tokens
    assert len(tokens) == 40
    for first, second in zip(tokens[::2], tokens[1::2]):
        assert [place for place in range(16) if first[place] != second[place]] == [minilm.STATE_AT]
        assert (first[minilm.IT_AT], first[minilm.PLACE_AT - 1]) == ("it", "the")
    assert (tokens[0][minilm.ANIMAL_AT], tokens[0][minilm.PLACE_AT]) == ("cat", "street")
    np.testing.assert_array_equal(load().token_ids, REFERENCE["token_ids"])   # the tokenizer of transformers


def test_stored_weights_are_pytorch_s_rounded():
    data, expected = load(), REFERENCE["first_attentions"]
    np.testing.assert_allclose(data.weights[0], expected, atol=0.5 / 255 + 1e-5)
    # float16 keeps 11 bits: of log(w) that is w * |log w| * 2**-12 <= 9e-5
    np.testing.assert_allclose(softmax(data.log_weights[0]), expected, atol=3e-4)
    np.testing.assert_allclose(data.weights.sum(axis=-1), 1, atol=16 * 0.5 / 255)


@pytest.mark.parametrize(("place", "name", "layer", "head"), [
    (0, "L1H3", 0, 2),
    (1, "L4H2", 3, 1),
    (2, "L4H6", 3, 5),
])
def test_weights_of_a_real_head_computed_by_the_core_equal_pytorch_s(place, name, layer, head):
    real = load().heads[name]
    query = real.layer_input @ real.w_q + real.b_q   # (2, N, 32)
    key = real.layer_input @ real.w_k + real.b_k
    _, weights = scaled_dot_product_attention(query, key, real.layer_input)
    np.testing.assert_allclose(weights[0], REFERENCE["first_attentions"][layer, head], atol=1e-5)
    np.testing.assert_allclose(weights[1], REFERENCE["second_attentions"][place], atol=1e-5)
    assert head_name(layer, head) == name


@needs_model
def test_numpy_forward_pass_agrees_with_pytorch_on_every_stored_sentence():
    tensors, _ = make_minilm_data.read_model()
    hidden, weights = Encoder(tensors, minilm.N_HEADS)(REFERENCE["token_ids"])
    np.testing.assert_allclose(hidden[-1].mean(axis=1), REFERENCE["mean_outputs"], atol=1e-5)
    np.testing.assert_allclose(np.stack(weights, axis=1)[0], REFERENCE["first_attentions"], atol=1e-5)


@needs_model
def test_fresh_extraction_equals_the_stored_data():
    arrays, notes = make_minilm_data.extract()
    with np.load(make_minilm_data.FOLDER / "minilm.npz") as stored:
        assert set(stored.files) == set(arrays)
        for name, fresh in arrays.items():
            kept = stored[name]
            assert (kept.shape, kept.dtype) == (fresh.shape, fresh.dtype)
            if name == "weights_255":   # another BLAS may round an edge case the other way
                assert np.abs(kept.astype(int) - fresh.astype(int)).max() <= 1
            elif name == "log_weights":
                np.testing.assert_allclose(np.exp(kept.astype(float)), np.exp(fresh.astype(float)), atol=5e-4)
            elif name.startswith("input"):
                np.testing.assert_allclose(kept, fresh, atol=1e-5)
            else:
                np.testing.assert_array_equal(kept, fresh)
    assert [list(words) for words in load().tokens] == notes["tokens"]


# Roles

def maps(*tables):
    return np.stack(tables)[None, None]   # one sentence, one layer


def test_roles_of_made_up_heads():
    n = 5
    start, end = np.zeros((n, n)), np.zeros((n, n))
    start[:, 0], end[:, -1] = 1, 1
    back, ahead = np.eye(n, k=-1), np.eye(n, k=1)
    names = name_roles(maps(start, back, ahead, np.eye(n), end, np.full((n, n), 1 / n)))
    assert names.tolist() == [["句首", "前一个词", "后一个词", "自己", "句末", "说不出"]]
    assert list(count_roles(names).values()) == [1] * 6
    # of the first word there is no previous one: the mean is over four rows, not five
    np.testing.assert_allclose(role_shares(maps(back))[1], 1)


def test_roles_are_counted_in_lists_too():
    names = [["自己", "说不出"], ["自己", "句首"]]
    assert count_roles(names) == {"句首": 1, "前一个词": 0, "后一个词": 0, "自己": 2, "句末": 0, "说不出": 1}


def test_entropy_of_a_row_on_one_word_is_zero_and_not_minus_zero():
    assert entropy([[1.0, 0.0], [0.5, 0.5]]).tolist() == [0.0, np.log(2)]
    assert not np.signbit(entropy(np.eye(3))).any()
    assert not np.signbit(entropy([1.0]))


def test_threshold_decides_who_has_a_name():
    mostly = np.full((1, 1, 1, 4, 4), 0.1)
    mostly[..., 0] = 0.7
    assert name_roles(mostly, threshold=0.6) == "句首"
    assert name_roles(mostly, threshold=0.71) == minilm.UNNAMED


def test_flips_are_counted_pair_by_pair():
    weights = np.zeros((4, 1, 1, 16, 16))
    rows = weights[:, 0, 0, minilm.IT_AT]
    rows[:, minilm.ANIMAL_AT], rows[:, minilm.PLACE_AT] = [0.6, 0.2, 0.6, 0.5], [0.3, 0.4, 0.3, 0.4]
    assert count_flips(weights) == 1   # the first pair turns round, the second stays with the animal


def test_what_the_real_heads_do():
    data = load()
    names = name_roles(data.weights)
    assert names[0, 2] == "前一个词"
    assert role_shares(data.weights)[1, 0, 2] > 0.99
    counts = count_roles(names)
    assert sum(counts.values()) == 72
    assert counts["句首"] > 20
    assert counts["说不出"] > 36
    tired, wide = data.weights[:2, 3, 1, minilm.IT_AT]
    assert tired[minilm.ANIMAL_AT] > 0.7 > 0.3 > wide[minilm.ANIMAL_AT]


def test_an_untrained_model_is_berts():
    # BERT: matrices normal with the given deviation, biases 0, norms pass on, four times as wide inside, two kinds.
    tensors = random_tensors(np.random.default_rng(0), n_words=50, n_places=7, n_layers=2, d_model=60, std=0.03)
    for name, tensor in tensors.items():
        if name.endswith("bias"):
            assert not tensor.any(), name
        elif name.endswith("LayerNorm.weight"):
            assert (tensor == 1).all(), name
        elif tensor.size > 1000:
            assert tensor.std() == pytest.approx(0.03, rel=0.1), name
    assert tensors["encoder.layer.1.intermediate.dense.weight"].shape == (240, 60)
    assert tensors["embeddings.token_type_embeddings.weight"].shape == (2, 60)


@pytest.mark.parametrize("kind", [np.int8, np.uint8])
def test_small_numpy_integers_are_counts(kind):
    tensors = random_tensors(
        np.random.default_rng(0), n_words=kind(3), n_places=kind(3), n_layers=kind(1), d_model=kind(64))
    assert tensors["encoder.layer.0.intermediate.dense.weight"].shape == (256, 64)


def test_gelu_at_the_ends():
    np.testing.assert_array_equal(gelu([-np.inf, np.inf, 0.0]), [0.0, np.inf, 0.0])


def test_a_tiny_epsilon_is_no_zero():
    same = layer_norm(np.ones(2, np.float32), [1, 1], [0, 0], epsilon=1e-60)
    np.testing.assert_array_equal(same, [0.0, 0.0])
