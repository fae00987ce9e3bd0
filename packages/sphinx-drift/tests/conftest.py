"""Books of fixture pages: built for real by Sphinx, their reports read as a person reads them."""

import asyncio
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from runners import Pages
from small_book import FRONT, write

from sphinx_drift.model import PageResult
from sphinx_drift.run.host import HOST
from sphinx_drift.run.page import run_page

# A busy machine makes an example late, not wrong.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
HERE = Path(__file__).parent
UNSET = {
    *("CI", "GITHUB_ACTIONS", "GITHUB_WORKSPACE", "PYTEST_CURRENT_TEST"),
    *("DRIFT_DEVICE", "DRIFT_POLICY", "DRIFT_RUNNER", "FORCE_COLOR", "NO_COLOR"),
}
TAKEN = "ZMQError: Address already in use"
HEAD = re.compile(
    r"(?m)^(?P<file>[^\s:]+):"
    r"(?P<location>\d+(?: \(line \d+ of \S+\))?|(?:above |below )?cell \d+ \(line \d+\)): "
    r"(?P<kind>[a-z-]+)(?: in cell \d+ \(line \d+\))?:(?: |$)"
)


@dataclass(frozen=True)
class Failure:
    """One failure as a report tells it."""

    file: str
    location: str
    kind: str
    text: str


@dataclass(frozen=True)
class Built:
    """What came of a build."""

    status: int
    stdout: str
    stderr: str
    outdir: Path
    doctrees: Path

    @property
    def report(self) -> str:
        return self.stderr.rpartition("ERROR: \n")[2].strip()

    @property
    def failures(self) -> list[Failure]:
        heads = list(HEAD.finditer(self.report))
        ends = [*(head.start() for head in heads[1:]), None]
        return [
            Failure(**head.groupdict(), text=self.report[head.start() : end].strip())
            for head, end in zip(heads, ends, strict=False)
        ]

    @property
    def locations(self) -> set[tuple[str, str]]:
        """Where it failed, and how: ``("page.md:14", "drift")``."""
        return {(f"{failure.file}:{failure.location}", failure.kind) for failure in self.failures}

    @property
    def last(self) -> str:
        """The last line of a build that passed, or of the report of one that failed."""
        text = self.report if self.status else self.stdout
        return text.strip().splitlines()[-1]

    @property
    def results(self) -> dict[str, PageResult]:
        """What the environment keeps, by document name."""
        with (self.doctrees / "environment.pickle").open("rb") as file:
            results: dict[str, PageResult] = pickle.load(file).drift_state.results  # noqa: S301 - ours
            return results


class Book:
    """A folder of pages and a ``conf.py``."""

    def __init__(self, server: Any, folder: Path) -> None:
        self.server = server
        self.folder = folder / "book"
        self.folder.mkdir()
        self.write("index.md", "# A book", front=False)
        self.configure()

    def configure(self, *lines: str, **settings: Any) -> None:
        """Write ``conf.py``: settings by name, then lines as they are."""
        variables = {
            "extensions": ["myst_nb", "sphinx_drift"],
            "exclude_patterns": ["_out"],
            "drift_policy": "exact",
            "drift_require": "all",
            "suppress_warnings": ["toc.not_included"],
            **settings,
        }
        text = "\n".join([f"{name} = {value!r}" for name, value in variables.items()] + [*lines])
        (self.folder / "conf.py").write_text(text + "\n", encoding="utf-8")

    def write(self, name: str, *parts: str, front: bool = True) -> None:
        """Write a page: a notebook in text form, unless ``front`` matter is not wanted."""
        write(self.folder, {name: FRONT * front + "\n\n".join(parts) + "\n"})

    def copy(self, folder: Path, *names: str) -> None:
        """Take fixture pages: those that are named, or all."""
        if not names:
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(folder, self.folder, ignore=ignore, dirs_exist_ok=True)
        for name in names:
            shutil.copy(folder / name, self.folder)

    def build(self, *options: str, builder: str = "dummy", **variables: str) -> Built:
        """Build it with Sphinx; what an earlier build left is used unless ``-E`` is given."""
        built = self._build(options, builder, variables)
        # Two of the kernels that MyST-NB starts over TCP may choose one port.
        return self._build(options, builder, variables) if TAKEN in built.stderr else built

    def _build(self, options: tuple[str, ...], builder: str, variables: dict[str, str]) -> Built:
        out = self.folder / "_out"
        out.mkdir(exist_ok=True)
        outdir, doctrees = out / "site" / builder, out / "doctrees"
        request = {
            "folder": self.folder,
            "variables": variables,
            "stdout": out / "stdout",
            "stderr": out / "stderr",
            "arguments": ["-b", builder, "-d", doctrees, *options, ".", outdir],
        }
        print(json.dumps(request, default=str), file=self.server.stdin, flush=True)
        status = int(self.server.stdout.readline())
        stdout, stderr = ((out / name).read_text("utf-8") for name in ("stdout", "stderr"))
        return Built(status, stdout, stderr, outdir, doctrees)


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin without settings, and forget those that a test makes."""
    for name in UNSET - {"PYTEST_CURRENT_TEST"}:
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def server() -> Iterator[Any]:
    """Start the process that builds are forked from."""
    process = subprocess.Popen(
        # So that a build finds what lies in its own folder, as `python -m` does.
        [sys.executable, "-c", "import builder; builder.main()"],
        cwd=HERE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={name: value for name, value in os.environ.items() if name not in UNSET},
    )
    yield process
    process.communicate()


@pytest.fixture(scope="module")
def make_book(server: Any, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Book]:
    return lambda: Book(server, tmp_path_factory.mktemp("drift"))


@pytest.fixture
def book(make_book: Callable[[], Book]) -> Book:
    return make_book()


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pages:
    """Run pages here, and not in the process that runs those of a build."""
    monkeypatch.setattr(HOST, "ask", lambda _, page: asyncio.run(run_page(*page)))
    return Pages(tmp_path)
