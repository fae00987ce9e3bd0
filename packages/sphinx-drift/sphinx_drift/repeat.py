"""Name what a page printed in one run and not in another."""

from collections.abc import Iterator, Sequence

from nbformat import NotebookNode

from sphinx_drift.compare.compare import Verdict, compare
from sphinx_drift.judge_cell import outcome_of, read_printed
from sphinx_drift.kinds import Kind
from sphinx_drift.model import Cell, Outcome, Page
from sphinx_drift.output.filters import DEFAULTS, Filter, apply_filters
from sphinx_drift.output.printed_text import BESIDE, FORMS, OF_VALUES, Part, Printed, included_in
from sphinx_drift.run.results import Execution, Failure


def compare_runs(
    page: Page,
    first: NotebookNode,
    second: NotebookNode,
    execution: Execution,
    filters: Sequence[Filter] = DEFAULTS,
) -> Iterator[Outcome]:
    """Name what a page printed in one run and not in another."""
    failure, indices = execution.failure, {cell.index for cell in page.cells}
    for cell in page.cells:
        # What stopped it at none of its cells is told of the first.
        if failure is not None and (failure.index == cell.index or failure.index not in indices):
            yield _failed(cell, failure)
            return
        runs = [read_printed(cell, notebook) for notebook in (first, second)]
        is_new = cell.index not in execution.succeeded and not (runs[0].error or cell.may_raise)
        if is_new and (error := runs[1].error):
            yield _failed(cell, Failure(Kind.RAISED, cell.index, error))
            return  # what follows may differ for that alone
        if cell.unchecked:
            continue
        differing: dict[Part, tuple[str, str, Verdict]] = {}
        for part in Part:
            once, again = (apply_filters(run.select(part), filters) for run in runs)
            verdict = compare(once, again)
            if not verdict.same:
                differing[part] = once, again, verdict
        to_repeat = _parts_to_repeat(cell, runs, is_page=not page.is_notebook)
        if found := [differing[part] for part in to_repeat if part in differing]:
            once, again, verdict = found[0]
            yield outcome_of(
                cell,
                Kind.UNREPEATABLE,
                documented=once,
                executed=again,
                verdict=verdict,
                parts=tuple(differing),
            )


def _failed(cell: Cell, failure: Failure) -> Outcome:
    """Return what it means that a cell failed in the second run alone."""
    if failure.kind is Kind.RAISED:
        return outcome_of(cell, Kind.FAILED_WHEN_REPEATED, message=failure.message)
    return outcome_of(cell, failure.kind, message=f"run again: {failure.message}")


def _parts_to_repeat(cell: Cell, runs: Sequence[Printed], *, is_page: bool) -> list[Part]:
    """Return the parts of a cell's outputs that are checked, or that nothing says may vary."""
    checked = {e.part for e in cell.expectations if not e.unchecked}
    unchecked = {e.part for e in cell.expectations if e.unchecked}
    free = included_in(unchecked) | cell.hidden
    if unchecked & OF_VALUES:
        free |= {Part.PICTURE, *FORMS}  # which show a value as well
    values = [value for run in runs for value in run.values]
    if unchecked & {*FORMS} or all(checked & value.forms.keys() for value in values):
        free |= {Part.VALUE}  # which is shown in its forms
    if is_page and (checked | unchecked) & {*OF_VALUES, *FORMS}:
        free |= {*FORMS}  # of a value, a page shows what it documents alone
    if Part.TRACEBACK in free and any(run.error for run in runs):
        free |= {Part.STDERR}  # which holds the error as well
    parts = {Part.STDOUT, Part.VALUE, Part.STDERR, *BESIDE} - free
    if not cell.is_seen:
        parts &= {part for run in runs for part in run.glued}
    return [part for part in Part if part in parts | checked]
