"""Houses and rooms: none imports another that it is to know nothing of."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXTENSIONS = ROOT / "docs" / "_ext"


def imports(path: Path) -> set[str]:
    """Return the packages that a module imports anywhere, also inside its functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    return found


@pytest.mark.parametrize(
    ("house", "foreign"),
    [
        ("selfattn", "sphinx|docutils|myst|jupyter|nb"),
        ("packages/sphinx-drift/sphinx_drift", "selfattn|numpy|torch"),
    ],
)
def test_a_house_imports_nothing_of_another(house: str, foreign: str) -> None:
    used = {name for file in (ROOT / house).rglob("*.py") for name in imports(file)}
    assert house.rpartition("/")[2] in used
    assert [name for name in used if re.match(foreign, name)] == []


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
