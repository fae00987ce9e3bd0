"""Compare what a page's cells printed with what the page documents."""

import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from nbformat import NotebookNode

from sphinx_drift.compare.compare import Policy
from sphinx_drift.judge_cell import CellCheck, PageRun, outcome_of, read_printed
from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome, Page, PageResult
from sphinx_drift.output.filters import DEFAULTS, Filter, apply_filters
from sphinx_drift.output.machine import machine_paths
from sphinx_drift.run.results import SKIPS, Execution

_MERGED = (Kind.UNDOCUMENTED, Kind.PICTURE)


def judge_page(  # noqa: PLR0913 - one page has these parts
    page: Page,
    notebook: NotebookNode,
    execution: Execution,
    *,
    file: str,
    policy: Policy = Policy.EXACT,
    away: bool = False,
    precise: NotebookNode | None = None,
    filters: Sequence[Filter] = DEFAULTS,
    errors_fail: bool = False,
) -> PageResult:
    """Compare what a page's cells printed with what the page documents.

    Args:
        page: The cells and what each must print.
        notebook: The notebook after it was run.
        execution: How its cells ended.
        file: The page's name in reports.
        policy: What a number may differ by.
        away: Whether it ran on another environment than the reference.
        precise: The notebook run again at full precision.
        filters: What varies, and is not compared.
        errors_fail: Whether an error that nothing announces fails on any page.

    Returns:
        An outcome for each expectation, and for each cell or page that lacks one. An error
        inside the comparison is an outcome too, and fails.

    """
    outcomes = [
        replace(o, kind=Kind.UNCHECKED) if o.if_complete and not page.complete else o
        for o in page.problems
    ]
    not_text, undocumented, silent = Counter[str](), Counter[str](), 0
    filters = (*filters, *machine_paths(Path(file).absolute().parent))
    run = PageRun(page, execution, policy, filters, away=away, errors_fail=errors_fail)
    # A filter of the page may match nothing, which is reported.
    run.filter_counts.update({one.name: 0 for one in page.settings.get("filters", ())})
    for cell in page.cells:
        try:
            # The end of stderr may only be printed. A notebook can't say whether it was raised.
            may_raise = page.is_notebook or cell.index not in execution.succeeded
            read = partial(read_printed, cell, raised=may_raise)
            output, full = read(notebook), read(precise) if precise else None
            not_text.update(widgets=output.widgets, pictures=output.pictures)
            found = [*CellCheck(cell, output, full, run).outcomes()]
            outcomes += found
            for outcome in found:
                if outcome.kind in (Kind.NO_EXPECTATION, Kind.UNDOCUMENTED):
                    apply_filters(outcome.executed, filters, undocumented)
            is_claim = cell.is_claim and page.is_notebook and not SKIPS & cell.tags
            shows = found or output.pieces or any(output.drawn)
            silent += is_claim and cell.has_code and not shows
        except Exception:  # noqa: BLE001 - an error here must never pass for a success
            message = traceback.format_exc(limit=-3)
            outcomes.append(outcome_of(cell, Kind.COULD_NOT_CHECK, message=message))
    failure = execution.failure
    all_ran = not any(outcome.kind is Kind.NOT_EXECUTED for outcome in outcomes)
    if failure and failure.index is None and all_ran:
        # Something broke later: no cell reports it.
        outcomes.append(Outcome(failure.kind, 1, message=failure.message))
    if page.documents_nothing:
        outcomes = _as_one(outcomes)
    counted = (Kind.VERIFIED, Kind.NOT_COMPARED)
    # Of HTML that may show more than its text, that was compared.
    is_told = any(o.kind in counted or o.kind.fails or o.verdict.compared for o in outcomes)
    # What is drawn, or silent as each import is, makes up for nothing that isn't compared.
    says_nothing = bool(silent or +not_text) and not outcomes
    if page.complete and page.cells and not (is_told or says_nothing):
        outcomes.append(Outcome(Kind.NOTHING_CHECKED, page.cells[0].line))
    return PageResult(
        file,
        tuple(outcomes),
        cells=len(page.cells),
        policy=policy,
        environment=execution.environment,
        not_text=+not_text,
        filter_counts=run.filter_counts,
        undocumented_counts=undocumented,
        names=page.names,
        silent=silent,
        is_notebook=page.is_notebook,
    )


def _as_one(outcomes: list[Outcome]) -> list[Outcome]:
    """Merge what the cells print and draw of a notebook that has no output stored."""
    new = [outcome for outcome in outcomes if outcome.kind in _MERGED]
    if not new[1:]:
        return outcomes
    cells = ", ".join(dict.fromkeys(str(outcome.cell) for outcome in new))
    message = (
        f"cells {cells} print or draw; they were run, and the notebook has no output stored\n"
        "if its outputs are meant to be stripped, remove the execution counts as well"
    )
    merged = Outcome(Kind.UNDOCUMENTED, new[0].line, cell=new[0].cell, message=message)
    return [*(outcome for outcome in outcomes if outcome.kind not in _MERGED), merged]
