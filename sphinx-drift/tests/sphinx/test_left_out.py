"""What a book says is not executed isn't, and the last line counts it by the setting."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

FRONT = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n{}---\n\n# A page\n\n"
CELL = (
    "```{code-cell} ipython3\nopen('ran', 'a').write('x')\nprint(1)\n```\n\n"
    "```{expected-output}\n1\n```\n"
)


def build(folder: Path, *lines: str) -> tuple[int, str, str]:
    """Build a book; return its status, its last line and what it complained of."""
    conf = ["extensions = ['myst_nb', 'sphinx_drift']", "html_theme = 'basic'", *lines]
    (folder / "conf.py").write_text("\n".join(conf))
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-b", "html", folder, folder / "out"],
        env={**os.environ, "CI": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.strip().splitlines()[-1], done.stderr


@pytest.mark.parametrize(
    ("front", "line", "setting"),
    [
        ("", "nb_execution_excludepatterns = ['left*']", "nb_execution_excludepatterns"),
        ("mystnb:\n  execution_mode: 'off'\n", "", "nb_execution_mode"),
    ],
)
def test_page_that_the_book_leaves_out_is_counted_by_the_setting(
    tmp_path: Path, front: str, line: str, setting: str
) -> None:
    (tmp_path / "left.md").write_text(FRONT.format(front) + CELL)
    toc = "\n```{toctree}\nleft\n```\n"
    (tmp_path / "index.md").write_text(FRONT.format("") + CELL.replace("ran", "index-ran") + toc)
    for _ in range(2):  # the second build reads neither
        status, last, complaints = build(tmp_path, line)
        assert status == 0, complaints
        assert "1 output verified on 1 page" in last
        assert f"1 page left out by {setting}" in last
        assert not (tmp_path / "ran").exists()
    assert (tmp_path / "index-ran").read_text() == "xx"
    if line:
        status, last, _ = build(tmp_path, "nb_execution_excludepatterns = []")
        assert "2 outputs verified on 2 pages" in last


def test_book_that_executes_nothing_has_verified_nothing(tmp_path: Path) -> None:
    (tmp_path / "index.md").write_text(FRONT.format("") + CELL)
    status, _, complaints = build(tmp_path, "nb_execution_mode = 'off'")
    assert status == 1
    assert "1 page left out" in complaints
    assert "nb_execution_mode" in complaints
    assert not (tmp_path / "ran").exists()
