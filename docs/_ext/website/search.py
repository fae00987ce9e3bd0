"""What the search finds beyond Sphinx's own: explained terms, numbered blocks, and misspellings.

`explained.toml` names the sections that explain a term. They become main entries of the index,
which Sphinx's search ranks first. With titles and numbers they are written into the search page,
where `finding.js` looks words up and puts what it finds before Sphinx's results.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx_exercise.nodes import exercise_node

from figures.numbered_blocks import captioned
from website.pages import data, reading_order

logger = logging.getLogger(__name__)

DATA = "_data/explained.toml"
ASKED = "asked"  # words for a whole page
NUMBERED = "numbered"


def explained(folder: Path) -> dict[str, dict[str, list[str]]]:
    """Return the terms that each page's sections explain."""
    file = folder / DATA
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}


def plain(text: str) -> str:
    """Return a text in small letters, without hyphens."""
    return re.sub(r"[\s\-–]+", " ", text).strip().lower()


class IndexExplanations(SphinxTransform):
    """Make a main entry of the index where a term is explained."""

    default_priority = 700  # sections have their ids, and the index is not yet collected

    def apply(self, **kwargs: object) -> None:
        file = self.env.srcdir / DATA
        if file.is_file():
            self.env.note_dependency(str(file))
        sections = {
            name: node for node in self.document.findall(nodes.section) for name in node["ids"]
        }
        for name, terms in explained(self.env.srcdir).get(self.env.docname, {}).items():
            if name == ASKED:
                continue
            if name not in sections:
                self._warn(f"there is no section #{name} on this page", self.document)
                continue
            section = sections[name]
            text = plain(section.astext())
            for term in terms:
                if plain(term) not in text:
                    self._warn(f"section #{name} doesn't have the term {term!r}", section)
            entries = [("single", term, name, "main", None) for term in terms]
            section.insert(1, addnodes.index("", entries=entries))

    def _warn(self, problem: str, node: nodes.Node) -> None:
        message = "%s: %s; correct the file or the page"
        logger.warning(message, DATA, problem, location=node, type="search")


def note_numbered(app: Sphinx, doctree: nodes.document) -> None:
    """Remember the figures, listings and exercises of a page, whose numbers readers type."""
    labels = [(node["label"], node["ids"][0]) for node in doctree.findall(captioned)]
    labels += [(node[0].astext(), node["ids"][0]) for node in doctree.findall(exercise_node)]
    app.env.metadata[app.env.docname][NUMBERED] = labels


def places(app: Sphinx) -> Iterator[tuple[str, str, str]]:
    """Yield words that lead to a page or to a section of it, an address, and the page's title."""
    first, *others = reading_order(app.env, app.config.root_doc)
    for page in dict.fromkeys((*others, first)):  # the first page is an overview
        address, title = app.builder.get_target_uri(page), app.env.titles[page].astext()
        for name, terms in explained(app.srcdir).get(page, {}).items():
            place = address if name == ASKED else f"{address}#{name}"
            yield from ((term, place, title) for term in terms)
        for label, name in app.env.metadata[page].get(NUMBERED, ()):
            yield f"{label} {title}", f"{address}#{name}", title
        yield title, address, title
        yield page.rpartition("/")[2].replace("-", " "), address, title


def put_answers(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: None
) -> None:
    """Give the search page its data."""
    if pagename == "search" and app.builder.name in {"html", "dirhtml"}:
        attributes = 'type="application/json" id="direct-answers"'
        context["direct_answers"] = data(list(places(app)), attributes)


def setup(app: Sphinx) -> None:
    app.add_transform(IndexExplanations)
    app.connect("doctree-read", note_numbered)
    app.connect("html-page-context", put_answers)
