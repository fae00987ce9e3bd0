"""Entries of the references without the role that ARIA has deprecated."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def visit_citation(translator: Any, node: nodes.citation) -> None:
    translator.body.append(translator.starttag(node, "div", classes=["citation"]))


def setup(app: Sphinx) -> None:
    depart = lambda translator, _: translator.body.append("</div>\n")  # noqa: E731
    app.add_node(nodes.citation, override=True, html=(visit_citation, depart))
