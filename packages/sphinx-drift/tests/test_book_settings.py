"""What a book says of its pages counts for the command, too."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from notebooks import code, notebook
from small_book import FRONT, cell, front, write

import sphinx_drift.__main__ as command
from sphinx_drift.book import book_of
from sphinx_drift.compare.compare import Policy
from sphinx_drift.files import Checked, Opened, open_file
from sphinx_drift.source.markdown import CONVERTED

CONF = """
import atexit, os, sys
import colorsys as drift_colors
print("not JSON")
atexit.register(print, "the end")
sys.path.insert(0, "nowhere")
os.environ["LEAKED"] = "yes"
extensions = ["myst_nb", *(["x"] if tags.has("x") else [])]
nb_execution_timeout = 7
nb_execution_allow_errors = True
nb_execution_excludepatterns = ["left*"]
nb_output_stderr = "remove"
drift_policy = "portable"
drift_filters = [(r"\\d+ ms", "time", "differs")]
nb_links = {("a", "helper"): 1}
"""
JUPYTER_BOOK = """
execute:
  timeout: 7
  allow_errors: true
  exclude_patterns: ["left*"]
  stderr_output: remove
sphinx:
  extra_extensions: [sphinx_drift]
  config:
    drift_policy: portable
    drift_filters: [['\\d+ ms', time, differs]]
"""
FILES = {"conf.py": CONF, "_config.yml": JUPYTER_BOOK}


@pytest.fixture(params=FILES)
def book(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    (tmp_path / "chapters").mkdir()
    (tmp_path / request.param).write_text(FILES[request.param], "utf-8")
    return tmp_path


def test_a_process_that_conf_py_leaves_running_is_not_waited_for(tmp_path: Path) -> None:
    wait = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.1)"
    start = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {wait!r}])\n"
    (tmp_path / "conf.py").write_text(f"{start}extensions = ['myst_nb']\ndrift_twice = True\n")
    try:
        assert book_of(tmp_path).resolved.twice
    finally:
        (tmp_path / "go").touch()


def test_a_misspelt_setting_is_refused(book: Path) -> None:
    (file,) = (path for path in book.iterdir() if path.is_file())
    file.write_text(file.read_text("utf-8").replace("drift_policy", "drift_polici"), "utf-8")
    with pytest.raises(ValueError, match="got 'drift_polici'; did you mean 'drift_policy'") as told:
        book_of(book)
    assert not any(name in str(told.value) for name in ("ValueError", "drift_live"))


@pytest.mark.parametrize(
    ("conf", "shared", "is_book"),
    [
        ("from shared.conf import *", "extensions = ['myst_nb']", True),
        (
            "from shared.conf import (\n    project,\n    extensions,\n)",
            "from .more import *",
            True,
        ),
        ("import shared.conf\nextensions = shared.conf.extensions", "from .more import *", True),
        *(
            (f"from shared.conf import BASE\nextensions = BASE\n{named} = ''", "BASE = []", is_book)
            for named, is_book in (("nb_metadata_key", True), ("nb_pages", False))
        ),
        ("from shared.conf import project", "from sys import exit\nexit('myst_nb')", False),
        ("from shared.conf import *", "import sys\nextensions = sys.exit()", False),
        (f"from {300 * 'a'} import *", "", False),
    ],
)
def test_a_book_may_take_its_extensions_from_elsewhere(
    conf: str, shared: str, tmp_path: Path, *, is_book: bool
) -> None:
    files = {
        "tools/shared/conf.py": f"project = 'x'\n{shared}\n",
        "tools/shared/more.py": "extensions = ['sphinx_drift']\n",
        "docs/conf.py": f"import os, sys\nsys.path.append(os.path.abspath('../tools'))\n{conf}\n",
    }
    write(tmp_path, files)
    assert bool(book_of(tmp_path / "docs").settings) is is_book


@pytest.mark.parametrize("conf", ["import os\n\nextensions = []", "linkcheck = 'drift_pages'"])
def test_a_conf_py_of_others_is_not_run(conf: str, tmp_path: Path) -> None:
    (tmp_path / "conf.py").write_text(f"import sys\n{conf}\nopen({str(tmp_path / 'ran')!r}, 'w')\n")
    assert book_of(tmp_path).settings == {}
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", [".git", "pyproject.toml"])
def test_no_book_is_looked_for_above_a_project(name: str, book: Path) -> None:
    (book / "chapters" / name).touch()
    assert book_of(book / "chapters").settings == {}


def test_what_a_book_says_counts_and_nothing_else_of_it(book: Path) -> None:
    found = book_of(book / "chapters")
    settings = found.resolved
    assert (settings.timeout, settings.allow_errors) == (7, True)
    assert settings.policy is Policy.PORTABLE
    assert [each.name for each in settings.filters] == ["time"]
    assert found.settings["nb_execution_excludepatterns"] == ["left*"]
    assert found.settings["nb_output_stderr"] == "remove"
    assert "nowhere" not in sys.path
    assert "LEAKED" not in command.os.environ


LEAVING = """
extensions = ["myst_nb"]
exclude_patterns = ["**/old", "**/other.md", "p*.md", "static"]
"""
INCLUDING = "extensions = ['myst_nb']; include_patterns = ['intro.md', 'part/*']"
PAGES = ("intro", "other", "p", "part/page", "part/old/page", "more/a", "static/draft")
FORCED = "mystnb: {execution_mode: force}"
QUIET = "execute: {stderr_output: remove"


@pytest.mark.parametrize(
    ("name", "text", "own", "left", "setting"),
    [
        ("conf.py", LEAVING, "", "p part/old/page static/draft", "exclude_patterns"),
        ("_config.yml", "exclude_patterns: ['**/old']", "", "part/old/page", "exclude_patterns"),
        (
            "conf.py",
            "nb_output_stderr = 'show'\nhtml_extra_path = ['more']",
            "",
            "more/a",
            "html_extra_path",
        ),
        (
            "conf.py",
            INCLUDING,
            "",
            "other p part/old/page more/a static/draft",
            "include_patterns",
        ),
        ("_config.yml", "execute: {execute_notebooks: off}", "", "*", "nb_execution_mode"),
        ("_config.yml", "execute: {execute_notebooks: off}", FORCED, "", ""),
        (
            *("conf.py", "nb_execution_excludepatterns = {'p.md'}"),
            *("", "p", "nb_execution_excludepatterns"),
        ),
        (
            *("_config.yml", f"{QUIET}, exclude_patterns: [p*]}}", ""),
            *("p part/page part/old/page", "nb_execution_excludepatterns"),
        ),
        (
            *("_config.yml", f"{QUIET}}}", "mystnb: {execution_mode: 'off'}"),
            *("*", "mystnb: execution_mode"),
        ),
        (
            *("_config.yml", f"{QUIET}}}\nsphinx: {{config: {{nb_metadata_key: book}}}}"),
            *("book: {execution_mode: 'off'}", "*", "book: execution_mode"),
        ),
    ],
)
def test_what_a_book_leaves_out_runs_if_it_is_named(  # noqa: PLR0913, PLR0917 - columns
    name: str, text: str, own: str, left: str, setting: str, tmp_path: Path
) -> None:
    pages = dict.fromkeys(PAGES, front(own) + cell("print(1)", "1"))
    write(tmp_path, {name: text, **pages})
    found = {}
    for each in PAGES:
        path = tmp_path / f"{each}.md"
        if isinstance(file := open_file(path, named=False), Checked):
            found[each] = file.result.left_out
        asked = open_file(path, named=True)
        assert isinstance(asked, Opened)
        assert asked.task.page.cells[0].has_stderr is (QUIET not in text)
    assert found == dict.fromkeys(PAGES if left == "*" else left.split(), setting)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("conf.py", "extensions = ['myst_nb']; nb_custom_formats = {'.md': 'jupytext.reads'}"),
        ("_config.yml", "sphinx: {config: {nb_custom_formats: {.md: [reads, {fmt: 'md:myst'}]}}}"),
    ],
)
def test_a_page_that_another_program_reads_is_refused(name: str, text: str, tmp_path: Path) -> None:
    write(tmp_path, {name: text, "page": FRONT + cell("print(1)", "1"), "prose": "A sentence.\n"})
    opened = [
        open_file(tmp_path / page, named=named)
        for page, named in (("page.md", False), ("page.md", True), ("prose.md", True))
    ]
    results = [file.result for file in opened if isinstance(file, Checked)]
    assert [result.left_out for result in results] == ["nb_custom_formats", "", ""]
    told = ["".join(outcome.message for outcome in result.outcomes) for result in results]
    assert [CONVERTED in message for message in told] == [False, True, False]


@pytest.mark.parametrize("of_others", ["theme: minima", "execute: {timeout: 5}"])
def test_what_jekyll_or_jupyter_book_1_has_left_hides_no_project(
    of_others: str, tmp_path: Path
) -> None:
    write(tmp_path, {"_config.yml": of_others, "myst.yml": "project: {}"})
    assert book_of(tmp_path).resolved.is_mystmd


def test_what_jupyter_book_copies_is_no_page(tmp_path: Path) -> None:
    write(tmp_path, {"_config.yml": "title: A book\n", "_toc.yml": ""})
    of_book = book_of(tmp_path).excludes
    assert of_book(tmp_path / "_static" / "a.ipynb") == "html_static_path"
    assert not of_book(tmp_path / "a.ipynb")


def test_pages_are_read_and_updated_by_the_key_of_their_book(tmp_path: Path) -> None:
    own = "book: {execution_allow_errors: true, output_stderr: remove, remove_code_outputs: true}"
    shown = cell("---\nmystnb: {remove_code_outputs: false}\n---\nprint(1)")
    hidden = cell("import sys\n\nprint('w', file=sys.stderr)\nprint(2)")
    config = "sphinx: {config: {nb_metadata_key: book}}"
    files = {"_config.yml": config, "page.md": f"{front(own)}{shown}\n\n{hidden}\n"}
    page = write(tmp_path, files) / "page.md"
    assert command.main([str(page), "--update", "--force"]) == 0
    written = "\n```{expected-output}\n1\n```"
    assert page.read_text("utf-8") == f"{front(own)}{shown}{written}\n\n{hidden}\n"
    page.write_text(f"{front(own)}{shown}{written}\n\n{cell('1 / 0')}\n", "utf-8")
    assert command.main([str(page)]) == 0


def test_a_folder_that_is_linked_into_a_book_is_the_books(book: Path) -> None:
    (book / "shared").mkdir()
    (book / "chapters").rename(book / "shared" / "chapters")
    docs = book / "docs"
    docs.mkdir()
    (conf,) = (book / name for name in FILES if (book / name).exists())
    conf.rename(docs / conf.name)
    (docs / "linked").symlink_to(book / "shared")
    page = docs / "linked" / "chapters" / "page.md"
    assert book_of(page.parent).resolved.timeout == 7
    assert book_of(page.parent).excludes(page) == ""


def test_a_conf_that_does_not_end_is_waited_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = []
    really = subprocess.run

    def counted(command: list[str], **options: Any) -> Any:
        runs.append(command)
        return really(command, **options)

    monkeypatch.setattr(subprocess, "run", counted)
    monkeypatch.setattr("sphinx_drift.conf_py._PATIENCE", 1)
    pages = dict.fromkeys("ab", FRONT + cell("print(1)", "1"))
    write(tmp_path, {"conf.py": "import time\ntime.sleep(20)  # myst_nb", **pages})
    assert command.main([str(tmp_path)]) == 2
    told = capsys.readouterr().out
    assert told.startswith(f"{tmp_path / 'conf.py'}:1: unreadable:")
    assert told.count("it must be read within 1 s") == 1  # and not for each page
    assert len(runs) == 1
    write(tmp_path, {"other/conf.py": "from time import *\nsleep(20)"})
    with pytest.raises(ValueError, match=f"{tmp_path / 'conf.py'}: it must"):  # the one above
        book_of(tmp_path / "other")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("conf.py", "import gone\nextensions = ['sphinx_drift']", "No module named 'gone'"),
        ("conf.py", "extensions = ['myst_nb']\ndrift_timeout = 'x'", "drift_timeout must be"),
        ("conf.py", "from os import *\ndrift_timeout = 'x'", "drift_timeout must be"),
        (
            "conf.py",
            (
                "import sys, types\nsettings = {'extensions': ['myst' '_nb'], 'drift_tiemout': 9}\n"
                "sys.modules['m'] = types.SimpleNamespace(**settings)\nfrom m import *"
            ),
            "'drift_tiemout'; did you mean 'drift_timeout'",
        ),
        (
            "conf.py",
            "from pathlib import Path\ndrift_policy = Path('exact')",
            "drift_policy must be one of auto, exact, portable; got PosixPath('exact')",
        ),
        ("conf.py", "nb_execution_mode = 'of'", "nb_execution_mode is invalid: 'exec"),
        ("conf.py", "nb_output_stderr = False", "nb_output_stderr is invalid: 'out"),
        *(
            ("conf.py", f"extensions = ['myst_nb']\nnb_execution_timeout = {value}", told)
            for value in ("'60'", "0.5", "True")
            for told in [f"nb_execution_timeout must be a whole number of seconds; got {value}"]
        ),
        (
            "_config.yml",
            "execute:\n  exclude_patterns: a.md",
            "nb_execution_excludepatterns must be a list of patterns; got 'a.md'",
        ),
        ("_config.yml", "execute:\n  exclude_patterns: 5", "patterns; got 5"),
        ("_config.yml", "exclude_patterns: draft*", "exclude_patterns must be a list of patterns"),
        ("_config.yml", "a: [", "while parsing"),
    ],
)
def test_a_book_that_cannot_be_read_is_named(
    name: str, text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, {name: text, "page.md": FRONT + cell("print(1)", "1")})
    assert command.main([str(tmp_path / "page.md")]) == 2
    told = " ".join(capsys.readouterr().out.split())
    assert str(tmp_path / name) in told
    assert message in told


@pytest.mark.parametrize(
    ("name", "conf", "is_shown"),
    [
        ("conf.py", "extensions = ['myst_nb']", True),
        ("conf.py", "extensions = ['myst_nb']\nnb_output_stderr = 'remove'", False),
        ("conf.py", "extensions = []", False),
        ("_config.yml", "title: t\nsphinx: {extra_extensions: [sphinx_drift]}", True),
        ("_config.yml", "title: t\ntheme: minima", False),
    ],
)
def test_stderr_of_a_notebook_counts_where_its_book_shows_it(
    name: str, conf: str, tmp_path: Path, *, is_shown: bool
) -> None:
    write(tmp_path, {name: f"{conf}\n", "a.ipynb": notebook(code("1"))})
    file = open_file(tmp_path / "a.ipynb", named=True)
    assert isinstance(file, Opened)
    assert file.task.page.cells[0].has_stderr is is_shown
