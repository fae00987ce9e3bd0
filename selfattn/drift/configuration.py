"""Find what a project or a notebook says of itself: its reference environment, its packages."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from nbformat import NotebookNode

__all__ = ["find_packages", "find_reference", "stored_reference"]

_TABLE = "selfattn-drift"


def find_reference(start: Path) -> dict[str, str]:
    """Return the environment on which a project's documented values hold to the last digit.

    It is the table ``[tool.selfattn-drift.reference]`` of the nearest ``pyproject.toml`` at or
    above ``start``: names such as ``torch``, ``system``, ``machine`` and ``device``, and the
    value of each. A project that has none gets an empty one: its values must hold on any CPU.

    Raises:
        ValueError: If the table is not one of names and texts.

    """
    path = _project_file(start)
    return _read(path, "reference") if path else {}


def find_packages(start: Path) -> dict[str, Path]:
    """Return the packages that pages must import from the project itself, each with its folder.

    It is the table ``[tool.selfattn-drift.packages]`` of the nearest ``pyproject.toml`` at or
    above ``start``: the names of packages, and the folder, from that file's, that holds each.

    Raises:
        ValueError: If the table is not one of names and texts.

    """
    path = _project_file(start)
    return {name: path.parent / to for name, to in _read(path, "packages").items()} if path else {}


def _project_file(start: Path) -> Path | None:
    start = start.resolve()
    paths = (folder / "pyproject.toml" for folder in (start, *start.parents))
    return next((path for path in paths if path.is_file()), None)


def _read(path: Path, last: str) -> dict[str, str]:
    try:
        table: object = tomllib.loads(path.read_text("utf-8"))
    except ValueError as error:
        msg = f"{path}: {error}"
        raise ValueError(msg) from None
    for name in ("tool", _TABLE, last):
        table = table.get(name, {}) if isinstance(table, dict) else None
    if not isinstance(table, dict) or not all(isinstance(v, str) for v in table.values()):
        msg = f"{path}: [tool.{_TABLE}.{last}] must hold names and texts, got {table!r}"
        raise ValueError(msg)
    return table


def stored_reference(notebook: NotebookNode) -> dict[str, str]:
    """Return the reference environment that a notebook brings along, wherever it lies now.

    It is in the notebook's metadata, ``{"drift": {"reference": {...}}}``, with the names of
    :func:`find_reference`. What can't be read is no reference, and then the project's counts.
    """
    said = notebook.metadata.get("drift", {})
    table = said.get("reference", {}) if isinstance(said, dict) else {}
    right = isinstance(table, dict) and all(isinstance(value, str) for value in table.values())
    return dict(table) if right else {}
