"""Compare what a page's cells printed with what the page documents."""

from __future__ import annotations

import traceback
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_drift.compare.compare import Policy, compare
from sphinx_drift.model import Kind, Outcome, PageResult
from sphinx_drift.output.filters import DEFAULTS, filtered
from sphinx_drift.output.machine import machine_paths
from sphinx_drift.output.printed_text import BESIDE, FORMS, OF_VALUES, Part, Printed, printed
from sphinx_drift.run.results import SKIPS, Ending

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nbformat import NotebookNode

    from sphinx_drift.compare.compare import Verdict
    from sphinx_drift.model import Cell, Expectation, Page
    from sphinx_drift.output.filters import Filter
    from sphinx_drift.run.results import Execution

_WITH_ERROR = (Part.ALL, Part.MAIN, Part.STDERR)
"""The parts to which the message of an error belongs."""
_STREAMS = {Part.STDOUT, Part.STDERR, Part.VALUE}
_WITHIN = {
    Part.ALL: {*_STREAMS, Part.PICTURE, Part.TRACEBACK},
    Part.MAIN: {Part.STDOUT, Part.VALUE, Part.PICTURE, Part.TRACEBACK},
    Part.VALUE: {Part.VALUE, Part.PICTURE},
    Part.STDERR: {Part.STDERR, Part.TRACEBACK},
}
"""What an expectation that is unchecked leaves unchecked, if nothing else documents it."""


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
    outcomes = list(page.problems)
    skipped: Counter[str] = Counter()
    context = _Context(
        page,
        execution,
        policy,
        (*filters, *machine_paths(Path(file).absolute().parent)),
        away=away,
        errors_fail=errors_fail,
    )
    # Those of the page itself may match nothing, which is reported.
    context.filtered.update({own.name: 0 for own in page.own.get("filters", ())})
    for cell in page.cells:
        try:
            output = printed(notebook.cells[cell.index].outputs)
            full = printed(precise.cells[cell.index].outputs) if precise else None
            skipped.update(widgets=output.widgets, pictures=output.pictures)
            outcomes += _check_cell(cell, output, full, context)
        except Exception:  # noqa: BLE001 - an error here must never pass for a success
            message = traceback.format_exc(limit=-3)
            outcomes.append(_outcome(cell, Kind.COULD_NOT_CHECK, message=message))
    failure = execution.failure
    if failure and failure.index < 0 and not any(o.kind is Kind.NOT_EXECUTED for o in outcomes):
        # All cells ran and then something broke: no cell reports it.
        outcomes.append(Outcome(Kind.COULD_NOT_CHECK, 1, message=failure.message))
    if (
        page.complete
        and page.cells
        and not any(o.kind is Kind.VERIFIED or o.kind.fails for o in outcomes)
    ):
        outcomes.append(Outcome(Kind.NOTHING_CHECKED, page.cells[0].line))
    return PageResult(
        file,
        tuple(outcomes),
        cells=len(page.cells),
        policy=policy,
        environment=execution.environment,
        skipped=+skipped,
        filtered=context.filtered,
        stored=page.stored,
    )


@dataclass(frozen=True)
class _Context:
    """What all cells of a page have in common."""

    page: Page
    execution: Execution
    policy: Policy
    filters: Sequence[Filter]
    away: bool
    errors_fail: bool
    filtered: Counter[str] = field(default_factory=Counter)


def _outcome(
    cell: Cell, kind: Kind, expectation: Expectation | None = None, **parts: object
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
    return replace(outcome, **parts)  # type: ignore[arg-type]


def _check_cell(
    cell: Cell, output: Printed, full: Printed | None, context: _Context
) -> Iterator[Outcome]:
    """Compare a cell's outputs with its expectations, and look for undocumented ones."""
    if (stopped := _stopped(cell, output, context)) is not None:
        yield stopped
        return
    outcomes: list[Outcome] = []
    for expectation in cell.expectations:
        outcome = _check_expectation(cell, expectation, output, full, context)
        if not (context.page.stored and expectation.part in BESIDE):
            outcomes.append(outcome)
        elif outcome.kind.fails and not any(other.kind.fails for other in outcomes):
            outcomes.append(replace(outcome, message=f"as {expectation.part.value}"))
    yield from outcomes
    if context.page.stored:
        yield from _check_stored(cell, output, outcomes, context)
    yield from _check_rest(cell, output, context)


def _stopped(cell: Cell, output: Printed, context: _Context) -> Outcome | None:
    """Return why a cell has no outputs to compare: it raised, or wasn't run."""
    failure = context.execution.failure
    if failure is not None and failure.index == cell.index:
        # The display of a value may raise, of which the kernel says nothing.
        message = output.error if failure.kind is Ending.RAISED else failure.message
        kind, executed = Kind[failure.kind.name], output.select(Part.ALL)
        return _outcome(cell, kind, message=message or failure.message, executed=executed)
    if cell.index not in context.execution.executed:
        message = failure.message if failure is not None and failure.index < 0 else ""
        return _outcome(cell, Kind.NOT_EXECUTED, *cell.expectations[:1], message=message)
    if not (cell.expectations or context.page.complete):
        return None
    if SKIPS & cell.tags:
        return _skipped(cell, context)
    if output.error and not (output.native_error or cell.may_raise):
        return _outcome(cell, Kind.RAISED, message=output.error)
    return None


def _skipped(cell: Cell, context: _Context) -> Outcome:
    """Return what comes of a cell that its author has excluded from execution."""
    message = f"tagged {' and '.join(sorted(SKIPS & cell.tags))}"
    # In a notebook the tag is all that its author can say; a page has to give a reason.
    reasons = [expectation.unchecked for expectation in cell.expectations]
    if cell.glued:
        return _outcome(cell, Kind.QUOTATION, message=_unchecked_glue(cell.glued))
    if context.page.stored or (reasons and all(reasons)):
        message = "; ".join([message, *dict.fromkeys(filter(None, reasons))])
        return _outcome(cell, Kind.UNCHECKED, *cell.expectations[:1], message=message)
    return _outcome(cell, Kind.NOT_EXECUTED, *cell.expectations[:1], message=message)


def _unchecked_glue(names: Iterable[str]) -> str:
    return f"{', '.join(names)}: glued to be shown elsewhere, though nothing checks it"


def _check_stored(
    cell: Cell, output: Printed, others: Sequence[Outcome], context: _Context
) -> Iterator[Outcome]:
    """Yield what a notebook's cell shows besides its text and didn't, or no longer shows."""
    if any(_excluded(e, context) for e in cell.expectations):
        return
    if any(other.kind.fails for other in others):
        return
    if cell.drawn is not None and (context.page.complete or cell.is_claim):
        nouns = ("pictures", "widgets")
        for noun, before, now in zip(nouns, cell.drawn, output.drawn, strict=True):
            if before != now:
                message = f"{noun}: it has {before} stored, and made {now}"
                yield _outcome(cell, Kind.PICTURE, message=message)
    stored = {e.part for e in cell.expectations}
    for stream in BESIDE:
        text = output.select(stream)
        if cell.expectations and stream not in stored and text.strip():
            yield _outcome(cell, Kind.UNDOCUMENTED, message=f"on {stream.value}", executed=text)


def _check_expectation(
    cell: Cell, expectation: Expectation, output: Printed, full: Printed | None, context: _Context
) -> Outcome:
    """Compare one expectation with what its cell printed."""
    filters = context.filters
    text = filtered(expectation.text, filters)
    expectation = replace(expectation, text=text)
    executed = filtered(output.select(expectation.part), filters, context.filtered)
    cannot = _cannot_compare(cell, expectation, output, executed, context)
    if cannot is not None:
        kind, message = cannot
        return _outcome(cell, kind, expectation, message=message, executed=executed)
    precise = filtered(full.select(expectation.part), filters) if full else None
    verdict = compare(
        text,
        executed,
        policy=Policy.EXACT if expectation.reference_only else context.policy,
        precise=precise,
        waivers=expectation.waivers,
    )
    kind, message = _judged(verdict, expectation, output, context)
    return _outcome(cell, kind, expectation, message=message, executed=executed, verdict=verdict)


def _judged(
    verdict: Verdict, expectation: Expectation, output: Printed, context: _Context
) -> tuple[Kind, str]:
    """Return what a verdict means for an expectation, and what there is to say of it."""
    if not verdict.tokens:
        return Kind.EMPTY, ""
    if not verdict.same:
        return Kind.DRIFT, ""
    if verdict.stale and context.policy is not Policy.PORTABLE:
        waivers = (f"{w.documented} -> {w.executed} ({w.reason})" for w in verdict.stale)
        return Kind.WAIVER, "; ".join(waivers)
    if unknown := output.unknown_in(expectation.part):
        return Kind.UNCHECKED, f"{unknown} may show more than the text, which is right"
    return Kind.VERIFIED, ""


def _cannot_compare(
    cell: Cell, expectation: Expectation, output: Printed, executed: str, context: _Context
) -> tuple[Kind, str] | None:
    """Return why an output can't be compared; None if it can."""
    if expectation.problem:
        return Kind.VARIANT, expectation.problem
    # Jupyter doesn't say the module of an error; a notebook can't say whether it was raised.
    is_printed = cell.index in context.execution.succeeded and not context.page.stored
    error = "" if is_printed else output.error
    if expectation.raises.rpartition(".")[2] not in ("", error.partition(":")[0]):
        return Kind.NOT_RAISED, f"expected {expectation.raises}, got {error or 'no error'}"
    has_glued = expectation.part not in (Part.STDOUT, Part.STDERR, Part.TRACEBACK)
    is_picture = expectation.part is Part.PICTURE
    glued = output.glued.get(Part.PICTURE if is_picture else Part.VALUE, ())
    if glued and has_glued and (expectation.unchecked or expectation.reference_only):
        return Kind.QUOTATION, _unchecked_glue(glued)
    if not executed.strip():
        return Kind.NO_OUTPUT, f"as {expectation.part.value}" * (expectation.part in BESIDE)
    return _excluded(expectation, context)


def _excluded(expectation: Expectation, context: _Context) -> tuple[Kind, str] | None:
    """Return why the page excludes an output from comparison; None if it doesn't."""
    if expectation.unchecked:
        return Kind.UNCHECKED, expectation.unchecked
    if expectation.reference_only and context.away:
        return Kind.NOT_COMPARED, expectation.reference_only
    return None


def _check_rest(cell: Cell, output: Printed, context: _Context) -> Iterator[Outcome]:
    """Yield what the cell printed that none of its expectations documents."""
    documented = {e.part for e in cell.expectations}
    has_error = bool(output.error) and not output.native_error
    if has_error and Part.ALL not in documented and not any(e.raises for e in cell.expectations):
        yield _raised(cell, output, context)
        return
    rest = _undocumented(cell, output, documented, is_page=not context.page.stored)
    if rest:
        is_wrong = context.page.complete or _is_claim(cell, context)
        names = tuple(part.value for part in rest)
        yield _outcome(
            cell,
            Kind.UNDOCUMENTED if is_wrong else Kind.NO_EXPECTATION,
            message=f"on {' and '.join(names)}",
            streams=names,
            executed="".join(output.select(part) for part in rest),
        )


def _raised(cell: Cell, output: Printed, context: _Context) -> Outcome:
    """Return what comes of an error that no expectation names."""
    may_raise = cell.may_raise or not context.errors_fail
    is_free = may_raise and not (context.page.complete or cell.expectations)
    return _outcome(cell, Kind.NO_EXPECTATION if is_free else Kind.RAISED, message=output.error)


def _is_claim(cell: Cell, context: _Context) -> bool:
    """Whether what is stored of a notebook's cell says that it prints nothing more."""
    return cell.is_claim and not any(_excluded(e, context) for e in cell.expectations)


def _undocumented(
    cell: Cell, output: Printed, documented: set[Part], *, is_page: bool
) -> list[Part]:
    """Return the parts of an output that readers see and no expectation documents."""
    covered = documented | cell.hidden
    if Part.MAIN in documented:
        covered |= {Part.STDOUT, Part.VALUE}
    if _in_forms(output, documented):
        covered |= {Part.VALUE}
    rest = [part for part in output.parts if part not in covered and Part.ALL not in covered]
    if is_page and output.draws_text and Part.PICTURE not in covered:
        rest.append(Part.PICTURE)
    has_error = bool(output.error) and not output.native_error
    if has_error and documented.isdisjoint(_WITH_ERROR) and Part.STDERR not in rest:
        rest.append(Part.STDERR)
    # Of a cell that isn't seen, what it glues is shown elsewhere.
    return rest if cell.is_seen else [part for part in rest if part in output.glued]


def _in_forms(output: Printed, documented: set[Part]) -> bool:
    """Whether each value is documented in a form of its own."""
    return all(documented & value.forms.keys() for value in output.values)


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
        message = f"the second run stopped: {execution.failure.message}"
        for cell in failed or page.cells[:1]:
            yield _outcome(cell, Kind.UNREPEATABLE, message=message)
        return
    for cell in page.cells:
        if page.stored and any(expectation.unchecked for expectation in cell.expectations):
            continue  # a notebook says it of a whole cell
        runs = [printed(book.cells[cell.index].outputs) for book in (first, second)]
        for part in _parts_shown(cell, runs, is_page=not page.stored):
            once, again = (filtered(run.select(part), filters) for run in runs)
            verdict = compare(once, again)
            if not verdict.same:
                yield _outcome(
                    cell, Kind.UNREPEATABLE, documented=once, executed=again, verdict=verdict
                )
                break


def _parts_shown(cell: Cell, runs: Sequence[Printed], *, is_page: bool) -> list[Part]:
    """Return the parts of a cell's outputs that readers see: of a value, the documented forms."""
    documented = {expectation.part for expectation in cell.expectations}
    is_text_seen = documented & OF_VALUES or not all(_in_forms(run, documented) for run in runs)
    texts = {Part.ALL} if is_text_seen else {Part.STDOUT, Part.STDERR}
    unseen = {*FORMS} - documented if documented and is_page else set()
    if unchecked := {e.part for e in cell.expectations if e.unchecked}:
        texts = (_STREAMS if is_text_seen else texts) - cell.hidden
        unseen = unseen.union(*(_WITHIN.get(part, {part}) for part in unchecked))
        if Part.MAIN in unchecked and any(run.error for run in runs):
            unseen.add(Part.STDERR)  # to which the error belongs as well
        texts, unseen = texts | documented - unchecked, unseen - (documented - unchecked)
    return [part for part in Part if part in {*texts, *BESIDE} - unseen]
