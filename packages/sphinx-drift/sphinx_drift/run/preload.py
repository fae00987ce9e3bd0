"""Which libraries are loaded once for all pages, before a process is forked for each."""

from __future__ import annotations

import contextlib
import re
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

SLOW = ("numpy", "torch")
"""Libraries that take long to import and may be forked after it; each imports those before it."""

_IMPORT = re.compile(r"(?<![\w.])(?:import|from)\s+(\w+)")
_PAGES = (".ipynb", ".md", ".py", ".rst")


def libraries(named: Sequence[str] | None, places: Iterable[Path]) -> tuple[str, ...]:
    """Return the libraries to load: those that are named, or the slow ones that pages import."""
    return imported_below(places) if named is None else tuple(named)


def imported_below(places: Iterable[Path]) -> tuple[str, ...]:
    """Return the slow libraries that the files below some places, or those files, name in imports.

    Those that nobody installed are left out.
    A page of prose that names one counts too: it costs a process in the background some time.
    """
    imported: set[str] = set()
    for path in _files(places):
        if imported.issuperset(SLOW):
            break
        with contextlib.suppress(OSError):  # a link that leads nowhere, say: Sphinx warns of it
            imported.update(_IMPORT.findall(path.read_text("utf-8", "replace")))
    needed = [place for place, name in enumerate(SLOW) if name in imported]
    return tuple(filter(PathFinder.find_spec, SLOW[: needed[-1] + 1])) if needed else ()


def _files(places: Iterable[Path]) -> Iterable[Path]:
    for place in places:
        below = sorted(place.rglob("*")) if place.is_dir() else [place]
        hidden = (path.relative_to(place).parts for path in below)
        for path, parts in zip(below, hidden, strict=True):
            if path.suffix in _PAGES and not any(p.startswith(("_", ".")) for p in parts):
                yield path
