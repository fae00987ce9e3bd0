"""What each page was read from: by content, whatever the clock says.

Sphinx goes by times, so a page that is replaced by an older file (``cp -p``, ``rsync -t``) would
not be read again, nor one whose included file is.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_drift.sphinx.files import content_digest
from sphinx_drift.sphinx.state import state_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from sphinx_drift.sphinx.state import State

_CLOCK = 20_000_000
"""Nanoseconds by which the time of a file may be behind the clock."""


def note_source(env: BuildEnvironment, state: State, docname: str) -> None:
    """Keep the digest of a page that is about to be read.

    It is taken before Sphinx reads the page: what is changed in between is seen by the next build.
    """
    source = str(env.doc2path(docname))
    state.texts[docname] = {source: content_digest(Path(source))}
    state.read_at[docname] = time.time_ns()


def note_dependencies(app: Sphinx, _doctree: nodes.document) -> None:
    """Add what the page that has just been read depends on, such as files that it includes.

    One that was written while the page was read, by its own cells perhaps, is noted as it is now,
    but not trusted: the next build reads the page again.
    """
    env, state, docname = app.env, state_of(app.env), app.env.docname
    started = state.read_at.pop(docname, 0) - _CLOCK
    paths = {name: Path(env.srcdir, name) for name in _names(env, docname)}
    texts = state.texts.setdefault(docname, {})
    texts.update({name: content_digest(path) for name, path in paths.items() if name not in texts})
    if any(path.exists() and path.stat().st_ctime_ns >= started for path in paths.values()):
        state.untrusted.add(docname)


def changed_texts(env: BuildEnvironment, state: State) -> set[str]:
    """Return the pages that are not known to be read from what is there now."""
    docnames = env.all_docs.keys() & env.found_docs
    unknown = {n for n in docnames if _names(env, n) != state.texts.get(n, {}).keys()}
    return unknown | state.untrusted & docnames | late_texts(env, state).keys()


def note_more(env: BuildEnvironment, state: State, docnames: Iterable[str]) -> None:
    """Add what is known to depend on something only when all pages have been read."""
    state.read_at.clear()
    for docname in docnames:
        texts = state.texts.setdefault(docname, {})
        names = _names(env, docname) - texts.keys()
        texts.update({name: content_digest(Path(env.srcdir, name)) for name in names})


def late_texts(env: BuildEnvironment, state: State) -> dict[str, list[str]]:
    """Return the pages whose texts are other ones than when they were read, and which texts."""
    now: dict[str, str] = {}
    late: dict[str, list[str]] = {}
    for docname in env.all_docs.keys() & env.found_docs:
        for name, before in state.texts.get(docname, {}).items():
            if name not in now:
                now[name] = content_digest(Path(env.srcdir, name))
            if now[name] != before:
                late.setdefault(docname, []).append(str(Path(env.srcdir, name)))
    return late


def _names(env: BuildEnvironment, docname: str) -> set[str]:
    return {str(env.doc2path(docname)), *map(str, env.dependencies.get(docname, ()))}
