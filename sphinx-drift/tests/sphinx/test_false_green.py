"""Builds that must not be green by accident: again, in part, in parallel, in every builder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from small_book import FRONT, TORCH, cell

from sphinx_drift.report.text import count

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Book

pytestmark = pytest.mark.slow

PAGES = Path(__file__).parents[1] / "pages"
GOOD = FRONT + '```{code-cell} ipython3\nprint("good")\n```\n\n```{expected-output}\ngood\n```\n'
BAD = GOOD.replace("\ngood\n", "\nbad\n")
BESIDE = GOOD.replace('print("good")', "import beside\n\nprint(beside.TEXT)")
MODES = ("auto", "force", "cache")


def put(book: Book, **pages: str) -> None:
    """Write pages as they are."""
    for name, text in pages.items():
        (book.folder / f"{name}.md").write_text(text, encoding="utf-8")


# Again and in parallel ----------------------------------------------------------------


@pytest.mark.parametrize("options", ["", "-W", "-j 2"])
def test_failure_is_reported_again_when_nothing_changed(options: str, book: Book) -> None:
    put(book, one=BAD, two=BAD)
    first = book.build(*options.split())
    again = book.build(*options.split())
    assert (first.status, again.status) == (1, 1)
    assert first.places == {("one.md:11", "drift"), ("two.md:11", "drift")}
    assert again.report == first.report
    assert count(first.results.values()).drifted == 2


@pytest.mark.parametrize("mode", MODES)
def test_change_of_a_module_is_seen_in_each_execution_mode(mode: str, book: Book) -> None:
    """The page doesn't change; what it imports does."""
    book.configure(nb_execution_mode=mode)
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


@pytest.fixture(scope="module")
def built_before(make_book: Callable[[], Book]) -> Book:
    """Return a book that passed once."""
    book = make_book()
    put(book, page=GOOD)
    assert book.build().status == 0
    return book


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (GOOD.rpartition("```{expected-output}")[0], ("page.md:7", "undocumented")),
        (GOOD.replace('print("good")', "silent = True"), ("page.md:11", "no-output")),
        (GOOD.partition("```{expected-output}")[2], None),
        (GOOD.removeprefix(FRONT), ("page.md:1", "unreadable")),
    ],
    ids=["expectation deleted", "print deleted", "cell deleted", "front matter deleted"],
)
def test_what_is_deleted_is_missed(
    text: str, place: tuple[str, str] | None, built_before: Book
) -> None:
    put(built_before, page=text)
    built = built_before.build()
    assert built.status == 1
    if place is None:
        assert built.last == "nothing was checked"
    else:
        assert place in built.places


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


@pytest.mark.parametrize(
    ("required", "own"), [(["page.md"], ""), ("expected", "---\ndrift: {complete: true}\n---\n\n")]
)
def test_required_page_whose_cells_sphinx_does_not_run_fails(
    required: list[str] | str, own: str, book: Book
) -> None:
    book.configure(drift_require=required)
    put(book, good=GOOD, page=own + "```{code-cell}\nprint(2)\n```\n")
    built = book.build()
    assert built.places == {("page.md:1", "unreadable")}
    assert "`file_format: mystnb` is missing" in built.report


def test_included_file_that_an_older_one_replaces_is_read(book: Book) -> None:
    put(book, good=GOOD, page="# Prose\n\n```{include} inc.txt\n```\n")
    included = book.folder / "inc.txt"
    included.write_text("Words.\n")
    assert book.build().status == 0
    included.write_text("```{code-cell}\nprint(3)\n```\n")
    os.utime(included, (1_000_000_000, 1_000_000_000))
    assert book.build().places == {("page.md:1", "unreadable")}


@pytest.mark.parametrize("name", ["page.rst", "page.md"])
def test_cells_of_a_file_that_is_read_by_another_parser_are_missed(name: str, book: Book) -> None:
    include = ".. include:: included.txt\n   :parser: myst_nb.sphinx_\n"
    text = (
        f"Page\n====\n\n{include}"
        if name == "page.rst"
        else f"{GOOD}\n```{{eval-rst}}\n{include}```"
    )
    (book.folder / name).write_text(text)
    (book.folder / "included.txt").write_text(f"{FRONT}```{{code-cell}} python\nprint(6)\n```\n")
    put(book, good=GOOD)
    built = book.build()
    assert built.status == 1
    assert (f"{name}:1", "nested") in built.places
    assert "it is in included.txt, which the page includes" in built.report


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
    for built in (book.build(), book.build("-j", "2")):
        assert built.status == 1
        assert built.places == {("one.md:7", "could-not-check"), ("two.md:7", "could-not-check")}
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


@pytest.mark.parametrize("builder", ["epub", "drift"])
def test_every_builder_verifies(builder: str, shelf: Book) -> None:
    put(shelf, index=GOOD.replace("```{code", "# Title\n\n```{code", 1))
    built = shelf.build(builder=builder)
    assert built.status == 0, built.stderr
    assert count(built.results.values()).verified == 1
    assert built.last.startswith("1 output verified")


@pytest.mark.parametrize(
    "builder", ["html", "text", "latex", "epub", "xml", "man", "gettext", "drift"]
)
def test_every_builder_fails(builder: str, shelf: Book) -> None:
    put(shelf, index=BAD.replace("```{code", "# Title\n\n```{code", 1))
    # Sphinx keeps other doctrees for translators.
    own = ("-d", "_out/own") if builder == "gettext" else ()
    built = shelf.build(*own, builder=builder)
    assert built.status == 1
    assert built.places == {("index.md:13", "drift")}


@pytest.mark.parametrize("builder", ["html", "text", "latex"])
def test_what_is_left_out_is_not_shown(builder: str, book: Book) -> None:
    left_out = (
        'import sys\n\nprint("alpha\\nbeta\\ngamma")\nprint("delta", file=sys.stderr)\n"zeta"'
    )
    text = GOOD.replace('print("good")', left_out).replace("\ngood\n", "\nalpha\n⋮\ndelta\n")
    put(book, index=text.replace("```{code", "# Title\n\n```{code", 1))
    book.configure(language="en", latex_documents=[("index", "book.tex", "", "", "manual")])
    built = book.build(builder=builder)
    assert built.status == 0, built.stderr
    name = {"html": "index.html", "text": "index.txt", "latex": "book.tex"}[builder]
    output = (built.outdir / name).read_text("utf-8").rpartition("stderr")[2]
    shown = ["alpha" in output, "⋮" in output, "delta" in output]
    assert (shown, "gamma" in output, "zeta'" in output) == ([True] * 3, False, False)


def test_an_ebook_is_built_again_without_a_warning(book: Book) -> None:
    put(book, index=GOOD.replace("```{code", "# Title\n\n```{code", 1))
    book.configure(copyright="2026", version="1", suppress_warnings=[])
    for _ in range(2):
        built = book.build("-W", builder="epub")
        assert built.status == 0, built.stderr


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


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("print({})", ""),
        ("class Link:\n    def __repr__(_):\n        return {}\nLink()", ""),
        ("raise ValueError({})", ":raises: ValueError\n\nValueError: "),
    ],
)
def test_a_page_shows_no_text_of_a_link_that_nothing_compares(
    code: str, expected: str, book: Book
) -> None:
    link = r"'a\x1b]8;;http://x/' + '9' * 2 + '\x1b\\b\x1b]8;;\x1b\\'"
    book.write("index.md", "# Links", cell(code.format(link), f"{expected}ab"))
    built = book.build("-W", builder="html")
    assert built.status == 0, built.stderr
    (output,) = re.findall(
        r'(?s)<div class="output .*?</pre>', (built.outdir / "index.html").read_text()
    )
    assert "ab" in output
    assert "99" not in output


@pytest.mark.parametrize(
    ("text", "options", "form", "kind"),
    [
        ("```{include} beside.txt\n```", "", "myst", "form"),
        ("It is {math}`1`.", "", "myst", "form"),
        ("It is {{ one }}.", "", "myst", "form"),
        ("It is {math}`1`.", ":unchecked: why\n", "myst", "nothing-checked"),
        ("It is {math}`1`.", "", "commonmark", ""),
        ("It is `1`{math}`1`.", "", "myst", "form"),
        ("It is\n\n% 5\n\n70.", "", "myst", "form"),
    ],
)
def test_what_myst_makes_of_an_output_is_not_verified(
    text: str, options: str, form: str, kind: str, book: Book
) -> None:
    (book.folder / "beside.txt").write_text("one")
    book.configure(myst_enable_extensions=["substitution"], myst_substitutions={"one": "1"})
    front = FRONT.replace("---\n\n", f"mystnb: {{render_markdown_format: {form}}}\n---\n\n")
    code = f"from IPython.display import Markdown\nMarkdown({text!r})"
    shown = f"````{{expected-output}}\n{options}{text}\n````\n"
    put(book, good=GOOD, page=f"{front}```{{code-cell}} ipython3\n{code}\n```\n{shown}")
    assert book.build().places == ({("page.md:8", kind)} if kind else set())


# Settings -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "extensions", [["sphinx_drift"], ["sphinx_drift", "myst_nb"]], ids=["alone", "too early"]
)
def test_without_myst_nb_before_it_says_what_is_missing(extensions: list[str], book: Book) -> None:
    book.configure(extensions=extensions)
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
