"""Outcomes and results of pages, as reports get them."""

from collections.abc import Mapping

from sphinx_drift.compare.compare import Policy, compare
from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome, PageResult

TORCH = {
    "python": "3.11.7",
    "torch": "7.1.0",
    "device": "cpu",
    "capability": "AVX2",
    "threads": "1",
}
"""An environment with torch."""


def drift(documented: str, executed: str, line: int = 24) -> Outcome:
    """Return a drift of cell 2, whose expectation begins on a line."""
    return Outcome(
        *(Kind.DRIFT, line),
        cell=2,
        cell_line=line - 4,
        body_line=line + 1,
        documented=documented,
        executed=executed,
        verdict=compare(documented, executed),
    )


def kinds(result: PageResult) -> list[Kind]:
    return [outcome.kind for outcome in result.outcomes]


def page(
    *outcomes: Outcome,
    file: str = "page.md",
    policy: Policy = Policy.EXACT,
    environment: Mapping[str, str] = TORCH,
) -> PageResult:
    """Return a result of a page of three cells."""
    return PageResult(file, outcomes, 3, policy, environment)
