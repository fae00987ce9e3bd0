"""Which pages run, are read, and are written in a build."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_drift.run import fork_client
from sphinx_drift.run.choice import chosen
from sphinx_drift.run.fork import code_of
from sphinx_drift.run.run import begin
from sphinx_drift.run_and_judge import planned
from sphinx_drift.sphinx.builds import build_of
from sphinx_drift.sphinx.incremental import load_origins
from sphinx_drift.sphinx.private_sphinx import doctree_file
from sphinx_drift.sphinx.rerun import Fresh, digest_of, run_page
from sphinx_drift.sphinx.running import left_out, read_prose_first
from sphinx_drift.sphinx.state import state_of
from sphinx_drift.sphinx.texts import changed_texts, note_more, note_source
from sphinx_drift.sphinx.warned import load_warned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment


def find_outdated(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], _removed: set[str]
) -> Sequence[str]:
    """Run the pages that Sphinx would not read; have it read those that show something else."""
    state, build = state_of(env), build_of(env)
    executed = chosen() != "off"
    before, state.executed = state.executed, executed
    to_read = set(added | changed)
    if before != executed:
        to_read |= env.found_docs
    to_read |= changed_texts(env, state) | load_warned(app)
    # A build that was ended, or runs at the same time, has written what this one knows nothing of.
    to_read |= {n for n, known in state.doctrees.items() if _doctree(app, n) != known}
    # Where the check itself failed, nothing was run, and nobody knows why.
    failed = {name for name, page in state.results.items() if page.failed}
    to_read |= failed - state.runs.keys()
    if executed:
        unchanged = sorted(state.runs.keys() & env.found_docs - to_read)
        if app.config.drift_rerun != "always":
            build.not_run = {
                name: origin
                for name, origin in load_origins(origins_file(app)).items()
                if name in unchanged
                and origin.is_current(digest_of(state.runs[name].notebook, build.surroundings))
            }
        to_run = [name for name in unchanged if name not in build.not_run]
        _begin_all(env, to_run, sorted(to_read & env.found_docs))
        to_read.update(_differing(app, env, to_run))
        to_read |= changed_texts(env, state)  # by what has just been run: pictures, included files
    return sorted(to_read & env.found_docs)


def origins_file(app: Sphinx) -> Path:
    """Return where it is kept what pages depend on."""
    return Path(app.doctreedir, "drift-origins.json")


def _begin_all(env: BuildEnvironment, to_run: list[str], to_read: list[str]) -> None:
    """Have pages begin: those that are run alone, and those that are going to be read."""
    build, runs = build_of(env), state_of(env).runs
    settings = {
        Path(env.doc2path(name)): build.settings.of_page(runs[name].notebook.metadata)
        for name in to_run
    }
    known = {
        path: [code for _, code in code_of(runs[name].notebook)]
        for path, name in zip(settings, to_run, strict=True)
    }
    mode, patterns = env.config.nb_execution_mode, env.config.nb_execution_excludepatterns
    paths = [Path(env.doc2path(name)) for name in to_read]
    build.begun = begin(
        [path for path in paths if not left_out(path, mode, patterns)],
        lambda page, cells: planned(page.parent, settings.get(page, build.settings), cells),
        known=known,
    )


_FETCHED_AT_ONCE = 8


def _differing(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> list[str]:
    """Run pages whose text is what it was, and return those that now show something else."""
    state, build = state_of(env), build_of(env)

    def run(docname: str) -> Fresh:
        known = state.runs[docname]
        return run_page(env, docname, known.page, copy.deepcopy(known.notebook))

    # Forked pages run already, on all cores as long as somebody waits for each that is over. A
    # kernel is started for each page that is asked for.
    at_once = _FETCHED_AT_ONCE if build.begun else max(1, app.parallel)
    with ThreadPoolExecutor(at_once) as pool:
        try:
            build.fresh.update(zip(docnames, pool.map(run, docnames), strict=True))
        except KeyboardInterrupt:
            fork_client.give_up()  # the pool would wait for pages to come to their end
            raise
    differing = []
    for docname in docnames:
        fresh = build.fresh[docname]
        same = fresh.run.shown == state.runs[docname].shown
        if same and fresh.result == state.results.get(docname):
            state.results[docname], state.runs[docname] = fresh.result, fresh.run
        else:
            differing.append(docname)
    return differing


def note_order(_app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Note which pages are read, and read first those that need no outputs."""
    build = build_of(env)
    build.read = [*docnames]
    read_prose_first(env, docnames, build.begun)


def forget(_app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Forget a page that is gone or about to be read, as Sphinx asks (`env-purge-doc`)."""
    state = state_of(env)
    state.forget(docname)
    if docname in env.found_docs:
        note_source(env, state, docname)


def merge(
    _app: Sphinx, env: BuildEnvironment, docnames: Sequence[str], other: BuildEnvironment
) -> None:
    """Take over what a process that Sphinx forked has read (`env-merge-info`)."""
    state_of(env).merge(docnames, state_of(other))


def _doctree(app: Sphinx, docname: str) -> tuple[int, int]:
    """Return when the doctree of a page was written, and its size."""
    try:
        status = doctree_file(app, docname).stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def note_read(app: Sphinx, env: BuildEnvironment) -> None:
    """Keep what the pages were read from, and that their doctrees are of this build."""
    build = build_of(env)
    state_of(env).doctrees.update({name: _doctree(app, name) for name in build.read})
    build.fresh.clear()
    note_more(env, state_of(env), build.read)
