"""My numbers differ: pasted numbers are recognized, by the shipped script, run in Node."""

import json
import platform
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import mistakes as making
import pytest
import torch
from docutils import nodes
from node import evaluate
from readers_mistakes import MISTAKES
from small_book import FRONT, built, cell
from test_book import WITH_CELLS, expectations, name
from the_book import DOCS, EXTENSIONS_ON_PATH

from diagnosis import number_box
from diagnosis.number_box import DECIMAL, SCRIPTS, recorded
from selfattn import SelfAttention_v1, SelfAttention_v2
from selfattn.examples import six_tokens
from sphinx_drift.compare.tokens import read_tokens

PAGE = DOCS / "reference" / "my-numbers-differ.md"
NUMBER_CASES = json.loads(Path(__file__).with_name("number_cases.json").read_text("utf-8"))
"""Texts, and the numbers in each."""
INPUTS = six_tokens().inputs
CONTEXTS = """tensor([[0.2996, 0.8053],
        [0.3061, 0.8210],
        [0.3058, 0.8203],
        [0.2948, 0.7939],
        [0.2927, 0.7891],
        [0.2990, 0.8040]])"""
NO_CAUSE = {"unknown", "few", "coarse", "documented"}


@cache
def outputs() -> dict[str, list[str]]:
    """Return the documented outputs of each page, which the build verifies."""
    return {name(page): [each.text for each in expectations(page)] for page in WITH_CELLS}


def known() -> dict[str, Any]:
    """Return what the build gives the box, made of the documented texts."""
    pages = []
    for page, texts in outputs().items():
        printed = [[n, text] for n, text in enumerate(texts) if DECIMAL.search(text)]
        pages.append({"href": page, "title": page, "sections": [["", printed]]})
    return {"pages": pages, "made": recorded()}


def in_the_box(body: str, given: object) -> Any:
    """Evaluate a function by the scripts of the box, all but the one that needs a page."""
    return evaluate(body, given, [number_box.HERE / name for name in SCRIPTS[:-1]])


def answers(texts: Iterable[str]) -> list[Any]:
    given = {"texts": [*texts], "known": known()}
    found: list[Any] = in_the_box("return given.texts.map(selfattn.diagnosis(given.known))", given)
    assert len(found) == len(given["texts"])
    return found


def findings(*texts: str) -> list[dict[str, Any]]:
    """Return what is found of each text, which must be one thing."""
    found = [answer["findings"] for answer in answers(texts)]
    assert [len(each) for each in found] == [1] * len(texts)
    return [finding for (finding,) in found]


def finding(text: str) -> dict[str, Any]:
    return findings(text)[0]


def test_python_reads_the_numbers_of_the_table() -> None:
    """The checker's grammar, and the box's JavaScript, say alike what a number is."""
    read = [[t, [each.text for each in read_tokens(t) if each.is_number]] for t, _ in NUMBER_CASES]
    assert read == NUMBER_CASES


def test_the_box_reads_the_same_numbers() -> None:
    real = [case for case in NUMBER_CASES if not any(number.endswith("j") for number in case[1])]
    read = "(text) => selfattn.blocksOf(text).flat().map((number) => number.text)"
    assert in_the_box(f"return given.map(([text]) => [text, ({read})(text)])", real) == real


# The data -----------------------------------------------------------------------------


@pytest.mark.skipif(
    (platform.system(), platform.machine()) != ("Linux", "x86_64"), reason="other last digits"
)
def test_rows_that_are_longer_than_the_book_s() -> None:
    torch.manual_seed(123)
    drawn = torch.rand(3, 2)
    book, exchanged = findings(str(drawn), str(drawn.reshape(2, 3)))
    assert book["kind"] == exchanged["kind"] == "documented"
    assert (book["rows"], exchanged["rows"]) == (None, {"pasted": 3, "printed": 2})


def test_the_recorded_mistakes_make_these_numbers() -> None:
    assert making.recorded() == recorded()


def test_each_mistake_has_a_section_with_a_cure() -> None:
    text = PAGE.read_text("utf-8").partition("(mistakes)=")[2].partition("\n## ")[2]
    sections = re.findall(r"^### (.*)", text.partition("\n## ")[0], re.MULTILINE)
    assert sorted(sections) == sorted(recorded()["titles"])


def test_the_table_of_mistakes_has_the_numbers_that_they_make() -> None:
    row = re.compile(r"^\| (-?\d\.\d{4}), (-?\d\.\d{4}) \| (.+) \|$", re.MULTILINE)
    shown = row.findall(PAGE.read_text("utf-8"))
    assert shown
    for *numbers, title in shown:
        wrong = replace(making.V1, **making.MISTAKES[title][1][0])
        made = making.steps(wrong)["context vectors"][1]  # "journey"
        assert [f"{number:.4f}" for number in made.tolist()] == numbers, title


def test_the_sections_that_the_box_names_are_there() -> None:
    text = (number_box.HERE / "box.js").read_text("utf-8")
    named = set(re.findall(r'"#([\w-]+)"', text))
    page = PAGE.read_text("utf-8").replace("`", "")
    titles = {nodes.make_id(title) for title in re.findall(r"^##+ (.*)", page, re.MULTILINE)}
    assert {"last-digit", "symptoms"} <= named
    assert named <= titles | set(re.findall(r"^\(([\w-]+)\)=$", page, re.MULTILINE))


# What is recognized -------------------------------------------------------------------


def telling(text: str) -> int:
    numbers = set(re.findall(r"(?<![\d.])-?\d+\.\d{2,}\b(?!e)", text))
    return sum(len(number.strip("-0.").replace(".", "")) > 1 for number in numbers)


def test_every_mistake_is_named_wherever_it_makes_a_difference() -> None:
    made = [each for each in making.made() if each[0]]
    texts = [str(steps["context vectors"]) for _, _, steps in made]
    unnamed = [
        (title, code)
        for (title, code, _), text, answer in zip(made, texts, answers(texts), strict=True)
        if "inf" not in text and (title, code) not in causes(answer["findings"])
    ]
    # Context vectors that are nearly alike tell too little.
    unnamed.remove(("Initialized in another way", "SelfAttention_v2"))
    # A head with one feature is divided by 1, whatever the mistake.
    assert {code for _, code in unnamed} == {"MultiHeadAttention"}
    assert {title for title, _ in unnamed} == {
        "No scaling",
        "Scaled by another size",
        "Scaled by dₖ and not by its root",
        "Weights scaled, and not scores",
    }


def causes(findings: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """Return the mistakes that are named, each with the code that the reader runs."""
    named = [each for found in findings for each in found.get("mistakes", [])]
    return {(each["title"], code) for each in named for code in each["codes"]}


def test_every_documented_output_is_recognized() -> None:
    texts = [(page, t) for page in outputs() for t in outputs()[page] if telling(t) >= 3]
    assert texts
    for (page, text), found in zip(texts, findings(*(t for _, t in texts)), strict=True):
        assert (found["kind"], found["nears"]) == ("documented", []), text
        assert page in {place["href"].partition("#")[0] for place in found["places"]}


def forms() -> dict[str, str]:
    torch.manual_seed(123)
    matrix = SelfAttention_v1(3, 2)(INPUTS).detach()
    return {
        "numpy": str(matrix.numpy()),
        "list": str(matrix.tolist()),
        "three decimals": str([[round(x, 3) for x in row] for row in matrix.tolist()]),
        "device": f"{CONTEXTS[:-1]},\n       device='cuda:0', grad_fn=<MmBackward0>)",
        "one line": " ".join(CONTEXTS.split()),
        "rows without brackets": re.sub(r"[^\d.\n]+", "  ", CONTEXTS),
        "a mark that doesn't show": CONTEXTS.replace("[0.2996", "[\u202a0.2996"),
        "decimal commas": CONTEXTS.replace(", ", "; ").replace(".", ","),
        "numbered rows": "     0    1\n"
        + "\n".join(f"{i}  {a:.6f}  {b:.6f}" for i, (a, b) in enumerate(matrix.tolist())),
        "a loop over rows": "\n".join(f"word {i + 1}: {row}" for i, row in enumerate(matrix)),
    }


def test_the_form_of_a_paste_makes_no_difference() -> None:
    for form, found in zip(forms(), findings(*forms().values()), strict=True):
        assert (found["kind"], found["nears"]) == ("documented", []), form
        assert any("compact-class" in place["href"] for place in found["places"])


def test_a_last_digit_that_differs_is_named() -> None:
    found = finding(CONTEXTS.replace("0.8210", "0.8211").replace("0.2927", "0.2926"))
    assert found["kind"] == "documented"
    assert [(near["pasted"], near["expected"]) for near in found["nears"]] == [
        ("0.8211", "0.8210"),
        ("0.2926", "0.2927"),
    ]
    other = finding(CONTEXTS.replace("0.8210", "0.8120").replace("0.2927", "0.9999"))
    assert other["kind"] == "unknown"


def test_right_steps_are_right_where_the_book_does_not_print_them() -> None:
    torch.manual_seed(789)
    layer = SelfAttention_v2(3, 2)
    steps = [layer.W_key(INPUTS), layer.W_query(INPUTS) @ layer.W_key(INPUTS).T / 2**0.5]
    found = findings(*(str(step.detach()) for step in steps))
    assert [each["kind"] for each in found] == ["right", "right"]


def test_readers_mistakes_are_named() -> None:
    found = findings(*(str(make().detach()) for make in MISTAKES.values()))
    named = [{title for title, _ in causes([each])} for each in found]
    missed = [title for title, titles in zip(MISTAKES, named, strict=True) if title not in titles]
    assert missed == []


# What isn't claimed -------------------------------------------------------------------


def test_random_tensors_are_given_no_cause() -> None:
    torch.manual_seed(98765)  # which is nobody's seed
    shapes = [(6, 2), (6, 6), (2, 6, 2), (3, 2), (2, 6), (6,), (3,), (2, 6, 4)]
    texts = [
        str(draw(*shape))
        for shape in shapes
        for draw in (torch.rand, torch.randn)
        for _ in range(13)
    ] + ["0.33 0.34 0.35"]
    found = zip(texts, findings(*texts), strict=True)
    assert [(text, f["kind"]) for text, f in found if f["kind"] not in NO_CAUSE] == []


@pytest.mark.parametrize("text", ["0.1 0.2 0.3 0.4", "[0.2, 0.1, 0.3, 0.1, 0.1, 0.2]"])
def test_numbers_with_one_decimal_are_too_coarse(text: str) -> None:
    assert finding(text)["kind"] == "coarse"


@pytest.mark.parametrize(
    ("text", "is_near"),
    [
        ("In [5]: context_vec_2\nOut[5]: tensor([0.3061, 0.8210])", False),
        ("tensor([0.3061, 0.8211])", True),
    ],
)
def test_fewer_than_three_numbers_have_places_and_no_mistake(text: str, *, is_near: bool) -> None:
    found = finding(text)
    assert (found["kind"], found["isNear"]) == ("few", is_near)
    assert any("step-by-step" in place["href"] for place in found["places"])
    assert finding("0.98765")["places"] == []


def test_any_text_is_read() -> None:
    texts = {
        "a" * 50_000: 0,
        "[" * 50_000: 0,
        "0.2996, " * 6_000: 6_000,
        "[0.2996 0.8053 0.3061] " * 2_000: 6_000,
        "<script>alert(0.1234)</script><img src=x onerror=alert(0.2345)> 0.3456": 3,
        "": 0,
    }
    found = answers(texts)
    assert [answer["total"] for answer in found] == list(texts.values())
    assert all(len(answer["findings"]) <= 24 for answer in found)


# The build ----------------------------------------------------------------------------

CONF = f"""
{EXTENSIONS_ON_PATH}
project, extensions = "Numbers", ["myst_nb", "sphinx_drift", "website.outputs", "diagnosis"]
"""


def printing(number: str) -> str:
    """Return a page with a verified output of a number, and one that isn't checked."""
    verified = cell(f"x = {number}\nprint(x)", number)
    unchecked = cell("print(0.7777)", ":unchecked: it takes too long to explain\n0.7777")
    return f"{FRONT}# Other <page>\n\n## A section\n\n{verified}\n\n{unchecked}\n"


@pytest.mark.slow
def test_the_box_gets_what_was_verified_and_follows_it(tmp_path: Path) -> None:
    mine = "# Mine\n\n```{number-box}\n```\n\n```{toctree}\nother\n```\n"
    for number in ("0.1234", "0.4321"):
        out = built(tmp_path, {"conf.py": CONF, "index": mine, "other": printing(number)})
        script = (out / "_static/known.js").read_text("utf-8")
        data = json.loads(script.partition(" = ")[2].rstrip(";\n"))
        section = ["A section", [["a-section-output-1", number]]]
        assert data["pages"] == [
            {"href": "other.html", "title": "Other <page>", "sections": [section]}
        ]
        assert data["made"] == recorded()
    text = (out / "index.html").read_text("utf-8")
    assert all(name in text for name in SCRIPTS)
    assert "diagnose.js" not in (out / "other.html").read_text("utf-8")
