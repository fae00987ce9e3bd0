"""One build, in a process of its own, and what came of it."""

from __future__ import annotations

import gc
import io
import os
import sys
import sysconfig
import traceback
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jinja2 import FileSystemBytecodeCache
from sphinx.util.console import nocolor
from sphinx.util.docutils import docutils_namespace, patch_docutils

from selfattn.live.early import show_early
from selfattn.live.ready import Application, Read
from selfattn.live.warm import warm_up
from selfattn.runner import helpers

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from sphinx.application import Sphinx

    from selfattn.drift.check import PageResult

__all__ = ["build", "others"]


def build(  # noqa: PLR0913 - what to build, and the two ways to who asks for it
    source: str,
    output: str,
    doctrees: str,
    helper: str,
    before: Collection[str] = (),
    *,
    word: Callable[[], list[str] | None] = lambda: None,
    tell: Callable[[dict[str, Any]], None] = lambda _: None,
) -> dict[str, Any]:
    """Build a book as ``sphinx-build`` does, and say how it ended.

    All is made ready first; then this waits for the word, which is the files that have changed
    meanwhile. It tells whether what it has read still holds, and ends the process if it doesn't.

    Args:
        source: The folder with ``conf.py`` and the pages.
        output: The folder for the pages in HTML.
        doctrees: The folder for what Sphinx keeps between builds.
        helper: The address of the process that forks a child for each page; none if empty.
        before: Names of modules that the process had imported when it was forked.
        word: Waits for the word; it is none if nothing had been read before it was given.
        tell: Called with what is known before the end.

    Returns:
        ``failures``: what to show to the author, each with a title and a text;
        ``summary``: what was verified, in a line; ``modules``: what was imported of others.

    """
    nocolor()
    gc.set_threshold(100_000, 50, 100)  # a build keeps nearly all that it makes
    if helper:
        helpers.adopt(helper)
    warned = io.StringIO()
    read = Read()

    def wait(app: Sphinx) -> None:
        _keep_templates(app)
        warm_up(app)
        read.note(_file_of(name) for name in sys.modules.keys() - set(before))
        gc.freeze()
        changed = word()
        holds = read.holds()
        if changed is not None:
            holds = holds and _are_pages(app, changed)
            tell({"holds": holds})
            if not holds:
                os._exit(0)

    results: list[PageResult] = []
    failures: list[dict[str, str]] = []
    told = ""
    try:
        with patch_docutils(source), docutils_namespace():
            places = (source, source, output, doctrees)
            app = Application(*places, "html", status=None, warning=warned, wait=wait)
            show_early(app, lambda: tell({"early": True, "failures": _known(app)}))
            app.build()
        results, told = _verdict(app)
    except Exception:  # noqa: BLE001 - the author's own code is part of a build
        failures.append({"title": "The build stopped", "text": _traceback()})
    warnings = warned.getvalue().replace(f"ERROR: \n{told}\n", "" if told else "ERROR: \n\n")
    failures += [failure for page in results for failure in _drifts(page)]
    if warnings.strip():
        failures.append({"title": "Sphinx warns", "text": warnings.strip()})
    summary = told.rpartition("\n\n")[2]
    return {"failures": failures, "summary": summary, "modules": others(before)}


def _are_pages(app: Sphinx, changed: list[str]) -> bool:
    """Tell whether files are pages that the book had before: only a build itself reads those."""
    pages = {str(app.env.doc2path(name)) for name in app.env.found_docs}
    return pages.issuperset(changed) and all(map(os.path.exists, changed))


def _keep_templates(app: Sphinx) -> None:
    """Have templates compiled once for all builds: they are known by what they hold."""
    folder = app.doctreedir / "templates"
    folder.mkdir(exist_ok=True)
    environment = getattr(getattr(app.builder, "templates", None), "environment", None)
    if environment is not None:
        environment.bytecode_cache = FileSystemBytecodeCache(str(folder))


def _verdict(app: Sphinx) -> tuple[list[PageResult], str]:
    """Return what came of each page, if the book is one that is verified, and the report."""
    if "selfattn.drift" not in app.extensions:
        return [], ""
    from selfattn.drift import pages, report  # noqa: PLC0415 - other books don't need it

    results = pages.all_results_of(app.env)
    return results, report.render(results)


def _known(app: Sphinx) -> list[dict[str, str]]:
    """Return the failures that are known as soon as pages are read."""
    return [failure for page in _verdict(app)[0] for failure in _drifts(page)]


def _drifts(page: PageResult) -> list[dict[str, str]]:
    """Return each failure of a page with its text in the report."""
    from selfattn.drift.report import render  # noqa: PLC0415 - as above

    return [
        {
            "title": f"{page.file}:{outcome.line}: {outcome.kind.label}",
            "text": render([replace(page, outcomes=(outcome,))]).rpartition("\n\n")[0],
        }
        for outcome in page.outcomes
        if outcome.kind.fails
    ]


def _traceback() -> str:
    """Return the last steps of an error that stopped the build, and what it says."""
    return traceback.format_exc(limit=-4).strip()


def others(before: Collection[str]) -> list[str]:
    """Name the modules of others that have been imported since there were those of before."""
    names = ("purelib", "platlib", "stdlib")
    homes = {os.path.realpath(sysconfig.get_path(name)) for name in names}
    within = tuple(home + os.sep for home in homes)
    return [
        name
        for name in sys.modules.keys() - set(before)
        if _file_of(name).startswith(within) and not name.endswith("__main__")
    ]


def _file_of(name: str) -> str:
    """Return where a module was imported from, if an import statement has made it."""
    spec = getattr(sys.modules[name], "__spec__", None)
    return os.path.realpath(spec.origin or "") if spec is not None and spec.name == name else ""
