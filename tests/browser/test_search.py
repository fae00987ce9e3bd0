"""The search finds first where a term is explained, with a server and without one."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest
from built_site import Website

if TYPE_CHECKING:
    from pathlib import Path

    from reader import Reader, Visit

STEP = "self-attention/step-by-step.html"
FIRST = {
    "W_query": f"{STEP}#step-1-queries-keys-and-values",
    "w_query": f"{STEP}#step-1-queries-keys-and-values",
    "scaled dot product": f"{STEP}#step-3-attention-weights",
    "Scaled dot-product attention": f"{STEP}#step-3-attention-weights",
    "scaled_dot_product_attention": "companions/one-call.html#section-3-4-in-one-call",
    "attention scores": f"{STEP}#step-2-attention-scores",
    "figure 3.16": f"{STEP}#fig-3-16",
    "listing 3.1": "self-attention/compact-class.html#listing-3-1",
    "3.4.2": "self-attention/compact-class.html",
    "exercise 3.1": "self-attention/exercise-3-1.html",
    "nn.Linear": "self-attention/compact-class.html#a-better-start-linear-layers",
    "variance": "companions/why-scale.html#the-derivation",
}


def results(visit: Visit) -> list[str]:
    """Return where the results lead, the first one first."""
    visit.page.locator(".search-summary", has_text=re.compile("found", re.IGNORECASE)).wait_for()
    links = visit.page.locator("ul.search a").all()
    return [link.get_attribute("href") or "" for link in links]


@pytest.mark.parametrize("words", FIRST)
def test_what_explains_comes_first(reader: Reader, website: Website, words: str) -> None:
    with reader.visit(f"{website.page('search')}?q={words.replace(' ', '+')}") as visit:
        found = results(visit)
        assert found[0] == FIRST[words]
        assert len(found) == len(set(found))
        assert visit.heard == []


def test_without_a_server_the_same_is_found(reader: Reader, site: Path) -> None:
    with reader.visit(f"{(site / 'search.html').as_uri()}?q=W_query") as visit:
        assert results(visit)[0] == FIRST["W_query"]
        assert visit.heard == []


def test_a_word_in_the_text_alone_is_found_and_leads_to_it(
    reader: Reader, website: Website
) -> None:
    with reader.visit(f"{website.page('search')}?q=torch.manual_seed") as visit:
        found = results(visit)
        assert f"{STEP}#:~:text=torch.manual_seed" in found
        visit.page.locator(f'a[href^="{STEP}"]').last.click()
        visit.page.wait_for_url("**/step-by-step.html*")
        visit.page.wait_for_function("scrollY > 500")


def test_nothing_found_says_so_and_where_to_look(reader: Reader, website: Website) -> None:
    with reader.visit(f"{website.page('search')}?q=zebra") as visit:
        assert results(visit) == []
        said = visit.page.get_by_role("status").filter(has_text="Nothing found")
        assert "glossary" in said.inner_text()


def test_a_search_page_that_lost_its_places_is_noticed(
    reader: Reader, site: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(site, tmp_path / "site", ignore=shutil.ignore_patterns("_downloads"))
    page = copy / "search.html"
    text, count = re.subn(r'"places":\[.*\]\}', '"places":[]}', page.read_text("utf-8"))
    assert count == 1
    page.write_text(text, "utf-8")
    with Website(copy) as broken, reader.visit(f"{broken.page('search')}?q=W_query") as visit:
        assert results(visit)[0] != FIRST["W_query"]
