"""Links from the code of cells and listings to the documentation of what it names.

sphinx-codeautolink finds the names and what they are. Here its answers become links as a page is
written: they come from that page's doctree alone, so that no other page needs to be read again.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sphinx_codeautolink
from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx_codeautolink.extension import SphinxCodeAutoLink, resolve
from sphinx_codeautolink.extension.block import (
    CodeBlockAnalyser,
    construct_name_pattern,
    format_title,
)

from website.stale_pages import rewrite_on_change

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx_codeautolink.parse import Name

logger = logging.getLogger(__name__)

BUILDER = "html"
STYLES = Path(sphinx_codeautolink.__file__).with_name("static")


class Analyser(CodeBlockAnalyser):  # type: ignore[misc]  # untyped
    """Remembers each block with the names in it, and knows sections without a title: solutions."""

    def __init__(self, document: nodes.document, env: BuildEnvironment) -> None:
        super().__init__(
            document,
            source_dir=env.srcdir,
            global_preface=env.config.codelinks_preface.splitlines(),
            custom_blocks={},
            concat_default=True,
            default_highlight_lang=env.config.highlight_language,
            warn_default_parse_fail=False,
        )
        self.blocks: list[tuple[nodes.Element, list[Name]]] = []

    def depart_section(self, node: nodes.section) -> None:
        """Leave the title's name behind, where there was one."""
        if self.title_stack:
            super().depart_section(node)

    def parse_source(self, node: nodes.Element, language: str | None) -> None:
        """Find the names of a block."""
        before = len(self.source_transforms)
        super().parse_source(node, language)
        self.blocks += [(node, transform.names) for transform in self.source_transforms[before:]]


class LinkCode(SphinxPostTransform):
    """Find the places that the names in a page's code lead to."""

    default_priority = 900

    def run(self, **kwargs: Any) -> None:
        if self.app.builder.name != BUILDER:
            return
        places = known_places(self.app)
        analyser = Analyser(self.document, self.env)
        self.document.walkabout(analyser)
        for block, names in analyser.blocks:
            block["code_links"] = list(self._links(block, names, places))

    def _links(
        self, block: nodes.Element, names: Iterable[Name], places: dict[str, str]
    ) -> Iterable[tuple[Name, str, str]]:
        up = "../" * self.env.docname.count("/")
        for name in names:
            if not name.code_str:
                continue
            try:
                target = resolve.resolve_location(name, places)
            except resolve.CouldNotResolve:
                continue
            if target in places:
                address = places[target]
                outside = address.startswith(("http://", "https://"))
                yield name, target, address if outside else up + address
            else:
                logger.warning(
                    "`%s`, which `%s` is, has no place to link to: document it, or add a line to"
                    " docs/_data/inventory",
                    target,
                    name.code_str,
                    location=block,
                    type="codelinks",
                )


def spare_others(stock: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    """Run the `if TYPE_CHECKING` blocks of the book's own modules alone: torch's take a second."""

    def populate(module: ModuleType) -> None:
        if "site-packages" not in Path(getattr(module, "__file__", None) or "site-packages").parts:
            stock(module)

    return populate


@functools.lru_cache(maxsize=1)
def known_places(app: Sphinx) -> dict[str, str]:
    """Return the place of every documented name, once all pages are read."""
    inventory: dict[str, str] = SphinxCodeAutoLink.make_inventory(app)
    return inventory


def places(app: Sphinx) -> list[tuple[str, str]] | None:
    """Return where names lead to, if this builder links them."""
    return sorted(known_places(app).items()) if app.builder.name == BUILDER else None


def visit_block(translator: Any, node: nodes.Element) -> None:
    """Write a block as the translator does, and put its links into it."""
    start = len(translator.body)
    try:
        type(translator).visit_literal_block(translator, node)
    finally:
        if links := node.get("code_links"):
            written = "".join(translator.body[start:])
            translator.body[start:] = [with_links(written, links, node)]


def depart_block(translator: Any, node: nodes.Element) -> None:
    type(translator).depart_literal_block(translator, node)


def with_links(written: str, links: Iterable[tuple[Name, str, str]], block: nodes.Element) -> str:
    """Put links into highlighted code; a name stands in the lines that it was found in."""
    lines = written.split("\n")
    for name, target, address in links:
        place = slice(name.lineno - 1, name.end_lineno)
        text = "\n".join(lines[place])
        # The last one: in `a.b = a.b`, names are met from the right.
        matches = list(re.finditer(construct_name_pattern(name), text))
        if not matches:
            logger.warning(
                "`%s` is not found in its line", name.code_str, location=block, type="codelinks"
            )
            continue
        start, end = matches[-1].start() + len(matches[-1][1]), matches[-1].end()
        shown = text[start:end]
        link = (
            f'<a href="{address}"{format_title(target, shown)} '
            f'class="sphinx-codeautolink-a">{shown}</a>'
        )
        lines[place] = (text[:start] + link + text[end:]).split("\n")
    return "\n".join(lines)


def add_styles(app: Sphinx) -> None:
    if app.builder.name == BUILDER:
        app.config.html_static_path.append(str(STYLES))


def setup(app: Sphinx) -> None:
    if resolve.populate_type_checking.__module__ != __name__:
        resolve.populate_type_checking = spare_others(resolve.populate_type_checking)
    app.add_config_value("codelinks_preface", "", "env", str)
    app.add_css_file("sphinx-codeautolink.css")
    app.add_node(nodes.literal_block, override=True, html=(visit_block, depart_block))
    app.add_post_transform(LinkCode)
    app.connect("builder-inited", add_styles)
    rewrite_on_change(app, "places", lambda _: places(app), lambda env: env.found_docs)
