"""`{number-box}`: a box that says what pasted numbers are; a script does its work.

Without a script, and in a book that isn't a site, the page has its mistakes and symptoms alone.
What the box compares with is a script beside the page, loaded when somebody pastes.
"""

import html
import json
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import only
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from explorer import element
from website.outputs import Output, outputs_of
from website.pages import reading_order

HERE = Path(__file__).parent
FILE = Path(__file__).parents[2] / "_data" / "mistakes.json"
SCRIPTS = ("reader.js", "match.js", "diagnose.js", "box.js")
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
DECIMAL = re.compile(r"\d\.\d")
"""What an output must have to be told from others: many print the same whole numbers."""


class NumberBox(SphinxDirective):
    """Show the box."""

    def run(self) -> list[nodes.Node]:
        element.need_files(self.env, [*SCRIPTS, "box.css"], HERE)
        form = FORM.format(limit=LIMIT, example=html.escape(EXAMPLE))
        return [
            only("", nodes.raw("", form, format="html"), expr="builder_html or builder_dirhtml")
        ]


def recorded() -> dict[str, Any]:
    """Return what mistakes make, as `docs/_data/numbers_file.py` packs it."""
    return dict(json.loads(FILE.read_text("utf-8")))


def known(app: Sphinx) -> dict[str, Any]:
    """Return what pages print, by page and section, and what mistakes make."""
    made = recorded()
    pages = [
        {
            "href": app.builder.get_target_uri(name),
            "title": app.env.titles[name].astext(),
            "sections": sections,
        }
        for name in reading_order(app.env, app.config.root_doc)
        if (sections := list(_sections(outputs_of(app.env, name))))
    ]
    named = {title: nodes.make_id(title.replace("`", "")) for title in made["titles"]}
    return {"pages": pages, "sections": named, "made": made}


def _sections(outputs: Sequence[Output]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the heading of sections that print decimals, and what was verified of them."""
    with_numbers = [each for each in outputs if each.verified and DECIMAL.search(each.text)]
    for heading, group in groupby(with_numbers, lambda each: each.heading):
        yield heading, [[each.anchor, re.sub(" +", " ", each.text.strip())] for each in group]


def write_known(app: Sphinx, error: Exception | None) -> None:
    """Write what is known as a script, which a page can load from a folder too."""
    if error is None and app.builder.name in SITES:
        text = json.dumps(known(app), ensure_ascii=False, separators=(",", ":"))
        script = f"globalThis.selfattn.known = {text};\n"
        Path(app.outdir, "_static", "known.js").write_text(script, "utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("explorer")  # which loads the files of elements
    app.add_directive("number-box", NumberBox)
    element.static_files(app, HERE)
    app.connect("build-finished", write_known)
    return {"env_version": 6, "parallel_read_safe": True, "parallel_write_safe": True}
