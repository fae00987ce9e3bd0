"""Read the text that a reader sees from HTML, and say whether HTML may show anything else.

It is parsed as browsers do it, by selectolax. A row of a table is a line, its cells parted by
``|``; blocks are lines, items begin with ``-`` or their number, and ``x<sup>2</sup>`` is ``x^{2}``.
Text counts even where a style hides it. What pandas, polars, rich or statsmodels write is known
to show its text alone. Everything else may show more, such as a script or ``content: "4.87"``.
"""

import re
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

ESCAPE_SHOWN = "\N{SYMBOL FOR ESCAPE}"
"""What stands for the character by which a terminal's codes begin: here it hides nothing."""

_DEEPEST = 10_000
"""A parser takes ever longer for each element that is deeper in others."""
_BESIDE = {
    *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param"),
    *("source", "track", "wbr", "li", "p", "tbody", "td", "tfoot", "th", "thead", "tr"),
}
"""The elements that hold nothing, or end where the next of their kind begins."""
_UNSHOWN = ("desc", "iframe", "metadata", "script", "style", "template", "title")
"""The elements whose text no browser shows."""
_PICTURES = {"audio", "img", "video"}
_BLOCKS = (
    "article, blockquote, br, caption, center, dd, div, dl, dt, figcaption, figure, footer, h1, "
    "h2, h3, h4, h5, h6, header, hr, li, main, ol, p, pre, section, tbody, tfoot, thead, ul"
)
"""The elements that begin and end a line."""
_KNOWN = re.compile(
    f"{_BLOCKS.replace(', ', '|')}|a|abbr|audio|b|big|body|cite|code|col|colgroup|em|head|html|i|"
    "img|ins|kbd|mark|samp|small|source|span|strong|style|sub|sup|table|td|th|tr|tt|u|var|video|wbr"
)
"""The elements whose text is all that they show."""
_LINE, _CELL, _SPACE = "\2", "\0", "\1"
"""The characters for a new line, a new cell, and a space that a reader sees."""
_WIDEST = 100
"""The columns of a table, and the rows of a cell, up to which spans count: beyond are no tables."""
_ALL_BLOCKS = f":is({_BLOCKS}, text, tspan)"  # two are a drawing's
_SIGNS = {
    f"table, tr, {_ALL_BLOCKS}:not(td *, th *)": (_LINE, _LINE),
    f"td {_ALL_BLOCKS}, th {_ALL_BLOCKS}": (" ", " "),
    "td, th": (_CELL, ""),
    "li li li": (2 * _SPACE, ""),
    "li li": (2 * _SPACE, ""),
    "li:not(ol > *)": ("- ", ""),
    "sub": ("_{", "}"),
    "sup": ("^{", "}"),
}
"""What is written before and after elements; of one that has several, the first is outermost."""
_ATTRIBUTES = re.compile(
    "abbr|align|alt|aria-.*|bgcolor|border|cellpadding|cellspacing|class|colspan|data-.*|frame|"
    "halign|height|href|id|lang|name|rel|role|rowspan|rules|scope|scoped|span|src|style|summary|target|title|"
    "valign|width"
)
_OF_CSS = re.compile(r"([^{};]*)([{};]|\Z)")
_SELECTOR = re.compile(r"[^\"'\\@/]*")
_DECLARATION = re.compile(
    r"""(?xi) \s* (?:
      (?: background | border | bottom | box-sizing | caption-side | color | cursor | empty-cells
        | float | font-(?:family|size|style|weight) | height | left | line-height | margin | max
        | min | opacity | overflow | padding | position | right | table-layout | text-align
        | text-decoration | top | vertical-align | white-space | width | word-break | z-index )
      (?: -[\w-]+ )? \s* : (?: [\w\s#%.,+!')-] | \b(?:rgba?|hsla?|linear-gradient)\( )*
    )? """
)
"""A declaration that changes how a text looks, and not what it says."""


_IGNORED = (
    ".colab-df-buttons, .colab-df-container > :is(button, script, style):not(.colab-df-buttons *)",
    ".sk-top-container .param-doc-description",
    ".sk-top-container tr:has(> .param > :is([href*='=cv_results_'], [href*='=refit_time_']))",
)
"""What no page decides: buttons that Colab stores beside each table of pandas, scikit-learn's own
descriptions, and the times that its searches took."""
_CUT = re.compile(r"\.\.\.(?=\d*[a-fA-FxX])0?[xX]?[0-9a-fA-F]{8,}")
"""What scikit-learn leaves of an address where it cuts a long text."""


class Extras(NamedTuple):
    """What some HTML shows beside its text."""

    pictures: int = 0
    unknown: str = ""
    """What in it may show more than its text, if anything may."""


def html_text(html: str) -> str:
    """Return the text that a reader sees of some HTML, as lines.

    Examples:
        >>> print(html_text("<p>Loss</p><table><tr><th>a</th><td>0.5</td></tr></table>"))
        Loss
        a | 0.5

    """
    return _read(html)[0]


def drawn_in(html: str) -> Extras:
    """Return the pictures of some HTML, and what in it may show more than its text."""
    return _read(html)[1]


@lru_cache(maxsize=8)
def _read(html: str) -> tuple[str, Extras]:
    if not html:
        return "", Extras()
    html = html.encode(errors="backslashreplace").decode()
    if _depth(html) > _DEEPEST:
        return html, Extras(unknown=f"more than {_DEEPEST:,} elements in one another")
    root = LexborHTMLParser(f"<!doctype html><body>{html}").root
    assert root is not None  # noqa: S101 - it is written above
    for node in root.css(", ".join(_IGNORED)):
        node.decompose()
    for cell in root.css(".sk-top-container td"):
        for node in [n for n in cell.traverse(include_text=True) if n.is_text_node]:
            node.replace_with(_CUT.sub("...", node.text_content or ""))
    pictures = len(root.css(", ".join(_PICTURES)))
    unknown = next(filter(None, map(_unknown_in, root.css("*"))), "")
    lines = filter(None, map(_line, _structured_text(root).split(_LINE)))
    return "\n".join(lines).replace("\x1b", ESCAPE_SHOWN), Extras(pictures, unknown)


def _depth(html: str) -> int:
    """Return how deep elements are in one another, but for those that need others in between."""
    unclosed: Counter[str] = Counter()
    depth = deepest = 0
    tags = re.findall(r"<(/?)([a-z][^\s/>]*)", html.lower())
    # In a drawing or a formula an element only ends where that is said.
    beside = set() if {"svg", "math"} & {tag for _, tag in tags} else _BESIDE
    for slash, tag in tags:
        if tag in beside:
            continue
        by = -bool(unclosed[tag]) if slash else 1
        unclosed[tag] += by
        depth += by
        deepest = max(deepest, depth)
    return deepest


def _structured_text(root: LexborNode) -> str:
    """Return the text of a document, with signs of its structure.

    The order matters: ``<pre>`` keeps its own white space, but not that of signs and of
    alternative texts, which are written later.
    """
    inside = ", ".join(f"{tag} *" for tag in _UNSHOWN)
    for node in root.css(f":is({', '.join(_UNSHOWN)}):not({inside})"):
        node.decompose()  # with what is in it, which is no node any more
    for pre in root.css("pre:not(td *, th *, pre *)"):
        for node in [n for n in pre.traverse(include_text=True) if n.is_text_node]:
            text = node.text_content or ""
            node.replace_with(text.replace(" ", _SPACE).replace("\n", _LINE))
    _fill_spans(root)
    for selector, (before, after) in _SIGNS.items():
        for node in root.css(selector):
            node.insert_before(before)
            node.insert_after(after)
    for ordered in root.css("ol"):
        items = (node for node in ordered.iter() if node.tag == "li")
        for number, item in enumerate(items, start=1):
            item.insert_before(f"{number}. ")
    for node in root.css("[alt]"):
        if alt := node.attributes["alt"]:
            node.insert_before(f"[{alt}]")
    return root.text()


def _fill_spans(root: LexborNode) -> None:
    """Write empty cells where one spans several columns or rows, so that all columns agree."""
    has_spans = root.css_first("[colspan], [rowspan]") is not None
    for part in root.css("thead, tbody, tfoot") if has_spans else ():
        covered: Counter[int] = Counter()  # for how many rows by cells of those above, by column
        for row in (node for node in part.iter() if node.tag == "tr"):
            column, begun = 0, Counter[int]()
            for cell in (node for node in row.iter() if node.tag in {"td", "th"}):
                while covered[column]:
                    cell.insert_before(_CELL)
                    column += 1
                left = max(_WIDEST - column, 1)
                wide, high = min(_span(cell, "colspan"), left), _span(cell, "rowspan")
                cell.insert_after(_CELL * (wide - 1))
                if column < _WIDEST:
                    begun.update(dict.fromkeys(range(column, column + wide), high))
                column += wide
            for _ in range(column, max(covered, default=-1) + 1):
                row.insert_child(_CELL)
            covered += begun
            covered -= Counter([*covered])  # this row; a Counter drops what is down to 0


def _span(cell: LexborNode, name: str) -> int:
    """Return how many columns or rows a cell spans."""
    found = re.match(r"\s*\+?0*([1-9][0-9]*)", cell.attributes.get(name) or "")
    return min(int(found[1]), _WIDEST) if found else 1


def _line(text: str) -> str:
    """Return a line of text as a reader sees it; empty if it shows nothing."""
    cells = [" ".join(cell.split()) for cell in text.split(_CELL)]
    first = 1 if cells[1:] and not cells[0] else 0
    line = " | ".join(cells[first:]).strip() if any(cells) else ""
    return line.replace(_SPACE, " ").rstrip()


def _unknown_in(node: LexborNode) -> str:
    """Return what in an element could show something that its text lacks, or ''."""
    tag = node.tag or ""
    if not _KNOWN.fullmatch(tag):
        return f"<{tag}>"
    for name, value in node.attributes.items():
        is_known = _ATTRIBUTES.fullmatch(name) or (tag, name) == ("style", "type")
        if not is_known or "javascript:" in (value or "").lower():
            return f"the attribute {name} of <{tag}>"
    style = f"{node.text()}}}" if tag == "style" else ""
    for piece, end in _OF_CSS.findall(style + (node.attributes.get("style") or "")):
        if not (_SELECTOR if end == "{" else _DECLARATION).fullmatch(piece):
            return f"the style {piece.partition(':')[0].strip()}"
    return ""
