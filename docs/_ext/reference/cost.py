"""The recorded benchmark in the text: a table, and a role for its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective, SphinxRole

from figures.drawings import cost_trace
from figures.drawings.cost_trace import FORMS, SHOWN, CostTrace, rounded
from reference.table import origin, table

if TYPE_CHECKING:
    from sphinx.application import Sphinx

COLUMNS = ("T", "written out, ms", "one call, ms", "written out, MB", "one call, MB")


class CostTable(SphinxDirective):
    """Show what was measured, a row for each length, and on what machine."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(cost_trace.FILE))
        trace = cost_trace.cost_trace()
        node = table(COLUMNS, [_row(trace, length) for length in trace.lengths])
        for entry in node.findall(nodes.entry):
            entry["classes"].append("number")
        return [node, origin(_origin(trace))]


def _row(trace: CostTrace, length: int) -> list[str]:
    shown = [trace.number(f"{form}.{length}.{what}") for what in SHOWN for form in FORMS]
    return [str(length), *map(rounded, shown)]


def _origin(trace: CostTrace) -> str:
    machine, setup = trace.machine, trace.setup
    threads = "one thread" if machine["threads"] == 1 else f"{machine['threads']} threads"
    return (
        f"Recorded on {trace.measured}: {machine['processor']}, {threads}, "
        f"{machine['cpu_capability']}, {machine['system']}, torch {machine['torch']}; "
        f"medians of {setup['rounds']} rounds, {setup['dtype']}, d_k = {setup['d_k']}."
    )


class Cost(SphinxRole):
    """Write one figure: `one-call 8192 time`, or `ratio 8192 memory` (written out / one call)."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        self.env.note_dependency(str(cost_trace.FILE))
        try:
            shown = figure(cost_trace.cost_trace(), self.text)
        except (KeyError, ValueError) as error:
            message = self.inliner.reporter.error(
                f"the benchmark has no figure {self.text!r} ({error}); "
                "write a form or ratio, a length, and time or memory",
                line=self.lineno,
            )
            return [nodes.problematic(self.rawtext, self.rawtext)], [message]
        return [nodes.Text(shown)], []


def figure(trace: CostTrace, text: str) -> str:
    """Return the figure that a role's text names, with its unit."""
    form, length, what = text.split()
    if form != "ratio":
        return f"{rounded(trace.number(f'{form}.{length}.{what}'))} {SHOWN[what][2]}"
    slow, fast = (trace.number(f"{name}.{length}.{what}") for name in FORMS)
    ratio = slow / fast
    return f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"  # noqa: PLR2004 - two digits or more


def setup(app: Sphinx) -> None:
    app.add_directive("cost-table", CostTable)
    app.add_role("cost", Cost())
