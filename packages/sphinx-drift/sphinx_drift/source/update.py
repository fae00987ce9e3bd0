"""Write executed outputs into pages and notebooks, by position and never by search."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sphinx_drift.model import Kind
from sphinx_drift.output.filters import DEFAULTS, filtered
from sphinx_drift.output.machine import machine_paths, names_in
from sphinx_drift.output.printed_text import BESIDE, FORMS, Part, printed
from sphinx_drift.source.lines import lines_of
from sphinx_drift.source.prose import outdated_numbers
from sphinx_drift.source.read_source import load
from sphinx_drift.source.rewrite import (
    body_edits,
    edited,
    indent_of,
    new_expectation,
    rewritten,
    rows_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from nbformat import NotebookNode

    from sphinx_drift.model import Cell, Outcome, Page, PageResult
    from sphinx_drift.output.filters import Filter
    from sphinx_drift.output.printed_text import Printed
    from sphinx_drift.source.rewrite import Edit

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
_ROUNDS = 4
_DIFFERS = "it differs between two runs"
_INSTALLS = "installs packages"
_NO_TEXT = "it can't be written so that it reads the same"
UNDECIDED = frozenset({_DIFFERS, _NO_TEXT})
"""Reasons to compare nothing that only say what was seen: a person has to decide."""
_MENDED = (Kind.DRIFT, Kind.EMPTY, Kind.UNDOCUMENTED, Kind.RAISED)
"""What a new text mends on a page."""
_STORED_ANEW = (Kind.DRIFT, Kind.EMPTY, Kind.UNDOCUMENTED, Kind.NO_OUTPUT, Kind.PICTURE)
"""What a new output mends in a notebook."""


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
    notes: tuple[str, ...] = ()
    """What its author should look at: sentences with an old number, names of this machine."""


def read_exactly(path: Path) -> str:
    """Return a file with its line endings as they are."""
    return path.read_bytes().decode("utf-8")


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


def _notes(path: Path, before: str, after: str, result: PageResult, page: Page) -> tuple[str, ...]:
    """Return what the author of a file should look at, now that it has new outputs."""
    names = [name for name in names_in(after) if name not in names_in(before)]
    told = [f"{path}: what is written names this machine or its user: {name}" for name in names]
    return (*outdated_numbers(path, after, result.outcomes, page), *told)


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
    choose: Callable[[Page], Page] = lambda page: page,
) -> Change | None:
    """Return a MyST page with its executed outputs; None if all is well.

    What is written is read and judged again, until nothing is left to write: what can't be written
    so that it reads the same is known only then.
    """
    before, page = read_exactly(path), choose(page)
    text = before
    if stopped := _why_not(page, result):
        return Change(path, before, before, stopped)
    first = result
    writer = _Writer(executed, machine_paths(path.absolute().parent), _unchecked(page, result))
    written: set[int] = set()
    for _ in range(_ROUNDS):
        mended = [o for o in result.outcomes if o.cell and o.kind in _MENDED]
        again = (o.cell for o in mended if o.kind in (Kind.DRIFT, Kind.EMPTY) and o.cell in written)
        unwritable = (o.cell for o in mended if _has_odd_lines(o.executed))
        unchecked = dict.fromkeys((*again, *unwritable), _NO_TEXT)
        writer = replace(writer, unchecked={**writer.unchecked, **unchecked})
        edits = list(writer.edits(lines_of(text), page, mended))
        if not edits:
            break
        written |= {outcome.cell for outcome in mended}
        text = edited(text, edits)
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
        new = replace(loaded[0], cells=tuple(cells), complete=page.complete)
        page, result = choose(new), judge(new)
    if text == before:
        return None
    notes = _notes(path, before, text, first, page)
    return Change(path, before, text, result=result, notes=notes)


def _has_odd_lines(text: str) -> bool:
    """Whether MyST-NB would end a line of a text where no editor does: at a form feed, say."""
    return len(f"{text}.".splitlines()) > len(lines_of(f"{text}."))


@dataclass(frozen=True)
class _Writer:
    """Writes the outputs of a page's cells into its lines."""

    executed: NotebookNode
    paths: tuple[Filter, ...]
    """What names the folders of this machine."""
    unchecked: Mapping[int, str]
    """Why outputs can't be checked, by the numbers of their cells."""

    def edits(
        self, lines: Sequence[str], page: Page, outcomes: Sequence[Outcome]
    ) -> Iterator[Edit]:
        """Yield what has to stand where, for all outcomes that a text mends."""
        # What is glued is shown where no mark can be, so it can't be unchecked: it is left.
        glued = {c.number for c in page.cells if self._output(c).glued} & self.unchecked.keys()
        for cell in page.cells:
            if cell.number not in glued:
                yield from self._options(lines, cell)
        for outcome in outcomes:
            if outcome.cell not in glued:
                yield from self._texts(lines, page.cells[outcome.cell - 1], outcome)

    def _output(self, cell: Cell) -> Printed:
        return printed(self.executed.cells[cell.index].outputs)

    def _options(self, lines: Sequence[str], cell: Cell) -> Iterator[Edit]:
        """Yield why a cell isn't checked, above the text of each of its expectations."""
        reason = self.unchecked.get(cell.number, "")
        for expectation in cell.expectations if reason else ():
            if not expectation.unchecked:
                blank = [""] if expectation.body_line == expectation.line + 1 else []
                option = f"{indent_of(lines, expectation)}:unchecked: {reason}"
                yield expectation.line, expectation.line, [option, *blank]

    def _texts(self, lines: Sequence[str], cell: Cell, outcome: Outcome) -> Iterator[Edit]:
        """Yield the new text of an expectation, or the expectations that a cell lacks."""
        if outcome.kind in (Kind.DRIFT, Kind.EMPTY):
            expectation = next(e for e in cell.expectations if e.line == outcome.line)
            if cell.number not in self.unchecked:
                yield from body_edits(lines, expectation, rewritten(outcome, expectation.waivers))
        elif outcome.kind is not Kind.RAISED or not cell.expectations:
            end = cell.expectations[-1].end_line + 1 if cell.expectations else cell.end_line
            yield end, end, list(self._new(cell, outcome))

    def _new(self, cell: Cell, outcome: Outcome) -> Iterator[str]:
        """Yield the lines of the expectations that a cell lacks."""
        output, unchecked = self._output(cell), self.unchecked.get(cell.number, "")
        raises = output.error.partition(":")[0]
        if any(expectation.raises for expectation in cell.expectations):
            raises = ""
        for part in _missing(cell, outcome, output):
            text = filtered(output.select(part), (*DEFAULTS, *self.paths))
            if not text:
                continue
            options = [f":{part.value}:"] if part in FORMS else [f":stream: {part.value}"]
            options = [] if part in (Part.ALL, Part.MAIN) else options
            if raises and part not in BESIDE:
                options.append(f":raises: {raises}")
            if unchecked:
                options.append(f":unchecked: {unchecked}")
            has_text = unchecked not in (_NO_TEXT, _INSTALLS)
            yield from new_expectation(options, rows_of(text if has_text else ""))


def _missing(cell: Cell, outcome: Outcome, output: Printed) -> list[Part]:
    """Return the parts of an output that new expectations document, in order.

    A cell that has none gets one of all its text, or, where it shows nothing but values in other
    forms, one of each of these forms; one that has some gets those of the streams that they lack.
    """
    streams = [Part(name) for name in outcome.streams]
    texts = [part for part in streams if part is not Part.PICTURE]
    pictures = [part for part in streams if part is Part.PICTURE]
    is_first = not cell.expectations
    values = output.values if is_first or Part.VALUE in texts else []
    in_forms_alone = texts == [Part.VALUE] and all(value.forms for value in values)
    if in_forms_alone:
        texts = []
    elif is_first:
        texts = [Part.ALL if cell.has_stderr else Part.MAIN]
    # The form in which a value is shown is its first one.
    firsts = [(value, next(iter(value.forms))) for value in values if value.forms]
    forms = [f for value, f in firsts if in_forms_alone or value.forms[f] != value.text]
    documented = {e.part for e in cell.expectations}
    return [*texts, *(form for form in dict.fromkeys(forms) if form not in documented), *pictures]


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

    before = read_exactly(path)
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
    portable = partial(_portable, paths=machine_paths(path.absolute().parent))
    for number in drifted:
        index = page.cells[number - 1].index
        cell = notebook.cells[index]
        cell.outputs = [*map(portable, copy.deepcopy(executed.cells[index].outputs))]
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = cell.execution_count
    for number, why in unchecked.items():
        metadata = notebook.cells[page.cells[number - 1].index].metadata
        metadata.setdefault("drift", {})["unchecked"] = why
    _add_widgets(notebook, executed)
    after = f"{nbformat.writes(notebook)}\n"  # type: ignore[no-untyped-call]
    after = after.replace("\n", "\r\n") if "\r\n" in before else after
    seen = any(cell.has_stderr for cell in page.cells)
    loaded = load(path, text=after, stderr=seen, key=key, is_mystmd=is_mystmd)
    notes = _notes(path, before, after, result, page)
    after_result = judge(loaded[0]) if loaded else None
    return Change(path, before, after, result=after_result, notes=notes)


def _portable(value: Any, paths: Sequence[Filter]) -> Any:
    """Return an output, or what it holds, without the folders of this machine."""
    if isinstance(value, str):
        return filtered_paths(value, paths)
    if isinstance(value, list):
        return [_portable(item, paths) for item in value]
    if isinstance(value, dict):
        for name, item in value.items():
            if not name.startswith("image/"):
                value[name] = _portable(item, paths)
    return value


def filtered_paths(text: str, paths: Sequence[Filter]) -> str:
    """Return a text in which the folders of this machine have their names."""
    for path in paths:
        text = path.apply(text)
    return text


def _add_widgets(notebook: NotebookNode, executed: NotebookNode) -> None:
    """Keep the state of widgets that new outputs show, beside that of the others."""
    for mime, new in executed.metadata.get("widgets", {}).items():
        stored = notebook.metadata.setdefault("widgets", {}).setdefault(mime, new)
        stored["state"] = {**stored.get("state", {}), **new.get("state", {})}
