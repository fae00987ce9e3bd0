"""What a book says is not executed isn't, and the last line counts it by the setting."""

import pytest
from notebooks import code, notebook, stream
from small_book import cell, front, write

from conftest import Book


def write_noting(book: Book, name: str, own: str = "") -> None:
    """Write a page that notes in a file of its name that it runs."""
    noting = cell(f"_ = open('ran', 'a').write('{name} ')\nprint(1)", "1")
    write(book.folder, {name: f"{front(own)}# A page\n\n{noting}\n"})


STORED = code("print(1)", stream("1\n"))


def test_pages_that_the_book_leaves_out_are_counted_by_the_setting(book: Book) -> None:
    write_noting(book, "left")
    write_noting(book, "own", "mystnb: {execution_mode: 'off'}")
    write_noting(book, "skipped", "execute: {skip: true}")
    write_noting(book, "index")
    book.configure(nb_execution_excludepatterns=["left*"])
    for _ in range(2):  # the second build reads neither
        built = book.build()
        assert built.status == 0, built.report
        assert "1 output verified on 1 page" in built.last
        for by in ("nb_execution_excludepatterns", "mystnb: execution_mode", "execute: skip"):
            assert f"1 page left out by {by}" in built.last
    assert (book.folder / "ran").read_text() == "index index "
    book.configure()
    assert "2 outputs verified on 2 pages" in book.build().last
    book.configure(nb_execution_excludepatterns=["left*"])
    assert "not run again" not in book.build().last  # it isn't run at all


@pytest.mark.parametrize(
    ("left", "by"),
    [
        ({"nb_execution_excludepatterns": ["left*"]}, "nb_execution_excludepatterns"),
        ({}, "mystnb: execution_mode"),
    ],
)
def test_number_of_a_page_that_is_left_out_is_told_as_that(
    left: dict[str, list[str]], by: str, book: Book
) -> None:
    own = "" if left else "mystnb: {execution_mode: 'off'}"
    write(book.folder, {"left": front(own) + cell("print(1)", ":name: one")})
    book.write("index.md", "It is {printed}`one`.", cell("print(1)", "1"))
    book.configure(**left)
    (failure,) = book.build().failures
    told = f"one is at left.md:12, on a page that is left out by {by}"
    assert told in " ".join(failure.text.split())


@pytest.mark.parametrize("require", ["all", "expected"])
def test_book_that_executes_nothing_has_verified_nothing(book: Book, require: str) -> None:
    write_noting(book, "index")
    write(book.folder, {"stored.ipynb": notebook(STORED)})
    book.write("quotes.md", "It is {printed}`one`.", front=False)
    book.configure(nb_execution_mode="off", drift_require=require)
    built = book.build()
    assert built.status == 1
    assert [failure.kind for failure in built.failures] == []
    assert "2 pages left out" in built.report
    assert "nb_execution_mode" in built.report
    assert not (book.folder / "ran").exists()


@pytest.mark.parametrize(("own", "status"), [({}, 0), ({"drift": {"complete": True}}, 1)])
def test_stored_outputs_need_not_be_checked_where_nothing_runs(
    own: dict[str, object], status: int, book: Book
) -> None:
    write(book.folder, {"index.ipynb": notebook(STORED, **own)})
    book.write("shows.md", "{glue}`it`")  # which nothing glues where nothing runs
    book.configure(nb_execution_mode="off", drift_require="expected")
    built = book.build()
    assert built.status == status, built.report
    assert "nothing was checked, 1 page left out by nb_execution_mode" in built.last
    assert "No key 'it' found" in built.stderr
    assert "quotation" not in built.report


def test_page_says_that_it_is_left_out_by_the_key_of_its_book(book: Book) -> None:
    write_noting(book, "own", "book: {execution_mode: 'off'}")
    write_noting(book, "index", "mystnb: {execution_mode: 'off'}")
    book.configure(nb_metadata_key="book")
    assert "1 page left out by book: execution_mode" in book.build().last
    assert (book.folder / "ran").read_text() == "index "
