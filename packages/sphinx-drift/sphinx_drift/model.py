"""The types that all modules share: what pages document, and the outcomes of their checks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from sphinx_drift.compare.compare import Policy, Verdict, Waiver
from sphinx_drift.output.printed_text import Drawn, Part

_STATUS_UNKNOWN = 2


class Kind(Enum):
    """A kind of outcome: its meaning, its remedy, and the exit status that it leads to.

    A kind without a remedy is no failure.
    """

    VERIFIED = "the output is the documented one"
    UNCHECKED = "the output isn't checked, for the reason that is given"
    NOT_COMPARED = "the output holds on the reference environment alone, and this is another one"
    NO_EXPECTATION = "a cell prints and no expectation follows it, which this page needn't have"
    OTHER_VARIANT = "the output has another text here, so nobody looked at this one"
    DRIFT = (
        "the output is not the documented one",
        "mend the code, or document the new output if it is the right one",
    )
    UNDOCUMENTED = (
        "what is printed is documented nowhere",
        "let `--update` write it in the form that is shown",
    )
    PICTURE = (
        "a cell shows more or fewer pictures or widgets than its notebook has stored",
        "run the notebook and save it with its outputs",
    )
    VARIANT = (
        "not one of an output's variants holds here, or two do",
        "write a text for this case too, or conditions of which one holds: `:when: numpy>=2`",
    )
    NO_CELL = (
        "an expectation has no cell of its own straight above it",
        "move it straight after its cell, with nothing but blank lines between, or delete it",
    )
    EMPTY = (
        "an expectation has no text, so it would check nothing",
        "write what the cell prints, or delete the expectation",
    )
    NO_OUTPUT = (
        "nothing was printed where something is documented",
        "print it, or delete what documents it",
    )
    RAISED = (
        "an error was raised that is documented nowhere",
        "mend the code, or document the error: `:raises: ErrorType` on a page, else its traceback",
    )
    NOT_RAISED = (
        "the documented error wasn't raised",
        "mend the code, or delete what documents the error",
    )
    TIMEOUT = (
        "a cell didn't end in time",
        "make it faster, or raise `drift_timeout`, `--timeout` or the page's own limit",
        _STATUS_UNKNOWN,
    )
    OUTPUT_LIMIT = (
        "a cell printed more than a page may",
        "print less, or raise `drift_output_limit`",
        _STATUS_UNKNOWN,
    )
    DEAD_KERNEL = (
        "the process that runs the code ended",
        "run it alone to see why: it exits, memory is short, or compiled code crashes",
        _STATUS_UNKNOWN,
    )
    NOT_EXECUTED = (
        "a cell was not run",
        "mend what stopped its page, or say `:unchecked: reason` if a tag skips it",
        _STATUS_UNKNOWN,
    )
    NOTHING_CHECKED = (
        "no output was checked",
        "print something that matters and document it",
        _STATUS_UNKNOWN,
    )
    NESTED = (
        "a cell or expectation stands where it is never run or checked",
        "move it to the top level of a page; fold with gated `-start` and `-end` directives",
    )
    NOT_READ = (
        "what looks like a cell or an expectation isn't read as one",
        "write `{code-cell}` or `{expected-output}`, or end what is open; `~~~` shows cells",
    )
    OPTION = (
        "an option of an expectation, a cell or a page can't be read",
        "write it as the manual says",
    )
    WAIVER = (
        "a waiver is not needed, or matches nothing",
        "delete the `:allow:` line, or correct its documented value",
    )
    UNREPEATABLE = (
        "a cell printed something else when it was run a second time",
        "seed the generator in the same cell, or say `:unchecked: reason`",
    )
    UNREADABLE = (
        "a file or a docstring can't be read",
        "mend the file",
        _STATUS_UNKNOWN,
    )
    QUOTATION = (
        "a page can't quote this number, or glue this output",
        "quote a number of an expectation whose `:name:` no other one has; glue needs one, too",
    )
    ELSEWHERE = (
        "the page imported a package that isn't the one of this project",
        "install this project: `python -m pip install --editable .`, by the Python that runs pages",
        _STATUS_UNKNOWN,
    )
    COULD_NOT_CHECK = (
        "the check itself failed, so nothing is known",
        "report it, with the page and the traceback",
        _STATUS_UNKNOWN,
    )

    def __init__(self, meaning: str, remedy: str = "", status: int | None = None) -> None:
        """Fill in the exit status: 2 where nothing is known, else 1 for a failure."""
        self.label = self.name.lower().replace("_", "-")
        self.status = int(bool(remedy)) if status is None else status
        self.meaning = meaning
        self.remedy = remedy

    @property
    def fails(self) -> bool:
        """Whether an outcome of this kind fails the build."""
        return self.status > 0

    @property
    def unknown(self) -> bool:
        """Whether it is unknown what would have been printed."""
        return self.status == _STATUS_UNKNOWN


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
    """The parts of a cell's output that no expectation documents."""
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
    may_lack: bool = False
    """Whether a run may print nothing for it."""
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
    drawn: Drawn | None = None
    """How many pictures and widgets a notebook has stored of it; None if they aren't compared."""
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
        return "raises-exception" in self.tags or any(e.raises for e in self.expectations)


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
