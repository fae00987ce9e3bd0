"""The site's own directives: true numbers, the package's own code, and no script for formulas."""

import re
from pathlib import Path

import pytest
from small_book import FRONT, built, refused
from the_book import DOCS, EXTENSIONS_ON_PATH

from reference.mathml import to_mathml

CONF = f"""
{EXTENSIONS_ON_PATH}
extensions = ["myst_nb", "sphinx_drift", "figures",
              "reference", "sphinx.ext.intersphinx"]
codeautolink_concat_default = True
codeautolink_global_preface = "from torch import nn"
codeautolink_inventory_map = {{"torch.nn.modules.module.Module": "torch.nn.Module"}}
intersphinx_mapping = {{
    "python": ("https://docs.python.org/3/", {str(DOCS / "_data/inventory/python.txt")!r}),
    "torch": ("https://docs.pytorch.org/", {str(DOCS / "_data/inventory/torch.txt")!r}),
}}
myst_enable_extensions = ["dollarmath"]
html_math_renderer = "mathml"
nb_execution_mode = "force"
nb_execution_raise_on_error = True
"""

GOOD = (
    FRONT
    + r"""# Good

[](#fig-3-14), [text](#fig-3-14), {ref}`fig-3-14`, [](#list-3-1),
and $\mathbf{q}^{(2)}$, inline.

$$
\begin{aligned}
Z &= \mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right) V \\
a &< \begin{aligned} b \\ c \end{aligned}
\end{aligned}
$$

FIGURES

```{listing}
:caption: A compact class, `Twice`
:number: 3.1
:name: list-3-1
:changed: 1,4-5
```

```{code-cell} ipython3
from torch import nn

class Twice(nn.Module):
    def forward(self, x):
        return 2 * x
```

```{exercise-start}
:nonumber:
:label: ex-3-1
```
Say something.
```{exercise-end}
```

```{solution-start} ex-3-1
:label: sol-3-1
```
```{code-cell} ipython3
print("ran " + "inside")
```
```{expected-output}
ran inside
```
```{solution-end}
```
"""
)

FIGURE = """```{{attention-figure}} {name}
:number: "3.{number}"
:name: fig-3-{number}
:alt: What {name} shows, "quoted" & <marked>.
Caption of *{name}*.
```
"""

NUMBERLESS = ("next-token", "roadmap")
"""Figures that any page can show."""

# page -> (its text, what the build must say, at which line)
BAD = {
    "figure": ("```{attention-figure} tower\n:alt: A\nB\n```", "the figures are: ", 3),
    "no-alt": ("```{attention-figure} roadmap\nB\n```", "'roadmap' needs :alt:", 3),
    "stray": (
        "```{attention-figure} roadmap\n:alt: 9.99\nB\n```",
        "says 9.99, which the figure",
        3,
    ),
    "caption": ("```{attention-figure} roadmap\n:alt: A\nB\n\nC\n```", "a caption is one para", 3),
    "no-cell": (
        "```{listing}\n:number: 3.1\n```\n\nWords.",
        "Listing 3.1: no code cell follows; write {listing} directly before the {code-cell}",
        3,
    ),
    "no-line": (
        "```{listing}\n:changed: 1-3\n```\n\n```{code-cell} ipython3\na = 1\nb = 2\n```",
        "Listing: :changed: names line 3, but the cell has the lines 1 to 2",
        3,
    ),
    "no-number": (
        "```{listing}\n:changed: all\n```\n\n```{code-cell} ipython3\na = 1\n```",
        "Listing: invalid line number spec: 'all'",
        3,
    ),
    "macro": ("$\\unheard x$", 'Unknown LaTeX command "\\unheard"', 3),
}


def book(pages: dict[str, str]) -> dict[str, str]:
    toctree = "# Book\n\n```{toctree}\n" + "\n".join(pages) + "\n```\n"
    return {"conf.py": CONF, "index": toctree} | pages


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> str:
    figures = "\n".join(
        FIGURE.format(name=name, number=number) for number, name in enumerate(NUMBERLESS, start=13)
    )
    pages = {"good": GOOD.replace("FIGURES", figures)}
    return (built(tmp_path_factory.mktemp("good"), book(pages)) / "good.html").read_text("utf-8")


@pytest.fixture(scope="module")
def bad_messages(tmp_path_factory: pytest.TempPathFactory) -> str:
    pages = {name: f"{FRONT}# {name}\n\n{text}\n" for name, (text, *_) in BAD.items()}
    return refused(tmp_path_factory.mktemp("bad"), book(pages))


class TestFigures:
    def test_figures_have_a_text_alternative(self, good: str) -> None:
        pictures = re.findall(r"<svg.*?</svg>", good, flags=re.DOTALL)
        assert len(pictures) == len(NUMBERLESS)
        for picture in pictures:
            labelled = re.findall(r'aria-labelledby="(\S+) (\S+)"', picture)[0]
            assert tuple(re.findall(r'<(?:title|desc) id="([^"]+)"', picture)) == labelled
            assert "&amp; &lt;marked&gt;" in picture

    def test_references_read_as_the_number(self, good: str) -> None:
        links = re.findall(r'<a class="reference internal" href="#fig-3-14">(.*?)</a>', good)
        words = [re.sub(r"<[^>]*>", "", link) for link in links]
        assert words == ["Figure 3.14", "text", "Figure 3.14"]
        assert '<figure class="captioned captioned-figure" id="fig-3-14">' in good


class TestListing:
    def test_the_cell_is_in_its_listing(self, good: str) -> None:
        block = good.partition('id="list-3-1"')[2].partition("</figure>")[0]
        assert '<span class="caption-number">Listing 3.1</span> A compact class' in block
        assert block.count('<div class="cell ') == good.count("cell_input") - 1 == 1

    def test_its_changed_lines_are_marked_and_named(self, good: str) -> None:
        block = good.partition('id="list-3-1"')[2].partition("</figure>")[0]
        assert "Changed: lines 1 and 4–5." in block
        marked = re.findall(r'<span class="hll"><span class="linenos">(\d)</span>', block)
        assert marked == ["1", "4", "5"]

    def test_the_e_book_shows_it(self, tmp_path: Path) -> None:
        pages = book({"good": re.sub("FIGURES|.*fig-3-14.*", "", GOOD)})
        out = built(tmp_path, pages, "epub", "-D", "epub_copyright=us", "-D", "version=1")
        texts = [path.read_text("utf-8") for path in out.rglob("*.*html")]
        assert any("Changed: lines 1 and 4–5." in text for text in texts)

    def test_its_names_lead_to_their_documentation(self, good: str) -> None:
        block = good.partition('id="list-3-1"')[2].partition("</figure>")[0]
        assert 'href="https://docs.pytorch.org/generated/torch.nn.Module.html#' in block


class TestMathematics:
    def test_formulas_need_no_script(self, good: str) -> None:
        assert good.count("<math ") == 2
        assert not re.search(r"<script[^>]*mathjax", good, flags=re.IGNORECASE)

    def test_punctuation_stays_with_its_formula(self, good: str) -> None:
        assert re.search(r'<span class="nowrap"><math .*</math>,</span> inline', good)

    def test_nested_aligned_become_tables(self) -> None:
        latex = r"\begin{aligned} a &= b \\ &< \begin{aligned} c \\ d \end{aligned} \end{aligned}"
        rows = re.sub("<[^/][^>]*>|</m[ion]>", "", to_mathml(latex, display=True))
        assert "=b</mtd></mtr></mtd>&lt;c</mtd></mtr>d</mtd></mtr></mtable>" in rows

    def test_names_are_one_word(self) -> None:
        for latex in (r"\mathrm{softmax}(x)", r"\operatorname{softmax}(x)"):
            assert re.search(r"<mi[^>]*>softmax</mi>", to_mathml(latex, display=False))

    @pytest.mark.parametrize(
        ("formula", "roles"),
        [(r"\mathbf{q}^{(2)}", ["role-query"]), (r"\alpha_{ij}", ["role-weight"]), ("d_k", [])],
    )
    def test_a_tensor_has_the_colour_of_the_figures(self, formula: str, roles: list[str]) -> None:
        assert re.findall(r'class="([^"]+)"', to_mathml(formula, display=False)) == roles


class TestExercises:
    def test_the_solution_is_folded_and_has_run(self, good: str) -> None:
        fold = re.findall(r"<details.*?</details>", good, flags=re.DOTALL)[0]
        assert "open" not in fold.partition(">")[0]
        assert "<summary>Solution to Exercise</summary>" in fold
        assert "ran inside" in fold


@pytest.mark.parametrize("name", BAD)
def test_mistakes_fail_with_a_place_and_a_remedy(name: str, bad_messages: str) -> None:
    _, said, line = BAD[name]
    place = f"{name}.md:{len(FRONT.splitlines()) + line}:"
    matching = [text for text in bad_messages.splitlines() if place in text]
    assert any(said in text for text in matching), bad_messages
