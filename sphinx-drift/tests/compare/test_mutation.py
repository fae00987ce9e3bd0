from __future__ import annotations

import pytest
from mutants import Attempt, Output, attempts, corpus
from nbformat import v4
from shown_mutants import altered, caught, shown_corpus

from sphinx_drift.compare.compare import UNITS, compare, without_marks
from sphinx_drift.compare.tokens import TokenKind, tokens


@pytest.fixture(scope="module")
def tried() -> list[Attempt]:
    return [attempt for output in corpus() for attempt in attempts(output)]


@pytest.mark.parametrize("output", list(corpus()), ids=lambda output: output.source)
def test_an_output_is_the_same_as_itself_at_full_precision(output: Output) -> None:
    text, _ = without_marks(output.precise)
    printed, precise = (
        [(t.kind, bool(t.gap), t.kind is TokenKind.FLOAT or t.text) for t in tokens(each)]
        for each in (output.executed, text)
    )
    assert printed == precise
    assert compare(output.documented, output.executed).same


def test_exact_catches_every_mutant(tried: list[Attempt]) -> None:
    assert tried
    assert [str(attempt) for attempt in tried if not attempt.caught] == []


def test_portable_lets_last_digits_alone_through(tried: list[Attempt]) -> None:
    survivors = [attempt for attempt in tried if not attempt.refused]
    assert len(survivors) <= 0.05 * len(tried)
    assert all(attempt.units <= UNITS for attempt in survivors)
    kinds = {"last digit +1", "last digit -1", "a digit less"}
    assert {attempt.mutant.kind for attempt in survivors} <= kinds


# Other forms ---------------------------------------------------------------------------


DRAWING = """<svg><metadata>2026</metadata><title>tick 3</title>
<style>text {stroke: 1}</style><text x="7">0.25</text><text>4 <tspan>steps</tspan></text></svg>"""
RICH = [
    pytest.param([v4.new_output("display_data", data=data)], id=name)
    for name, data in {
        "json": {
            "application/json": {"loss": [0.5, -12], "run": "7 of 9"},
            "text/plain": "<IPython.core.display.JSON object>",
        },
        "svg": {"image/svg+xml": DRAWING, "text/plain": "<IPython.core.display.SVG object>"},
        "drawn": {"image/svg+xml": DRAWING, "text/plain": "<Figure size 640x480 with 1 Axes>"},
        "head": {"text/html": "<head><meta name=x>loss 0.5", "text/plain": "<A object>"},
        "address": {"text/plain": "[<A at 0x7f6b9486f0a0>, 0.25]"},
        "cell": {
            "text/html": "<td><pre>\n1 2\n  3</pre></td><td>4</td>",
            "text/plain": "<A object>",
        },
    }.items()
]


@pytest.mark.parametrize(
    "outputs",
    [*(pytest.param(o, id=source.split("\n")[-1][:30]) for source, o in shown_corpus()), *RICH],
)
def test_exact_catches_everything_that_is_shown(outputs: list) -> None:
    assert not caught(outputs, outputs)
    missed = [(a.form, a.where) for a in altered(outputs) if not caught(a.outputs, outputs)]
    assert missed == []
