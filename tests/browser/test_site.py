"""The static site in a real browser, from files, without a network: complete, and no dead link."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest

from attention_core import series
from attention_core.panels.panel import HINT
from build_site import build
from notebook_rules import Markdown
from refresh_notebooks import NOTEBOOKS, present_series

PRESENT = present_series(NOTEBOOKS)
NAMES = ["index", *(notebook.stem for notebook in PRESENT)]

LOOK = """(async () => {
  const images = Array.from(document.images);
  await Promise.all(images.map(i => i.decode().catch(() => null)));
  const body = document.body.cloneNode(true);
  body.querySelectorAll('style, .highlight, pre, code').forEach(e => e.remove());
  return {
    title: document.title,
    language: document.documentElement.lang,
    markdown: document.querySelectorAll('.jp-MarkdownCell').length,
    code: document.querySelectorAll('.jp-CodeCell').length,
    text: document.body.textContent,
    prose: body.textContent,
    formulas: document.querySelectorAll('math').length,
    flatFormulas: Array.from(document.querySelectorAll('math')).filter(
      m => m.getBoundingClientRect().height < 5 && m.checkVisibility()).length,
    scripts: document.scripts.length,
    widths: images.map(i => i.naturalWidth),
    alternatives: images.map(i => i.alt),
    links: Array.from(document.links, a => a.getAttribute('href')),
    ids: Array.from(document.querySelectorAll('[id]'), e => e.id),
    cut: Array.from(document.querySelectorAll('.jp-Cell pre')).filter(e => {
      const box = e.closest('.jp-InputArea-editor, .jp-OutputArea-output, .jp-MarkdownOutput');
      return box && e.scrollWidth > box.clientWidth + 1; }).length,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  };
})()"""


@pytest.fixture(scope="module")
def site(browser, tmp_path_factory):
    """What the browser sees of each page: name -> what LOOK returns, and what went wrong."""
    folder = tmp_path_factory.mktemp("site")
    build(folder)
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    seen = {}
    for name in NAMES:
        page, troubles, requests = context.new_page(), [], []
        page.on("console", lambda message, troubles=troubles: troubles.append(message.text))
        page.on("pageerror", lambda error, troubles=troubles: troubles.append(str(error)))
        page.on("request", lambda request, requests=requests: requests.append(request.url))
        page.goto((folder / f"{name}.html").as_uri())
        seen[name] = page.evaluate(LOOK) | {"troubles": troubles, "requests": requests, "folder": folder}
        page.close()
    context.close()
    return seen


@pytest.mark.parametrize("name", NAMES)
def test_quiet_and_without_network(site, name):
    page = site[name]
    assert page["troubles"] == []
    assert [url for url in page["requests"] if not url.startswith(("file:", "data:"))] == []
    assert page["scripts"] == 0
    assert page["language"] == "zh"
    assert page["overflow"] <= 0
    assert page["cut"] == 0, "lines of code that end outside their box"


@pytest.mark.parametrize("name", NAMES)
def test_no_dead_link(site, name):
    dead = []
    for link in site[name]["links"]:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        path, anchor = unquote(parts.path), unquote(parts.fragment)
        target = site.get(Path(path).stem if path else name)
        if target is None or (path and not (target["folder"] / path).is_file()) or (
                anchor and anchor not in target["ids"]):
            dead.append(link)
    assert dead == []


def squeezed(text):
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize("notebook", PRESENT, ids=lambda notebook: notebook.stem)
def test_page_holds_all_of_the_notebook(site, notebook):
    page = site[notebook.stem]
    cells = nbformat.read(NOTEBOOKS / notebook.filename, as_version=4).cells
    markdown = [cell.source for cell in cells if cell.cell_type == "markdown"]
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert notebook.title in page["title"]
    assert page["markdown"] == len(markdown)
    assert page["code"] == len(code)
    text = squeezed(page["text"])
    for source in markdown:
        for _, heading in Markdown(source).headings:
            assert squeezed(re.sub(r"\$[^$]*\$", "", heading)) in text or "$" in source
    pictures = 0
    for cell in code:
        assert squeezed(cell.source) in text
        for output in cell.outputs:
            if output.output_type == "stream":
                assert squeezed(output.text) in text
            pictures += output.get("data", {}).get("text/html", "").count("<img ")
    assert len(page["widths"]) == pictures
    assert min(page["widths"]) > 0
    assert all(page["alternatives"])
    # A page without a kernel must not tell the reader to run a cell.
    assert HINT not in page["text"]


@pytest.mark.parametrize("notebook", PRESENT, ids=lambda notebook: notebook.stem)
def test_formulas_and_bold_are_rendered(site, notebook):
    page = site[notebook.stem]
    cells = nbformat.read(NOTEBOOKS / notebook.filename, as_version=4).cells
    # Code in backticks or fences may hold a $ of its own.
    prose = [re.sub(r"```.*?```|`[^`\n]+`", "", cell.source, flags=re.DOTALL)
             for cell in cells if cell.cell_type == "markdown"]
    formulas = sum(len(re.findall(r"\$\$.+?\$\$|\$[^$\n]+\$", text, re.DOTALL)) for text in prose)
    assert page["formulas"] == formulas
    # A formula inside a folded answer has no height until it is opened.
    assert page["flatFormulas"] == 0
    assert "$" not in page["prose"]
    assert "**" not in page["prose"]


def test_every_page_can_be_reached_from_the_index(site):
    links = {link for link in site["index"]["links"] if link.endswith(".html")}
    assert links == {f"{notebook.stem}.html" for notebook in PRESENT}
    assert any("mybinder.org" in link for link in site["index"]["links"]) == (
        series.REPOSITORY != series.PLACEHOLDER)
