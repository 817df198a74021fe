"""每段中文守每条写法的规矩；每条规矩抓得住它的反例，放过容易误伤的写法。"""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import style_rules
from style_rules import RULES, STYLE, Passage, missing_english

FILES = style_rules.files()


def names(paths):
    return [path.relative_to(style_rules.ROOT).as_posix() for path in paths]


def test_the_pages_for_readers_and_maintainers_are_among_the_files():
    found = names(FILES)
    for name in ("README.md", ".github/CONTRIBUTING.md", ".github/STYLE.md", "attention_core/steps.py",
                 "attention_core/exercises/section_04.py", "notebooks/04_three_steps.ipynb", "tests/test_style.py"):
        assert name in found


@pytest.mark.parametrize("path", FILES, ids=names(FILES))
def test_file(path):
    problems = [
        f"{passage.where}：{problem}"
        for passage in style_rules.of_file(path)
        for rule in RULES
        for problem in rule(passage)
    ]
    if path.suffix == ".ipynb":
        problems += missing_english(nbformat.read(path, as_version=4))
    assert not problems, "\n".join(problems)


# ---------------------------------------------------------------- 规矩真的抓得住

VIOLATIONS = {
    "one_word_for_one_thing": ["加上遮罩以后", "两个矢量的内积", "每个词元一行", "请您看", "让我们开始",
                               "众所周知，它累了"],
    "full_width_punctuation": ["猫,马路", "权重:猫最大", "为什么?因为累", "看图;再猜",
                               "softmax 之前, 先减去最大值，就不会溢出", "它指猫."],
    "parentheses": ["权重 (猫的)最大", "温度（temperature）调高", "温度(temperature) 调高"],
    "quotation_marks": ['他说"累"了', '书里的"它"字'],
    "ellipsis_and_dash": ["还有...", "注意力——就是回头看", "注意力 — 就是回头看", "对了！"],
    "space_between_chinese_and_latin": ["第4 节讲的是", "第 4节讲的是", "用softmax 归一", "用 softmax归一以后"],
    "no_space_inside_chinese": ["它 指的是猫", "第 4 节里 的猫"],
    "bold_renders": ["他说**“猫”**了", "这是**注意，**不是", "<details>\n**提示**\n</details>"],
}

ALLOWED = [
    "行内代码 `softmax(scores,mask)` 和公式 $d_k, d_v$ 里用半角。",
    "数组的形状写成 `(批, L, S)`，例子写成 [\"猫\", \"马路\"]。",
    "第 4 节　走查：温度 (temperature)、ReLU（负数变成 0）和 GPU。",
    "省略号……和「猫」、“累”、**粗体**，都可以。",
    "比是 3:1，网址是 https://example.org/a,b 。",
    "层归一化 (LayerNorm) 是另一件事。",
    "an English sentence about 猫, its share and the other nine words.",
    "乘方 `2**3`，公式 $a^{**}$。",
]


def test_every_rule_has_a_violation():
    assert set(VIOLATIONS) == {rule.__name__ for rule in RULES}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in VIOLATIONS.items() for text in texts])
def test_rule_catches_its_violation(name, text):
    assert list(getattr(style_rules, name)(Passage("这里", "markdown", text)))


@pytest.mark.parametrize("text", ALLOWED)
def test_what_is_allowed_breaks_no_rule(text):
    passage = Passage("这里", "markdown", text)
    assert [problem for rule in RULES for problem in rule(passage)] == []


# ---------------------------------------------------------------- 术语表真的被读到


def test_the_table_is_read_from_the_style_page():
    page = STYLE.read_text(encoding="utf-8")
    assert style_rules.terms()["查询"] == ("query", True)
    assert style_rules.banned()["遮罩"] == "掩码"
    assert style_rules.banned()["您"] == "你"
    # 每一行都读到了：行数从原文里另数一遍，两张表各有一行表头。
    rows = [line for line in page.splitlines() if line.startswith("|") and not line.startswith("|---")]
    assert len(style_rules.tables()) == len(rows) - 2


def test_no_word_is_both_right_and_wrong():
    assert set(style_rules.banned()) & set(style_rules.terms()) == set()
    # 不用的词若是某个术语的一部分，写对了也会被抓。
    assert [(word, term) for word in style_rules.banned() for term in style_rules.terms() if word in term] == []


def test_a_required_term_without_its_english_is_caught():
    def notebook(*sources, tags=()):
        return new_notebook(cells=[new_markdown_cell(source, metadata={"tags": list(tags)}) for source in sources])

    assert list(missing_english(notebook("猫的权重最大。")))
    assert list(missing_english(notebook("猫的权重最大。", "weights")))
    assert not list(missing_english(notebook("猫的权重 (weights) 最大。", "权重加起来是 1。")))
    assert not list(missing_english(notebook("**权重** (weights)")))
    assert not list(missing_english(notebook("| 权重 | weights |")))
    assert not list(missing_english(notebook("查询、键、值 (query, key, value)")))
    assert not list(missing_english(notebook("第 10 节的因果掩码。")))
    assert not list(missing_english(notebook("下一本讲权重。", tags=["navigation"])))


# ---------------------------------------------------------------- 每种地方的文字都取得到


def texts(passages):
    return [passage.text for passage in passages]


def test_comments_strings_and_docstrings_are_found():
    source = '"""模块。"""\n# 注释\ndef f():\n    """函数。"""\n    return "字符串" + f"前{1}后"\n'
    assert sorted(texts(style_rules.of_python("x.py", source))) == sorted(
        ["注释", "模块。", "函数。", "字符串", "前", "后"])
    assert sorted(texts(style_rules.of_python("x.py", source, strings=False))) == sorted(["注释", "模块。", "函数。"])


def test_examples_in_docstrings_are_code():
    text = "说明。\n\n>>> f('猫,狗')\n'猫,狗'\n\n再说。\n\n用法::\n\n    f(猫,狗)\n\n末了。"
    kept = style_rules.without_examples(text)
    assert "猫" not in kept
    for part in ("说明。", "再说。", "用法", "末了。"):
        assert part in kept


def test_markdown_code_and_outputs_of_a_notebook_are_found():
    html = '<figure><style>中文</style><img alt="替代文字"><svg><title>标题</title></svg></figure>'
    outputs = [
        new_output("stream", name="stdout", text="打印"),
        new_output("display_data", data={"text/html": html, "text/plain": "结论"}),
    ]
    nb = new_notebook(cells=[
        new_markdown_cell("正文"),
        new_markdown_cell("导航", metadata={"tags": ["navigation"]}),
        new_code_cell("# 注释\nprint('打印的话')", outputs=outputs),
    ])
    found = texts(style_rules.of_notebook("x.ipynb", nbformat.writes(nb)))
    assert found == ["正文", "注释", "打印的话", "打印", "结论", "替代文字", "标题"]
