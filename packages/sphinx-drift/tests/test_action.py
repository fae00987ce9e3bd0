"""What CI and pre-commit are told to run is run: a drift is annotated, and the patch mends it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from notebooks import code, notebook, stream
from small_book import FRONT, cell, write

ROOT = Path(__file__).parents[1]
STEPS = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    write(tmp_path, {"page": FRONT + cell("print(4.78)", "4.87")})
    for words in ("init", "add page.md", "-c user.name=A -c user.email=a@b.c commit -m A"):
        run(f"git {words}", tmp_path)
    return tmp_path


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "PATHS": "page.md", "CI": "true", "GITHUB_ACTIONS": "true"}
    command = ("bash", "-e", "-o", "pipefail", "-c", script)
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def test_a_drift_is_annotated_and_its_patch_mends_it(book: Path) -> None:
    check, update = (step["run"] for step in STEPS if "run" in step)
    drifted = run(check, book)
    assert drifted.returncode == 1
    assert "::error file=page.md,line=" in drifted.stdout
    assert run(update, book).returncode == 0
    assert run("git checkout page.md && git apply sphinx-drift.patch", book).returncode == 0
    assert run(check, book).returncode == 0


def test_the_hook_of_the_manual_refuses_a_drift_and_no_prose(book: Path) -> None:
    always = notebook(code("print(1)", stream("1\n"), count=1))
    write(book, {"notebooks/first.ipynb": always, "prose": "# Prose\n"})
    text = (ROOT / "docs" / "adopt.md").read_text("utf-8")
    (hooks,) = (
        yaml.safe_load(each) for each in re.findall(r"```yaml\n(repos:.*?)```", text, re.DOTALL)
    )
    (hook,) = hooks["repos"][0]["hooks"]
    assert run(f"{hook['entry']} page.md", book).returncode == 1
    assert run(f"{hook['entry']} prose.md", book).returncode == 0
