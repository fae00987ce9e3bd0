"""The loss and the matrices of the page on training, by running the page's own cells."""

from __future__ import annotations

import contextlib
import functools
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from attention_trace import Matrix

PAGE = Path(__file__).resolve().parents[1] / "companions" / "training.md"
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROLES = ("query", "key", "value")


@dataclass(frozen=True)
class TrainingTrace:
    """What the page's cells made.

    `before` and `after` hold the query, the key and the value matrix, each (9, 3); `losses` has
    two numbers for each step, of the deals trained with and of those held out.
    """

    before: tuple[Matrix, ...]
    after: tuple[Matrix, ...]
    losses: Matrix

    def number(self, path: str) -> float:
        """Return the number at a path such as `after.0.8.2` (counted from 0)."""
        name, *places = path.split(".")
        found = getattr(self, name)
        for place in places:
            found = found[int(place)]
        return float(found)


def training_trace() -> TrainingTrace:
    """Train once for the whole build, as the page stands now."""
    return _train(PAGE.read_text(encoding="utf-8"))


@functools.lru_cache(maxsize=1)
def _train(page: str) -> TrainingTrace:
    found = _run(CELL.findall(page))
    before, after = (tuple(map(_rows, found[name])) for name in ("before", "after"))
    return TrainingTrace(before, after, tuple(map(tuple, found["losses"])))


def _run(cells: list[str]) -> dict[str, Any]:
    """Run cells until one has made `after`, leaving everybody else's generator alone."""
    names: dict[str, Any] = {}
    with (
        _one_thread(),
        torch.random.fork_rng(devices=[]),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        for cell in cells:
            exec(cell, names)  # noqa: S102 - the page is ours, and is run by the build anyway
            if "after" in names:
                return names
    raise ValueError(f"{PAGE.name} has no cell that makes 'after', the matrices to draw")


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Compute on one thread: matrices as small as these lose more by sharing than they gain."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _rows(matrix: torch.Tensor) -> Matrix:
    return tuple(tuple(row) for row in matrix.tolist())
