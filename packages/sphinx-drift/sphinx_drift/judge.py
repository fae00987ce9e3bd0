"""Compare what a page's cells printed with what the page documents."""

import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from nbformat import NotebookNode

from sphinx_drift.compare.compare import Policy, Verdict, compare
from sphinx_drift.model import Cell, Expectation, Kind, Outcome, Page, PageResult
from sphinx_drift.output.filters import DEFAULTS, Filter, apply_filters
from sphinx_drift.output.machine import machine_paths
from sphinx_drift.output.printed_text import (
    BESIDE,
    FORMS,
    OF_VALUES,
    Part,
    Printed,
    as_stored,
    included_in,
    read_outputs,
)
from sphinx_drift.run.results import SKIPS, Ending, Execution


def judge_page(  # noqa: PLR0913 - one page has these parts
    page: Page,
    notebook: NotebookNode,
    execution: Execution,
    *,
    file: str,
    policy: Policy = Policy.EXACT,
    away: bool = False,
    precise: NotebookNode | None = None,
    filters: Sequence[Filter] = DEFAULTS,
    errors_fail: bool = False,
) -> PageResult:
    """Compare what a page's cells printed with what the page documents.

    Args:
        page: The cells and what each must print.
        notebook: The notebook after it was run.
        execution: How its cells ended.
        file: The page's name in reports.
        policy: What a number may differ by.
        away: Whether it ran on another environment than the reference.
        precise: The notebook run again at full precision.
        filters: What varies, and is not compared.
        errors_fail: Whether an error that nothing announces fails on any page.

    Returns:
        An outcome for each expectation, and for each cell or page that lacks one. An error
        inside the comparison is an outcome too, and fails.

    """
    outcomes = [
        replace(o, kind=Kind.UNCHECKED) if o.if_complete and not page.complete else o
        for o in page.problems
    ]
    not_text, silent = Counter[str](), 0
    filters = (*filters, *machine_paths(Path(file).absolute().parent))
    run = _PageRun(page, execution, policy, filters, away=away, errors_fail=errors_fail)
    # A filter of the page may match nothing, which is reported.
    run.filter_counts.update({one.name: 0 for one in page.settings.get("filters", ())})
    for cell in page.cells:
        try:
            # The end of stderr may only be printed. A notebook can't say whether it was raised.
            may_raise = page.is_notebook or cell.index not in execution.succeeded
            read = partial(_printed, cell, raised=may_raise)
            output, full = read(notebook), read(precise) if precise else None
            not_text.update(widgets=output.widgets, pictures=output.pictures)
            found = [*_CellCheck(cell, output, full, run).outcomes()]
            outcomes += found
            is_claim = cell.is_claim and page.is_notebook and not SKIPS & cell.tags
            silent += is_claim and not (found or any(output.drawn))
        except Exception:  # noqa: BLE001 - an error here must never pass for a success
            message = traceback.format_exc(limit=-3)
            outcomes.append(_outcome(cell, Kind.COULD_NOT_CHECK, message=message))
    failure = execution.failure
    all_ran = not any(outcome.kind is Kind.NOT_EXECUTED for outcome in outcomes)
    if failure and failure.index is None and all_ran:
        # Something broke later: no cell reports it.
        outcomes.append(Outcome(Kind.COULD_NOT_CHECK, 1, message=failure.message))
    if page.is_stripped:
        outcomes = _as_one(outcomes)
    is_checked = silent or any(o.kind is Kind.VERIFIED or o.kind.fails for o in outcomes)
    if page.complete and page.cells and not is_checked:
        outcomes.append(Outcome(Kind.NOTHING_CHECKED, page.cells[0].line))
    return PageResult(
        file,
        tuple(outcomes),
        cells=len(page.cells),
        policy=policy,
        environment=execution.environment,
        not_text=+not_text,
        filter_counts=run.filter_counts,
        names=page.names,
        silent=silent,
        is_notebook=page.is_notebook,
    )


def _printed(cell: Cell, notebook: NotebookNode, *, raised: bool = True) -> Printed:
    """Return what a cell printed, in the forms in which its outputs are stored."""
    outputs = as_stored(notebook.cells[cell.index].outputs, cell.stored_as)
    return read_outputs(outputs, raised=raised)


def _as_one(outcomes: list[Outcome]) -> list[Outcome]:
    """Merge what the cells print and draw of a notebook that has no output stored."""
    new = [o for o in outcomes if o.kind in (Kind.UNDOCUMENTED, Kind.PICTURE)]
    if not new[1:]:
        return outcomes
    cells = ", ".join(dict.fromkeys(str(outcome.cell) for outcome in new))
    message = (
        f"cells {cells} print or draw; they were run, and the notebook has no output stored\n"
        "if its outputs are meant to be stripped, remove the execution counts as well"
    )
    merged = Outcome(Kind.UNDOCUMENTED, new[0].line, cell=new[0].cell, message=message)
    return [*(outcome for outcome in outcomes if outcome not in new), merged]


@dataclass(frozen=True)
class _PageRun:
    """What all cells of a page have in common."""

    page: Page
    execution: Execution
    policy: Policy
    filters: Sequence[Filter]
    away: bool
    errors_fail: bool
    filter_counts: Counter[str] = field(default_factory=Counter)


def _outcome(
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
class _CellCheck:
    """A cell, what it printed, and the run that it was part of."""

    cell: Cell
    output: Printed
    precise: Printed | None
    run: _PageRun

    def outcomes(self) -> Iterator[Outcome]:
        """Compare the outputs with their expectations, and look for undocumented ones."""
        if (stopped := self._stopped()) is not None:
            yield stopped
            return
        is_notebook = self.run.page.is_notebook
        compared: list[Outcome] = []
        for expectation in self.cell.expectations:
            outcome = self._compared(expectation)
            # A form that repeats a text counts once, unless the form alone differs.
            if not (is_notebook and expectation.part in BESIDE):
                compared.append(outcome)
            elif outcome.kind.fails and not any(other.kind.fails for other in compared):
                compared.append(replace(outcome, message=f"as {expectation.part.value}"))
        yield from compared
        is_excluded = any(self._excluded(e) for e in self.cell.expectations)
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
            message = output.error if failure.kind is Ending.RAISED else failure.message
            kind, executed = Kind[failure.kind.name], output.select(Part.ALL)
            return _outcome(cell, kind, message=message or failure.message, executed=executed)
        if cell.index not in execution.executed:
            message = failure.message if failure is not None and failure.index is None else ""
            return _outcome(cell, Kind.NOT_EXECUTED, *cell.expectations[:1], message=message)
        if cell.expectations or self.run.page.complete:
            if SKIPS & cell.tags:
                return self._skipped()
            if self._raised and not cell.may_raise:
                return _outcome(cell, Kind.RAISED, message=output.error)
        return None

    def _skipped(self) -> Outcome:
        """Return what comes of a cell that its author has excluded from execution."""
        cell = self.cell
        if cell.glued:
            return _outcome(cell, Kind.QUOTATION, message=_unchecked_glue(cell.glued))
        tags = f"tagged {' and '.join(sorted(SKIPS & cell.tags))}"
        # The tag is all that the author of a notebook can say; a page has to give a reason.
        reasons = [expectation.unchecked for expectation in cell.expectations]
        if not self.run.page.is_notebook and not (reasons and all(reasons)):
            return _outcome(cell, Kind.NOT_EXECUTED, *cell.expectations[:1], message=tags)
        message = "; ".join([tags, *dict.fromkeys(filter(None, reasons))])
        return _outcome(cell, Kind.UNCHECKED, *cell.expectations[:1], message=message)

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
            return _outcome(self.cell, kind, expectation, message=message, executed=executed)
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
        return _outcome(self.cell, kind, expectation, **fields)

    def _judged(self, verdict: Verdict, expectation: Expectation) -> tuple[Kind, str]:
        """Return the kind of outcome that a verdict means, and its message."""
        if not verdict.compared:
            return Kind.EMPTY, ""
        if not verdict.same:
            return Kind.DRIFT, ""
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
        # Jupyter doesn't say the module of an error.
        if claimed and claimed.rpartition(".")[2] != error.partition(":")[0]:
            return Kind.NOT_RAISED, f"expected {claimed}, got {error or 'no error'}"
        part = expectation.part
        glued = self.output.glued.get(part if part is Part.PICTURE else Part.VALUE, ())
        is_waived = expectation.unchecked or expectation.reference_only
        if glued and is_waived and part not in (Part.STDOUT, Part.STDERR, Part.TRACEBACK):
            return Kind.QUOTATION, _unchecked_glue(glued)
        if not executed.strip():
            return Kind.NO_OUTPUT, f"as {part.value}" * (part in BESIDE)
        return self._excluded(expectation)

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
        if cell.drawn is not None and (self.run.page.complete or is_claim):
            nouns = ("pictures", "widgets")
            for noun, before, now in zip(nouns, cell.drawn, output.drawn, strict=True):
                if before != now:
                    message = f"{noun}: it has {before} stored, and made {now}"
                    yield _outcome(cell, Kind.PICTURE, message=message)
        for part in BESIDE if cell.expectations else ():
            text = output.select(part)
            if text.strip() and part not in {e.part for e in cell.expectations}:
                message = f"on {part.value}"
                yield _outcome(cell, Kind.UNDOCUMENTED, message=message, executed=text)

    def _undocumented(self, *, is_claim: bool) -> Outcome | None:
        """Return the outputs that readers see, or the error, if nothing documents them."""
        cell, output, page = self.cell, self.output, self.run.page
        is_named = any(e.raises or e.part is Part.ALL for e in cell.expectations)
        if self._raised and not is_named:
            # A cell that may raise fails where a run has saved it without the error.
            fails = is_claim if cell.may_raise else self.run.errors_fail
            is_wrong = fails or page.complete or cell.expectations
            kind = Kind.RAISED if is_wrong else Kind.NO_EXPECTATION
            return _outcome(cell, kind, message=output.error)
        parts = self._undocumented_parts()
        if not parts:
            return None
        return _outcome(
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


def _unchecked_glue(names: Iterable[str]) -> str:
    return f"{', '.join(names)}: glued to be shown elsewhere, though nothing checks it"


def compare_runs(
    page: Page,
    first: NotebookNode,
    second: NotebookNode,
    execution: Execution,
    filters: Sequence[Filter] = DEFAULTS,
) -> Iterator[Outcome]:
    """Name what a page printed in one run and not in another."""
    if execution.failure is not None:
        failed = [cell for cell in page.cells if cell.index == execution.failure.index]
        message = f"run again, it stopped: {execution.failure.message}"
        for cell in failed or page.cells[:1]:
            yield _outcome(cell, Kind.UNREPEATABLE, message=message)
        return
    for cell in page.cells:
        if page.is_notebook and any(expectation.unchecked for expectation in cell.expectations):
            continue  # a notebook says it of a whole cell
        runs = [_printed(cell, notebook) for notebook in (first, second)]
        for part in _parts_to_repeat(cell, runs, is_page=not page.is_notebook):
            once, again = (apply_filters(run.select(part), filters) for run in runs)
            verdict = compare(once, again)
            if not verdict.same:
                fields = {"documented": once, "executed": again, "verdict": verdict}
                yield _outcome(cell, Kind.UNREPEATABLE, **fields)  # type: ignore[arg-type]
                break


def _parts_to_repeat(cell: Cell, runs: Sequence[Printed], *, is_page: bool) -> list[Part]:
    """Return the parts of a cell's outputs that are checked, or that nothing says may vary."""
    checked = {e.part for e in cell.expectations if not e.unchecked}
    unchecked = {e.part for e in cell.expectations if e.unchecked}
    free = included_in(unchecked) | cell.hidden
    if unchecked & OF_VALUES:
        free |= {Part.PICTURE, *FORMS}  # which show a value as well
    if is_page and (checked | unchecked) & {*OF_VALUES, *FORMS}:
        free |= {*FORMS}  # of a value, a page shows what it documents alone
    if Part.TRACEBACK in free and any(run.error for run in runs):
        free |= {Part.STDERR}  # which holds the error as well
    parts = {Part.STDOUT, Part.VALUE, Part.STDERR, *BESIDE} - free | checked
    return [part for part in Part if part in parts]
