"""The types that all modules share: what pages document, and the outcomes of their checks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sphinx_drift.compare.compare import Policy, Verdict, Waiver
from sphinx_drift.kinds import Kind
from sphinx_drift.output.printed_text import Drawn, Part


@dataclass(frozen=True)
class Outcome:
    """The outcome of one expectation, or of a cell or page that has none."""

    kind: Kind
    line: int
    """Line of the page it is about."""
    cell: int = 0
    """Number of the code cell, counted from 1; 0 if it is about none."""
    cell_line: int = 0
    where: str = ""
    """Where it is in a notebook, if it is in none of its code cells."""
    body_line: int = 0
    """Line of the page on which the documented text begins."""
    name: str = ""
    """What the page calls the expectation, to quote from it."""
    message: str = ""
    documented: str = ""
    executed: str = ""
    verdict: Verdict = field(default_factory=Verdict)
    rounding: Verdict | None = None
    """The verdict of *portable* on a drift that *exact* found."""
    parts: tuple[Part, ...] = ()
    """The parts of an output that nothing documents, or that another run made otherwise."""
    reference_only: str = ""
    """Why the documented output holds only on the reference environment, if so."""
    if_complete: bool = False
    """Whether it fails a page alone that must be complete, and is unchecked on others."""


def below(cell: int, row: int) -> str:
    """Say where in a notebook a row of Markdown is: below a code cell, or above the first."""
    return f"{f'below cell {cell}' if cell else 'above cell 1'} (line {row})"


@dataclass(frozen=True)
class PageResult:
    """The outcomes of a page."""

    file: str = field(compare=False)
    outcomes: tuple[Outcome, ...] = ()
    cells: int = 0
    policy: Policy = Policy.EXACT
    environment: Mapping[str, str] = field(default_factory=dict)
    not_text: Mapping[str, int] = field(default_factory=dict)
    """How many outputs are not text, such as pictures."""
    filter_counts: Mapping[str, int] = field(default_factory=dict)
    """How many texts each filter replaced before they were compared, by name."""
    undocumented_counts: Mapping[str, int] = field(default_factory=dict)
    """How many texts each filter matches that nothing documents, by name."""
    names: Mapping[str, int] = field(default_factory=dict)
    """The line of each of its expectations that has a name to quote."""
    silent: int = 0
    """How many cells printed nothing when their notebook was saved, and print nothing now."""
    is_notebook: bool = False
    """Whether its cells are reported by number and not by line."""
    is_optional: bool = False
    """Whether it is a notebook that nothing requires to be checked."""
    left_out: str = ""
    """The setting of the book that keeps it from running, if one does."""
    was_run: bool = field(default=True, compare=False)
    """Whether it was run in this build."""
    from_cache: bool = field(default=False, compare=False)
    """Whether its outputs are those of an earlier run, which jupyter-cache has kept."""

    @property
    def failed(self) -> bool:
        """Whether anything on it fails the build."""
        return any(outcome.kind.fails for outcome in self.outcomes)


_REMOVING = ("remove-cell", "remove-output", "remove_cell", "remove_output")
"""The tags that hide what a cell prints from readers."""


@dataclass(frozen=True)
class Expectation:
    """What a page says that a cell prints."""

    text: str
    line: int
    """Line of the page on which it begins, counted from 1."""
    body_line: int
    """Line of the page on which its text begins."""
    part: Part = Part.ALL
    name: str = ""
    """What the page calls it, to quote numbers from it."""
    raises: str = ""
    """The error that the cell must raise."""
    unchecked: str = ""
    """Why it can't be checked."""
    is_help: bool = False
    """Whether it is help that a program has stored, which a run of the book doesn't give."""
    reference_only: str = ""
    """Why it holds on the reference environment alone."""
    when: str = ""
    """The condition on which it holds, as packaging's markers write it; nothing for always."""
    problem: str = ""
    """Why nothing says whether it is the variant that holds."""
    waivers: tuple[Waiver, ...] = ()
    content: str = ""
    """All the text in the directive, options too, which identifies it."""
    end_line: int = 0
    """Line of the page on which its text ends, inclusive; before ``body_line`` if it is empty."""


@dataclass(frozen=True)
class Cell:
    """One code cell."""

    number: int
    """Its number among the code cells, counted from 1."""
    index: int
    """Its number among all cells of the notebook, counted from 0."""
    line: int
    """Line of the page, or of the notebook's file, on which it begins."""
    source: str
    end_line: int = 1
    """Line of the page on which it ends, inclusive."""
    tags: frozenset[str] = frozenset()
    expectations: tuple[Expectation, ...] = ()
    unmet: tuple[Expectation, ...] = ()
    """One of each part of its output that has variants, all for elsewhere: it may print none."""
    drawn: Drawn = field(default_factory=Drawn)
    """How many pictures and widgets a notebook has stored of it."""
    unchecked: str = ""
    """Why nothing that a notebook has stored of it is compared."""
    stored_as: tuple[frozenset[str], ...] = ()
    """The types in which a notebook has stored each of its displays."""
    is_claim: bool = False
    """Whether it must print nothing else: a run saved it so, or it has variants for elsewhere."""
    hidden: frozenset[Part] = frozenset()
    """The parts that no reader is shown."""
    glued: tuple[str, ...] = ()
    """The names that show its stored outputs elsewhere."""

    @property
    def last_line(self) -> int:
        """The line of the page on which it ends, with its expectations, inclusive."""
        return self.expectations[-1].end_line + 1 if self.expectations else self.end_line

    @property
    def has_code(self) -> bool:
        """Whether there is more in it than comments."""
        rows = map(str.strip, self.source.split("\n"))
        return any(row and not row.startswith("#") for row in rows)

    @property
    def is_seen(self) -> bool:
        """Whether a reader is shown what it prints."""
        return self.tags.isdisjoint(_REMOVING)

    @property
    def has_stderr(self) -> bool:
        """Whether a reader is shown what it writes to stderr."""
        return Part.STDERR not in self.hidden

    @property
    def may_raise(self) -> bool:
        """Whether the page goes on if this cell raises."""
        return self.is_tagged_to_raise or any(e.raises for e in self.expectations)

    @property
    def is_tagged_to_raise(self) -> bool:
        """Whether it may raise an error by Jupyter's tag."""
        return "raises-exception" in self.tags


@dataclass(frozen=True)
class Page:
    """The cells of a page or notebook, and what is wrong before anything runs."""

    cells: tuple[Cell, ...] = ()
    problems: tuple[Outcome, ...] = ()
    is_notebook: bool = field(default=False, kw_only=True)
    """Whether it is a notebook, whose stored outputs are what it documents."""
    complete: bool = field(default=False, kw_only=True)
    """Whether each of its outputs must be documented."""
    settings: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    """What its metadata sets for it alone, by the names of settings."""

    @property
    def documents_nothing(self) -> bool:
        """Whether it is a notebook without an output to compare, and needn't have any."""
        has_outputs = any(cell.expectations or cell.stored_as for cell in self.cells)
        return self.is_notebook and not (self.complete or has_outputs)

    @property
    def names(self) -> dict[str, int]:
        """The line of each expectation that has a name to quote."""
        problems = {problem.name: problem.line for problem in self.problems if problem.name}
        return problems | {e.name: e.line for c in self.cells for e in c.expectations if e.name}

    @property
    def is_checked(self) -> bool:
        """Whether there is anything on it to check; if not, it is built without a check."""
        claims = any(cell.expectations or cell.is_claim for cell in self.cells)
        return claims or self.complete or bool(self.problems)
