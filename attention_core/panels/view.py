"""一次画面：几块积木加一句结论。活的面板与静止的图用的是同一个 `View`。"""

import base64
from dataclasses import dataclass
from xml.etree import ElementTree

from .blocks import clean
from .palette import STYLE


def _flatten(blocks):
    for block in blocks:
        if isinstance(block, (list, tuple)):
            yield from _flatten(block)
        else:
            yield block


@dataclass(frozen=True)
class View:
    """面板在某个设置下的画面。

    Parameters
    ----------
    blocks : sequence of Element
        `blocks` 里的函数画出的 SVG；里面可以再嵌列表（例如 `blocks.heads` 的结果）。
    finding : str
        一两句话，说出这幅画面的结论，数要写在里面。它跟着滑块变，读屏软件会念出来。
    """

    blocks: tuple
    finding: str

    def __post_init__(self):
        object.__setattr__(self, "blocks", tuple(_flatten(self.blocks)))
        object.__setattr__(self, "finding", clean(self.finding))

    def html(self):
        """活的画面：内嵌的 SVG，颜色跟着 JupyterLab 的主题走。

        样式表不在里面，由 `Panel` 只放一次：每动一下就换一份 <style>，浏览器要把整页的样式重算。
        """
        box = ElementTree.Element("div", {"class": "ac-view"})
        for block in self.blocks:
            # 样式表用它决定积木能缩到多窄；静止的图用不着。
            ElementTree.SubElement(box, block.tag, block.attrib | {
                "style": f"--width:{block.get('width')}px"}).extend(block)
        return ElementTree.tostring(box, encoding="unicode")

    def finding_html(self):
        """结论那一行。"""
        line = ElementTree.Element("div")
        line.text = self.finding
        return ElementTree.tostring(line, encoding="unicode", short_empty_elements=False)

    def still(self):
        """静止的画面：没有内核时读者看到的图。

        用 ``<img src="data:…">`` 而不是内嵌的 <svg>：没有被信任的笔记本里，JupyterLab 会把
        内嵌 SVG 的标签去掉，只剩一堆散字。也不用 ``image/svg+xml`` 输出：GitHub 和 nbviewer 会把它
        内嵌进网页，几张图的样式互相串。图注把结论再写成文字，图片显示不了时还有话可读。
        """
        figure = ElementTree.Element("figure", {"class": "ac-still", "style": "margin:0"})
        box = ElementTree.SubElement(figure, "div", {
            "style": "display:flex;flex-wrap:wrap;gap:10px;align-items:flex-start"})
        for block in self.blocks:
            ElementTree.SubElement(box, "img", {
                "alt": block.get("aria-label", ""), "width": block.get("width"),
                "style": "max-width:100%;height:auto", "src": _data_uri(block)})
        ElementTree.SubElement(figure, "figcaption").text = self.finding
        return ElementTree.tostring(figure, encoding="unicode")

    def _repr_mimebundle_(self, include=None, exclude=None):
        """单独放在单元格末尾时（没有滑块的图）显示静止的画面。"""
        return {"text/html": self.still(), "text/plain": self.finding}


def _data_uri(block):
    svg = ElementTree.Element(block.tag, block.attrib)
    ElementTree.SubElement(svg, "style").text = STYLE
    svg.extend(block)
    return "data:image/svg+xml;base64," + base64.b64encode(
        ElementTree.tostring(svg, encoding="utf-8")).decode("ascii")
