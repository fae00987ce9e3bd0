"""Tests run the code of their own tree, not that of one that it was copied from."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from the_book import ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_tests_refuse_another_copy(tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    tests.mkdir()
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tests / "test_nothing.py").write_text("def test_nothing() -> None: pass\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    here = [str(ROOT), str(ROOT / "packages/sphinx-drift")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(here)}
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"expected selfattn from {tmp_path}, got it from {ROOT}" in done.stderr
    for name in ("selfattn", "packages/sphinx-drift/sphinx_drift"):
        shutil.copytree(ROOT / name, tmp_path / name)
    env["PYTHONPATH"] = os.pathsep.join([str(tmp_path), str(tmp_path / "packages/sphinx-drift")])
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
