"""A page is written again when something that it shows of another has changed, and only then.

Each change is built without the extension too, to see that Sphinx alone leaves the page as it was.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import small_book
from docutils import nodes
from sphinx.locale import get_translation
from the_book import EXTENSIONS_ON_PATH

from website import stale_pages

if TYPE_CHECKING:
    from pathlib import Path

CONF = f"""
{EXTENSIONS_ON_PATH}
extensions = ["myst_parser", *%r]
html_theme = "basic"
html_sidebars = {{"**": ["globaltoc.html"]}}
numfig = True
"""

PICTURE = "<svg xmlns='http://www.w3.org/2000/svg'/>"

PAGES = {
    "index": """# Book

```{toctree}
:caption: Chapters
:numbered:
one
two
part/index
last
```
""",
    "one": """# One

(a-place)=
## A place

```{math}
:label: an-equation
a = b
```

(a-figure)=
```{figure} picture.svg
A caption.
```

```{glossary}
head
: It has a value.
```

```{py:function} spam()
```
""",
    "two": """# Two

{ref}`a-place`, {ref}`a-figure`, {numref}`a-figure`,
{eq}`an-equation`, {term}`head`, {py:func}`.spam`,
{numref}`a-place`, {ref}`here <a-point>`.
""",
    "part/index": "# Part\n\n```{toctree}\nthree\n```\n",
    "part/three": "# Three\n\nSome words.\n\n## Last words\n",
    "last": "# Last\n\n(a-point)=\nA paragraph.\n",
}

FIGURE = "```{figure} picture.svg\nAnother.\n```\n\n(a-figure)="
EQUATION = "```{math}\n:label: another\nb = c\n```\n\n```{math}\n:label: an-equation"

# What is changed of a page, its old words and its new ones, and what page `two` then shows.
ELSEWHERE = {
    "title": ("one", "# One", "# First", ">1. First</a>"),
    "caption": ("index", ": Chapters", ": Parts", ">Parts</span>"),
    "entry": ("index", "\none\n", "\none\nOut <https://example.org>\n", ">Out</a>"),
    "order": ("index", "part/index\nlast", "last\npart/index", ">3. Last</a>"),
    "heading": ("one", "## A place", "## A spot", ">A spot</span>"),
    "words": ("one", "A caption.", "A legend.", ">A legend.</span>"),
    "figure": ("one", "(a-figure)=", FIGURE, ">Fig. 1.2</span>"),
    "equation": ("one", "```{math}\n:label: an-equation", EQUATION, ">(1.2)</a>"),
    "number": ("one", "(a-place)=", "## Before it\n\n(a-place)=", ">Section 1.2</span>"),
    "point": ("last", "(a-point)=", "(a_point)=\nAnother.\n\n(a-point)=", '"last.html#id'),
    "function": ("one", "py:function} spam", "py:function} spam.spam", "#spam.spam"),
    "term": ("one", "\nhead\n", "\nHead\n", "#term-Head"),
}


class Book:
    """A small book, and what its builds do."""

    def __init__(self, folder: Path, *extensions: str) -> None:
        self.folder = folder
        files = {"conf.py": CONF % (extensions,), "picture.svg": PICTURE}
        self.source = small_book.write(folder, files | PAGES)
        self.build()

    def build(self) -> tuple[set[str], set[str]]:
        """Build, and return the pages that were read and those that were written."""
        before = self.times("doctrees"), self.times("html")
        said = small_book.build(self.folder)
        assert said.returncode == 0, said.stderr
        after = self.times("doctrees"), self.times("html")
        read, written = (
            {name for name in PAGES if new[name] != old[name]}
            for old, new in zip(before, after, strict=True)
        )
        return read, written

    def times(self, folder: str) -> dict[str, int]:
        """Return when each page's file was written."""
        suffix = ".html" if folder == "html" else ".doctree"
        files = {name: self.folder / folder / f"{name}{suffix}" for name in PAGES}
        return {
            name: file.stat().st_mtime_ns if file.exists() else 0 for name, file in files.items()
        }

    def change(self, page: str, old: str, new: str) -> None:
        file = self.source / f"{page}.md"
        text = file.read_text("utf-8")
        assert text.count(old) == 1
        file.write_text(text.replace(old, new), "utf-8")

    def shows(self, page: str, words: str) -> bool:
        return words in (self.folder / "html" / f"{page}.html").read_text("utf-8")


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Book:
    return Book(tmp_path_factory.mktemp("book"), "website.stale_pages")


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Book:
    """The same book without the extension, built again when all has been changed."""
    stock = Book(tmp_path_factory.mktemp("stock"))
    for page, old, new, *_ in ELSEWHERE.values():
        stock.change(page, old, new)
    stock.build()
    return stock


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_pages_show_of_others_has_them_written_again(name: str, book: Book) -> None:
    page, old, new, shown = ELSEWHERE[name]
    assert not book.shows("two", shown)
    book.change(page, old, new)
    assert book.build() == ({page}, set(PAGES))
    assert book.shows("two", shown)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_sphinx_alone_leaves_it_stale(name: str, stock: Book) -> None:
    *_, shown = ELSEWHERE[name]
    assert not stock.shows("two", shown)


def test_a_page_of_which_others_show_nothing_is_written_alone(book: Book) -> None:
    book.change("part/three", "Some", "Other")
    assert book.build() == ({"part/three"}, {"part/three"})
    assert book.build() == (set(), set())


def test_the_page_above_one_whose_headings_have_changed_is_written_again(book: Book) -> None:
    assert not book.shows("part/index", "LAST words</a>")
    book.change("part/three", "## Last", "## LAST")
    assert book.build() == ({"part/three"}, {"part/three", "part/index"})
    assert book.shows("part/index", "LAST words</a>")


def test_sphinx_alone_writes_the_page_above_it(stock: Book) -> None:
    stock.change("part/three", "Some", "Other")
    assert stock.build() == ({"part/three"}, {"part/three", "part/index"})


class App:
    """An application that keeps the handlers of its events."""

    def __init__(self, **fields: dict[str, bool]) -> None:
        self.env: Any = SimpleNamespace(metadata=dict(fields), docname="there")
        self.handlers: dict[str, Any] = {}

    def connect(self, event: str, handler: Any, **_: int) -> None:
        self.handlers[event] = handler

    def stale(self) -> list[str]:
        return list(self.handlers["env-get-updated"](self, self.env))


def test_pages_are_written_again_when_what_they_show_has_changed_and_only_then() -> None:
    app: Any = App()
    shown: list[Any] = [1]
    stale_pages.rewrite_on_change(app, "number", lambda _: shown[0], lambda _: ["page"])
    assert [app.stale(), app.stale()] == [["page"], []]
    shown[0] = 2
    assert [app.stale(), app.stale()] == [["page"], []]


def test_what_a_builder_does_not_show_is_not_forgotten() -> None:
    app: Any = App()
    shown: list[Any] = [1]
    stale_pages.rewrite_on_change(app, "links", lambda _: shown[0], lambda _: ["page"])
    app.stale()
    shown[0] = None
    assert app.stale() == []
    shown[0] = 1
    assert app.stale() == []


def test_only_the_pages_that_have_such_a_node_are_written_again() -> None:
    app: Any = App(elsewhere={})
    stale_pages.rewrite_where(app, nodes.rubric, lambda _: 1)
    for name, kind in (("here", nodes.rubric), ("there", nodes.paragraph)):
        app.env.docname, app.env.metadata[name] = name, {}
        app.handlers["doctree-read"](app, nodes.section("", kind()))
    assert app.stale() == ["here"]


def test_a_name_and_the_promise_of_its_translation_are_the_same() -> None:
    """As `nox -s live` has it: the first save wrote all pages."""

    def shown(name: Any) -> list[Any]:
        standard = SimpleNamespace(
            labels={"search": ("search", "", name)}, anonlabels={}, objects={}
        )
        others = {each: SimpleNamespace(equations={}, objects={}) for each in ("math", "python")}
        domains = {f"{each}_domain": found for each, found in others.items()}
        env: Any = SimpleNamespace(
            domains=SimpleNamespace(standard_domain=standard, **domains),
            **{key: {} for key in ("titles", "tocs", "toc_secnumbers", "toc_fignumbers")},
        )
        return stale_pages.shown_elsewhere(env)

    promised = get_translation("no catalogue")("Search Page")
    assert repr(promised) != repr("Search Page")
    assert shown(promised) == shown("Search Page") != shown("Search")
