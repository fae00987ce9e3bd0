"""`{explorer}`: every step of the computation, in tables that one touches and changes."""

from __future__ import annotations

import functools
import importlib
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from explorer.element import HERE, begin, custom_element, end

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.util.typing import OptionSpec
    from sphinx.writers.html5 import HTML5Translator

EXAMPLES = HERE.parents[2] / "selfattn" / "examples.py"
SHEET = "explorer.css"
SCRIPTS = ("arithmetic.js", "state.js", "tasks.js", "shares.js", "explorer.js")
TENSORS = (
    *("inputs", "W_query", "W_key", "W_value", "queries", "keys", "values"),
    *("attn_scores", "masked", "attn_weights", "context_vecs"),
)


class explorer(custom_element):  # noqa: N801 - docutils names nodes in lower case
    """An explorer in a fold named `fold`; without, open, and its children are shown before it."""


class Explorer(SphinxDirective):
    """Place an explorer: in a fold below a figure, or, with content, open on a page of its own.

    `:show:` names the tensors, and `:start:` says, as an address does, what isn't as usual.
    """

    has_content = True
    option_spec: ClassVar[OptionSpec] = {
        "fold": directives.unchanged_required,
        "show": directives.unchanged_required,
        "start": directives.unchanged_required,
        "tasks": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        if ("fold" in self.options) == bool(self.content):
            raise self.error(
                "an explorer needs either :fold:, the title of its fold, "
                "or content, which is shown where no script runs"
            )
        shown = self.options.get("show", " ".join(TENSORS)).split()
        if strays := [name for name in shown if name not in TENSORS]:
            raise self.error(f":show: knows no {', '.join(strays)}; it knows {', '.join(TENSORS)}")
        self.env.note_dependency(str(EXAMPLES))
        start, tasks = self.options.get("start", ""), "tasks" in self.options
        node = explorer(
            tag="attention-explorer",
            ids=[f"try-{self.env.new_serialno('explorer') + 1}"],
            data={"show": shown, "start": start, "tasks": tasks, **example()},
            files=[SHEET, *SCRIPTS],
            fold=self.options.get("fold", ""),
        )
        node += self.parse_content_to_nodes()
        self.set_source_info(node)
        return [node]


@functools.cache
def example() -> dict[str, Any]:
    """Return the words and their embeddings, as they are written."""
    tokens = importlib.import_module("selfattn.examples").six_tokens()  # it loads torch
    inputs = [[round(number, 4) for number in row] for row in tokens.inputs.tolist()]
    return {"words": tokens.words, "inputs": inputs}


def visit(self: HTML5Translator, node: explorer) -> None:
    begin(self, node)
    if self.builder.name == "epub":
        return
    if node["fold"]:
        self.body.append(
            f'<details class="folded explorer-fold"><summary>{escape(node["fold"])}</summary>'
            "</details>"
        )
    else:
        self.body.append('<div class="explorer-before">')


def depart(self: HTML5Translator, node: explorer) -> None:
    if not node["fold"]:
        if base := self.config.html_baseurl:  # for paper and e-books
            address = escape(f"{base}{self.builder.current_docname}.html")
            self.body.append(
                f'<p>Its numbers can be changed at <a href="{address}">{address}</a>.</p>'
            )
        if self.builder.name != "epub":
            self.body.append("</div>")
    end(self, node)


def setup(app: Sphinx) -> None:
    app.add_node(explorer, html=(visit, depart))
    app.add_directive("explorer", Explorer)
