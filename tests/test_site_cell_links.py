"""Links from the code of cells and listings: each name leads where its documentation stands."""

from __future__ import annotations

import re
from types import ModuleType
from typing import TYPE_CHECKING
from unittest import mock

import pytest
import small_book
from docutils import nodes
from sphinx.highlighting import PygmentsBridge
from sphinx_codeautolink.extension import resolve
from sphinx_codeautolink.parse import Name, parse_names
from the_book import EXTENSIONS_ON_PATH

from reference import cell_links

if TYPE_CHECKING:
    from pathlib import Path

CONF = f"""
{EXTENSIONS_ON_PATH}
from pathlib import Path
sys.path.insert(0, str(Path(__file__).parent))
from docutils import nodes
from docutils.parsers.rst import Directive

class Untitled(Directive):  # as the solutions of exercises are
    has_content = True
    def run(self):
        section = nodes.section(ids=["untitled"])
        self.state.nested_parse(self.content, self.content_offset, section)
        return [section]

def setup(app):
    app.add_directive("untitled", Untitled)

extensions = ["myst_parser",
              "reference.inventories", "reference.cell_links", "reference.name_links"]
inventories = {{"manual": "https://manual.example/"}}
codelinks_preface = "import spam"
highlight_language = "python"
"""
MODULE = '''"""A module of the book."""

class Eggs:
    def fry(self) -> "Eggs":
        return self

def bake() -> Eggs:
    return Eggs()

def hide() -> None: ...
'''
DOCUMENTED = """# Functions

```{py:module} spam
```
```{py:class} Eggs
```
```{py:method} Eggs.fry
```
```{py:function} bake
```
"""
CODE = """# Code

```python
from spam import bake
eggs = bake()
eggs.fry()
```

```python
eggs.fry().fry()
spam.bake
```

```{untitled}
~~~python
Path = spam.Eggs
~~~
```

```text
spam.bake()
```
"""
OUTSIDE = "# Outside\n\n```python\nfrom pathlib import Path\nPath('a')\n```\n"
PAGES = {
    "index": "# Book\n\n```{toctree}\nfunctions\ndeep/code\ndeep/outside\n```\n",
    "functions": DOCUMENTED,
    "deep/code": CODE,
    "deep/outside": OUTSIDE,
}
INVENTORY = "pathlib.Path  py:class  library/pathlib.html#$\npathlib  py:module  pathlib.html\n"

LINK = re.compile(
    r'<a href="([^"]*)"(?: title="([^"]*)")? class="sphinx-codeautolink-a">(.*?)</a>', re.DOTALL
)


class Book:
    """A small book with code, and what its builds said."""

    def __init__(self, folder: Path, pages: dict[str, str], inventory: str = INVENTORY) -> None:
        self.folder = folder
        files = {"conf.py": CONF, "spam.py": MODULE, "_data/inventory/manual.txt": inventory}
        self.source = small_book.write(folder, files | pages)

    def build(self, builder: str = "html") -> tuple[int, str]:
        said = small_book.build(self.folder, builder)
        return said.returncode, said.stderr

    def page(self, name: str) -> str:
        return (self.folder / "html" / f"{name}.html").read_text("utf-8")

    def links(self, name: str) -> list[tuple[str, str, str]]:
        """Return the links of a page's code: their address, their title and their words."""
        found = LINK.findall(self.page(name))
        return [(link, title, re.sub("<[^>]*>", "", words)) for link, title, words in found]


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Book:
    book = Book(tmp_path_factory.mktemp("book"), PAGES)
    status, messages = book.build()
    assert status == 0, messages
    return book


@pytest.fixture(scope="module")
def unknown(tmp_path_factory: pytest.TempPathFactory) -> Book:
    """Return a book that lists a function in no place."""
    page = "# Book\n\n```python\n# One\nspam.hide()\n```\n"
    return Book(tmp_path_factory.mktemp("unknown"), {"index": page}, inventory="")


def names_in(code: str) -> list[Name]:
    """Return the names in code before which `a` to `e` have been imported."""
    names = parse_names(f"import a, b, c, d, e\n{code}", nodes.literal_block())
    for name in names:
        name.lineno -= 1
        name.end_lineno -= 1
    return [name for name in names if name.lineno]


def linked(code: str) -> str:
    """Highlight code and link each name to a number: how many names were met before it."""
    written = PygmentsBridge("html").highlight_block(code, "python")
    links = [(name, name.code_str, str(met)) for met, name in enumerate(names_in(code))]
    return cell_links.with_links(written, links, nodes.literal_block())


class TestPages:
    def test_names_lead_to_their_documentation(self, book: Book) -> None:
        eggs, bake = "../functions.html#spam.Eggs", "../functions.html#spam.bake"
        fry = f"{eggs}.fry"
        assert book.links("deep/code") == [
            ("../functions.html#module-spam", "", "spam"),
            (bake, "spam.bake", "bake"),
            (eggs, "spam.Eggs", "eggs"),
            (bake, "spam.bake", "bake"),
            (fry, "spam.Eggs.fry", "eggs.fry"),
            (fry, "spam.Eggs.fry", "eggs.fry"),  # the next block knows what `eggs` is
            (fry, "spam.Eggs.fry", "fry"),
            (bake, "", "spam.bake"),  # known from the preface
            (eggs, "spam.Eggs", "Path"),  # in a section without a title
            (eggs, "", "spam.Eggs"),
        ]

    def test_other_manuals_are_linked_where_they_are(self, book: Book) -> None:
        path = "https://manual.example/library/pathlib.html#pathlib.Path"
        assert book.links("deep/outside") == [
            ("https://manual.example/pathlib.html", "", "pathlib"),
            (path, "pathlib.Path", "Path"),
            (path, "pathlib.Path", "Path"),  # a name of the page above is not known here
        ]

    def test_links_have_their_style(self, book: Book) -> None:
        assert 'href="../_static/sphinx-codeautolink.css' in book.page("deep/code")
        assert (book.folder / "html/_static/sphinx-codeautolink.css").exists()


@pytest.mark.parametrize(("builder", "added"), [("html", 1), ("epub", 0), ("text", 0)])
def test_the_site_alone_gets_the_style(builder: str, added: int) -> None:
    app = mock.Mock(**{"builder.name": builder, "config.html_static_path": ["own"]})
    cell_links.add_styles(app)
    assert app.config.html_static_path == ["own", *[str(cell_links.STYLES)] * added]


class TestUnknown:
    def test_a_name_without_a_place_fails_the_build(self, unknown: Book) -> None:
        status, messages = unknown.build()
        assert status == 1
        assert "index.md:3: WARNING: `spam.hide`, which `spam.hide` is, has no place" in messages

    def test_other_builders_pass_by(self, unknown: Book) -> None:
        assert unknown.build("text") == (0, "")


def test_pages_are_written_again_when_names_lead_elsewhere(tmp_path: Path) -> None:
    book = Book(tmp_path, PAGES)
    assert book.build() == (0, "")
    read = (tmp_path / "doctrees/deep/code.doctree").stat().st_mtime_ns
    written = (tmp_path / "html/deep/code.html").stat().st_mtime_ns
    (book.source / "index.md").write_text(PAGES["index"] + "\nMore.\n", "utf-8")
    assert book.build("text") == (0, "")  # its places are others; they don't count
    assert book.build() == (0, "")
    assert (tmp_path / "html/deep/code.html").stat().st_mtime_ns == written
    function = "```{py:function} bake\n```\n"
    (book.source / "functions.md").write_text(DOCUMENTED.replace(function, ""), "utf-8")
    module = "\n```{py:currentmodule} spam\n```\n"
    (book.source / "index.md").write_text(PAGES["index"] + module + function, "utf-8")
    assert book.build() == (0, "")
    assert ("../index.html#spam.bake", "", "spam.bake") in book.links("deep/code")
    assert (tmp_path / "doctrees/deep/code.doctree").stat().st_mtime_ns == read


class TestLines:
    @pytest.mark.parametrize(
        ("code", "words"),
        [
            ("d\nd.b\nd", ["d", "d.b", "d"]),  # a name is not a part of another
            ("c('a', a)", ["c", "a"]),  # nor of a text
            ("(a\n .b)", ["a\n .b"]),
            ("e(\n    a,\n    b,\n)", ["e", "a", "b"]),
        ],
    )
    def test_each_name_is_linked_where_it_stands(self, code: str, words: list[str]) -> None:
        found = LINK.findall(linked(code))
        assert [re.sub("<[^>]*>", "", text) for _, _, text in found] == words
        assert [int(number) for number, *_ in found] == list(range(len(words)))

    def test_the_same_name_twice_in_a_line_is_met_from_the_right(self) -> None:
        assert [number for number, *_ in LINK.findall(linked("a.b = a.b"))] == ["1", "0"]

    def test_nothing_else_is_changed(self) -> None:
        code = "a.b(a.c, [a for _ in 'a < b'])"
        written = PygmentsBridge("html").highlight_block(code, "python")
        assert re.sub("</?a( [^>]*)?>", "", linked(code)) == written

    def test_a_name_that_its_line_lacks_is_reported(self, monkeypatch: pytest.MonkeyPatch) -> None:
        told = mock.Mock()
        monkeypatch.setattr(cell_links.logger, "warning", told)
        block = nodes.literal_block("b", "b")
        written = '<span class="n">b</span>'
        assert cell_links.with_links(written, [(*names_in("a.b"), "a.b", "0")], block) == written
        told.assert_called_once_with(
            "`%s` is not found in its line", "a.b", location=block, type="codelinks"
        )


class TestTypeChecking:
    """What sphinx-codeautolink does for each module is done for the book's own."""

    @pytest.mark.parametrize(
        ("file", "done"),
        [
            ("book/spam.py", True),
            ("lib/python3.11/site-packages/torch/__init__.py", False),
            (None, False),  # built in, or a namespace
        ],
    )
    def test_modules_of_others_are_spared(self, file: str | None, *, done: bool) -> None:
        module = ModuleType("spam")
        module.__file__ = file
        seen: list[ModuleType] = []
        cell_links.spare_others(seen.append)(module)
        assert seen == [module] * done

    def test_it_is_put_in_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(resolve, "populate_type_checking", stock := mock.Mock(__module__=""))
        cell_links.setup(mock.Mock())
        assert (put_in := resolve.populate_type_checking) is not stock
        cell_links.setup(mock.Mock())
        assert resolve.populate_type_checking is put_in
