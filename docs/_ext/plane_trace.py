"""Arrows in the plane and their dot products, for the page on attention without weights."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import torch

Arrow = tuple[float, float]
QUERY: Arrow = (2.0, 1.0)
ARROWS: dict[str, Arrow] = {
    "same way": (1.2, 0.6),
    "longer": (2.4, 1.2),
    "right angle": (-1.0, 2.0),
    "opposite": (-1.2, -0.6),
}


@dataclass(frozen=True)
class PlaneTrace:
    """One arrow that asks, and the dot product of each other one with it."""

    dots: tuple[float, ...]

    def number(self, path: str) -> float:
        """Return the number at a path such as `dots.2` (counted from 0)."""
        return self.dots[int(path.removeprefix("dots."))]


@functools.cache
def plane_trace() -> PlaneTrace:
    """Compute the dot products once for the whole build."""
    dots = torch.tensor(list(ARROWS.values())) @ torch.tensor(QUERY)
    return PlaneTrace(tuple(dots.tolist()))
