"""Builds that must not be green by accident: again, in part, in parallel, in every builder."""

import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from notebooks import HIDDEN, glued, notebook
from small_book import FRONT, cell, write

from conftest import Book
from sphinx_drift.model import Cell, Expectation, Page
from sphinx_drift.output.printed_text import Part
from sphinx_drift.sphinx.shown import show_documented

pytestmark = pytest.mark.slow

GOOD = FRONT + '```{code-cell} ipython3\nprint("good")\n```\n\n```{expected-output}\ngood\n```\n'
BAD = GOOD.replace("\ngood\n", "\nbad\n")


# Again and in parallel ----------------------------------------------------------------


@pytest.mark.parametrize("options", ["", "-W -j 2"])
def test_failure_is_reported_again_when_nothing_changed(options: str, book: Book) -> None:
    write(book.folder, {"one": BAD, "two": BAD})
    first = book.build(*options.split())
    again = book.build(*options.split())
    assert (first.status, again.status) == (1, 1)
    assert first.locations == {("one.md:11", "drift"), ("two.md:11", "drift")}
    assert again.report == first.report


def test_loading_the_extension_later_checks_pages_read_before(book: Book) -> None:
    write(book.folder, {"page": BAD})
    book.configure(extensions=["myst_nb"])
    assert book.build().status == 0
    book.configure()
    assert book.build().locations == {("page.md:11", "drift")}


# Pages that change --------------------------------------------------------------------


DELETED = {
    "expectation": (GOOD.rpartition("```{expected-output}")[0], ("7", "undocumented")),
    "print": (GOOD.replace('print("good")', "silent = True"), ("11", "no-output")),
    "matter": (GOOD.removeprefix(FRONT), ("1", "unreadable")),
    "cell": (GOOD.partition("```{expected-output}")[2], None),
}
"""Pages after something was deleted of them, and how that is missed."""


def test_what_is_deleted_is_missed(book: Book) -> None:
    write(book.folder, dict.fromkeys(DELETED, GOOD))
    assert book.build().status == 0
    write(book.folder, {name: text for name, (text, _) in DELETED.items()})
    built = book.build()
    failing = {name: found for name, (_, found) in DELETED.items() if found}
    assert built.locations == {
        (f"{name}.md:{line}", kind) for name, (line, kind) in failing.items()
    }
    assert built.results.keys() == failing.keys()


def test_deleted_page_is_forgotten_and_an_empty_book_fails(book: Book) -> None:
    write(book.folder, {"one": BAD, "two": GOOD})
    assert book.build().status == 1
    (book.folder / "one.md").unlink()
    left = book.build()
    assert left.status == 0
    assert left.last.startswith("1 output verified on 1 page (")
    (book.folder / "two.md").unlink()
    empty = book.build()
    assert empty.status == 1
    assert empty.last == "nothing was checked"


# Errors of our own --------------------------------------------------------------------


DEFECT = """
from sphinx_drift.sphinx import client

def run_and_judge(*_, **__):
    raise RuntimeError("a defect")

client.run_and_judge = run_and_judge
"""


def test_an_error_of_ours_is_no_pass(book: Book) -> None:
    write(book.folder, {"page": GOOD})
    book.configure(DEFECT)
    built = book.build()
    assert built.locations == {("page.md:1", "could-not-check")}
    assert "a defect" in built.report


# Builders -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shelf(make_book: Callable[[], Book]) -> Book:
    """Return a book that each builder builds, with the doctrees of the one before."""
    return make_book()


@pytest.mark.parametrize("builder", ["html", "text", "latex", "epub", "xml", "man", "gettext"])
def test_every_builder_fails(builder: str, shelf: Book) -> None:
    write(shelf.folder, {"index": BAD.replace("```{code", "# Title\n\n```{code", 1)})
    shelf.configure(language="en")
    # Sphinx keeps other doctrees for translators.
    own = ("-d", "_out/own") if builder == "gettext" else ()
    built = shelf.build(*own, builder=builder)
    assert built.status == 1
    assert built.locations == {("index.md:13", "drift")}
    if builder in ("xml", "epub"):  # there nobody could open marks
        (page,) = built.outdir.glob("index.x*ml")
        assert not re.search("drift.mark", page.read_text("utf-8"))


PLAIN, FRAME = {"text/plain": "a 1"}, {"text/html": "<table><td>a<td>2"}
STYLER, READ = {"text/plain": "<Styler at 0x7f>"}, {"text/plain": "a | 2"}
LATEX, NUMBERS = {"text/latex": "$3$"}, {"application/json": [4]}
LISTED = {"text/plain": "[\n  4\n]"}
SAME, SCRIPT = {"text/html": "<b>a</b> 1"}, {"text/html": "<script>draw(5)</script>"}
PNG, NOTHING = {"image/png": ""}, {"text/html": "<div></div>", "text/markdown": " "}
EACH = PLAIN | FRAME | LATEX


@pytest.mark.parametrize("prefix", ["", HIDDEN])
@pytest.mark.parametrize(
    ("data", "documented", "left"),
    [
        (EACH, "all", PLAIN),
        (EACH, "html", READ | FRAME),
        (EACH, "html value", PLAIN | FRAME),
        (EACH, "html latex", READ | FRAME | LATEX),
        (EACH, "stdout", EACH),
        (EACH, "", EACH),
        (EACH, "all unchecked", EACH),
        (EACH, "html unchecked", READ | FRAME),
        (EACH, "all stored", EACH),
        (EACH, "stored", EACH),
        (EACH, "all stored textless", READ | FRAME | LATEX),
        (EACH, "all stored textless unrun", EACH),
        (STYLER | FRAME | LATEX, "main", READ | FRAME),
        (STYLER | FRAME | LATEX, "latex", LATEX | {"text/plain": "$3$"}),
        (STYLER | NUMBERS, "all", LISTED),
        (STYLER | NUMBERS, "all stored", LISTED),
        (PLAIN | NUMBERS, "json", LISTED),
        (PLAIN | NUMBERS | FRAME, "html json", READ | FRAME),
        (PLAIN | SAME, "all", PLAIN | SAME),
        (PLAIN | SCRIPT, "all", PLAIN | SCRIPT),
        (PLAIN | NOTHING, "all", PLAIN),
        (PLAIN | NOTHING, "all stored", PLAIN | NOTHING),
        (PLAIN | FRAME | PNG, "all", PLAIN | PNG),
    ],
)
def test_a_page_shows_the_forms_that_it_documents(
    data: dict[str, Any], documented: str, left: dict[str, Any], prefix: str
) -> None:
    output, words, book = glued(data, prefix), documented.split(), notebook("x")
    book.cells[0].update(outputs=[output], execution_count=None if "unrun" in words else 1)
    unchecked = "why" if "unchecked" in words else ""
    parts = [Part(word) for word in words if word in [*Part]]
    stored_as = (output.data.keys() - {prefix + "text/plain"},) if "textless" in words else ()
    expectations = tuple(Expectation("", 3, 4, part, unchecked=unchecked) for part in parts)
    one = Cell(1, 0, 1, "x", expectations=expectations, stored_as=stored_as)
    page = Page((one,), is_notebook="stored" in words)
    show_documented(book, page)
    assert output.data == {prefix + mime: value for mime, value in left.items()}


def test_the_command_itself_and_the_notebooks_that_myst_nb_leaves(book: Book) -> None:
    """It writes a copy of each notebook beside the output folder, here among the pages."""
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "dummy", "."]
    for text, out, status in ((GOOD, "out", 0), (BAD, "deep/out", 1)):
        write(book.folder, {"page": text})
        completed = subprocess.run(
            [*command, out], cwd=book.folder, capture_output=True, text=True, check=False
        )
        assert completed.returncode == status, completed.stderr
        assert (book.folder / out).with_name("jupyter_execute").exists()
    assert "page.md:11: drift" in completed.stderr
    last = completed.stderr.strip().splitlines()[-1]
    assert last.startswith("1 output drifted, 0 outputs verified on 1 page")


# Settings -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("builder", "prints", "below", "status"),
    [
        ("dummy", "", "", 0),
        ("text", "", "", 1),
        ("text", "print(2)\n", "2", 1),
        ("text", "", ":stream: picture\n\nIntSlider(value=73)", 0),
        ("text", "", ":unchecked: a widget", 0),
    ],
)
def test_a_widget_is_documented_where_its_text_is_shown(
    builder: str, prints: str, below: str, status: int, book: Book
) -> None:
    view = "application/vnd.jupyter.widget-view+json"
    data = {view: {"model_id": "a", "version_major": 2}, "text/plain": "IntSlider(value=73)"}
    widget = f"display({data}, raw=True)"
    book.write("page.md", cell("print(1)", "1"), cell(prints + widget, *filter(None, [below])))
    built = book.build(builder=builder)
    assert built.status == status
    assert built.locations == ({("page.md:15", "undocumented")} if status else set())


def test_each_of_two_equal_outputs_has_its_own_mark(book: Book) -> None:
    """The first is left out by a cell that isn't run; the marks stand in the order of the page."""
    equal = "\n\n```{expected-output}\n%s\n```\n\n"
    book.write(
        "page.md",
        cell("print(1); print(2)") + equal % "1",
        cell("print(1)") + equal % "1",
    )
    built = book.build(builder="html")
    html = (built.outdir / "page.html").read_text("utf-8")
    assert re.findall(r"drift-mark drift-(\w+)", html) == ["drift", "verified"]
    assert built.locations == {("page.md:11", "drift")}
