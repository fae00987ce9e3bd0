"""Write a page's HTML as Markdown that any Jupyter reader shows."""

import re
from base64 import b64encode
from collections.abc import Callable, Container, Iterator

from bs4 import BeautifulSoup, Tag
from docutils import nodes
from markdownify import MarkdownConverter

UNSEEN = (
    "script, noscript, form, attention-explorer, .explorer-fold, .headerlink, .drift-mark,"
    " .sd-summary-state-marker"
)
"""What a notebook doesn't have: marks, links to places of the page, and what needs its scripts."""
BOLD = "summary, .admonition-title, .caption-number, .rubric, .sidebar-title"
RENAMED = {  # what Markdown has for elements of HTML; a quotation can have no cells
    ":is(.admonition, details):not(:has(.cell))": "blockquote",
    "details, figure, aside": "div",
    "summary": "p",
}
SPECIAL = re.compile(r"[\\`*$]|<(?=[A-Za-z/!])|\[(?=[^\]]*\]\()|(?<!\w)_|_(?!\w)")
BLOCK_START = re.compile(r"^(?=(?:#+|[>+-])\s)|(?<=^\d)(?=[.)]\s)", re.MULTILINE)
BAR = r"\vert "
DRAWING = "data:image/svg+xml;base64,"
CELL = "\ue000"
"""Stands on both sides of a cell's place in the text; no font has a letter for it."""


def to_markdown(
    body: str, doctree: nodes.document, address: Callable[[str], str]
) -> Iterator[str | int]:
    """Yield a page's texts as Markdown, and the place of each code cell between them.

    Args:
        body: The page as HTML.
        doctree: What it was written from, which knows its cells and the source of its formulas.
        address: Returns where a link leads, or nothing for one that is to be plain text.

    """
    page = BeautifulSoup(body, "html.parser")
    _simplify(page)
    cells = (n for n in doctree.findall(nodes.container) if n.get("nb_element") == "cell_code")
    for cell, node in zip(page.select("div.cell"), cells, strict=True):
        cell.replace_with(f"{CELL}{node['cell_index']}{CELL}")
    formulas = doctree.findall(lambda node: isinstance(node, nodes.math | nodes.math_block))
    for formula, source in zip(page.select("math"), formulas, strict=True):
        formula.string = source.astext()
    texts = re.split(f"{CELL}(\\d+){CELL}", Writer(address).convert_soup(page))
    for place, text in enumerate(texts):
        if place % 2:
            yield int(text)
        elif text.strip():
            yield text.strip()


def _simplify(page: BeautifulSoup) -> None:
    """Leave of a page what a notebook shows, in elements that Markdown has."""
    for part in page.select(UNSEEN):
        part.decompose()
    for part in page.select(BOLD):
        strong = page.new_tag("strong")
        strong.extend(list(part.contents))
        part.append(strong)
    for selector, name in RENAMED.items():
        for part in page.select(selector):
            part.name = name
    for picture in page.select("svg"):
        words = picture.desc.extract().get_text() if picture.desc else ""
        svg = str(picture).replace(" viewbox=", " viewBox=")  # as HTML writes it, and XML
        source = f"{DRAWING}{b64encode(svg.encode()).decode()}"
        picture.replace_with(page.new_tag("img", src=source, alt=" ".join(words.split())))


class Writer(MarkdownConverter):
    """Writes what is particular to pages of the book; its base class knows HTML."""

    def __init__(self, address: Callable[[str], str]) -> None:
        super().__init__(
            autolinks=False,
            bullets="-",
            code_language_callback=_language,
            heading_style="atx",
            sub_symbol="<sub>",
            sup_symbol="<sup>",
        )
        self.address = address

    def escape(self, text: str, parent_tags: Container[str]) -> str:
        return SPECIAL.sub(r"\\\g<0>", text)

    def convert_a(self, el: Tag, text: str, parent_tags: Container[str]) -> str:
        link = self.address(str(el.get("href", "")))
        return f"[{text}]({link})" if link and text and "_noformat" not in parent_tags else text

    def convert_img(self, el: Tag, text: str, parent_tags: Container[str]) -> str:
        words = re.sub(r"[\\\[\]]", r"\\\g<0>", str(el["alt"]))
        return f"![{words}]({el['src']})"

    def convert_p(self, el: Tag, text: str, parent_tags: Container[str]) -> str:
        text = BLOCK_START.sub(r"\\", text)
        return str(super().convert_p(el, text, parent_tags))  # type: ignore[misc] # it has no type

    def convert_math(self, el: Tag, text: str, parent_tags: Container[str]) -> str:
        latex = el.get_text().strip()
        if el.get("display") != "block":
            in_table = "td" in parent_tags or "th" in parent_tags  # where a bar would end the cell
            latex = " ".join(latex.split())
            return f"${latex.replace('|', BAR) if in_table else latex}$"
        # What begins as an environment of its own needs no dollars, and may not have them.
        is_whole = re.match(r"\\begin\{(align|equation|gather)", latex)
        return f"\n\n{latex}\n\n" if is_whole else f"\n\n$$\n{latex}\n$$\n\n"

    def convert_td(self, el: Tag, text: str, parent_tags: Container[str]) -> str:
        text = text.replace("|", r"\|")
        return str(super().convert_td(el, text, parent_tags))  # type: ignore[misc] # the same

    def convert_dt(self, el: Tag, text: str, parent_tags: Container[str]) -> str:
        return f"\n- {text.strip()}:\n"

    def convert_dd(self, el: Tag, text: str, parent_tags: Container[str]) -> str:
        return re.sub("(?m)^(?=.)", "  ", text.strip()) + "\n"


def _language(pre: Tag) -> str:
    block = pre.find_parent("div", class_=re.compile("^highlight-"))
    name = block["class"][0].removeprefix("highlight-") if block else ""
    return {"default": "", "none": "", "ipython3": "python"}.get(name, name)
