"""What a proof compared, and how it fails: known without loading torch."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Counts", "DriftError"]


class DriftError(Exception):
    """The script and torch differ where the script says that they can't."""


@dataclass(frozen=True)
class Counts:
    """What was compared."""

    states: int
    numbers: int
    uncertain: int
    """Numbers whose last digit may be another on another machine: marked "not verified"."""
    differing: int
    """Those of them that torch prints otherwise here."""

    @property
    def certain(self) -> int:
        """How many numbers print as torch prints them, on any machine."""
        return self.numbers - self.uncertain
