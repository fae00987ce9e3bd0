"""What a figure's numbers are read from: each has a path, such as `keys.1.0` (counted from 0)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Traced:
    """A computation whose numbers are found by path."""

    def number(self, path: str) -> float:
        """Return the number at a path."""
        return number_at(self, path)


def number_at(value: Any, path: str) -> float:
    """Return the number at a path below a value.

    Raises:
        TypeError: If something else than a number is there.

    """
    for step in path.split("."):
        if step.isdigit():
            value = value[int(step)]
        else:
            value = value[step] if isinstance(value, Mapping) else getattr(value, step)
    if not isinstance(value, int | float):
        raise TypeError(f"{path} is no number")
    return float(value)
