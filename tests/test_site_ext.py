"""The site's own directives: true numbers, the package's own code, and no script for formulas."""

import ast
import html
import inspect
import pickle
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import small_book
import torch
from the_book import EXTENSIONS_ON_PATH, TRACED

from figures.attention_trace import Trace, attention_trace
from figures.drawings.self_attention import DRAWINGS
from reference.listing import UnknownObjectError, listing_source
from reference.mathml import UntranslatedError, in_bold, to_mathml
from selfattn import SelfAttention_v1, modules
from selfattn.examples import six_tokens

TEXT = re.compile(r"<text [^>]*>.*?</text>")

CONF = f"""
{EXTENSIONS_ON_PATH}
extensions = ["myst_nb", "figures",
              "reference.listing", "reference.mathml", "reference.exercises"]
myst_enable_extensions = ["dollarmath"]
html_math_renderer = "mathml"
numfig_secnum_depth = 0
exercise_chapter = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
"""

GOOD = r"""---
file_format: mystnb
kernelspec:
  name: python3
---
# Good

[](#fig-3-14), [text](#fig-3-14), {ref}`fig-3-14`, [](#list-3-1), {ref}`ex-3-1`, {eq}`eq-z`,
and $\mathbf{q}^{(2)}$, inline.

$$
\begin{aligned}
Z &= \mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right) V \\
a &< \begin{aligned} b \\ c \end{aligned}
\end{aligned}
$$ (eq-z)

FIGURES

```{listing} selfattn.modules.SelfAttention_v1
:caption: A compact class, `SelfAttention_v1`
:number: "3.1"
:name: list-3-1
```

```{exercise-start}
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
```{solution-end}
```
"""

LETTERED = """---
exercises: Q
---
# Lettered

{ref}`ex-q-2`

```{exercise}
:label: ex-q-1
One.
```

```{exercise}
:label: ex-4-7
One of another chapter.
```

```{exercise}
:label: ex-q-2
Two.
```
"""

FIGURE = """```{{attention-figure}} {name}
:number: "3.{number}"
:name: fig-3-{number}
:alt: What {name} shows, "quoted" & <marked>.
Caption of *{name}*.
```
"""

# page -> (its text, what the build must say, at which line)
BAD = {
    "figure": ("```{attention-figure} tower\n:alt: A\nB\n```", "the figures are: ", 3),
    "no-alt": ("```{attention-figure} scores\nB\n```", "'scores' needs :alt:", 3),
    "stray": ("```{attention-figure} scores\n:alt: 9.99\nB\n```", "says 9.99, which the figure", 3),
    "caption": ("```{attention-figure} scores\n:alt: A\nB\n\nC\n```", "a caption is one para", 3),
    "object": ("```{listing} selfattn.modules.Nothing\n```", "defines SelfAttention_v1, ", 3),
    "module": ("```{listing} selfattn.nowhere.Nothing\n```", "no module 'selfattn.nowhere'", 3),
    "macro": ("$\\unheard x$", 'Unknown LaTeX command "\\unheard"', 3),
}


def write(folder: Path, pages: dict[str, str]) -> None:
    toctree = "# Book\n\n```{toctree}\n" + "\n".join(pages) + "\n```\n"
    small_book.write(folder, {"conf.py": CONF, "index": toctree} | pages)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    figures = "\n".join(
        FIGURE.format(name=name, number=number) for number, name in enumerate(DRAWINGS, start=13)
    )
    folder = tmp_path_factory.mktemp("good")
    write(folder, {"good": GOOD.replace("FIGURES", figures), "lettered": LETTERED})
    said = small_book.build(folder)
    assert said.returncode == 0, said.stderr
    return folder, (folder / "html" / "good.html").read_text()


@pytest.fixture(scope="module")
def bad_messages(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("bad")
    write(folder, {name: f"# {name}\n\n{text}\n" for name, (text, *_) in BAD.items()})
    said = small_book.build(folder)
    assert said.returncode == 1
    return said.stderr


@pytest.fixture(params=sorted(DRAWINGS))
def picture(request: pytest.FixtureRequest) -> str:
    drawing = DRAWINGS[request.param]
    return drawing.draw(attention_trace()).render("fig", drawing.title, "A description")


def traced(picture: str) -> Iterator[tuple[float, str]]:
    for path, shown in TRACED.findall(picture):
        yield attention_trace().number(path), shown


class TestFigures:
    def test_the_trace_is_the_documented_computation(self) -> None:
        trace = attention_trace()
        torch.manual_seed(123)
        expected = SelfAttention_v1(3, 2)(six_tokens().inputs)
        torch.testing.assert_close(torch.tensor(trace.context_vecs), expected.detach())
        assert f"{trace.number('attn_scores.1.1'):.4f}" == "1.8524"
        assert f"{trace.number('attn_weights.1.5'):.4f}" == "0.1820"

    def test_the_trace_leaves_the_generator_alone(self) -> None:
        attention_trace.cache_clear()
        before = torch.get_rng_state()
        attention_trace()
        assert torch.equal(torch.get_rng_state(), before)

    def test_every_number_is_the_traces_number(self, picture: str) -> None:
        for number, shown in traced(picture):
            assert shown == f"{number:.2f}"

    def test_no_number_is_written_by_hand(self, picture: str) -> None:
        for element in TEXT.findall(picture):
            if "data-trace" not in element:
                words = re.sub(r"<[^>]*>", "", element)
                assert not re.search(r"\d\.\d\d", words), words

    def test_a_changed_trace_changes_every_number(self) -> None:
        fields = attention_trace().__dict__
        moved = {
            name: _plus_one(value) if name != "words" else value for name, value in fields.items()
        }
        for drawing in DRAWINGS.values():
            picture = drawing.draw(Trace(**moved)).render("fig", "", "")
            for number, shown in traced(picture):
                assert shown == f"{number + 1:.2f}"

    @pytest.mark.parametrize(
        ("name", "count"),
        [("roadmap", 0), ("projections", 51), ("scores", 20), ("weights", 19), ("context", 32),
         ("overview", 104)],
    )  # fmt: skip
    def test_figures_show_all_their_numbers(self, name: str, count: int) -> None:
        picture = DRAWINGS[name].draw(attention_trace()).render("fig", "", "")
        assert len(TRACED.findall(picture)) == count

    def test_figures_are_legible_on_a_phone(self, picture: str) -> None:
        sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)"', picture)]
        width = float(re.findall(r'viewBox="0 0 ([\d.]+)', picture)[0])
        assert min(sizes) * min(1, 342 / width) >= 10  # 342 pixels is the text's width at 390

    def test_figures_have_a_text_alternative(self, good: tuple[Path, str]) -> None:
        pictures = re.findall(r"<svg.*?</svg>", good[1], flags=re.DOTALL)
        assert len(pictures) == len(DRAWINGS)
        for picture in pictures:
            labelled = re.findall(r'aria-labelledby="(\S+) (\S+)"', picture)[0]
            assert tuple(re.findall(r'<(?:title|desc) id="([^"]+)"', picture)) == labelled
            assert "&amp; &lt;marked&gt;" in picture

    def test_references_read_as_the_number(self, good: tuple[Path, str]) -> None:
        links = re.findall(r'<a class="reference internal" href="#fig-3-14">(.*?)</a>', good[1])
        words = [re.sub(r"<[^>]*>", "", link) for link in links]
        assert words == ["Figure 3.14", "text", "Figure 3.14"]
        assert '<figure class="captioned captioned-figure" id="fig-3-14">' in good[1]


class TestListing:
    @pytest.mark.parametrize("name", ["SelfAttention_v1", "SelfAttention_v2", "copy_weights"])
    def test_a_listing_is_the_code_without_docstrings(self, name: str) -> None:
        code, file = listing_source(f"selfattn.modules.{name}")
        source = ast.parse(inspect.getsource(getattr(modules, name)))
        for node in ast.walk(source):
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
                del node.body[0]
        assert ast.dump(ast.parse(code)) == ast.dump(source)
        assert '"""' not in code
        assert file == Path(inspect.getfile(modules))

    def test_comments_and_layout_stay(self) -> None:
        code, _ = listing_source("selfattn.modules.SelfAttention_v1")
        assert "class SelfAttention_v1(nn.Module):\n    def __init__(" in code
        whole = inspect.getsource(SelfAttention_v1)
        assert set(re.findall(r"#.*", code)) == set(re.findall(r"#.*", whole))

    def test_lines_are_counted_as_the_parser_counts_them(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        text = '"""Here\u2028there."""\n\n\f\ndef listed():\n    """Doc."""\n    return "\u2028"\n'
        (tmp_path / "separated.py").write_text(text, "utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        code, _ = listing_source("separated.listed")
        assert code == 'def listed():\n    return "\u2028"\n'

    def test_unknown_names_say_what_there_is(self) -> None:
        with pytest.raises(UnknownObjectError, match="SelfAttention_v1, SelfAttention_v2"):
            listing_source("selfattn.modules.SelfAttention")
        with pytest.raises(UnknownObjectError, match="write the full path"):
            listing_source("SelfAttention_v1")

    def test_the_page_shows_the_code(self, good: tuple[Path, str]) -> None:
        block = good[1].partition('id="list-3-1"')[2].partition("</figure>")[0]
        shown = html.unescape(re.sub(r"<[^>]*>", "", block.partition("<pre>")[2]))
        assert shown.strip() == listing_source("selfattn.modules.SelfAttention_v1")[0].strip()
        assert '<span class="caption-number">Listing 3.1</span>' in block

    def test_the_page_depends_on_the_module(self, good: tuple[Path, str]) -> None:
        environment = pickle.loads((good[0] / "doctrees" / "environment.pickle").read_bytes())  # noqa: S301 - our own build's
        names = {Path(name).name for name in environment.dependencies["good"]}
        assert {"modules.py", "functional.py", "self_attention.py", "attention_trace.py"} <= names


APPLY = "\u2061"  # between a function and what it is applied to; it is seen by screen readers alone


class TestMathematics:
    def test_formulas_need_no_script(self, good: tuple[Path, str]) -> None:
        assert good[1].count("<math ") == 2
        assert not re.search(r"<script[^>]*mathjax", good[1], flags=re.IGNORECASE)
        assert '<span class="eqno">(1)<a class="headerlink" href="#equation-eq-z"' in good[1]

    def test_punctuation_stays_with_its_formula(self, good: tuple[Path, str]) -> None:
        assert re.search(r'<span class="nowrap"><math .*</math>,</span> inline', good[1])

    def test_nested_aligned_become_tables(self) -> None:
        latex = r"\begin{aligned} a &= b \\ &< \begin{aligned} c \\ d \end{aligned} \end{aligned}"
        rows = re.sub("<[^/][^>]*>|</m[ion]>", "", to_mathml(latex, display=True))
        assert "=b</mtd></mtr></mtd>&lt;c</mtd></mtr>d</mtd></mtr></mtable>" in rows

    def test_names_are_one_word(self) -> None:
        for latex in (r"\mathrm{softmax}(x)", r"\operatorname{softmax}(x)"):
            assert re.search(r"<mi[^>]*>softmax</mi>", to_mathml(latex, display=False))

    @pytest.mark.parametrize(
        ("latex", "spaced"),
        [
            (r"\alpha \ln \alpha", ["α", "", "ln", APPLY, "α"]),
            (r"\operatorname{E}[q] \operatorname{E}[k]", [*f"E{APPLY}[q]", "", *f"E{APPLY}[k]"]),
            (r"|k| \cos(a)", [*"|k|", "", "cos", APPLY, *"(a)"]),
            (r"-\ln(s)", ["−", "ln", APPLY, *"(s)"]),
        ],
    )
    def test_functions_stand_apart_from_letters(self, latex: str, spaced: list[str]) -> None:
        row = ET.fromstring(to_mathml(latex, display=False))  # noqa: S314 - it is ours
        assert [part.text or "" for part in row] == spaced

    @pytest.mark.parametrize(
        ("latex", "found"),
        [
            (r"-\infty", "<mi>∞</mi>"),
            (r"\mathbf{K}^\top", "<mi>⊤</mi>"),
            ("(6,)", '<mo rspace="0">,</mo>'),
            (r"s_1, \dots, s_T", "<mo>,</mo><mi>…</mi><mo>,</mo>"),
            (r"\alpha \ln \alpha", f'<mo rspace="0.1667em">{APPLY}</mo>'),
            ("T/2", 'lspace="0" rspace="0">/</mo>'),
            ("e^{a + b}", '<mo lspace="0" rspace="0">+</mo>'),
            (r"H = -\sum_j a_j", '<mo form="prefix">−</mo>'),
        ],
    )
    def test_signs_stand_close_to_what_they_belong_to(self, latex: str, found: str) -> None:
        assert found in to_mathml(latex, display=False)

    @pytest.mark.parametrize(
        ("plain", "bold"),
        [
            (r"QK^\top", r"\mathbf{Q}\mathbf{K}^\top"),
            (r"\frac{(X W_q)}{d_k}", r"\frac{(\mathbf{X} \mathbf{W}_q)}{d_k}"),
            (r"q^{(i)} + s_k + M_{ij}", r"\mathbf{q}^{(i)} + s_k + M_{ij}"),
            (r"\mathbf{Q} \text{move} T", r"\mathbf{Q} \text{move} T"),
        ],
    )
    def test_the_tensors_of_docstrings_are_bold(self, plain: str, bold: str) -> None:
        assert in_bold(plain) == bold

    @pytest.mark.parametrize(
        "latex", [r"\unheard", r"\frac{a", "a_b_c", "a & b", r"\begin{gather}a\\b\end{gather}"]
    )
    def test_what_is_not_translated_is_refused(self, latex: str) -> None:
        with pytest.raises(UntranslatedError):
            to_mathml(latex, display=True)


class TestExercises:
    def test_the_solution_is_folded_and_has_run(self, good: tuple[Path, str]) -> None:
        fold = re.findall(r"<details.*?</details>", good[1], flags=re.DOTALL)[0]
        assert "open" not in fold.partition(">")[0]
        assert "<summary>Solution to Exercise 3.1</summary>" in fold
        assert "ran inside" in fold

    def test_exercises_carry_the_chapter(self, good: tuple[Path, str]) -> None:
        assert '<span class="caption-number">Exercise 3.1 </span>' in good[1]
        assert re.search(r'href="#ex-3-1"><[^>]*>Exercise 3\.1<', good[1])

    def test_exercises_are_numbered_by_page(self, good: tuple[Path, str]) -> None:
        page = (good[0] / "html" / "lettered.html").read_text("utf-8")
        assert re.findall(r'caption-number">(Exercise \S+) <', page) == [
            "Exercise Q.1",
            "Exercise 4.7",
            "Exercise Q.2",
        ]
        assert re.search(r'href="#ex-q-2"><[^>]*>Exercise Q\.2<', page)

    def test_no_id_is_used_twice(self, good: tuple[Path, str]) -> None:
        ids = Ids(good[1]).found
        assert sorted(ids) == sorted(set(ids))


@pytest.mark.parametrize("name", BAD)
def test_mistakes_fail_with_a_place_and_a_remedy(name: str, bad_messages: str) -> None:
    _, said, line = BAD[name]
    matching = [text for text in bad_messages.splitlines() if f"{name}.md:{line}:" in text]
    assert any(said in text for text in matching), bad_messages


@pytest.mark.parametrize("builder", ["text", "latex"])
def test_other_builders_say_the_same_in_words(builder: str, good: tuple[Path, str]) -> None:
    folder, _ = good
    said = small_book.build(folder, builder)
    assert said.returncode == 0, said.stderr
    text = "\n".join(file.read_text() for file in (folder / builder).glob("*.t*x*"))
    for words in ("Figure 3.14", "What projections shows", "Listing 3.1", "ran inside"):
        assert words in text


class Ids(HTMLParser):
    """Collects the ids of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name == "id" and value]


def _plus_one(value: Any) -> Any:
    return tuple(map(_plus_one, value)) if isinstance(value, tuple) else value + 1
