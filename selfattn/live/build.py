"""One build, in a process of its own, and what came of it."""

from __future__ import annotations

import io
import sys
import sysconfig
import traceback
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.application import Sphinx
from sphinx.util.console import nocolor
from sphinx.util.docutils import docutils_namespace, patch_docutils

from selfattn.runner import helpers

if TYPE_CHECKING:
    from selfattn.drift.check import PageResult

__all__ = ["build", "others"]


def build(source: str, output: str, doctrees: str, helper: str) -> dict[str, Any]:
    """Build a book as ``sphinx-build`` does, and say how it ended.

    Args:
        source: The folder with ``conf.py`` and the pages.
        output: The folder for the pages in HTML.
        doctrees: The folder for what Sphinx keeps between builds.
        helper: The address of the process that forks a child for each page; none if empty.

    Returns:
        ``failures``: what to show to the author, each with a title and a text;
        ``summary``: what was verified, in a line; ``modules``: what was imported of others.

    """
    nocolor()
    if helper:
        helpers.adopt(helper)
    warned = io.StringIO()
    results: list[PageResult] = []
    failures: list[dict[str, str]] = []
    told = ""
    try:
        with patch_docutils(source), docutils_namespace():
            app = Sphinx(source, source, output, doctrees, "html", status=None, warning=warned)
            app.build()
        results, told = _verdict(app)
    except Exception:  # noqa: BLE001 - the author's own code is part of a build
        failures.append({"title": "The build stopped", "text": _traceback()})
    warnings = warned.getvalue().replace(f"ERROR: \n{told}\n", "" if told else "ERROR: \n\n")
    failures += [failure for page in results for failure in _drifts(page)]
    if warnings.strip():
        failures.append({"title": "Sphinx warns", "text": warnings.strip()})
    summary = told.rpartition("\n\n")[2]
    return {"failures": failures, "summary": summary, "modules": others()}


def _verdict(app: Sphinx) -> tuple[list[PageResult], str]:
    """Return what came of each page, if the book is one that is verified, and the report."""
    if "selfattn.drift" not in app.extensions:
        return [], ""
    from selfattn.drift import pages, report  # noqa: PLC0415 - other books don't need it

    results = pages.all_results_of(app.env)
    return results, report.render(results)


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


def others() -> list[str]:
    """Name the modules that this process has imported and that are not the book's own."""
    homes = {Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib", "stdlib")}
    return [
        name
        for name, module in list(sys.modules.items())
        if (file := getattr(module, "__file__", None))
        and any(Path(file).is_relative_to(home) for home in homes)
        and not name.startswith("__")
        and importable(name)
    ]


def importable(name: str) -> bool:
    """Tell whether a module in sys.modules is one that an import statement has made."""
    spec = getattr(sys.modules[name], "__spec__", None)
    return spec is not None and spec.name == name and not name.endswith("__main__")
