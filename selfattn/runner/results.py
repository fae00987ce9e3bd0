"""How a page's run ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from nbformat import NotebookNode

    from selfattn.drift.kinds import Kind

__all__ = ["Execution", "Failure", "Request", "ended", "joined"]


@dataclass(frozen=True)
class Failure:
    """What stopped a page."""

    kind: Kind
    index: int
    """Place of the cell among all cells of the notebook; -1 if no cell had begun."""
    message: str


@dataclass(frozen=True)
class Execution:
    """How the cells of a page ended."""

    executed: frozenset[int] = frozenset()
    """Places of the code cells that ran to their end, or raised what they may raise."""
    failure: Failure | None = None
    environment: dict[str, str] = field(default_factory=dict)
    """What the numbers were computed with: torch, device, capability, threads."""
    files: frozenset[str] = frozenset()
    """Files that the page depends on: local modules that it imported, data that it opened."""
    origins: dict[str, str] = field(default_factory=dict)
    """From where it imported the packages that ``SELFATTN_PACKAGES`` names."""


@dataclass(frozen=True)
class Request:
    """How a page is to be run."""

    folder: Path
    """Where it starts."""
    timeout: int | None = None
    """How many seconds a cell may take; None for as long as it likes."""
    may_raise: frozenset[int] = frozenset()
    """Places of the cells after which the page goes on if they raise."""
    before: tuple[Callable[[], object], ...] = ()
    """Functions of :mod:`selfattn.runner.inside` to run before the first cell."""
    after: tuple[Callable[[], object], ...] = ()
    """Functions of it to run after the last."""
    hash_seed: str | None = None
    """What orders sets of texts, ``PYTHONHASHSEED``; None leaves it as it is."""


def ended(executed: Iterable[int], failure: Failure | None, answers: dict[str, Any]) -> Execution:
    """Say how a page ended, from what its process answered."""
    files = frozenset(answers.get("files", ()))
    environment, origins = answers.get("describe", {}), answers.get("origins", {})
    return Execution(frozenset(executed), failure, environment, files, origins)


def joined(outputs: Iterable[NotebookNode]) -> list[NotebookNode]:
    """Join what a cell wrote to one stream in pieces, however slowly it did."""
    whole: list[NotebookNode] = []
    for output in outputs:
        last = whole[-1] if whole else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            whole.append(output)
    return whole
