from __future__ import annotations

from pathlib import Path

import pytest
from mutants import Attempt, Mutant, Output, attempts, corpus, mutants
from nbformat import v4
from shown_mutants import altered, caught, shown_corpus

from sphinx_drift.compare.compare import UNITS, Policy, Verdict, compare, without_marks
from sphinx_drift.compare.tokens import tokens

SURVIVORS = Path(__file__).with_name("portable-survivors.txt")
MATRIX = "tensor([[0.25, -1.50],\n        [3.00,  4.75],\n        [0.00,  1.25]])\n"


@pytest.fixture(scope="module")
def tried() -> list[Attempt]:
    return [attempt for output in corpus() for attempt in attempts(output)]


def test_there_are_enough_kinds_of_output() -> None:
    outputs = list(corpus())
    assert len(outputs) >= 40
    assert all(output.executed.strip() for output in outputs)


@pytest.mark.parametrize("output", list(corpus()), ids=lambda output: output.source)
def test_an_output_is_the_same_as_itself_at_full_precision(output: Output) -> None:
    text, _ = without_marks(output.precise)
    precise = [(t.kind, bool(t.gap)) for t in tokens(text)]
    assert [(t.kind, bool(t.gap)) for t in tokens(output.executed)] == precise
    assert compare(output.documented, output.executed).same
    assert compare(output.executed, text, policy=Policy.STRUCTURE).same


def test_exact_catches_every_mutant(tried: list[Attempt]) -> None:
    assert len(tried) > 5000
    assert [str(attempt) for attempt in tried if not attempt.caught] == []


def test_portable_catches_95_of_100(tried: list[Attempt]) -> None:
    survivors = [attempt for attempt in tried if not attempt.refused]
    assert len(survivors) <= 0.05 * len(tried)
    assert all(attempt.units <= UNITS for attempt in survivors)
    assert {attempt.mutant.kind for attempt in survivors} == {
        "last digit +1",
        "last digit -1",
        "a digit less",
    }


def test_the_survivors_are_those_that_are_listed(tried: list[Attempt]) -> None:
    listed = SURVIVORS.read_text("utf-8").splitlines()
    assert listed == sorted(listed)
    assert [line for line in listed if line.startswith("corpus/")] == sorted(
        str(attempt) for attempt in tried if not attempt.refused
    )


def test_every_kind_of_mutant_is_made() -> None:
    text = f"loss 1e-05 nan\n{MATRIX}tensor([1.0], dtype=torch.float64, grad_fn=<MmBackward0>)"
    kinds = {mutant.kind for mutant in mutants(text)}
    assert kinds == {
        *("last digit +1", "last digit -1", "a digit less", "sign", "not finite"),
        *("exponent +1", "exponent -1", "label", "output doubled"),
        *("dtype added", "dtype lost", "dtype changed"),
        *("grad_fn added", "grad_fn lost", "grad_fn changed"),
        *("line missing", "line doubled", "lines exchanged"),
        *("element dropped", "element doubled", "elements exchanged"),
        *("row dropped", "row doubled", "rows exchanged", "nesting flattened", "row nested"),
        *("column dropped", "column doubled", "columns exchanged", "shape changed"),
    }


EXAMPLES = [
    ("last digit +1", "[0.25]", "[0.26]"),
    ("last digit -1", "[0.00]", "[-0.01]"),
    ("last digit -1", "[1.]", "[0.]"),
    ("last digit +1", "[9]", "[10]"),
    ("last digit +1", "[9.99e-05]", "[10.00e-05]"),
    ("last digit -1", "[1.0-2.0j]", "[1.0-2.1j]"),
    ("sign", "[0.25]", "[-0.25]"),
    ("sign", "[1.0-2.0j]", "[1.0+2.0j]"),
    ("not finite", "[-inf]", "[0.0000]"),
    ("exponent -1", "[1.0e-11]", "[1.0e-12]"),
    ("a digit less", "[0.8210]", "[0.821]"),
    ("row dropped", "[[1], [2]]", "[[2]]"),
    ("row doubled", "[[1], [2]]", "[[1], [2], [2]]"),
    ("columns exchanged", "[[1, 2], [3, 4]]", "[[2, 1], [4, 3]]"),
    ("column dropped", "[[1, 2], [3, 4]]", "[[1], [3]]"),
    ("nesting flattened", "[[1, 2], [3, 4]]", "[1, 2, 3, 4]"),
    ("shape changed", "[[1, 2], [3, 4], [5, 6]]", "[[1, 2, 3],\n [4, 5, 6]]"),
    ("elements exchanged", "torch.Size([6, 2])", "torch.Size([2, 6])"),
]


@pytest.mark.parametrize(("kind", "text", "expected"), EXAMPLES)
def test_a_mutant_is_what_its_kind_says(kind: str, text: str, expected: str) -> None:
    assert expected in [mutant.text for mutant in mutants(text) if mutant.kind == kind]


def test_no_mutant_reads_like_the_output() -> None:
    keys = [token.key for token in tokens(MATRIX)]
    results = list(mutants(MATRIX))
    assert len({mutant.text for mutant in results}) == len(results)
    assert all([token.key for token in tokens(mutant.text)] != keys for mutant in results)


def test_a_comparer_that_accepts_all_would_be_detected() -> None:
    blind = Attempt("x", Mutant("sign", "", "-1"), Verdict())
    assert not blind.caught
    assert not blind.refused


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


def test_every_form_is_altered() -> None:
    forms = {each.form for _, outputs in shown_corpus() for each in altered(outputs)}
    assert forms == {
        *("HTML", "LaTeX", "Markdown", "beside a picture", "glue", "picture"),
        *("stderr", "stdout", "text", "traceback"),
    }
