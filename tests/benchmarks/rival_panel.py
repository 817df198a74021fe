"""第 4 节的那幅画，照最常见的写法：``interact`` 加 matplotlib。两个计时脚本拿它当对手。"""

import matplotlib.pyplot as plt
import numpy as np
from ipywidgets import interact

from attention_core import softmax, weighted_sum
from attention_core.panels import controls
from attention_core.panels.section_04 import KEY_TOKENS, MEANINGS, SCORES, VALUES


def draw(temperature):
    weights = softmax(SCORES, temperature=temperature)
    blend = weighted_sum(weights[None, :], VALUES)
    _, (row, scores, shares, values) = plt.subplots(1, 4, figsize=(11, 3.4))
    row.imshow(weights[None, :], vmin=0, vmax=1, cmap="Blues")
    row.set_xticks(range(len(KEY_TOKENS)), KEY_TOKENS)
    for j, weight in enumerate(weights):
        row.text(j, 0, f"{weight:.2f}", ha="center", fontsize=6)
    for axes, numbers, limit in ((scores, SCORES, 5), (shares, weights, 1.1)):
        axes.barh(range(len(KEY_TOKENS)), numbers)
        axes.set_yticks(range(len(KEY_TOKENS)), KEY_TOKENS)
        axes.set_xlim(0, limit)
        for i, number in enumerate(numbers):
            axes.text(number, i, f"{number:.2f}", fontsize=7)
    table = np.vstack([VALUES, blend])
    values.imshow(table, vmin=-1, vmax=1, cmap="PuOr", aspect="auto")
    values.set_xticks(range(len(MEANINGS)), MEANINGS)
    values.set_yticks(range(len(KEY_TOKENS) + 1), [*KEY_TOKENS, "混合"])
    for (i, j), number in np.ndenumerate(table):
        values.text(j, i, f"{number:.2f}", ha="center", va="center", fontsize=6)
    plt.show()


plt.rcParams["font.sans-serif"] = ["Noto Sans CJK SC", "DejaVu Sans"]
if __name__ == "__main__":   # 在笔记本的格子里
    _ = interact(draw, temperature=controls.temperature())
