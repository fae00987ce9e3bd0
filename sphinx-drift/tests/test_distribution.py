"""The distribution stands alone: what is built holds what is needed, and declares what it uses."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import nbformat
import pytest
from nbformat import v4
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "sphinx_drift"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


# What is imported is declared --------------------------------------------------------------


def imported(package: Path) -> set[str]:
    """Return the distributions that a package names or imports from, also within functions."""
    names: set[str] = set()
    for path in package.rglob("*.py"):
        text = path.read_text("utf-8")
        names.update(re.findall(r'\bdistribution\("([^"]+)"\)', text))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                names.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names.add(str(node.module).partition(".")[0])
    known = metadata.packages_distributions()
    third_party = names - sys.stdlib_module_names - {package.name}
    return {canonicalize_name(known.get(name, [name])[0]) for name in third_party}


def declared() -> set[str]:
    """Return the distributions that ours names, those of its extras too."""
    extras = PROJECT["optional-dependencies"].values()
    requirements = [*PROJECT["dependencies"], *(each for extra in extras for each in extra)]
    return {canonicalize_name(Requirement(each).name) for each in requirements}


def test_what_is_imported_is_declared_and_nothing_else() -> None:
    assert imported(PACKAGE) == declared()


def test_an_import_that_is_not_declared_is_seen(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "module.py").write_text(
        "import json\ndef f():\n    from psutil import Process\n", "utf-8"
    )
    assert imported(package) == {"psutil"}
    assert not imported(package) <= declared()


# What is built holds what is needed --------------------------------------------------------


class Built(NamedTuple):
    """What hatchling has built."""

    wheel: Path
    source: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return Built(wheel, source)


def code() -> set[str]:
    """Return the files of the package."""
    files = (path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {path.relative_to(ROOT).as_posix() for path in files}


@pytest.mark.slow
def test_the_wheel_contains_the_package_and_nothing_else(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        names = set(wheel.namelist())
    about = {name for name in names if ".dist-info/" in name}
    assert names - about == code()
    assert {name.partition("/")[2] for name in about} == {
        *("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
    }


@pytest.mark.slow
def test_the_source_archive_contains_what_the_wheel_is_built_from(built: Built) -> None:
    with tarfile.open(built.source) as source:
        names = {name.partition("/")[2] for name in source.getnames()}
    about = {"CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"}
    names -= {".gitignore", "ARCHITECTURE.md"}  # hatchling adds the first from above the project
    assert names - code() == about
    assert code() <= names


# It is all that a book needs ---------------------------------------------------------------


class Alone:
    """An environment with our wheel, what that requires, and nothing else; a book beside it."""

    def __init__(self, folder: Path, wheel: Path, requirements: Iterable[str]) -> None:
        self.book = folder / "book"
        self.book.mkdir()
        venv.create(folder / "venv", symlinks=True, with_pip=False)
        scripts = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        self._python = scripts / "python"
        (self._packages,) = (folder / "venv").rglob("site-packages")
        for each in map(Requirement, requirements):
            self.take(each)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
        target = ["--target", str(self._packages), str(wheel)]
        subprocess.run([*pip, *target], check=True, capture_output=True)

    def take(self, requirement: Requirement) -> None:
        """Link a distribution of this environment, and all that it requires."""
        distribution = metadata.distribution(requirement.name)
        assert requirement.specifier.contains(distribution.version, prereleases=True), requirement
        if (self._packages / f"{canonicalize_name(requirement.name)}.taken").exists():
            return
        (self._packages / f"{canonicalize_name(requirement.name)}.taken").touch()
        for file in distribution.files or ():
            if ".." in file.parts:
                continue  # a command, or data that is none of Python's
            link = self._packages / file
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(Path(str(distribution.locate_file(file))))
        for each in required(distribution, requirement.extras):
            self.take(each)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a module of the environment in the book's folder."""
        variables = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
        return subprocess.run(
            [self._python, "-m", *words],
            cwd=self.book,
            env={**variables, "GIT_CEILING_DIRECTORIES": str(self.book)},
            capture_output=True,
            text=True,
            check=False,
        )

    def write(self, name: str, text: str) -> None:
        """Write a file of the book."""
        (self.book / name).write_text(text, encoding="utf-8")

    def verdict(self, *words: str) -> tuple[int, int, list[tuple[str, str, str]]]:
        """Return a command's exit status, how many it verified, and what drifted to what."""
        done = self.run(*words)
        assert done.stdout.startswith("{"), done.stderr
        report = json.loads(done.stdout)
        drifts = [
            (page["file"], difference["documented"], difference["executed"])
            for page in report.get("pages") or report["files"]
            for outcome in page["outcomes"]
            for difference in outcome["differences"]
        ]
        return done.returncode, report["counts"]["verified"], drifts


def required(distribution: metadata.Distribution, extras: Iterable[str]) -> Iterator[Requirement]:
    """Yield what a distribution requires here, for some of its extras."""
    for requirement in map(Requirement, distribution.requires or ()):
        if requirement.marker is None or any(
            requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras)
        ):
            yield requirement


@pytest.fixture(scope="module")
def alone(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Alone:
    alone = Alone(tmp_path_factory.mktemp("alone"), built.wheel, PROJECT["dependencies"])
    alone.write("conf.py", 'extensions = ["myst_nb", "sphinx_drift"]\ndrift_policy = "exact"\n')
    alone.write("index.md", f"# A book\n\n{TOCTREE}")
    alone.write("first.md", PAGE.format(title="First", code="print(1 / 3)", printed=1 / 3))
    alone.write("notebook.ipynb", nbformat.writes(NOTEBOOK))
    alone.write("module.py", f'"""A module.\n\n>>> 2 / 3\n{2 / 3}\n"""\n')
    return alone


TOCTREE = "```{toctree}\nfirst\nnotebook\n```\n"
PAGE = """---
file_format: mystnb
kernelspec:
  name: python3
---

# {title}

```{{code-cell}} ipython3
{code}
```

```{{expected-output}}
{printed}
```
"""
NOTEBOOK = v4.new_notebook(
    cells=[
        v4.new_markdown_cell("# Second"),
        v4.new_code_cell(
            "print(7 / 8)",
            execution_count=1,
            outputs=[v4.new_output("stream", text="0.875\n")],
        ),
    ],
    metadata={"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
)
WHOSE = """from nbclient import NotebookClient
from nbformat import v4

cell = v4.new_code_cell("import os; print(open(f'/proc/{os.getppid()}/cmdline').read())")
NotebookClient(v4.new_notebook(cells=[cell]), kernel_name="quick").execute()
print(cell.outputs[0].text)
"""
COMMANDS = {
    "first.md": ("sphinx_drift", "first.md", "--json"),
    "notebook.ipynb": ("sphinx_drift", "notebook.ipynb", "--json"),
    "module.py": ("sphinx_drift.doctests", "module", "--json"),
}


@pytest.mark.slow
def test_a_book_is_built_and_verified(alone: Alone) -> None:
    done = alone.run("sphinx_drift.run", "-W", "-b", "html", ".", "_build")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^2 outputs verified on 2 pages \(", done.stdout, re.MULTILINE)
    assert "0.3333333333333333" in (alone.book / "_build" / "first.html").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_it_is_green_until_a_digit_is_another(alone: Alone, name: str) -> None:
    file = alone.book / name
    text = file.read_text("utf-8")
    assert alone.verdict(*COMMANDS[name]) == (0, 1, [])
    *_, number = re.finditer(r"\d\.\d+", text)
    last = number.end() - 1
    altered = str((int(text[last]) + 1) % 10)
    file.write_text(text[:last] + altered + text[last + 1 :], "utf-8")
    status, verified, drifts = alone.verdict(*COMMANDS[name])
    file.write_text(text, "utf-8")
    assert (status, verified) == (1, 0)
    assert drifts == [(name, number[0][:-1] + altered, number[0])]


@pytest.mark.slow
def test_numpy_is_judged_at_full_precision_without_torch(alone: Alone) -> None:
    """Last of all: from here on NumPy is there."""
    alone.take(Requirement("numpy"))
    printing = "import numpy\nprint(numpy.array([155.92394], 'float32'))"
    page = {"title": "Rounded", "code": printing, "printed": "[155.92395]"}
    alone.write("rounded.md", PAGE.format(**page))
    ask = ("sphinx_drift", "rounded.md", "--json", "--policy")
    assert alone.verdict(*ask, "portable")[:2] == (0, 1)
    assert alone.verdict(*ask, "exact")[:2] == (1, 0)
    alone.write("rounded.md", PAGE.format(**{**page, "printed": "[155.9249]"}))
    assert alone.verdict(*ask, "portable")[:2] == (1, 0)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="kernels are forked on Linux")
def test_kernels_are_forked_where_there_is_no_sphinx(built: Built, tmp_path: Path) -> None:
    alone = Alone(tmp_path, built.wheel, ["ipykernel", "jupyter-client", "nbclient"])
    assert "No module named sphinx" in alone.run("sphinx").stderr
    assert alone.run("sphinx_drift.run", "install", "--name", "quick").returncode == 0
    alone.write("whose.py", WHOSE)
    done = alone.run("whose")
    assert "fork_server" in done.stdout, done.stderr
