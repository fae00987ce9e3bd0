"""The site around the pages: search, permanent links, descriptions, style sheets, the foot."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
import small_book
from the_book import DOCS, EXTENSIONS_ON_PATH
from the_book import PAGES as BOOK_PAGES

from sphinx_drift.model import Kind, Outcome, PageResult
from website import verified_foot

if TYPE_CHECKING:
    from pathlib import Path

THEME = DOCS / "_themes" / "selfattn"
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

project = "The <book>"
extensions = ["myst_parser",
              "figures", "website.outputs", "website.search", "website.citations"]
html_theme = "selfattn"
html_theme_path = [{str(THEME.parent)!r}]
html_baseurl = "https://example.org/book/"
"""
PAGES = {
    "index": "# The first page\n\n```{toctree}\none\n```\n",
    "one": """---
myst:
  html_meta:
    description: What "one" <is> about.
---

# Words & </script>

## A step

```{out}
tensor([0.3061, 2.5000])
```

In code it is called `W_query`.

```{out}
</script>
```

## Step

(step-output-1)=
A paragraph with a label.

```{out}
3
```
""",
}
EXPLAINED = '["one"]\na-step = ["W_query"]\n'


def build(folder: Path, explained: str = EXPLAINED) -> tuple[int, str, Path]:
    small_book.write(folder, {"conf.py": CONF, "_data/explained.toml": explained} | PAGES)
    result = small_book.build(folder)
    return result.returncode, result.stderr, folder / "html"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    status, messages, out = build(tmp_path_factory.mktemp("book"))
    assert status == 0, messages
    return out


def read(out: Path, name: str) -> str:
    return (out / f"{name}.html").read_text("utf-8")


def test_outputs_have_ids(built: Path) -> None:
    ids = re.findall(r'\bid="([^"]+)"', read(built, "one"))
    assert len(set(ids)) == len(ids)
    assert {"a-step-output-1", "a-step-output-2", "step-output-2"} <= {*ids}  # one was taken


QUOTING = f"""{EXTENSIONS_ON_PATH}
extensions = ["myst_nb", "sphinx_drift", "website.outputs"]
"""
PRINTS = f"""{small_book.FRONT}# Products

{small_book.cell("print(6 * 7)", ":name: product" + chr(10) + "42")}

It is {{printed}}`product`.

```{{toctree}}
part/other
```
"""


def test_a_number_in_a_sentence_is_a_link_to_its_output(tmp_path: Path) -> None:
    other = "# Another\n\nWe quote {printed}`product`.\n"
    small_book.write(tmp_path, {"conf.py": QUOTING, "index": PRINTS, "part/other": other})
    done = small_book.build(tmp_path)
    assert done.returncode == 0, done.stderr
    link = '<a class="drift-quoted reference internal" href="{}#output-1">42</a>'
    assert link.format("") in read(tmp_path / "html", "index")
    assert link.format("../index.html") in read(tmp_path / "html", "part/other")


def test_the_search_page_alone_knows_what_is_explained_where(built: Path) -> None:
    found = re.findall(r'<script [^>]*id="direct-answers">(.*?)</script>', read(built, "search"))
    assert ["W_query", "one.html#a-step", "Words & </script>"] in json.loads(found[0])
    assert "direct-answers" not in read(built, "one")


def test_a_wrong_explanation_fails_the_build(tmp_path: Path) -> None:
    status, messages, _ = build(tmp_path, '["one"]\nno-step = ["W_query"]\na-step = ["softmax"]')
    assert status == 1
    for problem in (
        "there is no section #no-step on this page",
        "section #a-step doesn't have the term 'softmax'",
    ):
        assert f"_data/explained.toml: {problem}" in messages


def test_a_page_has_its_address_and_needed_files_alone(built: Path) -> None:
    text = read(built, "one")
    assert '<link rel="canonical" href="https://example.org/book/one.html"' in text
    assert text.count('name="description"') == 1
    files = re.findall(r'<(?:script|link)[^>]* (?:src|href)="_static/([^"?]+)', text)
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
