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


class Session(SimpleNamespace):
    """What the recipe for the site asks of nox, whose commands write what they would."""

    def run(self, *words: str, env: dict[str, str]) -> None:
        self.links: str = env["SELFATTN_BOOKS"]
        made = {"epub": "epub/selfattn.epub", "tools/print_book.py": "pdf/selfattn.pdf"}
        for file in [file for word, file in made.items() if word in words and self.makes]:
            book = Path("docs/_build", file)
            book.parent.mkdir(parents=True, exist_ok=True)
            book.write_text("new")


@pytest.mark.parametrize(
    ("session", "linked"),
    [
        (Session(posargs=[], chromium=True, makes=True), {"selfattn.epub", "selfattn.pdf"}),
        (Session(posargs=[], chromium=False, makes=True), {"selfattn.epub"}),
        (Session(posargs=["--no-books"], chromium=True, makes=True), set()),
        # With nox's --install-only nothing is made.
        (Session(posargs=[], chromium=True, makes=False), {"selfattn.epub", "selfattn.pdf"}),
    ],
)
def test_the_site_has_the_books_that_its_pages_link_to(
    session: Session,
    linked: set[str],
    recipe: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(recipe, "manual", lambda _: None)
    monkeypatch.setattr(recipe, "has_chromium", lambda session: session.chromium)
    folder = tmp_path / "docs/_build/html/_downloads"
    folder.mkdir(parents=True)
    for name in ("selfattn.epub", "selfattn.pdf"):
        (folder / name).write_text("of another build")
    recipe.docs.func(session)
    assert set(session.links.split()) == linked
    made = linked if session.makes else set()
    assert {file.name: file.read_text() for file in folder.iterdir()} == dict.fromkeys(made, "new")


def test_a_site_is_printed_where_chromium_is(
    recipe: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    installed: list[str] = []
    told: list[str] = []
    session = SimpleNamespace(install=lambda *words: installed.extend(words), log=told.append)
    monkeypatch.setenv("CHROME_PATH", "/bin/browser")
    assert recipe.has_chromium(session)
    assert any(word.startswith("pypdf") for word in installed)
    monkeypatch.delenv("CHROME_PATH")
    monkeypatch.setenv("PATH", "/nowhere")
    assert not recipe.has_chromium(session)
    assert "goes without a PDF" in told[0]


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
