"""The script that builds a book many times: it passes, and it sees what goes wrong."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "tools" / "two_hundred.py"


@pytest.fixture(scope="module")
def script() -> Any:
    spec = importlib.util.spec_from_file_location("two_hundred", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_two_builds_pass() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--builds", "2"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("2 builds of 4 pages in ")
    assert done.stdout.endswith("none hung, failed or left anything behind\n")


def test_what_is_left_is_seen(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(script, "processes", list)  # other tests have theirs
        assert script.left(tmp_path, script.server_sockets()) == ""
        (tmp_path / "file").touch()
        assert script.left(tmp_path, script.server_sockets()) == "left a temporary file"
    marked = {**os.environ, script.MARK: str(os.getpid())}
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env=marked
    ) as process:
        assert process.pid in script.processes()
        process.kill()


def test_build_that_hangs_is_seen(script: Any, tmp_path: Path) -> None:
    book = tmp_path / "book"
    book.mkdir()
    script.write_book(book)
    (book / "conf.py").write_text("import time\ntime.sleep(100)\n")
    assert script.build(book, tmp_path / "out", tmp_path, 1) == "hung"
    (book / "conf.py").write_text("1 / 0\n")
    assert script.build(book, tmp_path / "out", tmp_path, 60) == "failed"
