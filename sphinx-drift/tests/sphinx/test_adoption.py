"""A book that exists adopts the checker page by page: what has no expectation is built as ever."""

from __future__ import annotations

import json
import os
import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from nbformat import v4, writes
from small_book import FRONT, cell

if TYPE_CHECKING:
    from conftest import Book

pytestmark = pytest.mark.slow

PLAIN = f"# Plain\n\n{cell('print(1)')}\n\n{cell('1 / 0')}\n\n{cell('print(2)')}"
"""A page as MyST-NB builds it: it stops at the error, with a warning."""
HALF = f"# Half\n\n{cell('print(3)', '3')}\n\n{cell('print(4)')}"
COMPLETE = FRONT.replace("---\n\n", "drift: {complete: true}\n---\n\n")


def stripped(*stored: str) -> str:
    """Return a notebook of three cells, with the outputs of the first ones."""
    cells = [v4.new_code_cell(f"print({number})", id=f"c{number}") for number in range(3)]
    for each, text in zip(cells, stored, strict=False):
        each.outputs = [v4.new_output("stream", text=f"{text}\n")]
    return writes(v4.new_notebook(cells=cells))


def bare(page: Path) -> str:
    """Return a page without the digests of style sheets, which MyST-NB adds in a second build."""
    return re.sub(r"\?v=\w+", "", page.read_text("utf-8"))


def put(book: Book, require: object = "expected", **pages: str) -> None:
    book.configure(drift_require=require)
    for name, text in pages.items():
        file = name.replace("_", ".")
        (book.folder / file).write_text(text + "\n", "utf-8")


def test_outputs_without_expectations_are_built_as_ever_and_counted(book: Book) -> None:
    put(book, plain_md=FRONT + PLAIN, half_md=FRONT + HALF, bare_ipynb=stripped())
    built = book.build(builder="html")
    assert built.status == 0, built.stderr
    assert built.last.startswith("1 output verified on 1 page, ")
    assert "6 outputs on 3 pages have no expectation" in built.last
    assert "plain.md: WARNING: Executing notebook failed: CellExecutionError" in built.stderr
    again = book.build(builder="html")  # a page that is as ever is not read again
    assert again.last == built.last
    names = ("plain.html", "bare.html")
    checked = [bare(built.outdir / name) for name in names]
    book.configure(extensions=["myst_nb"])
    stock = book.build("-E", builder="html")
    assert checked == [bare(stock.outdir / name) for name in names]


def test_book_of_no_expectations_is_as_green_as_without_the_checker(book: Book) -> None:
    nested = "```{note}\n```{code-cell} ipython3\n1\n```\n```"
    put(book, one_md=FRONT + cell("print(1)"), two_md=FRONT + "{eval}`x`\n\n" + nested)
    built = book.build()
    assert built.status == 0, built.stderr
    assert built.last.startswith("nothing was checked, 1 output on 1 page has no expectation")


@pytest.mark.parametrize(
    ("require", "page", "place"),
    [
        ("all", FRONT + HALF, ("half.md:17", "undocumented")),
        (["ha*"], FRONT + HALF, ("half.md:17", "undocumented")),
        ("expected", COMPLETE + HALF, ("half.md:18", "undocumented")),
        ("expected", COMPLETE + PLAIN, ("half.md:14", "raised")),
        ("expected", FRONT + HALF.replace("\n3\n", "\n5\n"), ("half.md:13", "drift")),
        ("expected", FRONT + HALF.replace("print(3)", "1 / 0"), ("half.md:9", "raised")),
        ("expected", FRONT + HALF.replace("print(4)", "1 / 0"), ("half.md:17", "raised")),
        (
            "expected",
            FRONT + HALF.replace("```{exp", "prose\n\n```{exp"),
            ("half.md:15", "no-cell"),
        ),
        ("expected", HALF, ("half.md:1", "unreadable")),
        ("expected", COMPLETE.replace("true", "yes, please") + HALF, ("half.md:1", "option")),
        ("expected", COMPLETE.replace("complete", "completed") + HALF, ("half.md:1", "option")),
    ],
)
def test_what_a_page_or_the_book_requires_fails(
    require: object, page: str, place: tuple[str, str], book: Book
) -> None:
    put(book, require, half_md=page)
    built = book.build()
    assert built.status == 1
    assert place in built.places, built.report


@pytest.mark.parametrize("stored", [("0", "1", "3"), ("5",)])
def test_stored_outputs_are_expectations(stored: tuple[str, ...], book: Book) -> None:
    put(book, notes_ipynb=stripped(*stored))
    built = book.build()
    assert {kind for _, kind in built.places} == {"drift"}
    assert ("2 outputs on 1 page have no expectation" in built.last) is (len(stored) == 1)


@pytest.mark.parametrize(
    ("require", "complaint"),
    [
        ("al", "must be 'expected', 'all' or a list of patterns"),
        (["half*", "gone*"], "no page matches 'gone*'"),
    ],
)
def test_what_could_require_nothing_by_mistake_is_refused(
    require: object, complaint: str, book: Book
) -> None:
    put(book, require, half_md=FRONT + HALF)
    built = book.build()
    assert built.status != 0
    assert complaint in built.stderr


@pytest.mark.parametrize(
    ("severity", "expected", "status", "level"),
    [("error", "5", 1, "error"), ("warning", "5", 0, "warning"), ("error", None, 0, "")],
)
def test_reports_say_what_the_exit_status_says(
    severity: str, expected: str | None, status: int, level: str, book: Book
) -> None:
    book.configure(drift_require="expected", drift_severity=severity)
    book.write("page.md", cell("print(3)", expected))
    built = book.build("-b", "drift", GITHUB_ACTIONS="1")
    assert built.status == status
    assert json.loads((built.outdir / "drift.json").read_text())["status"] == status
    assert re.findall(r"(?m)^::(\w+) ", built.stdout) == [level] * bool(level)


def test_half_a_character_costs_no_report(book: Book) -> None:
    put(book, notes_ipynb=stripped("half").replace("half", "\\ud800"))
    built = book.build(builder="drift", GITHUB_ACTIONS="1")
    assert built.status == 1
    assert "::error file=notes.ipynb" in built.stdout
    assert "\\ud800" in (built.outdir / "drift.txt").read_text("utf-8")
    assert json.loads((built.outdir / "drift.json").read_text("utf-8"))["status"] == 1


@pytest.mark.parametrize(
    ("value", "status", "complaint"),
    [
        ("drift_timeout=60", 0, ""),
        ("drift_timeout=soon", 2, "must be a whole number above 0"),
        ("drift_output_limit=100", 1, "took more than 100 bytes"),
        ("drift_preload=json,os", 0, ""),
        ("drift_require=half.md", 1, "half.md:18: undocumented"),
        ("drift_require=all", 1, "half.md:18: undocumented"),
        ("drift_require=none.md,half.md", 2, "no page matches 'none.md'"),
        ("drift_twice=1", 0, ""),
    ],
)
def test_a_setting_may_be_given_with_the_command(
    value: str, status: int, complaint: str, book: Book
) -> None:
    put(book, half_md=FRONT + HALF.replace("print(3)", "_ = open('ran', 'a').write('1')\nprint(3)"))
    built = book.build("-D", value)
    assert built.status == status, built.stderr
    assert complaint in built.stderr
    if value == "drift_twice=1":
        assert (book.folder / "ran").read_text() == "11"


def test_failures_may_be_warnings(book: Book) -> None:
    put(book, half_md=FRONT + HALF.replace("\n3\n", "\n5\n"))
    book.configure(drift_require="expected", drift_severity="warning")
    built = book.build()
    assert built.status == 0
    assert "half.md:13: drift in cell 1" in built.stderr
    book.configure(
        drift_require="expected", drift_severity="warning", suppress_warnings=["toc", "drift"]
    )
    assert book.build("-W").status == 1


def test_ratchet_only_grows(book: Book) -> None:
    ratchet = book.folder / "verified.json"
    settings = {"drift_require": "expected", "drift_ratchet": "verified.json"}
    book.configure(**settings)
    book.write("half.md", HALF)
    missing = book.build(CI="true")
    assert {kind for _, kind in missing.places} == {"unreadable"}, missing.stderr
    assert book.build().status == 0
    assert json.loads(ratchet.read_text()) == {"half": 1}
    book.write("half.md", HALF.replace(cell("print(4)"), cell("print(4)", "4")))
    assert book.build(CI="true").status == 0
    assert json.loads(ratchet.read_text()) == {"half": 1}
    assert book.build().status == 0
    assert json.loads(ratchet.read_text()) == {"half": 2}
    book.write("half.md", HALF)
    for _ in range(2):
        fewer = book.build()
        assert fewer.places == {("half.md:1", "fewer")}
        assert "delete its line" in fewer.report
    Path(book.folder / "half.md").unlink()
    assert book.build().places == {("half:1", "fewer")}
    ratchet.write_text("{}")
    assert book.build().status == 0


def test_ratchet_holds_away_from_the_reference(book: Book) -> None:
    settings = {"drift_policy": "auto", "drift_ratchet": "verified.json"}
    only = ":reference-only: other systems draw other numbers\n\n2"
    book.write("index.md", "# Page", cell("print(1)", "1"), cell("print(2)", only))
    for python in (platform.python_version(), "2.7"):
        book.configure(**settings, drift_reference={"python": python})
        built = book.build()
        assert built.status == 0, built.report
    (book.folder / "verified.json").write_text('{"index": 3}')
    assert "verified on 1 page" in book.build().last
    (book.folder / "verified.json").write_text('{"index": Infinity}')
    assert "unreadable" in {kind for _, kind in book.build().places}


WARNS = "import sys\nprint('seen')\nprint('a path', file=sys.stderr)"


@pytest.mark.parametrize(
    ("settings", "tags"),
    [
        ({"nb_output_stderr": "remove"}, ""),
        ({}, ":tags: [remove-stderr]\n"),
        ({}, "---\nmystnb:\n  output_stderr: remove\n---\n"),
    ],
)
def test_what_a_reader_is_not_shown_needs_no_expectation(
    settings: dict[str, str], tags: str, book: Book
) -> None:
    unseen = cell(":tags: [remove-output]\nprint(1)") + "\n\n" + cell(":tags: [remove-cell]\n2")
    book.configure(**settings)
    book.write("page.md", cell(tags + WARNS, "seen"), unseen)
    built = book.build("-W")
    assert built.status == 0, built.stderr
    assert "1 output verified on 1 page" in built.last


@pytest.mark.parametrize(
    ("setting", "options"),
    [
        ("remove", "---\nmystnb:\n  output_stderr: show\n---\n"),
        ("remove", "---\nrender:\n  output_stderr: show\n---\n"),  # its older key
        ("show", ":tags: [remove_stderr]\n"),  # no tag of MyST-NB's
    ],
)
def test_a_cell_whose_warnings_are_shown_documents_them(
    setting: str, options: str, book: Book
) -> None:
    book.configure(nb_output_stderr=setting)
    book.write("page.md", cell(options + WARNS, "seen"))
    assert {kind for _, kind in book.build().places} == {"drift"}


def test_what_the_projects_file_requires_is_seen_in_the_next_build(book: Book) -> None:
    book.configure(drift_require=None)
    book.write("page.md", cell("print(1)", "1"))
    book.write("prints.md", cell("print(2)"))
    for require, places in (("expected", set()), ("all", {("prints.md:7", "undocumented")})):
        (book.folder / "pyproject.toml").write_text(f'[tool.sphinx-drift]\nrequire = "{require}"\n')
        assert book.build().places == places


@pytest.mark.parametrize("live", [False, True])
def test_a_page_that_an_older_file_replaces_is_read(live: bool, book: Book) -> None:  # noqa: FBT001
    book.configure(drift_live=live)
    book.write("page.md", cell("print(1)", "1"))
    book.write("stub.md", "# Stub", front=False)
    assert book.build(CI="").status == 0
    book.write("draft.txt", cell("print(1)", "3"))
    os.utime(book.folder / "draft.txt", (1_500_000_000, 1_500_000_000))
    (book.folder / "draft.txt").replace(book.folder / "stub.md")
    assert book.build(CI="").status == 1


def test_live_work_leaves_out_a_page_beside_what_torch_makes(book: Book) -> None:
    book.configure(drift_live=True)
    made = "import sys, types\nmade = types.ModuleType('made')\nmade.__file__ = '_made.py'\n"
    book.write("page.md", cell(f"{made}sys.modules['made'] = made\nprint(1)", "1"))
    lines = [book.build(CI="").last for _ in range(2)]
    assert ["1 page not run again" in line for line in lines] == [False, True], lines


@pytest.mark.parametrize(("seconds", "status"), [(1, 1), (-1, 0)])
def test_time_that_the_book_gives_its_cells_stands(seconds: int, status: int, book: Book) -> None:
    book.configure(nb_execution_timeout=seconds)
    book.write("page.md", cell("import time\ntime.sleep(2)\nprint(1)", "1"))
    built = book.build()
    assert built.status == status
    assert ("timeout" in {kind for _, kind in built.places}) is (status == 1)


def test_filters_of_the_book_are_counted_and_told_if_they_match_nothing(book: Book) -> None:
    today = "import datetime\nprint(datetime.date.today(), {}, object())"
    day, gone = (r"\d{4}-\d\d-\d\d", "day", "it is today's"), ("gone", "gone", "why")
    book.configure(drift_filters=[day])
    book.write("page.md", cell(today.format(0.5), "2020-01-01 0.5 <object object at 0x0>"))
    built = book.build("-W")
    assert built.status == 0, built.stderr
    assert "1 output verified on 1 page, 1 filtered as day, 1 filtered as memory" in built.last
    book.write("page.md", cell(today.format(0.6), "2020-01-01 0.5 <object object at 0x0>"))
    drifted = book.build()
    assert drifted.places == {("page.md:12", "drift")}
    assert "documented 0.5, executed 0.6" in drifted.report
    book.configure(drift_filters=[day, gone])
    assert "drift_filters: nothing was filtered as gone" in book.build().stderr
    book.configure(drift_filters=[day[:2]])
    assert "drift_filters must list patterns" in book.build().stderr


def test_a_setting_of_myst_nb_that_is_not_followed_is_told(book: Book) -> None:
    book.configure(nb_execution_in_temp=True)
    book.write("page.md", cell("print(1)", "1"))
    built = book.build()
    assert (built.status, built.stderr.count("nb_execution_in_temp is not followed")) == (0, 1)


def test_a_format_that_stores_nothing_is_no_notebook_to_save(book: Book) -> None:
    read = "def read(text):\n    from nbformat import v4\n    return v4.new_notebook(cells=[{}])"
    cells = "v4.new_code_cell(text), v4.new_markdown_cell('```{expected-output}\\n2\\n```')"
    (book.folder / "reader.py").write_text(read.format(cells))
    (book.folder / "page.txt").write_text("print(1)")
    book.configure("import sys; sys.path.insert(0, '.')", nb_custom_formats={".txt": "reader.read"})
    built = book.build()
    assert [failure.kind for failure in built.failures] == ["undocumented", "nested"]
    for failure in built.failures:
        assert "to do: make it a MyST page or a notebook" in failure.text
