"""读者自己输入的句子：切成词，任何字符都要接得住。"""

MAX_CHARACTERS = 200
MAX_TOKENS = 16
LONGEST_WORD = 8   # 结论里的词只写这么长


def split_sentence(text, *, fallback=()):
    """把一句话切成词：有空格就按空格切，没有就一个字一个词。

    Parameters
    ----------
    text : str
        读者输入的文字，什么字符都可以。只看前 200 个字符、前 16 个词。
    fallback : sequence of str, optional
        什么都没输入时用的词。

    Returns
    -------
    tokens : tuple of str

    Examples
    --------
    >>> split_sentence("猫没过马路")
    ('猫', '没', '过', '马', '路')
    >>> split_sentence(" the  cat sat ")
    ('the', 'cat', 'sat')
    >>> split_sentence("   ", fallback=("它",))
    ('它',)
    """
    words = text[:MAX_CHARACTERS].split()
    if len(words) == 1:
        words = list(words[0])
    return tuple(words[:MAX_TOKENS]) or tuple(fallback)
