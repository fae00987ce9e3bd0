"""Write the notebook of each page whose outputs are verified, and the links to it.

A template gets the links as `downloads`.
"""

import re
import zipfile
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urljoin

import nbformat
from docutils import nodes
from myst_nb.sphinx_ext import OUTPUT_FOLDER
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.osutil import relative_uri
from sphinx.util.typing import ExtensionMetadata

from export.markdown import to_markdown
from export.notebook import to_notebook
from export.package import PACKAGE, package_cells
from sphinx_drift.api import Kind, Outcome, describe_environment, find_project, results

FOLDER = "_downloads"
ARCHIVE = f"{PACKAGE.name}-notebooks"
BUILDERS = {"html", "dirhtml"}


class Link(NamedTuple):
    """A link of a page's foot."""

    text: str
    address: str
    what: str
    """What it leads to, for who can't see where it stands."""


def add_links(
    app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Write a page's notebook, and hand the links to its template."""
    context["downloads"] = None
    if app.builder.name not in BUILDERS or doctree is None:
        return
    up = relative_uri(app.builder.get_target_uri(name), f"{FOLDER}/")
    files, books = [], []
    if has_notebook(app.env, name):
        write_notebook(app, name, context["body"], doctree)
        what = "This page as a Jupyter notebook, with its outputs"
        files.append(Link("Notebook", f"{up}{name}.ipynb", what))
    if with_notebooks(app.env):
        books.append(Link("Notebooks", f"{up}{ARCHIVE}.zip", "All notebooks, in a zip file"))
    for book in app.config.downloads_books:
        books += [Link(Path(book).suffix[1:].upper(), up + book, "The whole book")]
    context["downloads"] = {"files": files, "books": books} if files or books else None


def write_notebook(app: Sphinx, name: str, body: str, doctree: nodes.document) -> None:
    """Write a page's notebook, as it was executed when the page was last read."""
    result = results(app.env)[name]
    kept = Path(app.outdir).parent / OUTPUT_FOLDER / f"{name}.ipynb"
    executed = nbformat.read(kept, as_version=4)  # type: ignore[no-untyped-call]
    pieces = to_markdown(body, doctree, lambda link: find_address(app, name, doctree, link))
    code = "\n".join(cell.source for cell in executed.cells if cell.cell_type == "code")
    cells = package_cells(code)
    lines = [
        f"> From *{app.config.project}*, by {app.config.author}.",
        f"> Verified with {describe_environment([result])}.",
        "> To run it, `pip install torch numpy`.",
    ]
    if cells:
        lines.append("> The first code cell has what the page uses of the book's own package.")
    exceptions = {o.cell: why for o in result.outcomes if (why := excuse(o))}
    notebook = to_notebook(pieces, executed, exceptions, "\n".join(lines), cells)
    notebook.metadata["drift"] = {"reference": dict(find_project(Path(app.srcdir)).reference)}
    write(Path(app.outdir, FOLDER, f"{name}.ipynb"), notebook)


def write(path: Path, notebook: NotebookNode) -> None:
    """Write a notebook."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{nbformat.writes(notebook)}\n", "utf-8")


def excuse(outcome: Outcome) -> dict[str, str]:
    """Return why an output can't be checked, or not everywhere."""
    if outcome.kind is Kind.UNCHECKED:
        return {"unchecked": outcome.message}
    return {"reference-only": outcome.reference_only} if outcome.reference_only else {}


# Links -------------------------------------------------------------------------------


def find_address(app: Sphinx, name: str, doctree: nodes.document, link: str) -> str:
    """Return where a link leads from a notebook: to the site or a heading of its own.

    Without the site's address, a link to another page leads nowhere and is plain text.
    """
    here = app.builder.get_target_uri(name)
    page, _, part = link.partition("#")
    if re.match("(https?|mailto):", link):
        return link
    for section in () if page else doctree.findall(nodes.section):
        if part in section["ids"]:
            title = str(section[0].astext())
            return f"#{quote(title.replace(' ', '-'), safe=':,')}"
    if app.config.html_baseurl:
        return urljoin(f"{app.config.html_baseurl}{here}", link)
    return ""


# Files -------------------------------------------------------------------------------


def has_notebook(env: BuildEnvironment, name: str) -> bool:
    """Return whether a page has outputs, and all of them are verified or excused."""
    result = results(env).get(name)
    if result is None or result.failed:
        return False
    return any(outcome.kind is Kind.VERIFIED for outcome in result.outcomes)


def with_notebooks(env: BuildEnvironment) -> list[str]:
    """Return the pages that have a notebook."""
    return [name for name in sorted(env.found_docs) if has_notebook(env, name)]


def pack(app: Sphinx, exception: Exception | None) -> None:
    """Put all notebooks into one file."""
    names = [] if exception or app.builder.name not in BUILDERS else with_notebooks(app.env)
    if not names:
        return
    folder = Path(app.outdir, FOLDER)
    with zipfile.ZipFile(folder / f"{ARCHIVE}.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for name in names:
            packed.write(folder / f"{name}.ipynb", f"{ARCHIVE}/{name}.ipynb")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_config_value("downloads_books", [], "html", list)
    app.connect("html-page-context", add_links)
    app.connect("build-finished", pack)
    return {"env_version": 2, "parallel_read_safe": True, "parallel_write_safe": True}
