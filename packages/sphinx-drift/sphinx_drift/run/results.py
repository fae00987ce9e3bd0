"""How a page is to be run, and how its run ended."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sphinx_drift.kinds import Kind
from sphinx_drift.probes import Injected
from sphinx_drift.run.injected import package_origins, report_environment, report_versions
from sphinx_drift.run.reads import reads

SKIPS = frozenset({"skip-execution", "nbval-skip"})
"""The tags of a cell that is not run."""


@dataclass(frozen=True)
class Failure:
    """What stopped a page."""

    kind: Kind
    index: int | None
    """The index of the cell among all cells of the notebook; None if none was running."""
    message: str


OWN_ANSWERS = {
    function.__name__ for function in (report_environment, package_origins, report_versions, reads)
}
"""The checker's questions, whose names no probe may have."""


@dataclass(frozen=True)
class Execution:
    """How the cells of a page ended."""

    executed: frozenset[int] = frozenset()
    """The indices of the code cells that ran to their end, or raised what they may raise."""
    failure: Failure | None = None
    answers: Mapping[str, Any] = field(default_factory=dict)
    """What the functions returned that ran after the last cell, by their names."""
    succeeded: frozenset[int] = frozenset()
    """The indices of the code cells that raised nothing, as far as that is known."""
    seconds: float = field(default=0.0, compare=False)
    """How long the page ran; callers may wait for less, since it began earlier."""
    cache_key: str = field(default="", compare=False)
    """The key of its outputs in jupyter-cache, if they are there."""
    since: float = field(default=0.0, compare=False)
    """When it ran, in seconds since 1970, if its outputs were taken from there."""

    @property
    def environment(self) -> dict[str, str]:
        """What the numbers were computed with: torch, device, capability, threads."""
        return dict(self.answers.get(report_environment.__name__, {}))

    @property
    def versions(self) -> Mapping[str, Any] | None:
        """What conditions may ask of its kernel; None if it couldn't be asked."""
        return self.answers.get(report_versions.__name__)

    @property
    def probed(self) -> dict[str, Any]:
        """What the probes of extensions returned, by the names of their functions."""
        return {name: answer for name, answer in self.answers.items() if name not in OWN_ANSWERS}


@dataclass(frozen=True)
class Request:
    """How a page is to be run."""

    folder: Path
    """Where it starts."""
    timeout: int | None = None
    """How many seconds a cell may take; None for no limit."""
    raising: Collection[int] = ()
    """The indices of the cells after which the page goes on if they raise."""
    before: tuple[Injected, ...] = ()
    """What runs in the kernel before the first cell."""
    after: tuple[Injected, ...] = ()
    """What runs in it after the last, and answers."""
    variables: Mapping[str, str | None] = field(default_factory=dict)
    """Variables that are added to this process's environment, or, if None, removed."""
    output_limit: float = math.inf
    """Bytes that the outputs of a cell may take; a page's limit follows from it."""
    kernel_aliases: Mapping[str, str] = field(default_factory=dict)
    """Regular expressions of the names of kernels, each with the one to start."""
    preload: tuple[str, ...] = ()
    """Libraries that are loaded once for all pages, where kernels are forked."""
