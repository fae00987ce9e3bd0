"""What a book says is not executed isn't, and the last line counts it by the setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from small_book import FRONT, cell

if TYPE_CHECKING:
    from conftest import Book


def write(book: Book, name: str, mystnb: str = "") -> None:
    """Write a page that notes in a file of its name that it runs."""
    front = FRONT.replace("---\n\n", f"{mystnb}---\n\n")
    noting = cell(f"_ = open('ran', 'a').write('{name} ')\nprint(1)", "1")
    book.write(f"{name}.md", f"{front}# A page", noting, front=False)


@pytest.mark.parametrize(
    ("mystnb", "settings", "by"),
    [
        ("", {"nb_execution_excludepatterns": ["left*"]}, "nb_execution_excludepatterns"),
        ("mystnb:\n  execution_mode: 'off'\n", {}, "mystnb: execution_mode"),
    ],
)
def test_page_that_the_book_leaves_out_is_counted_by_the_setting(
    mystnb: str, settings: dict[str, object], by: str, book: Book
) -> None:
    write(book, "left", mystnb)
    write(book, "index")
    book.configure(**settings)
    for _ in range(2):  # the second build reads neither
        built = book.build()
        assert built.status == 0, built.report
        assert "1 output verified on 1 page" in built.last
        assert f"1 page left out by {by}" in built.last
    assert (book.folder / "ran").read_text() == "index index "
    if settings:
        book.configure()
        assert "2 outputs verified on 2 pages" in book.build().last


def test_book_that_executes_nothing_has_verified_nothing(book: Book) -> None:
    write(book, "index")
    book.configure(nb_execution_mode="off")
    built = book.build()
    assert built.status == 1
    assert "1 page left out" in built.report
    assert "nb_execution_mode" in built.report
    assert not (book.folder / "ran").exists()


def test_page_says_that_it_is_left_out_by_the_key_of_its_book(book: Book) -> None:
    write(book, "own", "book:\n  execution_mode: 'off'\n")
    write(book, "index", "mystnb:\n  execution_mode: 'off'\n")
    book.configure(nb_metadata_key="book")
    assert "1 page left out by book: execution_mode" in book.build().last
    assert (book.folder / "ran").read_text() == "index "


@pytest.mark.parametrize(
    ("line", "runner"), [("", "off"), ("def setup(app):\n    raise RuntimeError", "")]
)
def test_build_that_runs_nothing_fails_and_leaves_no_older_report(
    line: str, runner: str, book: Book
) -> None:
    write(book, "index")
    assert book.build(builder="drift").status == 0
    (report,) = book.folder.rglob("drift.json")
    book.configure(line)
    assert book.build(builder="drift", DRIFT_RUNNER=runner).status != 0
    assert not report.exists()


@pytest.mark.parametrize(
    "copied",
    [
        "~~~{rubric} Some {printed}`q#1`\n:name: named\n~~~",
        "```{code-block} python\n:name: named\n:caption: Some {printed}`q#1`\n\n1\n```",
        "```{figure} x.png\n:name: named\n\nSome {printed}`q#1`\n```",
    ],
)
def test_text_that_sphinx_copies_quotes_no_number(copied: str, book: Book) -> None:
    quoted = cell("print(1)", "1").replace("{expected-output}", "{expected-output}\n:name: q", 1)
    book.write("index.md", quoted, copied, "{ref}`named`")
    built = book.build()
    assert built.status == 1
    assert "index.md" in built.report
    assert "the name named copies" in built.report
