"""Read the text that a reader sees from HTML, with as much of its structure as changes a meaning.

A row of a table is a line, its cells parted by ``|``; blocks are lines, items begin with ``-`` or
their number, ``x<sup>2</sup>`` reads ``x^{2}``. Attributes say nothing that is read, but for the
text alternative of a picture, the value of an input, a meter or a progress bar, what is ticked or
selected, the fences of a formula, and the page that a frame holds; so the ids that pandas or
scikit-learn generate make no difference. Memory addresses and UUIDs are made the same. Text counts
even where a style hides it: a style or a click may show it. What a notebook shows stands in the
body of its page, where ``<head>`` hides nothing.
"""

from __future__ import annotations

import base64
import contextlib
import re
from html.parser import HTMLParser
from urllib.parse import unquote

_UNSEEN = {"iframe", "script", "style", "template", "title"}
_UNSEEN_IN_SVG = {"desc", "metadata"}
_CELLS = {"td", "th"}
_ROWS = {"tr", "table"}
_LISTS = {"ol", "ul"}
_LINES = {
    *("address", "article", "aside", "blockquote", "br", "caption", "center", "dd", "details"),
    *(
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
    ),
    *("h4", "h5", "h6", "header", "hr", "legend", "li", "main", "nav", "ol", "optgroup", "option"),
    *("p", "pre", "section", "summary", "tbody", "text", "tfoot", "thead", "ul"),
}
_MATHEMATICS = (
    *("menclose", "mfenced", "mfrac", "mmultiscripts", "mover", "mroot", "msqrt", "msub"),
    *("msubsup", "msup", "mtable", "mtd", "mtr", "munder", "munderover"),
)
"""MathML elements that say how their parts belong together."""
_AROUND = {
    "sup": ("^{", "}"),
    "sub": ("_{", "}"),
    "button": ("[", "]"),
    "textarea": ("[", "]"),
    **dict.fromkeys(("del", "s", "strike"), ("~", "~")),
    **dict.fromkeys(("mi", "mn", "mo", "ms", "mtext"), (" ", " ")),
    **{tag: (f" {tag[1:]}(", ")") for tag in _MATHEMATICS},
}
_FENCES = ("open", "close", "separators", "notation", "lquote", "rquote")
_TICKED, _UNTICKED = "☑ ", "☐ "
_LABELLED = {"optgroup", "option"}
_VALUES = {"input", "meter", "progress"}
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{6,}\b")
_PAGE = re.compile(r"\s*data:text/html(?P<options>[^,]*),(?P<page>.*)", re.DOTALL | re.IGNORECASE)
_SECTION = re.compile(r"<!\[(?!CDATA\[)")
_PROTECTED = str.maketrans({" ": "\ue000", "\t": "\ue001", "\n": "\ue002"})
_RESTORED = str.maketrans({"\ue000": " ", "\ue001": "\t", "\ue002": "⏎"})
"""Between the two, the space of preformatted text in a cell is no space to be collapsed."""
_UUID = re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b")


def html_text(html: str, *, bullet: str = "- ") -> str:
    """Return what a reader sees of some HTML, as lines of text.

    Args:
        html: The HTML.
        bullet: What stands before an item of a list without numbers.

    Examples:
        >>> print(html_text("<p>Loss</p><table><tr><th>a</th><td>0.5</td></tr></table>"))
        Loss
        a | 0.5

    """
    return "\n".join(_Reader(html, bullet).lines)


def row_headers(html: str) -> str:
    """Return the headers before the cells of rows, and what heads those: a data frame's index."""
    return "\n".join(_Reader(html).index())


def has_handlers(html: str) -> bool:
    """Whether elements have scripts in their attributes, such as ``onload``."""
    return " on" in html and _Reader(html).handlers


def _closed(html: str) -> str:
    """Escape what begins and never ends: the parser looks for its end at each beginning.

    Of marked sections it knows CDATA alone; to browsers others are comments.
    """
    html = _SECTION.sub("<! [", html)
    for start, end in (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<", ">")):
        closed = html.rfind(end) + len(end) if end in html else 0
        html = html[:closed] + html[closed:].replace(start, f"&lt;{start[1:]}")
    return html


class _Reader(HTMLParser):
    """Collects lines of text; a start tag closes the elements that need no end tag."""

    def __init__(self, html: str, bullet: str = "- ") -> None:
        super().__init__()
        self._bullet = bullet
        self.lines: list[str] = []
        self.headers: list[str] = []
        self.handlers = False
        """Whether an element has a script in an attribute."""
        self._rows: list[list[tuple[str, str]]] = []
        """The rows of tables, which say which columns hold the headers of rows."""
        self._text: list[str] = []
        """The pieces of a line of text."""
        self._row: list[tuple[str, list[str]]] | None = None
        """The tag and the pieces of text of each cell, while a row is open."""
        self._hidden = ""
        """The outermost open tag in which nothing is seen."""
        self._drawings = 0
        self._verbatim = 0
        self._lists: list[tuple[int, int] | None] = []
        """For each open list the number of its next item and the step after it, if it has them."""
        self._below: dict[int, int] = {}
        """How many more rows each column's cell reaches into."""
        self._spans_left = len(html)
        """How many more places cells may reach over: a bound on the work for hostile tables."""
        self.feed(_closed(html))
        self.close()
        self._end_row()
        self._end_line()

    def index(self) -> list[str]:
        """Return the headers of all rows, after what stands above them: the index's name."""
        widths = (_before_cells(row) for row in self._rows)
        width = max((width for width in widths if width is not None), default=0)
        above = (row[:width] for row in self._rows if _before_cells(row) is None)
        names = (" ".join(text.split()) for cells in above for _, text in cells)
        return [*filter(None, names), *self.headers]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a line, a row, a cell or a hidden element."""
        attributes = dict(attrs)
        self.handlers |= any(name.startswith("on") for name in attributes)
        self._drawings += tag == "svg"
        if self._hides(tag) and "shadowrootmode" not in attributes:
            if not self._hidden:
                self._hidden = tag
                self._frame(attributes)
        elif tag in _CELLS:
            self._begin_cell(tag, attributes)
        elif tag in _ROWS:
            self._end_row()
            self._row = [] if tag == "tr" else None
            self._below = {} if tag == "table" else self._below
        elif tag in _LINES:
            self._end_line()
            self._begin_block(tag, attributes)
        elif tag in _AROUND:
            self._write(_opening(tag, attributes))
        elif tag == "tspan" and attributes.keys() & {"x", "y", "dx", "dy"}:
            self._write(" ")
        elif tag == "img" and attributes.get("alt"):
            self._write(f"[{attributes['alt']}]")
        elif tag in _VALUES:
            self._write(_shown_value(attributes))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Treat ``<br/>`` as browsers do: as a start tag, unless it would hide what follows."""
        if not self._hides(tag):
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        """End what a start tag began."""
        self._drawings = max(self._drawings - (tag == "svg"), 0)
        if tag == self._hidden:
            self._hidden = ""
        elif tag in _ROWS:
            self._end_row()
        elif tag in _LINES:
            self._end_line()
            self._verbatim = max(self._verbatim - (tag == "pre"), 0)
            if tag in _LISTS and self._lists:
                self._lists.pop()
        elif tag in _AROUND:
            self._write(_AROUND[tag][1])

    def handle_data(self, data: str) -> None:
        """Keep text, with its white space only inside ``<pre>``."""
        if not self._verbatim:
            self._write(re.sub(r"\s+", " ", data))
            return
        if self._row is not None:
            self._write(data.strip("\n").translate(_PROTECTED))
            return
        first, *rest = data.split("\n")
        self._write(first)
        for line in rest:
            self._end_line()
            self._write(line)

    def unknown_decl(self, data: str) -> None:
        """Keep what a drawing has in ``<![CDATA[...]]>``; elsewhere browsers show nothing of it."""
        if self._drawings and data.startswith("CDATA["):
            self.handle_data(data.removeprefix("CDATA["))

    def _hides(self, tag: str) -> bool:
        return tag in _UNSEEN or (tag in _UNSEEN_IN_SVG and self._drawings > 0)

    def _frame(self, attributes: dict[str, str | None]) -> None:
        """Read the page of a frame, if it is part of the HTML."""
        page = attributes.get("srcdoc") or _page_in(attributes.get("src") or "")
        if page and self._hidden == "iframe":
            self._end_line()
            inner = _Reader(page, self._bullet)
            if self._row is None:
                self.lines += inner.lines
                self.headers += inner.headers
            else:
                for _, pieces in self._row[-1:]:
                    pieces.append(" ".join(inner.lines))

    def _begin_block(self, tag: str, attributes: dict[str, str | None]) -> None:
        self._verbatim += tag == "pre"
        begins = {"hr": "---"}.get(tag, "")
        if tag in _LISTS:
            self._lists.append(_numbering(attributes) if tag == "ol" else None)
        elif tag == "li":
            begins = self._marker(attributes)
        elif tag in _LABELLED and attributes.get("label"):
            begins = f"[{attributes['label']}]"
        begins = _TICKED * ("selected" in attributes) + begins
        if self._row is None:
            self._text = []
        self._write(begins)

    def _marker(self, attributes: dict[str, str | None]) -> str:
        """Return what stands before an item of a list: a dash, or its number."""
        numbering = self._lists[-1] if self._lists else None
        if numbering is None:
            return self._bullet
        number, step = numbering
        number = _whole(attributes.get("value"), number)
        self._lists[-1] = (number + step, step)
        return f"{number}. "

    def _write(self, text: str) -> None:
        if self._hidden:
            return
        if self._row:
            self._row[-1][1].append(text)
        elif self._row is None:
            self._text.append(text)

    def _end_line(self) -> None:
        """End a line of text; in a cell, which is one line, add a space instead."""
        if self._row is not None:
            self._write(" ")
            return
        text = "".join(self._text)
        line = text.rstrip() if self._verbatim else " ".join(text.split())
        if line and line != self._bullet.rstrip():
            self.lines.append(_repeatable(line))
        self._text = []

    def _begin_cell(self, tag: str, attributes: dict[str, str | None]) -> None:
        if self._row is None:
            self._end_line()
            self._row = []
        self._fill()
        here = len(self._row)
        wide, high = _span(attributes.get("colspan")), _span(attributes.get("rowspan"))
        wide = min(wide, self._spans_left + 1)
        self._spans_left -= wide - 1
        self._below.update(dict.fromkeys(range(here, here + wide), high - 1))
        # The text stands in the last of the columns that the cell reaches over.
        self._row += [(tag, []) for _ in range(wide)]

    def _fill(self) -> None:
        """Skip the columns that a cell of an earlier row spans."""
        while self._row is not None and self._below.get(len(self._row), 0) > 0 < self._spans_left:
            self._spans_left -= 1
            self._below[len(self._row)] -= 1
            self._row.append(("", []))

    def _end_row(self) -> None:
        if self._row is None:
            self._end_line()
            return
        self._fill()
        row = [(tag, "".join(pieces)) for tag, pieces in self._row]
        self._rows += [row] if row else []
        cells = [(tag, _repeatable(" ".join(text.split()))) for tag, text in row]
        self._row = None
        if any(text for _, text in cells):
            self.lines.append(" | ".join(text for _, text in cells).strip().translate(_RESTORED))
        if any(tag == "td" for tag, _ in cells):
            headers = [text for tag, text in cells if tag == "th" and text]
            self.headers += [text.translate(_RESTORED) for text in headers]


def _shown_value(attributes: dict[str, str | None]) -> str:
    """Return what an input, a meter or a progress bar shows."""
    if attributes.get("type") in ("checkbox", "radio"):
        return _TICKED if "checked" in attributes else _UNTICKED
    value = attributes.get("value") or attributes.get("placeholder")
    most = f"/{attributes['max']}" if attributes.get("max") else ""
    return f"[{value}{most}]" if value else ""


def _opening(tag: str, attributes: dict[str, str | None]) -> str:
    """Return what stands before the text of an element, with the attributes that say something."""
    if tag == "mfrac" and (attributes.get("linethickness") or "").startswith("0"):
        return " binom("
    fences = [attributes[name] or "" for name in _FENCES if name in attributes]
    return _AROUND[tag][0] + "".join(f"{fence} " for fence in fences)


def _numbering(attributes: dict[str, str | None]) -> tuple[int, int]:
    """Return where the numbers of a list begin, and how they go on."""
    step = -1 if "reversed" in attributes else 1
    return _whole(attributes.get("start"), 1), step


def _whole(text: str | None, default: int) -> int:
    """Return a whole number as browsers read it from an attribute."""
    match = re.match(r"\s*([+-]?[0-9]{1,9})", text or "")
    return int(match[1]) if match else default


def _page_in(address: str) -> str:
    """Return the page that an address holds by itself."""
    match = _PAGE.match(address)
    if match is None:
        return ""
    if match["options"].lower().endswith(";base64"):
        with contextlib.suppress(ValueError):
            return base64.b64decode(match["page"]).decode("utf-8", "replace")
    return unquote(match["page"])


def _span(text: str | None) -> int:
    """Return how many columns or rows a cell reaches over: 1000 at most, as in browsers."""
    return min(max(int(text), 1), 1000) if text and text.isdecimal() else 1


def _repeatable(text: str) -> str:
    """Replace what differs in each run: memory addresses and UUIDs."""
    return _UUID.sub("UUID", _ADDRESS.sub("at 0x0", text))


def _before_cells(row: list[tuple[str, str]]) -> int | None:
    """Return how many headers stand before the first cell of a row; None if it has headers only."""
    return next((place for place, (tag, _) in enumerate(row) if tag == "td"), None)
