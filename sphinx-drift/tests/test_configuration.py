"""What a project says of its reference environment, found from any of its folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from sphinx_drift.configuration import find_reference

TABLE = '[tool.sphinx-drift.reference]\ntorch = "2.13.0"\nsystem = "Linux"\n'
REFERENCE = {"torch": "2.13.0", "system": "Linux"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(TABLE, "utf-8")
    return tmp_path


@pytest.mark.parametrize("folder", [".", "docs", "docs/deep"])
def test_found_above(folder: str, project: Path) -> None:
    assert find_reference(project / folder) == REFERENCE


def test_found_from_a_relative_folder(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "docs")
    assert find_reference(Path()) == REFERENCE


def test_nearest_file_decides(project: Path) -> None:
    (project / "docs" / "pyproject.toml").write_text('[project]\nname = "other"\n')
    assert find_reference(project / "docs" / "deep") == {}
    assert find_reference(project) == REFERENCE


@pytest.mark.parametrize("text", ["", "[tool]\n", "[tool.sphinx-drift]\n", '[tool.x]\ny = "z"\n'])
def test_nothing_said(text: str, project: Path) -> None:
    (project / "pyproject.toml").write_text(text)
    assert find_reference(project) == {}


@pytest.mark.parametrize(
    "text",
    [
        "[tool.sphinx-drift]\nreference = 3\n",
        "[tool.sphinx-drift.reference]\ntorch = 2.13\n",
        "[tool.sphinx-drift.reference]\ntorch = ['2.13']\n",
        "[tool]\nsphinx-drift = 'exact'\n",
        "tool = 3\n",
    ],
)
def test_wrong_table_is_named(text: str, project: Path) -> None:
    (project / "pyproject.toml").write_text(text)
    with pytest.raises(ValueError, match=r"pyproject\.toml: .* must hold names and texts"):
        find_reference(project / "docs")


def test_table_that_nothing_would_read_is_named(project: Path) -> None:
    """Without it another policy would be chosen."""
    (project / "pyproject.toml").write_text('[tool.sphinx-drift.references]\ntorch = "2.13.0"\n')
    with pytest.raises(ValueError, match=r"pyproject\.toml: .* reference; got references$"):
        find_reference(project / "docs")


@pytest.mark.parametrize("data", [b"[tool", b"a = '\xe9'", b"a = 1\na = 2\n"])
def test_broken_file_is_named(data: bytes, project: Path) -> None:
    (project / "pyproject.toml").write_bytes(data)
    with pytest.raises(ValueError, match=r"pyproject\.toml: "):
        find_reference(project)
