"""Every link within the built book leads somewhere, and so does each page that moved."""

from html.parser import HTMLParser
from importlib.metadata import distributions
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from the_book import DOCS, MANUAL, current_site

MANY = 1000


class Page(HTMLParser):
    """The anchors of a page, where its links lead, and whether it is a redirect."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.is_redirect = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            elif name in {"href", "src"} and value is not None:
                self.links.append(value)
            elif name == "content" and tag == "meta" and ("http-equiv", "refresh") in attrs:
                self.is_redirect = True
                self.links.append((value or "").partition("url=")[2])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return current_site(tmp_path_factory.mktemp("book"))


def pages_of(site: Path) -> list[Path]:
    """Return the pages; the theme leaves templates of its own among the static files."""
    return sorted(p for p in site.rglob("*.html") if "_static" not in p.relative_to(site).parts)


def broken(site: Path, docs: Path = DOCS) -> tuple[int, list[str]]:
    """Return how many links were followed, and which pages and links are lost."""
    files = pages_of(site)
    pages = {file.resolve(): Page(file.read_text("utf-8")) for file in files}
    followed = 0
    found = []
    for file, page in pages.items():
        name = file.relative_to(site.resolve())
        if page.is_redirect and (docs / name).with_suffix(".md").exists():
            found.append(f"{name}: a redirect has replaced the page")
        for link in page.links:
            if urlsplit(link).scheme or link.startswith("//"):
                continue
            followed += 1
            if not _leads(link, file, pages, site.resolve()):
                found.append(f"{name}: {link}")
    return followed, found


def _leads(link: str, file: Path, pages: dict[Path, Page], site: Path) -> bool:
    address, anchor = urldefrag(link)
    path = unquote(urlsplit(address).path)
    # A page that may be shown anywhere, such as 404, starts its links at the site's top.
    start = site if path.startswith("/") else file.parent
    target = (start / path.lstrip("/")).resolve() if path else file
    if not anchor:
        return target.exists()
    return target in pages and unquote(anchor) in pages[target].ids


@pytest.mark.slow
class TestBook:
    def test_every_link_within_the_book_leads_somewhere(self, site: Path) -> None:
        followed, found = broken(site)
        assert found == []
        assert followed > MANY

    def test_an_anchor_stands_once_on_a_page(self, site: Path) -> None:
        for file in pages_of(site):
            ids = Page(file.read_text("utf-8")).ids
            assert {i for i in ids if ids.count(i) > 1} == set(), file.name

    def test_other_sites_are_linked_by_https(self, site: Path) -> None:
        for file in pages_of(site):
            links = Page(file.read_text("utf-8")).links
            outside = {link for link in links if urlsplit(link).scheme}
            assert {link for link in outside if not link.startswith(("https://", "data:"))} == set()

    def test_book_and_manual_lead_to_each_other(self, site: Path) -> None:
        manual = "../sphinx-drift/index.html"
        assert manual in Page((site / "reference" / "verification.html").read_text("utf-8")).links
        home = Page((site / "sphinx-drift" / "outcomes.html").read_text("utf-8")).links
        assert "../index.html" in home


class TestCheck:
    @pytest.mark.parametrize("link", ["gone.html", "other.html#gone", "#gone", "../up.html"])
    def test_a_link_that_leads_nowhere_is_detected(self, tmp_path: Path, link: str) -> None:
        (tmp_path / "other.html").write_text('<p id="here">')
        page = f'<a href="{link}"></a><a href="other.html#here"></a><a href="https://x.org"></a>'
        (tmp_path / "page.html").write_text(page)
        assert broken(tmp_path) == (2, [f"page.html: {link}"])

    def test_a_redirect_is_followed_and_replaces_no_page(self, tmp_path: Path) -> None:
        (tmp_path / "old.html").write_text('<meta http-equiv="refresh" content="0; url=gone.html">')
        assert broken(tmp_path, tmp_path) == (1, ["old.html: gone.html"])
        (tmp_path / "old.md").touch()
        assert "old.html: a redirect has replaced the page" in broken(tmp_path, tmp_path)[1]


def test_the_licences_name_whoever_made_what_the_site_ships(site: Path) -> None:
    page = (site / "reference" / "references.html").read_text("utf-8").lower()
    folders = (DOCS / "_ext", DOCS / "_static", DOCS / "_themes", MANUAL.parent / "sphinx_drift")
    ours = {path.name for folder in folders for path in folder.rglob("*")}
    shipped = {path.name for path in (site / "_static").rglob("*.*")} - ours
    makers = {
        made.metadata["Name"].lower().replace("_", "-")
        for made in distributions()
        if any(f.name in shipped and "sphinx" in str(f) for f in made.files or ())
    }
    assert "sphinx" in makers
    assert not [maker for maker in makers if maker not in page]
