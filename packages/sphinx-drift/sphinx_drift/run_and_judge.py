"""Run a page and check it, for all adapters."""

from __future__ import annotations

import copy
import os
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx_drift.compare.compare import Policy
from sphinx_drift.judge import compare_runs, judge_page
from sphinx_drift.model import Kind, Outcome, Page, PageResult
from sphinx_drift.output.filters import DEFAULTS
from sphinx_drift.probes import Probe, injected
from sphinx_drift.run import cache, run
from sphinx_drift.run.choice import page_environment
from sphinx_drift.run.in_full import IN_FULL
from sphinx_drift.run.injected import package_origins, report_versions
from sphinx_drift.settings import table_in
from sphinx_drift.source.metadata import left_out_by
from sphinx_drift.source.read_source import load
from sphinx_drift.source.variants import chosen, packages_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from nbformat import NotebookNode

    from sphinx_drift.run.results import Execution, Request
    from sphinx_drift.settings import Settings

_VERSIONS = Probe(None, injected(report_versions))
_ORIGINS = Probe(None, injected(package_origins))


def run_and_judge(
    page: Page, notebook: NotebookNode, *, folder: Path, file: str, settings: Settings
) -> tuple[PageResult, Execution, Callable[[Page], PageResult]]:
    """Run a page's cells and compare what they print with what it documents.

    Where a float's text differs, the page is run once more, printing full precision:
    *portable* judges by it, and *exact* says whether *portable* would have accepted.

    Args:
        page: The cells and what each must print.
        notebook: The notebook to run; its outputs become what is printed now.
        folder: Where the kernel starts.
        file: The page's name in reports.
        settings: How pages are run and compared, unless the page says something of its own.

    Returns:
        What came of it, how its cells ended, and what judges the page if it documents something
        else of the same outputs.

    """
    settings = settings.of_page(notebook.metadata, **page.own)
    page = settings.applied_to(page, Path(file))
    runs = planned(page, folder, settings)
    judge = partial(judge_run, notebook=notebook, file=file, settings=settings)
    execution = cache.find(notebook, runs[0], settings.cache) if settings.cache else None
    # Whatever fails is said of a run of now, and a second look is at the same run as the first.
    if execution is None or judge(page, execution).failed:
        execution = run.execute(notebook, runs[0])
    result = judge(page, execution)
    if any(map(may_be_rounding, result.outcomes)):
        precise = _copied(notebook, execution)
        in_full = [change for name, change in IN_FULL.items() if name in execution.environment]
        may_raise = range(len(precise.cells))  # as `float` does, if it reads a marked number
        run.execute(precise, _request(settings, folder, may_raise=may_raise, before=in_full))
        look_again = partial(judge, policy=Policy.PORTABLE, precise=precise)
        judged = look_again(page, execution)
        if result.policy is Policy.PORTABLE:
            judge, result = look_again, judged
        else:
            result = replace(result, outcomes=hinted(result.outcomes, judged.outcomes))
    if settings.twice and execution.failure is None:
        second = _copied(notebook, execution)
        repeated = run.execute(second, runs[1])
        here, filters = chosen(page, execution.versions), (*settings.filters, *DEFAULTS)
        unrepeatable = compare_runs(here, notebook, second, repeated, filters)
        result = replace(result, outcomes=(*result.outcomes, *unrepeatable))
    if settings.cache and not execution.since:
        is_right = not result.failed
        key = cache.keep(notebook, runs[0], execution, settings.cache, is_right=is_right)
        execution = replace(execution, cache_key=key)
    return result, execution, partial(judge, execution=execution)


def judge_run(  # noqa: PLR0913 - what is known of a page
    page: Page,
    execution: Execution,
    *,
    notebook: NotebookNode,
    file: str,
    settings: Settings,
    policy: Policy | None = None,
    precise: NotebookNode | None = None,
) -> PageResult:
    """Compare what a page's cells printed with what it documents here, as its settings say."""
    result = judge_page(
        chosen(page, execution.versions),
        notebook,
        execution,
        file=file,
        policy=policy or settings.policy_on(execution.environment),
        away=not settings.is_reference(execution.environment),
        precise=precise,
        filters=(*settings.filters, *DEFAULTS),
        errors_fail=settings.goes_on(page) and not settings.allow_errors,
    )
    outcomes = (*result.outcomes, *_imported_elsewhere(page, execution, settings))
    return replace(result, outcomes=outcomes, from_cache=bool(execution.since))


def _imported_elsewhere(page: Page, execution: Execution, settings: Settings) -> Iterator[Outcome]:
    """Yield an outcome for each package that was not imported from the project."""
    for name, origin in execution.origins.items():
        folder = settings.packages.get(name)
        if folder is not None and not (origin and Path(origin).parent == folder.resolve()):
            message = (
                f"expected `{name}` from {folder.resolve()}\ngot it from {origin or 'nowhere'}"
            )
            yield Outcome(Kind.ELSEWHERE, page.cells[0].line, message=message)


def run_ahead(pages: Mapping[Path, Settings]) -> set[Path]:
    """Start to run pages, as :func:`run_and_judge` is going to ask for them.

    Args:
        pages: How each is run, in the order in which they begin; those that have nothing to check
            are left out.

    Returns:
        The pages that have begun.

    """
    jobs, begun = [], set()
    for path, settings in pages.items():
        with suppress(Exception):  # it is read again, where that is an outcome
            loaded = load(path, is_mystmd=settings.is_mystmd)
            page, notebook = loaded or (Page(), None)
            # Whether a page with an execution mode of its own runs, its parser knows.
            key = settings.metadata_key
            own_mode = notebook and (
                "execution_mode" in table_in(notebook.metadata, key)
                or left_out_by(notebook.metadata, key, is_mystmd=settings.is_mystmd)
            )
            if notebook and not own_mode and settings.applied_to(page, path).is_checked:
                own = settings.of_page(notebook.metadata, **page.own)
                requests = planned(page, path.parent, own)
                if not (own.cache and cache.holds(notebook, requests[0], own.cache)):
                    jobs += [(notebook, request) for request in requests]
                    begun.add(path)
    run.queue(jobs)
    return begun


def planned(page: Page, folder: Path, settings: Settings) -> list[Request]:
    """Return how a page that starts in a folder is run, as far as it is known."""
    goes_on = settings.goes_on(page)
    may_raise = {cell.index for cell in page.cells if cell.may_raise or goes_on}
    probes, variables = settings.probes, {}
    if settings.packages:
        probes = (*probes, _ORIGINS)
        variables["DRIFT_PACKAGES"] = ",".join(settings.packages)
    expectations = [e for cell in page.cells for e in cell.expectations]
    if any(e.when for e in expectations):
        probes = (*probes, _VERSIONS)
        variables["DRIFT_VERSIONS"] = ",".join(packages_named(expectations))
    request = partial(_request, settings, folder, may_raise=may_raise)
    first = request(probes=probes, variables=variables)
    return [first, request(variables=_other_entropy())] if settings.twice else [first]


def _request(settings: Settings, folder: Path, **options: Any) -> Request:
    """Return how a page that starts in a folder is run."""
    options["variables"] = {**settings.variables, **options.get("variables", {})}
    for name in ("timeout", "output_limit", "kernel_aliases"):
        options[name] = getattr(settings, name)
    return run.request_for(folder, **options)


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


def hinted(exact: Iterable[Outcome], portable: Iterable[Outcome]) -> tuple[Outcome, ...]:
    """Add to each drift whether *portable*, which may see more, would have accepted it."""
    verdicts = {(o.cell, o.line, o.documented): o.verdict for o in portable}
    return tuple(
        replace(o, rounding=verdicts.get((o.cell, o.line, o.documented)))
        if o.kind is Kind.DRIFT
        else o
        for o in exact
    )


def may_be_rounding(outcome: Outcome) -> bool:
    """Whether an output drifted in numbers, so that full precision can explain it."""
    return outcome.kind is Kind.DRIFT and any(d.number for d in outcome.verdict.differences)
