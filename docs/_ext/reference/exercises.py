"""Folds that need no script: solutions of sphinx-exercise, and code that a page hides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_exercise.nodes import exercise_node, solution_node

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator


class Unwrap(SphinxTransform):
    """Take the sections without a title off, whose id every exercise and solution repeats."""

    default_priority = 11  # after sphinx-exercise has put the parts of each together

    def apply(self, **kwargs: object) -> None:
        for kind in (exercise_node, solution_node):
            for node in self.document.findall(kind):
                for section in [each for each in node if isinstance(each, nodes.section)]:
                    place = node.index(section)
                    node[place : place + 1] = section.children


class FoldSolutions(SphinxPostTransform):
    """Turn solutions into the folds that MyST-NB has for code."""

    default_priority = 30  # after sphinx-exercise has written the titles

    def run(self, **kwargs: object) -> None:
        for node in list(self.document.findall(solution_node)):
            title, *content = node.children
            fold = HideCodeCellNode("", *content, prompt_show=title.astext(), ids=node["ids"])
            node.replace_self(fold)


def visit_fold(self: HTML5Translator, node: HideCodeCellNode) -> None:
    """Begin a fold, whose label has no paragraphs, which HTML forbids there."""
    self.body.append(self.starttag(node, "details", CLASS="folded"))
    self.body.append(f"<summary>{self.encode(node['prompt_show'])}</summary>\n")


def depart_fold(self: HTML5Translator, node: HideCodeCellNode) -> None:
    self.body.append("</details>\n")


def setup(app: Sphinx) -> None:
    app.setup_extension("sphinx_exercise")
    # It turns numbers on, for which Sphinx loads every page in every build; here each has its own.
    app.connect("config-inited", lambda _, config: setattr(config, "numfig", False))
    # It names visitors for singlehtml, which hides from that builder all that others have for HTML.
    app.registry.translation_handlers.pop("singlehtml", None)
    app.add_node(HideCodeCellNode, override=True, html=(visit_fold, depart_fold))
    app.add_transform(Unwrap)
    app.add_post_transform(FoldSolutions)
