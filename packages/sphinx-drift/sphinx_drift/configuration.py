"""Read ``[tool.sphinx-drift]`` of a project's ``pyproject.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING

from sphinx_drift.settings import Settings, entries, read_table
from sphinx_drift.shapes import Place, refuse_unknown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def find_project(start: Path) -> Settings:
    """Read the nearest ``pyproject.toml`` at or above a folder; without one, use the defaults.

    Raises:
        ValueError: If it can't be read, or says what nothing would follow.

    """
    path = project_file(start)
    if path is None:
        return Settings()
    named = f"{path}: {{}} in [tool.sphinx-drift]"
    return replace(Settings(), **read_table(_table(path), Place.PROJECT, path.parent, named))


def project_file(start: Path) -> Path | None:
    """Return the nearest ``pyproject.toml`` at or above a folder; None if there is none."""
    start = start.resolve()
    paths = (folder / "pyproject.toml" for folder in (start, *start.parents))
    return next((path for path in paths if path.is_file()), None)


def _table(path: Path) -> Mapping[str, object]:
    """Return the checker's table of a project's file; refuse unknown names."""
    try:
        table: object = tomllib.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    for name in ("tool", "sphinx-drift"):
        table = table.get(name, {}) if isinstance(table, dict) else None
    if not isinstance(table, dict):
        raise ValueError(f"{path}: [tool.sphinx-drift] must hold names and texts, got {table!r}")  # noqa: TRY004 - the same
    known = [entry.name for entry in entries(Place.PROJECT)]
    refuse_unknown(table, known, f"{path}: [tool.sphinx-drift]")
    return table
