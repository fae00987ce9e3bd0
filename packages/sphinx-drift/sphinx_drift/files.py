"""Check pages and notebooks as they stand, without a book: what the command and pytest share."""

import contextlib
import os
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from sphinx_drift.book import book_of
from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome, Page, PageResult
from sphinx_drift.run.host import HOST
from sphinx_drift.run.preload import libraries
from sphinx_drift.run_and_judge import Task, make_task, run_and_judge
from sphinx_drift.search import is_page
from sphinx_drift.settings import Settings, UnreadableSettings
from sphinx_drift.source.markdown import CONVERTED
from sphinx_drift.source.metadata import left_out_by, page_config
from sphinx_drift.source.prose import near_numbers
from sphinx_drift.source.read_source import is_notebook, load
from sphinx_drift.source.update import CHANGED, Change, change_for, read_exactly
from sphinx_drift.source.variants import choose_variants


@dataclass(frozen=True)
class Checked:
    """The result of a file, and how an update changes it."""

    result: PageResult
    change: Change | None = None
    notes: tuple[str, ...] = ()
    """Sentences that nearly say a number printed beside them, if asked for."""


@dataclass(frozen=True)
class Opened:
    """A file that has cells to run."""

    task: Task
    text: str
    """What it holds, with its line endings as they are."""
    read: Callable[..., tuple[Page, NotebookNode] | None]
    """Reads a future text of the file in the way the file was read."""


def has_cells(path: Path) -> bool:
    """Whether a file has anything to run, or can't be read, which its check reports."""
    file = open_file(path, named=True)
    return isinstance(file, Opened) or bool(file.result.outcomes)


def prepare(paths: Iterable[Path]) -> list[Settings]:
    """Load what some files need once for all of them; return what their books say."""
    books, of_folder = [], attrgetter("parent")
    loaded: dict[str, None] = {}
    for folder, files in groupby(sorted(paths, key=of_folder), of_folder):
        with contextlib.suppress(ValueError):  # reported when the file is opened
            books.append(book_of(folder).resolved)
            loaded |= dict.fromkeys(libraries(books[-1].preload, files))
    HOST.preload = tuple(loaded)
    return books


def open_file(
    path: Path, *, named: bool, by_mystmd: bool = False, **requested: Any
) -> Opened | Checked:
    """Read a file; return its result at once where nothing is to be run.

    Settings that can't be read are the failure of their own file, the same for each of its pages.

    Args:
        path: The file.
        named: Whether the file was named, not found in a folder.
        by_mystmd: Whether mystmd is building it, which knows best what is in its book.
        **requested: Settings that come before those of the file's project.

    """
    if not is_page(path):
        return failure(path, "its name must end with .md, as a page's, or .ipynb, as a notebook's")
    try:
        book = book_of(path.parent, by_mystmd=by_mystmd)
        if excluded := "" if named or by_mystmd else book.excludes(path):
            return Checked(PageResult(str(path), left_out=excluded if has_cells(path) else ""))
        settings = replace(book.resolved, **requested)
        of_book, is_mystmd = book.of_myst_nb if book.settings else None, settings.is_mystmd
        read = partial(load, path, of_book=of_book, is_mystmd=is_mystmd)
        text = read_exactly(path)
        page, notebook = read(text=text) or (Page(), None)
        if notebook is None or not (page.cells or page.problems):
            return Checked(PageResult(str(path)))  # prose; that nothing was checked at all fails
        config = page_config(notebook.metadata, **book.of_myst_nb)
        why = left_out_by(path.absolute(), notebook.metadata, config, is_mystmd=is_mystmd)
        if why and not named:
            return Checked(PageResult(str(path), cells=len(page.cells), left_out=why))
        opened = Opened(make_task(path, page, notebook, settings), text, read)
        return failure(path, CONVERTED) if book.converts(path) else opened
    except Exception as error:  # noqa: BLE001 - one bad file must not hide the others
        file, message = path, f"{type(error).__name__}: {error}"
        if isinstance(error, UnreadableSettings):
            file, message = error.file, error.reason
            file = file if path.is_absolute() else Path(os.path.relpath(file))
        return failure(file, message)


def check(file: Opened | Checked, *, update: bool = False, prose: bool = False) -> Checked:
    """Check one file; what goes wrong with it is an outcome, too.

    Args:
        file: The file.
        update: Whether to return how the file is to be written, too.
        prose: Whether to return which sentences nearly say a printed number, too.

    """
    if isinstance(file, Checked):
        return file
    try:
        return _check_opened(file, update=update, prose=prose)
    except Exception:  # noqa: BLE001 - nor must an error of ours
        message = traceback.format_exc(limit=-3)
        return failure(file.task.path, message, Kind.COULD_NOT_CHECK)


def _check_opened(file: Opened, *, update: bool, prose: bool) -> Checked:
    """Run and compare what was read."""
    path, page, notebook, _ = file.task
    result, execution, rejudge = run_and_judge(file.task)

    def reread(text: str) -> Page | None:
        loaded = file.read(text=text)
        return loaded and choose_variants(loaded[0], execution.versions)

    page = choose_variants(page, execution.versions)
    change = None
    if update:
        change = Change(path, file.text, refused=CHANGED)
        if read_exactly(path) == file.text:
            filters = file.task.settings.filters
            change = change_for(path, page, notebook, result, rejudge, reread, filters)
    notes = near_numbers(path, file.text, page, notebook) if prose else ()
    return Checked(result, change, tuple(notes))


def failure(path: Path, message: str, kind: Kind = Kind.UNREADABLE) -> Checked:
    """Return the result of a file that could not be compared."""
    outcome = Outcome(kind, 1, message=message)
    return Checked(PageResult(str(path), (outcome,), is_notebook=is_notebook(path)))
