"""`{explorer}`: every step of the computation, in tables that one touches and changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from explorer.element import explorer

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.util.typing import OptionSpec

SHEET = "explorer.css"
SCRIPTS = ("arithmetic.js", "state.js", "tasks.js", "bows.js", "explorer.js")
TENSORS = (
    *("inputs", "W_query", "W_key", "W_value", "queries", "keys", "values"),
    *("attn_scores", "masked", "attn_weights", "context_vecs"),
)


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
        start, tasks = self.options.get("start", ""), "tasks" in self.options
        node = explorer(
            tag="attention-explorer",
            ids=[f"try-{self.env.new_serialno('explorer') + 1}"],
            page="self-attention/step-by-step",
            data={"show": shown, "start": start, "tasks": tasks},
            files=[SHEET, *SCRIPTS],
            fold=self.options.get("fold", ""),
        )
        node += self.parse_content_to_nodes()
        self.set_source_info(node)
        return [node]


def setup(app: Sphinx) -> None:
    app.add_directive("explorer", Explorer)
