"""A copied tree builds and tests its own code, not that of the tree it was copied from."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from the_book import DOCS

if TYPE_CHECKING:
    from types import ModuleType

ROOT = DOCS.parent


@pytest.fixture(scope="module")
def recipe() -> ModuleType:
    """Return the noxfile, as nox loads it."""
    spec = importlib.util.spec_from_file_location("noxfile", ROOT / "noxfile.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        spec.loader.exec_module(module)
    return module


class Environment(SimpleNamespace):
    """What the recipe uses of nox's environments, as a folder."""

    is_sandboxed = True
    made = 0

    def create(self) -> None:
        Path(self.location).mkdir()
        self.made += 1


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    """Return a fresh environment in the folder of a project."""
    project = tmp_path / "project"
    project.mkdir()
    made = Environment(location=str(project / "env"))
    made.create()
    return made


def settle(recipe: ModuleType, environment: Environment) -> None:
    recipe.settle(SimpleNamespace(virtualenv=environment, log=lambda _: None))


def test_environment_stays_in_its_folder(
    recipe: ModuleType, environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(environment.location).parent)
    settle(recipe, environment)
    (Path(environment.location) / "recipe.sha256").write_text("as it is")
    settle(recipe, environment)
    assert environment.made == 1
    assert (Path(environment.location) / "recipe.sha256").exists()


@pytest.mark.parametrize("named", [True, False])
def test_environment_that_was_copied_is_made_anew(
    named: bool,  # noqa: FBT001 - a parameter of the test
    recipe: ModuleType,
    environment: Environment,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project = Path(environment.location).parent
    monkeypatch.chdir(project)
    settle(recipe, environment)
    (Path(environment.location) / "recipe.sha256").write_text("as it is")
    if not named:  # as an earlier recipe left it
        (Path(environment.location) / "folder").unlink()
    copy = shutil.copytree(project, project.with_name("copy"))
    monkeypatch.chdir(copy)
    copied = Environment(location=str(copy / "env"))
    settle(recipe, copied)
    assert copied.made == 1
    assert not (copy / "env" / "recipe.sha256").exists()
    assert (copy / "env" / "folder").read_text() == str(copy)
    settle(recipe, copied)
    assert copied.made == 1


@pytest.mark.slow
def test_tests_refuse_another_copy(tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    tests.mkdir()
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tests / "test_nothing.py").write_text("def test_nothing() -> None: pass\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    here = [str(ROOT), str(ROOT / "sphinx-drift")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(here)}
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"expected selfattn from {tmp_path}, got it from {ROOT}" in done.stderr
    for name in ("selfattn", "sphinx-drift/sphinx_drift"):
        shutil.copytree(ROOT / name, tmp_path / name)
    env["PYTHONPATH"] = os.pathsep.join([str(tmp_path), str(tmp_path / "sphinx-drift")])
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
