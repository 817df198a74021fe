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


@pytest.mark.parametrize(("call", "named"), [
    (lambda: Encoder({"weight": np.ones(3)}, 1), "tensors"),
    (lambda: Encoder(random_tensors(np.random.default_rng(0), n_words=3, n_places=3, n_layers=1, d_model=4), 2)([0, 1]),
     "token_ids"),
    (lambda: random_tensors(np.random.default_rng(0), n_words=0, n_places=3), "n_words"),
    (lambda: role_shares(np.ones((6, 12, 4, 4))), "weights"),
    (lambda: name_roles(np.ones((1, 1, 1, 4, 4)), threshold=2), "threshold"),
])
def test_wrong_arguments_are_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()


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
        assert [place for place in range(16) if first[place] != second[place]] == [minilm.STATE]
        assert (first[minilm.IT], first[minilm.PLACE - 1]) == ("it", "the")
    assert (tokens[0][minilm.ANIMAL], tokens[0][minilm.PLACE]) == ("cat", "street")
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


def test_threshold_decides_who_has_a_name():
    mostly = np.full((1, 1, 1, 4, 4), 0.1)
    mostly[..., 0] = 0.7
    assert name_roles(mostly, threshold=0.6) == "句首"
    assert name_roles(mostly, threshold=0.71) == minilm.UNNAMED


def test_flips_are_counted_pair_by_pair():
    weights = np.zeros((4, 1, 1, 16, 16))
    rows = weights[:, 0, 0, minilm.IT]
    rows[:, minilm.ANIMAL], rows[:, minilm.PLACE] = [0.6, 0.2, 0.6, 0.5], [0.3, 0.4, 0.3, 0.4]
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
    tired, wide = data.weights[:2, 3, 1, minilm.IT]
    assert tired[minilm.ANIMAL] > 0.7 > 0.3 > wide[minilm.ANIMAL]
