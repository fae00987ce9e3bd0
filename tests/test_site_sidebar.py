"""The sidebar is what Sphinx would make for each page, and is made once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import small_book
from the_book import EXTENSIONS_ON_PATH

CONF = f"""
{EXTENSIONS_ON_PATH}
from website import sidebar
sidebar.LONGEST = %d
sidebar.DEEPEST = 4
extensions = ["myst_parser", "website.sidebar"]
html_theme = "basic"
html_context = {{"collapse": %r}}
templates_path = ["_templates"]
"""

BOTH = """{{ book_pages }}<!-- stock -->
{{- toctree(collapse=collapse, includehidden=True, titles_only=True, maxdepth=4) }}<!-- end -->"""

TOO_DEEP = "part/deep/deepest/too-deep"
PAGES = {
    "index": """# Book

```{toctree}
:caption: Chapters & more
:numbered:
one
part/index
```

```{toctree}
:hidden:
:caption: Elsewhere
Out <https://example.org/?a=1&b=2#there>
self
last & least
genindex
```
""",
    "one": '# One `code` & "words" @ *home*\n\n## A section\n',
    "part/index": "# Part\n\n```{toctree}\ndeep/index\nthree\n```\n",
    "part/deep/index": "# Deep\n\n```{toctree}\nc#\n```\n",
    "part/deep/c#": "# Deeper\n\n```{toctree}\ndeepest/index\n```\n",
    "part/deep/deepest/index": "# Deepest\n\n```{toctree}\ntoo-deep\n```\n",
    TOO_DEEP: "# Too deep\n",
    "part/three": "# Three\n\nWords.\n\n# A second title\n\n## Its section\n",
    "last & least": "# Last\n",
    "alone": "---\norphan: true\n---\n\n# Alone\n",
}


@pytest.mark.parametrize("builder", ["html", "dirhtml"])
@pytest.mark.parametrize(("longest", "collapse"), [(200, False), (3, True)])
def test_each_page_has_the_list_that_sphinx_makes_for_it(
    builder: str, longest: int, *, collapse: bool, tmp_path: Path
) -> None:
    files = {"conf.py": CONF % (longest, collapse), "_templates/page.html": BOTH}
    small_book.write(tmp_path, files | PAGES)
    said = small_book.build(tmp_path, builder)
    assert said.returncode == 0, said.stderr
    for name in PAGES:
        folder = name.removesuffix("index")
        file = f"{name}.html" if builder == "html" else Path(folder, "index.html")
        text = Path(tmp_path, builder, file).read_text("utf-8")
        ours, stock = text.removesuffix("<!-- end -->").split("<!-- stock -->")
        assert ours == stock
        assert ours.count("<li") == 11 or collapse
        assert ours.count('href="#"') == (name not in {"alone", TOO_DEEP})


def test_the_theme_has_sphinx_resolve_the_list_for_no_page_of_the_book(tmp_path: Path) -> None:
    conf = f"""
{EXTENSIONS_ON_PATH}
from website import sidebar
from sphinx.builders import html

def record(make):
    def made(env, docname, *args, **kwargs):
        print("made for", repr(docname), file=sys.stderr)
        return make(env, docname, *args, **kwargs)
    return made

html.global_toctree_for_doc = record(html.global_toctree_for_doc)
sidebar.global_toctree_for_doc = record(sidebar.global_toctree_for_doc)
extensions = ["myst_nb", "sphinx_drift", "sphinx_design",
              "website.sidebar", "website.verified_foot", "website.theme"]
html_theme = "selfattn"
"""
    small_book.write(tmp_path, {"conf.py": conf} | PAGES)
    said = small_book.build(tmp_path, DRIFT_RUNNER="off", CI="")
    made = [line for line in said.stderr.splitlines() if line.startswith("made for")]
    assert made == ["made for '\\x00'", "made for 'genindex'", "made for 'search'"], said.stderr
    for name in ("part/three", "search"):
        page = (tmp_path / "html" / f"{name}.html").read_text("utf-8")
        captions = re.findall('<p[^>]* role="heading"[^>]*>', page)
        assert [caption.count('aria-level="2"') for caption in captions] == [1, 1]
