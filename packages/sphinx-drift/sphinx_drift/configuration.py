"""Read ``[tool.sphinx-drift]`` of a project's ``pyproject.toml``."""

from __future__ import annotations

import os
import tomllib
from dataclasses import replace
from pathlib import Path

from sphinx_drift.settings import Settings, entries, read_table, table_in
from sphinx_drift.shapes import Place, refuse_unknown


def find_project(start: Path) -> Settings:
    """Read the nearest ``pyproject.toml`` at or above a folder; without one, use the defaults.

    Raises:
        ValueError: If it can't be read, or says what nothing would follow.

    """
    path = project_file(start)
    if path is None:
        return Settings()
    try:
        written = tomllib.loads(path.read_text("utf-8"))
        table = table_in(table_in(written, "tool"), "sphinx-drift")
        known = [entry.name for entry in entries(Place.PROJECT)]
        refuse_unknown(table, known, "[tool.sphinx-drift]")
        origin = "{} in [tool.sphinx-drift]"
        return replace(Settings(), **read_table(table, Place.PROJECT, path.parent, origin))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def project_file(start: Path) -> Path | None:
    """Return the nearest ``pyproject.toml`` at or above a folder; None if there is none."""
    start = Path(os.path.abspath(start))  # noqa: PTH100 - links stay
    paths = (folder / "pyproject.toml" for folder in (start, *start.parents))
    return next((path for path in paths if path.is_file()), None)
