"""`{drift-kinds}`: the kinds of outcome, from the code that tells them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx.util.docutils import SphinxDirective

from reference.table import table
from sphinx_drift.compare.outcomes import Kind

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata


class KindsTable(SphinxDirective):
    """Show the kinds of outcome, from the checker's code."""

    def run(self) -> list[nodes.Node]:
        rows = [(kind.label, _meaning(kind)) for kind in Kind]
        return [table(["kind", "what it means, and what to do"], rows)]


def _meaning(kind: Kind) -> str:
    """Return what a kind means and what to do about it, each as a line."""
    lines = [f"{line[0].upper()}{line[1:]}." for line in (kind.meaning, kind.remedy) if line]
    return "\n".join(lines)


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("drift-kinds", KindsTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
