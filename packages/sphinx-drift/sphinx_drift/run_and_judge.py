"""Run a page and check it, for all adapters."""

import copy
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from nbformat import NotebookNode

from sphinx_drift.compare.compare import Policy
from sphinx_drift.judge import judge_page
from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome, Page, PageResult
from sphinx_drift.output.filters import DEFAULTS
from sphinx_drift.probes import Probe, injected
from sphinx_drift.repeat import compare_runs
from sphinx_drift.run import cache, run
from sphinx_drift.run.choice import page_environment
from sphinx_drift.run.in_full import IN_FULL
from sphinx_drift.run.injected import package_origins, report_versions
from sphinx_drift.run.results import Execution, Request
from sphinx_drift.second_look import add_hints, may_be_rounding
from sphinx_drift.settings import Settings
from sphinx_drift.source.variants import choose_variants, packages_named


class Task(NamedTuple):
    """A page to run and compare, with the settings that it is run and compared by."""

    path: Path
    page: Page
    """What it documents."""
    notebook: NotebookNode
    """The notebook to run; its outputs become what is printed now."""
    settings: Settings


def make_task(path: Path, page: Page, notebook: NotebookNode, settings: Settings) -> Task:
    """Return a page with its book's settings, changed by what it says of itself."""
    settings = settings.of_page(notebook.metadata, **page.settings)
    return Task(path, settings.applied_to(page, path), notebook, settings)


def run_and_judge(task: Task) -> tuple[PageResult, Execution, Callable[[Page], PageResult]]:
    """Run a page's cells and compare what they print with what it documents.

    Returns:
        Its result, how its cells ended, and what judges a page that documents something else of
        the same outputs.

    """
    notebook, settings = task.notebook, task.settings
    request, *repetitions = plan_runs(task)
    execution = cache.find(notebook, request, settings.cache) if settings.cache else None
    # Whatever fails is said of a run of now, and a second look is at the same run as the first.
    if execution is None or judge_run(task, execution).failed:
        execution = run.execute(notebook, request)
    result, in_full = judge_run(task, execution), None
    if any(map(may_be_rounding, result.outcomes)):
        in_full = _printed_in_full(task, execution)
        portable = task._replace(settings=replace(settings, policy=Policy.PORTABLE))
        judged = judge_run(portable, execution, in_full)
        if result.policy is Policy.PORTABLE:
            result = judged
        else:
            in_full = None
            result = replace(result, outcomes=add_hints(result.outcomes, judged.outcomes))
    is_repeatable = execution.failure is None
    runs = [_run_again(task, execution, again) for again in repetitions if is_repeatable]
    result = _with_differing(result, task, execution, runs)
    if settings.cache and not execution.since:
        is_right = not result.failed
        key = cache.keep(notebook, request, execution, settings.cache, is_right=is_right)
        execution = replace(execution, cache_key=key)

    def rejudge(page: Page) -> PageResult:
        other = task._replace(page=page)
        return _with_differing(judge_run(other, execution, in_full), other, execution, runs)

    return result, execution, rejudge


def _stopping(page: Page, execution: Execution) -> Iterator[Outcome]:
    """Yield the cells at whose error mystmd stops, though the page documents it.

    A notebook's readers may see its stored outputs, which nothing runs.
    """
    for cell in () if page.is_notebook else page.cells:
        raised = cell.index in execution.executed - execution.succeeded
        if raised and any(e.raises for e in cell.expectations) and not cell.is_tagged_to_raise:
            outcome = Outcome(Kind.OPTION, cell.line, cell=cell.number, cell_line=cell.line)
            message = "mystmd stops at the error of this cell: tag it `raises-exception`"
            yield replace(outcome, message=message)


def judge_run(task: Task, execution: Execution, in_full: NotebookNode | None = None) -> PageResult:
    """Compare what a page's cells printed with what it documents here, as its settings say.

    Args:
        task: The page.
        execution: How its cells ended.
        in_full: What they print at full precision, if they ran so; *portable* judges by it.

    """
    settings = task.settings
    result = judge_page(
        choose_variants(task.page, execution.versions),
        task.notebook,
        execution,
        file=str(task.path),
        policy=settings.policy_on(execution.environment),
        away=not settings.is_reference(execution.environment),
        precise=in_full,
        filters=(*settings.filters, *DEFAULTS),
        errors_fail=settings.goes_on(task.page) and not settings.allow_errors,
    )
    stopping = _stopping(task.page, execution) if settings.is_mystmd else ()
    outcomes = (*result.outcomes, *_imported_elsewhere(task, execution), *stopping)
    return replace(result, outcomes=outcomes, from_cache=bool(execution.since))


def _imported_elsewhere(task: Task, execution: Execution) -> Iterator[Outcome]:
    """Yield an outcome for each package that was not imported from the project."""
    for name, origin in execution.answers.get(package_origins.__name__, {}).items():
        folder = task.settings.packages[name].resolve()
        if not origin or Path(origin).parent != folder:
            message = f"expected `{name}` from {folder}\ngot it from {origin or 'nowhere'}"
            yield Outcome(Kind.ELSEWHERE, task.page.cells[0].line, message=message)


def _printed_in_full(task: Task, execution: Execution) -> NotebookNode:
    """Run a page once more, printing full precision, up to the cell that failed."""
    notebook = _copied(task.notebook, execution)
    before = [change for name, change in IN_FULL.items() if name in execution.environment]
    raising = range(len(notebook.cells))  # as `float` does, if it reads a number with a note
    run.execute(notebook, _request(task, raising=raising, before=before))
    return notebook


def _run_again(
    task: Task, execution: Execution, request: Request
) -> tuple[NotebookNode, Execution]:
    """Run a page once more, with other entropy; return its notebook and how its cells ended."""
    second = _copied(task.notebook, execution)
    return second, run.execute(second, request)


def _with_differing(
    result: PageResult,
    task: Task,
    execution: Execution,
    runs: Iterable[tuple[NotebookNode, Execution]],
) -> PageResult:
    """Return a result with what a page printed otherwise when it was run again."""
    here = choose_variants(task.page, execution.versions)
    filters = (*task.settings.filters, *DEFAULTS)
    differing = [
        outcome
        for second, repeated in runs
        for outcome in compare_runs(here, task.notebook, second, repeated, filters)
    ]
    return replace(result, outcomes=(*result.outcomes, *differing))


def run_ahead(tasks: Iterable[Task]) -> set[Path]:
    """Start to run pages, in this order, as :func:`run_and_judge` is going to ask for them.

    Returns:
        The pages that have begun: not those whose outputs a cache has.

    """
    queued, begun = [], set()
    for task in tasks:
        with suppress(Exception):  # it is planned again, where that is an outcome
            requests, folder = plan_runs(task), task.settings.cache
            if not (folder and cache.match(task.notebook, requests[0], folder)):
                queued += [(task.notebook, request) for request in requests]
                begun.add(task.path)
    run.queue(queued)
    return begun


def plan_runs(task: Task) -> Sequence[Request]:
    """Return how a page is run, and how it is run a second time if that is asked for."""
    settings, cells = task.settings, task.page.cells
    probes, goes_on = [*settings.probes], settings.goes_on(task.page)
    if settings.packages:
        probes.append(Probe(None, injected(package_origins, *settings.packages)))
    expectations = [e for cell in cells for e in cell.expectations]
    if any(e.when for e in expectations):
        probes.append(Probe(None, injected(report_versions, *packages_named(expectations))))
    raising = {cell.index for cell in cells if cell.may_raise or goes_on}
    request = partial(_request, task, raising=raising)
    first = request(probes=probes)
    return [first, request(variables=_other_entropy().items())] if settings.twice else [first]


def _request(task: Task, variables: Iterable[tuple[str, str]] = (), **options: Any) -> Request:
    """Return how a page is run, with options of this run."""
    settings = task.settings
    return run.request_for(
        task.path.parent,
        timeout=settings.timeout,
        output_limit=settings.output_limit,
        kernel_aliases=settings.kernel_aliases,
        variables={**settings.variables, **dict(variables)},
        **options,
    )


def _other_entropy() -> dict[str, str]:
    """Return variables for a repetition: other threads, and another order of sets.

    Generators of random numbers that nobody seeds begin anew in each process.
    """
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    threads = "2" if page_environment()["OMP_NUM_THREADS"] == "1" else "1"
    return {"PYTHONHASHSEED": seed, "OMP_NUM_THREADS": threads}


def _copied(notebook: NotebookNode, execution: Execution) -> NotebookNode:
    """Return a copy to run again, without the cells from the one that failed."""
    copied = copy.deepcopy(notebook)
    if execution.failure and execution.failure.index is not None:
        for cell in copied.cells[execution.failure.index :]:
            cell.source = ""
    return copied
