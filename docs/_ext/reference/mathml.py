"""Mathematics as docutils' MathML, made when the book is built: no script, no network."""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

CLOSING = re.compile(r"[.,;:!?)\]’”]+")

# A tensor has the colour that it has in the figures; the style sheet knows the classes.
ROLES = {
    letter: role
    for role, letters in (("query", "𝐪𝐐"), ("key", "𝐤𝐊"), ("value", "𝐯𝐕"), ("weight", "𝐀αωΩ"))
    for letter in letters
} | {"<mi>𝐖</mi><mi>q": "query", "<mi>𝐖</mi><mi>k": "key", "<mi>𝐖</mi><mi>v": "value"}
TENSOR = re.compile(f"<(?P<tag>mi|msub)>(?P<tensor>{'|'.join(ROLES)})</mi>")


def to_mathml(latex: str, *, display: bool) -> str:
    """Convert a formula.

    Raises:
        MathError: If docutils doesn't know something in it.

    """
    known = latex.replace(r"\dots", r"\ldots")  # docutils has the second name alone
    text = re.sub(r"\n *", "", tex2mathml(known, as_block=display))
    text = text.replace("&ApplyFunction;", "\u2061")  # XHTML, in the e-book, has no such name
    return TENSOR.sub(_coloured, text)


def _coloured(match: re.Match[str]) -> str:
    name = match["tensor"]
    if (match["tag"] == "msub") != name.startswith("<mi>"):
        return match[0]
    return f'<{match["tag"]} class="role-{ROLES[name]}">{name}</mi>'


class KeepPunctuation(SphinxPostTransform):
    """Keep a comma or full stop on the line of the formula before it."""

    default_priority = 410

    def run(self, **kwargs: object) -> None:
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
    except (AttributeError, MathError) as problem:  # the first for an & outside an environment
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
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    app.add_post_transform(KeepPunctuation)
