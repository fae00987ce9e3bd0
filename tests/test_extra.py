"""Without the extra `drift`, whatever needs it says so in a sentence."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from selfattn.drift.extra import NEEDED

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).parents[1]


def run(code: str, folder: Path, *, hidden: Iterable[str]) -> subprocess.CompletedProcess[str]:
    """Run code in an interpreter that hasn't these modules."""
    hide = f"import sys; sys.modules.update(dict.fromkeys({tuple(hidden)!r}))"
    command = [sys.executable, "-c", f"{hide}\n{code}"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def as_command(module: str, *words: str) -> str:
    return (
        f"sys.argv = ['-m', *{list(words)!r}]\n"  # as `python -m` has it at first
        f"import runpy; runpy.run_module({module!r}, run_name='__main__', alter_sys=True)"
    )


def test_what_is_looked_for_is_what_the_extra_installs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names = [line.partition(">")[0] for line in project["optional-dependencies"]["drift"]]
    assert [name.replace("-", "_") for name in names] == list(NEEDED)


@pytest.mark.parametrize("hidden", [[name] for name in NEEDED] + [NEEDED], ids="-".join)
def test_the_command_names_what_is_missing(hidden: list[str], tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# Page\n")
    done = run(as_command("selfattn.drift", "page.md"), tmp_path, hidden=hidden)
    assert done.returncode == 2  # nothing could be checked
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"python -m selfattn.drift needs {', '.join(hidden)}, which ")
    assert line.endswith("install it with: python -m pip install 'selfattn[drift]'")


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("selfattn.drift.doctests", ["selfattn"]),
        ("selfattn.runner", ["docs", "out"]),
        ("selfattn.live", ["docs", "out"]),
    ],
)
def test_every_command_says_it(module: str, words: list[str], tmp_path: Path) -> None:
    done = run(as_command(module, *words), tmp_path, hidden=NEEDED)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"{module} needs docutils, " in line


def test_what_is_imported_raises_it(tmp_path: Path) -> None:
    done = run("import selfattn.drift.doctests", tmp_path, hidden=["nbclient"])
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: selfattn.drift.doctests needs nbclient, ")


def test_the_pytest_plugin_says_it_as_pytest_does(tmp_path: Path) -> None:
    words = ["-p", "selfattn.drift.pytest_plugin", "--drift-doctests"]
    done = run(as_command("pytest", *words), tmp_path, hidden=["nbclient"])
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "ERROR: selfattn.drift.pytest_plugin needs nbclient, " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("extension", ["selfattn.drift", "selfattn.runner"])
def test_the_extensions_say_it_as_sphinx_does(extension: str, tmp_path: Path) -> None:
    (tmp_path / "conf.py").write_text(f"extensions = [{extension!r}]")
    (tmp_path / "index.md").write_text("# Page\n")
    done = run(as_command("sphinx", ".", "out"), tmp_path, hidden=["myst_nb"])
    assert done.returncode == 2
    assert f"the extension {extension} needs myst_nb, " in " ".join(done.stderr.split())
    assert "ModuleNotFoundError" not in done.stderr


def test_comparing_needs_no_extra(tmp_path: Path) -> None:
    done = run("import selfattn.drift.compare, selfattn", tmp_path, hidden=set(NEEDED) - {"numpy"})
    assert done.returncode == 0, done.stderr
