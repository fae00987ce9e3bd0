"""Printed numbers are what the pages say they are, and a false reference fails the build."""

from __future__ import annotations

import ast
import gzip
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
import small_book
import torch
from the_book import DOCS, EXTENSIONS_ON_PATH

from quantities import declared, matching
from quantities.matching import MismatchError
from quantities.page_numbers import numbers_of
from quantities.page_run import CellRun, Span, run_page
from quantities.uses import needed, uses

if TYPE_CHECKING:
    from pathlib import Path

CONF = f"""
{EXTENSIONS_ON_PATH}
from docutils import nodes
from docutils.parsers.rst import Directive
from figures.numbered_blocks import captioned

class Figure(Directive):
    has_content = True
    def run(self):
        svg = "<svg>" + "\\n".join(self.content) + "</svg>"
        node = captioned("", nodes.raw("", svg, format="html"), kind="figure", label="Figure 1",
                         name="fig", ids=["fig"])
        return [node]

def setup(app):
    app.add_directive("drawn", Figure)

project = "A book"
extensions = ["myst_nb", "sphinx_drift", "figures", "website.permalinks", "quantities"]
myst_enable_extensions = ["dollarmath"]
"""
PAGE = (
    small_book.FRONT
    + """# Products

"""
    + small_book.cell("import torch\na = torch.tensor([[1., 2.], [3., 4.]])\nprint('a:', a)",
                      "a: tensor([[1., 2.],\n        [3., 4.]])")
    + "\n\n"
    + small_book.cell("b = a @ a\nprint(b[1], 7)", ":name: second\ntensor([15., 22.]) 7")
    + """

The last number is {printed}`second[1]`, and {printed}`second#3` is another.

```{drawn}
<text data-trace="a.0.1">2.0</text><text data-trace="other.0">9</text>
```
"""
)  # fmt: skip
DECLARED = """
words = { i = ["one", "two"] }
[family.first.a]
symbol = "a_{$i$j}"
name = "entry $j of “$wi”"
origin = "from the page"
[family.first.b]
symbol = "b_{$i$j}"
name = "entry $j of “$wi”"
formula = "a @ a"
origin = "from row $i of a times column $j of a"
[page.index]
families = ["first"]
[page.index.prints]
"b[1]" = "b[1]"
"""


def build(folder: Path, toml: str = DECLARED, page: str = PAGE) -> tuple[int, str]:
    """Build a book of one page; return the status and the messages."""
    write_changed(folder, {"conf.py": CONF, "_data/quantities.toml": toml, "index": page})
    done = small_book.build(folder)
    return done.returncode, done.stderr


def write_changed(folder: Path, files: dict[str, str]) -> None:
    """Write files that have changed: Sphinx reads a page again whose file is newer."""
    kept = {"index": "index.md", "part/other": "part/other.md"}
    for name, text in files.items():
        file = folder / "source" / kept.get(name, name)
        if not file.is_file() or file.read_text("utf-8") != text:
            small_book.write(folder, {name: text})


def index_of(folder: Path) -> dict[str, Any]:
    text = (folder / "html/index.html").read_text("utf-8")
    match = re.search(r'<script type="application/json" id="numbers">(.*?)</script>', text)
    assert match
    found: dict[str, Any] = json.loads(match[1])
    return found


def test_a_page_says_which_number_is_which(tmp_path: Path) -> None:
    status, messages = build(tmp_path)
    assert status == 0, messages
    found = index_of(tmp_path)
    assert found["outputs"] == {"output-1": [[0, "a", "0-3"]], "output-2": [[0, "b", "2-3"]]}
    assert found["figures"] == {"a": ["a", [2, 2], "0-3"]}
    assert found["of"]["b"][0] == [2, 2]
    text = (tmp_path / "html/index.html").read_text("utf-8")
    assert '<a class="quoted" href="#output-2" data-of="b[1,1]">22.</a>' in text
    assert text.count("data-of=") == 1  # a number of no quantity is no link
    assert "tensor([15., 22.]) 7" in text  # outputs stay as they are


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"a @ a"', '["a @ a", "a * a"]', "b isn't both a @ a and a * a"),
        ('formula = "a @ a"', 'formula = "a + a"', "`print(b[1])`: expected b[1,0] = 6.0000, got"),
        ('"b[1]" = "b[1]"', '"b[1]" = "b[0]"', "`print(b[1])`: expected b[0,0] = 7.0000, got 15."),
        ('"b[1]" = "b[1]"', '"b[1]" = "b"', "`print(b[1])`: expected 4 numbers of b, got 2"),
        ('"b[1]" = "b[1]"', '"b[1]" = "c"', "expected a quantity of the page in 'c'"),
        ('["first"]', '["second"]', "index: expected families among first; got second"),
        ("[page.index]", '[page.other]\nfamilies = ["first"]\n[page.index]', "no page 'other'"),
        ('formula = "a @ a"', "", "b has no formula, so a cell must make c; none does"),
    ],
)
def test_a_false_declaration_fails_the_build(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in DECLARED
    toml = DECLARED.replace(old, new)
    if not new:
        toml += '[page.index.bind]\nb = "c"\n'
    status, messages = build(tmp_path, toml)
    assert status != 0
    assert message in messages


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('a.0.1">2.0', 'a.0.1">2.1', "fig, a.0.1: expected a[0,1] = 2.0000, got 2.1"),
        ('a.0.1">2.0', 'a.1.1">2.0', "fig, a.1.1: expected a[1,1] = 4.0000, got 2.0"),
        ('a.0.1">2.0', 'a.2.1">2.0', "fig, a.2.1: expected an index in the shape (2, 2)"),
    ],
)
def test_a_false_number_in_a_figure_fails_the_build(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    status, messages = build(tmp_path, page=PAGE.replace(old, new))
    assert status != 0
    assert message in messages
    assert "index.md" in messages
    assert "correct the page, its figure, or _data/quantities.toml" in messages


OTHER = "# Another\n\nWe quote {printed}`second[1]` and {printed}`second#3`.\n"


def book_of_two(folder: Path, toml: str = DECLARED, page: str = PAGE) -> str:
    """Build a book with a page that quotes the other; return that page."""
    page += "\n```{toctree}\npart/other\n```\n"
    files = {"conf.py": CONF, "_data/quantities.toml": toml, "index": page, "part/other": OTHER}
    write_changed(folder, files)
    done = small_book.build(folder)
    assert done.returncode == 0, done.stderr
    return (folder / "html/part/other.html").read_text("utf-8")


def test_a_number_of_another_page_opens_the_same_note(tmp_path: Path) -> None:
    text = book_of_two(tmp_path)
    link = '<a class="quoted" href="../index.html#output-2" data-of="index:b/1,1[]">22.</a>'
    assert link in text
    assert text.count("data-of=") == 1
    assert json.loads(text.split('id="numbers">')[1].split("</script>")[0]) == {
        "words": {},
        "of": {
            "index:b/1,1": [
                [],
                "",
                "b_{22}",
                "entry 2 of “two”",
                "from row 2 of a times column 2 of a",
                [],
                "Products",
            ]
        },
        "outputs": {},
        "figures": {},
    }


def test_a_changed_page_writes_those_again_that_quote_it(tmp_path: Path) -> None:
    book_of_two(tmp_path)
    first = "# Products\n\n" + small_book.cell("print(1)", "1")
    page = PAGE.replace("# Products\n", first)  # one output more before it, under the same titles
    assert 'href="../index.html#output-3"' in book_of_two(tmp_path, page=page)
    toml = DECLARED.replace('"b[1]" = "b[1]"', '"b[1]" = []')
    text = book_of_two(tmp_path, toml, page)
    assert "data-of" not in text
    assert 'id="numbers"' not in text


def test_a_changed_declaration_writes_its_page_again(tmp_path: Path) -> None:
    build(tmp_path)
    status, messages = build(tmp_path, DECLARED.replace("entry $j", "number $j"))
    assert status == 0, messages
    assert index_of(tmp_path)["of"]["a"][3] == "number $j of “$wi”"
    status, messages = build(tmp_path, "")
    assert status == 0, messages
    assert 'id="numbers"' not in (tmp_path / "html/index.html").read_text("utf-8")


def test_an_e_book_has_none_of_it(tmp_path: Path) -> None:
    small_book.write(tmp_path, {"conf.py": CONF, "_data/quantities.toml": DECLARED, "index": PAGE})
    small_book.build(tmp_path, "epub")
    text = (tmp_path / "epub/index.xhtml").read_text("utf-8")
    assert "22." in text
    assert "numbers" not in text
    assert "data-of" not in text


# Matching ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shown", "value", "is_right"),
    [
        ("1.8524", 1.85241, True),
        ("1.8524", 1.8523, False),
        ("-0.30", -0.3021, True),
        ("\N{MINUS SIGN}0.30", -0.3021, True),
        ("0.30", -0.3021, False),
        ("23%", 0.2264, True),
        ("22%", 0.2264, False),
        ("1.", 1.0, True),
        ("1.2346e-05", 0.0000123456, True),
        ("1.2356e-05", 0.0000123456, False),
        ("-inf", float("-inf"), True),
        ("inf", 3.0, False),
    ],
)
def test_digits_fit_a_number_or_not(shown: str, value: float, *, is_right: bool) -> None:
    assert matching.fits(shown, value) is is_right


def test_numbers_in_names_are_none() -> None:
    text = "tensor([0.5, -1.], grad_fn=<MmBackward0>, dtype=torch.float64) x_2 -inf 1e-05"
    assert matching.NUMBER.findall(text) == ["0.5", "-1.", "-inf", "1e-05"]
    script = (DOCS / "_static/numbers.js").read_text("utf-8")
    assert f"/{matching.NUMBER.pattern}/g" in script  # the page counts as the build does


def test_places_are_written_short() -> None:
    places = torch.arange(12).reshape(3, 4)
    assert matching.ranges(places[1]) == "4-7"
    assert matching.ranges(places[:, 1:3]) == "1-2 5-6 9-10"
    assert matching.ranges(places[2, 0]) == "8"
    assert matching.index(9, (3, 4)) == "[2,1]"


CELL = """
import torch
torch.set_printoptions(precision=1)
a, b = torch.tensor([0.25, 3.0]), 7
print("a", b, *(n for n in (1, 2)), end="!")
print(f"{b:3} and {a[1]:.2f}", sep="")
a
"""


def test_all_that_a_cell_prints_is_known_as_it_is_written(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(small_book.FRONT + small_book.cell(CELL.strip()), "utf-8")
    cell = run_page(page, {}, ["a"]).cells[0]
    assert cell.text == "a 7 1 2!  7 and 3.00\ntensor([0.2, 3.0])\n"
    assert str(torch.tensor([0.25])) == "tensor([0.2500])"  # as before
    found = {span.source: cell.text[span.start : span.end] for span in cell.spans}
    assert found == {
        "'a'": "a",
        "b": "  7",
        "*(n for n in (1, 2))": "1 2",
        "a[1]": "3.00",
        "f'{b:3} and {a[1]:.2f}'": "  7 and 3.00",
        "a": "tensor([0.2, 3.0])",
    }


def test_cells_after_the_last_that_is_wanted_are_not_run(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    cells = ("import torch\nprint('one')", "a = torch.ones(2)", "b = 1 / 0\nprint('two')")
    page.write_text(small_book.FRONT + "\n\n".join(map(small_book.cell, cells)), "utf-8")
    assert [cell.text for cell in run_page(page, {}, ["'one'"]).cells] == ["one\n", "", ""]
    assert [*run_page(page, {"it": "a"}, ["'one'"]).bound] == ["it"]
    assert [*run_page(page, {}, ["'one'"]).bound] == []


def test_what_is_printed_twice_is_taken_in_order() -> None:
    page = declared.DeclaredPage({}, {}, {}, {"row": ("a[0]", "a[1]")}, {})
    cell = CellRun("1. 2.\n1. 2.\n", [Span("row", 0, 5), Span("row", 6, 11)])
    runs = matching.runs_of(cell, page, {"a": torch.tensor([[1.0, 2.0], [1.0, 2.0]])})
    assert [run.part.places.tolist() for run in runs] == [[0, 1], [2, 3]]


# What a number is used in --------------------------------------------------------------


def used(formula: str, axes: str = "ij", symbol: str = "b_{$i$j}", **made: list[Any]) -> list[Any]:
    """Return what `a` is used in, if `b` is made of it by a formula."""
    tensors = {name: torch.tensor(values) for name, values in made.items()}
    own = declared.Quantity("a", "", "", "xyz"[: tensors["a"].dim()])
    quantities = dict.fromkeys(made, own)
    quantities["b"] = declared.Quantity(symbol, "", "", axes, (formula,))
    tensors["b"] = matching.computed(formula, tensors)
    return [(use.text, use.places) for use in uses(quantities, tensors)["a"]]


def test_what_a_page_never_makes_uses_nothing() -> None:
    """Of weights that get a mask, no context vectors are made."""
    made = {"weights": (), "vectors": ("weights @ x",), "masked": ("weights * mask",)}
    quantities = {
        name: declared.Quantity("", "", "", "ij", formulas) for name, formulas in made.items()
    }
    kept = needed(quantities, {"masked"})
    assert [kept[name].formulas for name in made] == [(), (), ("weights * mask",)]
    assert needed(quantities, set()) == quantities


MATRIX = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("2 * a", [("b_{$x$y}", "")]),
        ("a.T", [("b_{$y$x}", "")]),
        ("a @ a.T", [("b_{$x1} and b_{$x2}", ""), ("b_{1$x} and b_{2$x}", "")]),
        ("torch.softmax(a, dim=-1)", [("b_{$x1} … b_{$x3}", "")]),
        ("a[1:] * torch.ones(1, 3)", [("b_{1$y}", "3-5")]),
        ("torch.tril(torch.ones(len(a), len(a)))", []),
        ("torch.zeros(2, 3).masked_fill(a == 1, 2.0)", [("b_{$x$y}", "")]),
    ],
)
def test_the_formulas_say_what_a_number_is_used_in(formula: str, expected: list[Any]) -> None:
    assert used(formula, a=MATRIX) == expected


def test_a_whole_vector_is_called_by_its_name() -> None:
    assert used("torch.softmax(a, dim=-1)", symbol="b^{($i)}_$j", a=MATRIX) == [("b^{($x)}", "")]
    assert used("a[1]", "j", "b_$j", a=MATRIX) == [("b_$y", "3-5")]


def test_what_no_text_can_say_is_refused() -> None:
    with pytest.raises(MismatchError, match="no text says which entries of b use one of a"):
        used("a @ torch.triu(torch.ones(3, 3))", a=MATRIX)


# The book ------------------------------------------------------------------------------

BOOK = declared.read(DOCS)


def marked(name: str) -> dict[str, list[matching.Run]]:
    """Return what the numbers of a page's outputs are, by the output's text."""
    page = numbers_of(DOCS, name)
    assert page is not None
    assert page.faults == {}
    return {page.cells[n - 1].text: found for n, found in page.runs.items() if found}


@pytest.mark.parametrize("name", BOOK)
def test_every_declared_page_has_marked_numbers(name: str) -> None:
    assert marked(name)


def test_the_pages_of_section_3_4_are_among_them() -> None:
    own = {"index", "self-attention/step-by-step", "self-attention/compact-class"}
    assert own <= BOOK.keys()
    assert len(BOOK) >= 19
    counts = {
        name: sum(len(run.part.places.flatten()) for runs in marked(name).values() for run in runs)
        for name in BOOK
    }
    assert counts["self-attention/step-by-step"] == 42
    assert sum(counts.values()) >= 1900


def test_the_numbers_of_step_by_step_are_the_right_ones() -> None:
    found = marked("self-attention/step-by-step")
    assert _named(found, "tensor(1.8524)\n") == ["attn_scores[1,1]"]
    scores = "tensor([1.2705, 1.8524, 1.8111, 1.0795, 0.5577, 1.5440])\n"
    assert _named(found, scores) == [f"attn_scores[1,{j}]" for j in range(6)]
    three = next(text for text in found if text.startswith("tensor([0.4306"))
    assert _named(found, three) == [
        f"{name}[1,{m}]" for name in ("queries", "keys", "values") for m in range(2)
    ]


def _named(found: dict[str, list[matching.Run]], text: str) -> list[str]:
    shape = (6, 6) if "1.8524" in text else (6, 2)
    return [
        run.part.quantity + matching.index(place, shape)
        for run in found[text]
        for place in run.part.places.flatten().tolist()
    ]


def test_what_a_note_says_is_what_the_formula_uses() -> None:
    checked = 0
    for page in BOOK.values():
        for name, quantity in page.quantities.items():
            for formula in quantity.formulas:
                tree = ast.parse(formula)
                names = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
                for other in names & page.quantities.keys():
                    head = re.sub(r"[_^{($].*", "", page.quantities[other].symbol.lstrip("("))
                    if other == "inputs" and "len(inputs)" in formula:
                        head = "x"
                    assert head.split()[-1] in quantity.source, (name, other)
                    checked += 1
    assert checked > 100


def test_each_quantity_says_what_its_page_uses_it_in() -> None:
    """The page on causal attention makes no values, and no context vectors."""
    found = numbers_of(DOCS, "self-attention/causal")
    assert found is not None
    said = {name: [use.text for use in each] for name, each in found.uses.items()}
    assert said["inputs"] == ["q^{($i)}", "k^{($i)}"]
    assert said["queries"] == ["ω_{$i1} … ω_{$i6}"]
    assert said["keys"] == ["ω_{1$i} … ω_{6$i}"]
    assert said["values"] == []
    assert said["attn_weights"] == ["α_{$i$j} m_{$i$j}"]
    assert said["attn_scores"] == ["ω_{$i$j} / √d_k", "masked ω_{$i$j}"]
    assert said["masked_simple"] == ["causal α_{$i1} … causal α_{$i6}"]
    assert said["masked"] == ["causal α_{$i1} … causal α_{$i6}"]
    assert said["causal_weights"] == []


def test_the_script_and_its_style_are_small() -> None:
    files = [DOCS / f"_static/numbers.{kind}" for kind in ("js", "css")]
    assert sum(len(gzip.compress(file.read_bytes(), 6, mtime=0)) for file in files) <= 5000
