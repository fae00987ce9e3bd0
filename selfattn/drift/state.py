"""What the extension keeps on Sphinx's environment between builds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sphinx.environment import BuildEnvironment

    from selfattn.drift.check import PageResult
    from selfattn.drift.rerun import Run

__all__ = ["State", "state_of"]


@dataclass
class State:
    """What is known of a book's pages, by document name."""

    results: dict[str, PageResult] = field(default_factory=dict)
    """What came of each page that has cells, or something that is never looked at."""
    runs: dict[str, Run] = field(default_factory=dict)
    """What was run of each page, and what it then showed."""
    texts: dict[str, str] = field(default_factory=dict)
    """The digest of what each page was read from."""
    doctrees: dict[str, tuple[int, int]] = field(default_factory=dict)
    """When each page's doctree was written, and its size: those of an ended build are newer."""
    executed: bool = True
    """Whether the last build executed pages."""

    def forget(self, docname: str) -> None:
        """Forget a page that is gone, or about to be read again."""
        for table in (self.results, self.runs, self.texts, self.doctrees):
            table.pop(docname, None)

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


def state_of(env: BuildEnvironment) -> State:
    """Return the state that an environment holds; a new one if it holds none."""
    if not isinstance(getattr(env, "selfattn_drift", None), State):
        env.selfattn_drift = State()  # type: ignore[attr-defined]
    state: State = env.selfattn_drift  # type: ignore[attr-defined]
    return state
