"""Outputs from MyST-NB's cache: said where they are shown, and never those of another run."""

import re
import shutil
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from small_book import cell

from conftest import Book, Built
from sphinx_drift.run.reads import stamp_of

pytestmark = pytest.mark.slow

# Each run of the page leaves a row in a file, which the page itself doesn't read.
RUN = "with open('runs.txt', 'w+') as file: file.write('run')\nprint(1)"


def built(book: Book, *options: str, **variables: str) -> tuple[Built, bool]:
    """Return a build, and whether the page ran in it."""
    mark = book.folder / "runs.txt"
    mark.unlink(missing_ok=True)
    result = book.build(*options, builder="html", **variables)
    return result, mark.exists()


@pytest.fixture
def kept(book: Book) -> Book:
    """Build a book once whose page is in the cache then."""
    book.configure(nb_execution_mode="cache", exclude_patterns=["_out"])
    book.write("page.md", cell(RUN, "1"))
    result, ran = built(book)
    assert (result.status, ran) == (0, True), result.stderr
    assert "cache" not in result.last
    return book


def test_a_page_comes_from_the_cache_and_says_so(kept: Book) -> None:
    result, ran = built(kept)
    assert (result.status, ran) == (0, False)
    assert "1 output verified on 1 page, 1 of them from the cache" in result.last
    assert "The configuration has changed" not in result.stdout
    kept.write("page.md", "Other prose, in a cell of its own.", cell(RUN, "1"))
    result, ran = built(kept)
    assert (result.status, ran) == (0, False)
    assert "1 of them from the cache" in result.last
    page = (result.outdir / "page.html").read_text("utf-8")
    assert re.findall("<summary>(.*?)</summary>", page) == ["verified, from the cache"]


def test_outputs_that_myst_nb_takes_from_its_cache_are_counted(book: Book) -> None:
    book.configure(nb_execution_mode="cache", drift_require="expected")
    book.write("page.md", cell("print(1)"))
    for _ in range(2):
        assert "1 output on 1 page has no expectation" in book.build("-E", builder="html").last


def _configure(**settings: object) -> Callable[[Book], None]:
    return lambda book: book.configure(**{"nb_execution_mode": "cache", **settings})


def _write(*parts: str) -> Callable[[Book], None]:
    return lambda book: book.write("page.md", *parts)


def _forget(book: Book) -> None:
    for folder in book.folder.rglob(".jupyter_cache"):
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("change", "options", "variables"),
    [
        pytest.param(_forget, [], {}, id="cache deleted"),
        pytest.param(_write(cell(f"{RUN} # again", "1")), [], {}, id="another code"),
        pytest.param(_write("---", cell(RUN, "1")), ["-Dnb_execution_mode=force"], {}, id="force"),
        pytest.param(_configure(drift_twice=True), [], {}, id="twice"),
        pytest.param(None, [], {"CI": "true"}, id="CI"),
        pytest.param(None, [], {"PYTHONHASHSEED": "1"}, id="other entropy"),
    ],
)
def test_a_page_runs_where_a_run_may_be_another(
    kept: Book,
    change: Callable[[Book], None] | None,
    options: list[str],
    variables: dict[str, str],
) -> None:
    if change:
        change(kept)
    result, ran = built(kept, *options, **variables)
    assert (result.status, ran) == (0, True), result.stderr
    assert "from the cache" not in result.last


def test_a_drift_is_said_of_a_run_of_now(kept: Book) -> None:
    kept.write("page.md", cell(RUN, "2"))
    for _ in range(2):
        result, ran = built(kept)
        assert (result.status, ran) == (1, True)
    for has_to_run in (True, False):  # a run that was wrong is not kept
        kept.write("page.md", cell(RUN, "1"))
        result, ran = built(kept)
        assert (result.status, ran) == (0, has_to_run)


def test_a_number_that_nobody_seeds_is_not_right_because_the_report_said_it(book: Book) -> None:
    book.configure(nb_execution_mode="cache")
    documented = "0.5"
    for _ in range(3):
        book.write("page.md", cell("import random; print(random.random())", documented))
        result = book.build(builder="html")
        assert result.status == 1
        documented = re.findall(r"executed (0\.\d+)", result.stderr)[0]


def test_two_pages_of_one_code_in_two_folders(book: Book) -> None:
    book.configure(nb_execution_mode="cache")
    for folder in ("a", "b"):
        book.write(f"{folder}/page.md", cell("import os; print(os.getcwd()[-1])", folder))
    for _ in range(2):
        assert book.build("-E", builder="html").status == 0


def test_files_that_were_written_in_one_tick_of_the_clock_are_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stamp(inode: int) -> list[int] | None:
        times = dict.fromkeys(("st_mtime_ns", "st_ctime_ns", "st_size", "st_dev"), 1)
        with monkeypatch.context() as patch:
            patch.setattr("os.stat", lambda _: SimpleNamespace(st_ino=inode, **times))
            return stamp_of("file")

    assert stamp(8) == stamp(8)
    assert stamp(8) != stamp(9)
