"""The loss and the matrices of the page on training, by running the page's own cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from page_trace import page_trace

if TYPE_CHECKING:
    from attention_trace import Matrix

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
    made = page_trace("training", "before", "losses", "after").made
    return TrainingTrace(made["before"], made["after"], made["losses"])
