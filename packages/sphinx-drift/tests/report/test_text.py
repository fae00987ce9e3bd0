"""What a person reads: places, both values, carets, remedies, counts, in 100 columns."""

import io
from dataclasses import replace

import pytest
from reported import TORCH, drift, page

from sphinx_drift.compare.compare import Policy, Waiver, compare
from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome, PageResult
from sphinx_drift.report.summary import describe_environment, summary
from sphinx_drift.report.text import render, use_color

PATH = "docs/self-attention/compact-class.md"


@pytest.mark.parametrize("at", [0, 9, 20, 39])
def test_long_lines_are_cut_around_the_caret(at: int) -> None:
    numbers = [f"{0.1 + index / 1000:.4f}" for index in range(40)]
    other = [*numbers[:at], "9.9999", *numbers[at + 1 :]]
    report = render([page(drift(f"[{', '.join(numbers)}]", f"[{', '.join(other)}]"))])
    lines = report.splitlines()
    assert max(map(len, lines)) <= 100
    assert f"element [{at}], line 25, documented {numbers[at]}, executed 9.9999" in report
    carets = [index for index, line in enumerate(lines) if "^" in line]
    assert len(carets) == 2
    for text, caret in ((lines[index - 1], lines[index]) for index in carets):
        column = caret.index("^")
        assert text[column : column + 6] in (numbers[at], "9.9999")
        assert caret.count("^") == 6


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind.fails])
def test_every_kind_tells_its_remedy_in_100_columns(kind: Kind) -> None:
    message = "a long message about what was seen and what was wanted instead of it " * 3
    outcome = Outcome(kind, 1234, cell=56, cell_line=1230, message=message)
    report = render([page(outcome, file=PATH)])
    head, *_ = report.splitlines()
    assert head.startswith(f"{PATH}:1234: {kind.label} in cell 56 (line 1230):")
    assert kind.meaning in report
    assert kind.remedy in report
    of_notebook = render([replace(page(outcome, file=PATH), is_notebook=True)])
    assert ":unchecked:" not in of_notebook  # which only pages have
    assert max(map(len, [*report.splitlines(), *of_notebook.splitlines()])) <= 100


def test_many_differences_are_cut_short() -> None:
    executed = [number + 1000 for number in range(40)]
    report = render([page(drift(str([*range(40)]), str(executed)))])
    assert report.count("element [") == 10
    assert "    and 30 more differences\n" in report


@pytest.mark.parametrize(
    ("kinds", "begins"),
    [
        ([Kind.VERIFIED] * 2, "2 outputs verified on 1 page ("),
        ([Kind.VERIFIED, Kind.DRIFT], "1 output drifted, 1 output verified on 1 page ("),
        ([Kind.NO_CELL], "1 failure, 0 outputs verified on 1 page ("),
        ([Kind.DRIFT, Kind.NO_CELL, Kind.NOT_EXECUTED],
         "1 output drifted, 1 other failure, 1 cell not run, 0 outputs"),
        ([Kind.UNCHECKED] * 2, "nothing was checked, 2 unchecked"),
        ([Kind.NO_EXPECTATION], "nothing was checked, 1 output on 1 page has no expectation"),
        ([Kind.VERIFIED, Kind.NOT_COMPARED],
         "1 output verified on 1 page, 1 not compared away from the reference environment ("),
    ],
)  # fmt: skip
def test_the_last_line_counts(kinds: list[Kind], begins: str) -> None:
    assert summary([page(*(Outcome(kind, 1) for kind in kinds))]).startswith(begins)


def test_text_that_was_compared_is_not_nothing() -> None:
    right = Outcome(Kind.UNCHECKED, 1, verdict=compare("5", "5"))
    assert summary([page(right)]).startswith("0 outputs verified on 1 page, 1 unchecked (")


def test_environment_names_torch_device_and_policy() -> None:
    plain = page(environment={"python": "3.11.7"})
    assert describe_environment([plain]) == "python 3.11.7, exact"
    assert describe_environment([plain, page()]) == "torch 7.1.0, cpu, exact"
    assert describe_environment([page()], full=True) == "torch 7.1.0, cpu, AVX2, 1 thread, exact"
    gpu = page(environment={**TORCH, "device": "cuda:0"}, policy=Policy.PORTABLE)
    assert describe_environment([page(), gpu]).split(" and ") == [
        *("torch 7.1.0, cpu, exact", "torch 7.1.0, cuda:0, portable")
    ]
    named = {"device": "cuda:0", "name": "A GPU", "driver": "driver 1.2", "capability": "9.0"}
    gpu = page(environment={**TORCH, **named})
    described = "torch 7.1.0, cuda:0 (A GPU, driver 1.2, 9.0)"
    assert describe_environment([gpu]) == f"{described}, exact"
    assert describe_environment([gpu], full=True) == f"{described}, 1 thread, exact"
    assert describe_environment([]) == "nothing was run"
    stopped = PageResult("page.md", (Outcome(Kind.TIMEOUT, 1),))
    assert describe_environment([stopped]) == "environment unknown"


@pytest.mark.parametrize(
    ("variables", "terminal", "expected"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
    ],
)
def test_colour_follows_the_terminal_and_its_variables(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch, *, terminal: bool, expected: bool
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    assert use_color(stream) is expected


UNREADABLE = (
    "\x1b[31m\x07\x1b]0;title\x07\r\b\x7f\x9b\u2028" + "x" * 1_000_000 + "\n" + "line\n" * 100_000
)


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(Kind.RAISED, 1, message=f"ValueError: {UNREADABLE}"),
        Outcome(Kind.NOT_RAISED, 1, message=UNREADABLE),
        Outcome(Kind.UNDOCUMENTED, 1, executed=UNREADABLE),
        drift("1 2 3", f"1 {UNREADABLE} 3"),
        drift(UNREADABLE, "1"),
        drift("a\x07b 1 c\x07d", "a\x07b 2 c\x07d"),
        drift("ab \u202ec", "a\u200bb \u2067c"),
        replace(
            drift("1", "1"),
            kind=Kind.VERIFIED,
            verdict=compare("1", "1", waivers=(Waiver("1", "\x1b[1m2", "\x07"),)),
        ),
    ],
)
def test_report_is_readable_whatever_was_printed(outcome: Outcome) -> None:
    report = render([page(outcome)], verbose=True)
    assert len(report) < 10_000
    assert not [
        character for character in report if not character.isprintable() and character != "\n"
    ]


@pytest.mark.parametrize(
    "text",
    ["\u6771\u4eac\u30003", "5\u202f%\u00a0!", "\U0001f469\u200d\U0001f467", "\u0646\u200c\u0627"],
)
def test_what_a_language_needs_is_shown_as_it_is(text: str) -> None:
    assert f"    {text}\n" in render([page(Outcome(Kind.UNDOCUMENTED, 1, executed=text))])


def test_the_last_line_counts_pages_with_something_compared_and_each_output_once() -> None:
    right, html = Outcome(Kind.VERIFIED, 4, cell=1), replace(drift("1", "2", 4), cell=1)
    notebook = replace(page(right, html), is_notebook=True)
    assert summary([notebook]).startswith("1 output drifted, 0 outputs verified on 1 page")
    assert summary([page(right), page()]).startswith("1 output verified on 1 page (")
