"""Write executed outputs into a MyST page, by position and never by search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sphinx_drift.model import Kind
from sphinx_drift.output.filters import DEFAULTS, filtered
from sphinx_drift.output.machine import machine_paths
from sphinx_drift.output.printed_text import BESIDE, FORMS, Part, printed
from sphinx_drift.source.lines import lines_of
from sphinx_drift.source.read_source import load
from sphinx_drift.source.rewrite import (
    body_edits,
    edited,
    indent_of,
    new_expectation,
    rewritten,
    rows_of,
)
from sphinx_drift.source.update import (
    FIXED_BY_TEXT,
    INSTALLS,
    NO_TEXT,
    Change,
    notes_on,
    read_exactly,
    refusal,
    unchecked_cells,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from nbformat import NotebookNode

    from sphinx_drift.model import Cell, Outcome, Page, PageResult
    from sphinx_drift.output.filters import Filter
    from sphinx_drift.output.printed_text import Printed
    from sphinx_drift.source.rewrite import Edit

_ROUNDS = 4


def update_page(  # noqa: PLR0913, PLR0917 - what is known of it
    path: Path,
    page: Page,
    executed: NotebookNode,
    result: PageResult,
    judge: Callable[[Page], PageResult],
    read: Callable[..., tuple[Page, NotebookNode] | None] = load,
) -> Change | None:
    """Return a MyST page with its executed outputs; None if nothing has to be written.

    What is written is read and judged again, until nothing is left to write: only then it is known
    what can't be written so that it reads the same.
    """
    before = text = read_exactly(path)
    if reason := refusal(page, result):
        return Change(path, before, before, reason)
    first, paths = result, machine_paths(path.absolute().parent)
    unchecked = unchecked_cells(page, result)
    written: set[int] = set()
    for _ in range(_ROUNDS):
        outcomes = [o for o in result.outcomes if o.cell and o.kind in FIXED_BY_TEXT]
        unchecked |= dict.fromkeys(_unwritable(outcomes, written), NO_TEXT)
        writer = _Writer(lines_of(text), executed, paths, unchecked)
        edits = list(writer.edits(page, outcomes))
        if not edits:
            break
        written |= {outcome.cell for outcome in outcomes}
        text = edited(text, edits)
        seen = any(cell.has_stderr for cell in page.cells)
        loaded = read(path, text=text.removeprefix("\ufeff"), stderr=seen)
        sources = [cell.source for cell in loaded[0].cells] if loaded else []
        if loaded is None or sources != [cell.source for cell in page.cells]:
            refused = "what was printed can't be written so that it reads the same"
            return Change(path, before, before, refused)
        # Outputs stay where they are; an expectation parts the Markdown between two cells.
        cells = (
            replace(new, index=old.index)
            for new, old in zip(loaded[0].cells, page.cells, strict=True)
        )
        page = replace(loaded[0], cells=tuple(cells), complete=page.complete)
        result = judge(page)
    if text == before:
        return None
    notes = notes_on(path, before, text, first, page)
    return Change(path, before, text, result=result, notes=notes)


def _unwritable(outcomes: Iterable[Outcome], written: set[int]) -> Iterator[int]:
    """Yield the cells whose output can't be written so that it reads the same.

    Either it is written already, and still isn't what the page has; or it has what MyST-NB takes
    for the end of a line, and no editor does: a form feed, say.
    """
    for outcome in outcomes:
        has_failed = outcome.kind in (Kind.DRIFT, Kind.EMPTY) and outcome.cell in written
        text = f"{outcome.executed}."
        if has_failed or len(text.splitlines()) > len(lines_of(text)):
            yield outcome.cell


@dataclass(frozen=True)
class _Writer:
    """Writes the outputs of a page's cells into its lines."""

    lines: Sequence[str]
    executed: NotebookNode
    paths: tuple[Filter, ...]
    """What names the folders of this machine."""
    unchecked: Mapping[int, str]
    """Why outputs can't be checked, by the numbers of their cells."""

    def edits(self, page: Page, outcomes: Iterable[Outcome]) -> Iterator[Edit]:
        """Yield what is to be written where, for all outcomes that a text fixes."""
        # What is glued is shown where no mark can be, so it can't be unchecked: it is left.
        glued = {c.number for c in page.cells if self._output(c).glued} & self.unchecked.keys()
        for cell in page.cells:
            if cell.number in self.unchecked and cell.number not in glued:
                yield from self._reasons(cell)
        for outcome in outcomes:
            if outcome.cell not in glued:
                yield from self._texts(page.cells[outcome.cell - 1], outcome)

    def _output(self, cell: Cell) -> Printed:
        return printed(self.executed.cells[cell.index].outputs)

    def _reasons(self, cell: Cell) -> Iterator[Edit]:
        """Yield why a cell isn't checked, above the text of each of its expectations."""
        for expectation in cell.expectations:
            if not expectation.unchecked:
                has_options = expectation.body_line > expectation.line + 1
                indent = indent_of(self.lines, expectation)
                option = f"{indent}:unchecked: {self.unchecked[cell.number]}"
                new = [option] if has_options else [option, ""]
                yield expectation.line, expectation.line, new

    def _texts(self, cell: Cell, outcome: Outcome) -> Iterator[Edit]:
        """Yield the new text of an expectation, or the expectations that a cell lacks."""
        if outcome.kind in (Kind.DRIFT, Kind.EMPTY):
            expectation = next(e for e in cell.expectations if e.line == outcome.line)
            if cell.number not in self.unchecked:
                rows = rewritten(outcome, expectation.waivers)
                yield from body_edits(self.lines, expectation, rows)
        elif outcome.kind is not Kind.RAISED or not cell.expectations:
            end = cell.expectations[-1].end_line + 1 if cell.expectations else cell.end_line
            yield end, end, list(self._new(cell, outcome))

    def _new(self, cell: Cell, outcome: Outcome) -> Iterator[str]:
        """Yield the lines of the expectations that a cell lacks."""
        output, unchecked = self._output(cell), self.unchecked.get(cell.number, "")
        is_raise_documented = any(expectation.raises for expectation in cell.expectations)
        raises = "" if is_raise_documented else output.error.partition(":")[0]
        for part in _missing(cell, outcome, output):
            text = filtered(output.select(part), (*DEFAULTS, *self.paths))
            if not text:
                continue
            options = [f":{part.value}:"] if part in FORMS else [f":stream: {part.value}"]
            options = [] if part in (Part.ALL, Part.MAIN) else options
            if raises and part not in BESIDE:
                options.append(f":raises: {raises}")
            if unchecked:
                options.append(f":unchecked: {unchecked}")
            has_text = unchecked not in (NO_TEXT, INSTALLS)
            yield from new_expectation(options, rows_of(text if has_text else ""))


def _missing(cell: Cell, outcome: Outcome, output: Printed) -> list[Part]:
    """Return the parts of an output that new expectations document, in order.

    These are all its text, or the streams that the cell's expectations lack; then the form in which
    a value is shown, unless that reads like its text; then its pictures. Where the cell shows
    nothing but values in other forms, their text is not documented: no reader sees it.
    """
    lacking = [Part(name) for name in outcome.streams]
    pictures = [part for part in lacking if part is Part.PICTURE]
    texts = [part for part in lacking if part is not Part.PICTURE]
    is_first = not cell.expectations
    values = output.values if is_first or Part.VALUE in texts else []
    shown = [(next(iter(value.forms)), value) for value in values if value.forms]
    if texts == [Part.VALUE] and len(shown) == len(values):
        texts, forms = [], [form for form, _ in shown]
    else:
        forms = [form for form, value in shown if value.forms[form] != value.text]
        if is_first:
            texts = [Part.ALL if cell.has_stderr else Part.MAIN]
    documented = {expectation.part for expectation in cell.expectations}
    return [*texts, *(form for form in dict.fromkeys(forms) if form not in documented), *pictures]
