"""从 Noto Sans CJK SC 裁出随包附带的字体 Attention Sans SC。

用法见同一文件夹里的 README.md。只有要重做字体的人才运行它；画图时用不到。
"""

import argparse
import json
import unicodedata
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTCollection, TTFont

SOURCE_FAMILY = "Noto Sans CJK SC"
# Our own name: "Noto" is a trademark and "Source" is reserved by the upstream licence.
FAMILY = "Attention Sans SC"
POSTSCRIPT_NAME = "AttentionSansSC-Regular"
FONT_FILE = Path(__file__).with_name(f"{POSTSCRIPT_NAME}.otf")

# First and last code point, inclusive.
BLOCKS = [
    (0x0020, 0x007E),  # ASCII
    (0x00A0, 0x00FF),  # Latin-1: × · ± ² °
    (0x0370, 0x03FF),  # Greek
    (0x2010, 0x206F),  # general punctuation: — … “ ” ‖
    (0x2100, 0x214F),  # letterlike symbols
    (0x2190, 0x21FF),  # arrows
    (0x2200, 0x22FF),  # mathematical operators
    (0x2460, 0x2473),  # ① to ⑳
    (0x25A0, 0x25FF),  # geometric shapes
    (0x3000, 0x303F),  # CJK punctuation
    (0xFF00, 0xFFEF),  # full-width forms
]
# Only for drawing outlines: vertical setting, kerning and alternates are left out.
UNUSED_TABLES = ["BASE", "GDEF", "GPOS", "GSUB", "VORG", "vhea", "vmtx"]


def gb2312_level_1():
    """GB2312 一级汉字，共 3755 个，来自 Python 自带的编码表。

    Returns
    -------
    characters : set of str

    Examples
    --------
    >>> len(gb2312_level_1()), "猫" in gb2312_level_1()
    (3755, True)
    """
    characters = set()
    for row in range(0xB0, 0xD8):
        for cell in range(0xA1, 0xFF):
            # The last row is not full: its five empty cells decode to nothing.
            characters.update(bytes([row, cell]).decode("gb2312", errors="ignore"))
    return characters


def is_cjk(character):
    """``character`` 是不是要靠中文字体的字：汉字、中文标点、全角符号。

    Examples
    --------
    >>> [is_cjk(c) for c in "猫，。〇A√"]
    [True, True, True, True, False, False]
    """
    return (unicodedata.east_asian_width(character) in "WF"
            and unicodedata.category(character) != "So")  # emoji are wide, too


def project_text(root):
    """项目里读者可能看到的文字：全部笔记本（代码、正文、输出）和包里的源代码。

    Parameters
    ----------
    root : pathlib.Path
        项目的根文件夹。

    Returns
    -------
    texts : dict of Path to str
        每个文件的文字。
    """
    texts = {}
    for path in sorted(root.glob("notebooks/*.ipynb")):
        # JSON may write a character as \\uXXXX: read it, then write it in the clear.
        notebook = json.loads(path.read_text(encoding="utf-8"))
        texts[path] = json.dumps(notebook, ensure_ascii=False)
    for path in sorted(root.glob("attention_core/**/*.py")):
        texts[path] = path.read_text(encoding="utf-8")
    return texts


def wanted_characters(root):
    """要放进字体的字：GB2312 一级、``BLOCKS`` 里的符号、项目用到的其他汉字。

    Parameters
    ----------
    root : pathlib.Path
        项目的根文件夹。

    Returns
    -------
    characters : set of str
    """
    symbols = {chr(code) for first, last in BLOCKS for code in range(first, last + 1)}
    used = {c for text in project_text(root).values() for c in text if is_cjk(c)}
    return gb2312_level_1() | symbols | used


def open_source(path):
    """打开原字体；字体集 (``.ttc``) 里取名为 ``SOURCE_FAMILY`` 的那一份。

    Parameters
    ----------
    path : str or pathlib.Path

    Returns
    -------
    font : fontTools.ttLib.TTFont

    Raises
    ------
    ValueError
        文件里没有这一份字体。
    """
    path = Path(path)
    if path.suffix.lower() == ".ttc":
        with TTCollection(path, lazy=True) as collection:
            families = [font["name"].getDebugName(1) for font in collection]
    else:
        with TTFont(path, lazy=True) as font:
            families = [font["name"].getDebugName(1)]
    if SOURCE_FAMILY not in families:
        raise ValueError(f"path 应是含有 {SOURCE_FAMILY} 的字体文件，"
                         f"{path.name} 里只有 {families}；请换用 README.md 里写的那个文件。")
    # No new time stamp: the same input gives the same bytes.
    return TTFont(path, fontNumber=families.index(SOURCE_FAMILY), recalcTimestamp=False)


def rename(font):
    """给字体换上自己的名字，留下原来的版权、商标、作者和许可证说明。

    Parameters
    ----------
    font : fontTools.ttLib.TTFont
        原地修改。
    """
    table = font["name"]
    version = table.getDebugName(5).split(";")[0]
    table.names = [record for record in table.names
                   if record.nameID in (0, 7, 8, 9, 13, 14) and record.langID == 0x409]
    for name_id, text in {
        1: FAMILY,
        2: "Regular",
        3: f"{version};{POSTSCRIPT_NAME}",
        4: FAMILY,
        5: version,
        6: POSTSCRIPT_NAME,
        10: f"Subset of {SOURCE_FAMILY}, made by make_subset.py; outlines unchanged.",
    }.items():
        table.setName(text, name_id, 3, 1, 0x409)

    cff = font["CFF "].cff
    cff.fontNames = [POSTSCRIPT_NAME]
    cff[0].FullName = FAMILY
    cff[0].FamilyName = FAMILY
    for index, part in enumerate(cff[0].FDArray):
        part.FontName = f"{POSTSCRIPT_NAME}-{index}"


def make_subset(source, target, root):
    """裁出子集，改名，写到 ``target``。

    Parameters
    ----------
    source, target : str or pathlib.Path
        原字体与新字体的文件。
    root : pathlib.Path
        项目的根文件夹，用来找还缺哪些字。

    Returns
    -------
    n_characters : int
        新字体里的字符数。
    """
    options = Options()
    options.hinting = False
    options.desubroutinize = True
    options.layout_features = []
    options.notdef_outline = True  # a missing character must show as a box, not as nothing
    options.drop_tables += UNUSED_TABLES
    options.name_languages = ["*"]
    options.name_IDs = ["*"]

    with open_source(source) as font:
        subsetter = Subsetter(options)
        subsetter.populate(text="".join(sorted(wanted_characters(root))))
        subsetter.subset(font)
        rename(font)
        font.save(target)
        return len(font.getBestCmap())


def main():
    """命令行入口。"""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", help="NotoSansCJK-Regular.ttc 的位置")
    parser.add_argument("--target", default=FONT_FILE, type=Path, help="写到哪里")
    arguments = parser.parse_args()
    n_characters = make_subset(arguments.source, arguments.target, FONT_FILE.parents[3])
    size = arguments.target.stat().st_size
    print(f"{arguments.target.name}：{n_characters} 个字符，{size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
