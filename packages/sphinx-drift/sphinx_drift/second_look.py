"""Say of outputs that drifted whether rounding may explain it, so that a second look is taken."""

from collections.abc import Iterable
from dataclasses import replace

from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome


def add_hints(exact: Iterable[Outcome], portable: Iterable[Outcome]) -> tuple[Outcome, ...]:
    """Add to each drift whether *portable*, which may see more, would have accepted it."""
    verdicts = {(o.cell, o.line, o.documented): o.verdict for o in portable}
    return tuple(
        replace(o, rounding=verdicts.get((o.cell, o.line, o.documented)))
        if o.kind is Kind.DRIFT
        else o
        for o in exact
    )


def may_be_rounding(outcome: Outcome) -> bool:
    """Whether an output drifted in numbers, so that full precision can explain it."""
    return outcome.kind is Kind.DRIFT and any(d.number for d in outcome.verdict.differences)
