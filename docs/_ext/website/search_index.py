"""The search page's data: where each term is explained, what each page is about, and all words.

`explained.toml` names the sections that explain a term, and the glossary, the symbols, their names
in code and the captions of figures and listings are places of explanation by themselves. The words
are those of the pages as they were written (`search_text`). `finding.js` ranks and shows.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import tomllib
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from figures.numbered_blocks import caption_text, captioned
from reference.notation import PAGE
from reference.symbols import symbols
from website import search_text
from website.description import description, shortened
from website.reading_order import reading_order
from website.structured_data import data

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

logger = logging.getLogger(__name__)

DATA = "_data/explained.toml"
MAIN = "main"
GLOSSARY = "reference/glossary"
FORMULA = "\ufffc"  # stands for what is no text
# A place is (term, anchor, heading, sentence).
Place = tuple[str, str, str, str]


@functools.cache
def explained(folder: Path) -> dict[str, dict[str, list[str]]]:
    """Return the terms that each page's sections explain."""
    file = folder / DATA
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}


def plain(text: str) -> str:
    """Return a text as it is searched for: small letters, and no hyphens."""
    return re.sub(r"[\s\-–]+", " ", text).strip().lower()


class IndexExplanations(SphinxTransform):
    """Make an entry of the index where a term is explained."""

    default_priority = 700  # sections have their ids, and the index is not yet collected

    def apply(self, **kwargs: object) -> None:
        sections = {
            name: node for node in self.document.findall(nodes.section) for name in node["ids"]
        }
        for name, terms in explained(self.env.srcdir).get(self.env.docname, {}).items():
            if name not in sections:
                self._warn(f"there is no section #{name} on this page", self.document)
                continue
            section = sections[name]
            text = plain(section.astext())
            for term in terms:
                if plain(term) not in text:
                    self._warn(f"section #{name} doesn't have the term {term!r}", section)
            entries = [("single", term, name, MAIN, None) for term in terms]
            section.insert(1, addnodes.index("", entries=entries))

    def _warn(self, problem: str, node: nodes.Node) -> None:
        message = "%s: %s; correct the file or the page"
        logger.warning(message, DATA, problem, location=node, type="finding")


def outdated(app: Sphinx, env: BuildEnvironment, *_: set[str]) -> list[str]:
    """Return the pages that explain other terms than they did when they were read."""
    now = explained(env.srcdir)
    before = getattr(env, "finding_explained", {})
    env.finding_explained = now  # type: ignore[attr-defined]
    return [name for name in before.keys() | now.keys() if now.get(name) != before.get(name)]


def collect(app: Sphinx, doctree: nodes.document) -> None:
    """Note the places of explanation on the page that was read."""
    places = [*_indexed(doctree), *_captions(doctree)]
    metadata = app.env.metadata[app.env.docname]
    metadata["places"] = places
    metadata["description"] = description(app.env.docname, doctree)


def check_pages(app: Sphinx, env: BuildEnvironment) -> None:
    """Refuse explanations on pages that are not there."""
    for docname in explained(env.srcdir).keys() - env.found_docs:
        message = "%s: there is no page %r; correct the name or add the page"
        logger.warning(message, DATA, docname, type="finding")


def _indexed(doctree: nodes.document) -> Iterator[Place]:
    by_id = {name: node for node in doctree.findall(nodes.Element) for name in node["ids"]}
    for index in doctree.findall(addnodes.index):
        for _, term, name, main, *_ in index["entries"]:
            node = by_id.get(name)
            if main != MAIN or node is None:
                continue
            if isinstance(node, nodes.section):
                yield term, name, node[0].astext(), _sentence(node, term)
            elif isinstance(node, nodes.term):
                definition = node.parent.next_node(nodes.definition)
                yield term, name, term, definition.astext().split("\n")[0] if definition else ""


def _sentence(section: nodes.section, term: str) -> str:
    """Return a section's sentence that has a term and no formula: the one that defines it first."""
    wanted = plain(term)
    paragraphs = list(section.findall(nodes.paragraph))
    paragraphs.sort(key=lambda paragraph: not _defines(paragraph, wanted))
    lines = (line for paragraph in paragraphs for line in _without_formulas(paragraph))
    return shortened(next((line for line in lines if wanted in plain(line)), ""))


def _defines(paragraph: nodes.paragraph, wanted: str) -> bool:
    """Say if a paragraph sets a term in bold, as the book does where it first explains one."""
    return any(wanted in plain(strong.astext()) for strong in paragraph.findall(nodes.strong))


def _without_formulas(paragraph: nodes.Element) -> list[str]:
    """Return a paragraph's sentences, which stand in a line each, that have no formula."""
    lines = _text(paragraph).splitlines()
    return [line.replace(" .", ".").strip() for line in lines if FORMULA not in line]


def _text(node: nodes.Node) -> str:
    """Return what a node says, without what it cites."""
    if isinstance(node, nodes.math):
        return FORMULA
    if isinstance(node, addnodes.pending_xref) and node["refdomain"] == "cite":
        return ""
    return "".join(map(_text, node.children)) if node.children else node.astext()


def _captions(doctree: nodes.document) -> Iterator[Place]:
    for node in doctree.findall(captioned):
        text = next(iter(node.findall(caption_text)))
        lines = _without_formulas(text)
        yield node["label"], node["ids"][0], node["label"], lines[0] if lines else ""


def _symbols() -> Iterator[Place]:
    for symbol in symbols():
        meaning = f"{symbol.meaning_in_words[0].upper()}{symbol.meaning_in_words[1:]}."
        for name in dict.fromkeys((*symbol.code, *symbol.written)):
            heading = symbol.written[0] if name in symbol.written else name
            yield name, symbol.anchor, heading, meaning


def table(app: Sphinx) -> dict[str, Any]:
    """Return what the search page knows: the pages as a reader meets them, places, and words."""
    env = app.env
    order = [name for name, _ in reading_order(env, app.config.root_doc)]
    order = list(dict.fromkeys([*order[1:], *order[:1]]))  # the first page is an overview
    order += sorted(env.found_docs.difference(order))
    explained: list[tuple[int, str, str, str, str]] = []
    places: list[tuple[int, search_text.Place]] = []
    written = _written_places(app)
    for number, docname in enumerate(order):
        own = list(env.metadata[docname].get("places", ()))
        own += _symbols() if docname == PAGE else ()
        explained += [(number, *place) for place in own]
        places += [(number, place) for place in written.get(docname, ())]
    words = search_text.postings("" if p.kind == "output" else p.text for _, p in places)
    return {
        "pages": [_page(app, docname) for docname in order],
        "explained": explained,
        "places": [(n, p.anchor, p.kind, p.heading, *_printed(p)) for n, p in places],
        "words": " ".join(words),
        "at": list(words.values()),
        "stopwords": sorted(search_text.STOPWORDS),
        "offered": [order.index(name) for name in (GLOSSARY, PAGE) if name in order],
    }


def _written_places(app: Sphinx) -> dict[str, list[search_text.Place]]:
    """Return the places of each page, read anew where the page isn't what it was."""
    kept = Path(app.doctreedir, "search-text.json")
    before = json.loads(kept.read_text("utf-8")) if kept.is_file() else {}
    now: dict[str, Any] = {}
    for docname in sorted(app.env.found_docs):
        file = Path(app.builder.get_outfilename(docname))  # type: ignore[attr-defined]
        page = file.read_bytes() if file.is_file() else b""
        digest = hashlib.sha256(page).hexdigest()
        if before.get(docname, [""])[0] == digest:
            now[docname] = before[docname]
        else:
            now[docname] = [digest, [astuple(p) for p in search_text.places(page.decode())]]
    kept.write_text(json.dumps(now), "utf-8")
    return {name: [search_text.Place(*p) for p in places] for name, (_, places) in now.items()}


def _page(app: Sphinx, docname: str) -> tuple[str, str, str]:
    """Return a page's address, its title and what it is about."""
    about = app.env.metadata[docname].get("description", "")
    return app.builder.get_target_uri(docname), app.env.titles[docname].astext(), about


def _printed(place: search_text.Place) -> tuple[str, ...]:
    """Return an output's text, which is shown and whose words are found in it."""
    return (place.text,) if place.kind == "output" else ()


def put_table(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: None
) -> None:
    """Give the search page its data."""
    if pagename != "search" or app.builder.name not in {"html", "dirhtml"}:
        return
    script = data(table(app), 'type="application/json" id="finding"')
    context["metatags"] = f"{context.get('metatags', '')}\n{script}"


def setup(app: Sphinx) -> None:
    app.add_transform(IndexExplanations)
    app.connect("env-get-outdated", outdated)
    app.connect("doctree-read", collect)
    app.connect("env-check-consistency", check_pages)
    app.connect("html-page-context", put_table)
