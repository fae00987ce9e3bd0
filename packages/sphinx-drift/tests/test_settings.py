"""What a project says of its reference environment, found from any of its folders."""

import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from processes import python
from small_book import FRONT, cell

from sphinx_drift.book import Book
from sphinx_drift.output.filters import filters_in
from sphinx_drift.patterns import Pattern
from sphinx_drift.run.injected import report_environment
from sphinx_drift.run.preload import libraries
from sphinx_drift.settings import Settings, entries, find_project
from sphinx_drift.shapes import Place

ROOT = Path(__file__).resolve().parents[1]
TABLE = '[tool.sphinx-drift.reference]\ntorch = "7.1"\nsystem = "Linux"\n'
REFERENCE = {"torch": "7.1", "system": "Linux"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(TABLE, "utf-8")
    return tmp_path


def test_nearest_file_above_decides(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "docs")
    assert find_project(Path("deep")).reference == REFERENCE
    Path("pyproject.toml").write_text('[tool.other]\nname = "other"\n')
    assert find_project(Path("deep")).reference == {}
    assert find_project(project).reference == REFERENCE


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (b"[tool", ""),
        (b"[tool.sphinx-drift]\npreload = 'numpy'", ".* must be a list of names; got 'numpy'"),
        (b"[tool.sphinx-drift]\ndevice = 'cpu'", ".* may hold .*; got 'device'"),
        (b"[tool.sphinx-drift]\nreferences = 1", ".* got 'references'; did you mean 'reference'"),
        (b"[tool.sphinx_drift]\nrequire = 'all'", ".* did you mean 'sphinx-drift'"),
        (b"[tool]\nsphinx-drift = 5", ".* may hold .*; got 5"),
    ],
)
def test_what_nothing_could_follow_is_named(table: bytes, message: str, project: Path) -> None:
    (project / "pyproject.toml").write_bytes(table)
    with pytest.raises(ValueError, match=rf"pyproject\.toml: {message}"):
        find_project(project / "docs")


def test_what_pages_import_is_loaded_if_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page may be a link to nothing."""
    (tmp_path / "gone.md").symlink_to("nowhere.md")
    (tmp_path / "page.md").write_text("import numpy")
    assert libraries(None, [tmp_path]) == ("numpy",)
    monkeypatch.setattr(sys, "path", [])
    assert libraries(None, [tmp_path]) == ()


def test_reference_may_name_what_pages_report(project: Path) -> None:
    reported = "".join(f'{name} = "1"\n' for name in report_environment())
    (project / "pyproject.toml").write_text(f"[tool.sphinx-drift.reference]\n{reported}")
    assert find_project(project).reference.keys() == report_environment().keys()


BAD_SETTINGS: dict[str, tuple[object, str]] = {
    "policy": ("exactly", "must be one of auto, exact, portable; got 'exactly'"),
    "device": (3, "must be a text; got 3"),
    "devices": (["mine"], "must be a text; got ['mine']"),
    "filters": ([("(", "a", "b")], "must list patterns, each with a name and a reason"),
    "output_limit": (-1, "must be a whole number above 0; got -1"),
    "packages": ({"a": 3.11}, "must be names with a folder each; got {'a': 3.11}"),
    "preload": ("numpy", "must be a list of names; got 'numpy'"),
    "require": ("most", "must be a list of patterns, 'all' or 'expected'; got 'most'"),
    "reference": ({"torhc": "2"}, "got 'torhc'; did you mean 'torch'?"),
    "timeout": ("60", "must be a whole number above 0; got '60'"),
    "twice": ("no", "must be True or False; got 'no'"),
}


@pytest.mark.parametrize("name", [entry.name for entry in entries(Place.CONF)])
def test_a_setting_that_nothing_could_follow_is_refused(name: str, tmp_path: Path) -> None:
    value, message = BAD_SETTINGS[name]
    with pytest.raises(ValueError, match=f"drift_{name} .*{re.escape(message)}"):
        _ = Book(tmp_path, {f"drift_{name}": value}).resolved


# A new setting is one entry ----------------------------------------------------------------

ENTRY = """    pace: int = setting(
        (*Place,), NUMBER, "How many steps a page takes.", default=1, variable="DRIFT_PACE"
    )
"""
LIST = """
import sys
sys.path.insert(0, {extensions!r})
extensions = ["myst_nb", "sphinx_drift", "settings_list"]
drift_filters = [("one", "one", "why")]
"""
ASK = """
from pathlib import Path
from sphinx_drift.book import book_of
from sphinx_drift.settings import read_table
from sphinx_drift.shapes import Place
settings = book_of(Path("book")).resolved
own = read_table({"pace": 6}, Place.PAGE, Path())
print(settings.pace, settings.of_page({}, **own).pace)
"""


def run(folder: Path, *words: str, **variables: str) -> str:
    """Run a Python that has the package with one entry more."""
    done = python(*words, folder=folder, PYTHONPATH=str(folder / "site"), **variables)
    return done.stdout + done.stderr


@pytest.mark.slow
def test_a_new_setting_is_one_entry(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "sphinx_drift", tmp_path / "site" / "sphinx_drift")
    table = tmp_path / "site" / "sphinx_drift" / "settings.py"
    before, mark, after = table.read_text("utf-8").partition("    policy: Policy | None = setting(")
    table.write_text(before + ENTRY + mark + after, "utf-8")
    book = tmp_path / "book"
    book.mkdir()
    conf, project = book / "conf.py", tmp_path / "pyproject.toml"
    conf.write_text(LIST.format(extensions=str(ROOT / "docs" / "_ext")), "utf-8")
    shows = "```{settings-list}\n```\n\n" + cell("print(1)", "1")
    (book / "index.md").write_text(FRONT.replace("---\n\n", "drift: {pace: 6}\n---\n\n") + shows)
    project.write_text("[tool.sphinx-drift]\npace = 2\n")
    assert run(tmp_path, "-c", ASK) == "2 6\n"
    conf.write_text(conf.read_text() + "drift_pace = 3\n")
    assert run(tmp_path, "-c", ASK) == "3 6\n"
    assert run(tmp_path, "-c", ASK, DRIFT_PACE="4") == "4 6\n"
    command = ("-m", "sphinx_drift", "book/index.md")
    assert "1 output verified" in run(tmp_path, *command, "--pace=5")
    assert "--pace: it must be a whole" in run(tmp_path, *command, "--pace=x")
    build = ("-m", "sphinx", "-b", "text", "book", "out")
    assert "1 output verified" in run(tmp_path, *build)
    shown = (tmp_path / "out" / "index.txt").read_text("utf-8")
    assert "drift_pace" in shown
    assert "How many steps a page takes." in shown
    assert "drift_pace must be a whole number" in run(tmp_path, *build, "-D", "drift_pace=0")
    project.write_text("[tool.sphinx-drift]\npace = 0\n")
    assert "pace in [tool.sphinx-drift] must be a whole" in run(tmp_path, *build)


# Time ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("timeout", "of_myst_nb", "seconds"),
    [(None, 30, Settings.timeout), (None, 31, 31), (None, -1, None), (7, 31, 7)],
)
def test_time_that_the_book_gives_its_cells_stands(
    timeout: int | None, of_myst_nb: int, seconds: int | None, tmp_path: Path
) -> None:
    book = {"drift_timeout": timeout, "nb_execution_timeout": of_myst_nb}
    assert Book(tmp_path, book).resolved.timeout == seconds


@pytest.mark.parametrize(
    ("metadata", "changed"),
    [
        ({"mystnb": {"execution_timeout": 1}}, {"timeout": 1}),
        ({"nbsphinx": {"timeout": 1}}, {"timeout": 1}),
        ({"mystnb": {"execution_allow_errors": True}}, {"allow_errors": True}),
        # Another tool's name, or what can't be read, changes nothing.
        ({"mystnb": {"timeout": 1}}, {}),
        *(({"mystnb": own, "nbsphinx": own}, {}) for own in (None, 5)),
        *(({"nbsphinx": {"timeout": seconds}}, {}) for seconds in (None, True, "60")),
        ({"nbsphinx": {"allow_errors": 1}}, {}),
    ],
)
def test_a_page_may_set_how_it_is_run(metadata: dict[str, Any], changed: dict[str, Any]) -> None:
    settings = Settings(timeout=7)
    assert settings.of_page(metadata) == replace(settings, **changed)


# Patterns ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "pages"),
    [
        ("guide/**", "guide/a.md guide/x/b.md"),
        ("guide", "guide/a.md guide/x/b.md"),
        ("guide/*", "guide/a.md guide/x/b.md"),
        ("a.md", "a.md"),
        ("**/a.md", "guide/a.md"),
        ("[!g]*.md", "a.md"),
    ],
)
def test_a_pattern_of_pages_is_read_as_sphinx_reads_one(
    pattern: str, pages: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = ("a.md", "guide/a.md", "guide/x/b.md")
    matching = Pattern(pattern, tmp_path)
    assert [name for name in named if matching.matches(tmp_path / name)] == pages.split()
    (tmp_path / "guide").mkdir()
    monkeypatch.chdir(tmp_path / "guide")  # wherever the command is typed
    assert matching.matches(Path("a.md")) is ("guide/a.md" in pages.split())
    assert not matching.matches(tmp_path.parent / "a.md")


def test_a_long_filter_that_changes_has_pages_read_again() -> None:
    long = "x{1,2}" * 50
    told = [
        replace(Settings(), filters=filters_in([(f"{long}{end}", "a", "b")], "")).described()
        for end in "yz"
    ]
    assert told[0] != told[1]
