"""One build, in a process of its own, and what came of it."""

from __future__ import annotations

import gc
import io
import os
import sys
import sysconfig
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.application import ENV_PICKLE_FILENAME
from sphinx.util.console import nocolor
from sphinx.util.docutils import docutils_namespace, patch_docutils

from sphinx_drift.live.first_page import show_first
from sphinx_drift.live.standby import Application, ReadFiles
from sphinx_drift.live.warm_up import warm_up
from sphinx_drift.live.watch import state_of
from sphinx_drift.report.text import closing_line, entry
from sphinx_drift.run import fork_client
from sphinx_drift.run.choice import chosen
from sphinx_drift.sphinx.private_sphinx import silence

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from sphinx_drift.compare.outcomes import PageResult


def build(  # noqa: PLR0913, PLR0917 - what to build, and the two ways to who asks for it
    source: str,
    output: str,
    doctrees: str,
    fork_server: str,
    preload: Sequence[str],
    rerun: str,
    before: Collection[str],
    *,
    wait: Callable[[], list[str] | None],
    send: Callable[[dict[str, Any]], None],
) -> dict[str, Any]:
    """Build a book as ``sphinx-build`` does, and return a report.

    All is prepared first; then this waits until it is told which files have changed meanwhile. It
    sends whether what it has read is still current, and ends the process if it isn't. A build that
    runs every page (``rerun`` is ``always``) waits once more before it writes anything: it may be
    ended until then.

    Returns:
        ``failures``: what to show to the author, each with a title and a text;
        ``summary``: what was verified, in a line; ``modules``: what was imported of others;
        ``begun``: when it was told to go on; ``runs``: when each page last ran, if all can be run
        again by another build; ``is_complete``: whether all have run in this one;
        ``has_written``: whether what Sphinx keeps has changed.

    """
    nocolor()
    gc.set_threshold(100_000, 50, 100)  # a build keeps nearly all that it makes
    fork_client.adopt(fork_server, preload)
    warned = io.StringIO()
    read_files = ReadFiles()
    environment_file = Path(doctrees, ENV_PICKLE_FILENAME)
    report: dict[str, Any] = {
        "begun": time.time(),
        "failures": [],
        "summary": "",
        "is_complete": False,
    }
    state = state_of(environment_file)

    def stand_by(app: Sphinx) -> None:
        nonlocal state
        warm_up(app)
        read_files.note(_file_of(name) for name in sys.modules.keys() - set(before))
        gc.freeze()  # the copy that shows the saved page first shares it
        send({"is_ready": True})
        changed = wait()
        report["begun"] = time.time()
        state = state_of(environment_file)
        is_current = read_files.is_current()
        if changed is not None:
            is_current = is_current and _are_pages(app, changed)
            send({"is_current": is_current})
            if not is_current:
                os._exit(0)

    def announce_writing(*_: object) -> None:
        send({"is_writing": True})
        wait()

    def begin(app: Sphinx) -> None:
        app.connect("env-get-outdated", _remove_pages)
        if rerun == "always":
            app.connect("env-before-read-docs", announce_writing, priority=-sys.maxsize)
        else:
            early = {"is_early": True, "is_complete": False}
            show_first(app, lambda: send({**report, **_known(app), **early}))
        app.build()

    try:
        with patch_docutils(source), docutils_namespace():
            places = (source, source, output, doctrees)
            app = Application(
                *places, "html", status=None, warning=warned, wait=stand_by, rerun=rerun
            )
            # The report has the verdict already, apart from what Sphinx warns of. Not before:
            # Sphinx enables a logger when the module that has it is imported.
            silence("sphinx_drift.sphinx.verdict")
            begin(app)
        report |= _known(app)
    except Exception:  # noqa: BLE001 - the author's own code is part of a build
        text = traceback.format_exc(limit=-4).strip()
        report["failures"] = [{"title": "The build stopped", "text": text}]
    if log := warned.getvalue().strip():
        report["failures"] += [{"title": "Sphinx warns", "text": log}]
    return report | {
        "modules": imported_since(before),
        "has_written": state_of(environment_file) != state,
    }


def _remove_pages(
    app: Sphinx, _env: BuildEnvironment, _added: object, _changed: object, removed: set[str]
) -> list[str]:
    """Remove the pages whose sources are gone: Sphinx leaves them, and they would be served."""
    builder: Any = app.builder
    for docname in removed:
        Path(builder.get_output_path(docname)).unlink(missing_ok=True)
    return []  # no page is outdated by this


def _are_pages(app: Sphinx, changed: list[str]) -> bool:
    """Return whether files are pages that the book had before: only a build itself reads those."""
    pages = {str(app.env.doc2path(name)) for name in app.env.found_docs}
    return pages.issuperset(changed) and all(map(os.path.exists, changed))


def _known(app: Sphinx) -> dict[str, Any]:
    """Return what is known of a book's pages once they are read: nothing if it isn't verified."""
    if "sphinx_drift" not in app.extensions:
        return {"runs": None, "is_complete": True}
    from sphinx_drift.sphinx.private_myst import execution_data  # noqa: PLC0415 - other books need none
    from sphinx_drift.sphinx.state import results_of  # noqa: PLC0415 - as above
    from sphinx_drift.sphinx.verdict import all_results_of  # noqa: PLC0415 - as above

    results = all_results_of(app.env)
    runs = {
        app.builder.get_target_uri(docname): float(execution_data(app.env, docname).get("mtime", 0))
        for docname, page in results_of(app.env).items()
        if page.cells
    }
    return {
        "failures": [failure for page in results for failure in _drifts(page)],
        "summary": closing_line(results),
        "runs": None if chosen() == "off" else runs,  # by another build they can't be run either
        "is_complete": all(page.was_run for page in results),
    }


def _drifts(page: PageResult) -> list[dict[str, str]]:
    """Return each failure of a page with its text in the report."""
    return [
        {
            "title": f"{page.file}:{outcome.line}: {outcome.kind.label}",
            "text": entry(page, outcome),
        }
        for outcome in page.outcomes
        if outcome.kind.fails
    ]


def imported_since(before: Collection[str]) -> list[str]:
    """Return the names of other people's modules that have been imported since ``before``."""
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
