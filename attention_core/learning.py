"""分数从哪里来：一个很小的注意力模型，加上让它学会的那几步。

模型要回答的是：「那只猫没过马路，因为它太累了」里的「它」指哪个名词。句子是按两个句型编造的；
模型只有词向量、位置向量、每一问的 W_Q、W_K、W_V，和一个读出答案的矩阵。反向传播用
`attention_core.gradients` 里的那几个函数，自己推导的只有一次矩阵乘法和交叉熵。

形状里的字母：B 是一批的句数，N = 11 是一句的词数，L 是提问的位置数（一个，或者全部 N 个），
d 是词向量的长度，d_k 是查询和键的长度。
"""

from dataclasses import dataclass

import numpy as np

from ._arrays import check_count, check_number, fail
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

FIRST_NOUN, SECOND_NOUN = TOKENS.index("猫"), TOKENS.index("马路")
IT, STATE = TOKENS.index(ASKER), TOKENS.index("累")
CHOICES = ("soft", "hard", "straight_through")

_NUMBER = {word: number for number, word in enumerate(VOCABULARY)}


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

    def __len__(self):
        return len(self.labels)

    @property
    def answers(self):
        """「它」指的名词在句中的位置，形状 (n,)。"""
        first = self.tokens[:, FIRST_NOUN] == self.labels
        return np.where(first, FIRST_NOUN, SECOND_NOUN)


def make_sentence(first, second, state, pattern="过"):
    """按句型排出一句话的十一个词。

    Parameters
    ----------
    first, second : str
        两个名词。
    state : str
        「太」后面的状态词。
    pattern : str
        `PATTERNS` 里的一个。

    Returns
    -------
    words : tuple of str

    Raises
    ------
    ValueError
        没有这个句型。

    Examples
    --------
    >>> "".join(make_sentence("猫", "马路", "宽"))
    '那只猫没过马路因为它太宽了'
    """
    if pattern not in PATTERNS:
        fail("pattern", f" {tuple(PATTERNS)} 之一", f" {pattern!r}", "只有这两个句型。")
    return ("那", "只", first, "没", PATTERNS[pattern][0], second, "因为", "它", "太", state, "了")


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
    for words in sentences:
        unknown = [word for word in words if word not in _NUMBER]
        if unknown or len(words) != len(TOKENS):
            fail("sentences", f"每句 {len(TOKENS)} 个词、词都在 VOCABULARY 里的句子",
                 f" {len(words)} 个词，其中不认识 {unknown}", "用 make_sentence 排出一句。")
    return np.array([[_NUMBER[word] for word in words] for words in sentences], int).reshape(-1, len(TOKENS))


def make_sentences(rng, *, held_out=0.3, patterns=tuple(PATTERNS)):
    """排出两个句型的全部句子，按名词对分成训练用的和留出的。

    Parameters
    ----------
    rng : numpy.random.Generator
        决定留出哪些名词对。
    held_out : float
        每个句型留出的名词对的比例。猫 + 马路总在留出的里面，所以书里那句话从来不参加训练。
    patterns : sequence of str
        用哪些句型，缺省两个都用。

    Returns
    -------
    training, held : Sentences

    Raises
    ------
    ValueError
        比例不在 0 与 1 之间，或者没有这个句型。

    Examples
    --------
    >>> training, held = make_sentences(np.random.default_rng(0))
    >>> len(training), len(held)
    (1204, 516)
    """
    held_out = check_number("held_out", held_out, "大于 0、小于 1 的数", lambda share: 0 < share < 1)
    training, held = [], []
    for pattern in patterns:
        if pattern not in PATTERNS:
            fail("patterns", f" {tuple(PATTERNS)} 里的句型", f" {pattern!r}", "只有这两个句型。")
        _, seconds, first_states, second_states = PATTERNS[pattern]
        pairs = [(first, second) for first in ANIMALS for second in seconds if first != second]
        order = [pairs[i] for i in rng.permutation(len(pairs))]
        order.sort(key=lambda pair: pair != ("猫", "马路"))   # 稳定排序：这一对到最前，其余次序不变
        n_held = round(held_out * len(pairs))
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
        谁来问：`IT`（「它」）或者 `STATE`（状态词）的位置。
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
    asker: int = STATE
    causal: bool = True
    d_model: int = 16
    d_k: int = 16
    scaled: bool = True
    choice: str = "soft"
    everyone_asks: bool = False
    unit_scores: bool = False

    def __post_init__(self):
        for name in ("hops", "d_model", "d_k"):
            check_count(name, getattr(self, name), minimum=1)
        if check_count("asker", self.asker) >= len(TOKENS):
            fail("asker", f" 0 到 {len(TOKENS) - 1} 的位置", f" {self.asker}", "「它」是 IT，状态词是 STATE。")
        if self.choice not in CHOICES:
            fail("choice", f" {CHOICES} 之一", f" {self.choice!r}", "缺省是 'soft'。")


ONE_HOP = Settings()                                    # M1：状态词问一次
TWO_HOPS = Settings(hops=2, asker=IT, causal=False)     # M2：「它」问两次

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
        self.settings = settings
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
        logits, steps = self._forward(tokens)
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
        logits, steps = self._forward(tokens)
        loss, d_logits = cross_entropy(logits, labels)
        return loss, self._backward(d_logits, tokens, steps)

    def scores_gradient(self, tokens, labels):
        """每一句自己的损失对它最后一问的分数的梯度，形状 (B, N)。"""
        logits, steps = self._forward(tokens)
        last = steps[-1]
        d_logits = cross_entropy(logits, labels)[1] * len(labels)   # 不取平均
        d_output = (d_logits @ self.parameters["readout"].T)[:, None]   # (B, 1, d)
        d_weights, _ = weighted_sum_backward(d_output, last.weights, last.value)
        return self._softmax_backward(d_weights, last)[:, 0]

    def gradient_by_name(self, gradient):
        """把一串梯度按参数的名字分开。"""
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

    Examples
    --------
    >>> loss, d_logits = cross_entropy(np.zeros((1, 4)), np.array([2]))
    >>> round(loss, 4), d_logits
    (1.3863, array([[ 0.25,  0.25, -0.75,  0.25]]))
    """
    rows = np.arange(len(labels))
    shifted = logits - logits.max(axis=-1, keepdims=True)
    loss = float((np.log(np.exp(shifted).sum(axis=-1)) - shifted[rows, labels]).mean())
    d_logits = softmax(logits)
    d_logits[rows, labels] -= 1
    return loss, d_logits / len(labels)


class Adam:
    """Adam：每个参数按自己梯度的大小调整步子。

    Parameters
    ----------
    learning_rate : float
    decay : tuple of two floats
        梯度的平均和梯度平方的平均，各自忘得多慢。
    epsilon : float
        防止除以 0。

    Notes
    -----
    Kingma 与 Ba, "Adam: A Method for Stochastic Optimization" (2015), 算法 1。
    """

    def __init__(self, learning_rate=0.01, decay=(0.9, 0.999), epsilon=1e-8):
        self.learning_rate, self.decay, self.epsilon = learning_rate, decay, epsilon
        self.n_steps, self.mean, self.square = 0, 0.0, 0.0

    def step(self, vector, gradient):
        """就地把 ``vector`` 往下坡挪一步。"""
        slow, slower = self.decay
        self.n_steps += 1
        self.mean = slow * self.mean + (1 - slow) * gradient
        self.square = slower * self.square + (1 - slower) * gradient**2
        mean = self.mean / (1 - slow**self.n_steps)   # 从 0 起步，所以开头要放大
        square = self.square / (1 - slower**self.n_steps)
        vector -= self.learning_rate * mean / (np.sqrt(square) + self.epsilon)


class GradientDescent:
    """最朴素的梯度下降：沿着梯度的反方向走一步。"""

    def __init__(self, learning_rate=0.3):
        self.learning_rate = learning_rate

    def step(self, vector, gradient):
        """就地把 ``vector`` 往下坡挪一步。"""
        vector -= self.learning_rate * gradient


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
            fail("step", f" 0 到 {len(self.snapshots) - 1} 的整数", f" {step}", "训练只走了这么多步。")
        model = PronounModel(self.model.settings, np.random.default_rng(0))
        model.vector[...] = self.snapshots[step]
        return model

    def watch(self, sentences, *, every=10):
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


def train(settings, *, seed=0, n_steps=300, batch=96, optimizer=None, patterns=tuple(PATTERNS), progress=None):
    """排句子、起步、训练，从头到尾由一个种子决定。

    Parameters
    ----------
    settings : Settings
    seed : int
    n_steps : int
    batch : int
        一步看几句。
    optimizer : Adam or GradientDescent, optional
        缺省是 ``Adam(0.01)``。
    patterns : sequence of str
        见 `make_sentences`。
    progress : callable, optional
        每走一步调用 ``progress(step, loss)``，进度条用。

    Returns
    -------
    Training

    Examples
    --------
    >>> train(ONE_HOP, n_steps=200).accuracy
    1.0
    """
    check_count("n_steps", n_steps, minimum=1)
    check_count("batch", batch, minimum=1)
    rng = np.random.default_rng(seed)
    training, held = make_sentences(rng, patterns=patterns)
    model = PronounModel(settings, rng)
    optimizer = Adam() if optimizer is None else optimizer
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
    logits, _ = model(sentences.tokens)
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
    logits, rows = model(encode([words]))
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
