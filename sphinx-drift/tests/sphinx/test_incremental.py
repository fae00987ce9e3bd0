"""``drift_rerun = "changed"``: a build runs the pages that seem to print something else by now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from small_book import cell

from sphinx_drift.report.text import count

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Book, Built


PAGES = ("plain", "module", "nested", "data", "drifted", "raised")


def runs(book: Book, **variables: str) -> tuple[set[str], Built]:
    """Build, and return the pages that ran, as they themselves have written down."""
    log = book.folder.parent / "log"
    log.write_text("")
    built = book.build(**variables)
    return set(log.read_text("utf-8").split()), built


@pytest.fixture(scope="module")
def built(make_book: Callable[[], Book]) -> Book:
    """Return a book of which each page notes when it runs, and depends on something else."""
    book = make_book()
    book.configure(drift_rerun="changed")
    note = f"with open({str(book.folder.parent / 'log')!r}, 'a') as log:\n    log.write('%s ')"
    (book.folder / "pyproject.toml").write_text("")
    (book.folder / "near.py").write_text("from far import TEXT\n")
    (book.folder / "far.py").write_text("TEXT = 'far'\n")
    (book.folder / "alone.py").write_text("TEXT = 'alone'\n")
    (book.folder / "data").mkdir()
    (book.folder / "data/numbers.txt").write_text("0.5\n")
    reads = "import os\nos.chdir('data')\nprint(open('numbers.txt').read(), end='')"
    book.write("plain.md", cell(note % "plain"), cell("print(1)", "1"))
    book.write("module.md", cell(note % "module"), cell("import alone\nprint(alone.TEXT)", "alone"))
    book.write("nested.md", cell(note % "nested"), cell("import near\nprint(near.TEXT)", "far"))
    book.write("data.md", cell(note % "data"), cell(reads, "0.5"))
    book.write("drifted.md", cell(note % "drifted"), cell("print(1.5)", "1.25"))
    book.write("raised.md", cell(note % "raised"), cell("1 / 0"))
    first, report = runs(book)
    assert first == set(PAGES)
    assert report.status == 1
    return book


FAILED = {"drifted", "raised"}
"""Pages that failed run in each build: what was mended may be no file."""


def test_nothing_changed_nothing_runs_and_every_failure_is_reported(built: Book) -> None:
    ran, report = runs(built)
    assert ran == FAILED
    assert report.status == 1
    assert "4 pages not run again" in report.last
    assert {kind for _, kind in report.places} == {"drift", "raised"}
    counted = count(report.results.values())
    assert (counted.drifted, counted.failed, counted.verified, counted.pages) == (1, 2, 4, 6)


@pytest.mark.parametrize(
    ("file", "old", "new", "page"),
    [
        ("plain.md", "print(1)", "print(1 + 0)", "plain"),
        ("alone.py", "'alone'", "'alone' + ''", "module"),
        ("far.py", "'far'", "'fa' + 'r'", "nested"),
        ("data/numbers.txt", "0.5\n", "0.25\n", "data"),
        ("drifted.md", "print(1.5)", "print(1.50)", "drifted"),
    ],
)
def test_what_a_page_depends_on_changes(
    file: str, old: str, new: str, page: str, built: Book
) -> None:
    path = built.folder / file
    before = path.read_text("utf-8")
    path.write_text(before.replace(old, new), "utf-8")
    ran, report = runs(built)
    assert ran == FAILED | {page}
    assert report.status == 1
    assert ("data.md", "drift") in {(p.partition(":")[0], k) for p, k in report.places} or (
        page != "data"
    )
    path.write_text(before, "utf-8")
    assert runs(built)[0] == FAILED | {page}


def test_data_that_is_gone(built: Book) -> None:
    path = built.folder / "data/numbers.txt"
    path.rename(path.with_suffix(".gone"))
    ran, _ = runs(built)
    assert ran == FAILED | {"data"}
    path.with_suffix(".gone").rename(path)
    assert runs(built)[0] == FAILED | {"data"}


def test_files_that_no_page_reads(built: Book) -> None:
    (built.folder / "data/other.txt").write_text("new")
    (built.folder / "unused.py").write_text("new = 1")
    assert runs(built)[0] == FAILED


@pytest.mark.parametrize(
    "variables", [{"DRIFT_POLICY": "portable"}, {"ATEN_CPU_CAPABILITY": "default"}]
)
def test_another_policy_or_processor_setting(variables: dict[str, str], built: Book) -> None:
    assert runs(built, **variables)[0] == set(PAGES)
    assert runs(built, **variables)[0] == FAILED
    assert runs(built)[0] == set(PAGES)


def test_off_executes_nothing_and_says_so_on_every_page(built: Book) -> None:
    ran, report = runs(built, DRIFT_RUNNER="off")
    assert ran == set()
    assert report.status == 1
    assert "DRIFT_RUNNER=off" in report.stderr
    assert runs(built)[0] == set(PAGES)
