"""The book is found: descriptions, previews, addresses, links, the search, the page of no page."""

import html
import json
import re
import struct
import tomllib
from pathlib import Path
from typing import Any

import pytest
import small_book
import social_card
from sphinx.errors import ConfigError
from the_book import DOCS, EXTENSIONS_ON_PATH

from website import address, description, search_index, search_text, social_preview

CONF = f"""
{EXTENSIONS_ON_PATH}
from docutils import nodes
from docutils.parsers.rst import Directive

class Printed(Directive):
    has_content = True
    def run(self):
        text = "\\n".join(self.content)
        block = nodes.literal_block(text, text)
        return [nodes.container("", block, nb_element="cell_code_output", **{{"names": []}})]

def setup(app):
    app.add_directive("out", Printed)

project, author, version = "The <book>", "Its authors", "1.0"
extensions = ["myst_parser", "notfound.extension",
              "figures", "reference.mathml", "website.address", "website.social_preview",
              "website.search_index", "website.sitemap", "website.permalinks"]
myst_enable_extensions = ["dollarmath"]
html_math_renderer = "mathml"
notfound_context = {{"title": "Page not found"}}
notfound_template = "404.html"
templates_path = [{str(DOCS / "_templates")!r}]
"""

TITLE = "Words & </script>"
LONG = "A first paragraph that is long enough to be cut, and says so again and again, " * 3
PAGES = {
    "index": f"# The first page\n\n{LONG}\n\n```{{toctree}}\nsection/index\nterms\n```\n",
    "section/index": "# A section\n\n```{toctree}\none\n```\n",
    "section/one": """---
myst:
  html_meta:
    description: What "one" <is> about.
---

# Words & </script>

## A step

```{out}
1
```

In code it is called `W_query`, with $x$.

The **dot-product attention** comes here $x$.
In it, a dot-product attention is scaled.

$$
a + b
$$

```{out}
2
```

$$
c + d
$$ (eq-named)

## Step

(step-output-1)=
A paragraph with a label.

```{out}
3
```

$$
e + f
$$
""",
    "terms": "# Terms\n\n```{glossary}\nquery\n  What is asked.\n  It has two sentences.\n```\n",
}
EXPLAINED = '["section/one"]\na-step = ["W_query", "dot-product attention"]\n'
OWN = "https://example.org/book/"


def build(folder: Path, explained: str = EXPLAINED, base: str = "") -> tuple[int, str, Path]:
    """Build the small book; return status, messages and where it is."""
    small_book.write(folder, {"conf.py": CONF, "_data/explained.toml": explained} | PAGES)
    said = small_book.build(folder, **({"SELFATTN_BASEURL": base} if base else {}))
    return said.returncode, said.stderr, folder / "html"


def read(out: Path, name: str) -> str:
    return (out / f"{name}.html").read_text("utf-8")


def metas(text: str) -> dict[str, str]:
    """Return what a page's head says, by name."""
    tags = [dict(re.findall(r'([\w-]+)="([^"]*)"', tag)) for tag in re.findall("<meta[^>]*>", text)]
    named = [tag for tag in tags if "content" in tag]
    return {t.get("name") or t.get("property", ""): html.unescape(t["content"]) for t in named}


def structured(text: str) -> dict[str, Any]:
    found = re.findall(r'<script type="application/ld\+json">(.*?)</script>', text, re.DOTALL)
    assert len(found) == 1
    said: dict[str, Any] = json.loads(found[0])
    return said


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small book, built where nobody gave an address."""
    status, messages, out = build(tmp_path_factory.mktemp("quiet"))
    assert status == 0, messages
    return out


@pytest.fixture(scope="module")
def placed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small book, built for an address."""
    status, messages, out = build(tmp_path_factory.mktemp("placed"), base=OWN.rstrip("/"))
    assert status == 0, messages
    return out


# The address ---------------------------------------------------------------------------


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in address.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_no_address_is_no_address(nowhere: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "a"\n')
    assert address.site(tmp_path) == ""


def test_the_environment_comes_before_the_project(
    nowhere: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    urls = '[project.urls]\nDocumentation = "https://example.org/project"\n'
    (tmp_path / "pyproject.toml").write_text(urls)
    assert address.site(tmp_path / "docs") == "https://example.org/project/"
    nowhere.setenv("READTHEDOCS_CANONICAL_URL", "https://host.example/en/latest/")
    assert address.site(tmp_path / "docs") == "https://host.example/en/latest/"
    nowhere.setenv("SELFATTN_BASEURL", "https://own.example")
    assert address.site(tmp_path / "docs") == "https://own.example/"


@pytest.mark.parametrize("given", ["example.org/book", "/book/", "ftp://a.example/", "https:///x"])
def test_what_is_no_address_is_refused(
    nowhere: pytest.MonkeyPatch, tmp_path: Path, given: str
) -> None:
    nowhere.setenv("SELFATTN_BASEURL", given)
    with pytest.raises(ConfigError, match="SELFATTN_BASEURL: write the site's address as https"):
        address.site(tmp_path)


# What the head says --------------------------------------------------------------------


def test_each_page_says_what_it_is_about(quiet: Path) -> None:
    said = {name: metas(read(quiet, name)).get("description", "") for name in PAGES}
    assert said["section/one"] == 'What "one" <is> about.'
    assert LONG.startswith(said["index"].removesuffix("…"))
    assert said["index"].endswith("…")
    assert len(said["index"]) <= description.LONGEST
    made = {name: metas(read(quiet, name))["description"] for name in description.MADE}
    assert made == description.MADE


def test_a_page_has_one_description_and_one_viewport(placed: Path) -> None:
    for file in placed.rglob("*.html"):
        text = file.read_text("utf-8")
        assert text.count('name="viewport"') == 1, file
        assert text.count('name="description"') <= 1, file


def test_without_an_address_nothing_says_one(quiet: Path) -> None:
    for name in (*PAGES, *description.MADE):
        text = read(quiet, name)
        assert 'rel="canonical"' not in text
        assert not {"og:url", "og:image"} & metas(text).keys()
    said = structured(read(quiet, "section/one"))
    assert not {"url", "breadcrumb"} & said.keys()
    assert not (quiet / "sitemap.xml").exists()
    assert not (quiet / "robots.txt").exists()


def test_with_an_address_each_page_says_its_own(placed: Path) -> None:
    for name, end in {
        "index": "",
        "section/index": "section/",
        "section/one": "section/one.html",
        "search": "search.html",
    }.items():
        assert f'<link rel="canonical" href="{OWN}{end}"' in read(placed, name)
    said = metas(read(placed, "section/one"))
    assert said["og:url"] == f"{OWN}section/one.html"
    assert said["og:image"] == f"{OWN}{social_preview.CARD}"
    assert said["og:title"] == TITLE
    assert said["og:type"] == "article"
    assert said["twitter:card"] == "summary_large_image"
    assert metas(read(placed, "index"))["og:type"] == "website"
    assert 'rel="canonical"' not in read(placed, "404")


def test_structured_data_tell_the_way_to_a_page(placed: Path) -> None:
    said = structured(read(placed, "section/one"))
    assert said["@type"] == "LearningResource"
    assert said["name"] == TITLE  # with a tag's end in it, which must not end the script
    assert said["isPartOf"] == {"@type": "Book", "name": "The <book>", "url": OWN}
    steps = said["breadcrumb"]["itemListElement"]
    assert [step["position"] for step in steps] == [1, 2, 3]
    assert [step["item"] for step in steps] == [
        OWN,
        f"{OWN}section/",
        f"{OWN}section/one.html",
    ]
    assert structured(read(placed, "index"))["@type"] == "Book"


def test_the_sitemap_has_each_page_once_and_no_other(placed: Path) -> None:
    found = re.findall("<loc>(.*?)</loc>", (placed / "sitemap.xml").read_text("utf-8"))
    ends = ("", "section/", "section/one.html", "terms.html")
    assert sorted(found) == [f"{OWN}{end}" for end in ends]
    assert not (placed / "robots.txt").exists()  # it would stand below the top of the host


def test_the_top_of_a_host_gets_a_robots_file(tmp_path: Path) -> None:
    status, messages, out = build(tmp_path, base="https://example.org/")
    assert status == 0, messages
    said = (out / "robots.txt").read_text().splitlines()
    assert said[-1] == "Sitemap: https://example.org/sitemap.xml"
    status, messages, out = build(tmp_path)  # and a site that moves takes it along
    assert status == 0, messages
    assert not (out / "sitemap.xml").exists()
    assert not (out / "robots.txt").exists()


@pytest.mark.parametrize(("base", "start"), [("quiet", "/"), ("placed", "/book/")])
def test_the_page_for_lost_readers_works_from_any_folder(
    base: str, start: str, request: pytest.FixtureRequest
) -> None:
    text = read(request.getfixturevalue(base), "404")
    links = re.findall(r'\b(?:href|src|action)="([^"#]+)"', text)
    assert {f"{start}index.html", f"{start}search.html", f"{start}genindex.html"} <= set(links)
    assert [link for link in links if not link.startswith((start, "https://"))] == []


def test_every_page_of_the_book_has_a_short_description_of_its_own() -> None:
    front = re.compile(r"\A---\n.*?description: (?:>-\n)?(.*?)\n---\n", re.DOTALL)
    files = [file for file in DOCS.rglob("*.md") if "_build" not in file.parts]
    found = {file: front.match(file.read_text("utf-8")) for file in files}
    assert [file for file, match in found.items() if match is None] == []
    said = {file: " ".join(match[1].split()).strip('"') for file, match in found.items() if match}
    assert len(set(said.values())) == len(said) > 20
    assert {
        f: len(text) for f, text in said.items() if not 50 <= len(text) <= description.LONGEST
    } == {}


def test_the_card_shows_the_numbers_of_today() -> None:
    picture = social_card.FILE.read_bytes()
    assert struct.unpack(">II", picture[16:24]) == social_preview.CARD_SIZE
    drawn = social_card.page()
    assert social_card.recorded(picture) == social_card.fingerprint(drawn)
    assert "tensor([0.3061, 0.8210])" in drawn
    other = drawn.replace("0.3061", "0.3062")
    assert social_card.recorded(picture) != social_card.fingerprint(other)


# Links ---------------------------------------------------------------------------------


def test_outputs_and_equations_have_links_of_their_own(quiet: Path) -> None:
    text = read(quiet, "section/one")
    links = re.findall(
        r'<a class="headerlink[^>]* href="#([^"]+)" title="Link to (?:this )?(\w+)', text
    )
    assert [link for link in links if link[1] != "heading"] == [
        ("a-step-output-1", "output"),
        ("a-step-equation-1", "equation"),
        ("a-step-output-2", "output"),
        ("equation-eq-named", "equation"),
        ("step-output-2", "output"),  # the first is a label's already
        ("step-equation-1", "equation"),
    ]
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert sorted(set(ids)) == sorted(ids)
    assert {name for name, _ in links} <= set(ids)


# Search --------------------------------------------------------------------------------


def table(out: Path) -> dict[str, Any]:
    match = re.search(
        r'<script type="application/json" id="finding">(.*?)</script>', read(out, "search")
    )
    assert match
    found: dict[str, Any] = json.loads(match[1])
    return found


def test_the_search_page_knows_where_terms_are_explained(quiet: Path) -> None:
    found = table(quiet)
    assert [address for address, *_ in found["pages"]] == [
        "section/index.html",
        "section/one.html",
        "terms.html",
        "index.html",  # an overview is the last to answer
    ]
    assert found["explained"] == [
        [1, "W_query", "a-step", "A step", ""],  # its sentence has a formula
        [
            1,
            "dot-product attention",
            "a-step",
            "A step",
            "In it, a dot-product attention is scaled.",
        ],
        [2, "query", "term-query", "query", "What is asked."],
    ]
    assert 'id="finding"' not in read(quiet, "index")


PAGE_TEXT = """<p>unseen</p><article>
<section id="one"><h1>One<a class="headerlink" href="#one">#</a></h1><p>Two <b>thr</b>ee</p>
<span class="math"><math alttext="\\mathbf{x}"><mi>&#x1D416;</mi><mi>q</mi></math></span>
<div class="cell_output" id="out"><pre>tensor([0.1500,
        1.])</pre></div>
<dl><dt id="term-a">A term</dt><dd><p>Its meaning</p></dd></dl>
<svg><desc>unseen</desc><text>0.15</text></svg><script>unseen</script>
<section id="two"><h2>Two</h2>Last</section></section></article><p>unseen</p>"""


def test_text_is_what_readers_see_at_the_nearest_place() -> None:
    found = {place.anchor: place for place in search_text.places(PAGE_TEXT)}
    assert {name: (place.kind, place.heading) for name, place in found.items()} == {
        "one": ("section", "One"),
        "out": ("output", "One"),
        "term-a": ("term", "A term"),
        "two": ("section", "Two"),
    }
    assert found["one"].text == "One Two three \N{MATHEMATICAL BOLD CAPITAL W}q 0.15"
    assert found["out"].text == "tensor([0.1500,\n        1.])"
    assert found["term-a"].text == "A term Its meaning"
    assert search_text.words(
        "\N{MATHEMATICAL BOLD CAPITAL W}q and d_k or dₖ: the 0.15, nn.Linear"
    ) == {*("wq", "dk", "d", "k", "0.15", "nn.linear", "nn", "linear")}
    assert (
        search_text.words("self.register_buffer(√d, -∞, 3.4.2)")
        == {
            *("self.registerbuffer", "self", "registerbuffer", "self.register", "buffer"),
            *("sqrt", "d", "inf", "3.4.2"),
        }
        - search_text.STOPWORDS
    )
    assert search_text.postings(["ab", "cd", "ab cd", "ab"]) == {"ab": "0 2 1", "cd": "1 1"}


def test_explanations_are_entries_of_the_index(quiet: Path) -> None:
    text = read(quiet, "genindex")
    assert re.search(r'href="section/one\.html#a-step"[^>]*>(<strong>)?W_query', text)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('["section/one"]\nno-step = ["W_query"]\n', "there is no section #no-step on this page"),
        ('["section/one"]\na-step = ["W_key"]\n', "section #a-step doesn't have the term 'W_key'"),
        ('["section/two"]\na-step = ["W_query"]\n', "there is no page 'section/two'"),
    ],
)
def test_a_wrong_explanation_fails_the_build(tmp_path: Path, line: str, said: str) -> None:
    status, messages, _ = build(tmp_path, line)
    assert status == 1
    assert f"_data/explained.toml: {said}" in messages


def test_the_book_explains_what_readers_look_for() -> None:
    explained = tomllib.loads((DOCS / search_index.DATA).read_text("utf-8"))
    step = explained["self-attention/step-by-step"]
    assert "W_query" in step["step-1-queries-keys-and-values"]
    assert "scaled dot-product attention" in step["step-3-attention-weights"]


def test_only_a_page_that_explains_other_terms_than_before_is_read_again(tmp_path: Path) -> None:
    files = {
        "conf.py": CONF,
        "index": "# One\n\nA head.\n\n```{toctree}\nlast\n```\n",
        "last": "# Two\n",
    }
    source = small_book.write(tmp_path, files)

    def read_by_a_build() -> set[str]:
        before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.doctree")}
        said = small_book.build(tmp_path)
        assert said.returncode == 0, said.stderr
        after = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.doctree")}
        return {path.stem for path in after if after[path] != before.get(path)}

    assert read_by_a_build() == {"index", "last"}
    assert read_by_a_build() == set()  # there is no file of terms
    file = source / search_index.DATA
    for text, read in (('[index]\none = ["head"]\n', {"index"}), ("# Nothing\n", {"index"})):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
        assert read_by_a_build() == read
        assert read_by_a_build() == set()
