"""Check pages and notebooks as they stand, without a book: what the command and pytest share."""

from __future__ import annotations

import contextlib
import traceback
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sphinx_drift.compare.outcomes import Kind, Outcome, PageResult
from sphinx_drift.configuration import Project, find_project
from sphinx_drift.run import host
from sphinx_drift.run.choice import RUNNER_VARIABLE, chosen
from sphinx_drift.run_and_judge import Settings, chosen_policy, report_origins, run_and_judge
from sphinx_drift.source.read_source import Page, is_notebook, load
from sphinx_drift.source.update import Change, update_notebook, update_page

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


ENDINGS = (".md", ".ipynb")
SKIPPED = frozenset({"_build", "node_modules", "jupyter_execute", "__pycache__"})
"""Folders that hold no pages, beside those whose names begin with a dot."""


@dataclass(frozen=True)
class Checked:
    """What came of a file, and how it is to be written if that was asked for."""

    result: PageResult
    change: Change | None = None


def refuse_off() -> None:
    """Raise a `ValueError` where nothing would be run."""
    if chosen() == "off":
        raise ValueError(
            f"{RUNNER_VARIABLE}=off runs nothing, so nothing could be verified; unset it"
        )


def prepare(paths: Iterable[Path]) -> list[Project]:
    """Load what some files need once for all of them; return what their projects say."""
    paths, projects = list(paths), []
    for folder in {path.parent: None for path in paths}:
        with contextlib.suppress(ValueError):  # reported when the file is checked
            projects.append(find_project(folder))
    report_origins({name: at for each in projects for name, at in each.packages.items()})
    host.preload((projects[0] if projects else Project()).libraries(paths))
    return projects


def settings_for(path: Path, **requested: Any) -> Settings:
    """Return how a file is run and compared: as requested, or else as its project says."""
    project = find_project(path.parent)
    settings = Settings(
        None if "policy" in requested else chosen_policy(),
        project.reference,
        packages=project.packages,
        complete=project.require,
        filters=project.filters,
        allow_errors=is_notebook(path),
    )
    return replace(settings, **requested)


def has_cells(path: Path) -> bool:
    """Whether a file has anything to run, or can't be read, which its check reports."""
    try:
        loaded = load(path)
    except Exception:  # noqa: BLE001 - whatever is wrong with it
        return True
    return loaded is not None and bool(loaded[0].cells or loaded[0].problems)


def check(
    path: Path, *, named: bool, stderr: bool = False, update: bool = False, **requested: Any
) -> Checked:
    """Check one file; what goes wrong with it is an outcome of its own.

    Args:
        path: The file.
        named: Whether somebody wants this file checked, and not all that a folder holds.
        stderr: Whether what a notebook stored of stderr counts too.
        update: Whether to return how the file is to be written, too.
        **requested: Settings that come before those of the file's project.

    """
    if not path.name.lower().endswith(ENDINGS):
        message = (
            f"its name must end with {ENDINGS[0]}, as a page's, or {ENDINGS[1]}, as a notebook's"
        )
        return _failed(path, Kind.UNREADABLE, message)
    try:
        page, notebook = load(path, stderr=stderr) or (Page(), None)
        settings = settings_for(path, **requested)
    except Exception as error:  # noqa: BLE001 - one bad file must not hide the others
        return _failed(path, Kind.UNREADABLE, f"{type(error).__name__}: {error}")
    if notebook is None or not (page.cells or page.problems):
        if named:
            return _failed(path, Kind.NOTHING_CHECKED, "it has no cell")
        return Checked(PageResult(str(path)))  # a folder may hold prose
    try:
        page = settings.applied_to(page, str(path))
        result, _, judge = run_and_judge(
            page, notebook, folder=path.parent, file=str(path), settings=settings
        )
        result = _with_nothing_checked(result, named=named)
        write = update_notebook if page.stored else update_page
        return Checked(result, write(path, page, notebook, result, judge) if update else None)
    except Exception:  # noqa: BLE001 - nor must an error of ours
        return _failed(path, Kind.COULD_NOT_CHECK, traceback.format_exc(limit=-3))


def _failed(path: Path, kind: Kind, message: str) -> Checked:
    outcome = Outcome(kind, 1, message=message)
    return Checked(PageResult(str(path), (outcome,), stored=is_notebook(path)))


def _with_nothing_checked(result: PageResult, *, named: bool) -> PageResult:
    """Return a result that fails where a file is named and nothing of it is checked."""
    outcomes = result.outcomes
    if named and not any(o.kind is Kind.VERIFIED or o.kind.fails for o in outcomes):
        message = "none of its outputs is documented"
        outcomes = (*outcomes, Outcome(Kind.NOTHING_CHECKED, 1, message=message))
    elif result.stored and not named:
        # A folder may hold notebooks that only draw; that nothing at all was checked still fails.
        outcomes = tuple(o for o in outcomes if o.kind is not Kind.NOTHING_CHECKED)
    return replace(result, outcomes=outcomes)
