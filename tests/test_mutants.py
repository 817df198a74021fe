"""The mistakes that attention code is known for, each built in and each noticed.

Every mutant below is put into a copy of the package, and the core's tests are run there:
they must fail. `python tests/mutants.py` tries all small changes and takes minutes.
"""

import ast

import pytest

from mutants import MODULES, ROOT, Workshop, mutants_below, mutants_of

# name, module, the tests that must notice, and the text that is replaced by another
MUTANTS = [
    ("scale left out", "steps", "test_steps",
     "matmul(query * scale, key.mT)", "matmul(query, key.mT)"),
    ("scale not a root", "_arrays", "test_steps", "1 / math.sqrt(d_k)", "1 / d_k"),
    ("scale 0 taken for the default", "_arrays", "test_steps",
     "if scale is None:", "if not scale:"),
    ("wrong softmax axis", "steps", "test_torch_reference",
     "temperature, axis=-1):", "temperature, axis=-2):"),
    ("flipped boolean mask", "steps", "test_attention", "where=~mask if", "where=mask if"),
    ("mask after softmax", "steps", "test_attention",
     "    if mask is not None:\n        scores =", "    if False:\n        scores ="),
    ("mask by a large number", "steps", "test_attention",
     "np.copyto(scores, -np.inf", "np.copyto(scores, -1e9"),
    ("> for >=: the diagonal shut", "masks", "test_masks",
     "n_keys, dtype=bool)", "n_keys, -1, dtype=bool)"),
    ("causal mask at the bottom right", "masks", "test_masks",
     "n_keys, dtype=bool)", "n_keys, n_keys - n_queries, dtype=bool)"),
    ("<= for < in padding", "masks", "test_masks", "< lengths[...", "<= lengths[..."),
    ("0/0 at temperature 0", "_fast", "test_steps",
     "where=(scores != 0) & (scores != -np.inf)", "where=scores != -np.inf"),
    ("inf/inf at temperature infinity", "_fast", "test_steps",
     "where=(scores != 0) & (scores != -np.inf)", "where=scores != 0"),
    ("split without transpose", "multihead", "test_multihead",
     "heads.swapaxes(-2, -3), dtype",
     "heads.reshape(*x.shape[:-2], n_heads, x.shape[-2], -1), dtype"),
    ("merge without transpose", "multihead", "test_multihead",
     "x.swapaxes(-2, -3)   #", "x.reshape(*x.shape[:-3], x.shape[-2], x.shape[-3], -1)   #"),
    ("projection without transpose", "multihead", "test_multihead",
     "projected = x @ weight.T", "projected = x @ weight"),
    ("temperature ignored", "_fast", "test_steps",
     "elif temperature != 1:", "elif False:"),
    ("temperature ignored where scores are small", "_fast", "test_steps",
     "rows if temperature == 1 else", "rows if True else"),
    ("temperature ignored in the gradient", "gradients", "test_torch_reference",
     "out *= sharpness", "pass"),
    ("NaN row", "_fast", "test_attention",
     "np.maximum(row_sums(powers), LEAST_TOTAL)", "row_sums(powers)"),
    ("maximum not subtracted", "_fast", "test_steps", "        scores -= peak\n", "        pass\n"),
    ("maximum never looked for", "_fast", "test_steps", "if square_sum(total) < _MOST_SQUARED and", "if True or"),
    ("NaN behind a mask let through", "steps", "test_attention",
     "matmul(weights, value) if all_finite(value) else", "matmul(weights, value) if True else"),
    ("row's mean not subtracted", "gradients", "test_torch_reference",
     "np.subtract(d, inner", "np.subtract(d, 0"),
    ("broadcast axes not summed", "gradients", "test_torch_reference",
     "gradient.sum(axis=(*range(extra), *stretched), keepdims=True)",
     "gradient[(0,) * extra]"),
]  # fmt: skip
# What the mask after softmax does on top of leaving it out before.
LAST_LINE = "    return scores\n\n\ndef weighted_sum("
AFTER_SOFTMAX = """    if mask is not None:
        scores *= mask if np.asarray(mask).dtype == bool else np.exp(mask)
"""


def mutated(name, module, old, new):
    source = (ROOT / "attention_core" / f"{module}.py").read_text(encoding="utf-8")
    if source.count(old) != 1:
        return None
    if name == "mask after softmax":
        assert source.count(LAST_LINE) == 1
        source = source.replace(LAST_LINE, AFTER_SOFTMAX + LAST_LINE)
    return source.replace(old, new)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """Name -> the first failure with that mutant built in; None: nobody noticed."""
    attempts = {
        name: (module, source, [[f"{test}.py"]])
        for name, module, test, old, new in MUTANTS
        if (source := mutated(name, module, old, new))
    }
    tests = sorted({f"{test}.py" for _, _, test, _, _ in MUTANTS})
    unchanged = (ROOT / "attention_core" / "steps.py").read_text(encoding="utf-8")
    attempts["nothing"] = ("steps", unchanged, [tests])
    workshop = Workshop(tmp_path_factory.mktemp("mutants"), jobs=2)
    return dict(zip(attempts, workshop.try_all(attempts.values()), strict=True))


def test_without_a_mutant_the_same_tests_pass(outcomes):
    assert outcomes["nothing"] is None


@pytest.mark.parametrize("name", [name for name, *_ in MUTANTS])
def test_mutant_is_noticed(name, outcomes):
    assert name in outcomes, "the text that this mutant replaces is not there once any more"
    # a failed test, not a copy that could not be imported or collected
    assert (outcomes[name] or "").startswith("FAILED tests/"), outcomes[name]


def test_the_script_makes_one_change_at_a_time():
    source = 'def f(x, y=1):\n    """Say 2 < 3."""\n    return x < y if not x else g(x, k=True)\n'
    found = {what for _, what, _ in mutants_of(source)}
    assert found == {
        "1 -> 2", "condition negated", "Lt -> LtE", "Not dropped", "argument k dropped",
        "True -> False",
    }  # fmt: skip
    texts = [text for _, _, text in mutants_of(source)]
    assert len(set(texts)) == len(texts) == 6
    assert all('"""Say 2 < 3."""' in text for text in texts)


@pytest.mark.parametrize("module", MODULES)
def test_the_script_finds_what_to_change_in_every_module(module):
    source = (ROOT / "attention_core" / f"{module}.py").read_text(encoding="utf-8")
    assert sum(1 for _ in mutants_below(ast.parse(source))) > 5
