"""What the extension keeps on Sphinx's environment, for this build and the next."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from sphinx_drift.model import Outcome, Page, PageResult
from sphinx_drift.patterns import inside
from sphinx_drift.settings import Settings


@dataclass
class PageState:
    """What is known of one page."""

    result: PageResult | None = None
    """Its outcomes; None if it has no cells, and nothing that is never looked at."""
    seconds: float | None = None
    """How long its cells took, 0 if they were not run; None if it has none to check."""
    probed: Mapping[str, Any] = field(default_factory=dict)
    """What the probes of extensions returned."""
    cache_key: str = ""
    """The key of its run in jupyter-cache, if it is there."""
    stamps: list[list[int] | None] | None = None
    """The stamps of its files when it was read; None if they changed meanwhile."""
    glued: list[int] | None = None
    """The stamp of what it glued for other pages; None if nothing."""


@dataclass
class State:
    """What is known of a book."""

    settings: Settings = field(default_factory=Settings)
    """How pages are run and compared in this build."""
    pages: defaultdict[str, PageState] = field(default_factory=lambda: defaultdict(PageState))
    """What is known of each page, by document name."""
    ran: set[str] = field(default_factory=set)
    """The pages that have run in this build."""
    shows_text: bool = False
    """Whether this build shows texts alone, such as a PDF's."""
    began: int = 0
    """When this build began to run pages, in nanoseconds."""

    @property
    def results(self) -> dict[str, PageResult]:
        """The outcomes of each page that has any."""
        return {name: page.result for name, page in self.pages.items() if page.result}


def state_of(env: BuildEnvironment) -> State:
    """Return the state that an environment holds; a new one if it holds none."""
    if not isinstance(getattr(env, "drift_state", None), State):
        env.drift_state = State()  # type: ignore[attr-defined]
    state: State = env.drift_state  # type: ignore[attr-defined]
    return state


def current_page_state(env: BuildEnvironment) -> PageState:
    """Return what is known of the page that is being read."""
    return state_of(env).pages[env.docname]


def forget(_app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Forget a page that is gone or about to be read."""
    state_of(env).pages.pop(docname, None)


def merge(
    _app: Sphinx, env: BuildEnvironment, docnames: Iterable[str], other: BuildEnvironment
) -> None:
    """Take over the pages that a process forked by Sphinx has read."""
    ours, theirs = state_of(env), state_of(other)
    ours.pages.update({docname: theirs.pages[docname] for docname in docnames})
    ours.ran |= theirs.ran


def is_complete(env: BuildEnvironment) -> bool:
    """Whether each output of the page that is being read must be documented."""
    page = Page(complete=env.metadata[env.docname].get("drift_complete", False))
    return state_of(env).settings.applied_to(page, Path(env.doc2path(env.docname))).complete


def record(env: BuildEnvironment, *outcomes: Outcome, **parts: Any) -> None:
    """Add outcomes, and what else is known, to the result of the page that is being read."""
    page_state = current_page_state(env)
    result = page_state.result or PageResult(file_of(env))
    page_state.result = replace(result, outcomes=(*result.outcomes, *outcomes), **parts)


def file_of(env: BuildEnvironment, docname: str = "") -> str:
    """Return the name of a page, the one that is being read by default, as one would type it."""
    path = Path(env.doc2path(docname or env.docname))
    return str(inside(path, Path.cwd()) or path)
