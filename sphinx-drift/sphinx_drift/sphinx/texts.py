"""Whether a page's text is what it was when it was read: by content, whatever the clock says.

Sphinx goes by times, so a page that is replaced by an older file (``cp -p``, ``rsync -t``) would
not be read again, nor one whose included file is.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.environment import BuildEnvironment

    from sphinx_drift.sphinx.state import State

__all__ = ["changed_texts", "note_dependencies", "note_source"]

_CHANGED_MEANWHILE = "changed while it was read"


def note_source(env: BuildEnvironment, state: State, docname: str) -> None:
    """Keep the digest of a page that is about to be read.

    It is taken before Sphinx reads the page: what is changed in between is seen by the next build.
    """
    state.texts[docname] = _digest(Path(env.doc2path(docname)))


def note_dependencies(env: BuildEnvironment, state: State, read: list[str], begun: int) -> None:
    """Add what the pages that were read depend on, such as files that they include.

    Args:
        env: The environment, after reading.
        state: Where digests are kept.
        read: The pages.
        begun: When reading began, in nanoseconds: a file that changed since is not trusted.

    """
    digests: dict[str, str] = {}
    for docname in read:
        for name in sorted(map(str, env.dependencies.get(docname, ()))):
            if name not in digests:
                path = Path(env.srcdir, name)
                late = path.exists() and path.stat().st_ctime_ns >= begun
                digests[name] = _CHANGED_MEANWHILE if late else _digest(path)
            state.texts[docname] = _joined(state.texts.get(docname, ""), name, digests[name])


def changed_texts(env: BuildEnvironment, state: State) -> set[str]:
    """Return the pages that were read from something else than what is there now."""
    digests: dict[str, str] = {}

    def digest(name: str) -> str:
        if name not in digests:
            digests[name] = _digest(Path(env.srcdir, name))
        return digests[name]

    changed = set()
    for docname in env.all_docs.keys() & env.found_docs:
        now = _digest(Path(env.doc2path(docname)))
        for name in sorted(map(str, env.dependencies.get(docname, ()))):
            now = _joined(now, name, digest(name))
        if state.texts.get(docname) != now:
            changed.add(docname)
    return changed


def _joined(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _digest(path: Path) -> str:
    """Return the digest of a file's content; nothing if it can't be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
