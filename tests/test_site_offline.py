"""The copy of the book that browsers save: its files, and how a browser notices a new build."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING

import pytest
from small_book import build, write
from the_book import EXTENSIONS_ON_PATH

from website import offline

if TYPE_CHECKING:
    from pathlib import Path

PAGE = '<link href="../_static/book.css?v=1"><script src="../searchindex.js"></script>'
SITE = {
    "part/page.html": f'{PAGE}<a href="../other/page.html">x</a><img src="../_static/gone.png">',
    "_static/book.css": "",
    "_static/unused.css": "",
    "_static/fonts/serif.woff2": "",
    "_downloads/book.pdf": "",
    "other/page.html": "",
    "searchindex.js": "",
}
CONF = f"""
{EXTENSIONS_ON_PATH}
extensions = ["website.offline"]
exclude_patterns = ["html", "text"]
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return write(tmp_path, SITE)


def worker(site: Path) -> str:
    offline.write(site, ["part/page.html", "no/page.html"])
    return (site / offline.WORKER).read_text("utf-8")


def test_pages_and_what_they_use_are_saved(site: Path) -> None:
    worker(site)
    listed = json.loads((site / offline.LIST).read_text("utf-8"))
    assert list(listed) == [
        "_static/book.css",
        "_static/fonts/serif.woff2",
        "part/page.html",
        "searchindex.js",
    ]
    digest = hashlib.sha256((site / "part/page.html").read_bytes()).digest()
    assert listed["part/page.html"] == f"sha256-{base64.b64encode(digest).decode()}"


def test_the_worker_is_another_one_if_any_file_is(site: Path) -> None:
    first = worker(site)
    assert worker(site) == first
    assert "@BUILD@" not in first
    for changed in ("part/page.html", "_static/book.css", "searchindex.js"):
        before = worker(site)
        (site / changed).write_text(f"{SITE[changed]} ", "utf-8")
        assert worker(site) != before
    (site / "_static/unused.css").write_text("x", "utf-8")
    after = worker(site)
    (site / "_static/unused.css").write_text("y", "utf-8")
    assert worker(site) == after


def test_a_build_for_browsers_alone_has_a_worker(tmp_path: Path) -> None:
    write(tmp_path, {"conf.py": CONF, "index.rst": "Page\n====\n"})
    for builder, has_one in (("html", True), ("text", False)):
        said = build(tmp_path, builder)
        assert said.returncode == 0, said.stderr
        assert (tmp_path / builder / offline.WORKER).exists() is has_one
    listed = json.loads((tmp_path / "html" / offline.LIST).read_text("utf-8"))
    assert {"index.html", "genindex.html", "search.html"} <= set(listed)
