"""`{explorer}`: every step of the computation, in tables that one touches and changes."""

from collections.abc import Sequence
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import OptionSpec

from explorer.element import explorer, need_files

SHEET = "explorer.css"
SCRIPTS = ("arithmetic.js", "state.js", "tasks.js", "bows.js", "explorer.js")
TENSORS = (
    *("inputs", "W_query", "W_key", "W_value", "queries", "keys", "values"),
    *("attn_scores", "masked", "attn_weights", "context_vecs"),
)
CONTROLS = ("numbers", "divisor", "mask", "axis")


class Interactive(SphinxDirective):
    """Place an element: in a fold, or, with content for where no script runs, open."""

    has_content = True
    option_spec: ClassVar[OptionSpec] = {
        "fold": directives.unchanged_required,
        "controls": directives.unchanged_required,
    }

    def place(self, node: explorer, files: Sequence[str]) -> list[nodes.Node]:
        node["fold"] = self.options.get("fold", "")
        if bool(node["fold"]) == bool(self.content):
            raise self.error(
                f"{self.name} needs either :fold:, the title of its fold, "
                "or content, which is shown where no script runs"
            )
        need_files(self.env, [SHEET, *files])
        node += self.parse_content_to_nodes()
        self.set_source_info(node)
        return [node]

    def names(self, option: str, known: Sequence[str], usual: Sequence[str]) -> list[str]:
        names = self.options.get(option, " ".join(usual)).split()
        if strays := [name for name in names if name not in known]:
            wrong, valid = ", ".join(strays), ", ".join(known)
            raise self.error(f":{option}: knows no {wrong}; it knows {valid}")
        return list(names)


class Explorer(Interactive):
    """Place an explorer of the numbers of `:page:`.

    `:show:` names the tensors, `:controls:` what changes more than a number (none in a fold).
    """

    option_spec: ClassVar[OptionSpec] = {
        **Interactive.option_spec,
        "page": directives.unchanged_required,
        "show": directives.unchanged_required,
        "tasks": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        data = {
            "show": self.names("show", TENSORS, TENSORS),
            "controls": self.names("controls", CONTROLS, CONTROLS if self.content else ()),
            "tasks": "tasks" in self.options,
        }
        page = self.options.get("page", "self-attention/step-by-step")
        node = explorer(tag="attention-explorer", page=page, data=data)
        node["ids"].append(f"try-{self.env.new_serialno('explorer') + 1}")
        return self.place(node, SCRIPTS)


def setup(app: Sphinx) -> None:
    app.add_directive("explorer", Explorer)
