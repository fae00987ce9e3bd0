"""Each page with cells as a notebook and as a script, and the links to them.

Both are made from what this build ran and verified: the notebook stores the outputs that the page
shows, so `python -m sphinx_drift` checks it as it is. A template gets the links as `downloads`.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import nbformat
from myst_nb.sphinx_ext import OUTPUT_FOLDER
from sphinx.errors import ConfigError
from sphinx.util import logging
from sphinx.util.osutil import relative_uri

from export.markdown import Writer
from export.notebook import to_notebook
from export.pieces import Code, Piece, pieces
from export.project_links import Link, edit_address, launches, repository
from export.script import NoScriptError, to_script
from reference.exercises import exercise_number
from sphinx_drift.compare.outcomes import Kind
from sphinx_drift.configuration import find_project
from sphinx_drift.report.text import describe_environment
from sphinx_drift.sphinx.state import results_of
from website import address

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.util.typing import ExtensionMetadata

    from sphinx_drift.compare.outcomes import Outcome

LOGGER = logging.getLogger(__name__)

FOLDER = "_downloads"
BOOKS = "SELFATTN_BOOKS"
# A notebook opened elsewhere finds no package there; one opened here installs nothing.
INSTALL = """\
import importlib.util

if importlib.util.find_spec("{name}") is None:
    %pip install --quiet "{source}"\
"""


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
    executed = Path(app.outdir).parent / OUTPUT_FOLDER / f"{name}.ipynb"
    if name in results_of(app.env) and executed.is_file():
        kept = _kept(app, name)
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(executed, kept)


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
    exceptions = {o.cell: why for o in outcomes if (why := _exceptions(o))}
    target = Path(app.outdir, FOLDER, name)
    target.parent.mkdir(parents=True, exist_ok=True)
    writers = _writers(app, name)
    halves = [list(pieces(writer, doctree, notebook, exceptions)) for writer in writers]
    for kind in sorted({kind for writer in writers for kind in writer.unknown}):
        LOGGER.warning(
            "plain_markdown.Writer knows no %s", kind, location=doctree, type="downloads"
        )
    metadata = {"drift": {"reference": dict(find_project(Path(app.srcdir)).reference)}}
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
    return {"parallel_read_safe": True, "parallel_write_safe": True}
