"""Report to a person: every failure with its place, both values, a remedy."""

from __future__ import annotations

import os
import textwrap
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING, TextIO

from sphinx_drift.compare.compare import Policy
from sphinx_drift.compare.lexer import plain
from sphinx_drift.model import Kind, PageResult
from sphinx_drift.report.excerpts import (
    WIDTH,
    lines_shown,
    many,
    row_of,
    safe_line,
    shortened,
    window,
)
from sphinx_drift.report.summary import count, summary
from sphinx_drift.source.lines import lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sphinx_drift.compare.compare import Difference, Verdict
    from sphinx_drift.model import Outcome

    _Paint = Callable[[str, str], str]

_MOST_DIFFERENCES = 10
_MOST_LINES = 8
_ENDS_OF_MESSAGE = 20
"""Lines at each end of a message."""
_RED, _GREEN, _BOLD, _DIM, _END = "\x1b[31m", "\x1b[32m", "\x1b[1m", "\x1b[2m", "\x1b[0m"


def render(
    results: Sequence[PageResult],
    *,
    color: bool = False,
    verbose: bool = False,
    noun: str = "output",
) -> str:
    """Report everything that failed, page by page, and close with the summary."""
    parts = entries(results, color=color, verbose=verbose)
    return "\n\n".join([*parts, closing_line(results, color=color, noun=noun)])


def entries(
    results: Iterable[PageResult], *, color: bool = False, verbose: bool = False
) -> list[str]:
    """Return a text for each outcome that is reported."""
    return [
        entry(page, outcome, color=color)
        for page in results
        for outcome in sorted(_gathered(page), key=lambda outcome: outcome.line)
        if outcome.kind.fails or verbose or _noteworthy(outcome)
    ]


def entry(page: PageResult, outcome: Outcome, *, color: bool = False) -> str:
    """Return the report of one outcome, in a few lines."""
    return "\n".join(_outcome(page, outcome, partial(_paint, on=color)))


def closing_line(
    results: Sequence[PageResult], *, color: bool = False, noun: str = "output"
) -> str:
    """Return the summary, green if all is well and red if not."""
    counts = count(results)
    bad = counts.failed or counts.is_nothing
    return _paint(summary(results, noun=noun), _RED if bad else _GREEN, on=color)


def use_color(stream: TextIO | None) -> bool:
    """Whether to colour what goes to a stream: on a terminal, unless ``NO_COLOR`` is set."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream is not None and stream.isatty())


def _paint(text: str, code: str, *, on: bool) -> str:
    """Put a terminal's colour around text, or don't."""
    return f"{code}{text}{_END}" if on and text else text


def recorded(updates: Iterable[tuple[PageResult, PageResult]]) -> str:
    """Tell what was written and no check can find wrong, by pages before and after an update."""
    counts: Counter[tuple[str, str]] = Counter()
    errors: list[str] = []
    for before, after in updates:
        left = {o.cell for o in after.outcomes if o.kind is Kind.RAISED}
        raised = [o for o in before.outcomes if o.kind is Kind.RAISED and o.cell not in left]
        counts["error", "stored" if after.stored else "recorded as :raises:"] += len(raised)
        written = {o.cell: o for o in reversed(after.outcomes)}  # the file has other lines now
        for outcome in raised:
            message = outcome.message.partition("\n")[0]
            place = _place(after, written.get(outcome.cell, outcome))
            errors.append(safe_line(f"{before.file}:{place}: {message}"))
        old, new = (
            Counter(o.message for o in page.outcomes if o.kind is Kind.UNCHECKED)
            for page in (before, after)
        )
        for why, number in (new - old).items():
            counts["output", f"unchecked: {why}"] += number
    numbers = [f"{many(n, noun)} {what}" for (noun, what), n in counts.items() if n > 0]
    return "\n".join([*errors, *numbers])


def _noteworthy(outcome: Outcome) -> bool:
    """Whether something was accepted or not compared here, which every report lists."""
    verdict = outcome.verdict
    if outcome.kind in (Kind.NOT_COMPARED, Kind.OTHER_VARIANT):
        return True
    return bool(verdict.accepted or verdict.waived)


def _gathered(page: PageResult) -> Iterator[Outcome]:
    """Merge the cells that were not run into one entry, at the place of the first."""
    not_run = [outcome for outcome in page.outcomes if outcome.kind is Kind.NOT_EXECUTED]
    yield from (outcome for outcome in page.outcomes if outcome.kind is not Kind.NOT_EXECUTED)
    if len(not_run) > 1:
        cells = ", ".join(str(outcome.cell) for outcome in not_run)
        message = f"{not_run[0].message}\nnot run: cells {cells}".strip()
        not_run = [replace(not_run[0], message=message)]
    yield from not_run


def _outcome(page: PageResult, outcome: Outcome, paint: _Paint) -> Iterator[str]:
    """Yield the lines that report an outcome."""
    place = safe_line(f"{page.file}:{_place(page, outcome)}")
    cell = ""
    if outcome.cell and not page.stored:
        cell = f" in cell {outcome.cell} (line {outcome.cell_line})"
    if outcome.cell and page.examples:
        cell = f" in example {outcome.cell}"
    label = outcome.kind.label
    meaning, remedy = outcome.kind.meaning, outcome.kind.remedy
    wide = len(f"{place}: {label}{cell}: {meaning}") > WIDTH
    label = paint(label, _RED if outcome.kind.fails else _GREEN)
    gap = "\n    " if wide else " "
    yield f"{paint(place, _BOLD)}: {label}{cell}:{gap}{meaning}"
    for line in _ends_of(outcome.message.splitlines()):
        yield from _folded(line)
    differences = outcome.verdict.differences[:_MOST_DIFFERENCES]
    for _, group in groupby(differences, key=partial(lines_shown, outcome)):
        yield from _differences(page, outcome, [*group], paint)
    more = len(outcome.verdict.differences) - _MOST_DIFFERENCES
    if more > 0:
        yield f"    and {many(more, 'more difference')}"
    yield from _forgiven(outcome)
    yield from _printed(page, outcome, paint)
    if outcome.rounding is not None and outcome.rounding.same:
        yield from _hint(outcome.rounding)
    elif remedy:
        yield f"    {paint('to do:', _DIM)} {remedy}"


def _ends_of(lines: Sequence[str]) -> Sequence[str]:
    """Return lines, or the first and last of too many."""
    more = len(lines) - 2 * _ENDS_OF_MESSAGE
    if more <= 0:
        return lines
    omission = f"[and {many(more, 'more line')}]"
    return [*lines[:_ENDS_OF_MESSAGE], omission, *lines[-_ENDS_OF_MESSAGE:]]


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


def _place(page: PageResult, outcome: Outcome) -> str:
    """Return the place of an outcome: a line of a page, or a cell of a notebook."""
    if not page.stored:
        return str(outcome.line)
    if not outcome.cell:
        return "notebook"
    row = 1
    if outcome.verdict.differences:
        row = row_of(outcome.documented, outcome.verdict.differences[0].documented_span[0])
    return f"cell {outcome.cell} (line {row})"


def _differences(
    page: PageResult, outcome: Outcome, group: Sequence[Difference], paint: _Paint
) -> Iterator[str]:
    """Show both sides of differences that share their lines, with carets under what differs."""
    for difference in group:
        yield from _values(page, outcome, difference)
    for sign, text, spans, code in (
        ("-", outcome.documented, [d.documented_span for d in group], _GREEN),
        ("+", outcome.executed, [d.executed_span for d in group], _RED),
    ):
        windows = [window(plain(text), span) for span in spans]
        columns = zip_longest(*(caret for _, caret in windows))
        carets = "".join("^" if "^" in column else " " for column in columns)
        yield f"      {paint(f'{sign} {safe_line(windows[0][0])}', code)}"
        yield f"        {paint(carets, code)}".rstrip()


def _values(page: PageResult, outcome: Outcome, difference: Difference) -> Iterator[str]:
    """Describe a difference, and its place."""
    where = []
    if difference.index is not None:
        where.append(f"element [{', '.join(map(str, difference.index))}]")
    if outcome.body_line and not page.stored:
        row = row_of(outcome.documented, difference.documented_span[0])
        where.append(f"line {outcome.body_line + row - 1}")
    values = (
        f"documented {shortened(difference.documented)}, executed {shortened(difference.executed)}"
    )
    note = f" ({difference.note})" if difference.note else ""
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


def _printed(page: PageResult, outcome: Outcome, paint: _Paint) -> Iterator[str]:
    """Show what was printed where nothing was documented, in a page ready to be pasted."""
    if outcome.kind not in (Kind.UNDOCUMENTED, Kind.EMPTY) or not outcome.executed:
        return
    lines = lines_of(plain(outcome.executed))
    fenced = not (page.stored or page.examples)
    if fenced:
        yield "    ```{expected-output}"
    yield from (f"    {paint(safe_line(line), _GREEN)}" for line in lines[:_MOST_LINES])
    if len(lines) > _MOST_LINES:
        yield f"    (and {many(len(lines) - _MOST_LINES, 'more line')})"
    if fenced:
        yield "    ```"


def _hint(rounding: Verdict) -> Iterator[str]:
    """Say that a drift is rounding, how far it is, and how to accept it here."""
    most = max((a.units for a in rounding.accepted), default=0.0)
    yield (
        f"    rounding, not a mistake: {Policy.PORTABLE.value} accepts it "
        f"(at most {most:.1f} units in the last place)"
    )
    yield "    to do: on this machine, run the same command with DRIFT_POLICY=portable"
