"""How surely the small models learn: held-out accuracy and weights over 20 seeds, and the time of a training.

Not part of pytest: a time depends on the machine. Run with an unloaded one:

    python tests/benchmarks/learning.py [--seeds 20]
"""

import argparse
import time

import numpy as np

from attention_core.learning import (
    FIRST_AT,
    IT_AT,
    ONE_HOP,
    PAIR,
    SECOND_AT,
    TWO_HOPS,
    Adam,
    Settings,
    ask,
    train,
)


class GradientDescent:
    """The plainest optimizer: one step down the slope."""

    def step(self, vector, gradient):
        vector -= 0.3 * gradient


MODELS = {
    "M1: one hop, the state word asks, causal": (ONE_HOP, {}),
    "M2: two hops, 它 asks, bidirectional": (TWO_HOPS, {}),
    "M1 with d = d_k = 4": (Settings(d_model=4, d_k=4), {}),
    "one hop, 它 asks, bidirectional": (Settings(asker=IT_AT, causal=False), {}),
    "M2, causal": (Settings(hops=2, asker=IT_AT, causal=True), {}),
    "two layers, everyone asks": (Settings(hops=2, asker=IT_AT, causal=False, everyone_asks=True), {}),
    "M2, learning rate .02": (TWO_HOPS, {"make_optimizer": lambda: Adam(0.02)}),
    "M1, hard choice": (Settings(choice="hard"), {}),
    "M1, straight-through": (Settings(choice="straight_through"), {}),
}
SCALING = {
    f"{name}, d_k = {d_k}, {'scaled' if scaled else 'unscaled'}":
        (Settings(d_k=d_k, scaled=scaled, unit_scores=True), {"make_optimizer": make_optimizer, "batch": 48})
    for name, make_optimizer in (("Adam", Adam), ("SGD", GradientDescent))
    for d_k in (4, 64, 512) for scaled in (True, False)
}


def measure(settings, options, n_seeds):
    """Accuracies (n_seeds,), right-noun weights (n_seeds, 2), seconds a training, parameters."""
    accuracies, weights, seconds = [], [], []
    for seed in range(n_seeds):
        began = time.perf_counter()
        result = train(settings, seed=seed, **options)
        seconds.append(time.perf_counter() - began)
        accuracies.append(result.accuracy)
        weights.append([ask(result.model, words)[1][-1, [FIRST_AT, SECOND_AT]] for words in PAIR])
    return np.array(accuracies), np.array(weights), np.median(seconds), result.model.n_parameters


def main():
    """Print one line a model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--scaling-seeds", type=int, default=5)
    arguments = parser.parse_args()
    for models, n_seeds in ((MODELS, arguments.seeds), (SCALING, arguments.scaling_seeds)):
        for name, (settings, options) in models.items():
            accuracies, weights, seconds, n_parameters = measure(settings, options, n_seeds)
            tired, wide = weights.mean(axis=0)
            print(f"{name:42} {n_parameters:6} parameters  held out mean {accuracies.mean():.3f} "
                  f"least {accuracies.min():.3f}  猫/马路 at 累 {tired[0]:.2f}/{tired[1]:.2f} "
                  f"at 宽 {wide[0]:.2f}/{wide[1]:.2f}  {seconds:.2f} s", flush=True)


if __name__ == "__main__":
    main()
