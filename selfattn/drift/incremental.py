"""Whether a page must be run again: what it was made from, held against what is there now."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Made", "made_from", "project_of", "surroundings"]

# Variables that change what a page prints without changing its code.
_TELLING = (
    *("ATEN_", "CUBLAS_", "CUDA_", "GOMP_", "KMP_", "MKL_", "OMP_", "OPENBLAS_"),
    *("PYTHON", "PYTORCH_", "SELFATTN_DEVICE", "TORCH_"),
)
_MARKERS = ("pyproject.toml", ".git", "setup.py")


@dataclass(frozen=True)
class Made:
    """What the results of a page were made from, besides its own text."""

    surroundings: str
    files: Mapping[str, str]
    """The digest of each file that the page depends on."""

    def holds(self, now: str) -> bool:
        """Tell whether the page would be made from the same today."""
        same = (_digest_of(path) == digest for path, digest in self.files.items())
        return self.surroundings == now and all(same)


def made_from(files: Iterable[str], now: str, project: Path) -> Made:
    """Keep what a page was made from: local modules, and data of the project."""
    kept = (path for path in files if path.endswith(".py") or Path(path).is_relative_to(project))
    return Made(now, {path: _digest_of(path) for path in kept})


def surroundings(settings: object) -> str:
    """Return a digest of everything but files: versions, environment, settings."""
    told = {name: value for name, value in os.environ.items() if name.startswith(_TELLING)}
    parts = [sys.version, platform.platform(), repr(settings), repr(sorted(told.items()))]
    parts += [*_installed(), *_own_code()]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def project_of(folder: Path) -> Path:
    """Return the folder of the project that a book belongs to; its own if there is none above."""
    above = (
        each for each in (folder, *folder.parents) if any((each / m).exists() for m in _MARKERS)
    )
    return next(above, folder)


def _installed() -> list[str]:
    """Return the names and versions of all that is installed, as their folders say."""
    found: set[str] = set()
    for folder in sys.path:
        path = Path(folder)
        if folder and path.is_dir():
            found.update(entry.name for entry in path.glob("*.dist-info"))
    return sorted(found)


def _own_code() -> list[str]:
    """Return what the code that checks is like: it judges, so another one judges anew."""
    package = Path(__file__).parents[1]
    sources = sorted(path for part in ("drift", "runner") for path in (package / part).glob("*.py"))
    return [f"{path.name} {_digest_of(str(path))}" for path in sources]


def _digest_of(path: str) -> str:
    """Return the digest of a file's content; nothing if it is not there."""
    try:
        said = Path(path).stat()
        return _read_digest(path, said.st_mtime_ns, said.st_size)
    except OSError:
        return ""


@functools.lru_cache(maxsize=4096)
def _read_digest(path: str, _modified: int, _size: int) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
