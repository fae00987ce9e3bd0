"""The list of all pages for search engines, where their addresses are known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

from website import address

if TYPE_CHECKING:
    from sphinx.application import Sphinx


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
        text = f"User-agent: *\nAllow: /\nSitemap: {app.config.html_baseurl}sitemap.xml\n"
        Path(app.outdir, "robots.txt").write_text(text, "utf-8")


def setup(app: Sphinx) -> None:
    app.connect("build-finished", write_sitemap)
