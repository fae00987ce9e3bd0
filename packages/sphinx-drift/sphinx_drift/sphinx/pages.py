"""Which pages run, are read and are written in a build.

What a program reads can't be listed: files by a subprocess, a folder, the clock, an installed
module. So running is never skipped: to Sphinx, a page with cells is always outdated.
"""

from __future__ import annotations

import multiprocessing
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.errors import ConfigError

from sphinx_drift.book import left_out
from sphinx_drift.run.choice import is_ci
from sphinx_drift.run_and_judge import begin
from sphinx_drift.sphinx.private_api import OUTPUT_FOLDER
from sphinx_drift.sphinx.state import state_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment


def find_outdated(app: Sphinx, env: BuildEnvironment, *_: set[str]) -> Sequence[str]:
    """Have Sphinx read the pages that have cells; in live work, those that failed or changed."""
    state = state_of(env)
    failed = {name for name, page in state.results.items() if page.failed}
    failed |= {name for name in env.found_docs & env.all_docs.keys() if _replaced(env, name)}
    # Sphinx adds pages that changed, or a module that they imported.
    every = () if state.settings.live and not is_ci() else state.seconds
    return sorted({*every, *failed} & env.found_docs)


def _replaced(env: BuildEnvironment, name: str) -> bool:
    """Return whether a page or a file it includes was replaced after it was read.

    The file that replaced it may be older.
    """
    read = env.all_docs[name]
    try:
        files = [Path(env.doc2path(name)), *(env.srcdir / f for f in env.dependencies[name])]
        return any(file.stat().st_ctime_ns // 1000 > read for file in files)
    except OSError:
        return False


def begin_pages(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Have the pages run that are about to be read, those that took longest first.

    Pages of prose are read before them: libraries may still be loading.
    """
    state, config = state_of(env), app.config
    state.began = time.time_ns() // 1000
    names = [Path(env.doc2path(name)) for name in env.found_docs]
    for pattern in state.settings.require:
        if not any(map(pattern.matches, names)):
            raise ConfigError(f"drift_require: no page matches {pattern.text!r}")
    mode, patterns = config.nb_execution_mode, config.nb_execution_excludepatterns
    by_time = sorted(docnames, key=lambda name: -state.seconds.get(name, 0.0))
    paths = [Path(env.doc2path(name)) for name in by_time]
    sure = [path for path in paths if not left_out(path, mode, patterns)]
    try:
        begun = begin(dict.fromkeys(sure, state.settings), state.settings.executor)
    except ValueError as error:
        raise ConfigError(f"drift_executor: {error}") from None
    docnames.sort(key=lambda name: Path(env.doc2path(name)) in begun)


def forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Forget a page that is gone or about to be read, as Sphinx asks (`env-purge-doc`)."""
    state_of(env).forget(docname)
    # Others would still show it: MyST-NB writes this file anew only if something is glued.
    glued = Path(app.outdir).parent / OUTPUT_FOLDER / f"{docname}.glue.json"
    glued.unlink(missing_ok=True)


def merge(
    _app: Sphinx, env: BuildEnvironment, docnames: Sequence[str], other: BuildEnvironment
) -> None:
    """Take over what a process that Sphinx forked has read (`env-merge-info`)."""
    state_of(env).merge(docnames, state_of(other))


def showing_others(_app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Have Sphinx write the pages that show what cells of others printed in this build."""
    state = state_of(env)
    for name, read in env.all_docs.items():  # what is saved while a page runs came too late for it
        env.all_docs[name] = min(read, state.began)
    if any("drift_glued_title" in env.metadata[name] for name in state.ran):
        return sorted(env.found_docs)  # a link or a table of contents shows it on any of them
    ran = [page for name, page in state.results.items() if name in state.ran]
    printed = {outcome.name for page in ran for outcome in page.outcomes}
    shown = {
        name: {re.split(r"[\[#\s]", target)[0] for target, _ in data.get("drift_quotations", ())}
        for name, data in env.metadata.items()
    }
    glued = {name for name, data in env.metadata.items() if "drift_glued" in data}
    return sorted(glued | {name for name, names in shown.items() if names & printed})


def end_workers(_app: Sphinx, exception: Exception | None) -> None:
    """End the processes that Sphinx has forked if a build ends by an exception.

    Python waits for them when it ends, and they wait for somebody to take what they have read.
    """
    if exception is not None:
        for child in multiprocessing.active_children():
            child.kill()
