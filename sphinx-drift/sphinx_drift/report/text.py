"""Tell a person what came of a check: every failure with its place, both values, a remedy."""

from __future__ import annotations

import os
import textwrap
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING, TextIO

from sphinx_drift.compare.compare import Policy
from sphinx_drift.compare.outcomes import Kind
from sphinx_drift.compare.tokens import plain
from sphinx_drift.source.lines import lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sphinx_drift.compare.compare import Difference
    from sphinx_drift.compare.outcomes import Outcome, PageResult

    _Paint = Callable[[str, str], str]

WIDTH = 100
"""Columns that a report is readable in."""

_ROOM = WIDTH - 10
"""Columns of an output's line, next to what stands before it."""
_MOST_DIFFERENCES = 10
_MOST_LINES = 8
_MOST_CHARACTERS = 500
"""Characters of a line that somebody else wrote."""
_ENDS_OF_MESSAGE = 20
"""Lines at each end of a message."""
_CONTROLS: dict[int, int | str] = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"},
    **dict.fromkeys([0x7F], "\u2421"),
    **dict.fromkeys([*range(0x80, 0xA0), 0x2028, 0x2029], "\ufffd"),
}
"""What is shown for characters that a terminal obeys: one for one, so that carets stay in place."""
_OF_NOTEBOOKS = {
    Kind.UNDOCUMENTED: (
        "a cell prints and the notebook has no output of it",
        "run the notebook and save it with its outputs",
    ),
    Kind.NO_OUTPUT: (
        "the notebook has an output of a cell that printed nothing",
        "run the notebook and save it with its outputs",
    ),
    Kind.PICTURE: (Kind.PICTURE.meaning, "run the notebook and save it with its outputs"),
    Kind.RAISED: (
        "a cell raised an error that the notebook doesn't have among its outputs",
        "mend the cell, or save the notebook with the error",
    ),
    Kind.NOT_RAISED: (
        "a cell didn't raise the error that the notebook has among its outputs",
        "mend the cell, or save the notebook with what it prints now",
    ),
    Kind.TIMEOUT: (Kind.TIMEOUT.meaning, "make it faster, or raise the limit with `--timeout`"),
    Kind.OUTPUT_LIMIT: (Kind.OUTPUT_LIMIT.meaning, "print less in the cell"),
    Kind.NOT_EXECUTED: (Kind.NOT_EXECUTED.meaning, "mend what stopped the notebook before it"),
    Kind.UNREADABLE: (Kind.UNREADABLE.meaning, "mend the file: it must be a notebook in JSON"),
    Kind.UNREPEATABLE: (
        Kind.UNREPEATABLE.meaning,
        "seed the generator in the same cell, or print what repeats",
    ),
}
"""What is said otherwise of notebooks, which have no expectations to write options in."""
_OF_DOCSTRINGS = {
    Kind.UNDOCUMENTED: (
        "an example prints and nothing is documented below it",
        "write below it what it prints, or give the value a name",
    ),
    Kind.UNCHECKED: ("the example is skipped", ""),
    Kind.RAISED: (
        "an example raised an error that it doesn't document",
        "mend the example, or write the traceback below it",
    ),
    Kind.ADDRESS: (
        Kind.ADDRESS.meaning,
        "print something else, or write `...` for the address, with `# doctest: +ELLIPSIS`",
    ),
    Kind.DEAD_KERNEL: (
        "the process ended in an example",
        "run the example alone to see why: it exits, is killed, or crashes in compiled code",
    ),
    Kind.UNREADABLE: (
        "a module can't be imported, or a docstring can't be read",
        "mend what the message names",
    ),
    Kind.NOTHING_CHECKED: (
        "there is no example",
        "write one that prints something that matters, or don't name what has none",
    ),
}
"""What is said otherwise of docstrings."""
_RED, _GREEN, _BOLD, _DIM, _END = "\x1b[31m", "\x1b[32m", "\x1b[1m", "\x1b[2m", "\x1b[0m"


@dataclass(frozen=True)
class Counts:
    """How many outcomes there are of each sort."""

    verified: int = 0
    failed: int = 0
    drifted: int = 0
    not_run: int = 0
    """Cells that were left out because something stopped their page."""
    unchecked: int = 0
    not_compared: int = 0
    """Outputs that hold on the reference environment alone, where this is another."""
    accepted: int = 0
    waived: int = 0
    structural: int = 0
    """Outputs of which only the structure was compared."""
    pictures: int = 0
    """Pictures that were counted and not compared."""
    widgets: int = 0
    pages: int = 0
    left: int = 0
    """Pages that were not run in this build: what came of them is what an earlier one found."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Pages that the book doesn't execute, by the setting that says so."""


def count(results: Iterable[PageResult]) -> Counts:
    """Count the outcomes of all pages that have cells or outcomes."""
    results = list(results)
    pages = [page for page in results if (page.cells and not page.left_out) or page.outcomes]
    judged = [(page.policy, outcome) for page in pages for outcome in page.outcomes]
    good = [(policy, outcome) for policy, outcome in judged if outcome.kind is Kind.VERIFIED]
    structural = sum(policy is Policy.STRUCTURE for policy, _ in good)
    kinds = Counter(outcome.kind for _, outcome in judged)
    return Counts(
        verified=len(good) - structural,
        structural=structural,
        pictures=sum(page.skipped.get("pictures", 0) for page in pages),
        widgets=sum(page.skipped.get("widgets", 0) for page in pages),
        failed=sum(number for kind, number in kinds.items() if kind.fails),
        drifted=kinds[Kind.DRIFT],
        not_run=kinds[Kind.NOT_EXECUTED],
        unchecked=kinds[Kind.UNCHECKED],
        not_compared=kinds[Kind.NOT_COMPARED],
        accepted=sum(len(outcome.verdict.accepted) for _, outcome in good),
        waived=sum(len(outcome.verdict.waived) for _, outcome in good),
        pages=len(pages),
        left=sum(not page.was_run for page in pages),
        left_out=Counter(page.left_out for page in results if page.left_out),
    )


def summary(results: Sequence[PageResult], *, noun: str = "output") -> str:
    """Say in one line how much was verified, and what failed.

    Args:
        results: What came of each page.
        noun: What was verified.

    Examples:
        >>> summary([])
        'nothing was checked'

    """
    counts = count(results)
    left_out = [
        f"{_many(number, 'page')} left out by {setting}"
        for setting, number in sorted(counts.left_out.items())
    ]
    if not (counts.verified or counts.structural or counts.failed):
        return ", ".join(["nothing was checked", *left_out])
    parts = []
    if counts.drifted:
        parts.append(f"{_many(counts.drifted, noun)} drifted")
    if other := counts.failed - counts.drifted - counts.not_run:
        parts.append(_many(other, "other failure" if counts.drifted else "failure"))
    if counts.not_run:
        parts.append(f"{_many(counts.not_run, 'cell')} not run")
    pages = f" on {_many(counts.pages, 'page')}" if noun == "output" else ""
    if counts.structural:
        parts.append(f"NOT VERIFIED: {_many(counts.structural, noun)} of documented structure")
    else:
        parts.append(f"{_many(counts.verified, noun)} verified{pages}")
    parts += [*_besides(counts), *left_out]
    return f"{', '.join(parts)} ({describe_environment(results, full=True)})"


def _besides(counts: Counts) -> Iterator[str]:
    """Count what was not simply verified."""
    for number, name in (
        (counts.accepted, "accepted as rounding"),
        (counts.waived, "waived"),
        (counts.unchecked, "unchecked"),
        (counts.not_compared, "not compared away from the reference environment"),
    ):
        if number:
            yield f"{number} {name}"
    for number, noun, end in (
        (counts.pictures, "picture", "not compared"),
        (counts.widgets, "widget", "not compared"),
        (counts.left, "page", "not run again"),
    ):
        if number:
            yield f"{_many(number, noun)} {end}"


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def describe_environment(results: Iterable[PageResult], *, full: bool = False) -> str:
    """Name what the numbers were computed with, and the policy."""
    descriptions: list[str] = []
    has_run = False
    for page in results:
        has_run = has_run or any(o.kind in (Kind.VERIFIED, Kind.DRIFT) for o in page.outcomes)
        words = [*_environment(page.environment, full=full), page.policy.value]
        description = ", ".join(words)
        if page.environment and description not in descriptions:
            descriptions.append(description)
    # A page that doesn't use torch says nothing about it.
    rich = [description for description in descriptions if description.startswith("torch")]
    # A kernel that never came to its end couldn't be asked.
    return " and ".join(rich or descriptions) or (
        "environment unknown" if has_run else "nothing was run"
    )


def _environment(environment: Mapping[str, str], *, full: bool) -> list[str]:
    if "torch" not in environment:
        return [f"python {environment['python']}"] if "python" in environment else []
    # A GPU's digits depend on its driver and capability; a CPU's are told where there is room.
    names = ("name", "driver", "capability") if "name" in environment else ()
    details = [environment[each] for each in names if environment.get(each)]
    device = environment["device"] + (f" ({', '.join(details)})" if details else "")
    words = [f"torch {environment['torch']}", device]
    if full:
        words += [] if names else [environment["capability"]]
        words.append(_many(int(environment["threads"]), "thread"))
    return words


def render(
    results: Sequence[PageResult],
    *,
    color: bool = False,
    verbose: bool = False,
    noun: str = "output",
) -> str:
    """Tell everything that failed, page by page, and close with the summary."""
    parts = entries(results, color=color, verbose=verbose)
    return "\n\n".join([*parts, closing_line(results, color=color, noun=noun)])


def entries(
    results: Iterable[PageResult], *, color: bool = False, verbose: bool = False
) -> list[str]:
    """Return what there is to say of single outputs and pages, a text for each."""
    results = [page for page in results if page.cells or page.outcomes]
    texts = [
        entry(page, outcome, color=color)
        for page in results
        for outcome in sorted(_gathered(page.outcomes), key=lambda outcome: outcome.line)
        if outcome.kind.fails or verbose or _noteworthy(outcome)
    ]
    return texts + [note for page in results for note in page.notes]


def entry(page: PageResult, outcome: Outcome, *, color: bool = False) -> str:
    """Return what there is to say of one outcome, in a few lines."""
    return "\n".join(_outcome(page, outcome, partial(_paint, on=color)))


def closing_line(
    results: Iterable[PageResult], *, color: bool = False, noun: str = "output"
) -> str:
    """Return the summary, green if all is well and red if not."""
    results = [page for page in results if page.cells or page.outcomes]
    last = summary(results, noun=noun)
    bad = any(page.failed for page in results) or last == "nothing was checked"
    return _paint(last, _RED if bad else _GREEN, on=color)


def use_color(stream: TextIO) -> bool:
    """Whether to colour what goes to a stream: on a terminal, unless ``NO_COLOR`` is set."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def _paint(text: str, code: str, *, on: bool) -> str:
    """Put a terminal's colour around text, or don't."""
    return f"{code}{text}{_END}" if on and text else text


def _noteworthy(outcome: Outcome) -> bool:
    """Whether something was forgiven or not compared here, which every report lists."""
    verdict = outcome.verdict
    if outcome.kind is Kind.NOT_COMPARED:
        return True
    return bool(verdict.accepted or verdict.waived or verdict.unneeded)


def _gathered(outcomes: Sequence[Outcome]) -> Iterator[Outcome]:
    """Tell the cells that were not run as one, at the place of the first."""
    not_run = [outcome for outcome in outcomes if outcome.kind is Kind.NOT_EXECUTED]
    for outcome in outcomes:
        if outcome.kind is not Kind.NOT_EXECUTED or len(not_run) == 1:
            yield outcome
        elif outcome is not_run[0]:
            cells = ", ".join(str(other.cell) for other in not_run)
            yield replace(outcome, message=f"{outcome.message}\nnot run: cells {cells}".strip())


def _outcome(page: PageResult, outcome: Outcome, paint: _Paint) -> Iterator[str]:
    """Tell one outcome in a few lines."""
    place = _safe_line(f"{page.file}:{_place(page, outcome)}")
    cell = ""
    if outcome.cell and not page.stored:
        cell = f" in cell {outcome.cell} (line {outcome.cell_line})"
    if outcome.cell and page.examples:
        cell = f" in example {outcome.cell}"
    label = outcome.kind.label
    meaning, remedy = meaning_and_remedy(page, outcome.kind)
    wide = len(f"{place}: {label}{cell}: {meaning}") > WIDTH
    label = paint(label, _RED if outcome.kind.fails else _GREEN)
    gap = "\n    " if wide else " "
    yield f"{paint(place, _BOLD)}: {label}{cell}:{gap}{meaning}"
    for line in _ends_of(outcome.message.splitlines()):
        yield from _folded(line)
    differences = outcome.verdict.differences[:_MOST_DIFFERENCES]
    for _, group in groupby(differences, key=partial(_lines_shown, outcome)):
        yield from _differences(page, outcome, [*group], paint)
    more = len(outcome.verdict.differences) - _MOST_DIFFERENCES
    if more > 0:
        yield f"    and {_many(more, 'more difference')}"
    yield from _forgiven(outcome)
    yield from _printed(page, outcome, paint)
    if outcome.rounding is not None and outcome.rounding.same:
        yield from _hint(outcome)
    elif remedy:
        yield f"    {paint('to do:', _DIM)} {remedy}"


def _safe_line(line: str) -> str:
    """Return a line as it may be printed: no longer than can be read, and nothing to be obeyed."""
    more = len(line) - _MOST_CHARACTERS
    if more > 0:
        line = f"{line[:_MOST_CHARACTERS]} [and {_many(more, 'more character')}]"
    return line.translate(_CONTROLS)


def _ends_of(lines: Sequence[str]) -> Sequence[str]:
    """Return lines, or the first and last of too many."""
    more = len(lines) - 2 * _ENDS_OF_MESSAGE
    if more <= 0:
        return lines
    omission = f"[and {_many(more, 'more line')}]"
    return [*lines[:_ENDS_OF_MESSAGE], omission, *lines[-_ENDS_OF_MESSAGE:]]


def meaning_and_remedy(page: PageResult, kind: Kind) -> tuple[str, str]:
    """Return what a kind of outcome means on a page, in a notebook or in docstrings."""
    default = (kind.meaning, kind.remedy)
    if page.stored:
        return _OF_NOTEBOOKS.get(kind, default)
    return _OF_DOCSTRINGS.get(kind, default) if page.examples else default


def _folded(line: str) -> list[str]:
    """Indent a line, and go on below it where it is wider than a report."""
    return textwrap.wrap(
        _safe_line(line),
        WIDTH,
        initial_indent=" " * 4,
        subsequent_indent=" " * 6,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _place(page: PageResult, outcome: Outcome) -> str:
    """Return where an outcome stands: a line of a page, or a cell of a notebook."""
    if not page.stored:
        return str(outcome.line)
    if not outcome.cell:
        return "notebook"
    row = 1
    if outcome.verdict.differences:
        row = _row(outcome.documented, outcome.verdict.differences[0].documented_span[0])
    return f"cell {outcome.cell} (line {row})"


def _row(text: str, offset: int) -> int:
    return plain(text).count("\n", 0, offset) + 1


def _lines_shown(outcome: Outcome, difference: Difference) -> tuple[int, ...]:
    """Return what is the same for differences that one pair of lines can show."""
    spans = (difference.documented_span, difference.executed_span)
    ends = [
        _ends(plain(text), span[0])
        for text, span in zip((outcome.documented, outcome.executed), spans, strict=True)
    ]
    if any(last - first > _ROOM for first, last in ends):
        return tuple(place for span in spans for place in span)
    return tuple(first for first, _ in ends)


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
        windows = [_window(plain(text), span) for span in spans]
        columns = zip_longest(*(caret for _, caret in windows))
        carets = "".join("^" if "^" in column else " " for column in columns)
        yield f"      {paint(f'{sign} {_safe_line(windows[0][0])}', code)}"
        yield f"        {paint(carets, code)}".rstrip()


def _values(page: PageResult, outcome: Outcome, difference: Difference) -> Iterator[str]:
    """Say what a difference is and where it stands."""
    where = []
    if difference.index is not None:
        where.append(f"element [{', '.join(map(str, difference.index))}]")
    if outcome.body_line and not page.stored:
        row = _row(outcome.documented, difference.documented_span[0])
        where.append(f"line {outcome.body_line + row - 1}")
    values = f"documented {_quote(difference.documented)}, executed {_quote(difference.executed)}"
    note = f" ({difference.note})" if difference.note else ""
    yield from _folded(", ".join([*where, values]) + note)


def _quote(text: str) -> str:
    """Return a short form of a text, in one line."""
    if not text:
        return "nothing"
    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:37]}..."  # noqa: PLR2004 - fits the width


def _window(text: str, span: tuple[int, int]) -> tuple[str, str]:
    """Return the line in which a span begins, cut to the width, and a caret below it."""
    start, end = span
    first, last = _ends(text, start)
    line = text[first:last]
    column = start - first
    length = max(1, min(end - start, len(line) - column))
    if len(line) > _ROOM:
        left = max(0, min(column - _ROOM // 2, len(line) - _ROOM))
        line = line[left : left + _ROOM]
        column -= left
        length = min(length, _ROOM - column)
    return line, " " * column + "^" * max(length, 1)


def _ends(text: str, place: int) -> tuple[int, int]:
    """Return where the line begins and ends in which a character stands."""
    last = text.find("\n", place)
    return text.rfind("\n", 0, place) + 1, last if last >= 0 else len(text)


def _forgiven(outcome: Outcome) -> Iterator[str]:
    """List what was accepted, waived, or waived without need."""
    for accepted in outcome.verdict.accepted:
        d = accepted.difference
        at = f"[{', '.join(map(str, d.index))}] " if d.index else ""
        yield from _folded(
            f"accepted as rounding: {at}{d.documented} -> {d.executed}, executed value "
            f"{accepted.precise}, {accepted.units:.1f} units in the last place"
        )
    for waiver in outcome.verdict.waived:
        yield from _folded(f"waived: {waiver.documented} -> {waiver.executed} ({waiver.reason})")
    if outcome.kind is Kind.VERIFIED:
        for waiver in outcome.verdict.unneeded:
            yield _safe_line(
                f"    waiver not needed here: {waiver.documented} -> {waiver.executed}"
            )


def _printed(page: PageResult, outcome: Outcome, paint: _Paint) -> Iterator[str]:
    """Show what was printed where nothing was documented, in a page ready to be pasted."""
    if outcome.kind not in (Kind.UNDOCUMENTED, Kind.EMPTY) or not outcome.executed:
        return
    lines = lines_of(plain(outcome.executed))
    fenced = not (page.stored or page.examples)
    if fenced:
        yield "    ```{expected-output}"
    yield from (f"    {paint(_safe_line(line), _GREEN)}" for line in lines[:_MOST_LINES])
    if len(lines) > _MOST_LINES:
        yield f"    (and {_many(len(lines) - _MOST_LINES, 'more line')})"
    if fenced:
        yield "    ```"


def _hint(outcome: Outcome) -> Iterator[str]:
    """Say that a drift is rounding, how far it is, and how to accept it here."""
    assert outcome.rounding is not None  # noqa: S101 - the caller has looked
    most = max((a.units for a in outcome.rounding.accepted), default=0.0)
    yield (
        f"    rounding, not a mistake: {Policy.PORTABLE.value} accepts it "
        f"(at most {most:.1f} units in the last place)"
    )
    yield "    to do: on this machine, run the same command with DRIFT_POLICY=portable"
