"""The way from a page up to the folder of its book and of its project."""

import os
from collections.abc import Iterable
from pathlib import Path

OF_MYSTMD = ("myst.yml", "myst.yaml")
"""The file of a book that mystmd builds, by either name."""
OF_BOOK = ("conf.py", *OF_MYSTMD, "_config.yml")
"""The files that say how a book is built, one of which its folder holds."""
OF_PROJECT = (".git", "pyproject.toml")
"""What the folder of a project holds; what is above it belongs to others."""


def upwards(folder: Path) -> tuple[Path, ...]:
    """Return a folder and all above it; links stay."""
    folder = Path(os.path.abspath(folder))  # noqa: PTH100 - links stay
    return (folder, *folder.parents)


def nearest(folder: Path, names: Iterable[str]) -> Path | None:
    """Return the nearest folder, at or above one, that holds one of some files, or None."""
    return next((parent for parent in upwards(folder) if holds(parent, names)), None)


def holds(folder: Path, names: Iterable[str]) -> bool:
    """Whether a folder holds one of some files or folders."""
    return any((folder / name).exists() for name in names)
