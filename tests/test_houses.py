"""Two houses: the chapter knows of no checker, the checker of no chapter, nor of any library."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CHAPTER = ROOT / "selfattn"
CHECKER = ROOT / "packages/sphinx-drift" / "sphinx_drift"
NOT_OF_THE_CHAPTER = re.compile(r"sphinx|docutils|\bmyst(?![a-z])|jupyter|drift", re.IGNORECASE)
NOT_OF_THE_CHECKER = re.compile(r"selfattn|attention", re.IGNORECASE)
LIBRARIES = ("numpy", "torch")


def files(house: Path) -> list[Path]:
    """Return the files of a house that are read by people."""
    return [p for p in sorted(house.rglob("*")) if p.is_file() and p.suffix in {".py", ".js"}]


def naming(house: Path, foreign: re.Pattern[str]) -> list[str]:
    """Return the lines that name what the house doesn't know."""
    return [
        f"{path.relative_to(house)}:{number}: {line.strip()}"
        for path in files(house)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if foreign.search(line)
    ]


def imports(path: Path) -> set[str]:
    """Return the packages that a module imports anywhere, also inside its functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    return found


def test_the_chapter_knows_of_no_checker() -> None:
    assert files(CHAPTER)
    assert naming(CHAPTER, NOT_OF_THE_CHAPTER) == []


def test_the_checker_knows_of_no_chapter() -> None:
    assert files(CHECKER)
    assert naming(CHECKER, NOT_OF_THE_CHECKER) == []


@pytest.mark.parametrize(
    ("line", "foreign"),
    [
        ("from sphinx_drift.device import x", NOT_OF_THE_CHAPTER),
        ("# a page that Jupyter runs", NOT_OF_THE_CHAPTER),
        ("import selfattn", NOT_OF_THE_CHECKER),
        ('"""Multi-head Attention."""', NOT_OF_THE_CHECKER),
    ],
)
def test_a_line_that_names_the_other_house_is_seen(
    line: str, foreign: re.Pattern[str], tmp_path: Path
) -> None:
    (tmp_path / "module.py").write_text(f"\n{line}\n", encoding="utf-8")
    assert naming(tmp_path, foreign) == [f"module.py:2: {line}"]


def test_the_checker_imports_no_library_that_only_pages_need() -> None:
    found = {
        path.relative_to(CHECKER).as_posix(): libraries
        for path in files(CHECKER)
        if path.suffix == ".py" and (libraries := imports(path) & {*LIBRARIES})
    }
    assert found == {}  # it takes them from a page that has imported them


def test_an_import_within_a_function_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("def f():\n    import torch.nn\n    from numpy import array\n", "utf-8")
    assert imports(path) == {*LIBRARIES}


EXTENSIONS = ROOT / "docs" / "_ext"


def test_no_room_of_the_book_s_extensions_uses_one_that_uses_it() -> None:
    """The map has them in an order in which each uses those above it alone."""
    table = re.findall(
        r"^\| (`.*`) \|", (EXTENSIONS / "README.md").read_text("utf-8"), re.MULTILINE
    )
    order = re.findall(r"`(\w+)(?:\.py)?`", " ".join(table))
    rooms = {
        room.stem
        for room in EXTENSIONS.iterdir()
        if room.suffix == ".py" or (room / "__init__.py").is_file()
    }
    assert rooms == set(order)
    for place, room in enumerate(order):
        files = [EXTENSIONS / f"{room}.py", *(EXTENSIONS / room).rglob("*.py")]
        used = {name for file in files if file.is_file() for name in imports(file)} & rooms
        assert used <= set(order[: place + 1]), room
