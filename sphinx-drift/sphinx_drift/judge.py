"""Hold what a page's cells printed against what the page documents."""

from __future__ import annotations

import traceback
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_drift.compare.compare import Policy, compare
from sphinx_drift.compare.outcomes import Kind, Outcome, PageResult
from sphinx_drift.compare.pictures import decoded, differing
from sphinx_drift.compare.tokens import ELISION
from sphinx_drift.source.printed_text import (
    BESIDE,
    Printed,
    Stream,
    address,
    printed,
    repeatable,
    without_addresses,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nbformat import NotebookNode

    from sphinx_drift.run.results import Execution
    from sphinx_drift.source.read_source import Cell, Expectation, Page

_NO_ERROR = "NoneType: None"
"""What kernels answer where not the cell raised, but its value when it was displayed."""


def judge_page(  # noqa: PLR0913 - one page has these parts
    page: Page,
    notebook: NotebookNode,
    execution: Execution,
    *,
    file: str,
    policy: Policy = Policy.EXACT,
    away: bool = False,
    precise: NotebookNode | None = None,
    folder: Path | None = None,
) -> PageResult:
    """Hold what a page's cells printed against what the page documents.

    Args:
        page: The cells and what each must print.
        notebook: The notebook after it was run.
        execution: How its cells ended.
        file: The page's name in reports.
        policy: What a number may differ by.
        away: Whether it ran on another environment than the reference.
        precise: The notebook run again at full precision.
        folder: Where the pictures lie that it names.

    Returns:
        An outcome for each expectation, and for each cell or page that lacks one. An error
        inside the comparison is an outcome too, and fails.

    """
    outcomes = list(page.problems)
    skipped: Counter[str] = Counter()
    how = _How(execution, policy, page.ignored, folder or Path(), stored=page.stored, away=away)
    for cell in page.cells:
        node = notebook.cells[cell.index]
        full = printed(precise.cells[cell.index].outputs) if precise else None
        try:
            output = printed(node.outputs)
            compared = any(e.likeness and not e.unchecked for e in cell.expectations)
            skipped.update(widgets=output.widgets)
            skipped.update(pictures=0 if compared else output.pictures)
            outcomes += _check_cell(cell, output, full, how)
        except Exception:  # noqa: BLE001 - an error here must never pass for a success
            message = traceback.format_exc(limit=-3)
            outcomes.append(_of(cell, Kind.COULD_NOT_CHECK, message=message))
    failure = execution.failure
    if failure and failure.index < 0 and not any(o.kind is Kind.NOT_EXECUTED for o in outcomes):
        # All cells ran and then something broke: no cell tells it.
        outcomes.append(Outcome(Kind.COULD_NOT_CHECK, 1, message=failure.message))
    if page.cells and not any(o.kind is Kind.VERIFIED or o.kind.fails for o in outcomes):
        outcomes.append(Outcome(Kind.NOTHING_CHECKED, page.cells[0].line))
    return PageResult(
        file,
        tuple(outcomes),
        cells=len(page.cells),
        policy=policy,
        environment=execution.environment,
        skipped=+skipped,
        stored=page.stored,
        notes=tuple(f"{file}, {note}" for note in page.notes),
    )


@dataclass(frozen=True)
class _How:
    """What is the same for all cells of a page."""

    execution: Execution
    policy: Policy
    ignored: frozenset[Stream]
    folder: Path
    stored: bool
    away: bool

    def policy_of(self, expectation: Expectation) -> Policy:
        """Return the policy for an output: what is the reference's own holds there exactly."""
        if expectation.reference_only and self.policy is Policy.PORTABLE:
            return Policy.EXACT
        return self.policy


def _of(cell: Cell, kind: Kind, expectation: Expectation | None = None, **parts: object) -> Outcome:
    """Make an outcome that is about a cell and one of its expectations."""
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


def _check_cell(cell: Cell, output: Printed, full: Printed | None, how: _How) -> Iterator[Outcome]:
    """Hold a cell's expectations against what it printed, and look for what they leave out."""
    if (stopped := _stopped(cell, output, how)) is not None:
        yield stopped
        return
    first_address = "" if how.stored else address(output.select(Stream.ALL))
    if first_address and not all(e.unchecked for e in cell.expectations):
        yield _of(cell, Kind.ADDRESS, message=first_address)
    outcomes: list[Outcome] = []
    for expectation in cell.expectations:
        if expectation.likeness is not None:
            outcomes.append(_check_pictures(cell, expectation, output, how))
            continue
        outcome = _check_expectation(cell, expectation, output, full, how)
        if first_address and _differs_in_addresses(outcome):
            continue
        if not (how.stored and expectation.stream in BESIDE):
            outcomes.append(outcome)
        elif _news(outcome, outcomes):
            outcomes.append(replace(outcome, message=f"as {expectation.stream.value}"))
    yield from outcomes
    if how.stored:
        yield from _check_stored(cell, output, outcomes, how)
    else:
        yield from _check_forms(cell, output)
    yield from _check_rest(cell, output, how.ignored)


def _stopped(cell: Cell, output: Printed, how: _How) -> Outcome | None:
    """Return why a cell has no outputs to compare: it raised, or wasn't run."""
    failure = how.execution.failure
    displayed = f"{output.error}, raised when the cell's value was displayed"
    if failure is not None and failure.index == cell.index:
        message = displayed if failure.message == _NO_ERROR and output.error else failure.message
        return _of(
            cell,
            Kind.labelled(failure.kind.value),
            message=message,
            executed=output.select(Stream.ALL),
        )
    if cell.index not in how.execution.executed:
        message = failure.message if failure is not None and failure.index < 0 else ""
        return _of(cell, Kind.NOT_EXECUTED, _first(cell), message=message)
    if "skip-execution" in cell.tags:
        message = "the cell is tagged skip-execution"
        # In a notebook the tag is all that its author can say; a page has to give a reason.
        reasons = [expectation.unchecked for expectation in cell.expectations]
        if how.stored or (reasons and all(reasons)):
            message = "; ".join([message, *dict.fromkeys(filter(None, reasons))])
            return _of(cell, Kind.UNCHECKED, message=message)
        return _of(cell, Kind.NOT_EXECUTED, _first(cell), message=message)
    if output.error and not (output.native_error or cell.may_raise):
        return _of(cell, Kind.RAISED, message=displayed)
    return None


def _check_pictures(cell: Cell, expectation: Expectation, output: Printed, how: _How) -> Outcome:
    """Hold the pictures of a cell against those that are stored or lie in files."""
    cannot = _left_alone(expectation, how)
    if cannot is not None:
        kind, message = cannot
        return _of(cell, kind, expectation, message=message)
    if how.policy is not Policy.EXACT:
        message = "pictures are compared on the reference environment alone"
        return _of(cell, Kind.NOT_COMPARED, expectation, message=message)
    names = expectation.text.split("\n") if expectation.text.strip() else []
    try:
        files = [(how.folder / name.strip()).read_bytes() for name in names]
        documented = files if expectation.pictures is None else expectation.pictures
        executed = [*map(decoded, output.images)]
        message = differing(documented, executed, expectation.likeness or 1)
    except (OSError, ValueError) as error:
        message = str(error)
    except ModuleNotFoundError as error:
        return _of(cell, Kind.COULD_NOT_CHECK, expectation, message=str(error))
    return _of(cell, Kind.PICTURE if message else Kind.VERIFIED, expectation, message=message)


def _news(outcome: Outcome, others: Sequence[Outcome]) -> bool:
    """Whether a notebook's other form of an output says more than its text did."""
    return outcome.kind.fails and not any(other.kind.fails for other in others)


def _check_stored(
    cell: Cell, output: Printed, others: Sequence[Outcome], how: _How
) -> Iterator[Outcome]:
    """Say what a notebook's cell shows now besides its text, and didn't, or no longer shows."""
    if any(_left_alone(e, how) for e in cell.expectations):
        return
    if any(other.kind.fails for other in others):
        return
    if cell.pictures != output.pictures:
        message = f"it has {cell.pictures} stored, and made {output.pictures}"
        yield _of(cell, Kind.PICTURE, message=message)
    stored = {e.stream for e in cell.expectations if e.likeness is None}
    for stream in BESIDE:
        text = output.select(stream)
        if cell.expectations and stream not in stored and text.strip():
            yield _of(cell, Kind.UNDOCUMENTED, message=f"on {stream.value}", executed=text)


def _check_forms(cell: Cell, output: Printed) -> Iterator[Outcome]:
    """Say which other forms have numbers that the text hasn't, and that nothing documents."""
    streams = {e.stream for e in cell.expectations}
    unchecked = {e.stream for e in cell.expectations if e.unchecked}
    if not streams or unchecked & {Stream.ALL, Stream.MAIN, Stream.VALUE}:
        return
    others = [each for value in output.values for each in value.differing()]
    for stream, message in others:
        if stream not in streams:
            yield _of(cell, Kind.FORM, message=message)


def _differs_in_addresses(outcome: Outcome) -> bool:
    """Whether an output drifted in its memory addresses alone, which is told already."""
    texts = (without_addresses(text) for text in (outcome.documented, outcome.executed))
    return outcome.kind is Kind.DRIFT and compare(*texts).same


def _first(cell: Cell) -> Expectation | None:
    return cell.expectations[0] if cell.expectations else None


def _check_expectation(
    cell: Cell, expectation: Expectation, output: Printed, full: Printed | None, how: _How
) -> Outcome:
    """Hold one expectation against what its cell printed."""
    # An author can leave an address out; what a notebook has stored is as it came.
    clean = without_addresses if how.stored else str
    expectation = replace(expectation, text=clean(repeatable(expectation.text)))
    executed = clean(output.select(expectation.stream))
    cannot = _cannot_compare(expectation, output, executed, how)
    if cannot is not None:
        kind, message = cannot
        return _of(cell, kind, expectation, message=message, executed=executed)
    precise = clean(full.select(expectation.stream)) if full is not None else None
    verdict = compare(
        expectation.text,
        executed,
        policy=how.policy_of(expectation),
        precise=precise,
        waivers=expectation.waivers,
        elision="" if how.stored else ELISION,
    )
    stale = verdict.unmatched + (verdict.unneeded if how.policy is not Policy.PORTABLE else ())
    if not verdict.tokens:
        return _of(cell, Kind.EMPTY, expectation, executed=executed)
    if not verdict.same:
        kind, message = Kind.DRIFT, ""
    elif stale:
        kind = Kind.WAIVER
        message = "; ".join(f"{w.documented} -> {w.executed} ({w.reason})" for w in stale)
    else:
        kind, message = Kind.VERIFIED, ""
    return _of(cell, kind, expectation, message=message, executed=executed, verdict=verdict)


def _cannot_compare(
    expectation: Expectation, output: Printed, executed: str, how: _How
) -> tuple[Kind, str] | None:
    """Return why there is nothing to compare, if there is nothing."""
    if expectation.raises and output.error.partition(":")[0] != expectation.raises:
        message = f"expected {expectation.raises}, got {output.error or 'no error'}"
        return Kind.NOT_RAISED, message
    if not executed.strip():
        return Kind.NO_OUTPUT, f"as {expectation.stream.value}" * (expectation.stream in BESIDE)
    return _left_alone(expectation, how)


def _left_alone(expectation: Expectation, how: _How) -> tuple[Kind, str] | None:
    """Return why the page itself wants no comparison here, if it says so."""
    if expectation.unchecked:
        return Kind.UNCHECKED, expectation.unchecked
    if expectation.reference_only and how.away:
        return Kind.NOT_COMPARED, expectation.reference_only
    return None


def _check_rest(cell: Cell, output: Printed, ignored: frozenset[Stream]) -> Iterator[Outcome]:
    """Say what the cell printed that none of its expectations looks at."""
    covered = {e.stream for e in cell.expectations} | ignored
    if Stream.ALL in covered:
        return
    if Stream.MAIN in covered:
        covered |= {Stream.STDOUT, Stream.VALUE}
    if output.error and not (output.native_error or any(e.raises for e in cell.expectations)):
        yield _of(cell, Kind.RAISED, message=output.error)
        return
    rest = [part for part in output.parts if part not in covered]
    if rest:
        text = "".join(output.select(part) for part in rest)
        names = tuple(part.value for part in rest)
        message = f"on {' and '.join(names)}"
        yield _of(cell, Kind.UNDOCUMENTED, message=message, streams=names, executed=text)


def compare_runs(
    page: Page, first: NotebookNode, second: NotebookNode, execution: Execution
) -> Iterator[Outcome]:
    """Name what a page printed in one run and not in another."""
    if execution.failure is not None:
        failed = [cell for cell in page.cells if cell.index == execution.failure.index]
        message = f"the second run stopped: {execution.failure.message}"
        for cell in failed or page.cells[:1]:
            yield _of(cell, Kind.UNREPEATABLE, message=message)
        return
    for cell in page.cells:
        if any(expectation.unchecked for expectation in cell.expectations):
            continue
        runs = [printed(book.cells[cell.index].outputs) for book in (first, second)]
        clean = without_addresses if page.stored else str
        texts = ([clean(run.select(stream)) for run in runs] for stream in (Stream.ALL, *BESIDE))
        other = next((pair for pair in texts if not compare(*pair, elision="").same), None)
        if other is not None:
            verdict = compare(*other, elision="")
            once, again = other
            yield _of(cell, Kind.UNREPEATABLE, documented=once, executed=again, verdict=verdict)
