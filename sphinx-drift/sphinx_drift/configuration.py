"""Find what a project or a notebook says of itself in its ``pyproject.toml`` or metadata."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from sphinx_drift.run.preload import imported_below

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from nbformat import NotebookNode

_TABLE = "sphinx-drift"
_NAMES = {"devices", "packages", "preload", "reference"}


def find_reference(start: Path) -> dict[str, str]:
    """Return the environment on which a project's documented values hold to the last digit.

    It is the table ``[tool.sphinx-drift.reference]`` of the nearest ``pyproject.toml`` at or
    above ``start``: names such as ``torch``, ``system``, ``machine`` and ``device``, and the
    value of each. A project that has none gets an empty one: its values must hold on any CPU.

    Raises:
        ValueError: If the table is not one of names and texts.

    """
    path = project_file(start)
    return _read(path, "reference") if path else {}


def find_packages(start: Path) -> dict[str, Path]:
    """Return the packages that pages must import from the project itself, each with its folder.

    It is the table ``[tool.sphinx-drift.packages]`` of the nearest ``pyproject.toml`` at or
    above ``start``: the names of packages, and the folder, from that file's, that holds each.

    Raises:
        ValueError: If the table is not one of names and texts.

    """
    path = project_file(start)
    return {name: path.parent / to for name, to in _read(path, "packages").items()} if path else {}


def find_preload(start: Path, pages: Iterable[Path]) -> Sequence[str]:
    """Return the libraries to load once for all pages: those listed, else those that pages import.

    They are listed under ``preload`` in ``[tool.sphinx-drift]`` of the nearest ``pyproject.toml``.

    Raises:
        ValueError: If that is no list of names.

    """
    path = project_file(start)
    names = _table(path).get("preload") if path else None
    if names is None:
        return imported_below(pages)
    return list_of_names(names, f"{path}: preload in [tool.{_TABLE}]")


def list_of_names(value: object, setting: str) -> Sequence[str]:
    """Return the value of a setting if it is a list of names.

    Raises:
        ValueError: If it is none; the error names the setting.

    """
    if not isinstance(value, (list, tuple)) or not all(isinstance(name, str) for name in value):
        message = f"{setting} must be a list of names, got {value!r}"
        raise ValueError(message)
    return value


def find_devices(start: Path) -> str:
    """Return the module that knows devices, named ``devices`` in ``[tool.sphinx-drift]``, or "".

    Raises:
        ValueError: If that is no text.

    """
    path = project_file(start)
    name = _table(path).get("devices", "") if path else ""
    if not isinstance(name, str):
        message = f"{path}: devices in [tool.{_TABLE}] must name a module, got {name!r}"
        raise ValueError(message)  # noqa: TRY004 - what a file holds is a value
    return name


def project_file(start: Path) -> Path | None:
    """Return the nearest ``pyproject.toml`` at or above a folder; None if there is none."""
    start = start.resolve()
    paths = (folder / "pyproject.toml" for folder in (start, *start.parents))
    return next((path for path in paths if path.is_file()), None)


def _read(path: Path, last: str) -> dict[str, str]:
    return table_of_texts(_table(path).get(last, {}), f"{path}: [tool.{_TABLE}.{last}]")


def table_of_texts(value: object, setting: str) -> dict[str, str]:
    """Return the value of a setting if it is a table of names and texts.

    Raises:
        ValueError: If it is none; the error names the setting.

    """
    if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
        raise ValueError(f"{setting} must hold names and texts, got {value!r}")
    return value


def _table(path: Path) -> dict[str, object]:
    """Return the checker's table of a project's file.

    Raises:
        ValueError: If it is none, or has a name that nothing would read.

    """
    try:
        table: object = tomllib.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    for name in ("tool", _TABLE):
        table = table.get(name, {}) if isinstance(table, dict) else None
    if not isinstance(table, dict):
        message = f"{path}: [tool.{_TABLE}] must hold names and texts, got {table!r}"
        raise ValueError(message)  # noqa: TRY004 - the same
    if unknown := sorted(table.keys() - _NAMES):
        known, got = ", ".join(sorted(_NAMES)), ", ".join(unknown)
        raise ValueError(f"{path}: [tool.{_TABLE}] may hold {known}; got {got}")
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
