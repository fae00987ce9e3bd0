"""Prepare a notebook that was run for its page: what is shown is what was compared."""

from collections.abc import Iterable, Iterator

from nbformat import NotebookNode, v4

from sphinx_drift.kinds import Kind
from sphinx_drift.model import Cell, Outcome, Page
from sphinx_drift.output.html_text import drawn_in
from sphinx_drift.output.printed_text import (
    FORMS,
    MIME_TYPES,
    OF_VALUES,
    PLAIN,
    Part,
    Value,
    as_stored,
    glue,
    read_outputs,
)
from sphinx_drift.output.screen import on_screen, without_links

_WIDGET = "application/vnd.jupyter.widget-view+json"
_NOT_EXECUTED = "Not executed: the output below is the one that the notebook has stored."


def settle_streams(notebook: NotebookNode) -> None:
    """Reduce each output to what a terminal finally shows."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output.output_type == "stream":
                output.text = on_screen(output.text)
            elif output.output_type == "error":
                output.traceback = [without_links(line) for line in output.traceback]
            elif PLAIN in output.data:
                output.data[PLAIN] = without_links(output.data[PLAIN])


def show_documented(notebook: NotebookNode, page: Page) -> None:
    """Reduce each documented value to its documented forms.

    A notebook documents all that it has stored; an unchecked text stands for its forms too.
    """
    for cell in page.cells:
        parts = {e.part for e in cell.expectations}
        unchecked = {e.part for e in cell.expectations if e.unchecked}
        if unchecked & OF_VALUES or (parts and page.is_notebook):
            parts |= {Part.VALUE, *FORMS}
        run = notebook.cells[cell.index]
        stored_as = cell.stored_as if run.execution_count is not None else ()
        for output, compared in zip(run.outputs, as_stored(run.outputs, stored_as), strict=True):
            for value in read_outputs([compared]).values:
                _leave(output, value, parts)


def _leave(output: NotebookNode, value: Value, parts: set[Part]) -> None:
    """Remove the forms of a value that aren't documented; one that is becomes its text too."""
    has_text = bool(parts & OF_VALUES)
    documented = {
        part: text
        for part, text in value.forms.items()
        if part in parts or (has_text and text == value.text)
    }
    if not (has_text or documented):
        return
    text = value.text if has_text else next(iter(documented.values()))
    prefix, _ = glue(output)
    shown = parts.union(documented) - {Part.JSON}  # MyST-NB shows none, and warns of it
    html = output.data.get(prefix + MIME_TYPES[Part.HTML], "")
    if Part.HTML not in value.forms and any(drawn_in(html)):
        shown.add(Part.HTML)  # it has no text, and is counted
    for part in MIME_TYPES.keys() - shown:
        output.data.pop(prefix + MIME_TYPES[part], None)
    output.data[prefix + PLAIN] = text


def widgets_as_text(notebook: NotebookNode, page: Page) -> Iterator[Outcome]:
    """Yield the widgets with undocumented text, which is all that a PDF or a text shows."""
    message = "a widget, of which this builder shows the text: it is `:stream: picture`"
    for cell in page.cells:
        documented = {e.part for e in cell.expectations}
        unchecked = {e.part for e in cell.expectations if e.unchecked}
        if not cell.is_seen or Part.PICTURE in documented or unchecked & OF_VALUES:
            continue
        for output in notebook.cells[cell.index].outputs:
            data = output.get("data", {})
            if _WIDGET in data and (text := data.get(PLAIN)):
                where = {"cell": cell.number, "cell_line": cell.line, "executed": text}
                yield Outcome(Kind.UNDOCUMENTED, cell.line, message=message, **where)


def show_stored(notebook: NotebookNode, stored: Iterable[list[NotebookNode]], page: Page) -> None:
    """Show what is stored of cells that weren't executed, below a note, and help that none got."""
    lacking = {cell.index for cell in page.cells if any(e.is_help for e in cell.expectations)}
    for index, (cell, outputs) in enumerate(zip(notebook.cells, stored, strict=True)):
        if index in lacking and cell.execution_count is not None:
            cell.outputs = cell.outputs or outputs
        elif outputs and cell.execution_count is None:
            note = {MIME_TYPES[Part.MARKDOWN]: f"*{_NOT_EXECUTED}*", PLAIN: _NOT_EXECUTED}
            warning: NotebookNode = v4.new_output("display_data", data=note)  # type: ignore[no-untyped-call]
            cell.outputs = [warning, *outputs]


def hidden(notebook: NotebookNode, page: Page) -> Iterator[int]:
    """Yield the lines of expectations whose output is hidden, so that it can't have a mark."""
    for cell in page.cells:
        outputs = notebook.cells[cell.index].outputs
        is_shown = cell.is_seen and (not outputs or not all(_is_hidden(o, cell) for o in outputs))
        yield from (e.line for e in cell.expectations if not is_shown or e.part in cell.hidden)


def _is_hidden(output: NotebookNode, cell: Cell) -> bool:
    prefix, _ = glue(output)
    return output.get("name") in cell.hidden or bool(prefix)
