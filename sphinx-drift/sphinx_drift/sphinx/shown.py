"""Prepare a notebook that was run for its page: what is shown is what was compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from nbformat import v4

from sphinx_drift.compare.outcomes import Kind, Outcome
from sphinx_drift.output.printed_text import Part, printed
from sphinx_drift.output.screen import on_screen, without_links
from sphinx_drift.run.results import SKIPS
from sphinx_drift.source.read_source import cell_setting

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from myst_nb.core.config import NbParserConfig
    from nbformat import NotebookNode
    from sphinx.application import Sphinx

    from sphinx_drift.compare.outcomes import PageResult
    from sphinx_drift.source.read_source import Cell, Page

_OF_VALUES = (Part.ALL, Part.MAIN, Part.VALUE, Part.MARKDOWN)
_MADE = "MyST or GFM renders its Markdown, and what that makes of it isn't compared"
_NOT_EXECUTED = "Not executed: the output below is the one that the notebook has stored."


def settle_streams(notebook: NotebookNode) -> None:
    """Reduce each output to what a terminal finally shows.

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


def keep_all(_: Sphinx, doctree: nodes.document) -> None:
    """Have Sphinx trim nothing of outputs that look like examples: ``<BLANKLINE>``, and flags."""
    for container in doctree.findall(nodes.container):
        if container.get("nb_element") == "cell_code_output":
            for block in container.findall(nodes.literal_block):
                block["trim_flags"] = False


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
        is_plain = cell_setting(config, "render_markdown_format", node) == "commonmark"
        if not is_plain and any(mime.endswith("text/markdown") for mime in mimes):
            yield Outcome(
                Kind.FORM, cell.line, cell=cell.number, cell_line=cell.line, message=_MADE
            )


def hidden(notebook: NotebookNode, page: Page) -> Iterator[int]:
    """Yield the lines of expectations about what no reader is shown: no mark can stand below it."""
    for cell in page.cells:
        outputs = notebook.cells[cell.index].outputs
        is_shown = cell.is_seen and (not outputs or not all(_is_hidden(o, cell) for o in outputs))
        yield from (e.line for e in cell.expectations if not is_shown or e.part in cell.hidden)


def _is_hidden(output: NotebookNode, cell: Cell) -> bool:
    glued = output.get("metadata", {}).get("scrapbook", {})
    return output.get("name") in cell.hidden or bool(glued.get("mime_prefix"))
