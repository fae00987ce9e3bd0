"""Lists the kinds of outcome, from the code that names them."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome, PageResult
from sphinx_drift.report.formats import exit_status


class OutcomeKinds(SphinxDirective):
    """List the kinds with which a command ends with an exit status."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        status = int(self.arguments[0])
        kinds = [kind for kind in Kind if status_with(kind) == status]
        return self.parse_text_to_nodes("\n\n".join(map(described, kinds)))


def status_with(kind: Kind) -> int:
    """Return the exit status of a check in which an output is verified and this happens."""
    outcomes = (Outcome(Kind.VERIFIED, 1), Outcome(kind, 1))
    return exit_status([PageResult("page.md", outcomes)])


def described(kind: Kind) -> str:
    """Return a kind as an entry of a list: its name, what it means, what to do."""
    lines = [f"{line[0].upper()}{line[1:]}." for line in (kind.meaning, kind.remedy) if line]
    return f"`{kind.label}`\n: " + "\n  ".join(lines)


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("outcome-kinds", OutcomeKinds)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
