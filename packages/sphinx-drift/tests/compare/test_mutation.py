from __future__ import annotations

import pytest
from mutants import Attempt, Output, attempts, corpus

from sphinx_drift.compare.compare import UNITS, compare
from sphinx_drift.compare.lexer import TokenKind
from sphinx_drift.compare.precise import without_marks
from sphinx_drift.compare.tokens import tokens


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
    # A zero is a zero, whatever its exponent.
    others = [attempt for attempt in survivors if "0.0000e" not in attempt.mutant.where]
    assert {attempt.mutant.kind for attempt in others} <= kinds
