"""No module of the process layer needs itself by way of others, not even when it runs."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path
from typing import TYPE_CHECKING

import sphinx_drift

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(str(sphinx_drift.__file__)).parent


def imported_by(module: str, tree: ast.Module) -> Iterator[str]:
    """Yield what a module imports, in functions too, but for what types alone need."""
    for part in tree.body:
        if isinstance(part, ast.If) and ast.unparse(part.test) == "TYPE_CHECKING":
            continue
        for node in ast.walk(part):
            if isinstance(node, ast.Import):
                yield from (name.name for name in node.names)
            elif isinstance(node, ast.ImportFrom):
                package = module.rpartition(".")[0]
                origin = resolve_name("." * node.level + (node.module or ""), package)
                yield from (origin, *(f"{origin}.{name.name}" for name in node.names))


def modules() -> dict[str, Path]:
    """Return the modules of the process layer, without the packages themselves."""
    files = (file for room in ("run", "live") for file in (PACKAGE / room).glob("*.py"))
    return {
        f"sphinx_drift.{file.parent.name}.{file.stem}": file
        for file in files
        if not file.stem.startswith("__")
    }


def test_imports_go_round_in_no_circle() -> None:
    graph = {
        name: {*imported_by(name, ast.parse(file.read_text("utf-8")))} & modules().keys()
        for name, file in modules().items()
    }
    assert graph["sphinx_drift.live.first_page"] == {"sphinx_drift.run.processes"}
    TopologicalSorter(graph).prepare()  # a CycleError names the circle
