"""A page in the words of schema.org, for search engines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from website import address

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx

LICENSE = "https://www.apache.org/licenses/LICENSE-2.0"


def data(value: dict[str, Any], attributes: str) -> str:
    """Return a script element that holds data."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return f"<script {attributes}>{text}</script>"


def structured(app: Sphinx, pagename: str, title: str, summary: str) -> dict[str, Any]:
    """Return a page in the words of schema.org."""
    config = app.config
    book: dict[str, Any] = {"@type": "Book", "name": config.project}
    top = pagename == config.root_doc
    fields: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "Book" if top else "LearningResource",
        "name": config.project if top else title,
        "description": summary,
        "inLanguage": config.language,
        "license": LICENSE,
        "isAccessibleForFree": True,
        "author": {"@type": "Organization", "name": config.author},
        "version": config.version,
    }
    if config.html_baseurl:
        fields["url"] = address.of_page(config, app.builder.get_target_uri(pagename))
        book["url"] = config.html_baseurl
    if not top:
        fields["isPartOf"] = book
        if config.html_baseurl:
            fields["breadcrumb"] = _breadcrumb(app, pagename)
    return fields


def _breadcrumb(app: Sphinx, pagename: str) -> dict[str, Any]:
    path = [*reversed(list(_above(app.builder, pagename))), pagename]
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


def _above(builder: Any, pagename: str) -> Iterator[str]:
    """Yield the pages whose contents lead to this one, the nearest first."""
    while relations := builder.relations.get(pagename):
        if (pagename := relations[0]) is None:
            return
        yield pagename
