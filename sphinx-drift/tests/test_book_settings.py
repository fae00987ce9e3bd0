"""What a book says of its pages counts for the command, too."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from small_book import FRONT, cell

import sphinx_drift.__main__ as command
from sphinx_drift.book import book_of
from sphinx_drift.compare.compare import Policy
from sphinx_drift.files import settings_for

if TYPE_CHECKING:
    from pathlib import Path

CONF = """
import os, sys
print("not JSON")
sys.path.insert(0, "nowhere")
os.environ["LEAKED"] = "yes"
extensions = ["myst_nb", *(["x"] if tags.has("x") else [])]
nb_execution_timeout = 7
nb_execution_allow_errors = True
nb_execution_excludepatterns = ["left*"]
nb_output_stderr = "remove"
drift_policy = "portable"
drift_filters = [(r"\\d+ ms", "time", "differs")]
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


def test_what_a_book_says_counts_and_nothing_else_of_it(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DRIFT_POLICY", raising=False)
    settings = settings_for(book / "chapters" / "page.md")
    assert (settings.timeout, settings.allow_errors) == (7, True)
    assert settings.policy is Policy.PORTABLE
    assert [each.name for each in settings.filters] == ["time"]
    assert settings_for(book / "page.md", timeout=5, policy=None).timeout == 5
    assert "nowhere" not in sys.path
    assert "LEAKED" not in command.os.environ


def test_a_page_that_a_book_leaves_out_runs_if_it_is_named(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warns = "import sys\nprint('w', file=sys.stderr)\n"
    for name in ("left", "page"):
        code = f"_ = open('ran', 'a').write('{name} ')\n{warns}print(1)"
        (book / f"{name}.md").write_text(FRONT + cell(code, "1"), "utf-8")
    assert command.main([str(book)]) == 0
    assert "1 page left out by nb_execution_excludepatterns" in capsys.readouterr().out
    assert (book / "ran").read_text() == "page "
    assert command.main([str(book / "left.md")]) == 0
    assert (book / "ran").read_text() == "page left "


@pytest.mark.parametrize(
    ("mode", "own", "setting"),
    [
        ("execute:\n  execute_notebooks: off\n", "mystnb: {}", "nb_execution_mode"),
        ("", "mystnb: {execution_mode: 'off'}", "mystnb: execution_mode"),
        (
            "sphinx: {config: {nb_metadata_key: book}}",
            "book: {execution_mode: 'off'}",
            "book: execution_mode",
        ),
    ],
)
def test_what_is_executed_nowhere_is_not_verified(
    mode: str, own: str, setting: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "_config.yml").write_text(mode, "utf-8")
    front = FRONT.replace("---\n\n", f"{own}\n---\n\n")
    (tmp_path / "page.md").write_text(front + cell("print(1)", "1"), "utf-8")
    assert command.main([str(tmp_path)]) == 2
    assert f"nothing was checked, 1 page left out by {setting}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "text"),
    [("conf.py", "project = 'flask'\nopen('ran', 'w')"), ("_config.yml", "theme: minima\n")],
)
def test_what_is_no_book_of_cells_says_nothing(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    assert not book_of(tmp_path).settings
    assert not (tmp_path / "ran").exists()


def test_a_page_goes_on_after_an_error_by_the_key_of_its_book(tmp_path: Path) -> None:
    (tmp_path / "_config.yml").write_text("sphinx: {config: {nb_metadata_key: book}}", "utf-8")
    front = FRONT.replace("---\n\n", "book: {execution_allow_errors: true}\n---\n\n")
    (tmp_path / "page.md").write_text(f"{front}{cell('1 / 0')}\n\n{cell('print(1)', '1')}", "utf-8")
    assert command.main([str(tmp_path)]) == 0


def test_a_book_above_the_project_is_not_asked(book: Path) -> None:
    (book / "chapters" / "pyproject.toml").write_text("")
    assert not book_of(book / "chapters").settings


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("conf.py", "import gone  # myst_nb", "No module named 'gone'"),
        ("conf.py", "extensions = ['myst_nb']\ndrift_timeout = 'x'", "drift_timeout must be"),
        ("_config.yml", "a: [", "while parsing"),
    ],
)
def test_a_book_that_cannot_be_read_is_named(
    name: str, text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    page = tmp_path / "page.md"
    page.write_text(FRONT + cell("print(1)", "1"), "utf-8")
    with pytest.raises(SystemExit) as ended:
        command.main([str(page)])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert str(tmp_path / name) in told
    assert message in told
