"""分数从哪里来：一个很小的注意力模型，加上让它学会的那几步。

模型要回答的是：「那只猫没过马路，因为它太累了」里的「它」指哪个名词。句子是按两个句型编造的；
模型只有词向量、位置向量、每一问的 W_Q、W_K、W_V，和一个读出答案的矩阵。反向传播用
`attention_core.gradients` 里的那几个函数，自己推导的只有一次矩阵乘法和交叉熵。

形状里的字母：B 是一批的句数，N = 11 是一句的词数，L 是提问的位置数（一个，或者全部 N 个），
d 是词向量的长度，d_k 是查询和键的长度。
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from ._arrays import (
    cast,
    check_count,
    check_flag,
    check_function,
    check_ids,
    check_number,
    check_rng,
    fail,
    to_float,
    to_floats,
)
from .book import ASKER, TOKENS
from .gradients import scaled_dot_product_attention_backward, score_backward, softmax_backward, weighted_sum_backward
from .masks import causal_mask
from .steps import score, softmax, weighted_sum

ANIMALS = ("猫", "狗", "兔子", "狐狸", "松鼠", "山羊", "鸭子", "刺猬", "乌龟", "猴子")
PLACES = ("马路", "街道", "小桥", "河滩", "山坡", "隧道", "广场", "铁路", "田野", "路口")
NOUNS = ANIMALS + PLACES   # 答案就从这二十个里选，编号与词表相同

# 句型 -> （没做成的事，第二个名词从哪里选，指第一个名词的状态词，指第二个名词的状态词）
PATTERNS = {
    "过": ("过", PLACES, ("累", "饿", "困", "渴", "懒"), ("宽", "堵", "滑", "吵", "陡")),
    "追上": ("追上", ANIMALS, ("慢", "笨", "虚弱", "胖"), ("快", "灵活", "机警", "敏捷")),
}
STATE_WORDS = tuple(word for _, _, first, second in PATTERNS.values() for word in first + second)
VOCABULARY = NOUNS + STATE_WORDS + ("那", "只", "没", "过", "追上", "因为", "它", "太", "了")

# 一句话里的位置：两个名词，「它」，状态词
FIRST_AT, SECOND_AT = TOKENS.index("猫"), TOKENS.index("马路")
IT_AT, STATE_AT = TOKENS.index(ASKER), TOKENS.index("累")
CHOICES = ("soft", "hard", "straight_through")
N_STEPS, EVERY = 300, 10   # 训练几步，回放时隔几步看一次

_NUMBER = {word: number for number, word in enumerate(VOCABULARY)}


def _check_word(name, x, choices):
    """检查 ``x`` 是 ``choices`` 里的一个词。"""
    if not isinstance(x, str) or x not in choices:
        fail(name, f"{tuple(choices)} 之一", repr(x), f"请从里面选一个给 {name}。")
    return x


def _check_list(name, x, expected, mend):
    """检查 ``x`` 是一串东西，返回列表；字符串也能一个字一个字地取，那不算。"""
    if isinstance(x, str) or not np.iterable(x):
        fail(name, expected, f"单独一个 {x!r}", mend)
    return list(x)


def _check_is(name, x, kind, mend):
    """检查 ``x`` 是一个 ``kind``。"""
    if not isinstance(x, kind):
        fail(name, kind.__name__, repr(x)[:80], mend)
    return x


def _check_settings(settings):
    return _check_is("settings", settings, Settings, "例如 ONE_HOP，或者 Settings(hops=2)。")


def _check_model(model):
    return _check_is("model", model, PronounModel, "例如 train(ONE_HOP).model。")


def _check_tokens(tokens):
    """检查一批句子的编号，返回数组；空的一批没有平均的损失，不收。"""
    mend = "用 encode 得到；只有一句话时写成 encode([words])。"
    tokens = check_ids("tokens", tokens, ("B", len(TOKENS)), len(VOCABULARY), mend)
    if not len(tokens):
        fail("tokens", "至少一句话的编号", "空的一批", mend)
    return tokens


def _check_labels(labels, n_sentences, n_classes):
    """检查每句话一个答案的编号，返回数组。"""
    return check_ids("labels", labels, (n_sentences,), n_classes, "每句话一个正确答案的编号，从 0 数起。")


@dataclass(frozen=True)
class Sentences:
    """一批编好号的句子和它们的答案。

    Parameters
    ----------
    tokens : ndarray of int, shape (n, N)
        每个词在 `VOCABULARY` 里的编号。
    labels : ndarray of int, shape (n,)
        「它」指的名词在 `NOUNS` 里的编号。
    """

    tokens: np.ndarray
    labels: np.ndarray

    def __post_init__(self):
        tokens = _check_tokens(self.tokens)
        labels = _check_labels(self.labels, len(tokens), len(NOUNS))
        for name, array in (("tokens", tokens), ("labels", labels)):
            object.__setattr__(self, name, array)   # frozen 不许直接赋值

    def __len__(self):
        return len(self.labels)

    @property
    def answers(self):
        """「它」指的名词在句中的位置，形状 (n,)。"""
        first = self.tokens[:, FIRST_AT] == self.labels
        return np.where(first, FIRST_AT, SECOND_AT)


def make_sentence(first, second, state, pattern="过"):
    """按句型排出一句话的十一个词。

    Parameters
    ----------
    first, second : str
        两个名词，在 `NOUNS` 里。
    state : str
        「太」后面的状态词，在 `STATE_WORDS` 里。
    pattern : str
        `PATTERNS` 里的一个。

    Returns
    -------
    words : tuple of str

    Raises
    ------
    ValueError
        没有这个名词、状态词或句型。

    Examples
    --------
    >>> "".join(make_sentence("猫", "马路", "宽"))
    '那只猫没过马路因为它太宽了'
    """
    first, second = _check_word("first", first, NOUNS), _check_word("second", second, NOUNS)
    state, verb = _check_word("state", state, STATE_WORDS), PATTERNS[_check_word("pattern", pattern, PATTERNS)][0]
    return ("那", "只", first, "没", verb, second, "因为", "它", "太", state, "了")


PAIR = make_sentence("猫", "马路", "累"), make_sentence("猫", "马路", "宽")   # 书里那句话，和只差状态词的一句


def encode(sentences):
    """把几句话变成词表里的编号。

    Parameters
    ----------
    sentences : sequence of sequence of str
        每一句十一个词，次序同 `make_sentence`。

    Returns
    -------
    tokens : ndarray of int, shape (n, N)

    Raises
    ------
    ValueError
        有词表里没有的词，或者不是十一个词。

    Examples
    --------
    >>> [VOCABULARY[token] for token in encode([make_sentence("猫", "马路", "累")])[0, 2:6]]
    ['猫', '没', '过', '马路']
    """
    expected = f"几句话，每句是 VOCABULARY 里的 {len(TOKENS)} 个词"
    mend = "用 make_sentence 排出一句；只有一句话时写成 [words]。"
    rows = [_numbers("sentences", words, expected, mend)
            for words in _check_list("sentences", sentences, expected, mend)]
    return np.array(rows, int).reshape(-1, len(TOKENS))


def _numbers(name, words, expected, mend):
    """一句话的词在词表里的编号。"""
    words = _check_list(name, words, expected, mend)
    unknown = [word for word in words if not isinstance(word, str) or word not in _NUMBER]
    if unknown or len(words) != len(TOKENS):
        fail(name, expected, f"{len(words)} 个词{f'，其中不认识 {unknown}' if unknown else ''}", mend)
    return [_NUMBER[word] for word in words]


def make_sentences(rng, *, held_out=0.3, patterns=tuple(PATTERNS)):
    """排出两个句型的全部句子，按名词对分成训练用的和留出的。

    Parameters
    ----------
    rng : numpy.random.Generator
        决定留出哪些名词对。
    held_out : float
        每个句型留出的名词对的比例；再小也留一对，再大也剩一对来训练。
        猫 + 马路总在留出的里面，所以书里那句话从来不参加训练。
    patterns : sequence of str
        用哪些句型，缺省两个都用。

    Returns
    -------
    training, held : Sentences

    Raises
    ------
    ValueError
        ``rng`` 不是 Generator，比例不在 0 与 1 之间，没有这个句型，或者句型是空的、有重复。

    Examples
    --------
    >>> training, held = make_sentences(np.random.default_rng(0))
    >>> len(training), len(held)
    (1204, 516)
    """
    check_rng(rng)
    held_out = check_number("held_out", held_out, "大于 0、小于 1 的数", lambda share: 0 < share < 1)
    expected, mend = "一个或几个不重复的句型", f"例如 patterns={tuple(PATTERNS)}。"
    patterns = [_check_word("patterns", pattern, PATTERNS)
                for pattern in _check_list("patterns", patterns, expected, mend)]
    if not patterns or len(set(patterns)) < len(patterns):   # 重复的句型会让留出的名词对又去训练
        fail("patterns", expected, repr(patterns), mend)
    training, held = [], []
    for pattern in patterns:
        _, seconds, first_states, second_states = PATTERNS[pattern]
        pairs = [(first, second) for first in ANIMALS for second in seconds if first != second]
        order = [pairs[i] for i in rng.permutation(len(pairs))]
        order.sort(key=lambda pair: pair != ("猫", "马路"))   # 稳定排序：这一对到最前，其余次序不变
        n_held = min(max(round(held_out * len(pairs)), 1), len(pairs) - 1)
        for place, (first, second) in enumerate(order):
            rows = held if place < n_held else training
            rows += [(make_sentence(first, second, state, pattern), first if state in first_states else second)
                     for state in first_states + second_states]
    return tuple(Sentences(encode([words for words, _ in rows]), np.array([_NUMBER[noun] for _, noun in rows]))
                 for rows in (training, held))


@dataclass(frozen=True)
class Settings:
    """模型的样子。

    Parameters
    ----------
    hops : int
        问几次。第一问的回答加到提问者身上，第二问就带着它去问。
    asker : int
        谁来问：`IT_AT`（「它」）或者 `STATE_AT`（状态词）的位置。
    causal : bool
        只许看自己和前面。
    d_model, d_k : int
        词向量的长度；查询和键的长度。
    scaled : bool
        分数除不除以 ``sqrt(d_k)``。
    choice : str
        "soft"：softmax；"hard"：只取最高分；"straight_through"：正向只取最高分，反向假装是 softmax。
    everyone_asks : bool
        True：除最后一问以外，每个位置都提问、都改写自己，也就是普通的多层自注意力。
        False：只有提问者提问，键和值始终来自原来的词。
    unit_scores : bool
        True：起步时查询和键的每个分量方差为 1（第 5 节的假设）；False：通常的、较小的起步。
    """

    hops: int = 1
    asker: int = STATE_AT
    causal: bool = True
    d_model: int = 16
    d_k: int = 16
    scaled: bool = True
    choice: str = "soft"
    everyone_asks: bool = False
    unit_scores: bool = False

    def __post_init__(self):
        for name in ("hops", "d_model", "d_k"):
            # 换成 Python 的整数：numpy 的小整数乘起来会溢出
            object.__setattr__(self, name, check_count(name, getattr(self, name), minimum=1))
        for name in ("causal", "scaled", "everyone_asks", "unit_scores"):
            check_flag(name, getattr(self, name))
        if check_count("asker", self.asker) >= len(TOKENS):
            fail("asker", f"0 到 {len(TOKENS) - 1} 的位置", str(self.asker), "「它」是 IT_AT，状态词是 STATE_AT。")
        _check_word("choice", self.choice, CHOICES)


ONE_HOP = Settings()                                       # M1：状态词问一次
TWO_HOPS = Settings(hops=2, asker=IT_AT, causal=False)     # M2：「它」问两次

EMBEDDING_STD = 0.3


class PronounModel:
    """回答「它」指谁的小模型。

    Parameters
    ----------
    settings : Settings
    rng : numpy.random.Generator
        起步的参数从这里取。

    Attributes
    ----------
    vector : ndarray, shape (n_parameters,)
        全部参数排成一串；优化器改的就是它。
    parameters : dict of str to ndarray
        同一份内存按名字和形状来看：words、places、W_Q1、W_K1、W_V1……、readout、bias。

    Examples
    --------
    >>> model = PronounModel(ONE_HOP, np.random.default_rng(0))
    >>> model.n_parameters
    2036
    """

    def __init__(self, settings, rng):
        self.settings = _check_settings(settings)
        check_rng(rng)
        shapes = _shapes(settings)
        self.vector = np.zeros(sum(int(np.prod(shape)) for shape in shapes.values()))
        self.parameters = _views(self.vector, shapes)
        self._scale = None if settings.scaled else 1.0   # None: 1/sqrt(d_k)
        self._mask = causal_mask(len(TOKENS)) if settings.causal else np.ones((len(TOKENS),) * 2, bool)   # (N, N)
        for name, parameter in self.parameters.items():
            if name != "bias":
                parameter[...] = rng.normal(scale=_initial_std(name, settings), size=parameter.shape)

    @property
    def n_parameters(self):
        """参数的总个数。"""
        return self.vector.size

    def __call__(self, tokens):
        """走一遍模型。

        Parameters
        ----------
        tokens : ndarray of int, shape (B, N)

        Returns
        -------
        logits : ndarray, shape (B, 20)
            每个名词的分数。
        weights : list of ndarray, each of shape (B, N)
            提问者每一问的注意力权重。
        """
        logits, steps = self._forward(_check_tokens(tokens))
        asker = self.settings.asker
        rows = [step.weights[:, asker if step.weights.shape[1] > 1 else 0] for step in steps]   # (B, N)
        return logits, rows

    def loss_and_gradient(self, tokens, labels):
        """一批句子的平均交叉熵，以及它对每个参数的梯度。

        Parameters
        ----------
        tokens : ndarray of int, shape (B, N)
        labels : ndarray of int, shape (B,)

        Returns
        -------
        loss : float
        gradient : ndarray, shape (n_parameters,)
            排法与 ``vector`` 相同。
        """
        tokens = _check_tokens(tokens)
        logits, steps = self._forward(tokens)
        loss, d_logits = cross_entropy(logits, labels)
        return loss, self._backward(d_logits, tokens, steps)

    def scores_gradient(self, tokens, labels):
        """每一句自己的损失对它最后一问的分数的梯度，形状 (B, N)。"""
        logits, steps = self._forward(_check_tokens(tokens))
        last = steps[-1]
        d_logits = cross_entropy(logits, labels)[1] * len(labels)   # 不取平均
        d_output = (d_logits @ self.parameters["readout"].T)[:, None]   # (B, 1, d)
        d_weights, _ = weighted_sum_backward(d_output, last.weights, last.value)
        return self._softmax_backward(d_weights, last)[:, 0]

    def gradient_by_name(self, gradient):
        """把一串梯度按参数的名字分开。"""
        gradient = to_float("gradient", gradient)
        if gradient.shape != self.vector.shape:
            fail("gradient", f"形状 {self.vector.shape} 的数组", f"形状 {gradient.shape}",
                 "用 loss_and_gradient 的第二个结果。")
        return _views(gradient, _shapes(self.settings))

    def _forward(self, tokens):
        words = self.parameters["words"][tokens] + self.parameters["places"]   # (B, N, d)
        asker = slice(self.settings.asker, self.settings.asker + 1)
        stream = words if self.settings.everyone_asks else words[:, asker]   # (B, L, d)
        steps = []
        for hop in range(1, self.settings.hops + 1):
            is_last = hop == self.settings.hops
            source = stream if self.settings.everyone_asks else words   # (B, N, d)
            asking = stream[:, asker] if is_last and self.settings.everyone_asks else stream
            step = self._ask(hop, asking, source)
            steps.append(step)
            stream = step.output if is_last else stream + step.output
        return stream[:, 0] @ self.parameters["readout"] + self.parameters["bias"], steps   # (B, 20)

    def _ask(self, hop, asking, source):
        w_q, w_k, w_v = (self.parameters[f"W_{letter}{hop}"] for letter in "QKV")
        # 一句一句地乘，不摊平成一个大矩阵：乘法一大，BLAS 就开多个线程，等线程比算还久
        query, key, value = asking @ w_q, source @ w_k, source @ w_v   # (B, L, d_k), (B, N, d_k), (B, N, d)
        mask = self._mask if asking.shape[1] > 1 else self._mask[self.settings.asker]   # (L, N) 或 (N,)
        scores = score(query, key, scale=self._scale)   # (B, L, N)
        soft = softmax(scores, mask=np.atleast_2d(mask))
        weights = soft if self.settings.choice == "soft" else softmax(scores, mask=np.atleast_2d(mask), temperature=0)
        return _Step(asking, source, query, key, value, soft, weights, weighted_sum(weights, value))

    def _backward(self, d_logits, tokens, steps):
        gradient = np.zeros_like(self.vector)
        by_name = self.gradient_by_name(gradient)
        by_name["readout"][...] = steps[-1].output[:, 0].T @ d_logits
        by_name["bias"][...] = d_logits.sum(axis=0)
        d_stream = (d_logits @ self.parameters["readout"].T)[:, None]   # (B, 1, d)
        d_words = np.zeros((*tokens.shape, self.settings.d_model))   # (B, N, d)
        asker = slice(self.settings.asker, self.settings.asker + 1)
        for hop, step in reversed(list(enumerate(steps, 1))):
            d_asking, d_source = self._ask_backward(hop, step, d_stream, by_name)
            if hop < self.settings.hops:
                d_asking += d_stream   # 残差：原来的自己也留着
            if self.settings.everyone_asks:
                d_stream = d_source
                d_stream[:, asker if d_asking.shape[1] == 1 else slice(None)] += d_asking
            else:
                d_stream = d_asking
                d_words += d_source
        d_words[:, slice(None) if self.settings.everyone_asks else asker] += d_stream
        by_name["places"][...] = d_words.sum(axis=0)
        # 同一个词出现几次，它的向量就收到几份梯度；乘 one-hot 矩阵把它们加到一起，比 np.add.at 快
        one_hot = (tokens[:, None] == np.arange(len(VOCABULARY))[:, None]).astype(float)   # (B, 47, N)
        by_name["words"][...] = (one_hot @ d_words).sum(axis=0)
        return gradient

    def _ask_backward(self, hop, step, d_output, by_name):
        if self.settings.choice == "soft":
            d_query, d_key, d_value = scaled_dot_product_attention_backward(
                d_output, step.query, step.key, step.value, scale=self._scale, weights=step.weights)
        else:
            d_weights, d_value = weighted_sum_backward(d_output, step.weights, step.value)
            d_scores = self._softmax_backward(d_weights, step)
            d_query, d_key = score_backward(d_scores, step.query, step.key, scale=self._scale)
        d_asking = _matmul_backward(d_query, step.asking, f"W_Q{hop}", self.parameters, by_name)
        d_source = _matmul_backward(d_key, step.source, f"W_K{hop}", self.parameters, by_name)
        d_source += _matmul_backward(d_value, step.source, f"W_V{hop}", self.parameters, by_name)
        return d_asking, d_source

    def _softmax_backward(self, d_weights, step):
        """硬选择的权重不随分数连续变化，梯度是 0；直通估计假装它就是 softmax。"""
        return softmax_backward(d_weights, step.soft, temperature=0.0 if self.settings.choice == "hard" else 1.0)


@dataclass
class _Step:
    """一问的中间结果，反向传播时要用。"""

    asking: np.ndarray   # (B, L, d)
    source: np.ndarray   # (B, N, d)
    query: np.ndarray    # (B, L, d_k)
    key: np.ndarray      # (B, N, d_k)
    value: np.ndarray    # (B, N, d)
    soft: np.ndarray     # (B, L, N)
    weights: np.ndarray  # (B, L, N)
    output: np.ndarray   # (B, L, d)


def cross_entropy(logits, labels):
    """平均交叉熵，和它对 ``logits`` 的梯度。

    ``loss = mean(-log(softmax(logits)[label]))``

    Parameters
    ----------
    logits : ndarray, shape (B, n_classes)
    labels : ndarray of int, shape (B,)

    Returns
    -------
    loss : float
    d_logits : ndarray, shape (B, n_classes)

    Raises
    ------
    ValueError
        一句也没有，形状对不上，或者没有这个编号。

    Examples
    --------
    >>> loss, d_logits = cross_entropy(np.zeros((1, 4)), np.array([2]))
    >>> round(loss, 4), d_logits
    (1.3863, array([[ 0.25,  0.25, -0.75,  0.25]]))
    """
    dtype, logits = to_floats("logits", logits)
    if logits.ndim != 2 or not logits.size:
        fail("logits", "形状 (B, n_classes) 的数组，至少一句", f"形状 {logits.shape}", "一句话写成 logits[None]。")
    labels = _check_labels(labels, *logits.shape)
    rows = np.arange(len(labels))
    with np.errstate(over="ignore"):   # 差得太远的成为 -inf，取次方是 0
        shifted = logits - logits.max(axis=-1, keepdims=True)
        loss = float((np.log(np.exp(shifted).sum(axis=-1)) - shifted[rows, labels]).mean())
    d_logits = softmax(logits)
    d_logits[rows, labels] -= 1
    return loss, cast(d_logits / len(labels), dtype)


class Adam:
    """Adam：每个参数按自己梯度的大小调整步子。它记着走过的梯度，所以一次训练用一个新的。

    Parameters
    ----------
    learning_rate : float
        步子的大小。

    Notes
    -----
    Kingma 与 Ba, "Adam: A Method for Stochastic Optimization" (2015), 算法 1。
    """

    decay = (0.9, 0.999)   # 梯度的平均和梯度平方的平均，各自忘得多慢；论文里的缺省值
    epsilon = 1e-8   # 防止除以 0

    def __init__(self, learning_rate=0.01):
        self.learning_rate = check_number("learning_rate", learning_rate, "大于 0 的有限的数", lambda x: 0 < x < np.inf)
        self.n_steps, self.mean, self.square = 0, 0.0, 0.0

    def step(self, vector, gradient):
        """就地把 ``vector`` 往下坡挪一步。"""
        gradient = to_float("gradient", gradient)
        if not isinstance(vector, np.ndarray) or vector.dtype.kind != "f" or vector.shape != gradient.shape:
            fail("vector", f"与 gradient 同形 {gradient.shape} 的浮点数组", repr(vector)[:80], "它会被就地改写。")
        slow, slower = self.decay
        self.n_steps += 1
        self.mean = slow * self.mean + (1 - slow) * gradient
        self.square = slower * self.square + (1 - slower) * gradient**2
        mean = self.mean / (1 - slow**self.n_steps)   # 从 0 起步，所以开头要放大
        square = self.square / (1 - slower**self.n_steps)
        vector -= self.learning_rate * mean / (np.sqrt(square) + self.epsilon)


@dataclass(frozen=True)
class Training:
    """一次训练的记录。

    Parameters
    ----------
    model : PronounModel
        训练好的模型。
    training, held : Sentences
    losses : ndarray, shape (n_steps,)
    snapshots : ndarray, shape (n_steps + 1, n_parameters)
        第 t 行是走了 t 步以后的全部参数；第 0 行是随机的起步。
    """

    model: PronounModel
    training: Sentences
    held: Sentences
    losses: np.ndarray
    snapshots: np.ndarray

    def at_step(self, step):
        """走了 ``step`` 步以后的模型（另一份，不影响训练好的那个）。"""
        if not 0 <= check_count("step", step) < len(self.snapshots):
            fail("step", f"0 到 {len(self.snapshots) - 1} 的整数", str(step), "训练只走了这么多步。")
        model = PronounModel(self.model.settings, np.random.default_rng(0))
        model.vector[...] = self.snapshots[step]
        return model

    def watch(self, sentences, *, every=EVERY):
        """回放训练：每隔几步看一次模型怎样读这几句话。

        Parameters
        ----------
        sentences : sequence of sequence of str
            见 `encode`。
        every : int

        Returns
        -------
        steps : ndarray of int, shape (T,)
        weights : ndarray, shape (T, hops, n, N)
            提问者每一问的权重。
        accuracies : ndarray, shape (T,)
            那一步在留出的句子上答对的比例。
        """
        steps = np.arange(0, len(self.snapshots), check_count("every", every, minimum=1))
        tokens, models = encode(sentences), map(self.at_step, steps.tolist())
        seen = [(np.stack(model(tokens)[1]), accuracy(model, self.held)) for model in models]
        return steps, np.stack([weights for weights, _ in seen]), np.array([share for _, share in seen])

    @property
    def accuracy(self):
        """训练好的模型在留出的句子上答对的比例。"""
        return accuracy(self.model, self.held)


def train(settings, *, seed=0, n_steps=N_STEPS, batch=96, make_optimizer=Adam, patterns=tuple(PATTERNS),
          progress=None):
    """排句子、起步、训练，从头到尾由一个种子决定。

    Parameters
    ----------
    settings : Settings
    seed : int
    n_steps : int
    batch : int
        一步看几句。
    make_optimizer : callable
        不接参数，每次训练做一个新的优化器，例如 ``lambda: Adam(0.02)``；优化器有 ``step(vector, gradient)``。
    patterns : sequence of str
        见 `make_sentences`。
    progress : callable, optional
        每走一步调用 ``progress(step, loss)``，进度条用。

    Returns
    -------
    Training

    Raises
    ------
    ValueError
        ``settings`` 不是 Settings，个数、种子不是整数，句型不对，或者该是函数的不能调用。

    Examples
    --------
    >>> train(ONE_HOP, n_steps=200).accuracy
    1.0
    """
    n_steps, batch = check_count("n_steps", n_steps, minimum=1), check_count("batch", batch, minimum=1)
    check_function("make_optimizer", make_optimizer, "例如 Adam，或者 lambda: Adam(0.02)。")
    if progress is not None:
        check_function("progress", progress, "例如 progress_bar(300) 的结果。")
    rng = np.random.default_rng(check_count("seed", seed))
    training, held = make_sentences(rng, patterns=patterns)
    model, optimizer = PronounModel(settings, rng), make_optimizer()
    losses, snapshots = np.empty(n_steps), np.empty((n_steps + 1, model.n_parameters))
    snapshots[0] = model.vector
    for step in range(n_steps):
        rows = rng.integers(len(training), size=batch)
        losses[step], gradient = model.loss_and_gradient(training.tokens[rows], training.labels[rows])
        optimizer.step(model.vector, gradient)
        snapshots[step + 1] = model.vector
        if progress is not None:
            progress(step + 1, losses[step])
    return Training(model, training, held, losses, snapshots)


def replay(settings):
    """训练一次并回放：`PAIR` 的两句话，从随机的起步看到最后一步。同样的设置只训练一次。

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    steps, weights, accuracies : ndarray
        见 `Training.watch`；记下来的只有一份，所以不可改写。

    Raises
    ------
    ValueError
        ``settings`` 不是 Settings。
    """
    return _replay(_check_settings(settings))


@cache
def _replay(settings):
    watched = train(settings, batch=48).watch(PAIR)   # 一步只看 48 句：拖动 d_k 时等得短
    for array in watched:
        array.flags.writeable = False
    return watched


def accuracy(model, sentences):
    """模型答对的比例：二十个名词里分数最高的那个，正是「它」指的那个。

    Parameters
    ----------
    model : PronounModel
    sentences : Sentences

    Returns
    -------
    share : float
    """
    _check_is("sentences", sentences, Sentences, "例如 make_sentences 的一个结果。")
    logits, _ = _check_model(model)(sentences.tokens)
    return float((logits.argmax(axis=-1) == sentences.labels).mean())


def ask(model, words):
    """让模型读一句话。

    Parameters
    ----------
    model : PronounModel
    words : sequence of str
        十一个词，例如 ``make_sentence("猫", "马路", "累")``。

    Returns
    -------
    noun : str
        模型认为「它」指谁。
    weights : ndarray, shape (hops, N)
        提问者每一问的权重。
    """
    numbers = _numbers("words", words, f"VOCABULARY 里的 {len(TOKENS)} 个词", "用 make_sentence 排出一句。")
    logits, rows = _check_model(model)([numbers])
    return NOUNS[logits[0].argmax()], np.stack([row[0] for row in rows])


def _shapes(settings):
    """每个参数的名字和形状，按它们在一串里的次序。"""
    d, d_k = settings.d_model, settings.d_k
    shapes = {"words": (len(VOCABULARY), d), "places": (len(TOKENS), d)}
    for hop in range(1, settings.hops + 1):
        shapes |= {f"W_Q{hop}": (d, d_k), f"W_K{hop}": (d, d_k), f"W_V{hop}": (d, d)}
    return shapes | {"readout": (d, len(NOUNS)), "bias": (len(NOUNS),)}


def _views(vector, shapes):
    """把一串数按名字和形状切开；切出来的是视图，改它就是改那一串。"""
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes.values()])
    return {name: part.reshape(shape)
            for (name, shape), part in zip(shapes.items(), np.split(vector, ends[:-1]))}


def _initial_std(name, settings):
    """起步时参数的标准差。"""
    if name in ("words", "places"):
        return EMBEDDING_STD
    if name.startswith(("W_V", "readout")):
        return 2 / np.sqrt(settings.d_model)   # 起步就让答案听得见值里的内容，学起来才快
    if settings.unit_scores:
        # 词向量加位置向量的方差是 2 * std^2，乘上 d 个分量正好抵消成 1
        return 1 / np.sqrt(2 * settings.d_model * EMBEDDING_STD**2)
    return 1 / np.sqrt(settings.d_model)


def _matmul_backward(d_product, x, name, parameters, by_name):
    """``product = x @ parameters[name]`` 的反向：记下参数的梯度，返回 x 的梯度。"""
    by_name[name] += (x.swapaxes(-1, -2) @ d_product).sum(axis=0)
    return d_product @ parameters[name].T
