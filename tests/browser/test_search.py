"""The search finds terms, titles and what they were meant to be, with a server and without one."""

import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest
from built_site import Website
from reader import Reader, Visit

ASKED: dict[str, str] = json.loads(
    Path(__file__).parents[1].joinpath("searches.json").read_text("utf-8")
)
"""What readers may ask, and the page that should come first, with or without a section of it."""


def results(visit: Visit) -> list[str]:
    """Return where the results lead, the first one first."""
    visit.page.locator("#search-results .search-summary").wait_for(state="attached")
    visit.page.locator("#search-progress:not(:empty)").wait_for(state="detached")
    links = visit.page.locator("ul.search a")
    return [str(href) for href in links.evaluate_all("(all) => all.map((a) => a.href)")]


def asked(website: Website, words: str) -> str:
    return f"{website.page('search')}?q={quote(words)}"


def test_what_readers_ask_has_its_page_first_or_nothing(reader: Reader, website: Website) -> None:
    wrong = {}
    for words, wanted in ASKED.items():
        with reader.visit(asked(website, words)) as visit:
            found = [*results(visit), ""][0].removeprefix(f"{website.address}/")
            first = re.sub(r"\.html[^#]*", "", found)
            if first != wanted and ("#" in wanted or first.partition("#")[0] != wanted):
                wrong[words] = first
    assert wrong == {}


def test_a_word_is_looked_up_from_a_page_and_without_a_server(
    reader: Reader, website: Website, site: Path
) -> None:
    for start in (website.page("self-attention/step-by-step"), (site / "index.html").as_uri()):
        with reader.visit(start) as visit:
            field = visit.page.get_by_role("searchbox")
            field.fill("softmax")
            field.press("Enter")
            visit.page.locator("ul.search a").first.click()
            visit.page.wait_for_load_state("load")
            assert "softmax" in visit.page.locator("article").inner_text().lower()


@pytest.mark.parametrize(
    "words", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "(((((", "%"]
)
def test_any_words_are_words(reader: Reader, website: Website, words: str) -> None:
    with reader.visit(asked(website, words)) as visit:
        visit.page.wait_for_timeout(300)
        assert visit.page.locator("main :is(img, script[src^=x])").count() == 0


def test_results_have_no_fault(reader: Reader, website: Website) -> None:
    with reader.visit(asked(website, "0.3061"), 390) as visit:
        results(visit)
        assert visit.probe("sideways", "contrast") + visit.axe() == []
