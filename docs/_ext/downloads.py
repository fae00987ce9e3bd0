"""Each page with cells as a notebook and as a script, and the links to them.

Both are made from what this build ran and verified: the notebook stores the outputs that the page
shows, so `python -m sphinx_drift` checks it as it is. A template gets the links as `downloads`.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import address
import nbformat
from contents import reading_order
from folded import exercise_number
from myst_nb.sphinx_ext import OUTPUT_FOLDER
from plain_markdown import Writer
from sphinx.errors import ConfigError
from sphinx.util import logging
from sphinx.util.osutil import relative_uri

from sphinx_drift.compare.outcomes import Kind
from sphinx_drift.configuration import find_reference
from sphinx_drift.report.text import describe_environment
from sphinx_drift.source.printed_text import Stream, printed
from sphinx_drift.sphinx.state import results_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from docutils import nodes
    from nbformat import NotebookNode
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.util.typing import ExtensionMetadata

    from sphinx_drift.compare.outcomes import Outcome

LOGGER = logging.getLogger(__name__)

FOLDER = "_downloads"
REPOSITORY = "SELFATTN_REPOSITORY"
BOOKS = "SELFATTN_BOOKS"
GITHUB = re.compile(r"https://github\.com/(?P<name>[\w.-]+/[\w.-]+?)(?:\.git|/)?")
# What reads the same as a value and printed; of other values, their `repr` is printed.
PRINTABLE = re.compile(r"tensor\(|Parameter containing|[{\[(\d-]|(True|False)$")
# A notebook opened elsewhere finds no package there; one opened here installs nothing.
INSTALL = """\
import importlib.util

if importlib.util.find_spec("{name}") is None:
    %pip install --quiet "{source}"\
"""

# A page in pieces ----------------------------------------------------------------------


@dataclass(frozen=True)
class Code:
    """A code cell, as it was run."""

    node: NotebookNode
    exceptions: Mapping[str, str] = field(default_factory=dict)
    """Why its output can't be checked, or not everywhere, by the checker's name for it."""

    @property
    def raises(self) -> str:
        """The name of the error that the cell documents."""
        return printed(self.node.outputs).error.partition(":")[0]


Piece = str | Code


def pieces(
    writer: Writer,
    doctree: nodes.document,
    notebook: NotebookNode,
    exceptions: Mapping[int, Mapping[str, str]],
) -> Iterator[Piece]:
    """Yield a page's text and cells in order, cells that the page doesn't show too."""
    code = [n for n, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    left = list(code)
    text: list[str] = []
    # A number past the end stands for the end of the page.
    for piece in [*writer.pieces(doctree), len(notebook.cells)]:
        if isinstance(piece, str):
            text.append(piece)
            continue
        if text:
            yield "\n\n".join(text)
            text = []
        while left and left[0] <= piece:
            index = left.pop(0)
            yield Code(notebook.cells[index], exceptions.get(code.index(index) + 1, {}))


# Notebooks -----------------------------------------------------------------------------


def to_notebook(page: Iterable[Piece], metadata: dict[str, Any]) -> str:
    """Return a notebook with its outputs stored, the same in each build."""
    cells: list[dict[str, Any]] = []
    count = 0
    for piece in page:
        number = {"id": f"cell-{len(cells) + 1}"}
        if isinstance(piece, str):
            cells.append(
                number | {"cell_type": "markdown", "metadata": {}, "source": _lines(piece)}
            )
            continue
        count += 1
        outputs = [_output(output, count) for output in piece.node.outputs]
        made: dict[str, Any] = {
            "cell_type": "code",
            "execution_count": count if outputs or piece.node.source else None,
        }
        made |= {
            "metadata": _metadata(piece),
            "outputs": outputs,
            "source": _lines(piece.node.source),
        }
        cells.append(number | made)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}} | metadata
    whole = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    nbformat.validate(whole)  # type: ignore[no-untyped-call]
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _metadata(code: Code) -> dict[str, Any]:
    """Return what the checker and Jupyter have to know of a cell."""
    tags = [tag for tag in code.node.metadata.get("tags", []) if tag == "skip-execution"]
    if code.raises:
        tags.append("raises-exception")
    found: dict[str, Any] = {"tags": tags} if tags else {}
    return found | ({"drift": dict(code.exceptions)} if code.exceptions else {})


def _output(output: NotebookNode, count: int) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(output))
    if "execution_count" in made:
        made["execution_count"] = count
    if "text" in made:
        made["text"] = _lines("".join(made["text"]))
    if "data" in made:
        made["data"] = {
            mime: _lines(data) if isinstance(data, str) and mime.startswith("text/") else data
            for mime, data in made["data"].items()
        }
    return made


# Scripts -------------------------------------------------------------------------------


class NoScriptError(ValueError):
    """A cell that plain Python can't run."""


def to_script(page: Iterable[Piece]) -> str:
    """Return a script in cells, whose comments are the page's text and what it prints."""
    parts: list[str] = []
    for piece in page:
        if isinstance(piece, str):
            parts.append(f"# %% [markdown]\n{_commented(piece)}")
            continue
        said = printed(piece.node.outputs).select(Stream.ALL)
        told = f"\n\n# It prints:\n{_commented(said, '#     ')}" if said.strip() else ""
        parts.append(f"# %%\n{script_cell(piece).rstrip()}{told}")
    return "\n\n".join(parts) + "\n"


def _commented(text: str, mark: str = "# ") -> str:
    return "\n".join(f"{mark}{line}".rstrip() for line in text.splitlines())


def script_cell(code: Code) -> str:
    """Return a cell's code for plain Python: a value is printed, a wanted error is caught.

    Raises:
        NoScriptError: If the cell is one for Jupyter alone.

    """
    source = str(code.node.source)
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise NoScriptError(f"plain Python can't read {error.text!r}") from error
    kinds = {output.output_type for output in code.node.outputs}
    if "display_data" in kinds:
        raise NoScriptError("plain Python has no display")
    values = [out for out in code.node.outputs if out.output_type == "execute_result"]
    if values:
        source = _printing(source, tree, "".join(values[0].data.get("text/plain", "")))
    return _catching(source, code.raises) if code.raises else source


def _printing(source: str, tree: ast.Module, shown: str) -> str:
    """Return code that prints its last value, which a notebook shows by itself."""
    last = tree.body[-1]
    lines = source.encode().splitlines(keepends=True)
    end_line, end_column = last.end_lineno or last.lineno, last.end_col_offset or 0
    before = b"".join(lines[: last.lineno - 1]) + lines[last.lineno - 1][: last.col_offset]
    after = lines[end_line - 1][end_column:] + b"".join(lines[end_line:])
    value = ast.get_source_segment(source, last) or ""
    call = f"print({value})" if PRINTABLE.match(shown) else f"print(repr({value}))"
    return before.decode() + call + after.decode()


def _catching(source: str, error: str) -> str:
    """Return code that prints the error it raises and lets the script go on."""
    inner = textwrap.indent(source.rstrip(), "    ")
    made = f'try:\n{inner}\nexcept {error} as error:\n    print(f"{error}: {{error}}")\n'
    body = ast.parse(made).body[0]
    assert isinstance(body, ast.Try)  # noqa: S101 - written so above
    if [ast.dump(node) for node in body.body] != [ast.dump(n) for n in ast.parse(source).body]:
        raise NoScriptError("it raises, and has a text of several lines")
    return made


# The project's address -----------------------------------------------------------------


def repository(folder: Path) -> str:
    """Return the repository's address: the environment's, else the one in `pyproject.toml`.

    Raises:
        ConfigError: If it is not a repository on GitHub.

    """
    origin, given = REPOSITORY, os.environ.get(REPOSITORY)
    if given is None:
        origin, given = address.of_project(folder, "Repository")
    if not given:
        return ""
    match = GITHUB.fullmatch(given)
    if match is None:
        raise ConfigError(f"{origin}: write https://github.com/OWNER/NAME, got {given!r}")
    return f"https://github.com/{match['name']}"


@dataclass(frozen=True)
class Link:
    """A link of a page."""

    text: str
    address: str
    what: str = ""
    """What it leads to, for who can't see where it stands."""


def launches(config: Config, page: str) -> Iterator[Link]:
    """Yield the links that open a page's notebook elsewhere; none without a repository."""
    if not config.downloads_repository:
        return
    branch, file = config.downloads_notebooks_branch, f"{page}.ipynb"
    name = config.downloads_repository.removeprefix("https://github.com/")
    colab = f"https://colab.research.google.com/github/{name}/blob/{branch}/{file}"
    yield Link("Colab", colab, "Run this page in Google Colab")
    binder = f"https://mybinder.org/v2/gh/{name}/{branch}?urlpath=lab/tree/{file}"
    yield Link("Binder", binder, "Run this page on Binder")


def edit_address(config: Config, source: Path, root: Path) -> str:
    """Return where a page's source can be edited; nothing without a repository."""
    if not config.downloads_repository:
        return ""
    path = source.relative_to(root).as_posix()
    return f"{config.downloads_repository}/edit/{config.downloads_branch}/{path}"


# The site ------------------------------------------------------------------------------


def offer(
    app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Write a page's notebook and script, and hand the links to its template."""
    context["downloads"] = None
    if app.builder.name not in {"html", "dirhtml"} or doctree is None:
        return
    files = list(_files(app, name, doctree))
    here = app.builder.get_target_uri(name)
    source = Path(app.env.doc2path(name))
    links: dict[str, Any] = {
        "files": [
            Link(text, relative_uri(here, f"{FOLDER}/{file}"), what) for text, file, what in files
        ],
        "launches": list(launches(app.config, name)) if files else [],
        "books": [
            Link(_described(book), relative_uri(here, f"{FOLDER}/{book.name}"), "The whole book")
            for book in _books()
        ],
        "edit": edit_address(app.config, source, _root(Path(app.srcdir))),
    }
    context["downloads"] = links if any(links.values()) else None


def _kept(app: Sphinx, name: str) -> Path:
    """Return where a page's notebook lies as it was executed when the page was last read."""
    return Path(app.doctreedir, "notebooks", f"{name}.ipynb")


def keep(app: Sphinx, doctree: nodes.document) -> None:
    """Keep the executed notebook with the page: a later build may write it without reading it."""
    name = app.env.docname
    made = Path(app.outdir).parent / OUTPUT_FOLDER / f"{name}.ipynb"
    if name in results_of(app.env) and made.is_file():
        kept = _kept(app, name)
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(made, kept)


def _exceptions(outcome: Outcome) -> dict[str, str]:
    """Return why an output can't be checked, or not everywhere."""
    if outcome.kind is Kind.UNCHECKED:
        return {"unchecked": outcome.message}
    return {"reference-only": outcome.reference_only} if outcome.reference_only else {}


def _files(app: Sphinx, name: str, doctree: nodes.document) -> Iterator[tuple[str, str, str]]:
    """Write a page's files if it has cells, and yield what each is called and where it lies."""
    result = results_of(app.env).get(name)
    if result is None or result.failed:
        return
    outcomes = result.outcomes
    if not any(outcome.kind is Kind.VERIFIED for outcome in outcomes):
        return
    notebook = nbformat.read(_kept(app, name), as_version=4)  # type: ignore[no-untyped-call]
    exceptions = {o.cell: said for o in outcomes if (said := _exceptions(o))}
    target = Path(app.outdir, FOLDER, name)
    target.parent.mkdir(parents=True, exist_ok=True)
    writers = _writers(app, name)
    halves = [list(pieces(writer, doctree, notebook, exceptions)) for writer in writers]
    for kind in sorted({kind for writer in writers for kind in writer.unknown}):
        LOGGER.warning(
            "plain_markdown.Writer knows no %s", kind, location=doctree, type="downloads"
        )
    metadata = {"drift": {"reference": find_reference(Path(app.srcdir))}}
    page = _headed(app, name, halves[0], f"{target.name}.ipynb")
    target.with_name(f"{target.name}.ipynb").write_text(to_notebook(page, metadata), "utf-8")
    yield "Notebook", f"{name}.ipynb", "This page as a Jupyter notebook, with its outputs"
    try:
        script = to_script(_headed(app, name, halves[1]))
    except NoScriptError as error:
        LOGGER.warning("no script: %s", error, location=doctree, type="downloads")
        return
    target.with_name(f"{target.name}.py").write_text(script, "utf-8")
    yield "Script", f"{name}.py", "This page as a Python script"


def _writers(app: Sphinx, name: str) -> tuple[Writer, Writer]:
    """Return what writes a notebook's text, and a script's."""
    place = address.of_page(app.config, app.builder.get_target_uri(name))

    def outside(node: nodes.reference) -> str:
        uri = str(node.get("refuri", ""))
        return uri if re.match("(https?|mailto):", uri) else ""

    def everywhere(node: nodes.reference) -> str:
        return outside(node) or (
            urljoin(place, node["refuri"]) if place and "refuri" in node else ""
        )

    def spare(node: nodes.reference) -> str:
        return "" if "code-name" in node["classes"] else outside(node)

    def number(node: nodes.Element) -> str:
        return exercise_number(app.env, name, node)

    return Writer(everywhere, number), Writer(spare, number, marked_up=False)


def _headed(app: Sphinx, name: str, page: list[Piece], file: str = "") -> Iterator[Piece]:
    """Yield a page with a note below its title, and what installs the package where it is not."""
    config = app.config
    result = results_of(app.env)[name]
    origin = address.of_page(config, app.builder.get_target_uri(name))
    package = (
        f"git+{config.downloads_repository}"
        if config.downloads_repository
        else config.downloads_package
    )
    needs = any(config.downloads_package in str(p.node.source) for p in page if isinstance(p, Code))
    lines = [
        f"From *{config.project}*, by {config.author}{f': {origin}' if origin else ''}.",
        f"Verified with {describe_environment([result])}.",
    ]
    lines += [f"It needs `pip install {package}`."] if needs else []
    if file:
        lines.append(f"`python -m sphinx_drift {file}` verifies the outputs again.")
    note = "\n".join(f"> {line}" for line in lines)
    first, *rest = page
    if isinstance(first, str):
        title, _, text = first.partition("\n\n")
        yield f"{title}\n\n{note}\n\n{text}".rstrip()
    else:
        yield from (note, first)
    if file and needs and config.downloads_repository:
        yield Code(
            nbformat.v4.new_code_cell(INSTALL.format(name=config.downloads_package, source=package))
        )
    yield from rest


def _root(folder: Path) -> Path:
    """Return the folder that the repository holds."""
    places = (folder, *folder.parents)
    return next((place for place in places if (place / "pyproject.toml").is_file()), folder)


def _books() -> list[Path]:
    """Return the e-book and the PDF, if this build is given them."""
    return [Path(name) for name in os.environ.get(BOOKS, "").split(os.pathsep) if name]


def _described(book: Path) -> str:
    size = book.stat().st_size / 1e6
    return f"{book.suffix[1:].upper()}, {size:.1f} MB"


def copy_books(app: Sphinx) -> None:
    """Put the e-book and the PDF into the site."""
    if app.builder.name not in {"html", "dirhtml"}:
        return
    for book in _books():
        if not book.is_file():
            raise ConfigError(f"{BOOKS} names {book}, which is not there: run `nox -s epub pdf`")
        target = Path(app.outdir, FOLDER, book.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(book, target)


def note_order(app: Sphinx, exception: Exception | None) -> None:
    """Leave a list of the pages in the order in which they are read, for who joins them."""
    if exception is not None or app.builder.name not in {"html", "dirhtml"}:
        return
    pages = [
        {"file": app.builder.get_target_uri(page), "depth": depth}
        for page, depth in reading_order(app.env, app.config.root_doc)
    ]
    told = json.dumps({"title": app.config.html_title, "pages": pages}, indent=1)
    Path(app.doctreedir, "reading-order.json").write_text(told, "utf-8")


def find_repository(app: Sphinx, config: Config) -> None:
    """Take the repository's address from the environment or the project, where none is set."""
    if config.downloads_repository is None:
        config.downloads_repository = repository(Path(app.confdir))


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_config_value("downloads_repository", None, "html", (str, type(None)))
    app.add_config_value("downloads_branch", "main", "html", str)
    app.add_config_value("downloads_notebooks_branch", "notebooks", "html", str)
    app.add_config_value("downloads_package", "selfattn", "html", str)
    app.connect("config-inited", find_repository)
    app.connect("builder-inited", copy_books)
    app.connect("doctree-read", keep)
    app.connect("html-page-context", offer)
    app.connect("build-finished", note_order)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
