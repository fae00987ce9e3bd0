"""The book's pages in the order in which they are read, and a list of them for who joins them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment


def reading_order(env: BuildEnvironment, page: str, depth: int = 0) -> Iterator[tuple[str, int]]:
    """Yield a page and those below it as a reader meets them, and how deep each stands."""
    yield page, depth
    for child in env.toctree_includes.get(page, []):
        yield from reading_order(env, child, depth + 1)


def write_order(app: Sphinx, exception: Exception | None) -> None:
    """Leave a list of the pages beside the doctrees."""
    if exception is not None or app.builder.name not in {"html", "dirhtml"}:
        return
    pages = [
        {"file": app.builder.get_target_uri(page), "depth": depth}
        for page, depth in reading_order(app.env, app.config.root_doc)
    ]
    text = json.dumps({"title": app.config.html_title, "pages": pages}, indent=1)
    Path(app.doctreedir, "reading-order.json").write_text(text, "utf-8")


def setup(app: Sphinx) -> None:
    app.connect("build-finished", write_order)
