"""Builds that must not be green by accident: again, in part, in parallel, in every builder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from small_book import FRONT, TORCH

from sphinx_drift.report.text import count

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Book

pytestmark = pytest.mark.slow

PAGES = Path(__file__).parents[1] / "pages"
GOOD = FRONT + '```{code-cell} ipython3\nprint("good")\n```\n\n```{expected-output}\ngood\n```\n'
BAD = GOOD.replace("\ngood\n", "\nbad\n")
BESIDE = GOOD.replace('print("good")', "import beside\n\nprint(beside.TEXT)")


def put(book: Book, **pages: str) -> None:
    """Write pages as they are."""
    for name, text in pages.items():
        (book.folder / f"{name}.md").write_text(text, encoding="utf-8")


# Again and in parallel ----------------------------------------------------------------


@pytest.mark.parametrize("options", ["", "-W -j 2"])
def test_failure_is_reported_again_when_nothing_changed(options: str, book: Book) -> None:
    put(book, one=BAD, two=BAD)
    first = book.build(*options.split())
    again = book.build(*options.split())
    assert (first.status, again.status) == (1, 1)
    assert first.places == {("one.md:11", "drift"), ("two.md:11", "drift")}
    assert again.report == first.report
    assert count(first.results.values()).drifted == 2


def test_change_of_a_module_is_seen_where_executions_are_cached(book: Book) -> None:
    """The page doesn't change; what it imports does. Other modes: `test_rerun.py`."""
    book.configure(nb_execution_mode="cache")
    put(book, page=BESIDE)
    beside = book.folder / "beside.py"
    beside.write_text('TEXT = "good"\n')
    assert book.build().status == 0
    beside.write_text('TEXT = "not good"\n')
    drifted = book.build()
    assert drifted.status == 1
    assert drifted.places == {("page.md:13", "drift")}


def test_loading_the_extension_later_checks_pages_read_before(book: Book) -> None:
    put(book, page=BAD)
    book.configure(extensions=["myst_nb"])
    assert book.build().status == 0
    book.configure()
    assert book.build().places == {("page.md:11", "drift")}


# Pages that change --------------------------------------------------------------------


DELETED = {
    "expectation": (GOOD.rpartition("```{expected-output}")[0], ("7", "undocumented")),
    "print": (GOOD.replace('print("good")', "silent = True"), ("11", "no-output")),
    "matter": (GOOD.removeprefix(FRONT), ("1", "unreadable")),
    "cell": (GOOD.partition("```{expected-output}")[2], None),
}
"""Pages after something was deleted of them, and how that is missed."""


def test_what_is_deleted_is_missed(book: Book) -> None:
    put(book, **dict.fromkeys(DELETED, GOOD))
    assert book.build().status == 0
    put(book, **{name: text for name, (text, _) in DELETED.items()})
    built = book.build()
    places = {name: place for name, (_, place) in DELETED.items() if place}
    assert built.places == {(f"{name}.md:{line}", kind) for name, (line, kind) in places.items()}
    assert built.results.keys() == places.keys()


def test_deleted_page_is_forgotten_and_an_empty_book_fails(book: Book) -> None:
    put(book, one=BAD, two=GOOD)
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


def breaking(name: str) -> str:
    """Return lines of ``conf.py`` that put a defect into a function of ours."""
    module, _, function = name.rpartition(".")
    return (
        f"import {module} as broken\n"
        'def defect(*_, **__):\n    raise RuntimeError("a defect")\n'
        f"broken.{function} = defect"
    )


def test_error_in_the_comparison_is_no_pass(book: Book) -> None:
    book.configure(breaking("sphinx_drift.judge.compare"))
    put(book, one=GOOD, two=GOOD)
    built = book.build("-j", "2")
    assert built.places == {("one.md:7", "could-not-check"), ("two.md:7", "could-not-check")}
    assert built.status == 1
    assert "RuntimeError: a defect" in built.report
    assert "0 outputs verified" in built.last


@pytest.mark.parametrize(
    "name",
    [
        "client.read_page",
        "client.run_and_judge",
        "verdict.render",
        "setup.merge",
        "directives.record",
    ],
)
def test_error_in_the_extension_is_no_pass(name: str, book: Book) -> None:
    book.configure(breaking(f"sphinx_drift.sphinx.{name}"))
    nested = f"```{{note}}\n{GOOD.removeprefix(FRONT)}".replace("```{code", "````{code", 1)
    put(book, one=BAD, two=FRONT + nested)
    assert book.build("-j", "2").status != 0


# Builders -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shelf(make_book: Callable[[], Book]) -> Book:
    """Return a book that each builder builds, with the doctrees of the one before."""
    return make_book()


ELIDED = (
    GOOD.replace(
        'print("good")',
        'import sys\n\nprint("alpha\\nbeta\\ngamma")\nprint("delta", file=sys.stderr)\n"zeta"',
    )
    .replace("\ngood\n", "\nalpha\n⋮\ndelta\n")
    .replace("```{code", "# Title\n\n```{code", 1)
)


@pytest.mark.parametrize(
    "builder", ["html", "text", "latex", "epub", "xml", "man", "gettext", "drift"]
)
def test_every_builder_fails_and_shows_nothing_that_is_left_out(builder: str, shelf: Book) -> None:
    put(shelf, index=BAD.replace("```{code", "# Title\n\n```{code", 1), elided=ELIDED)
    shelf.configure(language="en", latex_documents=[("elided", "elided.tex", "", "", "manual")])
    # Sphinx keeps other doctrees for translators.
    own = ("-d", "_out/own") if builder == "gettext" else ()
    built = shelf.build(*own, builder=builder)
    assert built.status == 1
    assert built.places == {("index.md:13", "drift")}
    if builder in ("html", "text", "latex"):
        (page,) = built.outdir.glob("elided.*")
        output = page.read_text("utf-8").rpartition("stderr")[2]
        shown = ["alpha" in output, "⋮" in output, "delta" in output]
        assert (shown, "gamma" in output, "zeta'" in output) == ([True] * 3, False, False)


def test_an_ebook_is_built_again_without_a_warning(book: Book) -> None:
    put(book, index=GOOD.replace("```{code", "# Title\n\n```{code", 1))
    book.configure(copyright="2026", version="1", suppress_warnings=[])
    for _ in range(2):
        built = book.build("-W", builder="epub")
        assert built.status == 0, built.stderr
        assert built.last.startswith("1 output verified")


def test_the_command_itself_and_the_notebooks_that_myst_nb_leaves(book: Book) -> None:
    """It writes a copy of each notebook beside the output folder, here among the pages."""
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "dummy", ".", "out"]
    for text, status in ((GOOD, 0), (BAD, 1)):
        put(book, page=text)
        completed = subprocess.run(
            command, cwd=book.folder, capture_output=True, text=True, check=False
        )
        assert completed.returncode == status, completed.stderr
        assert (book.folder / "jupyter_execute" / "page.ipynb").exists()
    assert "page.md:11: drift" in completed.stderr
    assert completed.stderr.strip().splitlines()[-1].startswith("1 output drifted")


# Settings -----------------------------------------------------------------------------


def test_without_myst_nb_before_it_says_what_is_missing(book: Book) -> None:
    book.configure(extensions=["sphinx_drift", "myst_nb"])
    built = book.build()
    assert built.status == 2
    assert "extensions = ['myst_nb', 'sphinx_drift']" in " ".join(built.stderr.split())


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("drift_polcy", "portable", "got 'drift_polcy'; did you mean 'drift_policy'?"),
        ("drift_preload", "numpy", "drift_preload must be a list of names, got 'numpy'"),
    ],
)
def test_a_setting_that_nothing_could_follow_is_refused(
    setting: str, value: str, message: str, book: Book
) -> None:
    """What each of them may be: `tests/test_configuration.py`."""
    book.configure(**{setting: value})
    built = book.build()
    assert built.status == 2
    assert message in " ".join(built.stderr.split())


def test_the_variable_for_the_policy_is_refused_too(book: Book) -> None:
    built = book.build(DRIFT_POLICY="lax")
    assert built.status == 2
    assert "DRIFT_POLICY must be one of" in built.stderr


def test_the_environment_variable_chooses_portable(book: Book) -> None:
    book.copy(PAGES / "fail", "rounding.md")
    built = book.build(DRIFT_POLICY="portable")
    assert built.status == 0
    assert "accepted as rounding: [1] 155.9240 -> 155.9239" in built.stdout
    assert f"1 accepted as rounding (torch {TORCH}, cpu, " in built.last
    assert built.last.endswith(", portable)")


def test_running_twice_finds_what_does_not_repeat(book: Book) -> None:
    unseeded = 'import random\n\nprint("".join(random.choices("abcdef", k=20)))'
    put(book, one=GOOD.replace('print("good")', unseeded))
    book.configure(drift_twice=True)
    built = book.build()
    assert built.status == 1
    assert built.places == {("one.md:13", "drift"), ("one.md:7", "unrepeatable")}


def test_a_report_is_coloured_only_where_it_is_asked_for(book: Book) -> None:
    put(book, page=BAD)
    assert "\x1b[31mdrift" not in book.build(CI="true").stderr
    assert "\x1b[31mdrift\x1b[0m" in book.build(FORCE_COLOR="1").stderr
