"""The book's contents: its pages in the order in which they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.environment import BuildEnvironment


def reading_order(env: BuildEnvironment, page: str, depth: int = 0) -> Iterator[tuple[str, int]]:
    """Yield a page and those below it as a reader meets them, and how deep each stands."""
    yield page, depth
    for child in env.toctree_includes.get(page, []):
        yield from reading_order(env, child, depth + 1)
