"""What search engines and link previews read of a page, and the sitemap.

Each page has a description, a preview and structured data. The page writes its description in its
front matter; where it has none, its first paragraph is taken.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import address
from docutils import nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.util.typing import ExtensionMetadata

LONGEST = 160
CARD = "_static/card.png"
CARD_SIZE = (1200, 630)
CARD_SAYS = (
    "The title of the book, beside the attention weights of six words, "
    "a table in which a darker cell is a larger weight."
)
VIEWPORT = re.compile(r'<meta name="viewport"[^>]*>')
LICENSE = "https://www.apache.org/licenses/LICENSE-2.0"
# Pages that Sphinx makes have no front matter.
MADE = {
    "404": "There is no page at this address; the contents and the search lead on.",
    "genindex": "The index of the book: terms, names in code, classes, functions and options.",
    "search": "Search the book: terms, names in code, figures, listings and all text.",
}


def description(pagename: str, doctree: nodes.document | None) -> str:
    """Return what a page says of itself, else its first paragraph, cut at a word."""
    if doctree is None:
        return MADE.get(pagename, "")
    for node in doctree.findall(nodes.meta):
        if node.get("name") == "description":
            return " ".join(str(node["content"]).split())
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section | nodes.document):
            return shortened(" ".join(paragraph.astext().split()))
    return ""


def shortened(text: str) -> str:
    """Cut a text at a word, so that search engines show it whole."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rpartition(' ')[0]}…"


def add_preview(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Put the preview and the structured data into a page's head."""
    if app.builder.name not in {"html", "dirhtml"}:
        return
    said = description(pagename, doctree)
    written = doctree is not None and any(
        node.get("name") == "description" for node in doctree.findall(nodes.meta)
    )
    own = address.of_page(app.config, app.builder.get_target_uri(pagename))
    context["pageurl"] = own if pagename != "404" else ""
    tags = [] if written or not said else [_meta("name", "description", said)]
    if pagename in app.env.found_docs:
        title = app.env.titles[pagename].astext()
        tags += _preview(app, pagename, title, said, own)
        found = structured(app, pagename, title, said)
        tags.append(data(found, 'type="application/ld+json"'))
    given = VIEWPORT.sub("", context.get("metatags", ""))  # the frame has one already
    context["metatags"] = "\n".join([given.strip(), *tags]).strip()


def _preview(app: Sphinx, pagename: str, title: str, said: str, own: str) -> list[str]:
    """Return what a messenger or a network shows of a link to the page."""
    kind = "website" if pagename == app.config.root_doc else "article"
    graph = {"title": title, "type": kind, "site_name": app.config.project, "description": said}
    tags = [_meta("property", f"og:{name}", value) for name, value in graph.items() if value]
    if not own:
        return [*tags, _meta("name", "twitter:card", "summary")]
    picture = {
        "url": own,
        "image": f"{app.config.html_baseurl}{CARD}",
        "image:alt": CARD_SAYS,
        "image:width": str(CARD_SIZE[0]),
        "image:height": str(CARD_SIZE[1]),
    }
    tags += [_meta("property", f"og:{name}", value) for name, value in picture.items()]
    return [*tags, _meta("name", "twitter:card", "summary_large_image")]


def _meta(kind: str, name: str, value: str) -> str:
    return f'<meta {kind}="{name}" content="{html.escape(value)}">'


def data(said: dict[str, Any], attributes: str) -> str:
    """Return a script element that holds data."""
    text = json.dumps(said, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return f"<script {attributes}>{text}</script>"


def structured(app: Sphinx, pagename: str, title: str, said: str) -> dict[str, Any]:
    """Return a page in the words of schema.org."""
    config = app.config
    book: dict[str, Any] = {"@type": "Book", "name": config.project}
    top = pagename == config.root_doc
    found: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "Book" if top else "LearningResource",
        "name": config.project if top else title,
        "description": said,
        "inLanguage": config.language,
        "license": LICENSE,
        "isAccessibleForFree": True,
        "author": {"@type": "Organization", "name": config.author},
        "version": config.version,
    }
    if config.html_baseurl:
        found["url"] = address.of_page(config, app.builder.get_target_uri(pagename))
        book["url"] = config.html_baseurl
    if not top:
        found["isPartOf"] = book
        if config.html_baseurl:
            found["breadcrumb"] = _breadcrumb(app, pagename)
    return found


def _breadcrumb(app: Sphinx, pagename: str) -> dict[str, Any]:
    path = [*reversed(list(_above(app.env, pagename))), pagename]
    steps = [
        {
            "@type": "ListItem",
            "position": place,
            "name": app.env.titles[name].astext(),
            "item": address.of_page(app.config, app.builder.get_target_uri(name)),
        }
        for place, name in enumerate(path, start=1)
    ]
    return {"@type": "BreadcrumbList", "itemListElement": steps}


def _above(env: BuildEnvironment, pagename: str) -> Iterator[str]:
    """Yield the pages whose contents lead to this one, the nearest first."""
    parents = {child: page for page, inner in env.toctree_includes.items() for child in inner}
    seen = {pagename}
    while (pagename := parents.get(pagename, "")) and pagename not in seen:
        seen.add(pagename)
        yield pagename


def write_sitemap(app: Sphinx, exception: Exception | None) -> None:
    """List all pages for search engines, where their addresses are known."""
    if exception is not None or app.builder.name not in {"html", "dirhtml"}:
        return
    for name in ("sitemap.xml", "robots.txt"):
        Path(app.outdir, name).unlink(missing_ok=True)
    if not app.config.html_baseurl:
        return
    top = ET.Element("urlset", xmlns="http://www.sitemaps.org/schemas/sitemap/0.9")
    for pagename in sorted(app.env.found_docs):
        place = ET.SubElement(ET.SubElement(top, "url"), "loc")
        place.text = address.of_page(app.config, app.builder.get_target_uri(pagename))
    ET.indent(top)
    ET.ElementTree(top).write(Path(app.outdir, "sitemap.xml"), "utf-8", xml_declaration=True)
    if urlsplit(app.config.html_baseurl).path == "/":  # read at the top of a host only
        said = f"User-agent: *\nAllow: /\nSitemap: {app.config.html_baseurl}sitemap.xml\n"
        Path(app.outdir, "robots.txt").write_text(said, "utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("address")
    app.connect("html-page-context", add_preview)
    app.connect("build-finished", write_sitemap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
