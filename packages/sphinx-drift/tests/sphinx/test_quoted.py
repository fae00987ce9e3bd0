"""Numbers in sentences: those that a cell printed, on whatever page, and nowhere else."""

import pytest
from small_book import cell

from conftest import Book

pytestmark = pytest.mark.slow


def put(book: Book, number: str, name: str = "half") -> None:
    book.write("prints.md", "# It prints", cell(f"print({number})", f":name: {name}\n\n{number}"))


@pytest.mark.parametrize("builder", ["html", "text"])
def test_a_number_follows_its_page(builder: str, book: Book) -> None:
    book.write("quoting.md", "# It quotes\n\nThe number is {printed}`half`.", front=False)
    for number in ("0.5", "0.25"):
        put(book, number)
        built = book.build(builder=builder)
        assert built.status == 0, built.stderr
        (page,) = built.outdir.glob("quoting.*")
        assert number in page.read_text("utf-8")


def test_a_save_writes_those_pages_alone_that_quote_what_ran(book: Book) -> None:
    book.write("quoting.md", "# It quotes\n\nThe number is {printed}`half`.", front=False)
    put(book, "0.5")
    for change, shown in (
        (lambda: None, "0.5"),
        (lambda: book.write("other.md", "# It runs", cell("print(1)", "1")), "as it was"),
        (lambda: put(book, "0.25"), "0.25"),
        (lambda: put(book, "0.25", "quarter"), "?"),
    ):
        change()
        built = book.build("-D", "drift_live=1", builder="html")
        page = built.outdir / "quoting.html"
        assert f">{shown}<" in page.read_text("utf-8"), built.stderr
        page.write_text(">as it was<", "utf-8")
