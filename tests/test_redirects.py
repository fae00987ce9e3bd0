"""Pages that moved: each old address leads to a page that exists."""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING

from the_book import DOCS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

REDIRECTS = runpy.run_path(str(DOCS / "conf.py"))["redirects"]


def misleading(redirects: Mapping[str, str], docs: Path) -> list[str]:
    """Return the redirects from pages that are still there, or to pages that aren't."""
    found = []
    for old, new in redirects.items():
        page = new.partition("#")[0].removesuffix(".html").removeprefix("/")
        if (docs / f"{old}.md").exists() or not (docs / f"{page}.md").exists():
            found.append(old)
    return found


def test_each_redirect_leads_from_a_page_that_went_to_one_that_exists() -> None:
    assert REDIRECTS
    assert misleading(REDIRECTS, DOCS) == []


def test_one_that_misleads_is_seen(tmp_path: Path) -> None:
    (tmp_path / "here.md").touch()
    redirects = {"gone": "/here.html#part", "lost": "/no-page.html", "here": "/here.html"}
    assert misleading(redirects, tmp_path) == ["lost", "here"]
