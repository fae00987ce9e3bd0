"""`{explorer}`: every step of the computation, in tables that one touches and changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from explorer.element import explorer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.util.typing import OptionSpec

SHEET = "explorer.css"
SCRIPTS = ("arithmetic.js", "state.js", "tasks.js", "bows.js", "explorer.js")
TENSORS = (
    *("inputs", "W_query", "W_key", "W_value", "queries", "keys", "values"),
    *("attn_scores", "masked", "attn_weights", "context_vecs"),
)
CONTROLS = ("numbers", "divisor", "mask", "axis")


class Explorer(SphinxDirective):
    """Place an explorer: in a fold below a figure, or, with content, open on a page of its own.

    `:show:` names the tensors, `:controls:` what changes more than a number (none in a fold), and
    its numbers are those of `:page:`.
    """

    has_content = True
    option_spec: ClassVar[OptionSpec] = {
        "fold": directives.unchanged_required,
        "show": directives.unchanged_required,
        "controls": directives.unchanged_required,
        "page": directives.unchanged_required,
        "tasks": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        if ("fold" in self.options) == bool(self.content):
            raise self.error(
                "an explorer needs either :fold:, the title of its fold, "
                "or content, which is shown where no script runs"
            )
        shown = self._names("show", TENSORS, TENSORS)
        controls = self._names("controls", CONTROLS, CONTROLS if self.content else ())
        tasks = "tasks" in self.options
        node = explorer(
            tag="attention-explorer",
            ids=[f"try-{self.env.new_serialno('explorer') + 1}"],
            page=self.options.get("page", "self-attention/step-by-step"),
            data={"show": shown, "controls": controls, "tasks": tasks},
            files=[SHEET, *SCRIPTS],
            fold=self.options.get("fold", ""),
        )
        node += self.parse_content_to_nodes()
        self.set_source_info(node)
        return [node]

    def _names(self, option: str, known: Sequence[str], usual: Sequence[str]) -> list[str]:
        names = self.options.get(option, " ".join(usual)).split()
        if strays := [name for name in names if name not in known]:
            wrong, valid = ", ".join(strays), ", ".join(known)
            raise self.error(f":{option}: knows no {wrong}; it knows {valid}")
        return list(names)


def setup(app: Sphinx) -> None:
    app.add_directive("explorer", Explorer)
