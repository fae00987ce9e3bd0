"""Check pages and notebooks as they stand, without a book: what the command and pytest share."""

from __future__ import annotations

import contextlib
import traceback
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sphinx_drift.book import book_of, left_out
from sphinx_drift.model import Kind, Outcome, Page, PageResult
from sphinx_drift.patterns import EVERY_PAGE
from sphinx_drift.run.host import HOST
from sphinx_drift.run.preload import libraries
from sphinx_drift.run_and_judge import run_and_judge
from sphinx_drift.source.markdown import NEVER_RUN
from sphinx_drift.source.metadata import left_out_by
from sphinx_drift.source.prose import near_numbers
from sphinx_drift.source.read_source import is_notebook, load
from sphinx_drift.source.update import change_for
from sphinx_drift.source.variants import chosen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from nbformat import NotebookNode

    from sphinx_drift.book import Book
    from sphinx_drift.settings import Settings
    from sphinx_drift.source.update import Change


_ENDINGS = (".md", ".ipynb")
_UNSEARCHED = (".*", "node_modules", "__pycache__", "_build", "jupyter_execute")
"""Files and folders in which nobody writes pages."""


@dataclass(frozen=True)
class Checked:
    """The result of a file, and how an update changes it."""

    result: PageResult
    change: Change | None = None
    notes: tuple[str, ...] = ()
    """The sentences that nearly say a number that is printed beside them, if that was asked for."""


def is_searched(path: Path) -> bool:
    """Whether a path is looked at: none that is hidden, or holds built pages or an environment."""
    return not (any(map(path.match, _UNSEARCHED)) or (path / "pyvenv.cfg").is_file())


def prepare(paths: Iterable[Path]) -> list[Settings]:
    """Load what some files need once for all of them; return what their books say."""
    paths, books = list(paths), []
    for folder in {path.parent: None for path in paths}:
        with contextlib.suppress(ValueError):  # reported when the file is checked
            books.append(book_of(folder).resolved)
    HOST.preload = libraries(books[0].preload if books else None, paths)
    return books


def settings_for(path: Path, **requested: Any) -> Settings:
    """Return how a file is run and compared: as requested, or else as its project says."""
    return replace(book_of(path.parent).resolved, notebooks_go_on=True, **requested)


def settings_by_path(
    paths: Iterable[Path], named: Sequence[Path], **requested: Any
) -> dict[Path, Settings]:
    """Return how the files are run that may begin ahead: those that no book leaves out.

    They run whether they document anything or not, as if each had to be complete.
    """
    settings = {}
    for path in paths:
        with contextlib.suppress(ValueError):  # reported when the file is checked
            book = book_of(path.parent)
            if path in named or not (book.excludes(path) or _left_out_of_book(path, book)):
                settings[path] = settings_for(path, **{**requested, "require": EVERY_PAGE})
    return settings


def is_page(path: Path) -> bool:
    """Whether a file is a page or a notebook, by its name."""
    return path.suffix.lower() in _ENDINGS


def has_cells(path: Path) -> bool:
    """Whether a file has anything to run, or can't be read, which its check reports."""
    file = opened(path, named=True)
    return isinstance(file, Opened) or bool(file.result.outcomes)


@dataclass(frozen=True)
class Opened:
    """A file that has cells to run."""

    page: Page
    notebook: NotebookNode
    settings: Settings
    read: Callable[..., tuple[Page, NotebookNode] | None]
    """Reads a file, or a text that it is going to hold, as this one was read."""


def opened(path: Path, *, named: bool, **requested: Any) -> Opened | Checked:
    """Read a file; return its result at once where nothing is to be run.

    Args:
        path: The file.
        named: Whether somebody wants this file checked, and not all that a folder holds.
        **requested: Settings that come before those of the file's project.

    """
    if not is_page(path):
        return failed(path, "its name must end with .md, as a page's, or .ipynb, as a notebook's")
    try:
        book = book_of(path.parent)
        if excluded := "" if named else book.excludes(path):
            return Checked(PageResult(str(path), left_out=excluded if has_cells(path) else ""))
        shown = not str(book.settings.get("nb_output_stderr", "show")).startswith("remove")
        settings = settings_for(path, **requested)
        key, is_mystmd = settings.metadata_key, settings.is_mystmd
        read = partial(load, path, stderr=shown, key=key, is_mystmd=is_mystmd)
        page, notebook = read() or (Page(), None)
        why = ""
        if notebook and not named:
            own = left_out_by(notebook.metadata, key, is_mystmd=is_mystmd)
            why = own or _left_out_of_book(path, book)
    except Exception as error:  # noqa: BLE001 - one bad file must not hide the others
        return failed(path, f"{type(error).__name__}: {error}")
    if notebook is None or not (page.cells or page.problems):
        return Checked(PageResult(str(path)))  # prose; that nothing at all was checked still fails
    if why:
        return Checked(PageResult(str(path), cells=len(page.cells), left_out=why))
    return Opened(settings.applied_to(page, path), notebook, settings, read)


def check(
    path: Path, *, named: bool, update: bool = False, prose: bool = False, **options: Any
) -> Checked:
    """Check one file; what goes wrong with it is an outcome of its own.

    Args:
        path: The file.
        named: Whether somebody wants this file checked, and not all that a folder holds.
        update: Whether to return how the file is to be written, too.
        prose: Whether to return which sentences nearly say a printed number, too.
        **options: Those of `opened`.

    """
    file = opened(path, named=named, **options)
    if isinstance(file, Checked):
        return file
    try:
        return _run(path, file, named=named, updates=update, prose=prose)
    except Exception:  # noqa: BLE001 - nor must an error of ours
        return failed(path, traceback.format_exc(limit=-3), Kind.COULD_NOT_CHECK)


def _run(path: Path, file: Opened, *, named: bool, updates: bool, prose: bool) -> Checked:
    """Run and compare what was read."""
    page, notebook = file.page, file.notebook
    if not page.complete:  # of a nested cell a build only warns, by MyST-NB
        problems = [
            replace(problem, kind=Kind.UNCHECKED) if problem.message == NEVER_RUN else problem
            for problem in page.problems
        ]
        page = replace(page, problems=tuple(problems))
    result, execution, judge = run_and_judge(
        page, notebook, folder=path.parent, file=str(path), settings=file.settings
    )
    if not named and page.is_notebook:
        # A folder may hold notebooks that only draw; that nothing at all was checked still fails.
        outcomes = tuple(o for o in result.outcomes if o.kind is not Kind.NOTHING_CHECKED)
        result = replace(result, outcomes=outcomes)

    def reread(text: str) -> Page | None:
        loaded = file.read(text=text)
        return loaded and chosen(loaded[0], execution.versions)

    page = chosen(page, execution.versions)
    change = None
    if updates:
        filters = file.settings.of_page(notebook.metadata, **page.own).filters
        change = change_for(path, page, notebook, result, judge, reread, filters)
    notes = near_numbers(path, path.read_text("utf-8"), page, notebook) if prose else ()
    return Checked(result, change, tuple(notes))


def _left_out_of_book(path: Path, book: Book) -> str:
    """Return the setting by which a book has a page not run, whatever the page says."""
    mode, patterns = (
        book.settings.get(f"nb_execution_{name}") or "" for name in ("mode", "excludepatterns")
    )
    return left_out(path.absolute(), mode, patterns)


def failed(path: Path, message: str, kind: Kind = Kind.UNREADABLE) -> Checked:
    """Return the result of a file on which nothing could be compared."""
    outcome = Outcome(kind, 1, message=message)
    return Checked(PageResult(str(path), (outcome,), is_notebook=is_notebook(path)))
