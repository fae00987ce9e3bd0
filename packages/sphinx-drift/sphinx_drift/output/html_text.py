"""Read the text that a reader sees from HTML, with as much of its structure as changes a meaning.

A row of a table is a line, its cells parted by ``|``; blocks are lines, items of lists begin with
``-``, further in for each list around theirs, ``x<sup>2</sup>`` reads ``x^{2}``. Of attributes only
those are read that are shown: the text alternative of a picture, a label, a value, a tick, where a
numbered list begins. So the ids that pandas or scikit-learn generate make no difference; UUIDs read
``UUID``. Text counts even where a style hides it: a style or a click may show it. What a notebook
shows stands in the body of its page, where ``<head>`` hides nothing.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

_UNSEEN = {"iframe", "script", "style", "title"}
_UNSEEN_IN_SVG = {"desc", "metadata"}
_ENDS_SVG = {"b", "code", "em", "i", "img", "s", "small", "span", "strong", "sub", "sup", "table"}
"""Elements of HTML that end a drawing in which they stand, beside those of `_LINE`."""
_CELLS = {"td", "th"}
_ROWS = {"tr", "table"}
_LINE = re.compile(
    "address|article|aside|blockquote|br|caption|center|dd|details|dialog|div|dl|dt|fieldset|"
    "figcaption|figure|footer|form|h[1-6]|header|hr|legend|li|main|nav|ol|optgroup|option|p|pre|"
    "section|summary|tbody|text|tfoot|thead|ul"
)
"""The elements that begin and end a line."""
_LISTS = {"dir", "dl", "menu", "ol", "ul"}
_DEEPEST = 16
"""Lists around one another that are told apart: to indent each further would be quadratic."""
_MATHEMATICS = (
    *("menclose", "mfenced", "mfrac", "mmultiscripts", "mover", "mroot", "msqrt", "msub"),
    *("msubsup", "msup", "mtable", "mtd", "mtr", "munder", "munderover"),
)
"""MathML elements that say how their parts belong together."""
_AROUND = {
    "sup": ("^{", "}"),
    "sub": ("_{", "}"),
    **dict.fromkeys(("button", "textarea"), ("[", "]")),
    **dict.fromkeys(("del", "s", "strike"), ("~", "~")),
    **dict.fromkeys(("mi", "mn", "mo", "ms", "mtext", "tspan"), (" ", " ")),
    **{tag: (f" {tag[1:]}(", ")") for tag in _MATHEMATICS},
}
_SHOWN = {
    "img": ("alt",),
    **dict.fromkeys(("optgroup", "option"), ("label",)),
    **dict.fromkeys(("input", "meter", "progress"), ("value", "max", "placeholder")),
    "li": ("value",),
    "ol": ("start",),
    "menclose": ("notation",),
    "mfenced": ("open", "close", "separators"),
    "mfrac": ("linethickness",),
}
"""The attributes that a reader sees, by tag."""
_UUID = re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b")
_SECTION = re.compile(r"<!\[(?!CDATA\[)")
_MADE = re.compile(
    r"<(?:script|link|bdo|base)\b|\bhttp-equiv\b|<style\b[^<]*\\|@import\b|\burl\("
    r"|\bcounter-(?:re)?set\s*:|\bjavascript:|[\s/\"']dir\s*="
    r"|[;{\s/\"'-](?:quotes|bidi|direction|transform)\s*:"
    r"|list-style(?:-type)?\s*:\s*(?:\w{1,9}\s+)?(?:[\"']|&)"
    r"|[;{\s/]content(?:\s|/\*[^*]*\*/)*:\s*(?!none|normal)",
    re.IGNORECASE,
)
"""What a script may write, and what a style adds or turns round: the HTML itself doesn't say it."""
_DRAWN = {"audio", "canvas", "embed", "image", "img", "svg", "video"}
_LOADED = {"frame": "src", "iframe": "src", "input": "src", "object": "data"}
"""The attributes that name a picture, or a page that may be one, by tag."""


def html_text(html: str) -> str:
    """Return what a reader sees of some HTML, as lines of text.

    Examples:
        >>> print(html_text("<p>Loss</p><table><tr><th>a</th><td>0.5</td></tr></table>"))
        Loss
        a | 0.5

    """
    return "\n".join(_Reader(html).lines)


def drawn_in(html: str) -> tuple[int, bool]:
    """How many pictures some HTML shows, and whether a script or a style may show more."""
    reader = _Reader(html)
    return reader.pictures, reader.makes_more


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

    def __init__(self, html: str) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.pictures = 0
        self.makes_more = bool(_MADE.search(html))
        """Whether a script or a style may show what the HTML, or a page in it, doesn't say."""
        self._text: list[str] = []
        """The pieces of a line of text."""
        self._row: list[list[str]] | None = None
        """The pieces of text of each cell, while a row is open."""
        self._hidden = ""
        """The outermost open tag in which nothing is seen."""
        self._svgs = 0
        self._verbatim = 0
        self._lists = 0
        self.feed(_closed(html))
        self.close()
        self._end_line()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a line, a row, a cell or a hidden element, and write what its attributes show."""
        attributes = dict(attrs)
        self.makes_more |= any(name.startswith("on") for name in attributes)
        is_drawn = tag in _DRAWN and not (self._svgs and tag == "svg")  # the outermost alone
        self.pictures += is_drawn or bool(attributes.get(_LOADED.get(tag, "")))
        self._svgs += tag == "svg"
        if self._hidden == "metadata" and (_LINE.fullmatch(tag) or tag in _ENDS_SVG):
            self._hidden, self._svgs = "", 0
        if tag == "iframe":
            self._read_frame(attributes.get("srcdoc") or "")
        if tag in _UNSEEN or (self._svgs and tag in _UNSEEN_IN_SVG):
            self._hidden = self._hidden or tag
        elif tag in _CELLS:
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

    def _show(self, tag: str, attributes: dict[str, str | None]) -> None:
        """Write the attributes that a reader sees."""
        shown = [*filter(None, map(attributes.get, _SHOWN.get(tag, ())))]
        shown += ["reversed"] if tag == "ol" and "reversed" in attributes else []
        if shown:
            self._write(f"[{'/'.join(shown)}]")
        if attributes.keys() & {"checked", "selected"}:
            self._write("☑ ")

    def _read_frame(self, page: str) -> None:
        frame = _Reader(page)
        self._write(" ".join(frame.lines))
        self.makes_more |= frame.makes_more
        self.pictures += frame.pictures

    def handle_endtag(self, tag: str) -> None:
        """End what a start tag began."""
        if tag in (self._hidden, "svg"):
            self._hidden, self._svgs = "", max(self._svgs - (tag == "svg"), 0)
        elif tag in _ROWS:
            self._end_line()
        elif _LINE.fullmatch(tag):
            self._break()
            self._verbatim = max(self._verbatim - (tag == "pre"), 0)
            self._lists = max(self._lists - (tag in _LISTS), 0)
        elif tag in _AROUND:
            self._write(_AROUND[tag][1])

    def handle_data(self, data: str) -> None:
        """Keep text, with its white space only inside ``<pre>``."""
        if not self._verbatim or self._row is not None:
            self._write(re.sub(r"\s+", " ", data))
            return
        first, *rest = data.split("\n")
        self._write(first)
        for line in rest:
            self._break()
            self._write(line)

    def unknown_decl(self, data: str) -> None:
        """Keep what a drawing has in ``<![CDATA[...]]>``."""
        self.handle_data(data.removeprefix("CDATA["))

    def _write(self, text: str) -> None:
        if self._row is None:
            self._text.append(text if not self._hidden else "")
        elif not self._hidden and (self._row or text.strip()):
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
