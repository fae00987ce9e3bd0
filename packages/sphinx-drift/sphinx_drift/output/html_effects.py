"""What HTML says beside its text: what a script or a style may show, and how deep it is nested."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from selectolax.lexbor import LexborNode

UNSEEN = frozenset({"iframe", "script", "style", "template", "title"})
"""The elements whose text no browser shows, unless a style says so."""
_MAKING = {"base", "bdo", "link", "script"}
_STYLE_THAT_SHOWS = re.compile(
    r"\\|@import|\burl\(|\bcounter-(?:re)?set\s*:"
    r"|(?<!\w)(?:quotes|(?:unicode-)?bidi|direction|(?:text-)?transform)\s*:"
    r"|list-style(?:-type)?\s*:\s*(?:\w{1,9}\s+)?[\"']"
    r"|(?<![\w-])content(?:\s|/\*[^*]*\*/)*:\s*(?!none|normal)",
    re.IGNORECASE,
)
"""What a style adds or turns round: the HTML itself doesn't say it."""
_HIDDEN_BY_BROWSERS = re.compile(r"\*|(?<![\w.#-])(?:head|script|style|template|title)(?![\w-])")
DEEPEST = 512
"""Browsers nest no deeper, and a parser that does takes ever longer for each element."""
_NOT_NESTED = re.compile(
    "area|base|br|col|dd|dt|embed|hr|img|input|li|link|meta|option|p|param|rp|rt|source|"
    "tbody|td|tfoot|th|thead|tr|track|wbr"
)
"""Elements without an end, or whose end may be left out."""
_RAW = {"iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp"}
_TAG = re.compile(r"/?([a-zA-Z][^\s/>]*)")


def may_show_more(node: LexborNode, tag: str, attributes: Mapping[str, str | None]) -> bool:
    """Whether a script or a style makes readers see what the text of an element doesn't say."""
    style = attributes.get("style") or ""
    if tag == "style":
        sheet = (node.child and node.child.text_content) or ""
        rules = (rule.rpartition("{") for rule in sheet.split("}"))
        shown = (_HIDDEN_BY_BROWSERS.search(names) for names, _, text in rules if "display" in text)
        if _STYLE_THAT_SHOWS.search(sheet) or any(shown):
            return True
    return (
        tag in _MAKING
        or (tag in UNSEEN and tag != "iframe" and "display" in style)
        or bool(_STYLE_THAT_SHOWS.search(style))
        or any(name.startswith("on") or name in ("dir", "http-equiv") for name in attributes)
        or any("javascript:" in (value or "").lower() for value in attributes.values())
    )


def nesting(html: str) -> int:
    """Return how deep elements are nested at most, or a little more."""
    depth = deepest = drawings = 0
    inside = ""  # the end of a comment, or of what holds no tags
    for piece in html.split("<")[1:]:
        tag = _TAG.match(piece)
        name = tag[1].lower() if tag else ""
        if inside:
            inside = "" if inside in piece.lower() else inside
        elif piece.startswith("!--"):
            inside = "" if "-->" in piece else "-->"
        elif name in _RAW and piece[0] != "/":
            inside = f"/{name}"
        elif name and not _NOT_NESTED.fullmatch(name):
            # In a drawing alone, a tag that ends with `/>` ends its element.
            is_empty = drawings and piece.partition(">")[0].endswith("/")
            by = -1 if piece[0] == "/" else 0 if is_empty else 1
            depth = max(depth + by, 0)
            deepest = max(deepest, depth)
            drawings += by * (name in ("svg", "math"))
    return deepest
