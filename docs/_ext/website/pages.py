"""Helpers for pages that other rooms use: reading order, and data elements."""

import json
from collections.abc import Iterator
from typing import Any

from sphinx.environment import BuildEnvironment


def reading_order(env: BuildEnvironment, page: str) -> Iterator[str]:
    """Yield a page and all below it in the table of contents."""
    yield page
    for child in env.toctree_includes.get(page, []):
        yield from reading_order(env, child)


def data(value: dict[str, Any] | list[Any], attributes: str) -> str:
    """Return a script element that holds data as JSON, which no text in it can end."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return f"<script {attributes}>{text}</script>"
