"""The site's theme: what a page loads, and what its foot tells."""

import re
from datetime import UTC, datetime

import pytest
from the_book import DOCS

from sphinx_drift.compare.outcomes import Kind, Outcome, PageResult
from website import theme, verified_foot


@pytest.fixture(scope="module")
def sheet() -> str:
    return theme.bundle(theme.SHEETS)


def test_style_sheets_of_the_folder_are_all_in_the_bundle() -> None:
    assert set(theme.SHEETS) == set((DOCS / "_theme" / "styles").glob("*.css"))


def test_bundle_keeps_each_rule(sheet: str) -> None:
    sources = "".join(path.read_text("utf-8") for path in theme.SHEETS)
    assert sheet.count("{") == sources.count("{") == sheet.count("}")
    assert "/*" not in sheet


def test_bundle_loads_its_own_fonts_and_nothing_else(sheet: str) -> None:
    files = re.findall(r'url\("([^"]+)"\)', sheet)
    assert len(files) == 4
    assert all((DOCS / "_theme" / "static" / file).is_file() for file in files)
    assert "//" not in sheet


def test_fonts_are_licensed_and_light() -> None:
    folder = DOCS / "_theme" / "static" / "fonts"
    licence = (folder / "LICENSE.txt").read_text("utf-8")
    fonts = list(folder.glob("*.woff2"))
    assert all(font.name in licence for font in fonts)
    assert sum(font.stat().st_size for font in fonts) < 60_000


@pytest.mark.parametrize(
    ("name", "body", "wanted"),
    [
        ("book.css", "", True),
        ("styles/sphinx-book-theme.css", "", False),
        ("mystnb.11b3.css", "<div class='cell'>", False),
        ("pygments.css", "<pre>", False),
        ("drift-mark.css", '<div class="drift-mark">', False),
        ("sphinx-design.min.css", '<details class="sd-dropdown sd-card">', False),
        ("sphinx-design.min.css", '<div class="sd-row">', True),
        ("explorer.css", "", True),
    ],
)
def test_page_loads_a_style_sheet_where_it_needs_one(name: str, body: str, *, wanted: bool) -> None:
    assert theme.wanted_sheet(name, body) is wanted


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("book.js", True),
        ("explorer.js", True),
        ("", False),
        ("scripts/sphinx-book-theme.js", False),
        ("doctools.js", False),
        ("searchtools.js", False),
    ],
)
def test_page_loads_a_script_where_it_needs_one(name: str, *, wanted: bool) -> None:
    assert theme.wanted_script(name, "") is wanted


@pytest.mark.parametrize(
    ("verified", "total", "told"),
    [
        (6, 6, "All 6 outputs on this page were"),
        (5, 6, "5 of the 6 outputs on this page were"),
        (1, 1, "The one output on this page was"),
        (0, 1, "The one output on this page was not"),
    ],
)
def test_foot_counts(verified: int, total: int, told: str) -> None:
    assert verified_foot.counted(verified, total) == told


@pytest.mark.parametrize(
    ("language", "told"),
    [("en", "3 March 2026"), ("de", "3 März 2026"), ("ja", "3 3月 2026")],
)
def test_foot_names_the_day_in_the_language_of_the_book(language: str, told: str) -> None:
    seconds = datetime(2026, 3, 3, tzinfo=UTC).timestamp()
    assert verified_foot.day_of(seconds, language) == told


def test_foot_counts_what_was_not_verified() -> None:
    outcomes = (
        Outcome(Kind.VERIFIED, 3, body_line=4),
        Outcome(Kind.UNCHECKED, 9, body_line=10),
        Outcome(Kind.DRIFT, 20, body_line=21),
    )
    assert verified_foot.share(PageResult("page.md", outcomes)) == (1, 3)


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ('<span class="pre">--stderr</span>', '<span class="pre nowrap">--stderr</span>'),
        ('<span class="pre">d_in</span>', '<span class="pre">d_in</span>'),
        (f'<span class="pre">{"long-" * 9}</span>', f'<span class="pre">{"long-" * 9}</span>'),
        ("<h1>A self-attention class", '<h1>A <span class="nowrap">self-attention</span> class'),
        ("<p>A self-attention class", "<p>A self-attention class"),
    ],
)
def test_short_words_with_a_hyphen_are_kept_whole(body: str, kept: str) -> None:
    assert theme.keep_whole(body) == kept


def test_templates_say_why_they_are_there() -> None:
    for template in (DOCS / "_theme").rglob("*.html"):
        assert template.read_text("utf-8").startswith("{#-"), template
