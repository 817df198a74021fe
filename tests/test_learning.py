"""The tiny model: its data, its gradients, its training, and the experiments that must fail."""

import ipywidgets
import numpy as np
import pytest

from attention_core.learning import (
    ANIMALS,
    FIRST_AT,
    IT_AT,
    NOUNS,
    ONE_HOP,
    PAIR,
    PATTERNS,
    SECOND_AT,
    STATE_AT,
    TWO_HOPS,
    VOCABULARY,
    Adam,
    PronounModel,
    Sentences,
    Settings,
    accuracy,
    ask,
    cross_entropy,
    encode,
    make_sentence,
    make_sentences,
    replay,
    train,
)
from attention_core.panels import progress

TIRED, WIDE = PAIR
VARIANTS = [
    ONE_HOP,
    TWO_HOPS,
    Settings(hops=2, asker=IT_AT, causal=True, d_model=5, d_k=3, scaled=False),
    Settings(hops=2, asker=IT_AT, causal=False, everyone_asks=True, d_model=4, d_k=7),
    Settings(hops=3, asker=STATE_AT, causal=True, everyone_asks=True, d_model=3, d_k=2),
]


def read(tokens):
    return tuple(VOCABULARY[token] for token in tokens)


def sentences(seed=0):
    return make_sentences(np.random.default_rng(seed))


def model_of(settings, seed=0):
    return PronounModel(settings, np.random.default_rng(seed))


# Data

def test_every_sentence_of_both_patterns_appears_once():
    training, held = sentences()
    rows = {read(row) for part in (training, held) for row in part.tokens}
    # 10 x 10 pairs with 5 + 5 state words, and 10 x 9 pairs with 4 + 4
    assert len(rows) == len(training) + len(held) == 100 * 10 + 90 * 8
    assert TIRED in rows
    assert make_sentence("猫", "狗", "快", "追上") in rows
    assert make_sentence("猫", "猫", "快", "追上") not in rows


@pytest.mark.parametrize("seed", range(5))
def test_held_out_pairs_are_never_trained_on(seed):
    training, held = sentences(seed)
    pairs = [{tuple(row[[FIRST_AT, SECOND_AT]]) for row in part.tokens} for part in (training, held)]
    # 30 % of 100 and of 90 pairs; the pairs of the two patterns do not overlap
    assert [len(part) for part in pairs] == [70 + 63, 30 + 27]
    assert not pairs[0] & pairs[1]
    assert (NOUNS.index("猫"), NOUNS.index("马路")) in pairs[1]


@pytest.mark.parametrize("patterns", [tuple(PATTERNS), ("过",), ["追上"]])
@pytest.mark.parametrize("held_out", [1e-9, 0.004, 0.5, 0.999])
def test_every_share_leaves_pairs_to_train_on_and_holds_some_out(held_out, patterns):
    training, held = make_sentences(np.random.default_rng(0), held_out=held_out, patterns=patterns)
    assert min(len(training), len(held)) >= 8 * len(patterns)   # one pair: its eight or ten state words
    assert TIRED not in map(read, training.tokens)
    assert (TIRED in map(read, held.tokens)) == ("过" in patterns)


@pytest.mark.parametrize(("words", "noun"), [
    (TIRED, "猫"),
    (WIDE, "马路"),
    (make_sentence("狗", "广场", "吵"), "广场"),
    (make_sentence("狗", "猫", "笨", "追上"), "狗"),
    (make_sentence("狗", "猫", "敏捷", "追上"), "猫"),
])
def test_label_is_the_noun_that_the_state_word_describes(words, noun):
    for part in sentences():
        for row, label, answer in zip(part.tokens, part.labels, part.answers):
            if read(row) == words:
                assert (NOUNS[label], words[answer]) == (noun, noun)
                return
    pytest.fail(f"no sentence {words}")


def test_different_seeds_hold_out_different_pairs():
    assert not np.array_equal(sentences(0)[1].tokens, sentences(1)[1].tokens)


TRAINED = train(ONE_HOP, n_steps=1)
MODEL, TOKENS = TRAINED.model, encode(PAIR)
LABELS = np.array([0, 10])   # 猫，马路

# What takes token numbers, labels, a generator or settings, and values that none of them may take
TAKE_TOKENS = {
    "model": MODEL,
    "loss_and_gradient": lambda tokens: MODEL.loss_and_gradient(tokens, LABELS),
    "scores_gradient": lambda tokens: MODEL.scores_gradient(tokens, LABELS),
    "Sentences": lambda tokens: Sentences(tokens, LABELS),
}
TAKE_LABELS = {
    "loss_and_gradient": lambda labels: MODEL.loss_and_gradient(TOKENS, labels),
    "scores_gradient": lambda labels: MODEL.scores_gradient(TOKENS, labels),
    "Sentences": lambda labels: Sentences(TOKENS, labels),
    "cross_entropy": lambda labels: cross_entropy(np.zeros((2, 20)), labels),
}
TAKE_RNG = {"make_sentences": make_sentences, "PronounModel": lambda rng: PronounModel(ONE_HOP, rng)}
TAKE_SETTINGS = {"train": train, "replay": replay, "PronounModel": lambda x: PronounModel(x, np.random.default_rng(0))}
WRONG_TOKENS = {
    "one sentence": TOKENS[0],
    "ten words": TOKENS[:, :10],
    "no sentence": TOKENS[:0],
    "an empty list": [],
    "too large": np.full((2, 11), len(VOCABULARY)),
    "negative": -np.ones((2, 11), int),
    "floats": TOKENS.astype(float),
    "booleans": np.ones((2, 11), bool),
    "words": PAIR,
    "ragged": [TOKENS[0].tolist(), [1]],
    "none": None,
}
WRONG_LABELS = {
    "too few": [0],
    "none at all": [],
    "too large": [0, 20],
    "negative": [0, -1],
    "floats": [0.0, 1.0],
    "a column": [[0], [1]],
    "words": ["猫", "马路"],
    "one number": 0,
    "none": None,
}


def assert_refused(named, call, *arguments):
    with pytest.raises(ValueError, match=rf"(?s)^{named} 应为.+，收到的是.+。.+。$"):
        call(*arguments)


@pytest.mark.parametrize("wrong", WRONG_TOKENS)
@pytest.mark.parametrize("taker", TAKE_TOKENS)
def test_wrong_tokens_are_refused_everywhere(taker, wrong):
    assert_refused("tokens", TAKE_TOKENS[taker], WRONG_TOKENS[wrong])


@pytest.mark.parametrize("wrong", WRONG_LABELS)
@pytest.mark.parametrize("taker", TAKE_LABELS)
def test_wrong_labels_are_refused_everywhere(taker, wrong):
    assert_refused("labels", TAKE_LABELS[taker], WRONG_LABELS[wrong])


@pytest.mark.parametrize("wrong", [0, None, "0", np.random.RandomState(0)], ids=repr)
@pytest.mark.parametrize("taker", TAKE_RNG)
def test_what_is_not_a_generator_is_refused_everywhere(taker, wrong):
    assert_refused("rng", TAKE_RNG[taker], wrong)


@pytest.mark.parametrize("wrong", [None, {"hops": 2}, "ONE_HOP", Settings], ids=repr)
@pytest.mark.parametrize("taker", TAKE_SETTINGS)
def test_what_is_not_settings_is_refused_everywhere(taker, wrong):
    assert_refused("settings", TAKE_SETTINGS[taker], wrong)


@pytest.mark.parametrize("wrong", [None, "吃", "", 1, ["过"], np.array(["过"]), np.nan], ids=repr)
@pytest.mark.parametrize(("named", "call"), [
    ("first", lambda word: make_sentence(word, "马路", "累")),
    ("second", lambda word: make_sentence("猫", word, "累")),
    ("state", lambda word: make_sentence("猫", "马路", word)),
    ("pattern", lambda word: make_sentence("猫", "马路", "累", word)),
    ("patterns", lambda word: make_sentences(np.random.default_rng(0), patterns=[word])),
    ("choice", lambda word: Settings(choice=word)),
])
def test_a_word_that_cannot_be_chosen_is_refused(named, call, wrong):
    assert_refused(named, call, wrong)


@pytest.mark.parametrize("wrong", [(), [], "追上", "过", None, 1, ("过", "过")], ids=repr)
@pytest.mark.parametrize("call", [
    lambda patterns: make_sentences(np.random.default_rng(0), patterns=patterns),
    lambda patterns: train(ONE_HOP, patterns=patterns),
])
def test_patterns_are_one_or_more_different_ones(call, wrong):
    assert_refused("patterns", call, wrong)


@pytest.mark.parametrize(("named", "call"), [
    ("held_out", lambda x: make_sentences(np.random.default_rng(0), held_out=x)),
    *((name, lambda x, name=name: Settings(**{name: x})) for name in ("hops", "d_model", "d_k", "asker")),
    *((name, lambda x, name=name: Settings(**{name: x})) for name in ("causal", "scaled", "everyone_asks",
                                                                     "unit_scores")),
    *((name, lambda x, name=name: train(ONE_HOP, **{name: x})) for name in ("seed", "n_steps", "batch")),
    ("step", TRAINED.at_step),
    ("every", lambda x: TRAINED.watch(PAIR, every=x)),
    ("learning_rate", Adam),
])
@pytest.mark.parametrize("wrong", [-1, 1.5, np.nan, np.inf, "x", None, [1], 10**400], ids=lambda x: repr(x)[:9])
def test_wrong_numbers_are_refused(named, call, wrong):
    if named == "learning_rate" and wrong == 1.5:
        wrong = 0
    assert_refused(named, call, wrong)


@pytest.mark.parametrize(("named", "call"), [
    ("asker", lambda: Settings(asker=11)),
    ("step", lambda: TRAINED.at_step(2)),
    ("every", lambda: TRAINED.watch(PAIR, every=0)),
    ("make_optimizer", lambda: train(ONE_HOP, make_optimizer=Adam())),
    ("progress", lambda: train(ONE_HOP, progress=300)),
    ("model", lambda: accuracy(None, TRAINED.held)),
    ("model", lambda: ask(TRAINED, TIRED)),
    ("sentences", lambda: accuracy(MODEL, TOKENS)),
    ("logits", lambda: cross_entropy([1.0, 2.0], [0])),
    ("logits", lambda: cross_entropy(np.zeros((0, 4)), [])),
    ("logits", lambda: cross_entropy([["a", "b"]], [0])),
    ("gradient", lambda: MODEL.gradient_by_name(np.zeros(3))),
    ("vector", lambda: Adam().step([1.0], [1.0])),
    ("vector", lambda: Adam().step(np.array([1, 2]), [1.0, 2.0])),
    ("vector", lambda: Adam().step(np.ones(2), [1.0])),
])
def test_wrong_arguments_are_named(named, call):
    assert_refused(named, call)


@pytest.mark.parametrize(("words", "got"), [
    ((*TIRED[:2], "老虎", *TIRED[3:]), "老虎"),
    ((*TIRED[:2], ["猫"], *TIRED[3:]), "猫"),
    ((*TIRED[:2], 0, *TIRED[3:]), "0"),
    (TIRED[:-1], "10 个词"),
    ((), "0 个词"),
    ("".join(TIRED), "那只猫没过马路"),
    (None, "None"),
    (7, "7"),
])
def test_a_sentence_that_cannot_be_read_is_refused(words, got):
    for named, call in (("sentences", lambda: encode([TIRED, words])), ("sentences", lambda: TRAINED.watch([words])),
                        ("words", lambda: ask(MODEL, words))):
        with pytest.raises(ValueError, match=rf"^{named} 应为.+，收到的是.*{got}"):
            call()


@pytest.mark.parametrize("sentences", [TIRED, list(TIRED), "".join(TIRED)])
def test_one_sentence_where_several_belong_is_told_how_to_write_it(sentences):
    with pytest.raises(ValueError, match=r"写成 \[words\]"):
        encode(sentences)


def test_sentences_may_come_one_after_another():
    np.testing.assert_array_equal(encode(iter(PAIR)), TOKENS)
    assert encode([]).shape == (0, 11)


# Gradients

@pytest.mark.parametrize("settings", VARIANTS)
def test_gradient_is_the_slope_of_the_loss(settings):
    training, _ = sentences()
    tokens, labels = training.tokens[::97], training.labels[::97]
    model = model_of(settings)
    _, gradient = model.loss_and_gradient(tokens, labels)
    slope, nudge = np.empty_like(gradient), 1e-6
    for place in range(model.n_parameters):
        model.vector[place] += nudge
        above, _ = model.loss_and_gradient(tokens, labels)
        model.vector[place] -= 2 * nudge
        below, _ = model.loss_and_gradient(tokens, labels)
        model.vector[place] += nudge
        slope[place] = (above - below) / (2 * nudge)
    np.testing.assert_allclose(gradient, slope, rtol=1e-5, atol=1e-8)
    assert np.abs(gradient).max() > 1e-3


def test_scores_gradient_is_each_sentence_by_itself():
    training, _ = sentences()
    tokens, labels = training.tokens[:4], training.labels[:4]
    model = model_of(ONE_HOP)
    alone = [model.scores_gradient(tokens[[row]], labels[[row]])[0] for row in range(4)]
    together = model.scores_gradient(tokens, labels)
    np.testing.assert_allclose(together, alone, atol=1e-12)
    # softmax does not feel a constant added to a row, so each row's slopes cancel
    np.testing.assert_allclose(together.sum(axis=1), 0, atol=1e-12)
    assert np.all(together[:, STATE_AT + 1] == 0)   # the word after the asker is masked


def test_cross_entropy_against_its_closed_form():
    logits, labels = np.log([[1.0, 2.0, 5.0], [4.0, 3.0, 1.0]]), np.array([2, 1])
    loss, d_logits = cross_entropy(logits, labels)
    np.testing.assert_allclose(loss, -(np.log(5 / 8) + np.log(3 / 8)) / 2)
    np.testing.assert_allclose(d_logits, [[1 / 16, 2 / 16, -3 / 16], [4 / 16, -5 / 16, 1 / 16]])
    assert cross_entropy(np.array([[1000.0, 0.0]]), np.array([1]))[0] == 1000
    assert cross_entropy([[0, 0]], [1])[1].tolist() == [[0.5, -0.5]]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_cross_entropy_keeps_the_type(dtype):
    loss, d_logits = cross_entropy(np.zeros((3, 2), dtype), [0, 1, 1])
    assert (type(loss), d_logits.dtype) == (float, dtype)


def test_adam_walks_as_pytorch_does():
    vector, optimizer = np.array([1.0, -2.0, 0.5]), Adam(0.1)
    # torch.optim.Adam(lr=0.1), float64, PyTorch 2.13, the same three gradients
    walked = [
        [0.900000002, -1.9000000003, 0.5],
        [0.8654394181, -1.8599781433, 0.4255863182],
        [0.8275002408, -1.8310776329, 0.3649444911],
    ]
    for gradient, expected in zip([[0.5, -3.0, 0.0], [-0.2, 1.0, 2.0], [0.1, 0.1, 0.1]], walked):
        optimizer.step(vector, np.array(gradient))
        np.testing.assert_allclose(vector, expected, atol=1e-9)


# The model

@pytest.mark.parametrize(("settings", "expected"), [
    # words 47 d + places 11 d + three matrices a hop + readout 20 d + 20
    (ONE_HOP, 47 * 16 + 11 * 16 + 3 * 16 * 16 + 20 * 16 + 20),
    (TWO_HOPS, 47 * 16 + 11 * 16 + 6 * 16 * 16 + 20 * 16 + 20),
    (Settings(d_model=4, d_k=5), 47 * 4 + 11 * 4 + 2 * 4 * 5 + 4 * 4 + 20 * 4 + 20),
])
def test_parameter_count(settings, expected):
    model = model_of(settings)
    assert model.n_parameters == expected == sum(part.size for part in model.parameters.values())


def test_parameters_are_views_of_one_vector():
    model = model_of(TWO_HOPS)
    model.vector[...] = 7
    assert all(np.all(part == 7) for part in model.parameters.values())


@pytest.mark.parametrize("settings", VARIANTS)
def test_weights_are_rows_that_add_up_to_one_and_keep_the_mask(settings):
    _, rows = model_of(settings)(encode([TIRED, WIDE]))
    assert len(rows) == settings.hops
    for row in rows:
        assert row.shape == (2, 11)
        np.testing.assert_allclose(row.sum(axis=1), 1)
        assert np.all((row[:, settings.asker + 1:] == 0) == settings.causal)


@pytest.mark.parametrize("d_k", [4, 64, 512])
def test_unit_scores_start_with_variance_d_k(d_k):
    model = model_of(Settings(d_k=d_k, unit_scores=True, d_model=64))
    words = model.parameters["words"][encode([TIRED])[0]] + model.parameters["places"]
    query = words @ model.parameters["W_Q1"]
    assert 0.8 < query.var() < 1.25


def test_one_hop_learns_to_answer_unseen_pairs():
    result = train(ONE_HOP)
    assert accuracy(result.model, result.held) == 1
    noun, weights = ask(result.model, TIRED)
    assert noun == "猫"
    assert weights[0, FIRST_AT] > 0.95
    noun, weights = ask(result.model, WIDE)
    assert noun == "马路"
    assert weights[0, SECOND_AT] > 0.8
    # before training: a guess among twenty, or not much better
    assert accuracy(result.at_step(0), result.held) < 0.3
    assert result.losses[:10].mean() > 2 > 0.1 > result.losses[-10:].mean()


def test_two_hops_at_it_find_the_state_word_then_the_noun():
    result = train(TWO_HOPS)
    assert result.accuracy > 0.99
    for words, noun in ((TIRED, "猫"), (WIDE, "马路")):
        assert ask(result.model, words)[0] == noun


def test_one_hop_at_it_cannot_depend_on_the_state_word():
    result = train(Settings(asker=IT_AT, causal=False), n_steps=100)
    rows = [ask(result.model, words)[1][0] for words in (TIRED, WIDE)]
    ratios = [row[FIRST_AT] / row[SECOND_AT] for row in rows]
    np.testing.assert_allclose(*ratios)
    assert not np.allclose(*rows)   # the weight on the state word itself may differ
    assert result.accuracy < 0.8


def test_causal_it_gives_the_very_same_row_for_both_words():
    result = train(Settings(hops=2, asker=IT_AT, causal=True), n_steps=100)
    (tired_noun, tired), (wide_noun, wide) = (ask(result.model, words) for words in (TIRED, WIDE))
    np.testing.assert_array_equal(tired, wide)
    assert tired_noun == wide_noun
    assert result.accuracy < 0.6


def test_hard_choice_moves_neither_query_nor_key():
    result = train(Settings(choice="hard"), n_steps=30)
    training, _ = sentences()
    _, gradient = result.model.loss_and_gradient(training.tokens, training.labels)
    by_name = result.model.gradient_by_name(gradient)
    before, after = result.at_step(0).parameters, result.model.parameters
    for name in ("W_Q1", "W_K1"):
        assert np.all(by_name[name] == 0)
        np.testing.assert_array_equal(before[name], after[name])
    assert np.abs(by_name["W_V1"]).max() > 0


def test_straight_through_chooses_one_and_still_learns():
    settings = Settings(choice="straight_through")
    model = model_of(settings)
    training, _ = sentences()
    _, rows = model(training.tokens[:50])
    assert set(np.unique(rows[0])) == {0.0, 1.0}
    _, gradient = model.loss_and_gradient(training.tokens, training.labels)
    assert np.abs(model.gradient_by_name(gradient)["W_Q1"]).max() > 0
    soft, straight, hard = (train(Settings(choice=choice)).accuracy for choice in ("soft", "straight_through", "hard"))
    assert soft >= straight > hard + 0.2


def test_training_can_be_repeated_and_watched():
    seen = []
    first = train(ONE_HOP, n_steps=5, seed=3, progress=lambda step, loss: seen.append((step, loss)))
    second = train(ONE_HOP, n_steps=5, seed=3)
    np.testing.assert_array_equal(first.snapshots, second.snapshots)
    assert [step for step, _ in seen] == [1, 2, 3, 4, 5]
    assert [loss for _, loss in seen] == list(first.losses)
    np.testing.assert_array_equal(first.at_step(5).vector, first.model.vector)
    assert not np.array_equal(first.snapshots, train(ONE_HOP, n_steps=5, seed=4).snapshots)


@pytest.mark.parametrize("make_optimizer", [Adam, lambda: Adam(0.02)])
def test_every_training_starts_with_a_fresh_optimizer(make_optimizer):
    first, second = (train(ONE_HOP, n_steps=5, make_optimizer=make_optimizer) for _ in range(2))
    np.testing.assert_array_equal(first.snapshots, second.snapshots)
    is_default = np.array_equal(first.snapshots, train(ONE_HOP, n_steps=5).snapshots)
    assert is_default == (make_optimizer is Adam)


def test_the_same_settings_are_replayed_from_one_training():
    settings = Settings(d_k=2)
    steps, weights, accuracies = replay(settings)
    for kept, fresh in zip((steps, weights, accuracies), train(settings, batch=48).watch(PAIR)):
        np.testing.assert_array_equal(kept, fresh)
        assert not kept.flags.writeable   # the next reader gets the same arrays
    assert steps.tolist() == list(range(0, 301, 10))
    assert replay(Settings(d_k=2))[1] is weights


def test_watching_replays_the_training():
    result = train(TWO_HOPS, n_steps=7)
    steps, weights, accuracies = result.watch([TIRED, WIDE], every=3)
    assert steps.tolist() == [0, 3, 6]
    assert weights.shape == (3, 2, 2, 11)
    np.testing.assert_array_equal(weights[1][:, 0], ask(result.at_step(3), TIRED)[1])
    np.testing.assert_array_equal(weights[2][:, 1], ask(result.at_step(6), WIDE)[1])
    assert accuracies[0] == accuracy(result.at_step(0), result.held)


def test_one_pattern_alone_can_be_asked_for():
    training, held = make_sentences(np.random.default_rng(0), patterns=("过",))
    assert len(training) + len(held) == 100 * 10
    assert PATTERNS["过"][1] != ANIMALS


def test_progress_bar_follows_the_training_and_has_words_without_a_kernel(monkeypatch):
    shown, values, make_bar = [], [], ipywidgets.IntProgress

    def watched_bar(**settings):
        bar = make_bar(**settings)
        bar.observe(lambda change: values.append(change["new"]), "value")
        return bar

    monkeypatch.setattr(progress, "display", lambda bundle, raw: shown.append((bundle["text/plain"], raw)))
    monkeypatch.setattr(progress.ipywidgets, "IntProgress", watched_bar)
    train(ONE_HOP, n_steps=25, progress=progress.progress_bar(25))
    assert shown == [("（进度条：训练 25 步）", True)]
    assert values == [10, 20, 25]


@pytest.mark.parametrize("kind", [np.int8, np.uint8])
def test_small_numpy_integers_are_sizes(kind):
    settings = Settings(d_model=kind(100), d_k=kind(100), unit_scores=True)
    assert np.isfinite(PronounModel(settings, np.random.default_rng(0)).vector).all()
    assert len(train(ONE_HOP, n_steps=kind(2), batch=kind(3)).losses) == 2


def test_logits_far_apart_do_not_overflow():
    # log(1 + e^-2e308) = 0
    loss, d_logits = cross_entropy(np.array([[1e308, -1e308]]), np.array([0]))
    assert loss == 0
    np.testing.assert_array_equal(d_logits, [[0.0, 0.0]])
