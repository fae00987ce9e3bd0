"""The distribution stands alone: what is built holds what is needed, and declares what it uses."""

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from private_api import imported, package_of
from processes import python
from small_book import FRONT, cell

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "sphinx_drift"
FILE = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT, CONTRACTS = FILE["project"], FILE["tool"]["importlinter"]["contracts"]


# What is imported is declared --------------------------------------------------------------


def test_what_is_imported_is_declared_and_nothing_else() -> None:
    texts = [path.read_text("utf-8") for path in PACKAGE.rglob("*.py")]
    names = {package_of(name) for text in texts for name in imported(text)}
    names.update(*(re.findall(r'\bdistribution\("([^"]+)"\)', text) for text in texts))
    known = metadata.packages_distributions()
    extras = PROJECT["optional-dependencies"].values()
    requirements = [*PROJECT["dependencies"], *(each for extra in extras for each in extra)]
    assert {canonicalize_name(known.get(name, [name])[0]) for name in names} == {
        canonicalize_name(Requirement(each).name) for each in requirements
    }


def test_the_map_has_the_layers_that_are_enforced() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    table = text.partition("## Layers")[2].partition("##")[0]
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    (layers,) = (each["layers"] for each in CONTRACTS if each["type"] == "layers")
    assert [re.findall(r"`(\w+)/?`", row) for row in rows] == [
        layer.split(" | ") for layer in layers
    ]


# It works where it is installed ------------------------------------------------------------

PAGE = FRONT + "# First\n\n" + cell("print(1 / 3)", str(1 / 3)) + "\n"


@pytest.mark.slow
def test_a_book_is_built_and_verified_by_the_wheel(tmp_path: Path) -> None:
    """What is declared is all that is imported, so the libraries of this environment serve."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    site, book = tmp_path / "site", tmp_path / "book"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--target", str(site), str(wheel)], check=True)
    book.mkdir()
    ours = f"import sphinx_drift\nassert sphinx_drift.__file__.startswith({str(site)!r})\n"
    (book / "conf.py").write_text(f'{ours}extensions = ["myst_nb", "sphinx_drift"]\n', "utf-8")
    (book / "index.md").write_text(PAGE, "utf-8")
    words = ("-m", "sphinx_drift.run", "-W", "-b", "html", ".", "_build")
    done = python(*words, folder=book, PYTHONPATH=str(site))
    assert done.returncode == 0, done.stderr
    assert re.search(r"^1 output verified on 1 page \(", done.stdout, re.MULTILINE)
    assert "0.3333333333333333" in (book / "_build" / "index.html").read_text("utf-8")
    assert (book / "_build" / "_static" / "drift-mark.css").exists()
