"""Run a page and check it, for all adapters."""

from __future__ import annotations

import copy
import os
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx_drift.compare.compare import Policy
from sphinx_drift.configuration import stored_reference
from sphinx_drift.judge import compare_runs, judge_page
from sphinx_drift.model import Kind, Outcome, Page, PageResult
from sphinx_drift.output.filters import DEFAULTS
from sphinx_drift.run import run
from sphinx_drift.run.choice import page_environment
from sphinx_drift.run.injected import IN_FULL, fill_memory
from sphinx_drift.run.results import OUTPUT_LIMIT
from sphinx_drift.source.metadata import left_out_by, table_in
from sphinx_drift.source.read_source import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from nbformat import NotebookNode

    from sphinx_drift.output.filters import Filter
    from sphinx_drift.run.results import Execution, Probe, Request

POLICY_VARIABLE = "DRIFT_POLICY"


@dataclass(frozen=True)
class Settings:
    """How pages are run and compared."""

    policy: Policy | None = None
    """None: *exact* on the reference environment, *portable* elsewhere."""
    reference: Mapping[str, str] | None = None
    """The environment on which the documented values hold to the last digit; None for any CPU."""
    timeout: int | None = 300
    """Seconds that a cell may take."""
    output_limit: int = OUTPUT_LIMIT
    """Bytes that the outputs of a cell may take."""
    twice: bool = False
    """Whether to run each page again, with other entropy, threads and hashes, and compare."""
    packages: Mapping[str, Path] = field(default_factory=dict)
    """Packages that pages must import from here, each with the folder that holds it."""
    probes: tuple[Probe, ...] = field(default=(), repr=False)
    """What extensions ask the kernel of each page."""
    complete: tuple[str, ...] = ()
    """Patterns of the pages on which each output must be documented."""
    filters: tuple[Filter, ...] = ()
    """What varies, and is not compared, besides what does by itself."""
    allow_errors: bool = False
    """Whether the book or the page lets cells raise, whatever it documents of that."""
    keep_going: bool = False
    """Whether a page goes on after an error that nothing allows; it fails all the same."""
    notebooks_go_on: bool = False
    """Whether a notebook does, whatever pages do."""
    metadata_key: str = "mystnb"
    """Where a page's metadata has the settings of MyST-NB."""
    own_reference: Mapping[str, str] = field(default_factory=dict)
    """The one that a page or notebook names; its values hold on either."""

    def policy_on(self, environment: Mapping[str, str]) -> Policy:
        """Return the policy for an environment."""
        if self.policy is not None:
            return self.policy
        return Policy.EXACT if self.is_reference(environment) else Policy.PORTABLE

    def is_reference(self, environment: Mapping[str, str]) -> bool:
        """Whether an environment is the reference, as far as a page uses what that names."""
        # What a page doesn't use (torch, say) can't make its numbers differ.
        named = [each for each in (self.reference, self.own_reference) if each] or [{}]
        return any(
            all(environment.get(name, value) == value for name, value in documented.items())
            for documented in ({"device": "cpu", **each} for each in named)
        )

    def goes_on(self, page: Page) -> bool:
        """Whether a page or notebook goes on after an error."""
        is_kept_going = self.keep_going or (self.notebooks_go_on and page.stored)
        return self.allow_errors or is_kept_going

    def applied_to(self, page: Page, file: str) -> Page:
        """Return a page that has to be complete if these settings say so."""
        complete = any(map(Path(file).absolute().match, self.complete))
        return replace(page, complete=page.complete or complete)

    def request(self, folder: Path, **options: Any) -> Request:
        """Return how a page that starts in a folder is run."""
        return run.request_for(
            folder, timeout=self.timeout, output_limit=self.output_limit, **options
        )

    def of_page(self, metadata: Mapping[str, Any]) -> Settings:
        """Return the settings of a page, which may say in its metadata how it is executed.

        MyST-NB reads ``mystnb: {execution_timeout: 600}``, or by another key that the book has
        chosen; jupyter-cache reads ``execution: {timeout: 600}``, nbsphinx ``nbsphinx: {...}``.
        """
        own = {**table_in(metadata, "nbsphinx"), **table_in(metadata, "execution")}
        for name, value in table_in(metadata, self.metadata_key).items():
            own[name.removeprefix("execution_")] = value
        timeout, allow_errors = own.get("timeout"), own.get("allow_errors")
        changed: dict[str, Any] = {"own_reference": stored_reference(metadata)}
        if isinstance(timeout, int) and not isinstance(timeout, bool):
            changed["timeout"] = timeout if timeout > 0 else None
        if isinstance(allow_errors, bool):
            changed["allow_errors"] = allow_errors
        return replace(self, **changed)


def chosen_policy(configured: str = "auto", *, requested: str | None = None) -> Policy | None:
    """Return the requested policy, else that of the environment variable or the configuration.

    Raises:
        ValueError: If it is none of the policies.

    """
    variable = os.environ.get(POLICY_VARIABLE)
    name = requested or variable or configured
    if name == "auto":
        return None
    if name not in list(Policy):
        names = ", ".join(["auto", *Policy])
        origin = "--policy" if requested else POLICY_VARIABLE if variable else "drift_policy"
        raise ValueError(f"{origin} must be one of {names}; got {name!r}")
    return Policy(name)


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
    settings, page = settings.of_page(notebook.metadata), settings.applied_to(page, file)
    runs = planned(page, folder, settings)
    execution = run.execute(notebook, runs[0])
    policy = settings.policy_on(execution.environment)
    away = not settings.is_reference(execution.environment)
    filters = (*settings.filters, *DEFAULTS)
    errors_fail = settings.goes_on(page) and not settings.allow_errors
    where: dict[str, Any] = {
        "file": file,
        "away": away,
        "filters": filters,
        "errors_fail": errors_fail,
    }
    precise: NotebookNode | None = None
    result = judge_page(page, notebook, execution, **where, policy=policy)
    elsewhere = tuple(_imported_elsewhere(page, execution, settings))
    if any(map(may_be_rounding, result.outcomes)):
        precise = _copied(notebook, execution)
        in_full = [change for name, change in IN_FULL.items() if name in execution.environment]
        may_raise = range(len(precise.cells))  # as `float` does, if it reads a marked number
        run.execute(precise, settings.request(folder, may_raise=may_raise, before=in_full))
        judged = judge_page(
            page, notebook, execution, **where, policy=Policy.PORTABLE, precise=precise
        )
        outcomes = hinted(result.outcomes, judged.outcomes)
        result = judged if policy is Policy.PORTABLE else replace(result, outcomes=outcomes)
    if settings.twice and execution.failure is None:
        second = _copied(notebook, execution)
        repeated = run.execute(second, runs[1])
        unrepeatable = compare_runs(page, notebook, second, repeated, filters)
        result = replace(result, outcomes=(*result.outcomes, *unrepeatable))
    where |= {"policy": policy, "precise": precise if policy is Policy.PORTABLE else None}
    again = partial(judge_page, notebook=notebook, execution=execution, **where)
    return replace(result, outcomes=(*result.outcomes, *elsewhere)), execution, again


def report_origins(packages: Mapping[str, Path]) -> None:
    """Let pages report from where they import some packages."""
    os.environ["DRIFT_PACKAGES"] = ",".join(packages)


def _imported_elsewhere(page: Page, execution: Execution, settings: Settings) -> Iterator[Outcome]:
    """Yield an outcome for each package that was not imported from the project."""
    for name, origin in execution.origins.items():
        folder = settings.packages.get(name)
        if folder is not None and not (origin and Path(origin).parent == folder.resolve()):
            message = (
                f"expected `{name}` from {folder.resolve()}\ngot it from {origin or 'nowhere'}"
            )
            yield Outcome(Kind.ELSEWHERE, page.cells[0].line, message=message)


def begin(pages: Mapping[Path, Settings], executor: str = "") -> set[Path]:
    """Start to run pages ahead, as :func:`run_and_judge` is going to ask for them.

    Args:
        pages: How each is run, in the order in which they begin; those that have nothing to check
            are left out.
        executor: The function that returns the executor, ``module:function``; nothing for ours.

    Returns:
        The pages that have begun.

    """
    jobs, begun = [], set()
    for path, settings in pages.items():
        with suppress(Exception):  # it is read again, where that is an outcome
            page, notebook = load(path) or (Page(complete=False), None)
            # Whether a page with an execution mode of its own runs, its parser knows.
            key = settings.metadata_key
            own_mode = notebook and (
                "execution_mode" in table_in(notebook.metadata, key)
                or left_out_by(notebook.metadata, key)
            )
            if notebook and not own_mode and settings.applied_to(page, str(path)).is_checked:
                own = settings.of_page(notebook.metadata)
                jobs += [(notebook, request) for request in planned(page, path.parent, own)]
                begun.add(path)
    run.begin(jobs, executor)
    return begun


def planned(page: Page, folder: Path, settings: Settings) -> list[Request]:
    """Return how a page that starts in a folder is run, as far as it is known."""
    goes_on = settings.goes_on(page)
    may_raise = {cell.index for cell in page.cells if cell.may_raise or goes_on}
    runs = [settings.request(folder, may_raise=may_raise, probes=settings.probes)]
    if settings.twice:
        runs.append(_second_run(folder, settings, may_raise=may_raise))
    return runs


def _second_run(folder: Path, settings: Settings, **options: Any) -> Request:
    """Return how a page is run again: with other threads, orders of sets and unset memory.

    Generators of random numbers that nobody seeds begin anew in each process.
    """
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    threads = "2" if page_environment()["OMP_NUM_THREADS"] == "1" else "1"
    variables = {"PYTHONHASHSEED": seed, "OMP_NUM_THREADS": threads}
    return settings.request(folder, variables=variables, before=(fill_memory,), **options)


def _copied(notebook: NotebookNode, execution: Execution) -> NotebookNode:
    """Return a copy to run again, without the cells from the one that failed."""
    copied = copy.deepcopy(notebook)
    if execution.failure and execution.failure.index >= 0:
        for cell in copied.cells[execution.failure.index :]:
            cell.source = ""
    return copied


def hinted(exact: Iterable[Outcome], portable: Iterable[Outcome]) -> tuple[Outcome, ...]:
    """Add to each drift whether *portable* would have accepted it."""
    return tuple(
        replace(outcome, rounding=other.verdict) if outcome.kind is Kind.DRIFT else outcome
        for outcome, other in zip(exact, portable, strict=True)
    )


def may_be_rounding(outcome: Outcome) -> bool:
    """Whether an output drifted in numbers, so that full precision can explain it."""
    return outcome.kind is Kind.DRIFT and any(d.number for d in outcome.verdict.differences)
