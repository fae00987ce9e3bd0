"""Pages that moved: each old address leads to a page that exists."""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING

import pytest
import small_book
from the_book import DOCS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CONF = runpy.run_path(str(DOCS / "conf.py"))
OLD_AND_NEW = {"old": "new.html#here", "folder/old": "/new.html"}
CONF_OF_SMALL_BOOK = f"""
extensions = ["myst_parser", "sphinx_reredirects"]
redirects = {OLD_AND_NEW!r}
redirect_html_template_file = {str(DOCS / CONF["redirect_html_template_file"])!r}
epub_exclude_files = [f"{{page}}.xhtml" for page in redirects]
version, copyright = "1", "nobody"
"""


def misleading(redirects: Mapping[str, str], docs: Path) -> list[str]:
    """Return the redirects from pages that are still there, or to pages that aren't."""
    found = []
    for old, new in redirects.items():
        page = new.partition("#")[0].removesuffix(".html").removeprefix("/")
        if (docs / f"{old}.md").exists() or not (docs / f"{page}.md").exists():
            found.append(old)
    return found


def test_each_redirect_leads_from_a_page_that_went_to_one_that_exists() -> None:
    assert CONF["redirects"]
    assert misleading(CONF["redirects"], DOCS) == []


@pytest.mark.parametrize(
    ("old", "new"), [("gone", "/no-page.html"), ("here", "/other.html#part"), ("gone", "/here")]
)
def test_one_that_misleads_is_seen(old: str, new: str, tmp_path: Path) -> None:
    (tmp_path / "here.md").write_text("# Here\n", "utf-8")
    assert misleading({"gone-too": "/here.html#part", old: new}, tmp_path) == (
        [] if new == "/here" else [old]
    )


@pytest.mark.slow
def test_the_site_has_redirects_and_the_e_book_none(tmp_path: Path) -> None:
    pages = {"index": "# First\n\n```{toctree}\nnew\n```\n", "new": "# New\n\n(here)=\n## Here\n"}
    small_book.write(tmp_path, {"conf.py": CONF_OF_SMALL_BOOK} | pages)
    for builder in ("html", "epub", "text"):
        result = small_book.build(tmp_path, builder, "-j", "2")
        assert result.returncode == 0, result.stderr
    assert 'href="new.html#here"' in (tmp_path / "html" / "old.html").read_text("utf-8")
    assert 'href="../new.html"' in (tmp_path / "html" / "folder" / "old.html").read_text("utf-8")
    package = (tmp_path / "epub" / "content.opf").read_text("utf-8")
    assert "new.xhtml" in package
    assert "old.xhtml" not in package
    assert not list((tmp_path / "text").rglob("old*"))
