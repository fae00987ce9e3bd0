"""What a project says of its reference environment, found from any of its folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from sphinx_drift.configuration import find_project
from sphinx_drift.run.injected import report_environment

TABLE = '[tool.sphinx-drift.reference]\ntorch = "7.1"\nsystem = "Linux"\n'
REFERENCE = {"torch": "7.1", "system": "Linux"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(TABLE, "utf-8")
    return tmp_path


@pytest.mark.parametrize("folder", [".", "docs", "docs/deep"])
def test_file_above_counts(folder: str, project: Path) -> None:
    assert find_project(project / folder).reference == REFERENCE


def test_relative_folder(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "docs")
    assert find_project(Path()).reference == REFERENCE


def test_nearest_file_decides(project: Path) -> None:
    (project / "docs" / "pyproject.toml").write_text('[project]\nname = "other"\n')
    assert find_project(project / "docs" / "deep").reference == {}
    assert find_project(project).reference == REFERENCE


@pytest.mark.parametrize("text", ["", "[tool]\n", "[tool.sphinx-drift]\n", '[tool.x]\ny = "z"\n'])
def test_nothing_is_configured(text: str, project: Path) -> None:
    (project / "pyproject.toml").write_text(text)
    assert find_project(project).reference == {}


@pytest.mark.parametrize(
    "text",
    [
        "[tool.sphinx-drift]\nreference = 3\n",
        "[tool.sphinx-drift.reference]\ntorch = 7.1\n",
        "[tool.sphinx-drift.reference]\ntorch = ['7.1']\n",
        "[tool]\nsphinx-drift = 'exact'\n",
        "tool = 3\n",
    ],
)
def test_wrong_table_is_named(text: str, project: Path) -> None:
    (project / "pyproject.toml").write_text(text)
    with pytest.raises(ValueError, match=r"pyproject\.toml: .* must hold names and texts"):
        find_project(project / "docs")


def test_table_that_nothing_would_read_is_named(project: Path) -> None:
    """Without it another policy would be chosen."""
    (project / "pyproject.toml").write_text('[tool.sphinx-drift.references]\ntorch = "7.1"\n')
    with pytest.raises(ValueError, match=r"pyproject\.toml: .* require; got references$"):
        find_project(project / "docs")


@pytest.mark.parametrize("data", [b"[tool", b"a = '\xe9'", b"a = 1\na = 2\n"])
def test_broken_file_is_named(data: bytes, project: Path) -> None:
    (project / "pyproject.toml").write_bytes(data)
    with pytest.raises(ValueError, match=r"pyproject\.toml: "):
        find_project(project)


def test_reference_may_name_what_pages_report(project: Path) -> None:
    reported = "".join(f'{name} = "1"\n' for name in report_environment())
    (project / "pyproject.toml").write_text(f"[tool.sphinx-drift.reference]\n{reported}")
    assert find_project(project).reference.keys() == report_environment().keys()
    (project / "pyproject.toml").write_text('[tool.sphinx-drift.reference]\nmachina = "1"\n')
    with pytest.raises(ValueError, match="got 'machina'; did you mean 'machine'"):
        find_project(project)
