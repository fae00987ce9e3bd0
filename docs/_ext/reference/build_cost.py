"""The recorded benchmark of builds in the text: its bars, its times, and a role for its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective, SphinxRole

from figures.drawings import build_cost_trace
from figures.drawings.build_cost_trace import (
    BAR_COLUMNS,
    OTHER_COLUMNS,
    TIME_COLUMNS,
    UNITS,
    BuildCost,
)
from reference.table import origin, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sphinx.application import Sphinx


class BuildCostBars(SphinxDirective):
    """Show each bar beside what was measured."""

    def run(self) -> list[nodes.Node]:
        return [_numbers(BAR_COLUMNS, build_cost_trace.bar_rows(_read(self)))]


class BuildCostTimes(SphinxDirective):
    """Show the median time of each way and book, and on what machine they were measured."""

    def run(self) -> list[nodes.Node]:
        cost = _read(self)
        said = origin(f"Recorded by `nox -s bench` {build_cost_trace.origin(cost)}")
        return [_numbers(TIME_COLUMNS, build_cost_trace.time_rows(cost)), said]


class BuildCostOthers(SphinxDirective):
    """Show what was measured besides: saves, and memory."""

    def run(self) -> list[nodes.Node]:
        return [_numbers(OTHER_COLUMNS, build_cost_trace.other_rows(_read(self)))]


def _read(place: SphinxDirective | SphinxRole) -> BuildCost:
    place.env.note_dependency(str(build_cost_trace.FILE))
    place.env.note_dependency(build_cost_trace.__file__)
    return build_cost_trace.build_cost()


def _numbers(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> nodes.table:
    """Make a table in which all but the first column is set flush right."""
    node = table(columns, rows)
    for row in node.findall(nodes.row):
        for entry in row.children[1:]:
            entry["classes"].append("number")  # type: ignore[index]  # a row's are entries
    return node


class BuildCostFigure(SphinxRole):
    """Write a median or a ratio: `seconds.ours.10`, `seconds.ours.10 / seconds.off.10`."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        try:
            shown = figure(_read(self), self.text)
        except (KeyError, ValueError) as error:
            message = self.inliner.reporter.error(
                f"the benchmark of builds has no figure {self.text!r} ({error}); write such as "
                "seconds.ours.10 or seconds.ours.10 / seconds.off.10",
                line=self.lineno,
            )
            return [nodes.problematic(self.rawtext, self.rawtext)], [message]
        return [nodes.Text(shown)], []


def figure(cost: BuildCost, text: str) -> str:
    """Return the figure that a role's text names."""
    above, _, below = (word.strip() for word in text.partition("/"))
    if below:
        return build_cost_trace.short(cost.number(above) / cost.number(below))
    unit = UNITS[above.partition(".")[0]][1]
    number = cost.number(above)
    return f"{build_cost_trace.seconds(number) if unit == 's' else round(number)} {unit}"


def setup(app: Sphinx) -> None:
    app.add_directive("build-cost-bars", BuildCostBars)
    app.add_directive("build-cost-times", BuildCostTimes)
    app.add_directive("build-cost-others", BuildCostOthers)
    app.add_role("build-cost", BuildCostFigure())
