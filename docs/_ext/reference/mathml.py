"""Mathematics as MathML, made when the book is built: no script, no network."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from docutils import nodes
from latex2mathml.converter import convert_to_element
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata
    from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

CLOSING = re.compile(r"[.,;:!?)\]’”]+")
CHILDREN = {
    **dict.fromkeys(("mfrac", "mroot", "msub", "msup", "munder", "mover"), 2),
    **dict.fromkeys(("msubsup", "munderover"), 3),
}
# MathML Core, which browsers implement, has no named widths.
SPACES = {
    f"{sign}{name}mathspace": f"{'-' if sign else ''}{eighteenths / 18:.4f}em"
    for sign in ("", "negative")
    for name, eighteenths in (("thin", 3), ("medium", 4), ("thick", 5))
}
# The converter knows `split` but not `aligned`; Sphinx numbers equations, so rows are not numbered.
ENVIRONMENTS = {"aligned": "split", "align": "align*", "equation": "", "equation*": ""}

# A tensor has the colour that it has in the figures; the style sheet knows the classes.
ROLES = {
    letter: f"role-{role}"
    for role, letters in (("query", "𝐪𝐐"), ("key", "𝐤𝐊"), ("value", "𝐯𝐕"), ("weight", "𝐀αωΩ"))
    for letter in letters
}
# Letters that the converter takes for operators, which would stand apart from what they belong to.
LETTERS = frozenset("∞⊤∂")
THIN = f"{3 / 18:.4f}em"
MATRIX_ROLES = {"q": "role-query", "k": "role-key", "v": "role-value"}


class UntranslatedError(ValueError):
    """A formula that would not look on the page as it is written."""


def to_mathml(latex: str, *, display: bool) -> str:
    """Convert a formula; raise `UntranslatedError` for anything that did not come through."""
    try:
        math = convert_to_element(
            _prepare(latex, display=display), display="block" if display else "inline"
        )
    except Exception as error:  # the converter has a dozen unrelated exception classes
        raise UntranslatedError(type(error).__name__.removesuffix("Error")) from error
    for element in math.iter():
        _decode(element)
    for element in list(math.iter()):
        _join_upright(element)
    for element in math.iter():
        _colour(element)
    for element in list(math.iter()):
        _space(element)
    problems = sorted(set(filter(None, map(_problem, math.iter()))))
    if problems:
        raise UntranslatedError("; ".join(problems))
    math.set("alttext", " ".join(latex.split()))
    return ET.tostring(math, encoding="unicode", short_empty_elements=False)


def _prepare(latex: str, *, display: bool) -> str:
    def rename(match: re.Match[str]) -> str:
        name = ENVIRONMENTS.get(match[2], match[2])
        return f"\\{match[1]}{{{name}}}" if name else ""

    latex = re.sub(r"\\(begin|end)\{([a-z]+\*?)\}", rename, latex).strip()
    if display and r"\\" in latex and r"\begin" not in latex:
        return rf"\begin{{split}}{latex}\end{{split}}"
    return latex


def _decode(element: ET.Element) -> None:
    """Give text as characters, not as the converter's `&#x…;`, and widths in em."""
    element.text = html.unescape(element.text or "")
    if element.get("width") in SPACES:
        element.set("width", SPACES[element.get("width", "")])
    if element.tag == "mo" and len(element.text) > 1 and element.text.isalpha():
        element.tag = "mi"


def _join_upright(row: ET.Element) -> None:
    r"""Make one word of `\mathrm{softmax}`, which arrives as seven letters."""
    previous: ET.Element | None = None
    for child in list(row):
        upright = child.tag == "mi" and child.get("mathvariant") == "normal"
        if upright and previous is not None:
            previous.text = f"{previous.text}{child.text}"
            row.remove(child)
        else:
            previous = child if upright else None


def _colour(element: ET.Element) -> None:
    """Mark queries, keys, values and weights, and the matrices that make them."""
    role = ROLES.get(element.text or "") if element.tag == "mi" else None
    if element.tag == "msub" and [child.tag for child in element] == ["mi", "mi"]:
        base, index = (child.text or "" for child in element)
        role = MATRIX_ROLES.get(index) if base == "𝐖" else None
    if role:
        element.set("class", role)


def _space(row: ET.Element) -> None:
    """Set letters as letters, and give functions, slashes and last commas the space TeX does."""
    parts = list(row)
    for place, part in enumerate(parts):
        text = part.text or ""
        following = parts[place + 1] if place + 1 < len(parts) else None
        if part.tag == "mo" and (text in LETTERS or text.isalpha()):
            part.tag = "mi"
            part.set("mathvariant", "normal")
        if text == "−" and place and parts[place - 1].tag == "mo" and _relates(parts[place - 1]):
            part.set("form", "prefix")  # a sign, and no difference
        if part.tag == "mo" and text == "/":
            part.attrib.update(lspace="0.06em", rspace="0.06em")
        if part.tag == "mo" and text == "," and following is not None and following.text == ")":
            part.set("rspace", "0")  # the shape (6,) of one axis
    if row.tag not in CHILDREN:
        _space_functions(row)


def _space_functions(row: ET.Element) -> None:
    parts = list(row)
    for place in reversed(range(len(parts))):
        if place and _fenced(parts[place - 1]) and parts[place].tag != "mo":
            row.insert(place, ET.Element("mspace", width=THIN))
        if not _is_function(parts[place]):
            continue
        if place + 1 < len(parts) and not _opens(parts[place + 1]):
            row.insert(place + 1, ET.Element("mspace", width=THIN))
        if place and (parts[place - 1].tag != "mo" or parts[place - 1].text in {")", "]"}):
            row.insert(place, ET.Element("mspace", width=THIN))


def _is_function(part: ET.Element) -> bool:
    name = part[0] if part.tag in {"msub", "msup", "msubsup"} else part
    text = name.text or ""
    upright = len(text) > 1 or name.get("mathvariant") == "normal"
    return name.tag == "mi" and upright and text.isascii() and text.isalpha()


def _relates(part: ET.Element) -> bool:
    return part.text in {"=", "(", "[", ",", "<", ">", "≤", "≥", "≈"}


def _fenced(part: ET.Element) -> bool:
    return part.tag == "mrow" and len(part) > 0 and part[0].get("fence") == "true"


def _opens(part: ET.Element) -> bool:
    first = part[0] if part.tag == "mrow" and len(part) else part
    return first.tag in {"mo", "mspace"}


def _problem(element: ET.Element) -> str | None:
    text = element.text or ""
    if text.startswith("\\"):
        return f"unknown command {text}"
    if text == "&" and element.tag == "mi":
        return "an & outside a known environment"
    if element.get("linebreak") == "newline":
        return r"a \\ outside a known environment"
    if len(element) != CHILDREN.get(element.tag, len(element)):
        return f"<{element.tag}> lacks a part"
    return None


class KeepPunctuation(SphinxPostTransform):
    """Keep a comma or full stop on the line of the formula before it."""

    default_priority = 410

    def run(self, **kwargs: object) -> None:
        if self.app.builder.format != "html":
            return
        for node in list(self.document.findall(nodes.math)):
            place = node.parent.index(node)
            after = node.parent[place + 1 : place + 2]
            mark = CLOSING.match(after[0].astext()) if after else None
            if mark and isinstance(after[0], nodes.Text):
                rest = nodes.Text(after[0].astext()[mark.end() :])
                joined = nodes.inline("", "", node.deepcopy(), nodes.Text(mark[0]))
                joined["classes"].append("nowrap")
                node.parent[place : place + 2] = [joined, rest]


def _converted(self: HTML5Translator, node: nodes.math | nodes.math_block) -> str:
    latex = node.astext()
    try:
        return to_mathml(latex, display=isinstance(node, nodes.math_block))
    except UntranslatedError as problem:
        logger.warning(
            "cannot write %r as MathML: %s; write it another way",
            latex,
            problem,
            location=node,
            type="mathml",
        )
        return f"<code>{self.encode(latex)}</code>"


def visit_math(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(_converted(self, node))
    raise nodes.SkipNode


def visit_displaymath(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math math-display"))
    self.body.append(_converted(self, node))
    if node["number"]:
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    elif node["ids"]:
        self.add_permalink_ref(node, "Link to this equation")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    app.add_post_transform(KeepPunctuation)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
