"""Correct HTML for references and for folded code."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def visit_citation(translator: Any, node: nodes.citation) -> None:
    """Begin an entry of the references, without the role that ARIA has deprecated."""
    translator.body.append(translator.starttag(node, "div", classes=["citation"]))


def depart_citation(translator: Any, node: nodes.citation) -> None:
    """End an entry of the references."""
    translator.body.append("</div>\n")


def visit_fold(translator: Any, node: HideCodeCellNode) -> None:
    """Begin folded code, whose label has no paragraphs, which HTML forbids there."""
    label = escape(node["prompt_show"])
    translator.body.append(f'<details class="folded"><summary>{label}</summary>\n')


def depart_fold(translator: Any, node: HideCodeCellNode) -> None:
    """End folded code."""
    translator.body.append("</details>\n")


def setup(app: Sphinx) -> None:
    app.add_node(HideCodeCellNode, override=True, html=(visit_fold, depart_fold))
    app.add_node(nodes.citation, override=True, html=(visit_citation, depart_citation))
