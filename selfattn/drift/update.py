"""Write executed outputs into pages, notebooks and docstrings, by position and never by search."""

from __future__ import annotations

import difflib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from selfattn.drift.kinds import Kind
from selfattn.drift.outputs import address
from selfattn.drift.sources import DIRECTIVE
from selfattn.drift.tokens import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from nbformat import NotebookNode

    from selfattn.drift.check import Outcome, PageResult
    from selfattn.drift.sources import Page

__all__ = [
    "Change",
    "diff",
    "refusal",
    "update_docstrings",
    "update_notebook",
    "update_page",
    "write",
]

_WRITABLE = (Kind.DRIFT, Kind.EMPTY, Kind.UNDOCUMENTED)
_STOPPED = (Kind.RAISED, Kind.NOT_RAISED, Kind.ADDRESS)


@dataclass(frozen=True)
class Change:
    """A file before and after."""

    path: Path
    before: str
    after: str


def refusal(changes: Sequence[Change], *, force: bool) -> str:
    """Return why nothing may be written, or nothing.

    Args:
        changes: What would be written.
        force: Whether a tree with other changes, or none at all, is all right.

    """
    if os.environ.get("CI"):
        return "--update is refused under CI: what is documented is decided by a person"
    if force:
        return ""
    for folder in {change.path.parent for change in changes}:
        command = ["git", "-C", str(folder), "status", "--porcelain"]
        try:
            status = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        except FileNotFoundError:
            return "--update needs git, to be undone; add --force to write without"
        if status.returncode:
            return f"{folder} is not in a git repository; add --force to write without"
        if status.stdout.strip():
            return "the tree has changes that are not committed; commit them, or add --force"
    return ""


def diff(changes: Iterable[Change]) -> str:
    """Show what would be written."""
    lines: list[str] = []
    for change in changes:
        name = str(change.path)
        lines += difflib.unified_diff(
            change.before.splitlines(), change.after.splitlines(), name, name, lineterm=""
        )
    return "\n".join(lines)


def write(changes: Sequence[Change], *, force: bool = False) -> int:
    """Show changes and write them, or say why not.

    Returns:
        The exit status: 0 if they were written or there are none, 2 if writing is refused.

    """
    if not changes:
        print("nothing to write")
        return 0
    print(diff(changes))
    reason = refusal(changes, force=force)
    if reason:
        print(f"nothing was written: {reason}", file=sys.stderr)
        return 2
    for change in changes:
        change.path.write_text(change.after, "utf-8")
    print(f"wrote {len(changes)} files; look at the diff, then check them again")
    return 0


def _stopped(result: PageResult) -> bool:
    """Whether a cell did what no output should be taken from."""
    return any(o.kind.unknown or o.kind in _STOPPED for o in result.outcomes)


# Pages -------------------------------------------------------------------------------


def update_page(path: Path, page: Page, result: PageResult) -> Change | None:
    """Return a MyST page with its executed outputs; None if a cell stopped it or all is well."""
    before = path.read_text("utf-8")
    if _stopped(result):
        return None
    lines = before.splitlines()
    ends = {e.line: e.end_line for cell in page.cells for e in cell.expectations}
    after_cell = {cell.number: cell.end_line for cell in page.cells}
    edits: list[tuple[int, int, list[str]]] = []
    for outcome in result.outcomes:
        if outcome.kind not in _WRITABLE:
            continue
        if outcome.kind is Kind.UNDOCUMENTED:
            end = after_cell[outcome.cell]
            edits.append((end, end, _fence(outcome.executed)))
        else:
            text = _rewritten(outcome).splitlines()
            edits.append((outcome.body_line - 1, ends[outcome.line], text))
    for first, last, text in sorted(edits, reverse=True):
        lines[first:last] = text
    after = "\n".join(lines) + "\n" * before.endswith("\n")
    return Change(path, before, after) if edits else None


def _fence(text: str) -> list[str]:
    body = plain(text).splitlines()
    ticks = "`" * max(3, *(len(line) - len(line.lstrip("`")) + 1 for line in ["", *body]))
    # A first line that looks like an option needs a blank one before it.
    guard = [""] if body and body[0].startswith(":") else []
    return [f"{ticks}{{{DIRECTIVE}}}", *guard, *body, ticks]


def _rewritten(outcome: Outcome) -> str:
    """Return the executed output, in the documented wrapping where only numbers differ."""
    differences = outcome.verdict.differences
    if not differences or not all(d.number for d in differences):
        return plain(outcome.executed)
    text = plain(outcome.documented)
    for d in sorted(differences, key=lambda d: d.documented_span, reverse=True):
        start, end = d.documented_span
        text = text[:start] + d.executed + text[end:]
    return text


# Notebooks ---------------------------------------------------------------------------


def update_notebook(
    path: Path, page: Page, executed: NotebookNode, result: PageResult
) -> Change | None:
    """Return a notebook in which the cells that drifted have their executed outputs."""
    before = path.read_text("utf-8")
    if _stopped(result):
        return None
    places = {cell.number: cell.index for cell in page.cells}
    drifted = [
        places[o.cell] for o in result.outcomes if o.kind in (*_WRITABLE, Kind.NO_OUTPUT) and o.cell
    ]
    if not drifted:
        return None
    # Its JSON is edited as it stands: nbformat would add ids and convert old formats.
    notebook = json.loads(before)
    for index in drifted:
        notebook["cells"][index]["outputs"] = [_stored(o) for o in executed.cells[index].outputs]
    after = json.dumps(notebook, indent=_indent(before), ensure_ascii=False)
    return Change(path, before, after + "\n" * before.endswith("\n"))


def _stored(output: NotebookNode) -> dict[str, Any]:
    """Return an output as notebooks store it: text as a list of lines."""
    stored = json.loads(json.dumps(output))
    if "text" in stored:
        stored["text"] = stored["text"].splitlines(keepends=True)
    for mime, data in stored.get("data", {}).items():
        if isinstance(data, str) and (mime.startswith("text/") or mime == "image/svg+xml"):
            stored["data"][mime] = data.splitlines(keepends=True)
    return dict(stored)


def _indent(text: str) -> int | None:
    """Return by how much a notebook's JSON is indented."""
    lines = text.splitlines()
    return len(lines[1]) - len(lines[1].lstrip()) if len(lines) > 1 else None


# Docstrings --------------------------------------------------------------------------


def update_docstrings(path: Path, result: PageResult) -> Change | None:
    """Return a module whose docstrings' examples have their executed outputs."""
    before = path.read_text("utf-8")
    if _stopped(result):
        return None
    lines = before.splitlines()
    edits: list[tuple[int, int, list[str]]] = []
    for outcome in result.outcomes:
        if outcome.kind not in (Kind.DRIFT, Kind.UNDOCUMENTED) or address(outcome.executed):
            continue
        first = outcome.body_line - 1
        last = first + outcome.documented.count("\n")
        source = lines[outcome.line - 1]
        indent = source[: len(source) - len(source.lstrip())]
        text = [(indent + line).rstrip() for line in _rewritten(outcome).splitlines()]
        edits.append((first, last, [line or f"{indent}<BLANKLINE>" for line in text]))
    for first, last, text in sorted(edits, reverse=True):
        lines[first:last] = text
    after = "\n".join(lines) + "\n" * before.endswith("\n")
    return Change(path, before, after) if edits else None
