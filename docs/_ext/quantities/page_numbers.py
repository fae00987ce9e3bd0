"""What each number is that a page's cells print: the page run again, and what is declared of it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from quantities import declared
from quantities.matching import MismatchError, Part, Run, runs_of, tensors
from quantities.page_run import run_page
from quantities.uses import Use, needed, uses

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from quantities.declared import DeclaredPage
    from quantities.page_run import CellRun


@dataclass(frozen=True)
class PageNumbers:
    """A page's quantities, and its printed numbers: which quantity each is, by the cell's number.

    A cell that prints what its quantity isn't has a fault, in words.
    """

    declared: DeclaredPage
    made: Mapping[str, torch.Tensor]
    uses: Mapping[str, list[Use]]
    cells: list[CellRun]
    runs: Mapping[int, list[Run]]
    faults: Mapping[int, str]

    def number(self, cell: int, ordinal: int | None) -> Part | None:
        """Return what a number of a cell's output is, counted from 0."""
        for run in self.runs.get(cell, ()):
            places = run.part.places.flatten()
            if ordinal is not None and 0 <= ordinal - run.first < len(places):
                return Part(run.part.quantity, places[ordinal - run.first])
        return None

    def has(self, other: PageNumbers, name: str) -> bool:
        """Whether a quantity of another page is one of this page, too."""
        own = self.declared.quantities.get(name)
        is_same = own is not None and own == other.declared.quantities[name]
        return is_same and torch.equal(self.made[name], other.made[name])


def numbers_of(folder: Path, name: str) -> PageNumbers | None:
    """Return the numbers of a book's page; None if nothing is declared of it.

    Raises:
        MismatchError: If its quantities aren't what the formulas say.

    """
    page = declared.read(folder).get(name)
    if page is None:
        return None
    file = folder / f"{name}.md"
    texts = (file.read_text("utf-8"), (folder / declared.DATA).read_text("utf-8"))
    return _numbers(folder, name, texts)


@functools.lru_cache(maxsize=4)
def _numbers(folder: Path, name: str, _: tuple[str, str]) -> PageNumbers:
    page = declared.read(folder)[name]
    wanted = [source for source, meant in page.prints.items() if meant]
    run = run_page(folder / f"{name}.md", page.bind, wanted)
    made = tensors(page, run.bound)
    runs: dict[int, list[Run]] = {}
    faults: dict[int, str] = {}
    for number, cell in enumerate(run.cells, 1):
        try:
            runs[number] = runs_of(cell, page, made)
        except MismatchError as error:
            faults[number] = str(error)
    printed = {each.part.quantity for several in runs.values() for each in several}
    used_here = uses(needed(page.quantities, printed), made)
    return PageNumbers(page, made, used_here, run.cells, runs, faults)
