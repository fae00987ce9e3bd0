"""Which pages run, are read and are written in a build.

What a program reads can't be listed: files by a subprocess, a folder, the clock, an installed
module. So running is never skipped, unless the book asks for a cache: to Sphinx, a page with an
output to check is always outdated.
"""

import multiprocessing
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ConfigError

from sphinx_drift.run import cache
from sphinx_drift.run.choice import is_ci
from sphinx_drift.run.reads import stamp_of
from sphinx_drift.run_and_judge import Task, make_task, run_ahead
from sphinx_drift.settings import Settings
from sphinx_drift.source.metadata import OF_MYST_NB, left_out_by, page_config
from sphinx_drift.source.read_source import load
from sphinx_drift.sphinx.private_api import OUTPUT_FOLDER
from sphinx_drift.sphinx.quotations import names_quoted
from sphinx_drift.sphinx.state import state_of


def find_outdated(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], _removed: set[str]
) -> Sequence[str]:
    """Have Sphinx read the pages with outputs to check; in live work, what failed or changed."""
    state = state_of(env)
    failed = {name for name, result in state.results.items() if result.failed}
    failed |= {name for name in env.found_docs & env.all_docs.keys() if _changed(app, env, name)}
    # Sphinx adds pages that changed, or a file that they read.
    runs_all = is_ci() or not app.config.drift_live
    current = cache.current(state.settings.cache) if state.settings.cache else ()
    run = {
        name
        for name, page_state in state.pages.items()
        if runs_all and page_state.seconds is not None and page_state.cache_key not in current
    }
    outdated = (run | failed) & env.found_docs
    _drop_glue(app, env.found_docs - outdated - added - changed)
    return sorted(outdated)


def _drop_glue(app: Sphinx, current: set[str]) -> None:
    """Delete what pages have glued but those that aren't read: MyST-NB keeps it for ever."""
    kept = {_glue_of(app, name) for name in current}
    for file in [*_glue_folder(app).rglob("*.glue.json")]:
        if file not in kept:
            file.unlink()


def _glue_folder(app: Sphinx) -> Path:
    """Return where MyST-NB keeps what pages glue, of all books built beside this one."""
    return Path(app.outdir).parent / str(OUTPUT_FOLDER)


def _glue_of(app: Sphinx, name: str) -> Path:
    """Return the file in which MyST-NB keeps what a page glues."""
    return _glue_folder(app) / f"{name}.glue.json"


def _changed(app: Sphinx, env: BuildEnvironment, name: str) -> bool:
    """Return whether a page, a file it includes or its glue differs from what was read or kept.

    Times are not compared with a clock, which may have been ahead: the file is as it was, or not.
    """
    page_state = state_of(env).pages[name]
    now = [_stamps(env, name), stamp_of(str(_glue_of(app, name)))]
    return [page_state.stamps, page_state.glued] != now


def _stamps(env: BuildEnvironment, name: str) -> list[list[int] | None]:
    """Return what changes with the files of a page."""
    files = [Path(env.doc2path(name)), *(env.srcdir / f for f in env.dependencies[name])]
    return [stamp_of(str(file)) for file in sorted(files)]


def is_built_alone(app: Sphinx) -> bool:
    """Whether one page of a book was chosen to be built, as by ``jupyter-book build page.md``."""
    # Jupyter Book excludes all other pages, but for those in folders that are hidden.
    others = {name for name in app.env.found_docs if not f"/{name}".count("/.")}
    return "master_doc" in app.config.overrides and others == {app.config.root_doc}


def run_pages_ahead(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Start the pages that are about to be read, those that took longest first.

    Pages of prose are read before them: libraries may still be loading.
    """
    state, config = state_of(env), app.config
    state.began = time.time_ns()
    names = [Path(env.doc2path(name)) for name in env.found_docs]
    for pattern in state.settings.require:
        if not (is_built_alone(app) or any(map(pattern.matches, names))):
            raise ConfigError(f"drift_require: no page matches {pattern.text!r}")
    of_book = {name: config[f"nb_{name}"] for name in OF_MYST_NB}
    by_time = sorted(docnames, key=lambda name: -(state.pages[name].seconds or 0.0))
    paths = [Path(env.doc2path(name)) for name in by_time]
    begun = run_ahead(_to_begin(paths, state.settings, of_book))
    docnames.sort(key=lambda name: Path(env.doc2path(name)) in begun)


def _to_begin(
    paths: Iterable[Path], settings: Settings, of_book: Mapping[str, Any]
) -> Iterator[Task]:
    """Yield the pages that are going to run."""
    for path in paths:
        with suppress(Exception):  # it is read again, where that is an outcome
            if loaded := load(path):
                task = make_task(path, *loaded, settings)
                metadata = task.notebook.metadata
                its_config = page_config(metadata, **of_book)
                if task.page.is_checked and not left_out_by(path, metadata, its_config):
                    yield task


def showing_others(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Have Sphinx write the pages that may show what cells of others printed in this build."""
    state = state_of(env)
    for name in env.all_docs:
        page_state = state.pages[name]
        if page_state.stamps is None:  # it was read in this build
            stamps, page_state.glued = _stamps(env, name), stamp_of(str(_glue_of(app, name)))
            # A page is read again if a file changed meanwhile: the reading may have it or not.
            if all(stamp and stamp[1] <= state.began for stamp in stamps):  # its ctime
                page_state.stamps = stamps
    printed: tuple[set[str], set[str]] = set(), set()  # before, and in this build
    for name, result in state.results.items():
        printed[name in state.ran].update(outcome.name for outcome in result.outcomes)
    unchanged = printed[False] - printed[True]  # what else is quoted is new, or gone
    return sorted(
        name
        for name, data in env.metadata.items()
        if data.get("drift_glued") or not names_quoted(data) <= unchanged
    )


def end_workers(_app: Sphinx, exception: Exception | None) -> None:
    """End the processes that Sphinx has forked if a build ends by an exception.

    Python waits for them when it ends, and they wait for Sphinx to take what they have read.
    """
    if exception is not None:
        for child in multiprocessing.active_children():
            child.kill()
