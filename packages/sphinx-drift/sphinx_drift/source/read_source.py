"""Read what a page or notebook documents: its cells, and what each must print."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from sphinx_drift.compare.lexer import plain
from sphinx_drift.model import Cell, Expectation, Kind, Outcome, Page
from sphinx_drift.output.filters import Filter, filters_in
from sphinx_drift.output.printed_text import BESIDE, Part, printed
from sphinx_drift.settings import read_page_table
from sphinx_drift.source.expectations import DIRECTIVE, read_expectation
from sphinx_drift.source.lines import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from markdown_it.token import Token as MarkdownToken
    from myst_nb.core.config import NbParserConfig
    from myst_parser.config.main import MdParserConfig
    from nbformat import NotebookNode

_LITERAL = {"code", "code-block", "sourcecode", "math", "mermaid", "parsed-literal", "raw"}
"""Directives whose content is shown, not read as Markdown: a cell in them is an example of one."""
_CELL_IN_JSON = re.compile(r'(?<!\\)"cell_type"\s*:')
"""In the file of a notebook it is on the first lines of each cell, as Jupyter writes them."""
_IGNORED = "nbval-ignore-output"
_FENCES = ("fence", "colon_fence")
_COMMENT = re.compile(r"\s*(?:(?:%|\+\+\+).*)?$")
_OPENING = re.compile(
    rf"^[^\S\n]*(?:`{{3,}}|~{{3,}}|:{{3,}})\s*\{{(?:code-cell|{DIRECTIVE})\}}", re.MULTILINE
)
_MISSPELT = re.compile(r"\{?expected[-_ ]?outputs?(?:\}|$)", re.IGNORECASE)
_SWALLOWS = (
    "its fence isn't closed before the next cell or expectation, or the end of the page: "
    "nobody would see what it swallows"
)


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
    parsed = [token for token in _parse(text, config) if token.map]
    fences = [token for token in parsed if _name(token)]
    code = [token for token in fences if _is_cell(token)]
    nodes = [(i, cell) for i, cell in enumerate(notebook.cells) if cell.cell_type != "markdown"]
    cells: list[Cell] = []
    ends: dict[int, int] = {}
    for token, (index, node) in zip(code, nodes, strict=True):
        if node.cell_type == "code":
            assert token.map  # noqa: S101 - kept above for having one
            first, last = token.map
            ends[len(cells)] = last
            cells.append(_cell(len(cells) + 1, index, node, (first + 1, last), shown))
    problems = [*_swallowed(text, config), *_misspelt(parsed)]
    for token in fences:
        if _name(token) == DIRECTIVE:
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
    return replace(page, complete=read_page_table(own).get("complete", False))


def _with_filters(page: Page, notebook: NotebookNode) -> Page:
    """Give each cell its own filters and those of the page."""

    def named(metadata: Mapping[str, Any], where: str) -> tuple[Filter, ...]:
        return filters_in(table_in(metadata, "drift").get("filters", ()), f"`filters` {where}")

    of_page, cells = named(notebook.metadata, "of the page"), []
    for cell in page.cells:
        own = named(notebook.cells[cell.index].metadata, f"of cell {cell.number}")
        cells.append(replace(cell, filters=own + of_page))
    return replace(page, cells=tuple(cells))


def _parse(text: str, config: MdParserConfig) -> list[MarkdownToken]:
    """Return the top-level fences of a page."""
    return [token for token in _fences(text, config) if token.level == 0]


def _fences(text: str, config: MdParserConfig) -> list[MarkdownToken]:
    """Return the fences of a page, those in lists and quotations too."""
    return [token for token in _tokens(text, config) if token.type in _FENCES]


def _tokens(text: str, config: MdParserConfig) -> list[MarkdownToken]:
    from markdown_it.renderer import RendererHTML  # noqa: PLC0415 - an extra
    from myst_parser.parsers.mdit import create_md_parser  # noqa: PLC0415 - an extra

    quick: Any = replace(config, disable_syntax=[*config.disable_syntax, "inline"])
    tokens: list[MarkdownToken] = create_md_parser(quick, RendererHTML).parse(text + "\n")
    return tokens


def _swallowed(text: str, config: MdParserConfig, before: int = 0) -> Iterator[Outcome]:
    """Yield the cells and expectations that are text of a block of HTML, or of an open fence."""
    lines = lines_of(text)
    for token in _tokens(text, config):
        first, message = before + (token.map or [0])[0], ""
        if token.type == "html_block" and not token.content.lstrip().startswith("<!--"):
            message = "HTML goes on to a blank line, `<pre>` to its end: begin the cell after that"
        elif token.type in _FENCES and not (_is_cell(token) or _name(token) == DIRECTIVE):
            message = "" if _is_closed(token, lines) else _SWALLOWS
            if not message and _name(token) and _name(token) not in _LITERAL:
                yield from _swallowed(token.content, config, first + 1)
        for opening in _OPENING.finditer(token.content) if message else ():
            line = first + 1 + (token.type in _FENCES)
            line += token.content.count("\n", 0, opening.end())
            yield Outcome(Kind.NESTED, line, message=message)


def _misspelt(fences: Iterable[MarkdownToken]) -> Iterator[Outcome]:
    """Yield the fences that were meant to be expectations, and document nothing."""
    for token in fences:
        if _MISSPELT.match(token.info.strip()) and _name(token) != DIRECTIVE:
            message = f"{token.info.strip()!r} documents nothing: write `{{{DIRECTIVE}}}`"
            yield Outcome(Kind.NESTED, (token.map or [0])[0] + 1, message=message)


def _is_closed(token: MarkdownToken, lines: Sequence[str]) -> bool:
    """Whether a fence ends before its page does."""
    assert token.map  # noqa: S101 - a fence has one
    fence = rf"[\s>]*{token.markup}{token.markup[0]}*\s*"  # it may stand in a quotation
    return bool(re.fullmatch(fence, lines[slice(*token.map)][-1]))


def _nested(text: str, config: MdParserConfig, before: int = 0) -> Iterator[Outcome]:
    """Yield what is never run or checked because it is nested."""
    for token in _fences(text, config):
        name = _name(token)
        line = before + (token.map[0] if token.map else 0) + 1
        if name in ("code-cell", DIRECTIVE):
            if before or token.level or not (name == DIRECTIVE or _is_cell(token)):
                yield Outcome(Kind.NESTED, line)
        elif name and name not in _LITERAL:
            yield from _nested(token.content, config, line)


def _name(token: MarkdownToken) -> str:
    match = re.match(r"\{([^\s{}]+)\}", token.info.strip())
    return match[1].lower() if match else ""


def _is_cell(token: MarkdownToken) -> bool:
    """Whether MyST-NB reads a fence as a cell."""
    return token.type == "fence" and token.info.startswith(("{code-cell}", "{raw-cell}"))


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
    if (expectation.unchecked or expectation.reference_only) and (
        not _is_closed(token, lines) or _OPENING.search(expectation.text)
    ):
        problems.append(Outcome(Kind.OPTION, first + 1, message=_SWALLOWS))
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
    nested = tuple(_nested(text, config))
    if not is_myst_markdown_notebook(text):
        if nested or any(_is_cell(t) or _name(t) == DIRECTIVE for t in _parse(text, config)):
            raise ValueError(
                "it has cells, and no `file_format: mystnb` in its front matter: none would run"
            )
        return None
    read = partial(read_myst_markdown_notebook, config=config, add_source_map=True, path=path)
    notebook = read(text)
    page = read_page(text, notebook, config, settings=stderr is not False, key=key)
    # In a book, the directives that stand there tell it themselves.
    page = replace(page, problems=(*page.problems, *nested))
    return (page, notebook) if page.cells or page.problems else None
