"""What the extension keeps on Sphinx's environment between builds."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sphinx.environment import BuildEnvironment

    from sphinx_drift.compare.outcomes import PageResult
    from sphinx_drift.sphinx.rerun import Run


@dataclass
class State:
    """What is known of a book's pages, by document name."""

    results: dict[str, PageResult] = field(default_factory=dict)
    """What came of each page that has cells, or something that is never looked at."""
    runs: dict[str, Run] = field(default_factory=dict)
    """What was run of each page, and what it then showed."""
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    """The digests of the files that each page was read from."""
    untrusted: set[str] = field(default_factory=set)
    """Pages that were read from files which changed meanwhile: the next build reads them again."""
    read_at: dict[str, int] = field(default_factory=dict)
    """When the reading of each page that is being read began, in nanoseconds."""
    doctrees: dict[str, tuple[int, int]] = field(default_factory=dict)
    """When each page's doctree was written, and its size: those of an ended build are newer."""
    executed: bool = True
    """Whether the last build executed pages."""

    def forget(self, docname: str) -> None:
        """Forget a page that is gone, or about to be read again."""
        for table in (self.results, self.runs, self.texts, self.doctrees):
            table.pop(docname, None)
        self.untrusted.discard(docname)

    def merge(self, docnames: Iterable[str], other: State) -> None:
        """Take over what another process has read."""
        for docname in docnames:
            for mine, theirs in (
                (self.results, other.results),
                (self.runs, other.runs),
                (self.texts, other.texts),
            ):
                if docname in theirs:
                    mine[docname] = theirs[docname]  # type: ignore[assignment]
        self.untrusted |= other.untrusted & set(docnames)


def state_of(env: BuildEnvironment) -> State:
    """Return the state that an environment holds; a new one if it holds none."""
    if not isinstance(getattr(env, "drift_state", None), State):
        env.drift_state = State()  # type: ignore[attr-defined]
    state: State = env.drift_state  # type: ignore[attr-defined]
    return state


def results_of(env: BuildEnvironment) -> Mapping[str, PageResult]:
    """Return what came of each page that has cells, by document name, for a page that tells it."""
    return MappingProxyType(state_of(env).results)
