"""Read the text that a reader sees from HTML, with as much of its structure as changes a meaning.

A row of a table is a line, its cells parted by ``|``; blocks are lines, items begin with ``-``,
``x<sup>2</sup>`` reads ``x^{2}``. Attributes say nothing that is read, but for the text
alternative of a picture and the value of an input, a meter or a progress bar; so the ids that
pandas or scikit-learn generate make no difference. Memory addresses and UUIDs are made the same.
Text counts even where a style hides it: a style or a click may show it.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self

__all__ = ["html_text", "row_headers"]

_UNSEEN = {"head", "script", "style", "template"}
_CELLS = {"td", "th"}
_ROWS = {"tr", "table"}
_LINES = {
    *("address", "article", "aside", "blockquote", "caption", "center", "dd", "details", "dialog"),
    *("div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3"),
    *("h4", "h5", "h6", "header", "hr", "legend", "li", "main", "nav", "ol", "option", "p", "pre"),
    *("section", "summary", "tbody", "tfoot", "thead", "ul"),
}
_AROUND = {"sup": ("^{", "}"), "sub": ("_{", "}"), "del": ("~", "~"), "s": ("~", "~")}
_VALUES = {"input", "meter", "progress"}
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
_UUID = re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b")


def html_text(html: str) -> str:
    """Return what a reader sees of some HTML, as lines of text.

    Examples:
        >>> print(html_text("<p>Loss</p><table><tr><th>a</th><td>0.5</td></tr></table>"))
        Loss
        a | 0.5

    """
    return "\n".join(_Reader.of(html).lines)


def row_headers(html: str) -> str:
    """Return the headers before the cells of rows, and what heads those: a data frame's index."""
    return "\n".join(_IndexReader.of(html).index())


class _Reader(HTMLParser):
    """Takes lines from HTML as its tags come: a start tag ends what needs no end tag."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.headers: list[str] = []
        self._text = ""
        self._row: list[tuple[str, str]] | None = None
        """The tag and text of each cell, while a row is open."""
        self._hidden = 0
        self._verbatim = 0
        self._below: dict[int, int] = {}
        """How many more rows each column's cell reaches into."""

    @classmethod
    def of(cls, html: str) -> Self:
        reader = cls()
        reader.feed(html)
        reader.close()
        reader._end_row()
        reader._end_line()
        return reader

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a line, a row or a cell, or to hide."""
        given = dict(attrs)
        self._hidden += tag in _UNSEEN
        if tag in _CELLS:
            self._begin_cell(tag, given)
        elif tag in _ROWS:
            self._end_row()
            self._row = [] if tag == "tr" else None
            self._below = {} if tag == "table" else self._below
        elif tag in _LINES:
            self._end_line()
            self._text = {"li": "- ", "hr": "---"}.get(tag, "") if self._row is None else self._text
            self._verbatim += tag == "pre"
        elif tag == "br":
            self._end_line()
        elif tag in _AROUND:
            self._say(_AROUND[tag][0])
        elif tag == "img" and given.get("alt"):
            self._say(f"[{given['alt']}]")
        elif tag in _VALUES and (given.get("value") or given.get("placeholder")):
            most = f"/{given['max']}" if given.get("max") else ""
            self._say(f"[{given.get('value') or given['placeholder']}{most}]")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Read ``<br/>`` as browsers do: as a start tag, unless something would be hidden by it."""
        if tag not in _UNSEEN:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        """End what a start tag began."""
        if tag in _UNSEEN:
            self._hidden = max(self._hidden - 1, 0)
        elif tag in _CELLS:
            self._end_cell()
        elif tag in _ROWS:
            self._end_row()
        elif tag in _LINES:
            self._end_line()
            self._verbatim = max(self._verbatim - (tag == "pre"), 0)
        elif tag in _AROUND:
            self._say(_AROUND[tag][1])

    def handle_data(self, data: str) -> None:
        """Keep what is seen."""
        if not self._verbatim:
            self._say(re.sub(r"\s+", " ", data))
            return
        first, *rest = data.split("\n")
        self._say(first)
        for line in rest:
            self._end_line()
            self._say(line)

    def _say(self, text: str) -> None:
        if self._hidden:
            return
        if self._row:
            tag, before = self._row[-1]
            self._row[-1] = (tag, before + text)
        elif self._row is None:
            self._text += text

    def _end_line(self) -> None:
        """End a line of text; in a cell, which is one line, part what comes from what was."""
        if self._row is not None:
            self._say(" ")
            return
        line = self._text.rstrip() if self._verbatim else " ".join(self._text.split())
        if line and line != "-":
            self.lines.append(_repeatable(line))
        self._text = ""

    def _begin_cell(self, tag: str, given: dict[str, str | None]) -> None:
        if self._row is None:
            self._end_line()
            self._row = []
        self._fill()
        here = len(self._row)
        wide, high = _number(given.get("colspan")), _number(given.get("rowspan"))
        self._below.update(dict.fromkeys(range(here, here + wide), high - 1))
        self._row += [(tag, "")] * (wide - 1)
        # The text stands in the last of the columns that the cell reaches over.
        self._row.append((tag, ""))

    def _fill(self) -> None:
        """Leave free the places that a cell of an earlier row reaches into."""
        while self._row is not None and self._below.get(len(self._row), 0) > 0:
            self._below[len(self._row)] -= 1
            self._row.append(("", ""))

    def _end_cell(self) -> None:
        self._say("")

    def _end_row(self) -> None:
        if self._row is None:
            self._end_line()
            return
        self._fill()
        cells = [(tag, _repeatable(" ".join(text.split()))) for tag, text in self._row]
        self._row = None
        if any(text for _, text in cells):
            self.lines.append(" | ".join(text for _, text in cells).strip())
        if any(tag == "td" for tag, _ in cells):
            self.headers += [text for tag, text in cells if tag == "th" and text]


def _number(text: str | None) -> int:
    """Return how many columns or rows a cell reaches over, within reason."""
    return min(max(int(text), 1), 1000) if text and text.isdecimal() else 1


def _repeatable(text: str) -> str:
    """Return a text with what differs in each run made the same."""
    return _UUID.sub("UUID", _ADDRESS.sub("0x0", text))


class _IndexReader(_Reader):
    """Keeps the rows of tables, to say which columns hold the headers of rows."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[list[tuple[str, str]]] = []

    def index(self) -> list[str]:
        """Return the headers of all rows, after what stands above them: the index's name."""
        widths = (_before_cells(row) for row in self._rows)
        width = max((width for width in widths if width is not None), default=0)
        above = (row[:width] for row in self._rows if _before_cells(row) is None)
        names = (" ".join(text.split()) for cells in above for _, text in cells)
        return [*filter(None, names), *self.headers]

    def _end_row(self) -> None:
        row = self._row
        super()._end_row()
        self._rows += [row] if row else []


def _before_cells(row: list[tuple[str, str]]) -> int | None:
    """Return how many headers stand before the first cell of a row; None if it has headers only."""
    return next((place for place, (tag, _) in enumerate(row) if tag == "td"), None)
