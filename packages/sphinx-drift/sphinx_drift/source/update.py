"""Write executed outputs into pages and notebooks, by position and never by search."""

from __future__ import annotations

import copy
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_drift.compare.compare import compare
from sphinx_drift.compare.lexer import plain
from sphinx_drift.model import Kind
from sphinx_drift.output.filters import DEFAULTS, filtered
from sphinx_drift.output.printed_text import BESIDE, FORMS, Part, printed
from sphinx_drift.source.expectations import DIRECTIVE
from sphinx_drift.source.lines import NEWLINE, lines_of
from sphinx_drift.source.read_source import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from nbformat import NotebookNode

    from sphinx_drift.compare.compare import Waiver
    from sphinx_drift.model import Cell, Expectation, Outcome, Page, PageResult
    from sphinx_drift.output.printed_text import Printed

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
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,}|:{3,})")


@dataclass(frozen=True)
class Change:
    """A file before and after."""

    path: Path
    before: str
    after: str
    refused: str = ""
    """Why it can't be written."""
    result: PageResult | None = None
    """What came of it after that."""


def irreversible(paths: Iterable[Path]) -> list[str]:
    """Return why git couldn't undo what is written into some files, a reason for each of those."""
    reasons = []
    for path in paths:
        file = path.resolve()  # which is written, where the name is that of a link
        command = ["git", "cat-file", "--filters", f"HEAD:./{file.name}"]
        try:
            kept = subprocess.run(command, cwd=file.parent, capture_output=True, check=False)
        except FileNotFoundError:
            return ["there is no git"]
        if kept.returncode:
            reasons.append(f"git doesn't keep {path}")
        elif kept.stdout != file.read_bytes():
            reasons.append(f"{path} has changes that are not committed, or that a filter removes")
    return reasons


def write(changes: Sequence[Change]) -> int:
    """Write changes, or say why not.

    Returns:
        The exit status: 0 if all were written or there are none, 2 if any was refused.

    """
    refused = [change for change in changes if change.refused]
    changes = [change for change in changes if not change.refused]
    for change in refused:
        print(f"{change.path} is left as it is: {change.refused}", file=sys.stderr)
    if not changes:
        print("nothing to write")
        return 2 if refused else 0
    for change in changes:
        if _read_exactly(change.path) != change.before:
            reason = f"{change.path} was changed while it was run"
            print(f"nothing was written: {reason}", file=sys.stderr)
            return 2
    for change in changes:
        try:
            _replace(change.path.resolve(), change.after)
        except (OSError, UnicodeEncodeError) as error:  # a full disk: those before it are written
            print(f"{change.path} is left as it is: {error}", file=sys.stderr)
            return 2
    files = f"{len(changes)} file{'' if len(changes) == 1 else 's'}"
    print(f"wrote {files}; look at `git diff --word-diff=color`, then check again")
    return 2 if refused else 0


def _read_exactly(path: Path) -> str:
    """Return a file with its line endings as they are."""
    return path.read_bytes().decode("utf-8")


def _replace(path: Path, text: str) -> None:
    """Write a file, whole or not at all."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
        shutil.copymode(path, name)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink()
        raise


def _why_not(page: Page, result: PageResult) -> str:
    """Return why no output of a page should be taken, or nothing."""
    for outcome in result.outcomes:
        may_raise = outcome.cell and page.cells[outcome.cell - 1].may_raise
        place = f"(line {outcome.line}, cell {outcome.cell})"
        for lacking, remedy in _LACKING.items():
            if lacking.match(outcome.message) and not may_raise:
                return f"{outcome.message} {place}: {remedy}"
        if outcome.kind.unknown and outcome.kind is not Kind.NOTHING_CHECKED:
            return f"{outcome.kind.meaning} {place}"
    return ""


def _unchecked(page: Page, result: PageResult) -> dict[int, str]:
    """Return why outputs can't be checked, by the numbers of their cells."""
    differing = {o.cell: _DIFFERS for o in result.outcomes if o.kind is Kind.UNREPEATABLE}
    outdated = {o.cell for o in result.outcomes if o.cell and o.kind in _MENDED} | {*differing}
    installing = {cell for cell in outdated if _installs(page.cells[cell - 1].source)}
    return differing | dict.fromkeys(installing, _INSTALLS)


def _installs(source: str) -> bool:
    """Whether a cell does nothing but install packages."""
    rows = (row.strip() for row in source.replace("\\\n", " ").split("\n"))
    return "install" in source and all(map(_INSTALL.match, rows))


# Lines -------------------------------------------------------------------------------

_Edit = tuple[int, int, list[str]]
"""Lines from one place up to another, counted from 0, and what stands there afterwards."""


def _lines_with_ends(text: str) -> list[str]:
    """Return the lines as editors and Markdown count them, with their ends."""
    return io.StringIO(text, newline="").readlines()


def _edited(text: str, edits: Iterable[_Edit]) -> str:
    """Replace some lines, and keep the line endings of the file."""
    lines = _lines_with_ends(text)
    end = (NEWLINE.search(text) or ["\n"])[0]
    has_last_newline = text.endswith(("\n", "\r"))
    if not has_last_newline:
        lines[-1:] = [line + end for line in lines[-1:]]
    for first, last, new in sorted(edits, reverse=True):
        lines[first:last] = [line + end for line in new]
    after = "".join(lines)
    return after if has_last_newline else after.removesuffix(end)


def _rewritten(outcome: Outcome, waivers: Sequence[Waiver] = ()) -> list[str]:
    """Return the executed output, in the documented wrapping where only numbers differ.

    What is waived stays so as long as the rest can be told apart from it.
    """
    documented, executed = plain(outcome.documented), plain(outcome.executed)
    differences = outcome.verdict.differences
    pieces, at = [], 0
    for d in sorted(differences, key=lambda d: d.documented_span):
        first, last = d.documented_span
        pieces += [documented[at:first], executed[slice(*d.executed_span)]]
        at = last
    text = "".join([*pieces, documented[at:]])
    if not all(d.number and d.gaps[0] == d.gaps[1] for d in differences):
        verdict = compare(text, executed, waivers=waivers)
        text = text if waivers and verdict.same and not verdict.unmatched else executed
    return _rows(text if differences else executed)


def _rows(text: str) -> list[str]:
    """Return the rows of a text, without spaces at their ends, which mean nothing."""
    return [row.removesuffix("\r").rstrip(" \t") for row in plain(text).split("\n")]


# Pages -------------------------------------------------------------------------------


def update_page(  # noqa: PLR0913 - what is known of it
    path: Path,
    page: Page,
    executed: NotebookNode,
    result: PageResult,
    judge: Callable[[Page], PageResult],
    *,
    key: str = "mystnb",
    is_mystmd: bool = False,
) -> Change | None:
    """Return a MyST page with its executed outputs; None if all is well.

    What is written is read and judged again, until nothing is left to write: what can't be written
    so that it reads the same is known only then.
    """
    before = text = _read_exactly(path)
    if stopped := _why_not(page, result):
        return Change(path, before, before, stopped)
    unchecked = _unchecked(page, result)
    written: set[int] = set()
    for _ in range(_ROUNDS):
        edits = list(_edits(lines_of(text), page, executed, result, unchecked, written))
        if not edits:
            break
        text = _edited(text, edits)
        seen = any(cell.has_stderr for cell in page.cells)
        loaded = load(
            path, text=text.removeprefix("\ufeff"), stderr=seen, key=key, is_mystmd=is_mystmd
        )
        read = [cell.source for cell in loaded[0].cells] if loaded else []
        if loaded is None or read != [cell.source for cell in page.cells]:
            refused = "what was printed can't be written so that it reads the same"
            return Change(path, before, before, refused)
        # Outputs stay where they are; an expectation parts the Markdown between two cells.
        cells = (
            replace(new, index=old.index)
            for new, old in zip(loaded[0].cells, page.cells, strict=True)
        )
        page = replace(loaded[0], cells=tuple(cells), complete=page.complete)
        result = judge(page)
    return Change(path, before, text, result=result) if text != before else None


_ROUNDS = 4
_DIFFERS = "it differs between two runs"
_INSTALLS = "installs packages"
_NO_TEXT = "it can't be written so that it reads the same"


def _edits(  # noqa: PLR0913, PLR0917 - what is known of a page, and of rounds before
    lines: Sequence[str],
    page: Page,
    executed: NotebookNode,
    result: PageResult,
    unchecked: dict[int, str],
    written: set[int],
) -> Iterator[_Edit]:
    """Yield what has to be written; fill in which cells were, and which can't be checked."""
    outcomes = [outcome for outcome in result.outcomes if outcome.cell and outcome.kind in _MENDED]
    for outcome in outcomes:
        if outcome.kind in (Kind.DRIFT, Kind.EMPTY) and outcome.cell in written:
            unchecked[outcome.cell] = _NO_TEXT
    # What is glued is shown where no mark can stand, so it can't be unchecked.
    left = {
        cell.number
        for cell in page.cells
        if cell.number in unchecked and printed(executed.cells[cell.index].outputs).glued
    }
    outcomes = [outcome for outcome in outcomes if outcome.cell not in left]
    by_line = {e.line: (cell, e) for cell in page.cells for e in cell.expectations}
    for cell, expectation in by_line.values():
        if cell.number in unchecked.keys() - left and not expectation.unchecked:
            blank = [""] if expectation.body_line == expectation.line + 1 else []
            option = f"{_indent(lines, expectation)}:unchecked: {unchecked[cell.number]}"
            yield expectation.line, expectation.line, [option, *blank]
    for outcome in outcomes:
        cell = page.cells[outcome.cell - 1]
        if outcome.kind in (Kind.DRIFT, Kind.EMPTY):
            expectation = by_line[outcome.line][1]
            if cell.number not in unchecked:
                yield from _body(lines, expectation, _rewritten(outcome, expectation.waivers))
        elif outcome.kind is not Kind.RAISED or not cell.expectations:
            end = cell.expectations[-1].end_line + 1 if cell.expectations else cell.end_line
            output = printed(executed.cells[cell.index].outputs)
            yield end, end, list(_new(cell, outcome, output, unchecked.get(cell.number, "")))
        written.add(cell.number)


_MENDED = (Kind.DRIFT, Kind.EMPTY, Kind.UNDOCUMENTED, Kind.RAISED)


def _new(cell: Cell, outcome: Outcome, output: Printed, unchecked: str) -> Iterator[str]:
    """Yield the lines of the expectations that a cell lacks."""
    for part in _missing(cell, outcome, output):
        text = filtered(output.select(part), DEFAULTS)
        if not text:
            continue
        options = [f":{part.value}:"] if part in FORMS else [f":stream: {part.value}"]
        options = [] if part in (Part.ALL, Part.MAIN) else options
        if outcome.kind is Kind.RAISED and part not in BESIDE:
            options.append(f":raises: {output.error.partition(':')[0]}")
        if unchecked:
            options.append(f":unchecked: {unchecked}")
        yield from _fence(options, _rows("" if unchecked in (_NO_TEXT, _INSTALLS) else text))


def _missing(cell: Cell, outcome: Outcome, output: Printed) -> list[Part]:
    """Return the parts to document: values alone as they are shown, in HTML say, else the text too.

    The form in which a value is shown is its first one.
    """
    missing = [Part(name) for name in outcome.streams]
    pictures = [part for part in missing if part is Part.PICTURE]
    texts = [part for part in missing if part is not Part.PICTURE]
    values = output.values if Part.VALUE in texts or not cell.expectations else []
    alone = texts == [Part.VALUE] and all(value.forms for value in values)
    if alone:
        texts = []
    elif not cell.expectations:
        texts = [Part.ALL if cell.has_stderr else Part.MAIN]
    firsts = {
        form: None
        for value in values
        for form in [*value.forms][:1]
        if alone or value.forms[form] != value.text
    }
    documented = {e.part for e in cell.expectations}
    return [*texts, *(form for form in firsts if form not in documented), *pictures]


def _indent(lines: Sequence[str], expectation: Expectation) -> str:
    opening = lines[expectation.line - 1]
    return opening[: len(opening) - len(opening.lstrip())]


def _body(lines: Sequence[str], expectation: Expectation, rows: Sequence[str]) -> list[_Edit]:
    """Replace the text of an expectation, and lengthen its fence if the text contains it."""
    opening, indent = lines[expectation.line - 1], _indent(lines, expectation)
    first, last = expectation.body_line - 1, expectation.end_line
    options = first > expectation.line
    new = [*([] if options else _guard(rows)), *rows]
    edits = [(first, last, [indent + row if row else "" for row in new])]
    match = _FENCE.match(opening)
    fence = match and _longer(match[1], rows)
    if match and fence != match[1]:
        edits.append(
            (expectation.line - 1, expectation.line, [f"{indent}{fence}{opening[match.end() :]}"])
        )
        edits.append((last, last + 1, [f"{indent}{fence}"]))
    return edits


def _guard(rows: Sequence[str]) -> list[str]:
    """Return a blank line if the first row would be read as an option."""
    return [""] if re.match(r":[a-z-]+:", rows[0]) else []


def _longer(fence: str, rows: Iterable[str]) -> str:
    """Return a fence that none of the rows closes."""
    starts = (row.lstrip() for row in rows)
    longest = max((len(start) - len(start.lstrip(fence[0])) for start in starts), default=0)
    return fence[0] * max(len(fence), longest + 1)


def _fence(options: Sequence[str], rows: Sequence[str]) -> list[str]:
    """Return a new expectation."""
    ticks = _longer("```", rows)
    head = [*options, ""] if options else _guard(rows)
    return [f"{ticks}{{{DIRECTIVE}}}", *head, *rows, ticks]


# Notebooks ---------------------------------------------------------------------------


def update_notebook(  # noqa: PLR0913 - the same
    path: Path,
    page: Page,
    executed: NotebookNode,
    result: PageResult,
    judge: Callable[[Page], PageResult],
    *,
    key: str = "mystnb",
    is_mystmd: bool = False,
) -> Change | None:
    """Return a notebook, as Jupyter saves it, whose drifted cells have their executed outputs.

    An error takes the place of no output that the notebook has: whether it may is for its author to
    say.
    """
    import nbformat  # noqa: PLC0415 - pages don't need it

    before = _read_exactly(path)
    if stopped := _why_not(page, result):
        return Change(path, before, before, stopped)
    unchecked = _unchecked(page, result)
    drifted = {
        o.cell
        for o in result.outcomes
        if (o.cell and o.kind in _STORED_ANEW)
        or (o.kind is Kind.RAISED and not page.cells[o.cell - 1].expectations)
    }
    if not (drifted or unchecked):
        return None
    notebook = nbformat.reads(before.removeprefix("\ufeff"), as_version=4)  # type: ignore[no-untyped-call]
    for number in drifted:
        index = page.cells[number - 1].index
        cell = notebook.cells[index]
        cell.outputs = copy.deepcopy(executed.cells[index].outputs)
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = cell.execution_count
    for number, why in unchecked.items():
        metadata = notebook.cells[page.cells[number - 1].index].metadata
        metadata.setdefault("drift", {})["unchecked"] = why
    after = f"{nbformat.writes(notebook)}\n"  # type: ignore[no-untyped-call]
    seen = any(cell.has_stderr for cell in page.cells)
    loaded = load(path, text=after, stderr=seen, key=key, is_mystmd=is_mystmd)
    return Change(path, before, after, result=judge(loaded[0]) if loaded else None)


_STORED_ANEW = (Kind.DRIFT, Kind.EMPTY, Kind.UNDOCUMENTED, Kind.NO_OUTPUT, Kind.PICTURE)
