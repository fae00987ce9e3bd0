"""Compare what a cell printed with what its page documents."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from nbformat import NotebookNode

from sphinx_drift.compare.compare import Policy, Verdict, compare
from sphinx_drift.kinds import Kind
from sphinx_drift.model import Cell, Expectation, Outcome, Page
from sphinx_drift.output.filters import Filter, apply_filters
from sphinx_drift.output.printed_text import (
    BESIDE,
    FORMS,
    Part,
    Printed,
    as_stored,
    included_in,
    read_outputs,
)
from sphinx_drift.run.results import SKIPS, Execution


def read_printed(cell: Cell, notebook: NotebookNode, *, raised: bool = True) -> Printed:
    """Return what a cell printed, in the forms in which its outputs are stored."""
    outputs = as_stored(notebook.cells[cell.index].outputs, cell.stored_as)
    return read_outputs(outputs, raised=raised)


@dataclass(frozen=True)
class PageRun:
    """What all cells of a page have in common."""

    page: Page
    execution: Execution
    policy: Policy
    filters: Sequence[Filter]
    away: bool
    errors_fail: bool
    filter_counts: Counter[str] = field(default_factory=Counter)


def outcome_of(
    cell: Cell, kind: Kind, expectation: Expectation | None = None, **fields: object
) -> Outcome:
    """Return an outcome of a cell, and of one of its expectations."""
    outcome = Outcome(kind, cell.line, cell=cell.number, cell_line=cell.line)
    if expectation is not None:
        outcome = replace(
            outcome,
            line=expectation.line,
            body_line=expectation.body_line,
            name=expectation.name,
            documented=expectation.text,
            reference_only=expectation.reference_only,
        )
    return replace(outcome, **fields)  # type: ignore[arg-type]


@dataclass(frozen=True)
class CellCheck:
    """A cell, what it printed, and the run that it was part of."""

    cell: Cell
    output: Printed
    precise: Printed | None
    run: PageRun

    def outcomes(self) -> Iterator[Outcome]:
        """Compare the outputs with their expectations, and look for undocumented ones."""
        if (stopped := self._stopped()) is not None:
            yield stopped
            return
        is_notebook = self.run.page.is_notebook
        compared: list[Outcome] = []
        for expectation in self.cell.expectations:
            outcome = self._compared(expectation)
            if is_notebook and expectation.part in BESIDE:
                if _is_counted(outcome, compared):
                    continue
                message = outcome.message or f"as {expectation.part.value}"
                outcome = replace(outcome, message=message)
            compared.append(outcome)
        yield from compared
        is_excluded = bool(self.cell.unchecked) or any(map(self._excluded, self.cell.expectations))
        is_claim = self.cell.is_claim and not is_excluded
        if is_notebook and not is_excluded and not any(other.kind.fails for other in compared):
            yield from self._beside(is_claim=is_claim)
        if undocumented := self._undocumented(is_claim=is_claim):
            yield undocumented

    # Cells without outputs to compare

    def _stopped(self) -> Outcome | None:
        """Return why there is nothing to compare: the cell raised, or wasn't run."""
        cell, output, execution = self.cell, self.output, self.run.execution
        failure = execution.failure
        if failure is not None and failure.index == cell.index:
            # The display of a value may raise, and the kernel doesn't say so.
            message = (failure.kind is Kind.RAISED and output.error) or failure.message
            return outcome_of(cell, failure.kind, message=message, executed=output.select(Part.ALL))
        if cell.index not in execution.executed:
            message = failure.message if failure is not None and failure.index is None else ""
            return outcome_of(cell, Kind.NOT_EXECUTED, *cell.expectations[:1], message=message)
        is_expected = bool(cell.expectations) or self.run.page.complete
        if SKIPS & cell.tags and (is_expected or any(cell.drawn)):
            return self._skipped()
        if is_expected and self._raised and not cell.may_raise:
            return outcome_of(cell, Kind.RAISED, message=output.error)
        return None

    def _skipped(self) -> Outcome:
        """Return what comes of a cell that its author has excluded from execution."""
        cell = self.cell
        if cell.glued:
            return outcome_of(cell, Kind.QUOTATION, message=_unchecked_glue(cell.glued))
        tags = f"tagged {' and '.join(sorted(SKIPS & cell.tags))}"
        # The tag is all that the author of a notebook can say; a page has to give a reason.
        reasons = [expectation.unchecked for expectation in cell.expectations]
        if not self.run.page.is_notebook and not (reasons and all(reasons)):
            return outcome_of(cell, Kind.NOT_EXECUTED, *cell.expectations[:1], message=tags)
        message = "; ".join([tags, *dict.fromkeys(filter(None, reasons))])
        return outcome_of(cell, Kind.UNCHECKED, *cell.expectations[:1], message=message)

    @property
    def _raised(self) -> bool:
        """Whether the cell raised an error; one that stderr ends with may only be printed."""
        succeeded = self.cell.index in self.run.execution.succeeded
        return bool(self.output.error) and not (self.output.native_error and succeeded)

    # What is documented

    def _compared(self, expectation: Expectation) -> Outcome:
        """Compare one expectation with what its cell printed."""
        filters = self.run.filters
        text = apply_filters(expectation.text, filters)
        expectation = replace(expectation, text=text)
        executed = apply_filters(
            self.output.select(expectation.part), filters, self.run.filter_counts
        )
        if cannot := self._cannot_compare(expectation, executed):
            kind, message = cannot
            return outcome_of(self.cell, kind, expectation, message=message, executed=executed)
        full = self.precise and self.precise.select(expectation.part)
        verdict = compare(
            text,
            executed,
            policy=Policy.EXACT if expectation.reference_only else self.run.policy,
            precise=apply_filters(full, filters) if full else None,
            waivers=expectation.waivers,
        )
        kind, message = self._judged(verdict, expectation)
        fields = {"message": message, "executed": executed, "verdict": verdict}
        return outcome_of(self.cell, kind, expectation, **fields)

    def _judged(self, verdict: Verdict, expectation: Expectation) -> tuple[Kind, str]:
        """Return the kind of outcome that a verdict means, and its message."""
        if not verdict.compared:
            return Kind.EMPTY, ""
        if not verdict.same:
            return Kind.DRIFT, self._removed_stderr(expectation.part)
        if verdict.stale and self.run.policy is not Policy.PORTABLE:
            waivers = (f"{w.documented} -> {w.executed} ({w.reason})" for w in verdict.stale)
            return Kind.WAIVER, "; ".join(waivers)
        if unknown := self.output.unknown_in(expectation.part):
            return Kind.UNCHECKED, f"{unknown} may show more than the text, which is right"
        return Kind.VERIFIED, ""

    def _cannot_compare(self, expectation: Expectation, executed: str) -> tuple[Kind, str] | None:
        """Return why an output can't be compared; None if it can."""
        if expectation.problem:
            return Kind.VARIANT, expectation.problem
        error, claimed = self.output.error, expectation.raises
        # Jupyter doesn't say the module of an error, but for other languages.
        raised = error.partition(":")[0].rpartition(".")[2]
        # A notebook that has stored an error doesn't claim it where it leaves the cell unchecked.
        is_claim = claimed and not self.cell.unchecked
        if is_claim and claimed.rpartition(".")[2] != raised:
            return Kind.NOT_RAISED, f"expected {claimed}, got {error or 'no error'}"
        part, glued = expectation.part, self.output.glued_in(expectation.part)
        if glued and (expectation.unchecked or expectation.reference_only):
            return Kind.QUOTATION, _unchecked_glue(glued)
        # One run may lack what is unchecked, such as the message of a download.
        if not (executed.strip() or expectation.unchecked):
            where = f"{'as' if part in BESIDE else 'on'} {part.value}"
            is_whole = part in (Part.ALL, Part.MAIN)
            return Kind.NO_OUTPUT, self._removed_stderr(part) if is_whole else where
        return self._excluded(expectation)

    def _removed_stderr(self, part: Part) -> str:
        """Say that a page doesn't show stderr, and its expectation may be about it."""
        is_removed = part is Part.MAIN and not self.cell.has_stderr
        if is_removed and Part.STDERR in self.output.parts:
            return "what it writes to stderr is removed from the page, so it isn't compared"
        return ""

    def _excluded(self, expectation: Expectation) -> tuple[Kind, str] | None:
        """Return why the page excludes an output from comparison; None if it doesn't."""
        if expectation.unchecked:
            return Kind.UNCHECKED, expectation.unchecked
        if expectation.reference_only and self.run.away:
            return Kind.NOT_COMPARED, expectation.reference_only
        return None

    # What is not documented

    def _beside(self, *, is_claim: bool) -> Iterator[Outcome]:
        """Yield what a notebook's cell now shows beside its text, or no longer shows."""
        cell, output = self.cell, self.output
        if self.run.page.complete or is_claim:
            for noun, before, now in cell.drawn.changes(output.drawn):
                message = f"{noun}: it has {before} stored, and made {now}"
                yield outcome_of(cell, Kind.PICTURE, message=message)
        for part in BESIDE if cell.expectations else ():
            text = output.select(part)
            if text.strip() and part not in {e.part for e in cell.expectations}:
                message = f"on {part.value}"
                yield outcome_of(cell, Kind.UNDOCUMENTED, message=message, executed=text)

    def _undocumented(self, *, is_claim: bool) -> Outcome | None:
        """Return the outputs that readers see, or the error, if nothing documents them."""
        cell, output, page = self.cell, self.output, self.run.page
        is_named = any(e.raises or e.part is Part.ALL for e in cell.expectations)
        if self._raised and not is_named:
            # A cell that may raise fails where a run has saved it without the error.
            fails = is_claim if cell.may_raise else self.run.errors_fail
            # What a notebook leaves unchecked may raise, if its cell may.
            is_checked = bool(cell.expectations) and not (cell.unchecked and cell.may_raise)
            is_wrong = fails or (page.complete and cell.is_seen) or is_checked
            kind = Kind.RAISED if is_wrong else Kind.NO_EXPECTATION
            return outcome_of(cell, kind, message=output.error)
        parts = self._undocumented_parts()
        if not parts:
            return None
        for one in cell.unmet:
            about = included_in({one.part}) | {Part.VALUE if one.part in FORMS else one.part}
            if not about.isdisjoint(parts):
                return outcome_of(cell, Kind.VARIANT, one, message=one.problem)
        return outcome_of(
            cell,
            Kind.UNDOCUMENTED if page.complete or is_claim else Kind.NO_EXPECTATION,
            message=f"on {' and '.join(parts)}",
            parts=parts,
            executed="".join(map(output.select, parts)),
        )

    def _undocumented_parts(self) -> tuple[Part, ...]:
        """Return the parts that a reader sees and no expectation is about."""
        cell, output = self.cell, self.output
        documented = {e.part for e in cell.expectations}
        spoken_of = included_in(documented) | cell.hidden
        if all(documented & value.forms.keys() for value in output.values):
            spoken_of.add(Part.VALUE)  # each in another form
        shown = [*output.parts]
        if output.draws_text and not self.run.page.is_notebook:
            shown.append(Part.PICTURE)
        if not cell.is_seen:
            shown = [part for part in shown if part in output.glued]
        parts = [part for part in shown if part not in spoken_of]
        is_output = output.error and not output.native_error
        if is_output and cell.is_seen and Part.TRACEBACK not in spoken_of:
            parts.append(Part.STDERR)
        return tuple(dict.fromkeys(parts))


def _is_counted(outcome: Outcome, others: Iterable[Outcome]) -> bool:
    """Whether a form of a value says no more than its text, or another form, has said."""
    if outcome.kind.fails:
        return any(other.kind.fails for other in others)
    is_unchecked = outcome.kind is Kind.UNCHECKED
    return not is_unchecked or any(other.kind is Kind.UNCHECKED for other in others)


def _unchecked_glue(names: Iterable[str]) -> str:
    why = "glued to be shown elsewhere, so it can't be left unchecked; filter what varies"
    return f"{', '.join(names)}: {why}"
