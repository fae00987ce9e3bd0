"""Read a notebook: its cells, and the stored outputs that it documents."""

import re
import warnings
from dataclasses import replace
from itertools import chain

import nbformat
from myst_nb.core.config import NbParserConfig
from nbformat import NotebookNode

from sphinx_drift.compare.lexer import plain
from sphinx_drift.model import Cell, Expectation, Page
from sphinx_drift.output.printed_text import BESIDE, Part, read_outputs
from sphinx_drift.source.metadata import IGNORED, page_config, read_cell, with_settings

_NBVAL = re.compile(r"(?m)^[ \t]*#[# \t]*NBVAL_(IGNORE_OUTPUT|RAISES_EXCEPTION|SKIP)[ \t\r]*$")
"""The comments by which nbval marks a cell."""
_TAGS = {"IGNORE_OUTPUT": IGNORED, "RAISES_EXCEPTION": "raises-exception", "SKIP": "nbval-skip"}
"""The tags that say the same."""
_XEUS = ("xpython", "xpython-raw", "xeus-python")
"""The kernels of Python whose first cell has the number 0."""
_ASKS = re.compile(r"\?{1,2}[\w.*%]+|[\w.*%]+\?{1,2}")
"""A line by which IPython is asked for help."""
_HELP = "help, which only some of Jupyter's programs store"
"""Why what a notebook has stored below `name?` is unchecked: a run that nothing shows has none."""
_NEEDED = {"stream": {"name", "text"}, "error": {"ename", "evalue"}}
"""What an output of a kind must have; any other has data."""


def parse_notebook(text: str) -> NotebookNode:
    """Return the notebook that a file holds, in the newest format.

    Raises:
        ValueError: If it isn't JSON, or a cell isn't what a cell must be.

    """
    try:
        with warnings.catch_warnings():  # notebooks as they are lack ids, and are fine
            warnings.simplefilter("ignore")
            notebook: NotebookNode = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
    except Exception as error:  # noqa: BLE001 - nbformat expects what must be there
        cause = error.__cause__ or error  # of what is no JSON, where that ends
        raise ValueError(f"it is no notebook: {type(cause).__name__}: {cause}") from None
    for name in ("kernelspec", "language_info"):
        if not isinstance(notebook.metadata.get(name, {}), dict):
            del notebook.metadata[name]  # null, say: then it names none
    _refuse_odd(notebook)
    return notebook


def read_notebook(notebook: NotebookNode, shown: NbParserConfig | None = None) -> Page:
    """Read a notebook whose stored outputs are what it documents; tag it as it is marked.

    Args:
        notebook: The notebook, before it is run.
        shown: Which outputs readers see; None for all but what it stored of stderr, for warnings
            and progress bars name paths and times of the machine that wrote them.

    """
    shown = shown or page_config(notebook.metadata, output_stderr="remove")
    counts_from_zero = str(notebook.metadata.get("kernelspec", {}).get("name")) in _XEUS
    cells: list[Cell] = []
    for index, node in enumerate(notebook.cells):
        if node.cell_type != "code":
            continue
        if marks := [_TAGS[mark] for mark in _NBVAL.findall(node.source)]:
            node.metadata["tags"] = [*(node.metadata.get("tags") or ()), *marks]
        cell = read_cell(len(cells) + 1, index, node, (1, 1), shown)
        cells.append(_with_stored(cell, node, counts_from_zero=counts_from_zero))
    return with_settings(Page(tuple(cells), is_notebook=True), notebook)


def _with_stored(cell: Cell, node: NotebookNode, *, counts_from_zero: bool) -> Cell:
    """Return a cell with what its notebook has stored of it."""
    output = read_outputs(node.outputs)
    raises = output.error.partition(":")[0]
    # Colab says 0 of a cell that was never run, and xeus of the first one that was.
    is_run = (count := node.get("execution_count")) or (count == 0 and counts_from_zero)
    main = Part.ALL if cell.has_stderr else Part.MAIN
    is_shown = all(each.output_type == "display_data" for each in node.outputs)
    last_line = cell.source.rstrip().rpartition("\n")[2].strip()
    is_help = is_shown and bool(_ASKS.fullmatch(last_line))
    unchecked = _HELP if is_help else ""
    expectations = tuple(
        Expectation(
            *(stored, cell.line, cell.line, part),
            raises=raises,
            unchecked=unchecked,
            is_help=is_help,
        )
        for part in (main, *BESIDE)
        if plain(stored := output.select(part)).strip()
    )
    return replace(
        cell,
        expectations=expectations,
        unchecked=unchecked * bool(expectations),
        drawn=output.drawn,
        stored_as=tuple(frozenset(each.data) for each in node.outputs if "data" in each),
        glued=tuple(dict.fromkeys(chain.from_iterable(output.glued.values()))),
        is_claim=bool(is_run or node.outputs),
    )


def _refuse_odd(notebook: NotebookNode) -> None:
    """Raise a `ValueError` for what nbformat lets pass, and Jupyter would not open or run."""
    for number, cell in enumerate(notebook.cells, start=1):
        if not isinstance(cell.get("source"), str):
            message = f"the `source` of its cell {number} must be text, got {cell.get('source')!r}"
            raise ValueError(message)  # noqa: TRY004 - the file is wrong
        tags = cell.metadata.get("tags") or ()
        if not isinstance(tags, (list, tuple)) or not all(isinstance(tag, str) for tag in tags):
            raise ValueError(f"the `tags` of its cell {number} must be texts, got {tags!r}")
        if cell.cell_type == "code" and not isinstance(cell.get("outputs"), list):
            raise ValueError(f"its cell {number} must have a list of `outputs`, as code has")
        for output in cell.get("outputs", ()):
            needed = {"output_type"} | _NEEDED.get(output.get("output_type"), {"data"})
            if not needed <= output.keys():
                must_have, got = (", ".join(sorted(names)) for names in (needed, output))
                raise ValueError(f"an output of its cell {number} must have {must_have}; got {got}")
            if not isinstance(metadata := output.get("metadata", {}), dict):
                what = f"the `metadata` of an output of its cell {number}"
                message = f"{what} must be a mapping, got {metadata!r}"
                raise ValueError(message)  # noqa: TRY004 - the file is wrong
