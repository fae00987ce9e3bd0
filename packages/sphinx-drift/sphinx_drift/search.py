"""Find the pages and notebooks below folders, and say what is one by its name."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

_ENDINGS = (".md", ".ipynb")
_UNSEARCHED = (
    *(".*", "node_modules", "__pycache__"),
    *("_build", "_downloads", "_sources", "doctrees", "jupyter_execute"),
)
"""Files and folders that hold no pages, or copies that a build made of them."""
_OF_ENVIRONMENT = ("pyvenv.cfg", "conda-meta")
"""What an environment has."""


def find_pages(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the files to check: those given, and the pages and notebooks below folders."""
    for path in paths:
        if path.is_dir():
            below = list(_below(path))
            if not below:
                raise ValueError(f"there is no page or notebook below {path}")
            yield from below
        elif path.is_file():
            yield path
        else:
            raise ValueError(f"there is no file or folder {path}")


def _below(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder, followlinks=True):  # as Sphinx does
        above = [parent for parent in Path(root).parents if parent.is_relative_to(folder)]
        if Path(root).resolve() in map(Path.resolve, above):  # a link led back
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if is_searched(Path(root, name)))
        for name in sorted(files):
            if is_searched(path := Path(root, name)) and is_page(path):
                yield path


def is_searched(path: Path) -> bool:
    """Whether a path is looked at: none that is hidden, or holds built pages or an environment."""
    if any(map(path.match, _UNSEARCHED)):
        return False
    return not any((path / name).exists() for name in _OF_ENVIRONMENT)


def is_page(path: Path) -> bool:
    """Whether a file is a page or a notebook, by its name."""
    return path.suffix.lower() in _ENDINGS
