"""One line in conf.py, and a MyST-NB book is the same as before."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

FRONT = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n\n"
PAGE = """# A page

```{code-cell} ipython3
:tags: [hide-input]
from IPython.display import HTML, display
print("printed")
display(HTML("<b>bold</b>"))
[n**2 for n in range(3)]
```

```{code-cell} ipython3
:tags: [raises-exception]
1 / 0
```

```{code-cell} ipython3
from myst_nb import glue
glue("glued", 42)
```

Glued: {glue}`glued`.
"""
RAISES = "# Raises\n\n```{code-cell} ipython3\n[][0]\n```\n\n```{code-cell} ipython3\n'on'\n```\n"
INLINE = "# Inline\n\n```{code-cell} ipython3\na = 6\n```\n\nIt is {eval}`a * 7`.\n"
PLACE = "# Place\n\n```{code-cell} ipython3\nimport os; print(os.path.basename(os.getcwd()))\n```\n"


class Book:
    """A book, built twice: as it was, and with the runner."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "book"
        self.folder.mkdir()
        self.write("index", "# A book\n\n```{toctree}\n:glob:\n\n*\n```\n")

    def write(self, name: str, text: str, *, front: bool = True) -> None:
        (self.folder / f"{name}.md").write_text((FRONT if front else "") + text)

    def build(self, *lines: str, runner: bool, **variables: str) -> tuple[dict[str, str], int, str]:
        """Build it, and return its pages as HTML, its status and what it said."""
        extensions = ["myst_nb", *(["sphinx_drift.run"] if runner else [])]
        conf = [f"extensions = {extensions}", "html_theme = 'basic'", "html_copy_source = False"]
        (self.folder / "conf.py").write_text("\n".join([*conf, *lines]) + "\n")
        out = self.folder.parent / f"out-{runner}"
        done = subprocess.run(
            [
                *(sys.executable, "-m", "sphinx", "-E", "-b", "html"),
                *("-d", out / "doctrees", self.folder, out / "html"),
            ],
            env={**os.environ, "CI": "", **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        pages = {path.name: path.read_text() for path in sorted((out / "html").glob("*.html"))}
        return pages, done.returncode, plain(done.stderr)


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book(tmp_path)


def words(html: str) -> str:
    return re.sub(r"ipykernel_\d+/\d+", "ipykernel", html)


@pytest.mark.slow
@pytest.mark.parametrize(
    "lines",
    [
        ("nb_execution_mode = 'force'",),
        ("nb_execution_mode = 'auto'", "nb_execution_allow_errors = True"),
        ("nb_execution_mode = 'off'",),
        ("nb_execution_mode = 'inline'",),
        ("nb_execution_mode = 'force'", "nb_execution_excludepatterns = ['raises*']"),
    ],
)
def test_book_is_the_same_with_the_runner(book: Book, lines: tuple[str, ...]) -> None:
    names = {"page": PAGE, "raises": RAISES}
    if "inline" in lines[0]:
        names = {"page": PAGE, "inline": INLINE}
    for name, text in names.items():
        book.write(name, text)
    stock, status, log = book.build(*lines, runner=False)
    ours, our_status, own_log = book.build(*lines, runner=True)
    assert our_status == status == 0
    assert ours.keys() == stock.keys()
    for name, html in stock.items():
        assert words(ours[name]) == words(html), name
    assert ("Executing notebook failed" in own_log) == ("Executing notebook failed" in log)


def test_page_that_fails_warns_where_stock_warns(book: Book) -> None:
    book.write("raises", RAISES)
    _, status, log = book.build("nb_execution_mode = 'force'", runner=True)
    assert status == 0
    assert "raises.md: WARNING: Executing notebook failed: IndexError: list index out" in log
    assert "[mystnb.exec]" in log
    assert "Notebook exception traceback saved in" in log
    book.build("nb_execution_mode = 'force'", runner=False)
    ours, theirs = (
        plain((book.folder.parent / f"out-{runner}/html/reports/raises.err.log").read_text())
        for runner in (True, False)
    )
    assert ours.startswith("An error occurred while executing the following cell:\n")
    assert theirs.rstrip().endswith(ours.rstrip())  # before it: how the stock client got there
    lines = ("nb_execution_mode = 'force'", "nb_execution_raise_on_error = True")
    _, status, log = book.build(*lines, runner=True)
    assert status != 0
    assert "IndexError: list index out of range" in log


def test_cell_that_takes_too_long_is_stopped(book: Book) -> None:
    book.write("slow", "# Slow\n\n```{code-cell} ipython3\nimport time; time.sleep(100)\n```\n")
    lines = ("nb_execution_mode = 'force'", "nb_execution_timeout = 1")
    _, status, log = book.build(*lines, runner=True)
    assert status == 0
    assert re.search(r"\b1 seconds\b", log)


def test_page_runs_where_it_is_to_run(book: Book) -> None:
    book.write("place", PLACE)
    pages, _, _ = book.build("nb_execution_mode = 'force'", runner=True)
    assert "book\n" in pages["place.html"]
    lines = ("nb_execution_mode = 'force'", "nb_execution_in_temp = True")
    pages, status, _ = book.build(*lines, runner=True)
    assert status == 0
    assert "book\n" not in pages["place.html"].partition("cell_output")[2].partition("</pre>")[0]


def test_page_that_is_not_to_run_does_not(book: Book) -> None:
    ran = book.folder.parent / "ran"
    code = f"```{{code-cell}} ipython3\nopen({str(ran)!r}, 'w').write('x')\n```\n"
    book.write("excluded-page", "# E\n\n" + code)
    off = FRONT.replace("---\n\n", "mystnb:\n  execution_mode: 'off'\n---\n\n")
    book.write("off", off + "# O\n\n" + code, front=False)
    book.write("comment", "# C\n\n<!--\n\n" + code + "\n-->\n\n```{code-cell}\n1\n```\n")
    lines = ("nb_execution_mode = 'force'", "nb_execution_excludepatterns = ['excluded*']")
    _, status, log = book.build(*lines, runner=True)
    assert status == 0, log
    assert not ran.exists()


def test_nothing_comes_from_a_cache(book: Book) -> None:
    book.write(
        "page", "# P\n\n```{code-cell} ipython3\nimport os; print('pid', os.getpid())\n```\n"
    )
    lines = ("nb_execution_mode = 'cache'",)
    once, status, _ = book.build(*lines, runner=True)
    again, _, _ = book.build(*lines, runner=True)
    assert status == 0
    pid = re.compile(r"pid \d+")
    assert pid.findall(once["page.html"]) != pid.findall(again["page.html"])


def test_code_that_a_hook_changes_runs_as_changed(book: Book) -> None:
    book.write("page", "# P\n\n```{code-cell} ipython3\nprint('o' + 'ld')\n```\n")
    hook = (
        "def change(app, name, source):\n    source[0] = source[0].replace(\"'ld'\", \"'ther'\")\n"
        "def setup(app):\n    app.connect('source-read', change)\n"
    )
    pages, status, _ = book.build("nb_execution_mode = 'force'", hook, runner=True)
    assert status == 0
    assert "other\n" in pages["page.html"]
    assert "old\n" not in pages["page.html"]


def test_runner_is_named_by_the_environment(book: Book) -> None:
    book.write("page", PAGE)
    mode = "nb_execution_mode = 'force'"
    _, status, log = book.build(mode, runner=True, DRIFT_RUNNER="off", CI="1")
    assert status == 2
    assert "refused under CI" in log
    _, status, log = book.build(mode, runner=True, DRIFT_RUNNER="fast")
    assert status == 2
    assert re.search(r"DRIFT_RUNNER\b.*fork, jupyter, off.*'fast'", log)
    pages, status, log = book.build(mode, runner=True, DRIFT_RUNNER="off")
    assert status == 0
    assert "Nothing was executed" in log
    assert "printed\n" not in pages["page.html"]
    assert "Nothing was executed" in pages["page.html"]


def test_it_says_what_must_come_before_it(book: Book) -> None:
    book.write("page", PAGE)
    _, status, log = book.build("extensions = ['sphinx_drift.run']", runner=True)
    assert status == 2
    assert "extensions = ['myst_nb', 'sphinx_drift.run']" in log  # the remedy


def test_page_whose_interpreter_is_gone_is_reported_as_not_executed(
    book: Book, tmp_path: Path
) -> None:
    """By either extension, and not that its expectations are in a wrong place."""
    argv = ["/nothing/such/python", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "Gone", "language": "python"}
    folder = tmp_path / "jupyter" / "kernels" / "gone"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps(spec))
    jupyter = {"JUPYTER_PATH": str(tmp_path / "jupyter")}
    page = "# Page\n\n```{code-cell}\nprint(1)\n```\n\n```{expected-output}\n1\n```\n"
    book.write("page", FRONT.replace("python3", "gone") + page, front=False)
    mode = "nb_execution_mode = 'force'"
    drift = "extensions = ['myst_nb', 'sphinx_drift']"
    _, status, log = book.build(mode, drift, runner=True, **jupyter)
    assert status == 1
    assert "not-executed in cell 1" in log
    assert "No such file or directory: '/nothing/such/python'" in log
    assert "nested" not in log
    known = "exclude_patterns = []\nsuppress_warnings = ['myst.directive_unknown']"
    _, status, log = book.build(mode, known, runner=True, **jupyter)
    assert status == 0
    assert re.search(r"no kernel: FileNotFoundError", log)


def test_the_command_builds_as_sphinx_does(tmp_path: Path) -> None:
    (tmp_path / "conf.py").write_text('extensions = ["myst_nb", "sphinx_drift"]\n')
    (tmp_path / "index.md").write_text(
        "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n\n# A book\n\n"
        '```{code-cell} ipython3\nprint("good")\n```\n\n```{expected-output}\ngood\n```\n'
    )
    command = [sys.executable, "-m", "sphinx_drift.run", "-b", "text", ".", "out"]
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "1 output verified on 1 page" in done.stdout
    refused = {**environment, "DRIFT_RUNNER": "spoon"}
    done = subprocess.run(
        command, cwd=tmp_path, env=refused, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert re.search(r"DRIFT_RUNNER\b.*fork, jupyter, off.*'spoon'", done.stderr)
