"""Read what a project of mystmd says in ``myst.yml``: which pages it builds."""

from __future__ import annotations

import functools
import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from sphinx_drift.patterns import inside

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

NAME = "myst.yml"
_ENDINGS = ("", ".md", ".ipynb")
"""What a table of contents may leave out of a file's name."""
_IGNORED = ("node_modules", "_build")


def read_project(file: Path) -> Mapping[str, Any] | None:
    """Return the project of a ``myst.yml``; None if it has none, as one of a site alone.

    Raises:
        ValueError: If a value is none that mystmd would read.

    """
    written = yaml.safe_load(file.read_text("utf-8"))
    project = written.get("project") if isinstance(written, dict) else None
    if not isinstance(project, dict):
        return None
    for name, kinds in (("toc", (list,)), ("exclude", (list, str))):
        if not isinstance(project.get(name, []), kinds):
            wanted = " or ".join("a list" if kind is list else "a text" for kind in kinds)
            raise ValueError(f"project.{name} must be {wanted}, got {project[name]!r}")  # noqa: TRY004 - the file is wrong
    return {"toc": project.get("toc"), "exclude": project.get("exclude", [])}


def excludes(project: Mapping[str, Any], folder: Path, page: Path) -> str:
    """Return the setting by which a project doesn't build a page; nothing if it does.

    Args:
        project: What `read_project` has read.
        folder: The folder that `myst.yml` is in.
        page: The page.

    """
    own = inside(page, folder)
    if own is None:
        return NAME
    excluded = _excluded(str(folder), _texts(project["exclude"]))
    if any(folder / path in excluded for path in (own, *own.parents[:-1])):
        return "exclude"
    if project["toc"] is not None:
        return "" if folder / own in _listed(folder, project["toc"]) - excluded else "toc"
    hidden = any(part.startswith(".") or part in _IGNORED for part in own.parts)
    return NAME if hidden else ""


def _texts(value: object) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(map(str, value or ()))  # type: ignore[call-overload]


@functools.cache
def _excluded(folder: str, patterns: Iterable[str]) -> frozenset[Path]:
    return frozenset(path for text in patterns for path in _matched(Path(folder), text))


def _matched(folder: Path, pattern: str) -> Iterator[Path]:
    for name in glob.iglob(pattern, root_dir=folder, recursive=True):  # noqa: PTH207 - it leaves out hidden files, as mystmd does
        yield folder / name.rstrip("/")


def _listed(folder: Path, entries: Iterable[Any]) -> set[Path]:
    """Return the files that a table of contents names, those of its parts too."""
    found: set[Path] = set()
    for entry in entries:
        if not isinstance(entry, dict):
            continue
        if isinstance(name := entry.get("file"), str):
            found |= {folder / f"{name.removeprefix('./')}{ending}" for ending in _ENDINGS}
        if isinstance(pattern := entry.get("pattern"), str):
            found.update(_matched(folder, pattern))
        found |= _listed(folder, entry.get("children") or ())
    return found
