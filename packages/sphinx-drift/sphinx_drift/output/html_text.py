"""Read the text that a reader sees from HTML, and say whether HTML may show anything else.

It is parsed as browsers do it, by selectolax. A row of a table is a line, its cells parted by
``|``; blocks are lines, items of lists begin with ``-``, and ``x<sup>2</sup>`` reads ``x^{2}``.
Text counts even where a style hides it. What pandas, polars, rich or statsmodels write is known
to show its text alone. Everything else may show more, such as a script or ``content: "4.87"``.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborNode

ESCAPE_SHOWN = "\N{SYMBOL FOR ESCAPE}"
"""What stands for the character by which a terminal's codes begin: here it hides nothing."""

_DEEPEST = 10_000
"""A parser takes ever longer for each element that is deeper in others."""
_UNSEEN = {"desc", "iframe", "metadata", "script", "style", "template", "title"}
"""The elements whose text no browser shows."""
_CELLS = {"td", "th"}
_ROWS = {"table", "tr"}
_BLOCK = re.compile(
    "article|blockquote|br|caption|center|dd|div|dl|dt|figcaption|figure|footer|h[1-6]|header|hr|"
    "li|main|ol|p|pre|section|tbody|text|tfoot|thead|tspan|ul"
)
"""The elements that begin and end a line; two of them are a drawing's."""
_CELL, _SPACE, _ITEM = "\0", "\1", "\2"
"""What marks a cell until its line is read, a space that a reader sees, and a member of a list."""
_BEFORE = {"hr": "---", "li": f"{_ITEM} ", "sub": "_{", "sup": "^{", **dict.fromkeys(_CELLS, _CELL)}
_AFTER = {"sub": "}", "sup": "}"}

_PICTURES = {"audio", "img", "video"}
_OF_DRAWINGS = {"text", "tspan"}
_KNOWN = re.compile(
    f"{_BLOCK.pattern}|a|abbr|audio|b|big|body|cite|code|col|colgroup|em|head|html|i|img|ins|kbd|"
    "mark|samp|small|source|span|strong|style|sub|sup|table|td|th|tr|tt|u|var|video|wbr"
)
"""The elements whose text is all that they show."""
_ATTRIBUTES = re.compile(
    "abbr|align|alt|aria-.*|bgcolor|border|cellpadding|cellspacing|class|colspan|data-.*|frame|"
    "height|href|id|lang|name|rel|role|rowspan|rules|scope|scoped|span|style|summary|target|title|"
    "valign|width"
)
_SOURCES = {*_PICTURES, "source"}
_PIECE = re.compile(r"([^{};]*)([{};]|\Z)")
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


class _Read(NamedTuple):
    text: str = ""
    pictures: int = 0
    unknown: str = ""


def html_text(html: str) -> str:
    """Return what a reader sees of some HTML, as lines of text.

    Examples:
        >>> print(html_text("<p>Loss</p><table><tr><th>a</th><td>0.5</td></tr></table>"))
        Loss
        a | 0.5

    """
    return _read(html).text


def drawn_in(html: str) -> tuple[int, str]:
    """Return how many pictures some HTML shows, and what in it may show more than its text."""
    return _read(html)[1:]


@lru_cache(maxsize=8)
def _read(html: str) -> _Read:
    if not html:
        return _Read()
    html = html.encode(errors="backslashreplace").decode()
    if _depth(html) > _DEEPEST:
        return _Read(html, unknown=f"more than {_DEEPEST:,} elements in one another")
    from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415 - few outputs are HTML

    root = LexborHTMLParser(f"<!doctype html><body>{html}").root
    assert root is not None  # noqa: S101 - it is written above
    pieces: list[str] = []
    inside: Counter[str] = Counter()
    pictures, unknown = 0, ""
    for node, begins in _walk(root):
        tag = node.tag or ""
        in_cell = any(inside[cell] for cell in _CELLS)
        if tag == "-text":
            is_verbatim = bool(inside["pre"]) and not in_cell
            pieces.append(_shown(node.text_content or "", is_verbatim=is_verbatim))
        if not node.is_element_node:
            continue
        inside[tag] += 1 if begins else -1
        line = "\n" if tag in _ROWS else (" " if in_cell else "\n") * bool(_BLOCK.fullmatch(tag))
        pieces += [line, _BEFORE.get(tag, "")] if begins else [_AFTER.get(tag, ""), line]
        if begins:
            pictures += tag in _PICTURES
            unknown = unknown or _unknown_in(node, tag)
            pieces += [f"[{alt}]" for alt in [node.attributes.get("alt")] if alt]
    lines = filter(None, map(_line, "".join(pieces).split("\n")))
    return _Read("\n".join(lines).replace("\x1b", ESCAPE_SHOWN), pictures, unknown)


def _depth(html: str) -> int:
    """Return how deep elements are in one another at most, or more."""
    unclosed: Counter[str] = Counter()
    depth = deepest = 0
    for slash, tag in re.findall(r"<(/?)([a-z][^\s/>]*)", html.lower()):
        by = -bool(unclosed[tag]) if slash else 1
        unclosed[tag] += by
        depth += by
        deepest = max(deepest, depth)
    return deepest


def _walk(root: LexborNode) -> Iterator[tuple[LexborNode, bool]]:
    """Yield each node as it begins, and each element again as it ends, but for what is unseen."""
    above: list[LexborNode] = []
    node: LexborNode | None = root
    while node is not None or above:
        if node is None:
            node = above.pop()
            yield node, False
        else:
            yield node, True
            if node.is_element_node:
                above.append(node)
                node = None if node.tag in _UNSEEN else node.child
                continue
        node = node.next if above else None


def _shown(text: str, *, is_verbatim: bool) -> str:
    """Return a text with its white space as it is shown."""
    text = text.replace(_CELL, "").replace(_ITEM, "").replace(_SPACE, " ")
    return text.replace(" ", _SPACE) if is_verbatim else re.sub(r"\s+", " ", text)


def _line(text: str) -> str:
    """Return a line of text as a reader sees it; empty if it shows nothing."""
    cells = [" ".join(cell.split()) for cell in text.split(_CELL)]
    first = 1 if cells[1:] and not cells[0] else 0
    line = " | ".join(cells[first:]).strip() if any(cells) else ""
    return line.replace(_ITEM, "-").replace(_SPACE, " ").rstrip() if line != _ITEM else ""


def _unknown_in(node: LexborNode, tag: str) -> str:
    """Return what in an element could show something that its text lacks, or ''."""
    if not _KNOWN.fullmatch(tag) or tag in _OF_DRAWINGS:
        return f"<{tag}>"
    for name, value in node.attributes.items():
        is_known = (
            _ATTRIBUTES.fullmatch(name)
            or (name == "src" and tag in _SOURCES)
            or (name == "type" and tag == "style")
        )
        if not is_known or "javascript:" in (value or "").lower():
            return f"the attribute {name} of <{tag}>"
    style = f"{node.text()}}}" if tag == "style" else ""
    for piece, end in _PIECE.findall(style + (node.attributes.get("style") or "")):
        if not (_SELECTOR if end == "{" else _DECLARATION).fullmatch(piece):
            return f"the style {piece.partition(':')[0].strip()}"
    return ""
