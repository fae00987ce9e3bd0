"""Check pages and notebooks as they stand, without a book: what the command and pytest share."""

from __future__ import annotations

import contextlib
import traceback
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sphinx_drift.book import EXCLUDING, book_of, left_out
from sphinx_drift.model import Kind, Outcome, Page, PageResult
from sphinx_drift.patterns import EVERY_PAGE
from sphinx_drift.report.summary import count
from sphinx_drift.run.host import HOST
from sphinx_drift.run.preload import libraries
from sphinx_drift.run_and_judge import report_origins, run_and_judge
from sphinx_drift.settings import Settings
from sphinx_drift.source.metadata import left_out_by
from sphinx_drift.source.mystmd import why_not_run
from sphinx_drift.source.read_source import is_notebook, load
from sphinx_drift.source.update import Change, update_notebook, update_page
from sphinx_drift.source.variants import chosen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from nbformat import NotebookNode


ENDINGS = (".md", ".ipynb")
_BUILT = ("_build", "jupyter_execute")
"""Folders that hold what was made of pages."""
_HIDDEN = (".*", "node_modules", "__pycache__")
"""What holds no pages, unless it is a book's."""


@dataclass(frozen=True)
class Checked:
    """What came of a file, and how it is to be written if that was asked for."""

    result: PageResult
    change: Change | None = None


def is_searched(path: Path, hidden: Iterable[str] = ()) -> bool:
    """Whether a path is looked at: one that is hidden, by more names too, if a book builds it."""
    if path.name in _BUILT or (path / "pyvenv.cfg").is_file():
        return False
    if not any(map(path.match, (*_HIDDEN, *hidden))):
        return True
    with contextlib.suppress(ValueError):  # reported when a file is checked
        book = book_of(path.parent)
        return bool(book.settings) and book.excludes(path) not in EXCLUDING
    return False


def prepare(paths: Iterable[Path]) -> list[Settings]:
    """Load what some files need once for all of them; return what their books say."""
    paths, books = list(paths), []
    for folder in {path.parent: None for path in paths}:
        with contextlib.suppress(ValueError):  # reported when the file is checked
            books.append(book_of(folder).resolved)
    report_origins({name: at for each in books for name, at in each.packages.items()})
    HOST.preload = libraries(books[0].preload if books else None, paths)
    return books


def settings_for(path: Path, **requested: Any) -> Settings:
    """Return how a file is run and compared: as requested, or else as its project says."""
    return replace(book_of(path.parent).resolved, notebooks_go_on=True, **requested)


def ahead(paths: Iterable[Path], named: Sequence[Path], **requested: Any) -> dict[Path, Settings]:
    """Return how the files are run that are begun ahead, whether they document anything or not."""
    settings = {}
    for path in paths:
        with contextlib.suppress(ValueError):  # reported when the file is checked
            book = book_of(path.parent)
            if path in named or not (book.excludes(path) or _left_out(path, book.settings, {})):
                settings[path] = settings_for(path, **{**requested, "require": EVERY_PAGE})
    return settings


def unread(path: Path) -> str | None:
    """Return the setting by which a page isn't read; nothing if it is, None if it is no page."""
    with contextlib.suppress(ValueError):  # reported when a page is checked
        suffixes = book_of(path.parent).suffixes
        if ending := max(filter(path.name.endswith, suffixes), key=len, default=""):
            return suffixes[ending]
    return "" if path.name.lower().endswith(ENDINGS) else None


def has_cells(path: Path) -> bool:
    """Whether a file has anything to run, or can't be read, which its check reports."""
    try:
        loaded = load(path, is_mystmd=book_of(path.parent).resolved.is_mystmd)
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
    setting = unread(path)
    if setting is None or (setting and named):
        message = (
            f"its name must end with {ENDINGS[0]}, as a page's, or {ENDINGS[1]}, as a notebook's"
            if setting is None
            else f"by {setting} another library reads it, so it can document no output"
        )
        return _failed(path, Kind.UNREADABLE, message)
    try:
        excluded = "" if named else setting or book_of(path.parent).excludes(path)
        book = book_of(path.parent).settings
        shown = not str(book.get("nb_output_stderr", "show")).startswith("remove")
        seen = stderr if is_notebook(path) else shown
        key = book.get("nb_metadata_key") or Settings.metadata_key
        settings = settings_for(path, **requested)
        is_mystmd = settings.is_mystmd
        loaded = None if excluded else load(path, stderr=seen, key=key, is_mystmd=is_mystmd)
        page, notebook = loaded or (Page(), None)
    except Exception as error:  # noqa: BLE001 - one bad file must not hide the others
        return _failed(path, Kind.UNREADABLE, f"{type(error).__name__}: {error}")
    if notebook is None or not (page.cells or page.problems):
        # It may be prose; that nothing at all was checked still fails.
        left = excluded if excluded and (setting or has_cells(path)) else ""
        return Checked(PageResult(str(path), left_out=left))
    if why := "" if named else _left_out(path, book, notebook.metadata, is_mystmd=is_mystmd):
        return Checked(PageResult(str(path), cells=len(page.cells), left_out=why))
    try:
        return _run(path, page, notebook, settings, named=named, update=update)
    except Exception:  # noqa: BLE001 - nor must an error of ours
        return _failed(path, Kind.COULD_NOT_CHECK, traceback.format_exc(limit=-3))


def _run(  # noqa: PLR0913 - what was read, and what is wanted of it
    path: Path, page: Page, notebook: NotebookNode, settings: Settings, *, named: bool, update: bool
) -> Checked:
    """Run and compare what was read."""
    page = settings.applied_to(page, path)
    result, execution, judge = run_and_judge(
        page, notebook, folder=path.parent, file=str(path), settings=settings
    )
    if not named and page.stored:
        # A folder may hold notebooks that only draw; that nothing at all was checked still fails.
        outcomes = tuple(o for o in result.outcomes if o.kind is not Kind.NOTHING_CHECKED)
        result = replace(result, outcomes=outcomes)
    elif named and count([result]).is_nothing:
        nothing = Outcome(Kind.NOTHING_CHECKED, 1, message="none of its outputs is documented")
        result = replace(result, outcomes=(*result.outcomes, nothing))
    if not update:
        return Checked(result)
    key, is_mystmd = settings.metadata_key, settings.is_mystmd
    choose = partial(chosen, here=execution.versions)
    write = update_notebook if page.stored else partial(update_page, choose=choose)
    change = write(path, page, notebook, result, judge, key=key, is_mystmd=is_mystmd)
    return Checked(result, change)


def _left_out(
    path: Path, book: Mapping[str, Any], metadata: Mapping[str, Any], *, is_mystmd: bool = False
) -> str:
    """Return the setting by which a page or its book has it not run; nothing if it runs."""
    key = book.get("nb_metadata_key") or Settings.metadata_key
    if own := left_out_by(metadata, key):
        return own
    if is_mystmd and (own := why_not_run(metadata)):
        return own
    patterns = book.get("nb_execution_excludepatterns") or ()
    return left_out(path.absolute(), book.get("nb_execution_mode", ""), patterns)


def left_out_here(path: Path, metadata: Mapping[str, Any]) -> str:
    """Return the setting by which a page or its book has it not run; nothing if it runs."""
    book = book_of(path.parent)
    is_mystmd = book.resolved.is_mystmd
    return book.excludes(path) or _left_out(path, book.settings, metadata, is_mystmd=is_mystmd)


def _failed(path: Path, kind: Kind, message: str) -> Checked:
    outcome = Outcome(kind, 1, message=message)
    return Checked(PageResult(str(path), (outcome,), stored=is_notebook(path)))
