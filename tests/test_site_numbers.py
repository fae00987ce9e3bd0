"""Printed numbers are what the pages say they are, and a false reference fails the build."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import small_book
from the_book import EXTENSIONS_ON_PATH

from quantities import matching

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
uses.a = "b_{$i1} and b_{$i2}"
[page.index]
families = ["first"]
prints = ["a", "b[1]"]
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
    spans = [[12, 14], [16, 18], [30, 32], [34, 36]]
    assert found["outputs"] == {
        "output-1": [["a", "0-3", spans]],
        "output-2": [["b", "2-3", [[8, 11], [13, 16]]]],
    }
    assert found["figures"] == {"a": ["a", [2, 2], "0-3"]}
    assert found["of"]["b"][0] == [2, 2]
    assert found["of"]["a"][4] == "from the page; used in b_{$i1} and b_{$i2}"
    text = (tmp_path / "html/index.html").read_text("utf-8")
    assert '<a class="quoted" href="#output-2" data-of="b[1,1]">22.</a>' in text
    assert text.count("data-of=") == 1  # a number of no quantity is no link
    assert "tensor([15., 22.]) 7" in text  # outputs stay as they are


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"a @ a"', '["a @ a", "a * a"]', "b isn't both a @ a and a * a"),
        ('formula = "a @ a"', 'formula = "a + a"', "no output prints b[1]"),
        ('"b[1]"', '"b[0]"', "no output prints b[0]"),
        ('"b[1]"', '"b"', "no output prints b;"),
        ('"b[1]"', '"c"', "expected a quantity of the page in 'c'"),
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
    # What hasn't changed isn't read in live work, which a machine for CI never is.
    done = small_book.build(folder, "html", "-D", "drift_live=1", CI="")
    assert done.returncode == 0, done.stderr
    return (folder / "html/part/other.html").read_text("utf-8")


def test_a_number_of_another_page_is_a_link_to_it(tmp_path: Path) -> None:
    text = book_of_two(tmp_path)
    assert '<a class="quoted" href="../index.html#output-2">22.</a>' in text
    assert "data-of=" not in text


def test_a_changed_page_alone_writes_those_again_that_quote_it(tmp_path: Path) -> None:
    book_of_two(tmp_path)
    other = tmp_path / "html/part/other.html"
    written = other.stat().st_mtime_ns
    book_of_two(tmp_path)
    assert other.stat().st_mtime_ns == written
    first = "# Products\n\n" + small_book.cell("print(1)", "1")
    page = PAGE.replace("# Products\n", first)  # one output more before it, under the same titles
    assert 'href="../index.html#output-3"' in book_of_two(tmp_path, page=page)
    toml = DECLARED.replace('prints = ["a", "b[1]"]', 'prints = ["a"]')
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


def test_places_are_written_short() -> None:
    places = np.arange(12).reshape(3, 4)
    assert matching.ranges(places[1]) == "4-7"
    assert matching.ranges(places[:, 1:3]) == "1-2 5-6 9-10"
    assert matching.ranges(places[2, 0]) == "8"
    assert matching.index(9, (3, 4)) == "[2,1]"


QUANTITIES = {
    "a": np.array([[0.25, 3.0], [0.25, 3.0]]),
    "mask": np.array([[1, 0], [1, 1]]),
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tensor([0.2500, 3.0000]) 0.25", ["a[0]", "a[0, 0]"]),
        ("tensor([0.2500, 3.0001])", []),
        ("tensor([0.2500, 3.0000, 1.0000])", []),  # another array, which begins like it
        ("Your 0.25 3.00\njourney 0.25 3.00", ["a[0]", "a[1]"]),  # in the order of the page
        ("0.25\n3.00", ["a[0, 0]"]),  # not on one line
        ("place 3 of 0 or 0.2", []),  # too few digits to tell
        ("tensor([[1, 0],\n        [1, 1]])", ["mask"]),
        ("tensor([[1, 0], [1, 2]])", []),
        ("x_0.25 0.25e1", []),
    ],
)
def test_digits_and_place_decide_what_a_number_is(text: str, expected: list[str]) -> None:
    names = ("a[0]", "a[1]", "a[0, 0]", "mask")
    parts = {name: matching.part_of(name, QUANTITIES) for name in names}
    runs = matching.runs_of(text, parts, QUANTITIES, ())
    assert [run.expression for run in runs] == expected
    for run in runs:
        shown = [float(text[start:end]) for start, end in run.spans]
        assert shown == QUANTITIES[run.part.quantity].flatten()[run.part.places].flatten().tolist()


def test_values_of_a_page_are_exact_and_leave_it_alone(tmp_path: Path) -> None:
    """A figure shows what no cell prints; to keep it draws no random number."""
    kept = 'keep = {t = "third", n = "named", r = "torch.rand(1)"}\n[page.index.bind]'
    toml = DECLARED.replace('formula = "a @ a"\n', "") + f"{kept}\nb = 'a @ a'\n"
    code = """torch.manual_seed(1)
third, named = torch.tensor([1 / 3, torch.nan]), {"one": [1, a[0]]}"""
    page = PAGE + "\n\n" + small_book.cell(code) + "\n\n"
    page += small_book.cell("print(torch.rand(1))", "tensor([0.7576])")
    status, messages = build(tmp_path, toml, page)
    assert status == 0, messages
    probe = "import pickle; from sphinx_drift import api; import page_values; "
    probe += "env = pickle.load(open('doctrees/environment.pickle', 'rb')); "
    probe += "values = page_values.values_of(env, 'index'); "
    probe += "print(values['third'], values['named']['one'][1])"
    done = subprocess.run(
        [sys.executable, "-c", f"{EXTENSIONS_ON_PATH}\n{probe}"],
        check=True, capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.stdout == "[0.3333333432674408, nan] [1.0, 2.0]\n"
