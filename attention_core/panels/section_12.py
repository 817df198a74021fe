"""第 12 节的面板：一个真实模型的 72 个头，一个一个看。"""

from ..minilm import ANIMAL_AT, IT_AT, N_HEADS, N_LAYERS, PLACE_AT, ROLES, head_name, load, name_roles, role_shares
from ..steps import softmax
from . import blocks, controls
from .panel import Panel
from .view import View

__all__ = ["real_heads"]

LAYERS = [f"L{layer + 1}" for layer in range(N_LAYERS)]
HEADS = [f"H{head + 1}" for head in range(N_HEADS)]
MAPS = (*ROLES[:3], "it 给动物", "it 给地方")


def _atlas(data):
    """每一种地图：每个头一个数，shape (6, 12)。前三种对四十句平均，后两种对前六句各一张。"""
    shares = dict(zip(ROLES, role_shares(data.weights)))
    rows = data.weights[:len(data.log_weights), ..., IT_AT, :]   # (6, 6, 12, N)：句、层、头、词
    return shares | {"it 给动物": rows[..., ANIMAL_AT], "it 给地方": rows[..., PLACE_AT]}


def real_heads():
    """MiniLM 的 72 个头：选层、选头、换句子、调温度；上面的地图标出这个头在哪里。"""
    data = load()
    atlas, names = _atlas(data), name_roles(data.weights)

    def render(layer, head, sentence, what, temperature):
        tokens = data.tokens[sentence]
        weights = softmax(data.log_weights[sentence, layer - 1, head - 1], temperature=temperature)   # (N, N)
        chart = atlas[what] if atlas[what].ndim == 2 else atlas[what][sentence]   # (6, 12)
        row, name = weights[IT_AT], head_name(layer - 1, head - 1)
        looks = blocks.most(tokens, row, one="最看{who}{share}", tied="最看{who}，各 {share}",
                            alike="看每个词一样多，各 {share}", crowd="最看 {n} 个词，各 {share}", quotes="「、」")
        return View((
            blocks.table(chart, LAYERS, HEADS, query=layer - 1, limit=1.0,
                         title=f"72 个头，平均有多少权重给{what}" if chart is atlas[what] else f"72 个头：{what}多少"),
            blocks.sentence(tokens, row, query=IT_AT, title=f"{name} 里，it 看谁"),
            blocks.table(weights, tokens, query=IT_AT, title=f"{name} 的整张表"),
        ), (f"{name}（{names[layer - 1, head - 1]}）：it {looks}；"
            f"给 {tokens[ANIMAL_AT]} {blocks.number(row[ANIMAL_AT])}，"
            f"给 {tokens[PLACE_AT]} {blocks.number(row[PLACE_AT])}。"
            f"这里画的是“{what}”：{name} 是 {blocks.number(chart[layer - 1, head - 1])}。"))

    options = [(" ".join(words[1:-2]).replace(" ' ", "'"), i)
               for i, words in enumerate(data.tokens[:len(data.log_weights)])]
    return Panel(render, {
        "layer": controls.integer("层", 4, 1, N_LAYERS),
        "head": controls.integer("头", 2, 1, N_HEADS),
        "sentence": controls.choice("句子", options, 0, width=480),
        "what": controls.choice("地图画什么", MAPS, MAPS[3]),
        "temperature": controls.temperature(),
    })
