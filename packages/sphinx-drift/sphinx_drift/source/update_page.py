"""Write executed outputs into a MyST page, by position and never by search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx_drift.compare.lexer import plain
from sphinx_drift.model import Kind
from sphinx_drift.output.filters import DEFAULTS, apply_filters
from sphinx_drift.output.printed_text import BESIDE, FORMS, Part, read_outputs
from sphinx_drift.source.lines import NEWLINE
from sphinx_drift.source.markdown import DIRECTIVE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nbformat import NotebookNode

    from sphinx_drift.model import Cell, Outcome, Page
    from sphinx_drift.output.filters import Filter
    from sphinx_drift.output.printed_text import Printed


def page_with_outputs(  # noqa: PLR0913, PLR0917 - as of a notebook
    text: str,
    page: Page,
    executed: NotebookNode,
    fixed: Sequence[Outcome],
    unchecked: Mapping[int, str],
    paths: Sequence[Filter],
) -> str:
    """Return a MyST page whose expectations have the executed texts, new ones too.

    Args:
        text: The page.
        page: What it documents.
        executed: Its notebook, as it was run.
        fixed: What new outputs fix.
        unchecked: Why outputs can't be checked, by the numbers of their cells.
        paths: What names the folders of this machine.

    """
    ends = NEWLINE.findall(text) or ["\n"]
    lines = [row + end for row, end in zip(NEWLINE.split(text), [*ends, ends[0]], strict=False)]
    for cell in reversed(page.cells):  # backwards, so that the lines above keep their numbers
        output = read_outputs(executed.cells[cell.index].outputs)
        reason = unchecked.get(cell.number, "")
        if reason and output.glued:
            continue  # it is shown where no mark can be, so it can't be unchecked
        outcomes = [outcome for outcome in fixed if outcome.cell == cell.number]
        for outcome in outcomes:
            if outcome.kind in (Kind.UNDOCUMENTED, Kind.RAISED):
                new = _new_expectations(cell, outcome, output, reason, paths)
                lines[cell.last_line : cell.last_line] = [row + ends[0] for row in new]
        texts = {o.line: _text(o) for o in outcomes if o.kind in (Kind.DRIFT, Kind.EMPTY)}
        for expectation in reversed(cell.expectations):
            first = expectation.line
            opening = lines[first - 1]
            indent = opening[: len(opening) - len(opening.lstrip())]
            if reason and not expectation.unchecked:
                has_options = expectation.body_line > first + 1
                option = f"{indent}:unchecked: {reason}{ends[0]}"
                lines[first:first] = [option] if has_options else [option, ends[0]]
            elif first in texts:
                rows = [(indent + row if row else "") + ends[0] for row in _rows(texts[first])]
                if expectation.body_line == first + 1 and rows[0].lstrip().startswith(":"):
                    rows.insert(0, ends[0])  # else it would be read as an option
                block = lines[first - 1 : expectation.end_line + 1]
                options = block[1 : expectation.body_line - first]
                lines[first - 1 : expectation.end_line + 1] = _fenced(block, [*options, *rows])
    return "".join(lines).removesuffix(ends[0])


def _fenced(block: Sequence[str], rows: Sequence[str]) -> list[str]:
    """Return a block with other rows, between its own fences: longer ones if a row needs them."""
    mark = block[0].lstrip()[0]
    more = mark * max(0, _longest(mark, rows) + 1 - _longest(mark, block[:1]))
    opening, closing = (fence.replace(mark, more + mark, 1) for fence in (block[0], block[-1]))
    return [opening, *rows, closing]


def _text(outcome: Outcome) -> str:
    """Return the executed output; where only numbers differ, in the documented wrapping.

    Of a number that a waiver covers, the documented text stays.
    """
    documented, executed = plain(outcome.documented), plain(outcome.executed)
    differences = sorted(outcome.verdict.differences, key=lambda each: each.documented_span)
    if not (differences and all(each.number for each in differences)):
        return executed
    text, done = "", 0
    for difference in differences:
        first, last = difference.documented_span
        text += documented[done:first] + executed[slice(*difference.executed_span)]
        done = last
    return text + documented[done:]


def _new_expectations(
    cell: Cell, outcome: Outcome, output: Printed, reason: str, paths: Sequence[Filter]
) -> Iterator[str]:
    """Yield the lines of the expectations that a cell lacks."""
    is_raise_documented = any(expectation.raises for expectation in cell.expectations)
    raises = "" if is_raise_documented else output.error.partition(":")[0]
    lacking = set(outcome.parts or output.parts)
    for part in _missing(cell, lacking, output):
        options = []
        if part not in (Part.ALL, Part.MAIN):
            options.append(f":{part}:" if part in FORMS else f":stream: {part}")
        if raises and part not in BESIDE:
            options.append(f":raises: {raises}")
        if reason:
            options.append(f":unchecked: {reason}")
        rows = _rows(apply_filters(output.select(part), (*DEFAULTS, *paths)))
        # Without a blank line, the first row could be read as an option.
        gap = [""] if options or rows[0].startswith(":") else []
        fence = "`" * max(3, _longest("`", rows) + 1)
        yield from (f"{fence}{{{DIRECTIVE}}}", *options, *gap, *([""] if reason else rows), fence)


def _longest(mark: str, rows: Iterable[str]) -> int:
    """Return the length of the longest run of a mark with which a row begins."""
    starts = [row.lstrip() for row in rows]
    return max(len(start) - len(start.lstrip(mark)) for start in starts)


def _missing(cell: Cell, lacking: set[Part], output: Printed) -> list[Part]:
    """Return the parts of an output that new expectations document.

    Values that all have a form, such as a table's HTML, are documented in it alone: it is what a
    reader sees. Beside a value that has none, they are documented as text too.
    """
    values = output.values if Part.VALUE in lacking else []
    forms = {next(iter(value.forms)) for value in values if value.forms}
    texts = lacking - {Part.PICTURE}
    if forms and all(value.forms for value in values) and not output.error:
        texts -= {Part.VALUE}
    elif not cell.expectations and (texts or output.error):
        texts = {Part.ALL if cell.has_stderr else Part.MAIN}
    forms -= {expectation.part for expectation in cell.expectations}
    missing = texts | forms | (lacking & {Part.PICTURE})
    return [part for part in Part if part in missing]


def _rows(text: str) -> list[str]:
    """Return the rows of a text, without spaces at their ends, which mean nothing."""
    return [row.removesuffix("\r").rstrip(" \t") for row in plain(text).split("\n")]
