"""Patterns of pages, read as Sphinx reads those of ``exclude_patterns``."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Pattern(NamedTuple):
    """A pattern of pages or folders, seen from the folder of the file that says it."""

    text: str
    folder: Path | None = None
    """None for every folder there is."""

    def matches(self, page: Path) -> bool:
        """Whether a page, or a folder that it is in, is one of those that are meant."""
        if self.folder is None:
            return True
        own = inside(page, self.folder)
        return own is not None and any(map(_matcher((self.text,)), names(own)))


EVERY_PAGE = (Pattern("**"),)


def matches(patterns: Iterable[str], own: Path) -> bool:
    """Whether a page, seen from the folder of its book, or a folder of it matches a pattern."""
    return any(map(_matcher(tuple(patterns)), names(own)))


def inside(page: Path, folder: Path) -> Path | None:
    """Return a page as a folder sees it, through links too; None if it is elsewhere."""
    named = Path(os.path.abspath(page))  # noqa: PTH100 - links stay
    for path, above in ((named, folder), (page.parent.resolve() / page.name, folder.resolve())):
        if path.is_relative_to(above):
            return path.relative_to(above)
    return None


def names(own: Path) -> list[str]:
    """Return the names by which a pattern may mean a page: its own and those of its folders."""
    return [path.as_posix() for path in (own, *own.parents[:-1])]


@functools.cache
def _matcher(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    from sphinx.util.matching import compile_matchers  # noqa: PLC0415 - slow

    matchers = compile_matchers(patterns)
    return lambda name: any(matcher(name) for matcher in matchers)
