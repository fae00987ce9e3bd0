"""The sidebar's list of the book's pages, resolved and rendered once, not for each page.

For each page, Sphinx would copy, resolve and render the list of all pages: of three hundred pages,
that is most of a build, and it grows with the square of their number. What differs from page to
page are the addresses, which are relative, and what is marked as current. A long list shows a
page's own branch alone.
"""

from __future__ import annotations

import html
import re
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, unquote

from sphinx.environment.adapters.toctree import global_toctree_for_doc
from sphinx.util.osutil import relative_uri

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sphinx.application import Sphinx
    from sphinx.builders import Builder
    from sphinx.builders.html import StandaloneHTMLBuilder

NO_PAGE = "\0"
DEEPEST = 2
LONGEST = 200
"""Entries of a list that is shown whole on each page."""

LIST, END = "<ul>", "</ul>\n"
ENTRY = re.compile(
    r'<li class="(?P<level>[^"]*)"><a class="(?P<kind>[^"]*)" href="(?P<address>[^"]*)">'
)
PART = re.compile(f"({LIST}|{END}|{re.sub(r'[?]P<[a-z]+>', '?:', ENTRY.pattern)})")


class Sidebar:
    """The list in parts, which are joined for each page.

    Args:
        text: The list as HTML, in which an address is the quoted name of a page, and an anchor.
        address_of: Returns the address of a page, from the book's top.

    """

    def __init__(self, text: str, address_of: Callable[[str], str]) -> None:
        self._parts = PART.split(text)
        self._address_of = address_of
        self._entries: dict[int, tuple[str, str]] = {}
        """The page and the anchor that each entry within the book leads to."""
        self._lists: list[int] = []
        """The list that each part is in, by its place; -1 outside."""
        self._above: dict[int, int] = {-1: -1}
        """The entry that each list is below, by its place; -1 for those at the top."""
        self._depth: dict[int, int] = {-1: 0}
        self._read()
        self._folder: str | None = None
        self._here: list[str] = []

    def _read(self) -> None:
        inner, entry = [-1], [-1]
        for place, part in enumerate(self._parts):
            if part == LIST:
                self._above[place] = entry[-1]
                self._depth[place] = len(inner)
                inner.append(place)
                entry.append(-1)
            self._lists.append(inner[-1])
            if part == END:
                inner.pop()
                entry.pop()
            elif match := ENTRY.fullmatch(part):
                entry[-1] = place
                if "internal" in match["kind"]:
                    page, sign, anchor = html.unescape(match["address"]).partition("#")
                    self._entries[place] = unquote(page), sign + anchor

    def on(self, page: str) -> str:
        """Return the list as a page shows it."""
        own = {place: anchor for place, (name, anchor) in self._entries.items() if name == page}
        branch = self._branch(place for place, anchor in own.items() if not anchor)
        parts = list(self._addressed(self._address_of(page)))
        for place, anchor in own.items():
            parts[place] = _with_address(parts[place], anchor or "#")
        for place in branch:
            parts[place] = _marked(parts[place], own=place in own)
        shown = self._shown({-1, *branch})
        return "".join(part for part, i in zip(parts, self._lists, strict=True) if i in shown)

    def _shown(self, branch: set[int]) -> set[int]:
        """Return the lists that a page shows."""
        whole = len(self._entries) <= LONGEST
        return {
            place
            for place, depth in self._depth.items()
            if depth <= DEEPEST and (whole or self._above[place] in branch)
        }

    def _branch(self, own: Iterable[int]) -> set[int]:
        """Return the entries of a page, those above them, and the lists that these are in."""
        entries: set[int] = set()
        for entry in own:
            place = entry
            while place >= 0:
                entries |= {place, self._lists[place]}
                place = self._above[self._lists[place]]
        return entries

    def _addressed(self, address: str) -> list[str]:
        """Return the parts as all pages of a folder have them; pages are written by folder."""
        folder = address.rpartition("/")[0]
        if folder != self._folder:
            base = f"{folder}/" if folder else ""
            self._folder, self._here = folder, list(self._parts)
            for place, (page, anchor) in self._entries.items():
                to = relative_uri(base, self._address_of(page)) + anchor
                self._here[place] = _with_address(self._parts[place], to)
        return self._here


def _with_address(part: str, address: str) -> str:
    """Return the beginning of an entry with another address."""
    return f'{part[: part.rindex(" href=")]} href="{html.escape(address)}">'


def _marked(part: str, *, own: bool) -> str:
    """Return a list, or the beginning of an entry, as one that leads to the page."""
    if part == LIST:
        return '<ul class="current">'
    part = part.replace('"><a', ' current"><a', 1)
    return part.replace('<a class="', '<a class="current ', 1) if own else part


def contents(builder: StandaloneHTMLBuilder) -> str:
    """Render the book's contents, in which no page is current, with names for addresses."""
    named = SimpleNamespace(get_relative_uri=lambda _, page: quote(page))
    tree = global_toctree_for_doc(
        builder.env,
        NO_PAGE,
        cast("Builder", named),
        tags=builder.tags,
        includehidden=True,
        maxdepth=sys.maxsize,  # of a page further down, those above it are marked
        titles_only=True,
    )
    text: str = builder.render_partial(tree)["fragment"]
    return text


def forget(app: Sphinx, _builder: Builder) -> None:
    """Have the list made anew for what is about to be written."""
    app.sidebar = None  # type: ignore[attr-defined]


def show(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Give a page of the book its list; Sphinx's own function is left to those that it makes."""
    if app.builder.name not in {"html", "dirhtml"} or pagename not in app.env.found_docs:
        return
    builder = cast("StandaloneHTMLBuilder", app.builder)
    if app.sidebar is None:  # type: ignore[attr-defined]
        app.sidebar = Sidebar(contents(builder), builder.get_target_uri)  # type: ignore[attr-defined]
    context["book_pages"] = app.sidebar.on(pagename)  # type: ignore[attr-defined]


def setup(app: Sphinx) -> None:
    app.connect("write-started", forget)
    app.connect("html-page-context", show)
