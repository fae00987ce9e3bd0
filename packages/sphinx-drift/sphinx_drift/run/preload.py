"""Which libraries are loaded once for all pages, before a process is forked for each."""

import contextlib
import re
from collections.abc import Iterable, Sequence
from importlib.machinery import PathFinder
from itertools import chain
from pathlib import Path

SLOW = ("numpy", "torch")
"""Libraries that take long to import and may be forked after it; each imports those before it."""

_IMPORT = re.compile(r"(?<![\w.])(?:import|from)\s+(\w+)")
_SUFFIXES = (".ipynb", ".md", ".py", ".rst")


def libraries(named: Sequence[str] | None, paths: Iterable[Path]) -> tuple[str, ...]:
    """Return the libraries to load: those that are named, or the slow ones that pages import.

    A path is a page or a folder of pages. A prose page that names a library counts, too.
    """
    if named is not None:
        return tuple(named)
    imported: set[str] = set()
    for path in chain.from_iterable(map(_pages, paths)):
        with contextlib.suppress(OSError):  # such as a broken link, of which Sphinx warns
            imported.update(_IMPORT.findall(path.read_text("utf-8", "replace")))
    needed = [index for index, name in enumerate(SLOW) if name in imported]
    return tuple(filter(PathFinder.find_spec, SLOW[: needed[-1] + 1])) if needed else ()


def _pages(root: Path) -> Iterable[Path]:
    for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
        is_hidden = any(part.startswith(("_", ".")) for part in path.relative_to(root).parts)
        if path.suffix in _SUFFIXES and not is_hidden:
            yield path
