"""Prepare a notebook that was run for its page: what is shown is what was compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbformat import v4

from sphinx_drift.compare.outcomes import Kind, Outcome
from sphinx_drift.compare.tokens import ELISION, plain
from sphinx_drift.output.printed_text import Part, printed
from sphinx_drift.output.screen import on_screen, without_links
from sphinx_drift.run.results import SKIPS
from sphinx_drift.source.read_source import cell_setting

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from myst_nb.core.config import NbParserConfig
    from nbformat import NotebookNode

    from sphinx_drift.compare.outcomes import PageResult
    from sphinx_drift.source.read_source import Page

_OF_VALUES = (Part.ALL, Part.MAIN, Part.VALUE, Part.MARKDOWN)
_MADE = "MyST renders its Markdown, and what it makes of that isn't compared"
_NOT_EXECUTED = "Not executed: the output below is the one that the notebook has stored."


def settle_streams(notebook: NotebookNode) -> None:
    """Leave of an output what a terminal is left showing: no links, and no line written over.

    JSON that has no text of its own is shown as it was compared.
    """
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output.output_type == "stream":
                output.text = on_screen(output.text)
            elif output.output_type == "error":
                output.traceback = [without_links(line) for line in output.traceback]
            elif "text/plain" in output.data:
                if {*output.data} == {"application/json", "text/plain"}:
                    # MyST-NB shows no JSON, and warns of it.
                    output.data = {"text/plain": printed([output]).select(Part.VALUE)}
                output.data["text/plain"] = without_links(output.data["text/plain"])


def stored_outputs(notebook: NotebookNode) -> dict[int, list[NotebookNode]]:
    """Return the outputs that a notebook has stored, by the place of their cell."""
    code = ((i, cell) for i, cell in enumerate(notebook.cells) if cell.cell_type == "code")
    return {index: list(cell.outputs) for index, cell in code if cell.outputs}


def show_stored(
    notebook: NotebookNode, stored: Mapping[int, list[NotebookNode]], executed: Collection[int]
) -> None:
    """Show again what was stored of the cells that were not executed, under a note that says so."""
    for index, outputs in stored.items():
        cell = notebook.cells[index]
        if index not in executed or SKIPS & {*(cell.metadata.get("tags") or ())}:
            note = {"text/markdown": f"*{_NOT_EXECUTED}*", "text/plain": _NOT_EXECUTED}
            warning: NotebookNode = v4.new_output("display_data", data=note)  # type: ignore[no-untyped-call]
            cell.outputs = [warning, *outputs]


def made_by_myst(
    notebook: NotebookNode, page: Page, result: PageResult, config: NbParserConfig
) -> Iterator[Outcome]:
    """Yield the verified outputs whose Markdown MyST renders: it may show more than that says."""
    verified = {outcome.line for outcome in result.outcomes if outcome.kind is Kind.VERIFIED}
    for cell in page.cells:
        node = notebook.cells[cell.index]
        about = [e for e in cell.expectations if e.part in _OF_VALUES]
        if any(e.unchecked for e in about) or verified.isdisjoint(e.line for e in about):
            continue
        mimes = (mime for output in node.outputs for mime in output.get("data", {}))
        is_myst = cell_setting(config, "render_markdown_format", node) == "myst"
        if is_myst and any(mime.endswith("text/markdown") for mime in mimes):
            yield Outcome(
                Kind.FORM, cell.line, cell=cell.number, cell_line=cell.line, message=_MADE
            )


def elide(notebook: NotebookNode, page: Page, result: PageResult) -> None:
    """Show a vertical ellipsis instead of the rows that it stands for: nothing compared them."""
    parts = {e.line: e.part for cell in page.cells for e in cell.expectations}
    for outcome in result.outcomes:
        if outcome.verdict.elided:
            cell = notebook.cells[page.cells[outcome.cell - 1].index]
            cell.outputs = list(_elided(cell.outputs, parts[outcome.line], outcome))


def _elided(outputs: list[NotebookNode], part: Part, outcome: Outcome) -> Iterator[NotebookNode]:
    """Yield the outputs of a cell, with one text for all that the documented one is about."""
    errors = [output for output in outputs if output.output_type == "error"]
    text = plain(outcome.executed)
    for first, last in reversed(outcome.verdict.elided):
        text = text[:first] + ELISION + text[last:]
    text = text.removesuffix(printed(errors).error)
    for output in outputs:
        if output in errors or not printed([output]).select(part).strip():
            yield output
        elif text:
            yield v4.new_output("stream", text=text)  # type: ignore[no-untyped-call]
            text = ""
