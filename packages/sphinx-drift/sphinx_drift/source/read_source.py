"""Read what a page or notebook documents: its cells, and what each must print."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from sphinx_drift.compare.lexer import plain
from sphinx_drift.model import Cell, Expectation, Kind, Outcome, Page
from sphinx_drift.output.filters import Filter, filters_in
from sphinx_drift.output.printed_text import BESIDE, Part, printed
from sphinx_drift.source.expectations import DIRECTIVE, read_expectation
from sphinx_drift.source.lines import lines_of
from sphinx_drift.source.markdown import (
    directive_of,
    is_cell,
    is_closed,
    read_markdown,
    shared_parse,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from markdown_it.token import Token as MarkdownToken
    from myst_nb.core.config import NbParserConfig
    from myst_parser.config.main import MdParserConfig
    from nbformat import NotebookNode

_CELL_IN_JSON = re.compile(r'(?<!\\)"cell_type"\s*:')
"""In the file of a notebook it is on the first lines of each cell, as Jupyter writes them."""
_IGNORED = "nbval-ignore-output"
_OPEN = "its fence isn't closed before the end of the page: nobody would see what it swallows"
_COMMENT = re.compile(r"\s*(?:(?:%|\+\+\+).*)?$")


# MyST pages --------------------------------------------------------------------------


def read_page(
    text: str,
    notebook: NotebookNode,
    config: MdParserConfig,
    *,
    settings: bool | NbParserConfig = True,
    key: str = "mystnb",
) -> Page:
    """Read a MyST page.

    Args:
        text: The page.
        notebook: Its cells, as MyST-NB reads them.
        config: How MyST-Parser reads it.
        settings: The book's; without a book, whether what cells write to stderr is shown.
        key: The key in a page's metadata under which MyST-NB's settings stand.

    Returns:
        Each code cell with the expectations that stand straight after it. An expectation
        that has no cell, an option that can't be read and the like are its problems.

    """
    lines, shown = lines_of(text), _settings_of(notebook, settings, key)
    reading = read_markdown(text, config)
    code = [token for token in reading.fences if is_cell(token)]
    nodes = [(i, cell) for i, cell in enumerate(notebook.cells) if cell.cell_type != "markdown"]
    cells: list[Cell] = []
    ends: dict[int, int] = {}
    for token, (index, node) in zip(code, nodes, strict=True):
        if node.cell_type == "code":
            assert token.map  # noqa: S101 - kept above for having one
            first, last = token.map
            ends[len(cells)] = last
            cells.append(_cell(len(cells) + 1, index, node, (first + 1, last), shown))
    problems = list(reading.swallowed)
    for token in reading.fences:
        if directive_of(token) == DIRECTIVE:
            problems += _attach(token, cells, ends, lines)
    return _with_own(Page(tuple(cells), tuple(problems)), notebook)


def _with_own(page: Page, notebook: NotebookNode) -> Page:
    """Take over what a page's metadata says, in a notebook or above the text: `drift: {...}`."""
    own = notebook.metadata.get("drift", {})
    try:
        return _with_filters(_with_complete(page, own), notebook)
    except ValueError as error:
        problem = Outcome(Kind.OPTION, 1, message=str(error))
        return replace(page, problems=(*page.problems, problem))


def _with_complete(page: Page, own: object) -> Page:
    if isinstance(own, dict) and own.keys() <= {"complete", "filters", "reference"}:
        complete = own.get("complete", False)
        if isinstance(complete, bool):
            return replace(page, complete=complete)
    raise ValueError(f"`drift` may hold `complete: true`, `filters` and `reference`, got {own!r}")


def _with_filters(page: Page, notebook: NotebookNode) -> Page:
    """Give each cell its own filters and those of the page."""

    def named(metadata: Mapping[str, Any], where: str) -> tuple[Filter, ...]:
        return filters_in(table_in(metadata, "drift").get("filters", ()), f"`filters` {where}")

    of_page, cells = named(notebook.metadata, "of the page"), []
    for cell in page.cells:
        own = named(notebook.cells[cell.index].metadata, f"of cell {cell.number}")
        cells.append(replace(cell, filters=own + of_page))
    return replace(page, cells=tuple(cells))


def _cell(
    number: int,
    index: int,
    node: NotebookNode,
    lines: tuple[int, int],
    settings: NbParserConfig,
) -> Cell:
    tags = frozenset(str(tag) for tag in node.metadata.get("tags") or ())
    hidden = frozenset(part for part in (Part.STDOUT, Part.STDERR) if f"remove-{part}" in tags)
    if cell_setting(settings, "output_stderr", node).startswith("remove"):
        hidden |= {Part.STDERR}
    if cell_setting(settings, "remove_code_outputs", node) == "True":
        tags |= {"remove-output"}
    return Cell(number, index, lines[0], node.source, lines[1], tags, hidden=hidden)


def _settings_of(
    notebook: NotebookNode,
    settings: bool | NbParserConfig,  # noqa: FBT001 - as it is read
    key: str = "mystnb",
) -> NbParserConfig:
    """Return the book's settings; without a book, settings that show outputs.

    They do so as far as the page doesn't hide them.
    """
    from myst_nb.core.config import NbParserConfig  # noqa: PLC0415 - an extra

    if not isinstance(settings, bool):
        return settings
    whole = "show" if settings else "remove"
    own = table_in(notebook.metadata, key)
    removes = str(own.get("output_stderr", whole)).startswith("remove")
    return NbParserConfig(
        output_stderr="remove" if removes else "show",
        remove_code_outputs=own.get("remove_code_outputs") is True,
    )


def cell_setting(settings: NbParserConfig, name: str, node: NotebookNode) -> str:
    """Return a setting of MyST-NB as it is for a cell, which may have one of its own."""
    return str(settings.get_cell_level_config(name, node.metadata, lambda *_: None))


def _attach(
    token: MarkdownToken, cells: list[Cell], ends: dict[int, int], lines: Sequence[str]
) -> list[Outcome]:
    """Assign an expectation to the cell immediately before it."""
    assert token.map  # noqa: S101 - only fences with a map come here
    first, last = token.map
    expectation, problems = read_expectation(token.content, first + 1)
    argument = token.info.strip().removeprefix(f"{{{DIRECTIVE}}}").strip()
    if argument:
        # Sphinx hands an argument that isn't wanted over as the first line of the content.
        expectation = replace(expectation, content=f"{argument}\n{token.content}".strip())
        message = f"`{{{DIRECTIVE}}}` takes no argument, got {token.info.strip()!r}"
        problems.append(Outcome(Kind.OPTION, first + 1, message=message))
    if (expectation.unchecked or expectation.reference_only) and not is_closed(token, lines):
        problems.append(Outcome(Kind.OPTION, first + 1, message=_OPEN))
    owner = max((place for place, end in ends.items() if end <= first), default=None)
    if owner is None or any(not _COMMENT.match(line) for line in lines[ends[owner] : first]):
        return [*problems, Outcome(Kind.NO_CELL, first + 1, documented=expectation.content)]
    ends[owner] = last
    cell = cells[owner]
    if expectation.part is Part.ALL and not cell.has_stderr:
        expectation = replace(expectation, part=Part.MAIN)
    cells[owner] = replace(cell, expectations=(*cell.expectations, expectation))
    return problems


# Notebooks ---------------------------------------------------------------------------


def read_notebook(
    notebook: NotebookNode,
    text: str = "",
    *,
    settings: bool | NbParserConfig = False,
    key: str = "mystnb",
) -> Page:
    """Read a notebook whose stored outputs are what it documents.

    Args:
        notebook: The notebook, before it is run.
        text: The file that it was read from, to name lines of it.
        settings: The book's; without a book, whether what it stored of stderr counts too:
            warnings and progress bars name paths and times of the machine that wrote them.
        key: The key in its metadata under which MyST-NB's settings stand.

    """
    lines = [text.count("\n", 0, match.start()) + 1 for match in _CELL_IN_JSON.finditer(text)]
    shown = _settings_of(notebook, settings, key)
    cells: list[Cell] = []
    for index, node in enumerate(notebook.cells):
        if node.cell_type != "code":
            continue
        line = lines[index] if len(lines) == len(notebook.cells) else 1
        cell = _cell(len(cells) + 1, index, node, (line, line), shown)
        stream = Part.ALL if cell.has_stderr else Part.MAIN
        output = printed(node.outputs)
        why = {name: _reason(node, name) for name in ("unchecked", "reference-only")}
        if _IGNORED in cell.tags:
            why["unchecked"] = why["unchecked"] or f"tagged {_IGNORED}"
        options: dict[str, Any] = {name.replace("-", "_"): reason for name, reason in why.items()}
        raises = output.error.partition(":")[0]
        expectations = tuple(
            Expectation(output_text, line, line, each, raises=raises, **options)
            for each in (stream, *BESIDE)
            if plain(output_text := output.select(each)).strip()
        )
        drawn = None if why["unchecked"] else output.drawn
        glued = tuple(dict.fromkeys(chain.from_iterable(output.glued.values())))
        cells.append(replace(cell, expectations=expectations, drawn=drawn, glued=glued))
    return _with_own(Page(tuple(cells), stored=True), notebook)


def table_in(metadata: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a table of some metadata; an empty one for what is none."""
    table = metadata.get(name)
    return table if isinstance(table, dict) else {}


def _reason(node: NotebookNode, name: str) -> str:
    """Return why a cell isn't checked, or not everywhere: ``{"drift": {"unchecked": "why"}}``."""
    reason = table_in(node.metadata, "drift").get(name, "")
    return reason if isinstance(reason, str) else ""


# Files -------------------------------------------------------------------------------


def is_notebook(path: Path) -> bool:
    """Whether a file is a notebook and not a page, by its ending."""
    return path.suffix.lower() == ".ipynb"


def load(
    path: Path, *, text: str | None = None, stderr: bool | None = None, key: str = "mystnb"
) -> tuple[Page, NotebookNode] | None:
    """Read a file: a notebook, or a MyST page that is one.

    Args:
        path: The file.
        text: What it is going to hold; None for what it holds.
        stderr: Whether what is written to stderr counts; None, that of pages does.
        key: The key in a file's metadata under which MyST-NB's settings stand.

    Returns:
        What it documents, and the notebook to run; None for a page without cells.

    Raises:
        ValueError: If a page has cells or expectations and isn't marked as a notebook.

    """
    import nbformat  # noqa: PLC0415 - an extra
    from myst_nb.core.read import (  # noqa: PLC0415 - an extra
        is_myst_markdown_notebook,
        read_myst_markdown_notebook,
    )
    from myst_parser.config.main import MdParserConfig  # noqa: PLC0415 - an extra

    config = MdParserConfig(enable_extensions={"colon_fence"})
    text = path.read_text("utf-8-sig") if text is None else text
    if is_notebook(path):
        with warnings.catch_warnings():  # notebooks as they stand lack ids, and are fine
            warnings.simplefilter("ignore")
            notebook = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
        for name in ("kernelspec", "language_info"):
            if not isinstance(notebook.metadata.get(name, {}), dict):
                del notebook.metadata[name]  # null, say: then it names none
        return read_notebook(notebook, text, settings=bool(stderr), key=key), notebook
    reading = read_markdown(text, config)
    if not is_myst_markdown_notebook(text):
        if reading.nested or any(
            is_cell(t) or directive_of(t) == DIRECTIVE for t in reading.fences
        ):
            raise ValueError(
                "it has cells, and no `file_format: mystnb` in its front matter: none would run"
            )
        return None
    with shared_parse():
        notebook = read_myst_markdown_notebook(text, config, add_source_map=True, path=path)
    page = read_page(text, notebook, config, settings=stderr is not False, key=key)
    # In a book, the directives that stand there tell it themselves.
    page = replace(page, problems=(*page.problems, *reading.nested))
    return (page, notebook) if page.cells or page.problems else None
