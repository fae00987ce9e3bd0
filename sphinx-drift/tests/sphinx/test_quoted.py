"""Numbers in sentences: those that a cell printed, on whatever page, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from small_book import cell

if TYPE_CHECKING:
    from conftest import Book

pytestmark = pytest.mark.slow


def put(book: Book, number: str) -> None:
    book.write("prints.md", "# It prints", cell(f"print({number})", f":name: half\n\n{number}"))


@pytest.mark.parametrize("builder", ["html", "text", "epub"])
def test_a_number_follows_its_page(builder: str, book: Book) -> None:
    book.configure(copyright="us", version="1")
    book.write("quoting.md", "# It quotes\n\nThe number is {printed}`half`.", front=False)
    for number in ("0.5", "0.25"):
        put(book, number)
        built = book.build(builder=builder)
        assert built.status == 0, built.stderr
        (page,) = (
            built.outdir.glob("quoting.*html")
            if builder != "text"
            else [built.outdir / "quoting.txt"]
        )
        assert number in page.read_text("utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "# It is {printed}`half`",
        "```{glossary}\nhalf, {printed}`half`\n: A number.\n```",
        "# Title\n\nIt is {printed}`nothing`.",
    ],
    ids=["title", "term", "nothing such"],
)
def test_a_number_where_it_would_not_follow_is_refused(text: str, book: Book) -> None:
    put(book, "0.5")
    book.write("quoting.md", text, front=False)
    built = book.build()
    assert built.status == 1
    assert {kind for _, kind in built.places} == {"quotation"}


def translate(book: Book, page: str, message: str, translated: str) -> None:
    book.configure(language="de", locale_dirs=["locale"])
    catalog = book.folder / "locale" / "de" / "LC_MESSAGES" / f"{page}.po"
    catalog.parent.mkdir(parents=True)
    head = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n'
    catalog.write_text(f'{head}\nmsgid "{message}"\nmsgstr "{translated}"\n')


def test_no_translation_replaces_what_was_printed(book: Book) -> None:
    code = 'from IPython.display import Markdown\nMarkdown("Loss **0.5** of 7")'
    book.write("prints.md", "# It prints", cell(code, "Loss **0.5** of 7"))
    translate(book, "prints", "Loss **0.5** of 7", "4.78")
    built = book.build(builder="text")
    assert built.status == 0, built.stderr
    assert "4.78" not in (built.outdir / "prints.txt").read_text()


@pytest.mark.parametrize(
    ("translated", "places"),
    [
        ("Die Zahl: {printed}`half`.", set()),
        ("Die Zahl: 0.7.", {("quoting.md:1", "quotation")}),
    ],
)
def test_a_translation_quotes_what_its_page_quotes(
    translated: str, places: set[tuple[str, str]], book: Book
) -> None:
    put(book, "0.5")
    book.write("quoting.md", "# It quotes\n\nThe number is {printed}`half`.", front=False)
    translate(book, "quoting", "The number is {printed}`half`.", translated)
    built = book.build(builder="text")
    assert built.places == places
    assert ("Die Zahl: 0.5" in (built.outdir / "quoting.txt").read_text()) is not places


@pytest.mark.parametrize(
    ("shown", "translated", "status"),
    [
        ("{glue:text}`half`", "Die Zahl: 0.7.", 1),
        ("{glue:any}`prints.md::half`", "Die Zahl: 0.7.", 1),
        ("{glue:any}`prints.md::half`", "Die Zahl: {glue:any}`prints.md::half`.", 0),
    ],
)
def test_a_translation_shows_what_its_page_glues(
    shown: str, translated: str, status: int, book: Book
) -> None:
    code = 'from myst_nb import glue\nglue("half", 0.5, display=False)'
    book.write("prints.md", "# It prints", cell(code, "half = 0.5"), f"The number is {shown}.")
    translate(book, "prints", f"The number is {shown}.", translated)
    built = book.build(builder="text")
    assert built.status == status, built.stderr


@pytest.mark.parametrize(
    "title",
    [
        "## It is {glue:text}`half`",
        "```{code-block} python\n:caption: It is {glue}`half`\n:name: here\n\n1\n```",
    ],
)
def test_a_link_shows_what_its_title_glues_now(title: str, book: Book) -> None:
    book.write("linking.md", "# It links\n\n{ref}`here`", front=False)
    for number in ("0.5", "0.25"):
        code = f'from myst_nb import glue\nglue("half", {number}, display=False)'
        prints = "# It prints", cell(code, f"half = {number}")
        book.write("prints.md", *prints, f"(here)=\n{title}" if title[0] == "#" else title)
        built = book.build(builder="text")
        assert built.status == 0, built.stderr
        assert f"It is {number}" in (built.outdir / "linking.txt").read_text()
