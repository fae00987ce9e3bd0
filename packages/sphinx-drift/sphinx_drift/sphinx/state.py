"""What the extension keeps on Sphinx's environment, for this build and the next."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx_drift.model import Outcome, Page, PageResult
from sphinx_drift.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment


@dataclass
class State:
    """What is known of a book's pages, by document name."""

    settings: Settings = field(default_factory=Settings)
    """How pages are run and compared in this build."""
    results: dict[str, PageResult] = field(default_factory=dict)
    """What came of each page that has cells, or something that is never looked at."""
    seconds: dict[str, float] = field(default_factory=dict)
    """How long each page with cells took; 0 if it was not run."""
    probed: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """What the probes of extensions returned of each page."""
    stamps: dict[str, list[list[int] | None] | None] = field(default_factory=dict)
    """The times and sizes of the files of each page, as they were when it was read."""
    ran: set[str] = field(default_factory=set)
    """Pages that have run in this build."""
    cache_keys: dict[str, str] = field(default_factory=dict)
    """The key by which jupyter-cache has the run of a page, if it has it."""
    shows_text: bool = False
    """Whether this build shows texts alone, such as a PDF's."""
    began: int = 0
    """When this build began to run pages, in microseconds, as Sphinx says when it read them."""


def state_of(env: BuildEnvironment) -> State:
    """Return the state that an environment holds; a new one if it holds none."""
    if not isinstance(getattr(env, "drift_state", None), State):
        env.drift_state = State()  # type: ignore[attr-defined]
    state: State = env.drift_state  # type: ignore[attr-defined]
    return state


def forget(_app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Forget a page that is gone or about to be read, but not how long it took."""
    state = state_of(env)
    for table in (state.results, state.probed, state.stamps, state.cache_keys):
        table.pop(docname, None)


def merge(
    _app: Sphinx, env: BuildEnvironment, docnames: Iterable[str], other: BuildEnvironment
) -> None:
    """Take over what a process that Sphinx forked has read."""
    ours, theirs = state_of(env), state_of(other)
    for name in ("results", "seconds", "probed", "cache_keys"):
        into, read = getattr(ours, name), getattr(theirs, name)
        for docname in docnames:
            into.pop(docname, None)
        into.update({docname: read[docname] for docname in docnames if docname in read})
    ours.ran |= theirs.ran


def is_complete(env: BuildEnvironment) -> bool:
    """Whether each output of the page that is being read must be documented."""
    page = Page(complete=env.metadata[env.docname].get("drift_complete", False))
    return state_of(env).settings.applied_to(page, Path(env.doc2path(env.docname))).complete


def record(env: BuildEnvironment, *outcomes: Outcome, **parts: Any) -> None:
    """Add outcomes, and what else is known, to the page that is being read."""
    results = state_of(env).results
    page = results.get(env.docname) or PageResult(file_of(env))
    results[env.docname] = replace(page, outcomes=(*page.outcomes, *outcomes), **parts)


def file_of(env: BuildEnvironment, docname: str = "") -> str:
    """Return the name of a page, the one that is being read by default, as one would type it."""
    path = Path(env.doc2path(docname or env.docname))
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
