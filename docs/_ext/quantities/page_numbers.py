"""The numbers that a page's outputs print, each with its quantity, and the notes about them."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import page_values
from quantities import declared
from quantities.matching import Part, Run, arrays, part_of, runs_of
from sphinx_drift import api

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sphinx.environment import BuildEnvironment

    from quantities.declared import DeclaredPage
    from quantities.matching import Arrays


@dataclass(frozen=True)
class PageNumbers:
    """A page's quantities, and which of them its outputs print, by the cell's number."""

    declared: DeclaredPage
    made: Arrays
    outputs: Mapping[int, str]
    runs: Mapping[int, list[Run]]
    missing: tuple[str, ...]
    """What is declared to be printed, and isn't."""

    def number(self, cell: int, place: int) -> Part | None:
        """Return what a number of a cell's output is, counted from 0."""
        numbers = api.numbers(self.outputs.get(cell, ""))
        start = numbers[place].start if place < len(numbers) else -1
        for run in self.runs.get(cell, ()):
            for (begin, _), flat in zip(run.spans, run.part.places.flatten(), strict=True):
                if begin == start:
                    return Part(run.part.quantity, flat)
        return None

    def has(self, other: PageNumbers, name: str) -> bool:
        """Tell whether a quantity of another page is one of this page, too."""
        own = self.declared.quantities.get(name)
        is_same = own is not None and own == other.declared.quantities[name]
        return is_same and np.array_equal(self.made[name], other.made[name])

    def note(self, name: str) -> tuple[str, str, str]:
        """Return what the note on a quantity's numbers says: symbol, name, origin and use."""
        quantity = self.declared.quantities[name]
        leading = self._leading()
        uses = (
            user.uses[name]
            for each, user in self.declared.quantities.items()
            if name in user.uses and each in leading
        )
        made = [quantity.origin, ", ".join(dict.fromkeys(uses))]
        return quantity.symbol, quantity.name, "; used in ".join(filter(None, made))

    def _leading(self) -> set[str]:
        """Return the quantities that lead to a printed one; all where none is printed."""
        printed = {run.part.quantity for runs in self.runs.values() for run in runs}
        leading = printed or {*self.declared.quantities}
        for name, quantity in reversed([*self.declared.quantities.items()]):
            if name in leading:
                leading |= quantity.uses.keys()
        return leading


def numbers_of(
    env: BuildEnvironment, docname: str, outputs: Mapping[int, str]
) -> PageNumbers | None:
    """Return the numbers of a page; None if nothing is declared of it.

    Args:
        env: The environment, which has the values that the page's cells made.
        docname: The page.
        outputs: What its cells printed, by their numbers.

    Raises:
        MismatchError: If its quantities aren't what the formulas say.

    """
    page = declared.read(Path(env.srcdir)).get(docname)
    if page is None or not page.quantities:
        return None
    return _numbers(_Hashed(page, dict(outputs)), page_values.text_of(env, docname))


@dataclass(frozen=True)
class _Hashed:
    """What the numbers are made from besides the values, told apart by its representation."""

    page: DeclaredPage
    outputs: dict[int, str]

    def __hash__(self) -> int:
        return hash(repr(self))


@functools.lru_cache(maxsize=4)
def _numbers(given: _Hashed, values: str) -> PageNumbers:
    page = given.page
    made = arrays(page, page_values.read(values))
    parts = {expression: part_of(expression, made) for expression in page.prints}
    runs: dict[int, list[Run]] = {}
    seen: list[str] = []
    for cell, text in given.outputs.items():
        runs[cell] = runs_of(text, parts, made, seen)
        seen += [run.expression for run in runs[cell]]
    missing: Sequence[str] = [each for each in page.prints if each not in seen]
    return PageNumbers(page, made, given.outputs, runs, tuple(missing))
