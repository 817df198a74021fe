"""把全套笔记本写成静态网页，给只想读的人：一本一页，页与页相连，用浏览器直接打开，不需要网络。

用法::

    python tests/build_site.py site        # 写进 site/，然后打开 site/index.html

只用笔记本里存着的输出，什么也不执行。公式在这里就变成 MathML（各家浏览器都认得），所以页面里没有一行脚本：
nbconvert 原来的模板要从网上载入 MathJax、require.js 和 mermaid，断了网就只剩一堆 ``$``。
"""

import argparse
import re
import sys
from html import escape, unescape
from pathlib import Path

import nbformat
from jinja2 import pass_context
from latex2mathml.converter import convert
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from attention_core import series
from attention_core.panels.panel import HINT
from refresh_notebooks import NOTEBOOKS, has_tag, map_text, present_series, write_text

TITLE = "那只猫没过马路，因为它太累了：注意力一章的配套笔记本"
INTRODUCTION = """
这里是全套笔记本的网页版，每一页都存着执行过的结果。网页只能读：要拖动滑块、做练习，请在 JupyterLab 里打开笔记本。
"""
TEMPLATE = """
{%- extends 'lab/index.html.j2' -%}
{%- block html_head_js -%}{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
{%- block html_head_js_mermaidjs -%}{%- endblock -%}
{%- block html_head_css -%}
<link rel="icon" href="data:,">
<style>
main { max-width: 72em; margin: 0 auto; }
.jp-RenderedHTMLCommon { max-width: 48em; }
.jp-Cell pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.jp-RenderedHTMLCommon table { display: block; overflow-x: auto; }
</style>
{%- endblock -%}
"""
LINK_TO_NOTEBOOK = re.compile(r'(href="[^":/]+)\.ipynb(?=["#])')


class MathMLRenderer(IPythonRenderer):
    """公式当场变成 MathML；标题的锚点与 JupyterLab 的相同，跨页的链接才对得上。"""

    def heading(self, text, level, **attrs):
        # nbconvert 的锚点是百分号编码过的，标题里的 MathML 还会被它的 XML 写法弄坏。
        anchor = unescape(re.sub(r"<[^>]*>", "", text)).strip().replace(" ", "-")
        return f'<h{level} id="{escape(anchor)}">{text}</h{level}>\n'

    def inline_math(self, body):
        return convert(body)

    def block_math(self, body):
        return convert(body, display="block")


class PageExporter(HTMLExporter):
    """没有脚本、不用网络的网页。"""

    raw_template = TEMPLATE
    language_code = "zh"

    @pass_context
    def markdown2html(self, context, source):
        return MarkdownWithMath(renderer=MathMLRenderer(escape=False)).render(source)


def is_for_live_page(output):
    """一份输出是不是只有活的面板才用得着：脚本，和“运行这个单元格”那句话。"""
    data = output.get("data", {})
    return "application/javascript" in data or data.get("text/plain") == HINT


def page_html(nb, title, present):
    """一本笔记本的网页。"""
    nb = nbformat.from_dict(nb)
    nb.metadata["title"] = title
    for cell in nb.cells:
        if has_tag(cell, "map"):
            cell.source = map_text(present, online=series.REPOSITORY != series.PLACEHOLDER)
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not is_for_live_page(output)]
    html, _ = PageExporter().from_notebook_node(nb)
    return LINK_TO_NOTEBOOK.sub(r"\1.html", html)


def index_notebook():
    """首页：标题、说明、地图。"""
    cells = [
        nbformat.v4.new_markdown_cell(f"# {TITLE}\n{INTRODUCTION}", id="title"),
        nbformat.v4.new_markdown_cell("", id="map", metadata={"tags": ["map"]}),
    ]
    return nbformat.v4.new_notebook(cells=cells)


def build(target, folder=NOTEBOOKS):
    """把 ``folder`` 里的全部笔记本写成 ``target`` 里的网页，返回写下的文件。"""
    target.mkdir(parents=True, exist_ok=True)
    present = present_series(folder)
    pages = {"index": page_html(index_notebook(), TITLE, present)}
    for notebook in present:
        nb = nbformat.read(folder / notebook.filename, as_version=4)
        pages[notebook.stem] = page_html(nb, f"第 {notebook.section} 节　{notebook.title}", present)
    files = [target / f"{stem}.html" for stem in pages]
    for file, html in zip(files, pages.values(), strict=True):
        write_text(file, html)
    return files


def main(arguments=None):
    """命令行入口。"""
    parser = argparse.ArgumentParser(description="把全套笔记本写成静态网页。")
    parser.add_argument("target", type=Path, help="写进哪个文件夹")
    options = parser.parse_args(arguments)
    files = build(options.target)
    print(f"写好 {len(files)} 页，用浏览器打开 {files[0]}")


if __name__ == "__main__":
    sys.exit(main())
