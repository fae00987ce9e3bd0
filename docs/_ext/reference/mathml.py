"""Mathematics as MathML, made when the book is built: no script, no network."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.util.nodes import get_node_source

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

CLOSING = re.compile(r"[.,;:!?)\]’”]+")
NAMESPACE = "http://www.w3.org/1998/Math/MathML"
THIN = "0.1667em"
CHILDREN = {
    **dict.fromkeys(("mfrac", "mroot", "msub", "msup", "munder", "mover"), 2),
    **dict.fromkeys(("msubsup", "munderover"), 3),
}
# What docutils knows under another name only; its bold symbols take in what follows them.
SPELLED = {"dots": r"\ldots", "boldsymbol": r"\mathbf"}

# A tensor has the colour that it has in the figures; the style sheet knows the classes.
ROLES = {
    letter: f"role-{role}"
    for role, letters in (("query", "𝐪𝐐"), ("key", "𝐤𝐊"), ("value", "𝐯𝐕"), ("weight", "𝐀αωΩ𝛂"))
    for letter in letters
}
TENSORS = re.compile(r"(?<!mathbf\{)(?<![\\a-z])([QKVXZWA]|M(?!_)|[qkvxz](?=\^))(?![a-z])")
MATRIX_ROLES = {"q": "role-query", "k": "role-key", "v": "role-value"}


class UntranslatedError(ValueError):
    """A formula that would not look on the page as it is written."""


def to_mathml(latex: str, *, display: bool) -> str:
    """Convert a formula; raise `UntranslatedError` for anything that did not come through."""
    known = re.sub(r"\\([a-z]+)", lambda name: SPELLED.get(name[1], name[0]), latex)
    known = re.sub(r"\{align\*?\}", "{aligned}", known)  # Sphinx does the numbering
    try:
        text = tex2mathml(known, as_block=display)
    except (AttributeError, MathError) as error:  # the first for an & outside an environment
        raise UntranslatedError(str(error)) from error
    text = text.replace(f' xmlns="{NAMESPACE}"', "", 1).replace("&ApplyFunction;", "\u2061")
    math = ET.fromstring(re.sub(r"\n *", "", text))  # noqa: S314 - the converter's
    for element in list(math.iter()):
        if len(element) != CHILDREN.get(element.tag, len(element)):
            raise UntranslatedError(f"<{element.tag}> lacks a part")
        if element.tag == "msub" and element[0].tag == "msub":
            raise UntranslatedError("an index of an index is in braces")
        _colour(element)
        _space(element)
        _tighten(element)
    math.attrib.update(xmlns=NAMESPACE, alttext=" ".join(latex.split()))
    return ET.tostring(math, encoding="unicode", short_empty_elements=False)


def _colour(element: ET.Element) -> None:
    """Mark queries, keys, values and weights, and the matrices that make them."""
    role = ROLES.get(element.text or "") if element.tag == "mi" else None
    if element.tag == "msub" and [child.tag for child in element] == ["mi", "mi"]:
        base, index = (child.text or "" for child in element)
        role = MATRIX_ROLES.get(index) if base == "𝐖" else None
    if role:
        element.set("class", role)
    if element.text == "𝛂":  # the book's font for mathematics has no bold Greek
        element.text = "α"
        element.set("class", f"{role} bold")


def _space(row: ET.Element) -> None:
    """Give signs, bars, slashes, last commas and functions the space that TeX gives them."""
    parts = list(row)
    for place, part in enumerate(parts):
        before = parts[place - 1] if place else None
        after = parts[place + 1] if place + 1 < len(parts) else None
        if part.text == "−" and before is not None and _relates(before):
            part.set("form", "prefix")  # a sign, and no difference
        if part.tag == "mo" and part.text in {"/", "|"}:
            part.attrib.update(lspace="0", rspace="0")
        if part.text == "," and after is not None and after.text == ")":
            part.set("rspace", "0")  # the shape (6,) of one axis
        if part.text == "\u2061" and after is not None and not _opens(after):
            part.set("rspace", THIN)
    for place in reversed(range(1, len(parts) if row.tag not in CHILDREN else 0)):
        before, part = parts[place - 1 : place + 1]
        is_apart = _is_function(part) or (_fenced(before) and part.tag not in {"mo", "mspace"})
        if is_apart and _ends(before):
            row.insert(place, ET.Element("mspace", width=THIN))


def _tighten(element: ET.Element) -> None:
    """Set indices and exponents without spaces around their signs."""
    scripts = [*element][1:] if element.tag in CHILDREN and element.tag != "mfrac" else []
    for sign in (sign for script in scripts for sign in script.iter("mo")):
        sign.attrib.update(lspace="0", rspace="0")


def _is_function(part: ET.Element) -> bool:
    name = part[0] if part.tag in {"msub", "msup", "msubsup"} else part
    text = name.text or ""
    upright = len(text) > 1 or name.get("mathvariant") == "normal"
    return name.tag == "mi" and upright and text.isascii() and text.isalpha()


def _relates(part: ET.Element) -> bool:
    return part.text in {"=", "(", "[", ",", "<", ">", "≤", "≥", "≈"}


def _ends(part: ET.Element) -> bool:
    return part.tag not in {"mo", "mspace"} or part.text in {")", "]", "|"}


def _fenced(part: ET.Element) -> bool:
    return part.tag == "mrow" and len(part) > 0 and part[-1].text in {")", "]"}


def _opens(part: ET.Element) -> bool:
    first = part[0] if part.tag in {"mrow", "msub", "msup"} and len(part) else part
    first = first[0] if first.tag == "mrow" and len(first) else first
    return first.tag in {"mo", "mspace"}


def in_bold(latex: str) -> str:
    """Set the plain names of matrices and vectors bold."""
    return TENSORS.sub(r"\\mathbf{\1}", latex)


class BoldInDocstrings(SphinxPostTransform):
    """Set the matrices and vectors of docstrings bold, which are plain there for a terminal."""

    default_priority = 10  # before symbols become links

    def run(self, **kwargs: object) -> None:
        for node in self.document.findall(nodes.Element):
            if isinstance(node, nodes.math | nodes.math_block) and "docstring of" in (
                get_node_source(node) or ""
            ):
                node[:] = [nodes.Text(in_bold(node.astext()))]


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
        self.add_permalink_ref(node, f"Link to equation {number}")
        self.body.append("</span>")
    elif node["ids"]:
        self.add_permalink_ref(node, "Link to this equation")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    app.add_post_transform(BoldInDocstrings)
    app.add_post_transform(KeepPunctuation)
