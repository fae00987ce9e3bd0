"""The site around the pages: search, permanent links, descriptions, style sheets, the foot."""

import json
import re
from pathlib import Path

import pytest
from small_book import FRONT, built, cell, refused
from the_book import DOCS, EXTENSIONS_ON_PATH
from the_book import PAGES as BOOK_PAGES

from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome, PageResult
from website import verified_foot

THEME = DOCS / "_themes" / "selfattn"
CONF = f"""
{EXTENSIONS_ON_PATH}
project = "The <book>"
extensions = ["myst_nb", "sphinx_drift",
              "figures", "website.outputs", "website.search", "website.citations"]
html_theme = "selfattn"
html_theme_path = [{str(THEME.parent)!r}]
html_baseurl = "https://example.org/book/"
"""
OTHER = """---
myst:
  html_meta:
    description: What "other" <is> about.
---

# Another

We quote {printed}`product`.
"""
PAGES = {
    "index": "# The first page\n\n```{toctree}\none\npart/other\n```\n",
    "part/other": OTHER,
    "one": f"""{FRONT}# Words & </script>

{cell("print(6 * 7)", f":name: product{chr(10)}42")}

It is {{printed}}`product`.

## A step

In code it is called `W_query`.

{cell("print(2)", "2")}

{cell("print('</script>')", "</script>")}

## Step

(step-output-1)=
A paragraph with a label.

{cell("print(3)", "3")}
""",
}


def book(explained: str) -> dict[str, str]:
    return {"conf.py": CONF, "_data/explained.toml": explained} | PAGES


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("book"), book('["one"]\na-step = ["W_query"]\n'))


def read(out: Path, name: str) -> str:
    return (out / f"{name}.html").read_text("utf-8")


def test_outputs_have_ids(site: Path) -> None:
    ids = re.findall(r'\bid="([^"]+)"', read(site, "one"))
    assert len(set(ids)) == len(ids)
    assert {"output-1", "a-step-output-2", "step-output-2"} <= {*ids}  # one was taken


@pytest.mark.parametrize(("page", "address"), [("one", ""), ("part/other", "../one.html")])
def test_a_number_in_a_sentence_is_a_link_to_its_output(
    site: Path, page: str, address: str
) -> None:
    link = f'<a class="drift-quoted reference internal" href="{address}#output-1">42</a>'
    assert link in read(site, page)


def test_the_search_page_alone_knows_what_is_explained_where(site: Path) -> None:
    found = re.findall(r'<script [^>]*id="direct-answers">(.*?)</script>', read(site, "search"))
    assert ["W_query", "one.html#a-step", "Words & </script>"] in json.loads(found[0])
    assert "direct-answers" not in read(site, "one")


def test_a_wrong_explanation_fails_the_build(tmp_path: Path) -> None:
    said = refused(tmp_path, book('["one"]\nno-step = ["W_query"]\na-step = ["softmax"]'))
    for problem in (
        "there is no section #no-step on this page",
        "section #a-step doesn't have the term 'softmax'",
    ):
        assert f"_data/explained.toml: {problem}" in said


def test_a_page_has_its_address_and_needed_files_alone(site: Path) -> None:
    text = read(site, "part/other")
    assert '<link rel="canonical" href="https://example.org/book/part/other.html"' in text
    assert text.count('name="description"') == 1
    files = re.findall(r'<(?:script|link)[^>]* (?:src|href)="\.\./_static/([^"?]+)', text)
    assert files == ["book.css", "content.css", "book.js"]


def test_every_page_of_the_book_has_a_short_description_of_its_own() -> None:
    front = re.compile(r"\A---\n.*?description: (?:>-\n)?(.*?)\n---\n", re.DOTALL)
    found = [front.findall(file.read_text("utf-8"))[0] for file in BOOK_PAGES]
    texts = [" ".join(text.split()).strip('"') for text in found]
    assert len(set(texts)) == len(texts)
    assert [text for text in texts if not 50 <= len(text) <= 160] == []


def test_fonts_are_there_and_licensed() -> None:
    folder = THEME / "static" / "fonts"
    loaded = re.findall(r'url\("fonts/([^"]+)"\)', (folder.parent / "book.css").read_text("utf-8"))
    assert sorted(loaded) == sorted(font.name for font in folder.glob("*.woff2"))
    licence = (folder / "LICENSE.txt").read_text("utf-8")
    assert all(font in licence for font in loaded)


def test_the_foot_counts_what_was_not_verified() -> None:
    outcomes = (
        Outcome(Kind.VERIFIED, 3, body_line=4),
        Outcome(Kind.UNCHECKED, 9, body_line=10),
        Outcome(Kind.DRIFT, 20, body_line=21),
    )
    assert verified_foot.share(PageResult("page.md", outcomes)) == (1, 3)
