"""A figure as a picture that needs nothing else, for a cell of text in a notebook.

Jupyter shows no SVG that is written into a text, nor one that is attached to it, but it shows one
in the address of an `img`. A page's style doesn't reach such a picture, so it brings its own. Its
colours are those for paper, on a ground of their own: it can't know a notebook's theme.
"""

from __future__ import annotations

import base64
import re
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

STYLES = Path(__file__).parents[2] / "_themes" / "selfattn" / "static"
WIDE = 1.25
"""How many pixels a unit of the drawing takes."""
PICTURE = re.compile(r"<svg .*?</svg>", re.DOTALL)
VIEW = re.compile(r'viewBox="0 0 ([\d.]+) [\d.]+"')
SPARE = re.compile(r"\s*/\*.*?\*/\s*|(?<=[{};,])\s+|\s+(?=[{};,])", re.DOTALL)
THEMED = re.compile(r"light-dark\(([^,()]*),[^()]*\)")
RULE = re.compile(r"(?:^|(?<=[{}]))((?::root|\.role-|\.attention-svg)[^{}]*)\{([^{}]*)\}")


@cache
def style() -> str:
    """Return the rules for figures, in light colours."""
    sheets = "".join((STYLES / f"{name}.css").read_text("utf-8") for name in ("book", "content"))
    sheets = SPARE.sub("", sheets)
    rules = "".join(f"{rule[1]}{{{rule[2]}}}" for rule in RULE.finditer(sheets))
    return THEMED.sub(r"\1", rules)


def pictures(node: nodes.Element) -> Iterator[str]:
    """Yield the pictures of a figure as HTML; the first has the text alternative of all."""
    alt = str(node["alt"])
    for raw in node.findall(nodes.raw):
        for svg in PICTURE.findall(raw.astext()):
            size = VIEW.search(svg)
            width = round(WIDE * float(size[1])) if size else 450
            whole = svg.replace(">", f"><style>{style()}svg{{background:#fff}}</style>", 1)
            data = base64.b64encode(whole.encode()).decode()
            address = f"data:image/svg+xml;base64,{data}"
            yield f'<img width="{width}" alt="{escape(alt)}" src="{address}">'
            alt = ""
