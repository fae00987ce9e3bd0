"""Read the text that a reader sees from HTML, with as much of its structure as changes a meaning.

It is parsed as browsers do it, by selectolax. A row of a table is a line, its cells parted by
``|``; blocks are lines, items of lists begin with ``-``, further in for each list around theirs,
``x<sup>2</sup>`` reads ``x^{2}``. Of attributes only those are read that are shown: the text
alternative of a picture, a label, a value, a tick, where a numbered list begins. So the ids that
pandas or scikit-learn generate make no difference; UUIDs read ``UUID``. Text counts even where a
style hides it: a style or a click may show it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from sphinx_drift.output.html_known import DEEPEST, DRAWN, nesting, unknown_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from selectolax.lexbor import LexborNode

_UNSEEN = {"iframe", "script", "style", "template", "title"}
"""The elements whose text no browser shows, unless a style says so."""
_UNSEEN_IN_SVG = {"desc", "metadata", "title"}
_CELLS = {"td", "th"}
_ROWS = {"tr", "table"}
_LINE = re.compile(
    "address|article|aside|blockquote|br|caption|center|dd|details|div|dl|dt|fieldset|figcaption|"
    "figure|footer|form|h[1-6]|header|hr|legend|li|main|nav|ol|p|pre|section|summary|tbody|text|"
    "tfoot|thead|ul"
)
"""The elements that begin and end a line."""
_LISTS = {"dir", "dl", "menu", "ol", "ul"}
_DEEPEST = 16
"""Lists around one another that are told apart: to indent each further would be quadratic."""
_AROUND = {
    "sup": ("^{", "}"),
    "sub": ("_{", "}"),
    "button": ("[", "]"),
    "tspan": (" ", " "),
    **dict.fromkeys(("del", "s", "strike"), ("~", "~")),
}
_SHOWN = {
    "img": ("alt",),
    **dict.fromkeys(("input", "progress"), ("value", "max", "placeholder")),
    "li": ("value",),
    "ol": ("start", "type"),
}
"""The attributes that a reader sees, by tag."""
_UUID = re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b")

ESCAPE_SHOWN = "\N{SYMBOL FOR ESCAPE}"
"""What stands for the character by which a terminal's codes begin: here it hides nothing."""


def html_text(html: str) -> str:
    """Return what a reader sees of some HTML, as lines of text.

    Examples:
        >>> print(html_text("<p>Loss</p><table><tr><th>a</th><td>0.5</td></tr></table>"))
        Loss
        a | 0.5

    """
    return "\n".join(_read(html).lines).replace("\x1b", ESCAPE_SHOWN)


def drawn_in(html: str) -> tuple[int, str]:
    """Return how many pictures some HTML shows, and what in it may show more than its text."""
    reader = _read(html)
    return reader.pictures, reader.unknown


@lru_cache(maxsize=8)
def _read(html: str) -> _Reader:
    """Return what a reader sees; of what no browser nests as it says, the source."""
    reader = _Reader()
    if not html:
        return reader
    html = html.encode(errors="backslashreplace").decode()
    if nesting(html) > DEEPEST:
        reader.lines, reader.unknown = html.split("\n"), "more than 512 elements in one another"
        return reader
    from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415 - few outputs are HTML

    root = LexborHTMLParser(f"<!doctype html><body>{html}").root
    assert root is not None  # noqa: S101 - it is written above
    reader.read(root)
    return reader


class _Reader:
    """Collects the lines of text of a tree of elements, and counts what it draws."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.pictures = 0
        self.unknown = ""
        """What may show more than the text, such as a script; the first that was found."""
        self._text: list[str] = []
        """The pieces of a line of text."""
        self._row: list[list[str]] | None = None
        """The pieces of text of each cell, while a row is open."""
        self._svgs = 0
        self._verbatim = 0
        self._lists = 0

    def read(self, root: LexborNode) -> None:
        """Read what is below the root, whose attributes go to the page that shows the HTML."""
        self.unknown = unknown_in("html", root.attributes, "")
        for node, begins in _walk(root, self._is_unseen):
            tag = node.tag or ""
            if tag == "-text":
                self._add_data(node.text_content or "")
            elif not node.is_element_node:  # a comment
                continue
            elif begins:
                self._begin(node, tag)
            else:
                self._end(tag)
        self._end_line()

    def _is_unseen(self, node: LexborNode) -> bool:
        return node.tag in _UNSEEN or bool(self._svgs and node.tag in _UNSEEN_IN_SVG)

    def _begin(self, node: LexborNode, tag: str) -> None:
        """Begin a line, a row or a cell, and write what an element's attributes show."""
        attributes = node.attributes
        style = node.text() if tag == "style" else ""
        names = {name.lower(): value for name, value in attributes.items()}
        self.unknown = self.unknown or unknown_in(tag.lower(), names, style)
        self.pictures += tag in DRAWN and not (self._svgs and tag == "svg")  # the outermost alone
        self._svgs += tag == "svg"
        if self._is_unseen(node):
            return
        if tag in _CELLS:
            if self._row is None:
                self._end_line()
                self._row = []
            self._row.append([])
        elif tag in _ROWS:
            self._end_line()
            self._row = [] if tag == "tr" else None
        elif _LINE.fullmatch(tag):
            self._break()
            self._verbatim += tag == "pre"
            self._lists += tag in _LISTS
            self._write({"hr": "---", "li": "- "}.get(tag, ""))
        elif tag in _AROUND:
            self._write(_AROUND[tag][0])
        self._show(tag, attributes)

    def _show(self, tag: str, attributes: Mapping[str, str | None]) -> None:
        """Write the attributes that a reader sees."""
        shown = [*filter(None, map(attributes.get, _SHOWN.get(tag, ())))]
        shown += ["reversed"] if tag == "ol" and "reversed" in attributes else []
        if shown:
            self._write(f"[{'/'.join(shown)}]")
        if attributes.keys() & {"checked", "selected"}:
            self._write("☑ ")

    def _end(self, tag: str) -> None:
        """End what the beginning of an element began."""
        self._svgs -= tag == "svg"
        if tag in _ROWS:
            self._end_line()
        elif _LINE.fullmatch(tag):
            self._break()
            self._verbatim -= tag == "pre"
            self._lists -= tag in _LISTS
        elif tag in _AROUND:
            self._write(_AROUND[tag][1])

    def _add_data(self, data: str) -> None:
        """Keep text, with its white space only where it is shown."""
        if not self._verbatim or self._row is not None:
            self._write(re.sub(r"\s+", " ", data))
            return
        first, *rest = data.split("\n")
        self._write(first)
        for line in rest:
            self._break()
            self._write(line)

    def _write(self, text: str) -> None:
        if self._row is None:
            self._text.append(text)
        elif self._row or text.strip():
            self._row = self._row or [[]]  # text of a row that lacks its cells
            self._row[-1].append(text)

    def _break(self) -> None:
        """End a line of text; in a cell, which is one line, add a space instead."""
        if self._row is None:
            self._end_line()
        else:
            self._write(" ")

    def _end_line(self) -> None:
        """End a line of text, or a row of a table."""
        if self._row is not None:
            cells = [" ".join("".join(pieces).split()) for pieces in self._row]
            line = " | ".join(cells).strip() if any(cells) else ""
        else:
            text = "".join(self._text)
            line = text.rstrip() if self._verbatim else " ".join(text.split())
        if line and line != "-":
            self.lines.append("  " * min(self._lists - 1, _DEEPEST) + _UUID.sub("UUID", line))
        self._row, self._text = None, []


def _walk(
    root: LexborNode, skips: Callable[[LexborNode], bool]
) -> Iterator[tuple[LexborNode, bool]]:
    """Yield each node below an element as it begins, and each element again as it ends.

    What is in an element that is skipped is left out. To call itself for each would go too deep.
    """
    above: list[LexborNode] = []
    node = root.child
    while node is not None or above:
        if node is None:
            node = above.pop()
            yield node, False
        else:
            yield node, True
            if node.is_element_node:
                above.append(node)
                node = None if skips(node) else node.child
                continue
        node = node.next
