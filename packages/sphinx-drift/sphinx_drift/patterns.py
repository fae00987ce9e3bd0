"""Patterns of pages, read as Sphinx reads those of ``exclude_patterns``."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Pattern(NamedTuple):
    """A pattern of pages or folders, seen from the folder of the file that says it."""

    text: str
    folder: Path | None = None
    """None for every folder there is."""

    def matches(self, page: Path) -> bool:
        """Whether a page, or a folder that it is in, matches."""
        if self.folder is None:
            return True
        relative = inside(page, self.folder)
        return relative is not None and matches((self.text,), relative)


EVERY_PAGE = (Pattern("**"),)


def matches(patterns: Iterable[str], relative: Path, *, with_folders: bool = True) -> bool:
    """Whether a page, seen from the folder of its book, matches a pattern, or a folder of it."""
    from sphinx.util.matching import compile_matchers  # noqa: PLC0415 - before it, a build starts its host

    folders = relative.parents[:-1] if with_folders else ()
    names = [path.as_posix() for path in (relative, *folders)]
    return any(is_match(name) for is_match in compile_matchers(patterns) for name in names)


def inside(page: Path, folder: Path) -> Path | None:
    """Return a page as a folder sees it, which may be linked there; None if it is elsewhere."""
    page = Path(os.path.abspath(page))  # noqa: PTH100 - links stay
    return page.relative_to(folder) if page.is_relative_to(folder) else None
