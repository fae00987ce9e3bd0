"""What the head of a page says to search engines, and to those who preview a link to it."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

from docutils import nodes

from website import address
from website.description import description
from website.structured_data import data, structured

if TYPE_CHECKING:
    from sphinx.application import Sphinx

CARD = "_static/card.png"
CARD_SIZE = (1200, 630)
CARD_SAYS = (
    "The title of the book, beside the attention weights of six words, "
    "a table in which a darker cell is a larger weight."
)
VIEWPORT = re.compile(r'<meta name="viewport"[^>]*>')


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
    summary = description(pagename, doctree)
    written = doctree is not None and any(
        node.get("name") == "description" for node in doctree.findall(nodes.meta)
    )
    own = address.of_page(app.config, app.builder.get_target_uri(pagename))
    context["pageurl"] = own if pagename != "404" else ""
    tags = [] if written or not summary else [_meta("name", "description", summary)]
    if pagename in app.env.found_docs:
        title = app.env.titles[pagename].astext()
        tags += _preview(app, pagename, title, summary, own)
        fields = structured(app, pagename, title, summary)
        tags.append(data(fields, 'type="application/ld+json"'))
    given = VIEWPORT.sub("", context.get("metatags", ""))  # the frame has one already
    context["metatags"] = "\n".join([given.strip(), *tags]).strip()


def _preview(app: Sphinx, pagename: str, title: str, summary: str, own: str) -> list[str]:
    """Return what a messenger or a network shows of a link to the page."""
    kind = "website" if pagename == app.config.root_doc else "article"
    graph = {"title": title, "type": kind, "site_name": app.config.project, "description": summary}
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


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", add_preview)
