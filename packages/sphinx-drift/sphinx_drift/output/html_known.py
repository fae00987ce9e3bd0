"""The elements, attributes and styles of HTML whose text is all the text that a browser shows.

They are those that pandas, Styler, xarray, rich, SymPy or matplotlib write. Everything else may
show what the HTML doesn't say: a script, a shadow root, ``content: "4.87"``, a counter.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DRAWN = {"audio", "canvas", "embed", "image", "img", "svg", "video"}
"""Elements that show a picture, or a film."""
_OF_HTML = DRAWN | _words(
    "a abbr address article aside b big blockquote body br button caption center cite code col "
    "colgroup dd del details dfn div dl dt em fieldset figcaption figure font footer form h1 h2 h3 "
    "h4 h5 h6 head header hr html i input ins kbd label legend li main mark menu nav ol p pre "
    "progress s samp section small source span strike strong style sub summary sup table tbody "
    "td tfoot th thead time title tr tt u ul var wbr"
)
_OF_DRAWINGS = _words(
    "circle clippath defs desc ellipse g line lineargradient marker mask metadata path pattern "
    "polygon polyline radialgradient rect stop symbol text textpath tspan use"
)
_ATTRIBUTES = _words(
    "abbr alt aria bgcolor cellpadding cellspacing charset checked class clippathunits cols "
    "colspan controls cx cy d data disabled download dx dy for frame gradienttransform "
    "gradientunits headers hidden href hspace id label lang loading markerheight markerwidth media "
    "method name nowrap offset open patternunits placeholder points preserveaspectratio r "
    "refx refy rel reversed role rowspan rules rx ry scope scoped size span src start style "
    "summary tabindex target title type valign value version viewbox vspace x x1 x2 xlink xml "
    "xmlns y y1 y2"
)
"""Those that begin like one of these are known too: ``data-id``, ``xmlns:xlink``."""
_PROPERTIES = _words(
    "align background border bottom box break caption-side clear clip color column contain "
    "cursor dominant-baseline empty-cells fill filter flex float font-size font-smoothing "
    "font-style font-weight gap grid height hyphens inset isolation justify left "
    "letter-spacing line-height margin max min object opacity osx-font-smoothing outline "
    "overflow padding page place pointer-events position right row-gap scrollbar "
    "shape-rendering stop-color stop-opacity stroke tab-size table-layout text-align "
    "text-anchor text-decoration text-indent text-rendering text-shadow text-underline-offset "
    "top transform transition user-select vector-effect vertical-align visibility white-space "
    "width word-break word-spacing word-wrap z-index"
)
"""Those that begin like one of these are known too: ``border-top``."""
_VALUE = r"""(?!.*(?:reverse|\b(?:attr|element|image(?:-set)?|url)\((?!#)))[^"'\\]*"""
_SYMBOLS = r"\u2190-\u21ff\u25a0-\u25ff\u2b00-\u2bff\U0001f300-\U0001faff"
"""Arrows, triangles and little pictures: what shows that something can be folded."""
_VALUES = {
    "content": rf'none|normal|"[\s(),{_SYMBOLS}]*"',
    "display": r"(?!list-item)[\w\s-]+",
    "font": r"[^\\]*",
    "font-family": r"[^\\]*",
    "list-style": r"(?:none|disc|circle|square|inside|outside|\s)+",
    "list-style-type": r"none|disc|circle|square",
    "font-variant-numeric": r"normal|inherit|(?:lining|tabular|proportional)-nums",
    "text-overflow": r"clip|ellipsis",
    "text-transform": r"none|inherit|initial",
}
"""The values of some more properties that are known."""
_AT_RULE = re.compile(r"@(?:media|supports|layer|container)\b")
_HIDDEN = {"style", "title"}
_SELECTS_HIDDEN = re.compile(r"\*|(?:\A|[\s>+~,])[:\[]|(?<![\w.#-])(?:head|style|title)(?![\w-])")
_COMMENT_OR_TEXT = re.compile(
    r"""/\*.*?(?:\*/|\Z)|"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'""", re.DOTALL
)
_PIECE = re.compile(r"([^{};]*)([{};]|\Z)")
DEEPEST = 512
"""Browsers nest no deeper, and a parser that does takes ever longer for each element."""
_NOT_NESTED = _words(
    "area base br col dd dt embed hr img input li link meta option p param rp rt source tbody td "
    "tfoot th thead tr track wbr"
)
"""Elements without an end, or whose end may be left out."""
_TAG = re.compile(r"<(/?)([a-z][^\s/>]*)([^<>]*)", re.IGNORECASE)


def unknown_in(tag: str, attributes: Mapping[str, str | None], style: str) -> str:
    """Return the first tag, attribute or style that could show something its text lacks, or ''.

    Args:
        tag: The element.
        attributes: Its attributes.
        style: The style sheet that it holds, if it is one.

    """
    if tag not in _OF_HTML and tag not in _OF_DRAWINGS:
        return f"<{tag}>"
    for name, value in attributes.items():
        is_known = _begins_like(name, _ATTRIBUTES) or _begins_like(name, _PROPERTIES)
        is_loaded = name == "src" and tag not in DRAWN and tag != "source"
        is_script = "javascript:" in "".join((value or "").lower().split())
        shows_hidden = tag in _HIDDEN and name in ("class", "id", "style")
        if not is_known or is_loaded or is_script or shows_hidden:
            return f"the attribute {name} of <{tag}>"
    return _unknown_style(attributes.get("style") or "") or _unknown_style(style)


def _begins_like(name: str, names: frozenset[str]) -> bool:
    return name in names or re.split("[-:]", name)[0] in names


def _unknown_style(css: str) -> str:
    """Name what isn't known in a style sheet, or in declarations without a selector."""
    # A text keeps its quotation marks, whatever it holds, and ends where a browser ends it.
    texts: list[str] = []

    def numbered(match: re.Match[str]) -> str:
        if match[0].startswith("/*"):
            return " "
        texts.append(f'"{match[1] or match[2] or ""}"')
        return f"\0{len(texts) - 1}\0"

    selector = ""
    for piece, end in _PIECE.findall(_COMMENT_OR_TEXT.sub(numbered, css.replace("\0", "\ufffd"))):
        text = re.sub(r"\0(\d+)\0", lambda match: texts[int(match[1])], piece).strip()
        if end == "{":
            selector = text
            if text.startswith("@") and not _AT_RULE.match(text):
                return f"the style {text.split()[0]}"
        elif text and not _is_known(*text.split(":", 1), selector=selector):
            return f"the style {text.split(':')[0].strip()}"
    return ""


def _is_known(name: str, value: str = "", *, selector: str) -> bool:
    """Whether a declaration changes how a text looks, and not what it says."""
    name, value = name.strip().lower(), value.replace("!important", "").strip().lower()
    name = re.sub(r"^-(?:webkit|moz|ms|o)-", "", name)
    if name == "display" and value != "none" and _SELECTS_HIDDEN.search(selector):
        return False
    if name.startswith("--"):  # a variable: it depends on where it is used
        return True
    values = _VALUES.get(name) or (_VALUE if _begins_like(name, _PROPERTIES) else "")
    return bool(values and re.fullmatch(values, value, re.DOTALL))


def nesting(html: str) -> int:
    """Return how deep elements are nested at most, or more."""
    nested: Counter[str] = Counter()
    depth = deepest = 0
    for slash, name, rest in _TAG.findall(re.sub(r"(?s)<!--.*?-->", "", html)):
        tag = name.lower()
        is_empty = tag in _OF_DRAWINGS and rest.endswith("/")
        if tag not in _NOT_NESTED and not is_empty and not (slash and not nested[tag]):
            by = -1 if slash else 1
            nested[tag] += by
            depth += by
            deepest = max(deepest, depth)
    return deepest
