"""What the tests' small books are built with: nothing that a shell happens to have set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import small_book

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_book_is_built_as_if_nothing_were_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIFT_POLICY", "no policy")
    small_book.write(tmp_path, {"conf.py": "extensions = ['myst_nb', 'sphinx_drift']"})
    page = f"{small_book.FRONT}# A page\n\n{small_book.cell('print(1)', '1')}\n"
    small_book.write(tmp_path, {"index": page})
    assert small_book.build(tmp_path, "drift").returncode == 0
