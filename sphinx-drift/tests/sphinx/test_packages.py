"""A page imports the package that its project has, and no other copy of it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from sphinx_drift.configuration import find_project

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Book, Built

SHOWS = """```{code-cell} ipython3
import mine
print(mine.NUMBER)
```

```{expected-output}
1
```"""


def put(folder: Path, number: int = 1) -> Path:
    """Write a package."""
    (folder / "mine").mkdir(parents=True)
    (folder / "mine" / "__init__.py").write_text(f"NUMBER = {number}\n")
    return folder


@pytest.fixture
def project(book: Book) -> Book:
    """Return a book of a project that has a package, and whose conf.py asks for it."""
    put(book.folder / "src")
    book.configure(drift_packages={"mine": "src"})
    book.write("page.md", SHOWS)
    return book


def build(book: Book, imported: Path, runner: str = "fork") -> Built:
    return book.build(PYTHONPATH=str(imported), DRIFT_RUNNER=runner)


@pytest.mark.parametrize("runner", ["fork", "jupyter"])
@pytest.mark.slow
def test_another_copy_fails_though_it_prints_the_same(
    runner: str, project: Book, tmp_path: Path
) -> None:
    assert build(project, project.folder / "src", runner).status == 0
    copy = put(tmp_path)
    built = build(project, copy, runner)
    assert built.status == 1
    assert built.places == {("page.md:7", "elsewhere")}
    report = " ".join(built.report.split())
    assert f"expected `mine` from {project.folder / 'src'}" in report
    assert f"got it from {copy / 'mine'}" in report
    assert "python -m pip install --editable ." in report


@pytest.mark.slow
def test_a_copied_tree_that_runs_the_original(project: Book, tmp_path: Path) -> None:
    """The book is copied with its package; the environment still has the original's."""
    (project.folder / "conf.py").rename(project.folder / "conf.old")
    project.configure()
    pyproject = '[tool.sphinx-drift.packages]\nmine = "src"\n'
    (project.folder / "pyproject.toml").write_text(pyproject)
    put(tmp_path)
    built = build(project, tmp_path)
    assert built.places == {("page.md:7", "elsewhere")}


@pytest.mark.slow
def test_a_page_that_imports_none_of_them_is_fine(project: Book, tmp_path: Path) -> None:
    project.write("page.md", SHOWS.replace("import mine\nprint(mine.NUMBER)", "print(1)"))
    assert build(project, put(tmp_path)).status == 0


@pytest.mark.slow
@pytest.mark.parametrize("module", ["mine.py", "mine/there.py"])
def test_modules_and_packages_without_a_file(module: str, book: Book, tmp_path: Path) -> None:
    def place(folder: Path) -> Path:
        path = folder / module
        path.parent.mkdir(parents=True)
        path.write_text("NUMBER = 1\n")
        return folder

    book.configure(drift_packages={"mine": "src"})
    code = SHOWS if module == "mine.py" else SHOWS.replace("import mine", "import mine.there")
    book.write("page.md", code.replace("mine.NUMBER", f"{module[:-3].replace('/', '.')}.NUMBER"))
    assert build(book, place(book.folder / "src")).status == 0
    assert build(book, place(tmp_path / "other")).places == {("page.md:7", "elsewhere")}


@pytest.mark.slow
def test_the_command_knows_the_projects_packages(tmp_path: Path) -> None:
    project, copy = tmp_path / "project", put(tmp_path / "copy")
    put(project / "src")
    (project / "pyproject.toml").write_text('[tool.sphinx-drift.packages]\nmine = "src"\n')
    front = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n\n"
    (project / "page.md").write_text(front + SHOWS + "\n")
    for path, status in ((project / "src", 0), (copy, 2)):
        done = subprocess.run(
            [sys.executable, "-m", "sphinx_drift", "page.md"],
            cwd=project,
            env={**os.environ, "PYTHONPATH": str(path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
    assert "elsewhere" in done.stdout


def test_packages_of_a_project(tmp_path: Path) -> None:
    assert find_project(tmp_path).packages == {}
    pyproject = tmp_path / "pyproject.toml"
    pyproject.write_text('[tool.sphinx-drift.packages]\nmine = "src"\n')
    (tmp_path / "docs").mkdir()
    assert find_project(tmp_path / "docs").packages == {"mine": tmp_path / "src"}
    pyproject.write_text("[tool.sphinx-drift]\npackages = ['mine']\n")
    with pytest.raises(ValueError, match=r"packages\] must hold names and texts, got \['mine'\]"):
        find_project(tmp_path)
