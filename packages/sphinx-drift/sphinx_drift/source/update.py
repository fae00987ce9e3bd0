"""Decide what `--update` writes: which outputs, and what stays as it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sphinx_drift.model import Kind
from sphinx_drift.output.machine import names_in
from sphinx_drift.source.prose import outdated_numbers

if TYPE_CHECKING:
    from pathlib import Path

    from sphinx_drift.model import Page, PageResult

_LACKING = {
    re.compile(r"(ModuleNotFound|Import)Error: "): (
        "install it first, or tag the cell `raises-exception` where no version has it any more"
    ),
    re.compile(
        r"(FileNotFoundError|gaierror|SSLError|MaxRetryError|(URL|HTTP)Error|\w*Timeout"
        r"|\w*Connect(ion|or)?\w*Error): "
    ): "see that it is there, or tag the cell `raises-exception`",
}
"""How an error begins if a module, a file or the network isn't here, and what to do."""
_INSTALL = re.compile(
    r"[!%]*\s*(?:sudo )?(?:\w+=\S+ )*(?:\S+ -m )?(?:(?:uv )?pip3?|conda|\w*mamba|apt(?:-get)?)"
    r"(?: -\S+)* install\b(?!.*(?:;|&&|\|\|))|#|%%(?:ba)?sh\b|(?:from|import) [^;]*$|$"
)
"""A row of a cell that installs packages, or prints nothing."""
DIFFERS = "it differs between two runs"
INSTALLS = "installs packages"
NO_TEXT = "it can't be written so that it reads the same"
UNDECIDED = frozenset({DIFFERS, NO_TEXT})
"""Reasons why nothing is compared that a person has to confirm or remove."""
FIXED_BY_TEXT = (Kind.DRIFT, Kind.EMPTY, Kind.UNDOCUMENTED, Kind.RAISED)
"""What a new text of an expectation fixes."""


@dataclass(frozen=True)
class Change:
    """A file before and after."""

    path: Path
    before: str
    after: str
    refused: str = ""
    """Why it can't be written."""
    result: PageResult | None = None
    """The result of the file as it is then."""
    notes: tuple[str, ...] = ()
    """What its author should look at: sentences with an old number, names of this machine."""


def read_exactly(path: Path) -> str:
    """Return a file with its line endings as they are."""
    return path.read_bytes().decode("utf-8")


def refusal(page: Page, result: PageResult) -> str:
    """Return why no output of a page should be written; nothing if they may be."""
    for outcome in result.outcomes:
        may_raise = outcome.cell and page.cells[outcome.cell - 1].may_raise
        place = f"(line {outcome.line}, cell {outcome.cell})"
        for lacking, remedy in _LACKING.items():
            if lacking.match(outcome.message) and not may_raise:
                return f"{outcome.message} {place}: {remedy}"
        if outcome.kind.unknown and outcome.kind is not Kind.NOTHING_CHECKED:
            return f"{outcome.kind.meaning} {place}"
    return ""


def unchecked_cells(page: Page, result: PageResult) -> dict[int, str]:
    """Return why outputs can't be checked, by the numbers of their cells."""
    differing = {o.cell: DIFFERS for o in result.outcomes if o.kind is Kind.UNREPEATABLE}
    outdated = {o.cell for o in result.outcomes if o.cell and o.kind in FIXED_BY_TEXT} | {
        *differing
    }
    installing = {cell for cell in outdated if _installs(page.cells[cell - 1].source)}
    return differing | dict.fromkeys(installing, INSTALLS)


def _installs(source: str) -> bool:
    """Whether a cell does nothing but install packages."""
    rows = (row.strip() for row in source.replace("\\\n", " ").split("\n"))
    return "install" in source and all(map(_INSTALL.match, rows))


def notes_on(
    path: Path, before: str, after: str, result: PageResult, page: Page
) -> tuple[str, ...]:
    """Return what the author of a file should look at, now that it has new outputs."""
    names = [name for name in names_in(after) if name not in names_in(before)]
    private = [f"{path}: what is written names this machine or its user: {name}" for name in names]
    return (*outdated_numbers(path, after, result.outcomes, page), *private)
