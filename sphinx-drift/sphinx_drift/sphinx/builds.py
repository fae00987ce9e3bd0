"""What is known in one build, and not kept for the next."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from sphinx_drift.compare.outcomes import Outcome, PageResult
from sphinx_drift.sphinx.state import state_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from sphinx.environment import BuildEnvironment

    from sphinx_drift.run_and_judge import Settings
    from sphinx_drift.sphinx.incremental import Origin
    from sphinx_drift.sphinx.rerun import Fresh
    from sphinx_drift.sphinx.warned import Listener


@dataclass
class Build:
    """What is known in one build, and not kept for the next."""

    settings: Settings
    surroundings: str
    listener: Listener = field(init=False)
    """What the build warns of."""
    begun: Collection[Path] = ()
    """The pages that have been asked for; they are dropped when this build ends."""
    fresh: dict[str, Fresh] = field(default_factory=dict)
    """The runs of this build, by document name."""
    not_run: Mapping[str, Origin] = field(default_factory=dict)
    """Pages that were not run in this build, and what they depend on."""
    read: list[str] = field(default_factory=list)
    written: set[str] = field(default_factory=set)
    in_titles: dict[str, str] = field(default_factory=dict)
    """Numbers that are quoted in titles, by what is quoted."""


_BUILDS: WeakKeyDictionary[BuildEnvironment, Build] = WeakKeyDictionary()


def begin_build(env: BuildEnvironment, build: Build) -> None:
    """Keep what is known in the build that begins, instead of what was in one before."""
    _BUILDS[env] = build


def build_of(env: BuildEnvironment) -> Build:
    """Return what is known in the build that an environment is in."""
    return _BUILDS[env]


def record(env: BuildEnvironment, *outcomes: Outcome) -> None:
    """Add outcomes to the page that is being read."""
    results = state_of(env).results
    page = results.get(env.docname) or PageResult(file_of(env))
    results[env.docname] = replace(page, outcomes=(*page.outcomes, *outcomes))


def file_of(env: BuildEnvironment, docname: str = "") -> str:
    """Return the name of a page, the one that is being read by default, as one would type it."""
    path = Path(env.doc2path(docname or env.docname))
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
