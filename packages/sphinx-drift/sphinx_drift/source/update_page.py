"""Write executed outputs into a MyST page, by position and never by search."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from nbformat import NotebookNode

from sphinx_drift.compare.lexer import plain
from sphinx_drift.kinds import Kind
from sphinx_drift.model import Cell, Expectation, Outcome, Page
from sphinx_drift.output.filters import Filter, apply_filters
from sphinx_drift.output.printed_text import (
    BESIDE,
    FORMS,
    Part,
    Printed,
    included_in,
    read_outputs,
)
from sphinx_drift.source.markdown import DIRECTIVE, NEWLINE, find_opening


class Fixes(NamedTuple):
    """What is to be written into a page or a notebook."""

    page: Page
    """What it documents."""
    executed: NotebookNode
    """Its notebook, as it was run."""
    outcomes: Sequence[Outcome]
    """What new outputs fix."""
    reasons: Mapping[int, str]
    """Why outputs can't be checked, by the numbers of their cells."""
    varying: Mapping[int, Collection[Part]]
    """The parts that differ between two runs, by the numbers of their cells."""
    filters: Sequence[Filter]
    """What is never written as it was printed."""

    def reason(self, number: int, part: Part) -> str:
        """Return why a part of a numbered cell can't be checked; nothing if two runs agree."""
        varying = {*self.varying.get(number, ())}
        is_same = varying and varying.isdisjoint(included_in({part}))
        return "" if is_same else self.reasons.get(number, "")


def page_with_outputs(text: str, fixes: Fixes) -> str:
    """Return a MyST page whose expectations have the executed texts, new ones too."""
    ends = NEWLINE.findall(text) or ["\n"]
    lines = [row + end for row, end in zip(NEWLINE.split(text), [*ends, ends[0]], strict=False)]
    for cell in reversed(fixes.page.cells):  # backwards, so that the lines above keep their numbers
        outcomes = [outcome for outcome in fixes.outcomes if outcome.cell == cell.number]
        is_claimed = any(expectation.raises for expectation in cell.expectations)
        raised = is_claimed or any(outcome.kind is Kind.RAISED for outcome in outcomes)
        output = read_outputs(fixes.executed.cells[cell.index].outputs, raised=raised)
        for outcome in outcomes:
            if outcome.kind in (Kind.UNDOCUMENTED, Kind.RAISED):
                new = _new_expectations(cell, outcome, output, fixes)
                lines[cell.last_line : cell.last_line] = _like(lines[cell.last_line - 1], new)
        texts = {o.line: _text(o) for o in outcomes if o.kind in (Kind.DRIFT, Kind.EMPTY)}
        for expectation in reversed(cell.expectations):
            block = slice(expectation.line - 1, expectation.end_line + 1)
            why = "" if expectation.unchecked else fixes.reason(cell.number, expectation.part)
            if why and output.glued_in(expectation.part):
                continue  # where it is shown no mark can be, so it can't be unchecked
            if why or expectation.line in texts:
                new_text = texts.get(expectation.line, "")
                lines[block] = _rewritten(lines[block], expectation, why, new_text)
    return "".join(lines).removesuffix(ends[0])


def _rewritten(block: Sequence[str], expectation: Expectation, reason: str, text: str) -> list[str]:
    """Return the lines of an expectation with a reason not to check it, or else another text."""
    indent = _indent(block[0])
    written = (row.rstrip("\r\n") for row in block[:-1])
    # A blank row of a quotation ends with its sign.
    opening, *content = (
        row.removeprefix(indent if row.startswith(indent) else indent.rstrip()) for row in written
    )
    count = expectation.body_line - expectation.line - 1
    options, rows = content[:count], content[count:]
    if reason and options and options[0].rstrip() == "---":
        options.insert(1, f"unchecked: {reason}")
    elif reason:
        options = [f":unchecked: {reason}", *(options or [""])]
    else:
        rows = _rows(text)
    return _like(block[0], _block(opening, options, rows))


def _like(line: str, rows: Iterable[str]) -> list[str]:
    """Return rows with the indent and the end of a line."""
    end = NEWLINE.findall(line)[0]
    return [(_indent(line) + row).rstrip(" ") + end for row in rows]


def _indent(line: str) -> str:
    """Return the indent of a line, with the signs of a quotation."""
    return line[: len(line) - len(line.lstrip(" \t>"))]


def _block(opening: str, options: Sequence[str], rows: Sequence[str]) -> list[str]:
    """Return the lines of an expectation, in a fence that is longer than those in its rows."""
    sign = opening[0]
    shown = re.findall(rf"(?m)^[ \t]*({sign}+)", "\n".join(rows))
    shown += [cell["markup"] for cell in map(find_opening, rows) if cell]
    longest = max(map(len, shown), default=0)
    name = opening.lstrip(sign)
    fence = sign * max(len(opening) - len(name), longest + 1)
    ends_blank = bool(options) and not options[-1].strip()
    if rows and rows[0].lstrip().startswith((":", "---")) and not ends_blank:
        options = [*options, ""]  # else that row would be read as an option
    return [fence + name, *options, *rows, fence]


def _text(outcome: Outcome) -> str:
    """Return the executed output; where only numbers differ, in the documented wrapping.

    The documented text of a number that a waiver covers stays.
    """
    documented, executed = plain(outcome.documented), plain(outcome.executed)
    differences = sorted(outcome.verdict.differences, key=lambda d: d.documented_span)
    if not (differences and all(d.number for d in differences)):
        return executed
    text, done = "", 0
    for difference in differences:
        first, last = difference.documented_span
        text += documented[done:first] + executed[slice(*difference.executed_span)]
        done = last
    return text + documented[done:]


def _new_expectations(cell: Cell, outcome: Outcome, output: Printed, fixes: Fixes) -> Iterator[str]:
    """Yield the lines of the expectations that a cell lacks."""
    is_raise_documented = any(expectation.raises for expectation in cell.expectations)
    raises = "" if is_raise_documented else output.error.partition(":")[0]
    drawn = [Part.PICTURE] if output.draws_text else []
    lacking = set(outcome.parts or [*output.parts, *drawn])
    for part in _missing(cell, lacking, output, {*fixes.varying.get(cell.number, ())}):
        reason = fixes.reason(cell.number, part)
        if reason and output.glued_in(part):
            continue
        options = []
        if part not in (Part.ALL, Part.MAIN):
            options.append(f":{part}:" if part in FORMS else f":stream: {part}")
        if raises and part not in BESIDE:
            options.append(f":raises: {raises}")
        if reason:
            options.append(f":unchecked: {reason}")
        options += [""] * bool(options)
        rows = [] if reason else _rows(apply_filters(output.select(part), fixes.filters))
        yield from _block(f"```{{{DIRECTIVE}}}", options, rows)


def _missing(
    cell: Cell, lacking: set[Part], output: Printed, varying: Collection[Part]
) -> list[Part]:
    """Return the parts of an output that new expectations document.

    Values that all have a form, such as a table's HTML, are documented in it alone: it is what a
    reader sees. Beside a value that has none, they are documented as text too. What varies stands
    apart from what doesn't, which can be checked.
    """
    values = output.values if Part.VALUE in lacking else []
    forms = {next(iter(value.forms)) for value in values if value.forms}
    missing, texts = lacking, lacking - {Part.PICTURE}
    is_parted = not texts.isdisjoint(varying) and (output.glued or not texts <= {*varying})
    if forms and all(value.forms for value in values) and not output.error:
        missing = lacking - {Part.VALUE}
    elif Part.STDOUT in cell.hidden:
        missing = lacking - cell.hidden | ({Part.STDERR} if output.error else set())
    elif not cell.expectations and (output.error or (texts and not is_parted)):
        everything = Part.ALL if cell.has_stderr else Part.MAIN
        missing = {everything} | (lacking & {Part.PICTURE})
    missing = missing | (forms - {expectation.part for expectation in cell.expectations})
    return [part for part in Part if part in missing]


def _rows(text: str) -> list[str]:
    """Return the rows of a text, without spaces at their ends, which mean nothing."""
    return [row.removesuffix("\r").rstrip(" \t") for row in plain(text).split("\n")]
