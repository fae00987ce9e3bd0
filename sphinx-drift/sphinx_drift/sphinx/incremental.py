"""Whether a page may be left out of a build, as far as one can tell: for ``drift_rerun``.

This is a heuristic, for books whose pages take long: a page can read more than is noticed here.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_drift.run.results import FileState
from sphinx_drift.sphinx.files import content_digest, replace_text

if TYPE_CHECKING:
    from collections.abc import Mapping

# Variables that change what a page prints without changing its code.
_TELLING = (
    *("ATEN_", "CUBLAS_", "CUDA_", "GOMP_", "KMP_", "MKL_", "OMP_", "OPENBLAS_"),
    *("PYTHON", "PYTORCH_", "DRIFT_DEVICE", "TORCH_"),
)


@dataclass(frozen=True)
class Origin:
    """What the run of a page depended on, as far as it was noticed."""

    digest: str
    """The digest of the page's cells, of versions, variables and settings."""
    files: Mapping[str, FileState | None] = field(default_factory=dict)
    """Local modules and data, as they were when the page opened them; None if there were none."""
    complete: bool = True
    """Whether the page came to its end, so that it could be asked for its files."""

    def is_current(self, now: str) -> bool:
        """Tell whether the page seems to depend on nothing that is different by now."""
        return self.complete and self.digest == now and not self.changed()

    def changed(self, *, by_content: bool = False) -> list[str]:
        """Return the files that aren't what they were.

        Args:
            by_content: Whether a file counts only if its content is known to be another.

        """
        return [path for path, state in self.files.items() if _differs(path, state, by_content)]


def _differs(path: str, state: FileState | None, by_content: bool) -> bool:  # noqa: FBT001 - passed on
    try:
        status = Path(path).stat()
        now = status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino
    except OSError:
        now = None
    if now == (state and state[:4]):
        return False
    if not by_content:
        return True
    return state is not None and state.digest not in {"", content_digest(Path(path))}


def surroundings(settings: object) -> str:
    """Return a digest of everything but files: versions, environment, settings."""
    telling = {name: value for name, value in os.environ.items() if name.startswith(_TELLING)}
    parts = [sys.version, platform.platform(), repr(settings), repr(sorted(telling.items()))]
    parts += [*_installed(), *_own_code()]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def load_origins(path: Path) -> dict[str, Origin]:
    """Return what the pages of an earlier build depended on, by document name."""
    try:
        stored = json.loads(path.read_text("utf-8"))
        return {
            name: Origin(
                page["digest"],
                {file: state and FileState(*state) for file, state in page["files"].items()},
                page["complete"],
            )
            for name, page in stored.items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}  # nothing is known, so every page runs


def save_origins(path: Path, origins: Mapping[str, Origin]) -> None:
    """Keep what pages depend on for the next build."""
    stored = {name: vars(origin) for name, origin in origins.items()}
    replace_text(path, json.dumps(stored))


def _installed() -> list[str]:
    """Return the names and versions of all that is installed, as their folders say."""
    names: set[str] = set()
    for folder in sys.path:
        path = Path(folder)
        if folder and path.is_dir():
            names.update(entry.name for entry in path.glob("*.dist-info"))
    return sorted(names)


def _own_code() -> list[str]:
    """Return what the code that checks is like: it judges, so another one judges anew."""
    package = Path(__file__).parents[1]
    sources = sorted(package.rglob("*.py"))
    return [f"{path.name} {content_digest(path)}" for path in sources]
