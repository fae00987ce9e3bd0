"""Running is never skipped: a change of what a page reads or glues is seen by the next build."""

import json
import os
import re

import pytest
from small_book import FRONT, cell, expected, front

from conftest import Book

pytestmark = pytest.mark.slow

# What a page reads: its code, and what it prints before and after the change.
READS = {
    "module": "import beside; print(beside.TEXT)",
    "package": "import installed; print(installed.TEXT)",
    "version": "from importlib.metadata import version; print(version('installed'))",
    "subprocess": "import subprocess as s; print(s.check_output(['cat', 'data.txt']).decode())",
    "listed": "import os; print(*sorted(os.listdir('folder')))",
    "variable": "import os; print(os.environ['BOOK_NUMBER'])",
}


def write_world(book: Book, text: str, version: str) -> None:
    """Write all that the pages read; what is there already keeps its times."""
    packages = book.folder.parent / "site-packages"
    files = {
        book.folder / "beside.py": f"TEXT = {text!r}\n",
        book.folder / "data.txt": text,
        book.folder / "folder" / text: "",
        book.folder / "loaded.py": f"print({text!r})",
        packages / "installed.py": f"TEXT = {text!r}\n",
        packages / "installed-1.dist-info" / "METADATA": f"Name: installed\nVersion: {version}\n",
    }
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
        os.utime(path, (1_000_000_000, 1_000_000_000 + len(text)))


def test_whatever_a_page_reads_is_read_again(book: Book) -> None:
    write_world(book, "one", "1")
    before = {**dict.fromkeys(READS, "one"), "version": "1"}
    for name, code in READS.items():
        book.write(f"{name}.md", cell(code, before[name]))
    book.write("loading.md", "```{code-cell} ipython3\n:load: loaded.py\n```", expected("one"))
    packages = str(book.folder.parent / "site-packages")
    first = book.build(PYTHONPATH=packages, BOOK_NUMBER="one")
    assert first.status == 0, first.report

    write_world(book, "three", "2")
    changed = book.build(PYTHONPATH=packages, BOOK_NUMBER="three")
    drifted = {file.partition(".")[0] for file, kind in changed.locations if kind == "drift"}
    assert drifted == {*READS, "loading"}


# What others show -------------------------------------------------------------------------


def test_what_another_page_glues_is_shown_anew(book: Book) -> None:
    book.configure(drift_require="expected")
    data = book.folder / "data.txt"
    data.write_text("1")
    code = "from myst_nb import glue\nglue('it', int(open('data.txt').read()), display=False)"
    book.write("a.md", cell(code, "it = 1"))
    book.write("b.md", cell("print(0)", "0"), "```{glue:any} it\n:doc: a.md\n```")
    first = book.build(builder="html")
    assert first.status == 0, first.report
    assert re.search(r">1\s*<", (first.outdir / "b.html").read_text("utf-8"))
    data.write_text("2")
    page = book.folder / "a.md"
    page.write_text(page.read_text("utf-8").replace("it = 1", "it = 2"), "utf-8")
    built = book.build(builder="html")
    assert built.status == 0, built.report
    assert re.search(r">2\s*<", (built.outdir / "b.html").read_text("utf-8"))


GLUES = cell('from myst_nb import glue\nglue("it", 0.25, display=False)', "it = 0.25")
OFF = "mystnb: {execution_mode: 'off'}"


@pytest.mark.parametrize(
    ("later", "option"),
    [
        pytest.param(FRONT + GLUES.replace("it", "other"), "-q", id="other"),
        pytest.param(front(OFF) + GLUES, "-q", id="off"),
        pytest.param("", "-q", id="deleted"),
        pytest.param("", "-E", id="deleted, and all is read again"),
    ],
)
def test_what_is_no_longer_glued_is_shown_nowhere(later: str, option: str, book: Book) -> None:
    book.configure(drift_require="expected")
    book.write("a.md", GLUES)
    shown = "```{glue:} it\n:doc: a.md\n```", "It is {glue:text}`a.md::it:.1%`."
    book.write("b.md", "# It shows", *shown, front=False)
    first = book.build(builder="html")
    assert "25.0%" in (first.outdir / "b.html").read_text("utf-8")
    page = book.folder / "a.md"
    page.write_text(later) if later else page.unlink()
    for _ in range(2):
        built = book.build(option, builder="html")
        assert built.stderr.count("Glue reference 'it' not found in doc 'a'") == len(shown)
        assert "25.0%" not in (built.outdir / "b.html").read_text("utf-8")


@pytest.mark.parametrize("other", [None, {"it": {"data": {"text/plain": "0.75"}}}])
def test_what_another_book_deleted_or_wrote_is_glued_again(other: object, book: Book) -> None:
    """MyST-NB has one folder for the glue of all books that are built side by side."""
    book.configure(drift_require="expected")
    book.write("a.md", GLUES.partition("\n\n")[0])
    book.write("b.md", "It is {glue:text}`a.md::it:.1%`.", front=False)
    first = book.build(builder="html")
    (glue,) = first.outdir.parent.rglob("a.glue.json")
    if other is None:
        glue.unlink()
    else:
        glue.write_text(json.dumps(other), "utf-8")
    again = book.build("-a", builder="html")
    assert "25.0%" in (again.outdir / "b.html").read_text("utf-8")


@pytest.mark.parametrize("mode", ["auto", "cache"])  # a cache of executions knows a page alone
def test_a_cached_module_of_the_same_second_and_size_is_not_trusted(mode: str, book: Book) -> None:
    """Python would run what it compiled before: it knows a source by its second and its size."""
    book.configure(nb_execution_mode=mode)
    moments = {
        "ago": 1_500_000_000,  # archives and copies give many files one time
        "to_come": 1_900_000_000,  # after it was compiled
    }
    for name in moments:
        book.write(f"{name}.md", cell(f"import is_{name} as late\nprint(late.NUMBER)", "1"))
    for number in (1, 2):
        for name, moment in moments.items():
            late = book.folder / f"is_{name}.py"
            late.write_text(f"NUMBER = {number}\n")
            os.utime(late, (moment, moment))
        built = book.build(PYTHONDONTWRITEBYTECODE="")
        drifted = {(f"{name}.md:12", "drift") for name in moments}
        assert built.locations == (set() if number == 1 else drifted)


CLOCK = "import time; now = time.time_ns; time.time_ns = lambda: now() + 90_000 * 10**9"


def test_a_page_that_changed_while_the_clock_was_ahead_is_read(book: Book) -> None:
    book.write("page.md", "# Prose", front=False)
    book.write("other.md", cell("print(1)", "1"))
    book.configure(CLOCK)
    assert book.build().status == 0
    book.configure()
    book.write("page.md", cell("print(0.75)", "0.25"))
    assert book.build().locations == {("page.md:11", "drift")}


def test_a_complete_page_shows_nothing_that_another_glues(book: Book) -> None:
    book.configure(drift_require=["b.md"])
    book.write("a.md", GLUES)
    book.write("b.md", "It is {glue:text}`a.md::it:.1%`.")
    assert book.build().locations == {("b.md:7", "quotation")}
