"""`{number-box}`: a box that says what pasted numbers are; a script does its work.

Without a script, and in a book that isn't a site, the page has its mistakes and symptoms alone.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri

from explorer import element
from later import show_later
from website.outputs import outputs_of
from website.pages import data, reading_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

    from website.outputs import Output

HERE = Path(__file__).parent
FILE = Path(__file__).parents[2] / "_data" / "mistakes.json"
SCRIPTS = ("reader.js", "match.js", "diagnose.js", "box.js")
STYLES = "box.css"
DATA_ID = "printed-numbers"
SITES = {"html", "dirhtml"}

FORM = """<form class="number-box">
<label for="pasted-numbers">Paste what your code printed: a tensor, an array, a list, one row, a
 whole cell’s output</label>
<textarea id="pasted-numbers" rows="6" spellcheck="false" autocomplete="off" autocapitalize="off"
 maxlength="{limit}" aria-describedby="pasted-note"></textarea>
<p id="pasted-note">What you paste is compared in your browser and sent nowhere.</p>
<p class="number-box-buttons"><button type="submit">Compare</button>
<button type="button" name="example" value="{example}">Try an example</button>
<button type="reset">Clear</button></p>
<div class="number-box-answer" role="status"></div>
</form>
<noscript><p>The box is made by a script, and scripts are off; the mistakes below need none.</p>
</noscript>
"""
LIMIT = 50_000
"""How many characters are read: some ten times the longest output of the book."""
EXAMPLE = "[[0.3071, 0.823], [0.3157, 0.843], [0.3152, 0.8421], [0.3006, 0.808]]"
"""What scores that aren't scaled make of the first four words."""
MADE = "mistakes.js"

DECIMAL = re.compile(r"\d\.\d")
"""What an output must have to be told from others: many print the same whole numbers."""


class number_box(nodes.General, nodes.Element):  # noqa: N801 - docutils names nodes so
    """The place of the box, filled once all pages are read."""


class NumberBox(SphinxDirective):
    """Show the box."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(FILE))
        return [number_box()]


def recorded() -> dict[str, Any]:
    """Return what mistakes make, as `numbers_file.packed` writes it."""
    return dict(json.loads(FILE.read_text("utf-8")))


def titles() -> list[str]:
    """Return the titles of the recorded mistakes, in their order."""
    return list(recorded()["titles"])


def fill(app: Sphinx, docname: str, node: nodes.Element) -> list[nodes.Node]:
    """Put the form and what it compares with into the page."""
    if app.builder.name not in SITES:
        return []
    sections = {title: nodes.make_id(title.replace("`", "")) for title in titles()}
    if node.document is not None:
        for title, name in sections.items():
            if name not in node.document.ids:
                message = "the page has no section %r for a recorded mistake; write one"
                logging.getLogger(__name__).warning(message, title, location=node)
    known = {
        "pages": known_pages(app, docname),
        "sections": sections,
        "made": relative_uri(app.builder.get_target_uri(docname), f"_static/{MADE}?v={digest()}"),
    }
    form = FORM.format(limit=LIMIT, example=html.escape(EXAMPLE))
    text = form + data(known, f'type="application/json" id="{DATA_ID}"')
    return [nodes.raw("", text, format="html")]


def known_pages(app: Sphinx, page: str) -> list[dict[str, Any]]:
    """Return what other pages print, by page and section."""
    return [
        {
            "href": app.builder.get_relative_uri(page, name),
            "title": app.env.titles[name].astext(),
            "sections": sections,
        }
        for name in reading_order(app.env, app.config.root_doc)
        if name != page and (sections := list(_sections(outputs_of(app.env, name))))
    ]


def digest() -> str:
    """Return the digest of what mistakes make, so that a browser keeps no old file."""
    return hashlib.sha256(FILE.read_bytes()).hexdigest()[:8]


def write_made(app: Sphinx, error: Exception | None) -> None:
    """Write what mistakes make as a script, which a page can load from a folder too."""
    if error is None and app.builder.name in SITES:
        script = f"globalThis.selfattn.made = {FILE.read_text('utf-8').strip()};\n"
        (Path(app.outdir) / "_static" / MADE).write_text(script, "utf-8")


def _sections(outputs: Sequence[Output]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the heading of sections that print decimals, and what was verified of them."""
    with_numbers = [each for each in outputs if each.verified and DECIMAL.search(each.text)]
    for heading, group in groupby(with_numbers, lambda each: each.heading):
        yield heading, [[each.anchor, re.sub(" +", " ", each.text.strip())] for each in group]


def add_files(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document
) -> None:
    """Load the script and the styles on pages that have the box."""
    if 'class="number-box' in context.get("body", "") and app.builder.name in SITES:
        for name in SCRIPTS:
            app.add_js_file(name, loading_method="defer")
        app.add_css_file(STYLES)


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("number-box", NumberBox)
    element.static_files(app, HERE)
    app.connect("html-page-context", add_files)
    app.connect("build-finished", write_made)
    show_later(app, number_box, fill)
    return {"env_version": 4, "parallel_read_safe": True, "parallel_write_safe": True}
