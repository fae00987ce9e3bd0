"""Each page with cells as a notebook and as a script, and the links to them.

Both are made from what this build ran and verified: the notebook stores the outputs that the page
shows, so `python -m sphinx_drift` checks it as it is. A template gets the links as `downloads`.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin

import nbformat
from docutils import nodes
from myst_nb.sphinx_ext import OUTPUT_FOLDER
from sphinx.errors import ConfigError
from sphinx.util import logging
from sphinx.util.osutil import relative_uri

from export.carried import FOLDED, carried, libraries
from export.markdown import Writer
from export.notebook import to_notebook
from export.pictures import pictures
from export.pieces import Code, Piece, pieces
from export.project_links import Link, edit_address, launches, repository
from export.script import NoScriptError, to_script
from reference.exercises import exercise_number
from sphinx_drift.compare.outcomes import Kind
from sphinx_drift.configuration import find_project
from sphinx_drift.report.text import describe_environment
from sphinx_drift.sphinx.state import results_of
from website import address
from website.stale_pages import rewrite_on_change

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.environment import BuildEnvironment

    from sphinx_drift.compare.outcomes import Outcome

LOGGER = logging.getLogger(__name__)

FOLDER = "_downloads"
BOOKS = "SELFATTN_BOOKS"
"""Names the whole book's files that whoever builds the site puts beside the notebooks."""


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
            Link(text, relative_uri(here, f"{FOLDER}/{file}"), what)
            for text, file, what in whole_book(app)
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


def _has_notebook(env: BuildEnvironment, name: str) -> bool:
    """Return whether a page has outputs, and all of them are verified or excused."""
    result = results_of(env).get(name)
    if result is None or result.failed:
        return False
    return any(outcome.kind is Kind.VERIFIED for outcome in result.outcomes)


def _with_notebooks(env: BuildEnvironment) -> list[str]:
    return [name for name in sorted(env.found_docs) if _has_notebook(env, name)]


def whole_book(app: Sphinx) -> list[tuple[str, str, str]]:
    """Return what there is of the whole book: what it is called, its file, what it is."""
    notebooks = [("Notebooks", _archive(app.config), "All notebooks, in a zip file")]
    books = [
        (Path(name).suffix[1:].upper(), name, "The whole book")
        for name in app.config.downloads_books
    ]
    return (notebooks if _with_notebooks(app.env) else []) + books


def _archive(config: Config) -> str:
    return f"{config.downloads_package}-notebooks.zip"


def pack(app: Sphinx, exception: Exception | None) -> None:
    """Put all notebooks into one file, which is the same if they are."""
    if exception or app.builder.name not in {"html", "dirhtml"}:
        return
    folder, archive = Path(app.outdir, FOLDER), _archive(app.config)
    (folder / archive).unlink(missing_ok=True)
    if not (names := _with_notebooks(app.env)):
        return
    with zipfile.ZipFile(folder / archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in names:
            entry = zipfile.ZipInfo(f"{Path(archive).stem}/{name}.ipynb")
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, (folder / f"{name}.ipynb").read_bytes())


def _exceptions(outcome: Outcome) -> dict[str, str]:
    """Return why an output can't be checked, or not everywhere."""
    if outcome.kind is Kind.UNCHECKED:
        return {"unchecked": outcome.message}
    return {"reference-only": outcome.reference_only} if outcome.reference_only else {}


def _files(app: Sphinx, name: str, doctree: nodes.document) -> Iterator[tuple[str, str, str]]:
    """Write a page's files if it has cells, and yield what each is called and where it lies."""
    if not _has_notebook(app.env, name):
        return
    outcomes = results_of(app.env)[name].outcomes
    notebook = nbformat.read(_kept(app, name), as_version=4)  # type: ignore[no-untyped-call]
    exceptions = {o.cell: why for o in outcomes if (why := _exceptions(o))}
    target = Path(app.outdir, FOLDER, name)
    target.parent.mkdir(parents=True, exist_ok=True)
    writers = _writers(app, name, doctree)
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


def _writers(app: Sphinx, name: str, doctree: nodes.document) -> tuple[Writer, Writer]:
    """Return what writes a notebook's text, and a script's."""
    place = address.of_page(app.config, app.builder.get_target_uri(name))

    def outside(node: nodes.reference) -> str:
        uri = str(node.get("refuri", ""))
        return uri if re.match("(https?|mailto):", uri) else ""

    def everywhere(node: nodes.reference) -> str:
        if "refuri" in node:
            there = urljoin(place, node["refuri"]) if place else _beside(app, name, node["refuri"])
            return outside(node) or there
        heading = _heading(doctree, node.get("refid", ""))
        return heading or (f"{place}#{node['refid']}" if place and "refid" in node else "")

    def spare(node: nodes.reference) -> str:
        return "" if "code-name" in node["classes"] else outside(node)

    def number(node: nodes.Element) -> str:
        return exercise_number(app.env, name, node)

    return (
        Writer(everywhere, number, pictures=pictures),
        Writer(spare, number, marked_up=False),
    )


def _beside(app: Sphinx, name: str, uri: str) -> str:
    """Return where the notebook of a linked page lies, seen from a page's own, if it has one."""
    here = app.builder.get_target_uri(name)
    for other in app.env.found_docs:
        there = relative_uri(here, app.builder.get_target_uri(other))
        if there and there == uri.partition("#")[0] and _has_notebook(app.env, other):
            return relative_uri(f"{name}.ipynb", f"{other}.ipynb")
    return ""


def _heading(doctree: nodes.document, name: str) -> str:
    """Return the link that Jupyter gives to the heading of a section of this page."""
    for section in doctree.findall(nodes.section):
        title = section.next_node(nodes.title)
        if name in section["ids"] and title is not None:
            return f"#{quote(title.astext().replace(' ', '-'), safe=':,')}"
    return ""


def _headed(app: Sphinx, name: str, page: list[Piece], file: str = "") -> Iterator[Piece]:
    """Yield a page with a note below its title, and what it takes from the package in a cell."""
    config = app.config
    result = results_of(app.env)[name]
    origin = address.of_page(config, app.builder.get_target_uri(name))
    package = config.downloads_package
    cells = [str(piece.node.source) for piece in page if isinstance(piece, Code)]
    brought = carried(_folder_of(package), cells)
    others = " ".join(libraries(package, cells))
    lines = [
        f"From *{config.project}*, by {config.author}{f': {origin}' if origin else ''}.",
        f"Verified with {describe_environment([result])}.",
        f"To run it, `pip install {others} numpy`; without NumPy, PyTorch prints a warning.",
    ]
    lines += ["The first cell has what it uses of the book's own package."] if brought else []
    if file:
        lines.append(
            f"The book's checker verifies the outputs again: `python -m sphinx_drift {file}`."
        )
    note = "\n".join(f"> {line}" for line in lines)
    first, *rest = page
    if isinstance(first, str):
        title, _, text = first.partition("\n\n")
        yield f"{title}\n\n{note}\n\n{text}".rstrip()
    else:
        yield from (note, first)
    if brought:
        yield Code(nbformat.v4.new_code_cell(brought, metadata=FOLDED))
    yield from rest


def _folder_of(package: str) -> Path:
    """Return where a package's modules are, without loading it."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ConfigError(f"downloads_package: there is no package {package!r}; install it")
    return Path(spec.submodule_search_locations[0])


def _root(folder: Path) -> Path:
    """Return the folder that the repository holds."""
    places = (folder, *folder.parents)
    return next((place for place in places if (place / "pyproject.toml").is_file()), folder)


def settle(app: Sphinx, config: Config) -> None:
    """Take what isn't set from the environment, or the repository's address from the project."""
    if config.downloads_repository is None:
        config.downloads_repository = repository(Path(app.confdir))
    if not config.downloads_books:
        config.downloads_books = os.environ.get(BOOKS, "").split()


def setup(app: Sphinx) -> None:
    app.add_config_value("downloads_repository", None, "html", (str, type(None)))
    app.add_config_value("downloads_branch", "main", "html", str)
    app.add_config_value("downloads_notebooks_branch", "notebooks", "html", str)
    app.add_config_value("downloads_package", "selfattn", "html", str)
    app.add_config_value("downloads_books", [], "html", list)
    app.connect("config-inited", settle)
    app.connect("doctree-read", keep)
    app.connect("html-page-context", offer)
    app.connect("build-finished", pack)
    rewrite_on_change(app, "notebooks", _with_notebooks, lambda env: env.found_docs)
