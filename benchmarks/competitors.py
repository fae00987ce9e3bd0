"""The ways of running a book's cells that are measured, and how each is seen to have done it."""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import books

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[1]
THIS = "this"  # the name of this book among the books, the others are named by their pages
OUTPUT = 'class="cell_output '
JOBS = "{jobs}"  # stands for `Setup.jobs`


@dataclass(frozen=True)
class Setup:
    """Where things are on this machine."""

    workspace: Path
    jupyter_book: Path | None
    pages: Mapping[str, Sequence[books.Page]]
    """The pages of each generated book, by its name, with what they print."""
    jobs: str = "auto"
    """Sphinx's `-j` of the builds by this project, and of those that execute nothing."""


@dataclass(frozen=True)
class Competitor:
    """A way of running a book's cells."""

    name: str
    command: Callable[[Setup, str, Path], list[str]]
    """Takes the book's name and a new folder for everything that is made."""
    problem: Callable[[Setup, str, Path, str], str]
    """Says what is missing in the folder or in what was printed; nothing if all was done."""
    variables: Mapping[str, str] = field(default_factory=dict)
    ours: bool = False
    """Whether it runs the code of this repository, so that it changes from commit to commit."""
    rebuilds: bool = False
    """Whether it builds what it has built before, instead of building from nothing."""
    change: Callable[[Setup, str], None] | None = None
    """What is done to the book before each time that it is built again."""


def source(setup: Setup, kind: str, book: str, own: str = "") -> Path:
    """Return the folder of a book in one of its forms, which is written when it is first wanted.

    A way that changes pages has a book of its own, by its name.
    """
    folder = setup.workspace / f"{own or kind}-{book}"
    if not folder.exists():
        FORMS[kind](folder, setup.pages[book])
    return folder


FORMS: dict[str, Callable[[Path, Sequence[books.Page]], None]] = {
    "checked": lambda folder, pages: books.write_sphinx(folder, pages, checked=True),
    "themed": lambda folder, pages: books.write_sphinx(folder, pages, checked=True, themed=True),
    "stock": lambda folder, pages: books.write_sphinx(folder, pages, checked=False),
    "jupyter-book": books.write_jupyter_book,
    "notebooks": books.write_notebooks,
    "script": books.write_script,
}


def _sphinx(kind: str, *options: str, own: str = "") -> Callable[[Setup, str, Path], list[str]]:
    """Return the command of a build, as `nox -s docs` calls it."""

    def command(setup: Setup, book: str, out: Path) -> list[str]:
        folder = ROOT / "docs" if book == THIS else source(setup, kind, book, own)
        chosen = [setup.jobs if option == JOBS else option for option in options]
        folders = ("-d", str(out / "doctrees"), str(folder), str(out / "html"))
        module = "sphinx" if kind == "stock" else "sphinx_drift.run"
        return [sys.executable, "-m", module, "-b", "html", *chosen, *folders]

    return command


def _pytest(*options: str) -> Callable[[Setup, str, Path], list[str]]:
    def command(setup: Setup, book: str, _out: Path) -> list[str]:
        folder = source(setup, "notebooks", book)
        # Nothing is remembered from one run to the next.
        return [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, str(folder)]

    return command


def _script(setup: Setup, book: str, _out: Path) -> list[str]:
    return [sys.executable, str(source(setup, "script", book) / "book.py")]


def _jupyter_book(setup: Setup, book: str, out: Path) -> list[str]:
    if setup.jupyter_book is None:
        raise ValueError("jupyter-book has an environment of its own: name it by --jupyter-book")
    folder = source(setup, "jupyter-book", book)
    return [str(setup.jupyter_book), "build", str(folder), "--path-output", str(out), "--all"]


def _checked(setup: Setup, book: str, out: Path, printed: str) -> str:
    """Ask for the pages, and for every output verified."""
    numbers = re.findall(r"(\d+) outputs? verified", printed)
    number = int(numbers[-1]) if numbers else 0
    enough = number > 0 if book == THIS else number == books.PRINTED * int(book)
    return _shown(setup, book, out, printed) or ("" if enough else f"{number} outputs verified")


def _missing(setup: Setup, book: str, out: Path, _printed: str, *, outputs: int) -> str:
    """Ask for the pages, each with so many outputs."""
    html = out / "_build" / "html" if (out / "_build").is_dir() else out / "html"
    if book == THIS:
        count = sum(page.read_text("utf-8").count(OUTPUT) for page in html.rglob("*.html"))
        return "" if bool(count) == bool(outputs) else f"{count} outputs shown"
    for page in setup.pages[book]:
        path = html / f"{page.name}.html"
        count = path.read_text("utf-8").count(OUTPUT) if path.is_file() else -1
        if count != outputs:
            return f"{path.name} shows {count} outputs" if count >= 0 else f"{path.name} is missing"
    return ""


_shown = partial(_missing, outputs=books.PRINTED)
_unexecuted = partial(_missing, outputs=0)


def _passed(_setup: Setup, _book: str, _out: Path, printed: str) -> str:
    numbers = re.findall(r"(\d+) passed", printed)
    return "" if numbers and "failed" not in printed else "pytest passed nothing"


def _printed(_setup: Setup, book: str, _out: Path, printed: str) -> str:
    number = printed.count("tensor(")
    return "" if number == books.PRINTED * int(book) else f"{number} tensors printed"


def _ours(name: str, runner: str, *options: str, kind: str = "themed") -> Competitor:
    """Return a way of building the checked book, with this project's runner or with none."""
    again, page = name.endswith("-again"), name.endswith("-page")

    def change(setup: Setup, book: str) -> None:
        books.change(source(setup, kind, book, name), setup.pages[book])

    return Competitor(
        name,
        _sphinx(kind, "-j", JOBS, *options, own=name if page else ""),
        _unexecuted if runner == "off" else _checked,
        {"DRIFT_RUNNER": runner},
        ours=True,
        rebuilds=again or page,
        change=change if page else None,
    )


COMPETITORS = {
    each.name: each
    for each in (
        _ours("ours", "fork", kind="checked"),
        _ours("twice", "fork", "-D", "drift_twice=1", kind="checked"),
        _ours("off", "off", kind="checked"),
        *(
            _ours(f"{name}-{which}", runner)
            for name, runner in (("ours", "fork"), ("off", "off"))
            for which in ("themed", "again", "page")
        ),
        Competitor(
            "jupyter",
            _sphinx("checked", "-j", "2"),
            _checked,
            {"DRIFT_RUNNER": "jupyter"},
            ours=True,
        ),
        Competitor("stock-j1", _sphinx("stock", "-W", "-j", "1"), _shown),
        Competitor("stock-j2", _sphinx("stock", "-W", "-j", "2"), _shown),
        Competitor("plain", _script, _printed),
        Competitor(
            "nbval",
            _pytest("--nbval", "-n", "2", "--dist", "loadscope"),
            _passed,
        ),
        Competitor("nbmake", _pytest("--nbmake", "-n", "2"), _passed),
        Competitor("jupyter-book", _jupyter_book, _shown),
    )
}


def clear(out: Path) -> None:
    """Make a new folder, so that nothing is left from another build."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
