"""What a reader takes along: notebooks that verify where the package isn't installed."""

import json
import re
import subprocess
import sys
import zipfile
from base64 import b64decode
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import nbformat
import pytest
from PIL import Image
from small_book import FRONT, built, cell, refused
from the_book import EXTENSIONS_ON_PATH

from export.package import package_cells
from export.picture import WIDTH

CONF = f"""
{EXTENSIONS_ON_PATH}
project = "A small book"
author = "its authors"
extensions = ["myst_nb", "sphinx_drift", "sphinx_design", "figures", "reference", "export"]
exclude_patterns = ["_build", "_templates"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
html_math_renderer = "mathml"
html_baseurl = "https://example.org/book/"
templates_path = ["_templates"]
"""
TEMPLATE = """{%- extends "!page.html" %}
{%- block body %}{{ super() }}
{%- if downloads %}
{%- for link in downloads.files + downloads.books %}
<a class="taken" href="{{ link.address | e }}">{{ link.text }}</a>
{%- endfor %}
{%- endif %}
{%- endblock %}
"""
AROUND = {"conf.py": CONF, "_templates/page.html": TEMPLATE}
IMPORTING = """from selfattn import SelfAttention_v1, devices
print(1)"""
PLAIN = "# Plain\n\nNo cells.\n"
ONE = f"{FRONT}# Page\n\n{cell(IMPORTING, '1')}\n"
INDEX = """# A small book

```{toctree}
:hidden:

part/page
one
plain
```
"""
PAGE = (
    FRONT
    + r"""# A page

Words with *stars*, `code`, a [page](../plain.md), a [heading](#tables), {ref}`fig-1`,
[outside](https://example.org/other), 2 < 3, $x_{1}$, and 5 * 6 * 7.

\- 1
3\. 2

```{code-cell} ipython3
:tags: [remove-cell]
hidden = 0.5
```

```{code-cell} ipython3
print("first", hidden)
```
```{expected-output}
:name: first

first 0.5
```

The first number is {printed}`first`.

```{note}
Take *note*.
```

$$
a = \frac{1}{2}
$$ (eq-half)

## Tables

| name | value |
|------|-------|
| `a\|b` | $\|x\|$ |

```{attention-figure} roadmap
:number: "1"
:name: fig-1
:alt: Scores, in [words].
The *caption*.
```

```{listing}
:caption: A class.
:number: "1"
:name: list-1
```

```{code-cell} ipython3
class Nothing:
    pass
```

```{exercise-start} Halve it
:nonumber:
:label: ex-1
```
Say `half`.
```{exercise-end}
```

```{dropdown} Hint
Divide.
```

```{solution-start} ex-1
:label: sol-1
:class: dropdown
```
By dividing:

```{code-cell} ipython3
halves = {"one": 1 / 2, "seven": 7 / 2}
halves  # a value
```
```{expected-output}
{'one': 0.5, 'seven': 3.5}
```
```{solution-end}
```

```{code-cell} ipython3
:tags: [hide-output]
"text"
```
```{expected-output}
'text'
```

```{code-cell} ipython3
import random

print(random.random())
```
```{expected-output}
:unchecked: it is drawn without a seed
0.123
```

```{code-cell} ipython3
print(f"{1 / 7:.2f}")
```
```{expected-output}
:reference-only: other machines draw other numbers
0.14
```

```{code-cell} ipython3
print("before")
1 / 0
```
```{expected-output}
:raises: ZeroDivisionError
before
ZeroDivisionError: division by zero
```

```{code-cell} ipython3
print(f"{1 / 3:.4f}")
```
```{expected-output}
0.3333
```
"""
)


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pages = {"index": INDEX, "part/page": PAGE, "one": ONE, "plain": PLAIN}
    folder, options = tmp_path_factory.mktemp("book"), ("-D", "downloads_books=whole.epub")
    return built(folder, AROUND | pages, "html", *options)


@pytest.fixture(scope="module")
def notebook(book: Path) -> Path:
    return book / "_downloads" / "part" / "page.ipynb"


def text_of(notebook: Path) -> str:
    stored = json.loads(notebook.read_text("utf-8"))
    return "\n\n".join("".join(c["source"]) for c in stored["cells"] if c["cell_type"] != "code")


def check(notebook: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx_drift", str(notebook)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_notebook_verifies_anywhere_and_fails_with_a_digit_altered(
    notebook: Path, tmp_path: Path
) -> None:
    text, moved = notebook.read_text("utf-8"), tmp_path / "moved.ipynb"
    for digit, status, outcome in (("3", 0, "6 outputs verified"), ("4", 1, "0.3334")):
        moved.write_text(text.replace("0.3333", f"0.333{digit}"), "utf-8")
        said = check(moved)
        assert (said.returncode, outcome in said.stdout) == (status, True), said.stdout


def test_a_notebook_brings_its_reference_along(notebook: Path) -> None:
    drift = json.loads(notebook.read_text("utf-8"))["metadata"]["drift"]
    assert drift == {"reference": {}}  # this book has no pyproject.toml; the real one's is below


def test_a_notebook_is_complete_and_plain(notebook: Path) -> None:
    stored = nbformat.read(notebook, as_version=4)
    nbformat.validate(stored)
    assert set(stored.metadata) == {"kernelspec", "language_info", "drift"}
    code = [cell for cell in stored.cells if cell.cell_type == "code"]
    assert [cell.source.splitlines()[0] for cell in code] == [
        "hidden = 0.5",
        'print("first", hidden)',
        "class Nothing:",
        'halves = {"one": 1 / 2, "seven": 7 / 2}',
        '"text"',
        "import random",
        'print(f"{1 / 7:.2f}")',
        'print("before")',
        'print(f"{1 / 3:.4f}")',
    ]
    assert [dict(cell.metadata) for cell in code[5:8]] == [
        {"drift": {"unchecked": "it is drawn without a seed"}},
        {"drift": {"reference-only": "other machines draw other numbers"}},
        {"tags": ["raises-exception"]},
    ]
    assert [cell.execution_count for cell in code] == list(range(1, 10))


def test_a_notebook_reads_without_myst(notebook: Path) -> None:
    text = text_of(notebook)
    assert "verified" not in text  # no mark of the page
    assert not re.search(r"\{[a-z-]+\}`|^(```|:::)\{|^:[a-z]+:|expected-output", text, re.MULTILINE)
    for shown in (
        "# A page\n\n> From *A small book*, by its authors.",
        "> Verified with ",
        "> To run it, `pip install torch numpy`.",
        "Words with *stars*, `code`, a [page](https://example.org/book/plain.html), a [heading]",
        "(#Tables), [Figure 1](",
        "(https://example.org/other), 2 < 3, $x_{1}$, and 5 \\* 6 \\* 7.",
        "The first number is 0.5.",
        "\\- 1\n3\\. 2",
        "> **Note**\n>\n> Take *note*.",
        "$$\na = \\frac{1}{2}\n$$",
        "## Tables",
        "| name | value |\n| --- | --- |\n| `a\\|b` | $\\vert x\\vert $ |",
        "![Scores, in \\[words\\].](attachment:figure-1.png)",
        "**Figure 1** The *caption*.",
        "**Listing 1** A class.",
        "> **Exercise (Halve it)**\n>\n> Say `half`.",
        "> **Hint**\n>\n> Divide.",
        "**Solution to Exercise (Halve it)**\n\nBy dividing:",
    ):
        assert shown in text


def test_a_figure_is_a_picture_of_its_text(notebook: Path) -> None:
    stored = nbformat.read(notebook, as_version=4)
    (cell,) = (cell for cell in stored.cells if "attachments" in cell)
    assert "](attachment:figure-1.png)" in cell.source
    picture = Image.open(BytesIO(b64decode(cell.attachments["figure-1.png"]["image/png"])))
    assert picture.width == WIDTH
    colours = {colour for _, colour in picture.convert("RGB").getcolors(WIDTH * 999) or []}
    assert {(255, 255, 255), (0x00, 0x60, 0xC0)} <= colours  # where we are is blue
    assert "data:image" not in notebook.read_text("utf-8")


# The book's package ----------------------------------------------------------------------


def test_a_notebook_brings_along_what_it_imports(notebook: Path) -> None:
    first, importing = nbformat.read(notebook.parents[1] / "one.ipynb", 4).cells[1:]
    assert importing.source == IMPORTING
    assert first.metadata == {"cellView": "form", "jupyter": {"source_hidden": True}}
    assert [first.source] == package_cells(IMPORTING)
    assert "@title" not in notebook.read_text("utf-8")


def test_nothing_else_comes_along() -> None:
    first = package_cells("from selfattn import SelfAttention_v1")[0]
    assert "class SelfAttention_v1" in first
    assert not re.search("SelfAttention_v2|copy_weights|causal|functional", first)
    _, *texts = package_cells("from selfattn.small_gpt import THE_VERDICT")
    assert ["verdict.txt" in text for text in texts] == [True]


# Links and files -------------------------------------------------------------------------


def links(page: Path) -> list[tuple[str, str]]:
    found = re.findall(r'<a class="taken" href="([^"]*)">([^<]*)</a>', page.read_text("utf-8"))
    return [(text, address) for address, text in found]


def test_a_page_links_what_there_is(book: Path) -> None:
    whole = [
        ("Notebooks", "../_downloads/selfattn-notebooks.zip"),
        ("EPUB", "../_downloads/whole.epub"),
    ]
    page = book / "part" / "page.html"
    assert links(page) == [("Notebook", "../_downloads/part/page.ipynb"), *whole]
    assert (page.parent / links(page)[0][1]).is_file()
    plain = links(book / "plain.html")
    assert [text for text, _ in plain] == ["Notebooks", "EPUB"]


def test_the_archive_has_all_notebooks(book: Path, notebook: Path) -> None:
    with zipfile.ZipFile(book / "_downloads" / "selfattn-notebooks.zip") as packed:
        names = ["selfattn-notebooks/one.ipynb", "selfattn-notebooks/part/page.ipynb"]
        assert sorted(packed.namelist()) == names
        assert packed.read(names[1]) == notebook.read_bytes()


@pytest.mark.parametrize(
    ("printed", "build"),
    [
        pytest.param("2", refused, id="drift"),
        pytest.param("1", lambda *book: built(*book, "html", "-t", "live"), id="live"),
    ],
)
def test_a_page_that_drifts_or_is_being_written_has_no_notebook(
    printed: str, build: Callable[..., object], tmp_path: Path
) -> None:
    build(tmp_path, AROUND | {"index": f"{FRONT}# Page\n\n{cell('print(1)', printed)}\n"})
    assert links(tmp_path / "html" / "index.html") == []
    assert not (tmp_path / "html" / "_downloads").exists()
