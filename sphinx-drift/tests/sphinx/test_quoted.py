"""Numbers quoted in titles and captions: right wherever Sphinx takes a copy of them to."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING

import pytest
from docutils import nodes

from sphinx_drift.sphinx.quoted import fill, fill_nodes, quotation

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Book

PLACES = re.compile("[\U0010f000-\U0010f100]|\\\\udbf[c-f]", re.IGNORECASE)


def cell(code: str, expected: str) -> str:
    """Return a code cell and its expectation."""
    return f"```{{code-cell}} ipython3\n{code}\n```\n\n```{{expected-output}}\n{expected}\n```"


TITLED = """(titled)=
# A half is {printed}`half`

(below)=
## Twice is {printed}`half .2f`, {printed}`half`{printed}`half`

Text before the figure.

(pictured)=
```{figure} dot.png
It shows {printed}`half`.
```

~~~{table} It lists {printed}`half`.
:name: tabled

| of | is |
|---|---|
| half | {printed}`half` |
~~~

```{glossary}
Portion
  A share, here {printed}`half`.
```

> {printed}`half` in a quotation[^note].

[^note]: {printed}`half` in a note.
"""

POINTING = """# Another page

See {ref}`titled`, {ref}`below`, {doc}`titled`, [](#below), {ref}`pictured`, {ref}`tabled`,
{numref}`pictured {name} <pictured>`, [](titled.md).
"""

DOT = (
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\0\0\0\0:~\x9bU\0\0\0\nIDATx\x9cc`\0\0\0\2"
    b"\0\1H\xaf\xa4q\0\0\0\0IEND\xaeB`\x82"
)


@pytest.fixture
def titled(book: Book) -> Book:
    """Return a book of which a page quotes, in its title, a number that another page prints."""
    settings = {"copyright": "us", "version": "1"}  # an e-book asks for them
    book.configure(numfig=True, html_theme="alabaster", myst_heading_anchors=3, **settings)
    (book.folder / "dot.png").write_bytes(DOT)
    put(book, "0.5")
    book.write("titled.md", TITLED, front=False)
    book.write("pointing.md", POINTING, front=False)
    contents = "# A book\n\n```{toctree}\npointing\ntitled\nprints\n```"
    book.write("index.md", contents, front=False)
    return book


def put(book: Book, number: str) -> None:
    book.write("prints.md", "# It prints", cell(f"print({number})", f":name: half\n\n{number}"))


def text_of(folder: Path) -> str:
    """Return all that a builder wrote, compressed inventories too."""
    files = (p for p in sorted(folder.rglob("*")) if p.is_file() and p.suffix != ".pickle")
    plain = [path.read_text("utf-8", "replace") for path in files]
    return "\n".join([*plain, inventory_of(folder)])


def inventory_of(folder: Path) -> str:
    """Return what other books can refer to, if the builder writes it."""
    path = folder / "objects.inv"
    packed = path.read_bytes().partition(b"zlib.\n")[2] if path.exists() else b""
    return zlib.decompress(packed).decode() if packed else ""


@pytest.mark.slow
@pytest.mark.parametrize(
    "builder",
    [
        *("html", "dirhtml", "singlehtml", "epub", "json", "latex", "texinfo"),
        *("text", "man", "xml", "pseudoxml", "gettext", "linkcheck", "changes"),
    ],
)
def test_every_builder_writes_titles_with_their_numbers(builder: str, titled: Book) -> None:
    built = titled.build("-n", builder=builder)
    assert built.status == 0, built.stderr
    written = text_of(built.outdir)
    assert not PLACES.search(written)
    if builder not in {"gettext", "linkcheck", "changes"}:
        assert "0.50" in written
    assert "quoted_number" not in built.stderr
    assert "WARNING" not in built.stderr


@pytest.mark.slow
def test_a_number_that_changes_is_changed_on_every_page_that_shows_the_title(titled: Book) -> None:
    assert titled.build(builder="html").status == 0
    put(titled, "0.75")
    built = titled.build(builder="html")
    assert built.status == 0, built.stderr
    written = text_of(built.outdir)
    assert "0.75" in written
    left = [p.name for p in built.outdir.glob("*.html") if "0.5" in p.read_text("utf-8")]
    assert left == []
    inventory = inventory_of(built.outdir)
    assert "A half is 0.75" in inventory
    assert "A half is 0.5\n" not in inventory
    titles = (built.outdir / "searchindex.js").read_text("utf-8")
    assert "A half is 0.75" in titles
    assert "A half is 0.5" not in titles
    assert "<title>A half is 0.75" in (built.outdir / "titled.html").read_text("utf-8")
    # A third build reads nothing and still has the number.
    (titled.folder / "pointing.md").write_text(POINTING + "\nMore.\n", "utf-8")
    again = titled.build(builder="html")
    pointing = (again.outdir / "pointing.html").read_text("utf-8")
    assert pointing.count("A half is 0.75") >= 3
    assert not PLACES.search(text_of(again.outdir))


@pytest.mark.slow
def test_a_title_that_quotes_nothing_any_more(titled: Book) -> None:
    assert titled.build(builder="html").status == 0
    titled.write("titled.md", TITLED.replace("A half is {printed}`half`", "A plain title"))
    built = titled.build(builder="html")
    inventory = inventory_of(built.outdir)
    assert "A plain title" in inventory
    assert "A half" not in inventory


@pytest.mark.slow
def test_a_heading_that_quotes_what_nobody_printed_fails(book: Book) -> None:
    book.write("page.md", "# A half is {printed}`nowhere`", cell("print(1)", "1"))
    built = book.build(builder="html")
    assert built.status == 1
    assert built.places == {("page.md:7", "quotation")}
    assert "A half is ?" in (built.outdir / "page.html").read_text("utf-8")


@pytest.mark.slow
def test_a_glossary_does_not_name_a_term_by_a_number(book: Book) -> None:
    put(book, "0.5")
    terms = "# Terms\n\n```{glossary}\nA {printed}`half`\n  A share.\n```"
    book.write("terms.md", terms, front=False)
    built = book.build()
    assert built.places == {("terms.md:5", "quotation")}
    assert "definition" in built.report


@pytest.mark.slow
def test_the_id_of_a_heading_does_not_follow_its_number(titled: Book) -> None:
    titled.write("titled.md", TITLED.replace("(below)=\n", ""), front=False)
    titled.write("pointing.md", "# Another page", front=False)
    page = titled.build(builder="html").outdir / "titled.html"
    ids = set(re.findall(r'<section id="([^"]*)"', page.read_text("utf-8")))
    assert ids == {"titled", "twice-is"}


def test_places_are_filled_in_texts_and_trees() -> None:
    def number(target: str) -> str:
        return {"a": "1", "ü[0, 1] .0%": "2"}[target]

    one, two = quotation("a"), quotation("ü[0, 1] .0%")
    text = f"x {one.astext()}{two.astext()} y"
    assert fill(text, number) == "x 12 y"
    tree = nodes.paragraph("", "", nodes.Text(text), one, two)
    fill_nodes(tree, number)
    assert tree.astext() == "x 12 y12"
    fill_nodes(tree, {"a": "3", "ü[0, 1] .0%": "4"}.__getitem__)
    assert tree.astext() == "x 12 y34"
