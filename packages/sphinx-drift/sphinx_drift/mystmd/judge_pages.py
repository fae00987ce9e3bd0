"""Judge the outputs of a build by mystmd, a page at a time, as its plugin hands them over.

Each line of the input is a request as JSON, and is answered by a line.
"""

import copy
import json
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from platform import python_version
from typing import Any, TextIO

from nbformat import NotebookNode, from_dict

from sphinx_drift.compare.compare import Policy
from sphinx_drift.files import Checked, failure, open_file
from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome, Page, PageResult
from sphinx_drift.report.text import closing_line, outcome_text
from sphinx_drift.run.results import SKIPS, Execution
from sphinx_drift.run_and_judge import judge_run, run_and_judge
from sphinx_drift.search import is_page
from sphinx_drift.second_look import may_be_rounding
from sphinx_drift.settings import Settings
from sphinx_drift.source.quote import quote

_WHICH_CELLS = (
    "it also runs cells of included files and cells with attributes, and loses those between HTML "
    "tags: fold with `{dropdown}`"
)
_NO_OUTPUT = "no cell here printed anything: has mystmd run the page? look at what it says above"
NOT_RUN = (
    "mystmd has not run it: build with `--execute`, and look at what it says above; it stops at an "
    "error, at a documented one too, unless its cell is tagged `raises-exception`"
)


def serve(requests: TextIO, answers: TextIO) -> None:
    """Answer requests until there are no more."""
    sys.stdout = sys.stderr  # what a page's settings print is no answer
    results: dict[str, PageResult] = {}
    for line in requests:
        try:
            answer = answer_to(json.loads(line), results)
        except Exception:  # noqa: BLE001 - the build has to hear of it
            answer = {"failed": [[1, traceback.format_exc(limit=-3)]]}
        try:
            print(json.dumps(answer), file=answers, flush=True)
        except BrokenPipeError:  # mystmd has ended
            return


def answer_to(request: dict[str, Any], results: dict[str, PageResult]) -> dict[str, Any]:
    """Quote a number as text, or judge a page and keep its result with those of the build."""
    path = Path(request["path"])
    result = results.get(str(path), PageResult(str(path)))
    if target := request.get("quote"):
        try:
            return {"text": quote(results.values(), target)}
        except ValueError as error:
            new = [Outcome(Kind.QUOTATION, request["line"], message=str(error))]
            results[str(path)] = replace(result, outcomes=(*result.outcomes, *new))
    else:
        cells = request["cells"]
        if is_page(path) or any(cells):  # mystmd reads LaTeX, too, and text in front matter
            result = results[str(path)] = judged(path, cells, is_run=request["isRun"])
        new = [*result.outcomes]
    return {
        "failed": [[o.line, outcome_text(result, o)] for o in new if o.kind.fails],
        "sum": closing_line([*results.values()]),
    }


def judged(path: Path, cells: Sequence[Any], *, is_run: bool) -> PageResult:
    """Return the result of a page that mystmd has run.

    Args:
        path: The page.
        cells: The outputs of each code cell, None for one that was skipped.
        is_run: Whether mystmd was asked to run cells, reported no error and shows what it ran.

    """
    file = open_file(path, named=False, by_mystmd=True)
    if isinstance(file, Checked):
        is_known = file.result.outcomes or file.result.left_out
        return file.result if is_known or not any(cells) else _other_cells(path, cells, 0)
    _, page, notebook, settings = file.task
    if page.cells and not is_run:
        return failure(path, NOT_RUN, Kind.NOT_EXECUTED).result
    if len(cells) != len(page.cells):
        return _other_cells(path, cells, len(page.cells))
    own_task = file.task._replace(notebook=copy.deepcopy(notebook))
    executed = _take(page, notebook, cells)
    # An error is no end that mystmd reports here.
    task = file.task._replace(settings=replace(settings, keep_going=True))
    # It reports what is raised where that isn't announced; such a page isn't run.
    succeeded = frozenset(c.index for c in page.cells if not c.is_tagged_to_raise) & executed
    answers: Mapping[str, Any] = {"report_environment": {"python": python_version()}}
    result = judge_run(task, Execution(executed, answers=answers, succeeded=succeeded))
    if not (any(cells) or page.is_notebook):  # which would show what it has stored
        result = replace(result, outcomes=tuple(map(_perhaps_not_run, result.outcomes)))
    has_variants = any(e.when for cell in page.cells for e in cell.expectations)
    if not (has_variants or any(_is_doubtful(o, settings) for o in result.outcomes)):
        return result
    own, execution, _ = run_and_judge(own_task)
    result = judge_run(task, Execution(executed, answers=execution.answers, succeeded=succeeded))
    by_ours = {_key(outcome): outcome for outcome in own.outcomes}
    outcomes = (_judged_by(by_ours.get(_key(o)), o) for o in result.outcomes)
    return replace(result, outcomes=tuple(outcomes))


def _perhaps_not_run(outcome: Outcome) -> Outcome:
    """Return an outcome of a page that printed nothing, with the other cause of that."""
    is_lacking = outcome.kind is Kind.NO_OUTPUT
    return replace(outcome, message=f"{outcome.message}\n{_NO_OUTPUT}") if is_lacking else outcome


def _key(outcome: Outcome) -> tuple[int, int, str]:
    """Return what an outcome of the same expectation shares with it."""
    return outcome.cell, outcome.line, outcome.documented


def _judged_by(own: Outcome | None, outcome: Outcome) -> Outcome:
    """Return our run's outcome in place of a drift, if it printed the same."""
    is_alike = outcome.kind is Kind.DRIFT and own and own.executed == outcome.executed
    return own if own and is_alike else outcome


def _is_doubtful(outcome: Outcome, settings: Settings) -> bool:
    """Whether an output may be right here: mystmd says neither where it ran, nor full precision."""
    is_rounded = settings.policy is not Policy.EXACT and may_be_rounding(outcome)
    return outcome.kind is Kind.DRIFT and (is_rounded or bool(outcome.reference_only))


def _other_cells(path: Path, cells: Sequence[Any], count: int) -> PageResult:
    """Return the result of a page of which mystmd has other cells than can be read."""
    message = f"its cells: mystmd has {len(cells)}, and {count} can be read; {_WHICH_CELLS}"
    return failure(path, message).result


def _take(page: Page, notebook: NotebookNode, cells: Sequence[Any]) -> frozenset[int]:
    """Put the outputs of cells into a notebook; return which cells ran."""
    executed = set()
    for cell, outputs in zip(page.cells, cells, strict=True):
        notebook.cells[cell.index].outputs = [
            from_dict({"metadata": {}, **output})  # type: ignore[no-untyped-call]
            for output in outputs or ()
        ]
        if outputs is not None or SKIPS & cell.tags:
            executed.add(cell.index)
    return frozenset(executed)
