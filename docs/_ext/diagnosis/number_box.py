"""`{number-box}`: a box that says what pasted numbers are; a script does its work.

Without a script, and in a book that isn't a site, the page has its table of mistakes alone.
"""

from __future__ import annotations

import html
import re
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from diagnosis.packing import ARRAYS, packed
from diagnosis.printed_values import printed_by
from explorer.element import text_of
from selfattn.examples import six_tokens
from website.reading_order import reading_order
from website.shown_later import show_later
from website.structured_data import data
from website.theme import bundle

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from diagnosis.printed_values import Printed

HERE = Path(__file__).parent
ARITHMETIC = HERE.parent / "explorer" / "arithmetic.js"  # a file of its own: other pages have it
SCRIPTS = tuple(HERE / f"{name}.js" for name in ("reader", "gpu", "diagnose", "box"))
SHEET = HERE / "box.css"
SCRIPT, STYLES = "diagnosis.js", "diagnosis.css"
DATA_ID = "printed-numbers"
SITES = {"html", "dirhtml"}
SPARE = re.compile(r"^\s*(//.*|/\*[\s\S]*?\*/)\n|^\s+| +// .*$", re.MULTILINE)
"""Comments and indentation: no text in the scripts spans lines, or has two slashes and a space."""

FORM = """<form class="number-box">
<label for="pasted-numbers">{label}</label>
<textarea id="pasted-numbers" rows="6" spellcheck="false" autocomplete="off" autocapitalize="off"
 maxlength="{limit}" aria-describedby="pasted-note"></textarea>
<p id="pasted-note">{note}</p>
<p class="number-box-buttons"><button type="submit">Compare</button>
<button type="button" name="example" value="{example}">Try an example</button>
<button type="reset">Clear</button></p>
<div class="number-box-answer" role="status"></div>
</form>
<noscript><p>{without}</p></noscript>
"""
WITHOUT = "The box is made by a script, and scripts are off; the table below needs none."
LABEL = "Paste what your code printed: a tensor, an array, a list, one row, a whole cell’s output"
NOTE = "What you paste is compared in your browser and sent nowhere."
LIMIT = 50_000
"""How many characters are read: some ten times the longest output of the book."""

DECIMAL = re.compile(r"\d\.\d")
"""What an output must have to be told from others: many print the same whole numbers."""


class number_box(nodes.General, nodes.Element):  # noqa: N801 - docutils names nodes so
    """The place of the box, filled once all pages are read."""


class NumberBox(SphinxDirective):
    """Show the box."""

    def run(self) -> list[nodes.Node]:
        return [number_box()]


def fill(app: Sphinx, docname: str, node: nodes.Element) -> list[nodes.Node]:
    """Put the form and what it compares with into the page."""
    if app.builder.name not in SITES:
        return []
    return [nodes.raw("", written(app, docname), format="html")]


def written(app: Sphinx, page: str) -> str:
    """Return the box of a page as HTML, with its data."""
    example = next((each.text for each in printed_by(app.env)[page] if each.is_mistake), "")
    texts = {
        "label": LABEL,
        "note": NOTE,
        "without": WITHOUT,
        "limit": str(LIMIT),
        "example": example.split("\ntensor")[0],
    }
    form = FORM.format_map({name: html.escape(text) for name, text in texts.items()})
    known = known_numbers(app, page)
    return form + data(known, f'type="application/json" id="{DATA_ID}"')


def known_numbers(app: Sphinx, page: str) -> dict[str, Any]:
    """Return what other pages print, by page and section; what its own prints, a page can read."""
    printed = printed_by(app.env)
    pages = [
        {
            "href": app.builder.get_relative_uri(page, name),
            "title": app.env.titles[name].astext(),
            "sections": sections,
        }
        for name, _ in reading_order(app.env, app.config.root_doc)
        if name != page and (sections := list(_sections(printed.get(name, ()))))
    ]
    return {"inputs": six_tokens().inputs.tolist(), "pages": pages}


def _sections(printed: Sequence[Printed]) -> Iterator[tuple[str, str, list[Any]]]:
    """Yield the title, the id and the outputs of sections that print decimals.

    An id that follows from the title is left out.
    """
    with_numbers = [(each, packed(each.text)) for each in printed if DECIMAL.search(each.text)]
    for (name, title), group in groupby(
        with_numbers, lambda pair: (pair[0].section, pair[0].title)
    ):
        outputs = [[_anchor(each), _names(each, numbers), numbers] for each, numbers in group]
        yield title, "" if name == slug(title) else name, outputs


def _names(printed: Printed, numbers: str) -> str:
    """Return the names of what was printed, if there is one for each array, or one alone."""
    names = printed.names
    return "\n".join(names) if len(names) in {1, numbers.count(ARRAYS) + 1} else ""


def slug(title: str) -> str:
    """Return the usual id of a section; diagnose.js does the same."""
    return re.sub("[^a-z0-9]+", "-", title.lower()).strip("-")


def _anchor(printed: Printed) -> str | int:
    """Return an output's id, or its number where the section's id makes one of that."""
    stem, _, number = printed.anchor.rpartition("-")
    return int(number) if stem == f"{printed.section}-output" else printed.anchor


def shown(env: BuildEnvironment) -> list[Any]:
    """Return what the page shows of others, and what it loads."""
    order = [name for name, _ in reading_order(env, env.config.root_doc)]
    printed = printed_by(env)
    texts = [(name, env.titles[name].astext(), each) for name, each in printed.items()]
    return [order, texts, text_of(ARITHMETIC.name), joined(SCRIPTS), bundle([SHEET])]


def write_files(app: Sphinx) -> None:
    """Write the script and the styles of the box where Sphinx looks for static files."""
    if app.builder.name not in SITES:
        return
    folder = app.outdir / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ARITHMETIC.name).write_text(text_of(ARITHMETIC.name), "utf-8")
    (folder / SCRIPT).write_text(joined(SCRIPTS), "utf-8")
    (folder / STYLES).write_text(bundle([SHEET]), "utf-8")


def joined(scripts: Iterable[Path]) -> str:
    """Join scripts, without comments and spare space."""
    return SPARE.sub("", "".join(path.read_text("utf-8") for path in scripts))


def add_files(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document
) -> None:
    """Load the script and the styles on pages that have the box."""
    if number_box.__name__ in app.env.metadata.get(pagename, {}) and app.builder.name in SITES:
        app.add_js_file(ARITHMETIC.name, loading_method="defer")
        app.add_js_file(SCRIPT, loading_method="defer")
        app.add_css_file(STYLES)


def setup(app: Sphinx) -> None:
    app.add_directive("number-box", NumberBox)
    app.connect("builder-inited", write_files)
    app.connect("html-page-context", add_files)
    show_later(app, number_box, fill, shown)
