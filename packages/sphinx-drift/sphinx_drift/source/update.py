"""Decide what `--update` writes into a file, and see that it reads as it was printed."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nbformat import NotebookNode

from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome, Page, PageResult
from sphinx_drift.output.filters import DEFAULTS, Filter
from sphinx_drift.output.machine import machine_paths, names_in
from sphinx_drift.output.printed_text import read_outputs
from sphinx_drift.source.expectations import ODD_ENDS
from sphinx_drift.source.prose import outdated_numbers
from sphinx_drift.source.update_notebook import notebook_with_outputs
from sphinx_drift.source.update_page import Fixes, page_with_outputs

_FIXABLE = (Kind.DRIFT, Kind.EMPTY, Kind.UNDOCUMENTED, Kind.RAISED, Kind.NO_OUTPUT, Kind.PICTURE)
"""What new outputs fix; on a page, these can't fix the last two."""
_LACKING = re.compile(
    r"(ModuleNotFound|Import|FileNotFound|gai|SSL|MaxRetry|URL|HTTP|\w*Timeout"
    r"|\w*Connect(ion|or)?\w*)(Error)?: "
)
"""How an error begins if a module, a file or the network isn't here."""
_INSTALLS = re.compile(r"(?:\s*[!%](?:uv )?(?:pip3?|conda|mamba) install\b[^;&|\n]*)+\s*")
"""A cell that installs packages, and does nothing else."""
_UNREADABLE = re.compile(rf"[\0{ODD_ENDS}\ud800-\udfff]")
"""Ends of lines for MyST-NB alone, and characters that no Markdown or file can hold."""
DIFFERS = "it differs between two runs"
CHANGED = "it was changed while it was run"
NO_TEXT = "it can't be written so that it reads the same"
_OTHER_CELLS = (
    "with what was printed, the file would have other cells: close the fence of its last one, or "
    "print the `repr` of the text"
)
UNDECIDED = frozenset({DIFFERS, NO_TEXT})
"""Reasons why nothing is compared that a person has to confirm or remove."""


@dataclass(frozen=True)
class Change:
    """A file before and after."""

    path: Path
    before: str
    after: str = ""
    refused: str = ""
    """Why it can't be written."""
    result: PageResult | None = None
    """The result of the file as it is then."""
    notes: tuple[str, ...] = ()
    """What its author should look at: sentences with an old number, names of this machine."""


def read_exactly(path: Path) -> str:
    """Return a file with its line endings as they are."""
    return path.read_bytes().decode("utf-8")


def change_for(  # noqa: PLR0913, PLR0917 - what is known of a file
    path: Path,
    page: Page,
    executed: NotebookNode,
    result: PageResult,
    rejudge: Callable[[Page], PageResult],
    reread: Callable[[str], Page | None],
    filters: Sequence[Filter],
) -> Change | None:
    """Return a page or notebook with its executed outputs; None if nothing has to be written.

    Args:
        path: The file.
        page: What it documents.
        executed: Its notebook, as it was run.
        result: What came of it.
        rejudge: Judges a page that documents something else of the same outputs.
        reread: Reads what the file is going to hold.
        filters: What varies by the settings of the book or the page.

    """
    before = read_exactly(path)
    if reason := _refusal(page, result):
        return Change(path, before, refused=reason)
    # An output or error without an expectation gets one, whether or not its page must have it.
    # The author has to say whether an error may replace what is documented.
    fixed = [
        o
        for o in rejudge(replace(page, complete=True)).outcomes
        if o.cell
        and o.kind in _FIXABLE
        and not (o.kind is Kind.RAISED and page.cells[o.cell - 1].expectations)
    ]
    raising = {o.cell for o in result.outcomes if o.kind is Kind.RAISED} - {o.cell for o in fixed}
    unchecked = _unchecked_cells(page, executed, fixed)
    varying = {
        o.cell: o.parts
        for o in result.outcomes
        if o.kind is Kind.UNREPEATABLE and o.cell not in raising | unchecked.keys()
    }
    unchecked |= dict.fromkeys(varying, DIFFERS)
    with_outputs = notebook_with_outputs if page.is_notebook else page_with_outputs
    # Readers of a notebook see what it has stored, what varies too.
    varies = () if page.is_notebook else (*filters, *DEFAULTS)
    replaced = (*varies, *machine_paths(path.absolute().parent))
    after = with_outputs(before, Fixes(page, executed, fixed, unchecked, varying, replaced))
    if after == before:
        return None
    new = reread(after)
    if new is None or [cell.source for cell in new.cells] != [cell.source for cell in page.cells]:
        return Change(path, before, refused=_OTHER_CELLS)
    # Outputs stay where they are; an expectation parts the Markdown between two cells.
    cells = (replace(c, index=old.index) for c, old in zip(new.cells, page.cells, strict=True))
    new = replace(new, cells=tuple(cells), complete=page.complete)
    judged = rejudge(new)
    for outcome in judged.outcomes:
        if outcome.kind in (Kind.DRIFT, Kind.EMPTY) and outcome.cell not in unchecked:
            return Change(path, before, refused=f"what cell {outcome.cell} prints: {NO_TEXT}")
    telling = sorted(set(names_in(after)) - set(names_in(before)))
    notes = (
        *outdated_numbers(path, after, new, executed, result.outcomes),
        *(f"{path}: what is written names this machine or its user: {name}" for name in telling),
        *(f"{path}: {lost}" for lost in _lost(page, executed, fixed)),
    )
    return Change(path, before, after, result=judged, notes=notes)


def _lost(page: Page, executed: NotebookNode, fixed: Sequence[Outcome]) -> Iterator[str]:
    """Yield the cells of which pictures or widgets are stored that aren't made any more."""
    for cell in (page.cells[number - 1] for number in sorted({o.cell for o in fixed})):
        now = read_outputs(executed.cells[cell.index].outputs).drawn
        for noun, before, after in cell.drawn.changes(now):
            if after < before:
                yield f"{noun} of cell {cell.number}: {before} stored, {after} made now"


def _refusal(page: Page, result: PageResult) -> str:
    """Return why no output of a page should be written; nothing if they may be."""
    for outcome in result.outcomes:
        is_allowed = outcome.cell and page.cells[outcome.cell - 1].may_raise
        where = f"(line {outcome.line}{f', cell {outcome.cell}' * bool(outcome.cell)})"
        was_raised = outcome.kind in (Kind.RAISED, Kind.NO_EXPECTATION)
        if was_raised and _LACKING.match(outcome.message) and not is_allowed:
            remedy = "see that it is there, or tag the cell `raises-exception`"
            return f"{outcome.message} {where}: {remedy}"
        is_unknown = outcome.kind.unknown and outcome.kind is not Kind.NOTHING_CHECKED
        # An expectation may have swallowed what isn't read.
        if is_unknown or outcome.kind in (Kind.NOT_READ, Kind.FAILED_WHEN_REPEATED):
            why = outcome.message.partition("\n")[0]
            return f"{outcome.kind.meaning} {where}{': ' * bool(why)}{why}"
    return ""


def _unchecked_cells(
    page: Page, executed: NotebookNode, fixed: Sequence[Outcome]
) -> dict[int, str]:
    """Return why new outputs can't be checked, by the numbers of their cells."""
    reasons = {}
    for cell in (page.cells[outcome.cell - 1] for outcome in fixed):
        texts = "".join(text for _, text in read_outputs(executed.cells[cell.index].outputs).pieces)
        if _INSTALLS.fullmatch(cell.source):
            reasons[cell.number] = "installs packages"
        elif not page.is_notebook and _UNREADABLE.search(texts):
            reasons[cell.number] = NO_TEXT
    return reasons
