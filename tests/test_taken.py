"""Every notebook of the book runs where nothing is but torch and Jupyter."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import nbformat
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from the_book import current_site

pytestmark = pytest.mark.slow
THERE = ("torch", "ipykernel", "nbclient")
# A process of the tests' own environment that finds only what the reader has: Python runs a module
# of this name when it starts. The checker itself, which starts kernels, is spared.
LONELY = """
import os, sys, tempfile
REFUSED = {refused!r}
OWN = os.path.join(tempfile.gettempdir(), "tmp")  # what a notebook writes for itself

class Without:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, *rest):
        spec = self.finder.find_spec(name, *rest)
        if name.partition(".")[0] not in REFUSED or (spec and str(spec.origin).startswith(OWN)):
            return spec
        return None
    def __getattr__(self, name):
        return getattr(self.finder, name)

if not any("sphinx_drift" in word for word in sys.orig_argv):
    sys.meta_path[:] = map(Without, sys.meta_path)
    import torch  # so that its warning that there is no NumPy comes before a page begins
"""


def brought(names: tuple[str, ...]) -> set[str]:
    found: set[str] = set()
    waiting = [canonicalize_name(name) for name in names]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        try:
            wanted = [Requirement(line) for line in requires(name) or ()]
        except PackageNotFoundError:  # one for another system
            continue
        found.add(name)
        here = [w for w in wanted if w.marker is None or w.marker.evaluate({"extra": ""})]
        waiting += [canonicalize_name(requirement.name) for requirement in here]
    return found


def lonely(folder: Path) -> dict[str, str]:
    """Return the environment of a process in which nothing else can be imported."""
    with_these = brought(THERE)
    refused = {
        module
        for module, owners in packages_distributions().items()
        if not with_these & set(map(canonicalize_name, owners))
    }
    text = LONELY.format(refused=refused | {"selfattn", "sphinx_drift"})
    (folder / "sitecustomize.py").write_text(text, "utf-8")
    return os.environ | {"PYTHONPATH": str(folder), "DRIFT_RUNNER": "jupyter"}


@pytest.fixture(scope="module")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return current_site(tmp_path_factory.mktemp("book")) / "_downloads"


def check(folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx_drift", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env)


def test_all_notebooks_verify_where_there_is_torch_alone(downloads: Path, tmp_path: Path) -> None:
    taken = shutil.copytree(downloads, tmp_path / "taken")  # out of the project, as by a reader
    said = check(taken, lonely(tmp_path))
    assert said.returncode == 0, said.stdout
    stored = [json.loads(path.read_text("utf-8")) for path in downloads.rglob("*.ipynb")]
    shown = sum(bool(cell.get("outputs")) for each in stored for cell in each["cells"])
    verified = re.search(r"(\d+) outputs verified", said.stdout)
    assert verified
    assert int(verified[1]) > 0.9 * shown  # some say why they can't be


def test_a_notebook_that_needs_the_package_fails_there(downloads: Path, tmp_path: Path) -> None:
    stored = nbformat.read(downloads / "reference" / "verification.ipynb", as_version=4)
    first = next(cell for cell in stored.cells if cell.cell_type == "code")
    stored.cells.remove(first)
    nbformat.write(stored, tmp_path / "needy.ipynb")
    said = check(tmp_path / "needy.ipynb", lonely(tmp_path))
    assert said.returncode == 1
    assert "No module named 'selfattn'" in said.stdout
