"""这一章里能检验的说法，一条一条过：判定由计算得出，不是写好的。

每一条是一个函数：它算出几种情形下说法成不成立，再给出一个数。情形全成立是“成立”，
有的成立是“有条件”，全不成立是“照印的不成立”，一种情形也算不了是“这里验不了”。
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from . import learning, minilm
from .attention import scaled_dot_product_attention
from .book import PRINTED_WEIGHTS, SECTION_4_SCORES, SECTION_10_SCORES, SENTENCE, TOKENS
from .gradients import softmax_jacobian
from .inputs import CHINESE_VECTORS, ENGLISH_VECTORS, ENGLISH_W_Q, W_K, W_Q, W_V, WORDS
from .learning import PAIR, Settings, accuracy, ask, train
from .lookup import cosine_similarity, exact_lookup, soft_lookup
from .masks import causal_mask
from .multihead import MultiHeadAttention
from .reach import recurrent_reach, typical_reach
from .scaling import jacobian_norm, random_scores
from .steps import score, softmax, weighted_sum

HOLDS, CONDITION, NOT_AS_PRINTED, UNTESTABLE = "成立", "有条件", "照印的不成立", "这里验不了"
VERDICTS = (HOLDS, CONDITION, NOT_AS_PRINTED, UNTESTABLE)

CLAIMS = []

BOOK = "书上说的，和我们看到的"
TABLE = "书上的表，和我们算出的数"


@dataclass(frozen=True)
class Finding:
    """一条说法查完的结果：判定，和一个数。"""

    verdict: str
    number: str


@dataclass(frozen=True)
class Claim:
    """一条说法。

    Parameters
    ----------
    section : int
        书里的哪一节。
    text : str
        书里的意思。
    stem, heading : str
        哪本笔记本的哪个标题下能看到它。
    check : callable
        不接参数，返回 ``(cases, number)``：每种情形成不成立，和写出来的数。
    """

    section: int
    text: str
    stem: str
    heading: str
    check: object

    def find(self):
        """现在就查一遍。

        Returns
        -------
        Finding
        """
        cases, number = self.check()
        return Finding(judge(*cases), number)

    def link(self, folder="."):
        """那个标题所在的格子的链接。

        Parameters
        ----------
        folder : str or Path
            笔记本所在的文件夹；那里没有这一本时，只链接到文件。

        Returns
        -------
        link : str
        """
        # 用格子的编号而不用标题：JupyterLab 不解码链接里的中文标题，点了也跳不过去
        cell_id = _cells_with_headings(Path(folder) / f"{self.stem}.ipynb").get(self.heading)
        return f"{self.stem}.ipynb" + (f"#cell-id={cell_id}" if cell_id else "")


def judge(*cases):
    """几种情形成不成立，合成一个判定。

    Parameters
    ----------
    *cases : bool

    Returns
    -------
    verdict : str

    Examples
    --------
    >>> judge(True, True), judge(True, False), judge(False), judge()
    ('成立', '有条件', '照印的不成立', '这里验不了')
    """
    if not cases:
        return UNTESTABLE
    if all(cases):
        return HOLDS
    return CONDITION if any(cases) else NOT_AS_PRINTED


def _cells_with_headings(path):
    """一本笔记本里，每个标题在哪个编号的格子里。"""
    if not path.is_file():
        return {}
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return {line.lstrip("# ").rstrip(): cell["id"] for cell in cells if cell["cell_type"] == "markdown"
            for line in cell["source"] if line.startswith("#")}


def as_markdown(claims, findings, folder="."):
    """把查完的结果排成一张 Markdown 表。

    Parameters
    ----------
    claims : sequence of Claim
    findings : sequence of Finding
        与 ``claims`` 一样长。
    folder : str or Path
        笔记本所在的文件夹，链接要用。

    Returns
    -------
    table : str
    """
    rows = ["| 节 | 书里的说法（或由它推出的） | 判定 | 数 | 在哪里看 |", "|---|---|---|---|---|"]
    rows += [f"| {claim.section} | {claim.text} | {found.verdict} | {found.number} "
             f"| [{claim.stem[:2]}]({claim.link(folder)}) |" for claim, found in zip(claims, findings, strict=True)]
    return "\n".join(rows)


def count_verdicts(findings):
    """每种判定有几条。

    Parameters
    ----------
    findings : sequence of Finding

    Returns
    -------
    counts : dict of str to int
    """
    return {verdict: sum(found.verdict == verdict for found in findings) for verdict in VERDICTS}


def claim(section, text, stem, heading):
    """登记一条说法。"""
    def register(check):
        CLAIMS.append(Claim(section, text, stem, heading, check))
        return check
    return register


SCORES = np.array(list(SECTION_4_SCORES.values()))   # (10,)
SECTION_10_ROW = np.array(list(SECTION_10_SCORES.values()))   # (11,)
ROW_OF = {token: row for row, token in enumerate(SECTION_4_SCORES)}   # 那张表里的第几行
CAT, ROAD, TIRED = ROW_OF["猫"], ROW_OF["马路"], ROW_OF["累"]
TEMPERATURES = np.geomspace(0.01, 100, 401)


def _random_words(n=11, d=8):
    """编造的一句话：随机的查询、键、值，各是 (n, d)。"""
    return np.random.default_rng(0).standard_normal((3, n, d))


@cache
def _trained(**settings):
    return train(Settings(**settings))


# ---------------------------------------------------------------- 第 1 到 3 节

@claim(1, "「猫」到「它」要过七八次手", "01_the_cat", BOOK)
def _rewrites():
    by_word = TOKENS.index("它") - TOKENS.index("猫")
    with_comma = SENTENCE.index("它") - SENTENCE.index("猫")
    by_character = with_comma - SENTENCE[:SENTENCE.index("它")].count("，")
    counts = (by_word, by_character, with_comma)
    return [7 <= count <= 8 for count in counts], "按词 {}，按字 {}，连逗号 {}".format(*counts)


@claim(1, "过了七八次手，「猫」的那份所剩无几", "01_the_cat", "远一点会怎样")
def _note_fades():
    def kept(n_words, **settings):
        sizes = recurrent_reach(n_words, **settings)
        return sizes / sizes[0]

    usual, gentle = typical_reach(kept, 9)[8], typical_reach(kept, 9, input_std=0.1)[8]
    return [usual < 0.1, gentle < 0.1], f"隔八步还剩 {usual:.2f}；输入小，还剩 {gentle:.2f}"


@claim(2, "精确匹配要一字不差，柔性查询各取一部分", "02_dictionary_lookup", "问题：字典里没有这个词，怎么办？")
def _lookup():
    keys = np.array([[1.0, 0.2], [0.8, 0.6], [0.0, 1.0]])   # 编造的三个标签
    try:
        exact_lookup([0.9, 0.4], keys, keys)
        found = True
    except KeyError:
        found = False
    _, weights = soft_lookup([0.9, 0.4], keys, keys)
    return [not found and weights.min() > 0], f"精确：没有；柔性：最小的一份 {weights.min():.2f}"


@claim(3, "键负责被匹配，值负责被取走，两份是分开的", "03_query_key_value", "换一个矩阵，动的是哪一样？")
def _key_and_value():
    query, key, value = _random_words()
    _, before = scaled_dot_product_attention(query, key, value)
    _, new_value = scaled_dot_product_attention(query, key, 2 * value)
    _, new_key = scaled_dot_product_attention(query, 2 * key, value)
    moved = np.abs(new_key - before).max()
    return [np.array_equal(before, new_value) and moved > 0], f"改值：权重动 0；改键：动 {moved:.2f}"


@claim(3, "「猫」的键带着“句首”", "07_self_attention", "位置向量：告诉每个词它站在哪里")
def _position():
    x, places, _ = _random_words()
    order = np.arange(len(x))[::-1]
    moves = []
    for extra in (0, places):   # 不加位置，加位置
        before = scaled_dot_product_attention(x + extra, x + extra, x + extra)[0]
        after = scaled_dot_product_attention(x[order] + extra, x[order] + extra, x[order] + extra)[0]
        moves.append(np.abs(after - before[order]).max())
    return [move > 1e-9 for move in moves], f"打乱词序，每个词的输出变了：不加位置 {moves[0]:.0f}，加了 {moves[1]:.1f}"


# ---------------------------------------------------------------- 第 4 节

@claim(4, "两串数越像，点积越大", "03_query_key_value", "键长了，不等于更像")
def _dot_and_length():
    query, long, alike = [[1.0, 0.0]], [[3.0, 3.0]], [[1.0, 0.1]]   # 编造
    larger = score(query, alike, scale=1) > score(query, long, scale=1)
    same_length = score(query, np.divide(alike, np.linalg.norm(alike)), scale=1) > score(
        query, np.divide(long, np.linalg.norm(long)), scale=1)
    cosines = cosine_similarity(query, long + alike)[0]
    return [bool(larger), bool(same_length)], f"余弦 {cosines[0]:.2f} 的长键赢了余弦 {cosines[1]:.2f} 的短键"


@claim(4, "「猫」的权重是 0.55", "04_three_steps", TABLE)
def _cat_weight():
    weight = softmax(SCORES)[CAT]
    return [abs(weight - PRINTED_WEIGHTS["猫"][0]) < 0.005], f"{weight:.4f}"


@claim(4, "「累」的权重比「马路」大", "04_three_steps", TABLE)
def _order():
    weights = softmax(SCORES / TEMPERATURES[:, None])   # (401, 10)
    times = int((weights[:, TIRED] > weights[:, ROAD]).sum())
    return [times > 0], f"{len(TEMPERATURES)} 个温度里 {times} 个"


@claim(4, "「那」与「了」分数相同，权重不同", "04_three_steps", TABLE)
def _ties():
    weights = softmax(SCORES)
    first, last = weights[ROW_OF["那"]], weights[ROW_OF["了"]]
    return [first != last], f"两个都是 {first:.4f}"


@claim(4, "表上的权重加起来正好是 1", "04_three_steps", TABLE)
def _printed_sum():
    low, high = (sum(pair[side] for pair in PRINTED_WEIGHTS.values()) for side in (0, 1))
    return [abs(low - 1) < 1e-9, low <= 1 <= high, abs(high - 1) < 1e-9], f"印出来的合计在 {low:.2f} 与 {high:.2f} 之间"


@claim(4, "softmax 把分数的差距拉开", "04_three_steps", "归一看的是差，不是比")
def _widens():
    of_scores = SCORES[CAT] / SCORES[ROAD]
    ratios = [float(np.divide(*softmax(SCORES * size)[[CAT, ROAD]])) for size in (1, 0.1)]
    return ([ratio > of_scores for ratio in ratios],
            f"分数之比 {of_scores:.2f}；权重之比 {ratios[0]:.1f}，缩小十倍后 {ratios[1]:.2f}")


@claim(4, "注意力的全部计算就是三步", "04_three_steps", "三步连起来，就是一次调用")
def _three_steps():
    query, key, value = _random_words()
    output, _ = scaled_dot_product_attention(query, key, value)
    scaled, plain = (weighted_sum(softmax(score(query, key, scale=scale)), value) for scale in (None, 1.0))
    return ([np.array_equal(output, scaled), np.allclose(output, plain)],
            f"缩放算在第一步里：差 {np.abs(output - scaled).max():.0f}；不缩放：差 {np.abs(output - plain).max():.1f}")


@claim(4, "「它」问的是前面每个位置", "04_three_steps", "还有三处要说清")
def _asks_before():
    after = [token for token in SECTION_4_SCORES if TOKENS.index(token) > learning.IT_AT]
    return [not after], f"列出的十个里，{len(after)} 个在它后面"


# ---------------------------------------------------------------- 第 5、6 节

@claim(5, "串越长，点积越容易大", "05_scaling", "量一遍：从 1 到 4096")
def _variance():
    rng = np.random.default_rng(0)
    ratios = [random_scores(d, n_keys=1, n_trials=4000, rng=rng).var() / d for d in (4, 64, 512)]
    return [0.9 < ratio < 1.1 for ratio in ratios], f"方差除以 d_k：{min(ratios):.2f} 到 {max(ratios):.2f}"


@claim(5, "分数差距一大，往回传的信号趋近于零", "05_scaling", "分数大了，softmax 会怎样")
def _saturates():
    norms = [jacobian_norm(softmax(SCORES * size)) for size in (1, 10)]
    return [norms[1] < 1e-6 * norms[0]], f"雅可比矩阵的范数 {norms[0]:.2f}，分数大十倍时 {norms[1]:.0e}"


@claim(5, "除以 √d_k 就把分数按回温和的范围", "05_scaling", "缩放管不到的地方")
def _scaling_mends():
    rng = np.random.default_rng(0)
    spread = (random_scores(512, n_trials=300, rng=rng) / np.sqrt(512)).std()
    query = rng.standard_normal((1, 512))
    aligned = score(query, query)[0, 0]   # 键与查询相同：约 512 / sqrt(512)
    return ([0.9 < spread < 1.1, aligned < 3],
            f"d_k = 512，随机的查询和键：缩放后标准差 {spread:.2f}；键与查询相同：缩放后还有 {aligned:.1f}")


@claim(5, "不缩放，学习就停摆", "13_where_scores_come_from", r"错法二：忘了除以 $\sqrt{d_k}$")
def _unscaled_training():
    learned = [train(Settings(d_k=64, scaled=False, unit_scores=unit), n_steps=150, batch=32).accuracy
               for unit in (True, False)]
    words = ["到了九成" if share >= 0.9 else "不到九成" for share in learned]
    return ([share < 0.9 for share in learned],
            f"d_k = 64，练 150 步、每步 32 句，答对的：起步的分数大，{words[0]}；起步的分数小，{words[1]}")


@claim(6, "只取一个，第二名收不到任何信号", "06_differentiability", "推一推第二名")
def _hard_gradient():
    slope = np.abs(softmax_jacobian(softmax(SCORES, temperature=0), temperature=0)).max()
    return [slope == 0], f"梯度的绝对值最大 {slope:.0f}"


@claim(6, "只取一个就没法用梯度下降训练", "13_where_scores_come_from", "走错的样子")
def _hard_training():
    shares = [_trained(choice=choice).accuracy for choice in ("hard", "straight_through")]
    return ([share < 0.9 for share in shares],
            f"硬选择答对 {shares[0]:.1f}；求梯度时假装是 softmax（直通估计），{shares[1]:.1f}")


@claim(6, "每个位置都收到自己的信号", "06_differentiability", "从软到硬：信号在哪里消失")
def _everyone_hears():
    slopes = [np.abs(np.diagonal(softmax_jacobian(softmax((SCORES * size).astype(np.float32))))).min()
              for size in (1, 30)]
    return [slope > 0 for slope in slopes], f"最小的斜率 {slopes[0]:.3f}；分数大三十倍，float32 里 {slopes[1]:.0f}"


@claim(6, "差距大时相当于精确匹配", "06_differentiability", BOOK)
def _nearly_exact():
    needed = np.log(0.99 / 0.01 * 9)   # 一个对九个相同的
    at_gap = softmax([needed] + [0.0] * 9)[0]
    weight = softmax(SCORES)[CAT]
    return ([at_gap > 0.989, weight > 0.989],
            f"要 0.99，差距得有 {needed:.2f}；书里差 {SCORES[CAT] - SCORES[ROAD]:.1f}，得 {weight:.2f}")


# ---------------------------------------------------------------- 第 7 到 9 节

@claim(7, "每个位置综合的方式各不相同", "07_self_attention", "整张表一次算完")
def _rows_differ():
    x, *_ = _random_words()
    repeated = x.copy()
    repeated[-1] = repeated[0]   # 同一个词出现两次，没有位置
    different = []
    for words in (x, repeated):
        _, weights = scaled_dot_product_attention(words, words, words)
        different.append(len(np.unique(weights.round(9), axis=0)))
    return ([n == len(x) for n in different],
            f"{len(x)} 个词都不同：{different[0]} 种；同一个词出现两次、不加位置：{different[1]} 种")


@claim(7, "「猫」从「马路」多取，因为它过的是马路", "07_self_attention", BOOK)
def _cat_takes_road():
    cat, road = TOKENS.index("猫"), TOKENS.index("马路")
    weights = [scaled_dot_product_attention(WORDS @ W_Q, WORDS @ W_K, WORDS @ W_V, mask=mask)[1][cat, road]
               for mask in (None, causal_mask(len(TOKENS)))]
    return ([weight > 1 / len(TOKENS) for weight in weights],
            f"第 7 节编造的向量：{weights[0]:.2f}；因果掩码下 {weights[1]:.0f}（句子说的是没过）")


@claim(8, "任何两个位置之间只隔一次打分", "08_two_bottlenecks", BOOK)
def _one_step():
    query, key, value = _random_words(n=100)
    _, weights = scaled_dot_product_attention(query, key, value)
    return [weights[-1, 0] > 0], f"隔 99 个词，权重 {weights[-1, 0]:.4f}"


@claim(8, "全句一口气算完，与一个一个算一样", "07_self_attention", "整张表一次算完")
def _at_once():
    query, key, value = _random_words()
    whole, _ = scaled_dot_product_attention(query, key, value)
    one_by_one = np.concatenate([scaled_dot_product_attention(row[None], key, value)[0] for row in query])
    return [np.allclose(whole, one_by_one)], f"相差 {np.abs(whole - one_by_one).max():.4f}"


@claim(8, "句长翻倍，表变四倍", "08_two_bottlenecks", BOOK)
def _quadratic():
    cells = [softmax(np.zeros((n, n))).size for n in (11, 22)]
    return [cells[1] == 4 * cells[0]], f"{cells[0]} 格变 {cells[1]} 格"


@claim(8, "“训练大模型”第一次和显卡的胃口对上", "08_two_bottlenecks", BOOK)
def _first_time():
    return [], "这是历史；之前的卷积模型也能并行"


@claim(9, "总参数量不随头数线性涨", "09_multi_head", "参数没有变多")
def _head_parameters():
    rng = np.random.default_rng(0)
    counts = [MultiHeadAttention(64, n_heads, bias=False, rng=rng).n_parameters for n_heads in (1, 8, 16)]
    return [counts[2] < 16 * counts[0]], f"d_model = 64：1、8、16 个头是 {'、'.join(map(str, counts))} 个，根本不涨"


@claim(9, "一个头可能正好盯着指代", "12_evidence", "it 看谁")
def _reference_head():
    data = minilm.load()
    rows = softmax(data.log_weights[:2, 3, 1, minilm.IT_AT])   # L4H2，(2, N)
    flips = minilm.count_flips(data.weights)
    return ([rows[0, minilm.ANIMAL_AT] > 0.5, rows[1, minilm.PLACE_AT] > 0.5],
            f"L4H2：tired 时给 cat {rows[0, minilm.ANIMAL_AT]:.2f}，wide 时给 street {rows[1, minilm.PLACE_AT]:.2f}；"
            f"翻转最多的头 20 对里 {flips.max()} 对")


# ---------------------------------------------------------------- 第 10、11 节

@claim(10, "负无穷过了 softmax 就是 0，一份值也取不走", "10_causal_mask", "换掉后面的词，前面动不动？")
def _masked_is_zero():
    query, key, value = _random_words()
    mask = causal_mask(len(TOKENS))
    output, weights = scaled_dot_product_attention(query, key, value, mask=mask)
    changed = value.copy()
    changed[learning.IT_AT + 1:] = 1e6
    again, _ = scaled_dot_product_attention(query, key, changed, mask=mask)
    moved = np.abs(output - again)[:learning.IT_AT + 1].max()
    return [np.all(weights[~mask] == 0) and moved == 0], f"后文改成一百万，前面的输出动 {moved:.0f}"


@claim(10, "遮住后文，整句仍然一次算完", "10_causal_mask", "十道题，一次算完")
def _all_prefixes_at_once():
    query, key, value = _random_words()
    whole, _ = scaled_dot_product_attention(query, key, value, mask=causal_mask(len(TOKENS)))
    prefixes = [scaled_dot_product_attention(query[:n], key[:n], value[:n])[0][-1] for n in range(1, len(TOKENS) + 1)]
    return [np.allclose(whole, prefixes)], f"与每段前文各算一遍相差 {np.abs(whole - prefixes).max():.4f}"


@claim(10, "右上半部分整片关掉", "10_causal_mask", "掩码：一张“许看”的表")
def _upper_right():
    mask = causal_mask(len(TOKENS))
    shut, half = int((~mask).sum()), np.triu(np.ones_like(mask))   # half 连对角线
    strictly = np.array_equal(~mask, np.triu(np.ones_like(mask), 1))
    return [strictly, np.array_equal(~mask, half)], f"{mask.size} 格里关 {shut} 格；对角线留着"


@claim(10, "第 10 节那一行就是第 4 节的那一行", "10_causal_mask", BOOK)
def _same_row():
    differ = [token for token, value in SECTION_4_SCORES.items() if SECTION_10_SCORES[token] != value]
    return [not differ], f"{len(differ)} 个词的分数不同：{'、'.join(differ)}"


@claim(10, "遮住后文，「猫」仍然得到多数", "10_causal_mask", "算一行：「它」")
def _cat_masked():
    seen = np.arange(len(TOKENS)) <= learning.IT_AT
    shares = [softmax(SECTION_10_ROW, mask=mask)[TOKENS.index("猫")] for mask in (None, seen)]
    return [shares[1] > 0.5], f"遮之前 {shares[0]:.4f}，之后 {shares[1]:.4f}"


@claim(10, "只看前文的「它」，靠「累」找到「猫」", "13_where_scores_come_from", "因果掩码下，「它」不可能知道")
def _causal_it():
    model = train(Settings(hops=2, asker=learning.IT_AT, causal=True), n_steps=50).model
    rows = [ask(model, words)[1] for words in PAIR]
    gap = np.abs(rows[0] - rows[1]).max()
    return [gap > 0], f"说「累」与说「宽」，两行相差 {gap:.0f}"


@claim(10, "生成时让模型看到后文，它只会照抄", "10_causal_mask", BOOK)
def _sees_the_answer():
    words = np.eye(len(TOKENS))   # 每个词一个 one-hot 向量
    looks_ahead = softmax(1000 * np.eye(len(TOKENS), k=1))   # 只看后一个词的头
    copied = np.mean((weighted_sum(looks_ahead, words)[:-1] == words[1:]).all(axis=-1))
    share = _trained(hops=2, asker=learning.IT_AT, causal=False).accuracy
    return ([copied == 1],
            f"猜下一个词，照抄就对 {copied:.0%}（别的任务不同：猜「它」指谁，看了后文，留出的答对 {share:.0%}）")


@claim(11, "交叉注意力的计算一步不变", "11_cross_attention", BOOK)
def _cross():
    query, key = ENGLISH_VECTORS @ ENGLISH_W_Q, CHINESE_VECTORS   # (L, d_k), (S, d_k)：英文查中文
    by_steps = weighted_sum(softmax(score(query, key)), key)   # 值与键相同
    output, weights = scaled_dot_product_attention(query, key, key)
    return [np.array_equal(output, by_steps)], f"同样三步，表是 {weights.shape[0]} × {weights.shape[1]}"


# ---------------------------------------------------------------- 第 12、13 节

@claim(12, "很多头没有干净的分工，难以命名", "12_evidence", "数一数角色")
def _unnamed_heads():
    counts = minilm.count_roles(minilm.name_roles(minilm.load().weights))
    total = sum(counts.values())
    return ([counts[minilm.UNNAMED] > total / 2],
            f"{total} 个头里 {counts[minilm.UNNAMED]} 个说不出，{counts['句首']} 个看句首")


@claim(12, "真实模型的打分也是这三步的形状", "12_evidence", "自己算一个真实的头")
def _real_head():
    data = minilm.load()
    head = data.heads["L4H2"]
    _, weights = scaled_dot_product_attention(head.layer_input @ head.w_q + head.b_q,
                                              head.layer_input @ head.w_k + head.b_k, head.layer_input)
    gap = np.abs(weights - softmax(data.log_weights[:2, 3, 1])).max()
    return [gap < 1e-3], f"前两步：与存下来的权重最多差 {gap:.4f}"


@claim(12, "“唯一可行”今天不能照单全收", "12_evidence", BOOK)
def _only_way():
    return [], "要别的架构、同样的规模来比"


@claim(13, "训练之前，打分毫无意义", "13_where_scores_come_from", "训练之前，分数没有意义")
def _before_training():
    result = train(learning.ONE_HOP, n_steps=1)
    untrained = result.at_step(0)
    _, rows = untrained(result.held.tokens)
    spread = minilm.entropy(rows[0]).mean() / np.log(learning.STATE_AT + 1)
    return [accuracy(untrained, result.held) < 0.2 and spread > 0.95], (
        f"答对 {accuracy(untrained, result.held):.2f}；熵是平分的 {spread:.2f} 倍")


@claim(13, "那三个矩阵是训练出来的", "13_where_scores_come_from", "训练：三百步，不到一秒")
def _learned():
    result = _trained()
    _, weights = ask(result.model, PAIR[0])
    return [result.accuracy > 0.99 and weights[0, learning.FIRST_AT] > 0.9], (
        f"{len(result.training)} 句之后，没见过的名词对答对 {result.accuracy:.2f}")
