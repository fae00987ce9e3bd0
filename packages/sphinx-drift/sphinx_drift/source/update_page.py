"""Write executed outputs into a MyST page, by position and never by search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx_drift.model import Kind
from sphinx_drift.output.filters import DEFAULTS, filtered
from sphinx_drift.output.printed_text import BESIDE, FORMS, Part, printed
from sphinx_drift.source.lines import lines_of
from sphinx_drift.source.rewrite import (
    changed_expectation,
    edited,
    expectation_lines,
    rewritten,
    rows_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nbformat import NotebookNode

    from sphinx_drift.model import Cell, Outcome, Page
    from sphinx_drift.output.filters import Filter
    from sphinx_drift.output.printed_text import Printed
    from sphinx_drift.source.rewrite import Edit

FIXED_BY_TEXT = (Kind.DRIFT, Kind.EMPTY, Kind.UNDOCUMENTED, Kind.RAISED)
"""What a new text of an expectation fixes."""


def page_with_outputs(  # noqa: PLR0913, PLR0917 - as of a notebook
    text: str,
    page: Page,
    executed: NotebookNode,
    outcomes: Iterable[Outcome],
    unchecked: Mapping[int, str],
    paths: Sequence[Filter],
) -> str:
    """Return a MyST page whose expectations have the executed texts, new ones too.

    Args:
        text: The page.
        page: What it documents.
        executed: Its notebook, as it was run.
        outcomes: What came of it.
        unchecked: Why outputs can't be checked, by the numbers of their cells.
        paths: What names the folders of this machine.

    """
    lines = lines_of(text)
    edits: list[Edit] = []
    outputs = {c.number: printed(executed.cells[c.index].outputs) for c in page.cells}
    # What is glued is shown where no mark can be, so it can't be unchecked: it is left.
    reasons = {cell: reason for cell, reason in unchecked.items() if not outputs[cell].glued}
    for number, reason in reasons.items():
        edits += [
            changed_expectation(lines, expectation, reason=reason)
            for expectation in page.cells[number - 1].expectations
            if not expectation.unchecked
        ]
    for outcome in outcomes:
        is_left = outcome.cell in unchecked.keys() - reasons.keys()
        if not outcome.cell or is_left or outcome.kind not in FIXED_BY_TEXT:
            continue
        cell, reason = page.cells[outcome.cell - 1], reasons.get(outcome.cell, "")
        if outcome.kind in (Kind.DRIFT, Kind.EMPTY):
            if not reason:
                expectation = next(e for e in cell.expectations if e.line == outcome.line)
                edits.append(changed_expectation(lines, expectation, rewritten(outcome)))
        elif outcome.kind is Kind.UNDOCUMENTED or not cell.expectations:
            new = _new_expectations(cell, outcome, outputs[cell.number], reason, paths)
            edits.append((cell.last_line, cell.last_line, list(new)))
    return edited(text, edits)


def _new_expectations(
    cell: Cell, outcome: Outcome, output: Printed, reason: str, paths: Sequence[Filter]
) -> Iterator[str]:
    """Yield the lines of the expectations that a cell lacks."""
    is_raise_documented = any(expectation.raises for expectation in cell.expectations)
    raises = "" if is_raise_documented else output.error.partition(":")[0]
    for part in _missing(cell, {Part(name) for name in outcome.streams}, output):
        text = filtered(output.select(part), (*DEFAULTS, *paths))
        if not text:
            continue
        options = []
        if part not in (Part.ALL, Part.MAIN):
            options.append(f":{part}:" if part in FORMS else f":stream: {part}")
        if raises and part not in BESIDE:
            options.append(f":raises: {raises}")
        if reason:
            options.append(f":unchecked: {reason}")
        head = [*options, ""] if options else []
        yield from expectation_lines(head, [""] if reason else rows_of(text))


def _missing(cell: Cell, lacking: set[Part], output: Printed) -> list[Part]:
    """Return the parts of an output that new expectations document: texts, forms, pictures.

    A value is documented in the form in which it is shown, if that doesn't read like its text.
    The text is too, unless the cell shows nothing but values that have a form: no reader sees it.
    """
    is_first = not cell.expectations
    texts = lacking - {Part.PICTURE}
    values = output.values if is_first or Part.VALUE in lacking else []
    is_all_in_forms = texts == {Part.VALUE} and all(value.forms for value in values)
    shown = [(next(iter(value.forms)), value) for value in values if value.forms]
    forms = [f for f, value in shown if is_all_in_forms or value.forms[f] != value.text]
    if is_all_in_forms:
        texts = set()
    elif is_first:
        texts = {Part.ALL if cell.has_stderr else Part.MAIN}
    documented = {expectation.part for expectation in cell.expectations}
    return [
        *(part for part in Part if part in texts),
        *(form for form in dict.fromkeys(forms) if form not in documented),
        *(lacking & {Part.PICTURE}),
    ]
