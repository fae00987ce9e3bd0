"""Report to a person: every failure with its line, both values, a remedy."""

import os
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TextIO

from sphinx_drift.compare.compare import Difference, Policy, Verdict
from sphinx_drift.compare.lexer import plain
from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome, PageResult
from sphinx_drift.report.excerpts import WIDTH, many, row_of, safe_line, shortened, window
from sphinx_drift.report.summary import is_nothing, summary
from sphinx_drift.source.markdown import lines_of

_MOST_DIFFERENCES = 10
_MOST_LINES = 8
_ENDS_OF_MESSAGE = 20
"""Lines at each end of a message."""
_UNCHECKED = "`drift: {unchecked: reason}` in its metadata"
"""How a notebook's cell says so."""
_RED, _GREEN, _BOLD, _DIM, _END = "\x1b[31m", "\x1b[32m", "\x1b[1m", "\x1b[2m", "\x1b[0m"


def render(
    results: Sequence[PageResult],
    *,
    color: bool = False,
    verbose: bool = False,
    noun: str = "output",
) -> str:
    """Report everything that failed, page by page, and close with the summary."""
    texts = outcome_texts(results, color=color, verbose=verbose)
    return "\n\n".join([*texts, closing_line(results, color=color, noun=noun)])


def outcome_texts(
    results: Iterable[PageResult], *, color: bool = False, verbose: bool = False
) -> list[str]:
    """Return a text for each outcome that is reported."""
    return [
        outcome_text(result, outcome, color=color)
        for result in results
        for outcome in sorted(_gathered(result), key=lambda outcome: outcome.line)
        if outcome.kind.fails or verbose or _noteworthy(outcome)
    ]


def outcome_text(result: PageResult, outcome: Outcome, *, color: bool = False) -> str:
    """Return the report of one outcome, in a few lines."""
    text = "\n".join(_lines(result, outcome))
    return text if color else plain(text)


def closing_line(
    results: Sequence[PageResult], *, color: bool = False, noun: str = "output"
) -> str:
    """Return the summary, green if all is well and red if not."""
    bad = is_nothing(results) or any(result.failed for result in results)
    text = summary(results, noun=noun)
    return _paint(text, _RED if bad else _GREEN) if color else text


def use_color(stream: TextIO | None) -> bool:
    """Whether to color what goes to a stream: on a terminal, unless ``NO_COLOR`` is set."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream is not None and stream.isatty())


def _paint(text: str, code: str) -> str:
    """Put a terminal's color around a text."""
    return f"{code}{text}{_END}" if text else ""


def _noteworthy(outcome: Outcome) -> bool:
    """Whether something was accepted or not compared here, which every report lists."""
    is_other = outcome.kind in (Kind.NOT_COMPARED, Kind.OTHER_VARIANT)
    return is_other or bool(outcome.verdict.accepted or outcome.verdict.waived)


def _gathered(result: PageResult) -> list[Outcome]:
    """Merge the cells that were not run into one outcome, where the first is."""
    not_run = [outcome for outcome in result.outcomes if outcome.kind is Kind.NOT_EXECUTED]
    if len(not_run) > 1:
        cells = ", ".join(str(outcome.cell) for outcome in not_run)
        message = f"{not_run[0].message}\nnot run: cells {cells}".strip()
        not_run = [replace(not_run[0], message=message)]
    return [*(o for o in result.outcomes if o.kind is not Kind.NOT_EXECUTED), *not_run]


def _lines(result: PageResult, outcome: Outcome) -> Iterator[str]:
    """Yield the lines that report an outcome."""
    location = safe_line(f"{result.file}:{_location(result, outcome)}")
    cell = ""
    if outcome.cell and not result.is_notebook:
        cell = f" in cell {outcome.cell} (line {outcome.cell_line})"
    kind = outcome.kind
    is_wide = len(f"{location}: {kind.label}{cell}: {kind.meaning}") > WIDTH
    label = _paint(kind.label, _RED if kind.fails else _GREEN)
    gap = "\n    " if is_wide else " "
    yield f"{_paint(location, _BOLD)}: {label}{cell}:{gap}{kind.meaning}"
    lines = outcome.message.splitlines()
    if (more := len(lines) - 2 * _ENDS_OF_MESSAGE) > 0:
        lines[_ENDS_OF_MESSAGE:-_ENDS_OF_MESSAGE] = [f"[and {many(more, 'more line')}]"]
    for line in lines:
        yield from _folded(line)
    yield from _differences(result, outcome)
    yield from _forgiven(outcome)
    yield from _printed_lines(outcome)
    if outcome.rounding is not None and outcome.rounding.same:
        yield from _hint(outcome.rounding)
    elif kind.remedy:
        of_example = kind is Kind.UNDOCUMENTED and not outcome.cell
        remedy = "write it below its example" if of_example else kind.remedy
        if result.is_notebook:
            remedy = remedy.replace("`:unchecked: reason`", _UNCHECKED)
        rows = _folded(f"to do: {remedy}")
        yield rows[0].replace("to do:", _paint("to do:", _DIM), 1)
        yield from rows[1:]


def _folded(line: str) -> list[str]:
    """Indent a line, and go on below it where it is wider than a report."""
    return textwrap.wrap(
        safe_line(line),
        WIDTH,
        initial_indent=" " * 4,
        subsequent_indent=" " * 6,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _location(result: PageResult, outcome: Outcome) -> str:
    """Return where an outcome is: a line of a page, or a cell of a notebook."""
    if outcome.where or not result.is_notebook:
        return outcome.where or str(outcome.line)
    if not outcome.cell:
        return "notebook"
    row = 1
    if outcome.verdict.differences:
        row = row_of(outcome.documented, outcome.verdict.differences[0].documented_span[0])
    return f"cell {outcome.cell} (line {row})"


def _differences(result: PageResult, outcome: Outcome) -> Iterator[str]:
    """Describe what differs, and show both sides of each documented line of it once."""
    differences = outcome.verdict.differences
    rows = set()
    for difference in differences[:_MOST_DIFFERENCES]:
        row = row_of(outcome.documented, difference.documented_span[0])
        yield from _values(result, outcome, difference, row)
        for sign, text, span, code in (
            ("-", outcome.documented, difference.documented_span, _GREEN),
            ("+", outcome.executed, difference.executed_span, _RED),
        ):
            if row not in rows:
                line, caret = window(plain(text), span)
                yield f"      {_paint(f'{sign} {safe_line(line)}', code)}"
                yield f"        {_paint(caret, code)}"
        rows.add(row)
    if (more := len(differences) - _MOST_DIFFERENCES) > 0:
        yield f"    and {many(more, 'more difference')}"


def _values(result: PageResult, outcome: Outcome, d: Difference, row: int) -> Iterator[str]:
    """Describe a difference, and where it is."""
    where = []
    if d.index is not None:
        where.append(f"element [{', '.join(map(str, d.index))}]")
    if outcome.body_line and not result.is_notebook:
        where.append(f"line {outcome.body_line + row - 1}")
    is_of_runs = outcome.kind is Kind.UNREPEATABLE
    was, now = ("first run", "second run") if is_of_runs else ("documented", "executed")
    values = f"{was} {shortened(d.documented)}, {now} {shortened(d.executed)}"
    note = f" ({d.note})" if d.note else ""
    yield from _folded(", ".join([*where, values]) + note)


def _forgiven(outcome: Outcome) -> Iterator[str]:
    """List what was accepted or waived."""
    for accepted in outcome.verdict.accepted:
        d = accepted.difference
        at = f"[{', '.join(map(str, d.index))}] " if d.index else ""
        yield from _folded(
            f"accepted as rounding: {at}{d.documented} -> {d.executed}, executed value "
            f"{accepted.precise}, {accepted.units:.1f} units in the last place"
        )
    for waiver in outcome.verdict.waived:
        yield from _folded(f"waived: {waiver.documented} -> {waiver.executed} ({waiver.reason})")


def _printed_lines(outcome: Outcome) -> Iterator[str]:
    """Show what was printed where nothing was documented."""
    if outcome.kind in (Kind.UNDOCUMENTED, Kind.EMPTY) and outcome.executed:
        lines = lines_of(plain(outcome.executed))
        yield from (f"    {_paint(safe_line(line), _GREEN)}" for line in lines[:_MOST_LINES])
        if (more := len(lines) - _MOST_LINES) > 0:
            yield f"    (and {many(more, 'more line')})"


def _hint(rounding: Verdict) -> Iterator[str]:
    """Say that rounding explains a drift, how far it is, and how to accept it here."""
    most = max((a.units for a in rounding.accepted), default=0.0)
    yield (
        f"    rounding may explain it: {Policy.PORTABLE.value} accepts it "
        f"(at most {most:.1f} units in the last place)"
    )
    yield "    to do: on this machine, run the same command with DRIFT_POLICY=portable"
