"""Write executed outputs into pages and notebooks, by position and never by search."""

from __future__ import annotations

import difflib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx_drift.compare.compare import compare
from sphinx_drift.compare.outcomes import Kind
from sphinx_drift.compare.tokens import ELISION, plain, tokens
from sphinx_drift.output.printed_text import Part, printed
from sphinx_drift.source.lines import NEWLINE, lines_of
from sphinx_drift.source.read_source import DIRECTIVE, load

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nbformat import NotebookNode

    from sphinx_drift.compare.compare import Waiver
    from sphinx_drift.compare.outcomes import Outcome, PageResult
    from sphinx_drift.source.read_source import Cell, Expectation, Page

WRITABLE = (Kind.DRIFT, Kind.EMPTY, Kind.UNDOCUMENTED, Kind.NOTHING_CHECKED)
"""What is mended by writing down what was printed."""

_STOPPED = (Kind.RAISED, Kind.NOT_RAISED, Kind.ADDRESS, Kind.UNREPEATABLE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,}|:{3,})")


@dataclass(frozen=True)
class Change:
    """A file before and after."""

    path: Path
    before: str
    after: str
    refused: str = ""
    """Why it can't be written."""


def _refusal(changes: Sequence[Change], *, force: bool) -> str:
    """Return why nothing may be written, or nothing."""
    if os.environ.get("CI"):
        return "--update is refused under CI: what is documented is decided by a person"
    if force:
        return ""
    try:
        reasons = [_unsafe(change.path) for change in changes]
    except FileNotFoundError:
        reasons = ["there is no git to undo it"]
    reason = next(filter(None, reasons), "")
    return reason and f"{reason}; mend that, or add --force"


def _unsafe(path: Path) -> str:
    """Return why git couldn't undo what is written into a file, or nothing."""
    status = _git(path.parent, "status", "--porcelain")
    if status.returncode:
        return f"{path} is not in a git repository"
    if status.stdout.strip():
        return "the tree has changes that are not committed"
    listed = _git(path.parent, "ls-files", "--error-unmatch", "--", path.name)
    return f"git doesn't keep {path}" if listed.returncode else ""


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _diff(changes: Iterable[Change]) -> str:
    """Show what would be written."""
    lines: list[str] = []
    for change in changes:
        name = str(change.path)
        lines += difflib.unified_diff(
            lines_of(change.before), lines_of(change.after), name, name, lineterm=""
        )
    return "\n".join(lines)


def write(changes: Sequence[Change], *, force: bool = False) -> int:
    """Show changes and write them, or say why not.

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
    print(_diff(changes))
    reason = _refusal(changes, force=force)
    for change in changes:
        if not reason and _read_exactly(change.path) != change.before:
            reason = f"{change.path} was changed while it was run"
    if reason:
        print(f"nothing was written: {reason}", file=sys.stderr)
        return 2
    for change in changes:
        _replace(change.path.resolve(), change.after)
    files = f"{len(changes)} file{'' if len(changes) == 1 else 's'}"
    print(f"wrote {files}; look at the diff, then check again")
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


def _why_not(result: PageResult) -> str:
    """Return why no output of a page should be taken, or nothing."""
    for outcome in result.outcomes:
        kind = outcome.kind
        if kind not in WRITABLE and (kind.unknown or kind in _STOPPED):
            return f"{kind.meaning} (line {outcome.line}, cell {outcome.cell})"
    return ""


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

    What is waived or left out stays so as long as the rest can be told apart from it.
    """
    documented, executed = plain(outcome.documented), plain(outcome.executed)
    differences = outcome.verdict.differences
    text = documented
    for d in sorted(differences, key=lambda d: d.documented_span, reverse=True):
        first, last = d.documented_span
        text = text[:first] + executed[slice(*d.executed_span)] + text[last:]
    if not all(d.number and d.gaps[0] == d.gaps[1] for d in differences):
        may_differ = waivers or ELISION in documented
        verdict = compare(text, executed, waivers=waivers)
        text = text if may_differ and verdict.same and not verdict.unmatched else executed
    return _rows(text if differences else executed)


def _rows(text: str) -> list[str]:
    return [row.removesuffix("\r") for row in plain(text).split("\n")]


def _keys(text: str) -> list[object]:
    """Return what two texts must share to be the same output."""
    return [token.key for token in tokens(text)]


# Pages -------------------------------------------------------------------------------


def update_page(
    path: Path, page: Page, executed: NotebookNode, result: PageResult
) -> Change | None:
    """Return a MyST page with its executed outputs; None if all is well."""
    before = _read_exactly(path)
    if stopped := _why_not(result):
        return Change(path, before, before, stopped)
    lines = lines_of(before)
    by_line = {e.line: e for cell in page.cells for e in cell.expectations}
    edits: list[_Edit] = []
    texts: dict[int, str] = {}
    added: dict[int, list[str]] = {}
    same = True
    for outcome in result.outcomes:
        if outcome.kind in (Kind.DRIFT, Kind.EMPTY):
            expectation = by_line[outcome.line]
            rows = _rewritten(outcome, expectation.waivers)
            texts[outcome.line] = text = "\n".join(rows)
            same &= compare(text, outcome.executed, waivers=expectation.waivers).same
            same &= not _prints_elision(outcome.executed)
            edits += _body(lines, expectation, rows)
        elif outcome.kind is Kind.UNDOCUMENTED:
            cell = page.cells[outcome.cell - 1]
            missing = _missing(cell, executed, outcome.streams)
            added[cell.number] = [text for _, text in missing]
            same &= not any(_prints_elision(text) for _, text in missing)
            end = cell.expectations[-1].end_line + 1 if cell.expectations else cell.end_line
            edits.append((end, end, [row for each in missing for row in _fence(*each)]))
    if not edits:
        return None
    after = _edited(before, edits)
    reads = same and _reads_as(path, after, page, texts, added)
    refused = "" if reads else "what was printed can't be written so that it reads the same"
    return Change(path, before, after, refused)


def _prints_elision(text: str) -> bool:
    """Whether a text has a line that would stand for any rows if it were documented."""
    return any(token.is_elision for token in tokens(text))


def _body(lines: Sequence[str], expectation: Expectation, rows: Sequence[str]) -> list[_Edit]:
    """Replace the text of an expectation, and lengthen its fence if the text contains it."""
    opening = lines[expectation.line - 1]
    indent = opening[: len(opening) - len(opening.lstrip())]
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


def _fence(stream: Part, text: str) -> list[str]:
    """Return a new expectation."""
    rows = _rows(text)
    ticks = _longer("```", rows)
    head = [f":stream: {stream.value}", ""] if stream is not Part.ALL else _guard(rows)
    return [f"{ticks}{{{DIRECTIVE}}}", *head, *rows, ticks]


def _missing(cell: Cell, executed: NotebookNode, names: Sequence[str]) -> list[tuple[Part, str]]:
    """Return the parts of a cell's output that no expectation documents."""
    output = printed(executed.cells[cell.index].outputs)
    streams = [Part(name) for name in names] if cell.expectations else [Part.ALL]
    return [(stream, output.select(stream)) for stream in streams]


def _reads_as(
    path: Path,
    text: str,
    page: Page,
    texts: Mapping[int, str],
    added: Mapping[int, Sequence[str]],
) -> bool:
    """Whether the updated page has the same cells, and the new expectations."""
    loaded = load(path, text=text.removeprefix("\ufeff"))
    if loaded is None or len(loaded[0].cells) != len(page.cells):
        return False
    for cell, again in zip(page.cells, loaded[0].cells, strict=True):
        expected = [texts.get(e.line, e.text) for e in cell.expectations]
        expected += added.get(cell.number, [])
        actual = [e.text for e in again.expectations]
        if cell.source != again.source or list(map(_keys, expected)) != list(map(_keys, actual)):
            return False
    return True


# Notebooks ---------------------------------------------------------------------------


def update_notebook(
    path: Path, page: Page, executed: NotebookNode, result: PageResult
) -> Change | None:
    """Return a notebook in which the cells that drifted have their executed outputs.

    The rest of the file keeps its order, indentation and line endings.
    """
    before = _read_exactly(path)
    if stopped := _why_not(result):
        return Change(path, before, before, stopped)
    kinds = (*WRITABLE, Kind.NO_OUTPUT)
    drifted = {page.cells[o.cell - 1].index for o in result.outcomes if o.kind in kinds and o.cell}
    if not drifted:
        return None
    notebook = json.loads(before.removeprefix("\ufeff"))
    if "cells" not in notebook:
        refused = "its format is older than 4; save it once with Jupyter"
        return Change(path, before, before, refused)
    for index in drifted:
        cell = notebook["cells"][index]
        cell["outputs"] = [_stored(output) for output in executed.cells[index].outputs]
        for output in cell["outputs"]:
            if "execution_count" in output:
                output["execution_count"] = cell.get("execution_count")
    return Change(path, before, _json_like(before, notebook))


def _json_like(before: str, notebook: dict[str, Any]) -> str:
    """Return a notebook as JSON, in the style in which it was written before."""
    indent = re.match(r"\ufeff?\{\s*?\r?\n([ \t]+)", before)
    written = json.dumps(
        notebook,
        indent=indent[1] if indent else None,
        separators=None if '": ' in before else (",", ":"),
        ensure_ascii=before.isascii() and "\\u" in before,
    )
    end = (NEWLINE.search(before) or ["\n"])[0]
    start = "\ufeff" if before.startswith("\ufeff") else ""
    last = end if before.endswith(("\n", "\r")) else ""
    return start + written.replace("\n", end) + last


def _stored(output: NotebookNode) -> dict[str, Any]:
    """Return an output as notebooks store it: text as a list of lines."""
    stored = json.loads(json.dumps(output, sort_keys=True))
    if "text" in stored:
        stored["text"] = stored["text"].splitlines(keepends=True)
    for mime, data in stored.get("data", {}).items():
        if isinstance(data, str) and (mime.startswith("text/") or mime == "image/svg+xml"):
            stored["data"][mime] = data.splitlines(keepends=True)
    return dict(stored)
