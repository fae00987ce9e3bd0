"""My numbers differ: pasted numbers are recognized, by the shipped script, run in Node."""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
from decimal import Decimal
from functools import cache
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import gpu_draws
import pytest
import small_book
import torch
from mutants import corpus, mutants
from the_book import DOCS, EXTENSIONS_ON_PATH, PAGES

from diagnosis import number_box
from diagnosis.number_box import ARITHMETIC, DECIMAL, SCRIPTS, joined, slug
from diagnosis.packing import arrays, packed, printed_names
from explorer.element import text_of
from explorer.node import run_node
from selfattn import CausalAttention, SelfAttention_v1, SelfAttention_v2
from selfattn.examples import six_tokens
from sphinx_drift.compare.tokens import tokens
from sphinx_drift.source.read_source import load

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PAGE = DOCS / "reference" / "my-numbers-differ.md"
ASK = Path(__file__).with_name("diagnosis.js")
INPUTS = six_tokens().inputs
HEADING = re.compile(r"^(#+) (.*)")
MISTAKES = 17
LEAST_ALTERED = 25_000
"""All that tools/mutation.py tries, but for outputs that are the same on two pages."""
FENCE = re.compile(r"^```")

STEP = DOCS / "self-attention" / "step-by-step.md"
CONTEXTS = """tensor([[0.2996, 0.8053],
        [0.3061, 0.8210],
        [0.3058, 0.8203],
        [0.2948, 0.7939],
        [0.2927, 0.7891],
        [0.2990, 0.8040]])"""


class Documented(NamedTuple):
    """A documented output, which the build verifies, and the headings that it is below."""

    page: Path
    sections: tuple[str, ...]
    text: str


def documented(page: Path) -> Iterator[Documented]:
    loaded = load(page)
    if loaded is None:
        return
    lines = page.read_text("utf-8").splitlines()
    for cell in loaded[0].cells:
        for each in cell.expectations:
            if not each.unchecked:
                yield Documented(page, _headings(lines[: cell.line]), each.text)


def _headings(lines: list[str]) -> tuple[str, ...]:
    """Return the titles that are open at the end of some lines of a page."""
    titles: list[str] = []
    fenced = False
    for line in lines:
        fenced ^= bool(FENCE.match(line))
        if not fenced and (match := HEADING.match(line)):
            titles[len(match[1]) - 1 :] = [match[2]]
    return tuple(titles)


@cache
def outputs() -> tuple[Documented, ...]:
    return tuple(each for page in PAGES if page != PAGE for each in documented(page))


@cache
def mistakes() -> tuple[Documented, ...]:
    return tuple(
        each
        for each in documented(PAGE)
        if "The mistakes, one by one" in each.sections and len(each.sections) == 3
    )


@cache
def known() -> dict[str, Any]:
    """Return what the build gives the box, made of the documented texts."""
    pages = [
        {
            "href": str(page.relative_to(DOCS)),
            "title": page.stem,
            "sections": [
                [each.sections[-1], "", [[n, "", packed(each.text)]]]
                for n, each in enumerate(outputs(), start=1)
                if each.page == page and DECIMAL.search(each.text)
            ],
        }
        for page in PAGES
    ]
    return {"inputs": INPUTS.tolist(), "pages": pages}


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("script") / number_box.SCRIPT
    path.write_text(ARITHMETIC.read_text("utf-8") + joined(SCRIPTS[:-1]), "utf-8")
    return path


class Asked:
    """The script, and how it is asked."""

    def __init__(self, script: Path) -> None:
        self.script = script

    def __call__(self, ask: str, texts: list[str], **more: Any) -> list[Any]:
        question = json.dumps({"ask": ask, "texts": texts} | more)
        answers: list[Any] = json.loads(run_node(ASK, self.script, text=question))
        assert len(answers) == len(texts)
        return answers

    def diagnose(self, *texts: str) -> list[dict[str, Any]]:
        own = [
            {
                "id": slug(each.sections[-1]),
                "title": each.sections[-1],
                "anchor": "",
                "text": each.text,
            }
            for each in mistakes()
        ]
        return self("diagnose", list(texts), known=known(), mistakes=own)

    def finding(self, text: str) -> dict[str, Any]:
        (answer,) = self.diagnose(text)
        (finding,) = answer["findings"]
        return dict(finding)


@pytest.fixture(scope="module")
def asked(script: Path) -> Asked:
    return Asked(script)


# The reader ---------------------------------------------------------------------------


def in_python(text: str) -> str:
    lines = (f"{t.kind.value} {t.start} {t.end} {t.text}" for t in tokens(text) if not t.is_line)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def disagreements(asked: Asked, texts: Iterable[str]) -> list[str]:
    """Return the texts that the two readers read differently."""
    wrong = []
    rest = iter(texts)
    while batch := list(islice(rest, 4000)):
        answers = zip(batch, asked("tokens", batch), strict=True)
        wrong += [text for text, answer in answers if answer != in_python(text)]
    return wrong


def altered() -> Iterator[str]:
    """Yield every output of the corpus and of the other pages, and every altered one."""
    texts = [output.documented for output in corpus()] + [each.text for each in outputs()]
    for text in dict.fromkeys(texts):
        yield text
        yield from (mutant.text for mutant in mutants(text))


@pytest.mark.slow
def test_the_two_readers_agree_on_every_altered_output(asked: Asked) -> None:
    texts = list(altered())
    assert len(texts) > LEAST_ALTERED
    assert disagreements(asked, texts) == []


def test_the_two_readers_agree_on_what_is_odd(asked: Asked) -> None:
    odd = (
        "0.5 -1. 1e-30 inf -nan 1+2j ) - 3 [-1 x-1 2b .5 ... "
        "⋮ é\u0663 \x85\t\x1b[31m7\x1b[0m '\"\\ \x00 \x1c,"
    )
    pieces = [
        *odd,
        *odd.split(),
        "tensor(",
        "[",
        "]",
        "device='cuda:0'",
        ", device='cuda:0'",
        "\n",
        "grad_fn=<M",
    ]
    draw = random.Random(0)  # noqa: S311 - the same texts each time
    texts = ["".join(draw.choices(pieces, k=draw.randint(1, 60))) for _ in range(3000)]
    assert disagreements(asked, texts) == []


def test_a_reader_that_loses_a_sign_is_caught(script: Path, tmp_path: Path) -> None:
    text = script.read_text("utf-8")
    assert text.count("[+-])?") == 1
    broken = tmp_path / "broken.js"
    broken.write_text(text.replace("[+-])?", "[+])?"), "utf-8")
    assert disagreements(Asked(broken), [each.documented for each in corpus()])


def test_numbers_have_the_value_and_the_digits_that_python_reads(asked: Asked) -> None:
    texts = [output.documented for output in corpus()]
    for text, numbers in zip(texts, asked("numbers", texts), strict=True):
        own = [token.text.removesuffix("j") for token in tokens(text) if token.is_number]
        assert len(own) == len(numbers)
        for number, (value, power) in zip(own, numbers, strict=True):
            exponent = Decimal(number).as_tuple().exponent
            assert power == (exponent if isinstance(exponent, int) else None)
            theirs = float(value.replace("Infinity", "inf"))
            assert theirs == float(number) or (math.isnan(theirs) and math.isnan(float(number)))


# The data -----------------------------------------------------------------------------


def test_numbers_are_packed_in_rows_and_arrays() -> None:
    text = (
        "scores:\ntensor([[0.2996, 1.8053],\n        [-0.3061, 12.]])\n[6, 2]\n-0.0713 -1.2345e-02"
    )
    assert arrays(text)[0] == [["0.2996", "1.8053"], ["-0.3061", "12."]]
    assert packed(text) == "2996 18053,-3061 =12.;=6 =2;-0713 -12345c"
    assert packed("1e-05 1.2345e+02 1.2345e-30 nan") == "=1e-05 =1.2345e+02 =1.2345e-30 =nan"


def test_what_a_cell_prints_has_the_name_that_the_code_gives_it() -> None:
    code = 'print("keys:", keys.shape)\nfor row in rows:\n    print(row[0], f"{x:.2f}", *more)'
    assert printed_names(code) == ["keys.shape", "row[0]"]
    assert printed_names("%matplotlib inline") == []


def test_the_page_has_all_mistakes() -> None:
    assert len(mistakes()) == MISTAKES
    assert len({each.sections[-1] for each in mistakes()}) == MISTAKES


def test_the_sections_that_the_box_names_are_there() -> None:
    text = (number_box.HERE / "box.js").read_text("utf-8")
    named = set(re.findall(r'advice\("([\w-]+)"\)', text)) | set(re.findall(r'"#([\w-]+)"', text))
    page = PAGE.read_text("utf-8")
    titles = {
        slug(title.replace("'", "")) for title in re.findall(r"^##+ (.*)", page, re.MULTILINE)
    }
    assert {"another-seed", "last-digit", "nan"} <= named
    assert named <= titles | set(re.findall(r"^\(([\w-]+)\)=$", page, re.MULTILINE))


# What is recognized -------------------------------------------------------------------


def telling(text: str) -> int:
    return len({t.text for t in tokens(text) if re.fullmatch(r"-?\d+\.\d{2,}", t.text)})


def as_text(array: list[list[str]]) -> str:
    return "[" + ",\n ".join(f"[{', '.join(row)}]" for row in array) + "]"


def test_every_mistakes_numbers_give_that_mistake_and_no_other(asked: Asked) -> None:
    answers = asked.diagnose(*(each.text for each in mistakes()))
    for mistake, answer in zip(mistakes(), answers, strict=True):
        (finding,) = answer["findings"]
        assert finding["kind"] == "mistake", mistake.sections
        assert {p["mistake"] for p in finding["places"]} == {slug(mistake.sections[-1])}
        assert finding["nears"] == []


def test_so_does_each_of_its_arrays_unless_the_book_prints_it_too(asked: Asked) -> None:
    book = {tuple(map(tuple, array)) for each in outputs() for array in arrays(each.text)}
    single = [
        (each.sections[-1], as_text(array), tuple(map(tuple, array)) in book)
        for each in mistakes()
        for array in arrays(each.text)
        if telling(as_text(array)) >= 3
    ]
    assert len(single) > 60
    answers = asked.diagnose(*(text for _, text, _ in single))
    for (title, _, is_documented), answer in zip(single, answers, strict=True):
        (finding,) = answer["findings"]
        mistake = {"mistake", "seed"} if title == "Another seed" else {"mistake"}
        assert finding["kind"] in ({"documented"} if is_documented else mistake), title
        places = finding["also"] if is_documented else finding["places"]
        assert {place["mistake"] for place in places} == {slug(title)}


def test_every_documented_output_is_recognized(asked: Asked) -> None:
    texts = [each for each in outputs() if telling(each.text) >= 3]
    assert len(texts) > 90
    for each, answer in zip(texts, asked.diagnose(*(e.text for e in texts)), strict=True):
        (finding,) = answer["findings"]
        assert finding["kind"] == "documented", each
        assert finding["nears"] == []
        pages = {place["href"].partition("#")[0] for place in finding["places"]}
        assert str(each.page.relative_to(DOCS)) in pages


def forms() -> dict[str, str]:
    torch.manual_seed(123)
    matrix = SelfAttention_v1(3, 2)(INPUTS).detach()
    return {
        "numpy": str(matrix.numpy()),
        "list": str(matrix.tolist()),
        "three decimals": str([[round(x, 3) for x in row] for row in matrix.tolist()]),
        "gradient": f"{CONTEXTS[:-1]}, grad_fn=<MmBackward0>)",
        "device": f"{CONTEXTS[:-1]},\n       device='cuda:0', grad_fn=<MmBackward0>)",
        "one line": " ".join(CONTEXTS.split()),
        "rows without brackets": re.sub(r"[^\d.\n]+", "  ", CONTEXTS),
        "prompt": f"Out[12]: {CONTEXTS}",
        "some rows": CONTEXTS.split("\n", 1)[1],
        "a mark that doesn't show": CONTEXTS.replace("[0.2996", "[\u202a0.2996"),
        "a colour": f"\x1b[32m{CONTEXTS}\x1b[0m",
        "decimal commas": CONTEXTS.replace(", ", "; ").replace(".", ","),
        "decimal commas and others": CONTEXTS.replace(".", ","),
        "numbered rows": "     0    1\n"
        + "\n".join(f"{i}  {a:.6f}  {b:.6f}" for i, (a, b) in enumerate(matrix.tolist())),
        "a loop over rows": "\n".join(f"word {i + 1}: {row}" for i, row in enumerate(matrix)),
    }


def test_the_form_of_a_paste_makes_no_difference(asked: Asked) -> None:
    for form, answer in zip(forms(), asked.diagnose(*forms().values()), strict=True):
        (finding,) = answer["findings"]
        assert finding["kind"] == "documented", form
        assert finding["nears"] == []
        assert any("compact-class" in place["href"] for place in finding["places"])


def test_another_minus_is_a_minus(asked: Asked) -> None:
    torch.manual_seed(789)
    text = str(SelfAttention_v2(3, 2)(INPUTS).detach())
    assert asked.finding(text.replace("-", "−"))["kind"] == "documented"


def test_last_digits_may_be_one_off_and_are_named(asked: Asked) -> None:
    finding = asked.finding(CONTEXTS.replace("0.8210", "0.8211").replace("0.2927", "0.2926"))
    assert finding["kind"] == "documented"
    assert [near["pasted"] for near in finding["nears"]] == ["0.8211", "0.2926"]
    assert [near["expected"] for near in finding["nears"]] == ["0.8210", "0.2927"]


def test_swapped_digits_and_a_wrong_number_are_named(asked: Asked) -> None:
    finding = asked.finding(CONTEXTS.replace("0.8210", "0.8120").replace("0.2927", "0.9999"))
    assert finding["kind"] == "almost"
    wrong = [(w["index"], w["pasted"], w["expected"], w["isSwapped"]) for w in finding["wrong"]]
    assert wrong == [(4, "0.8120", "0.8210", True), (9, "0.9999", "0.2927", False)]


def test_a_paste_of_two_pages_has_two_findings(asked: Asked) -> None:
    wrong = next(each for each in mistakes() if each.sections[-1] == "No scaling")
    (answer,) = asked.diagnose(f"{CONTEXTS}\nand then\n{as_text(arrays(wrong.text)[1])}")
    assert [finding["kind"] for finding in answer["findings"]] == ["documented", "mistake"]


@pytest.mark.parametrize(
    ("make", "is_linear"), [(SelfAttention_v1, False), (SelfAttention_v2, True)]
)
@pytest.mark.parametrize(("seed", "draws"), [(5, 0), (2000, 0), (None, 2), (None, 18)])
def test_another_seed_and_a_draw_before_are_found(
    asked: Asked,
    make: Any,
    is_linear: bool,  # noqa: FBT001 - given by name, by pytest
    seed: int | None,
    draws: int,
) -> None:
    usual = 789 if is_linear else 123
    torch.manual_seed(usual if seed is None else seed)
    torch.rand(draws)
    finding = asked.finding(str(make(3, 2)(INPUTS).detach()))
    expected = {"kind": "draw", "draws": draws} if seed is None else {"kind": "seed", "seed": seed}
    assert expected.items() <= finding.items()
    assert finding["isLinear"] is is_linear
    assert finding["step"] == "context vectors"


def gpu_matrices(seed: int, *, is_linear: bool) -> list[torch.Tensor]:
    """Return the three matrices that a GPU draws, as the page's cells work them out."""
    gpu_rand = gpu_draws.names()["gpu_rand"]
    if not is_linear:
        return [gpu_rand(3, 2, seed, draw) for draw in range(3)]
    return [(2 * gpu_rand(2, 3, seed, draw) - 1).T / 3**0.5 for draw in range(3)]


@pytest.mark.parametrize("ending", [")", ", device='cuda:0')"])
@pytest.mark.parametrize(
    ("seed", "is_linear"), [(123, False), (5, False), (789, True), (2000, True)]
)
def test_what_a_gpu_draws_is_found_in_every_step(
    asked: Asked,
    seed: int,
    is_linear: bool,  # noqa: FBT001 - given by name, by pytest
    ending: str,
) -> None:
    matrices = gpu_matrices(seed, is_linear=is_linear)
    queries, keys, values = (INPUTS @ W for W in matrices)
    scores = queries @ keys.T
    weights = torch.softmax(scores / 2**0.5, dim=-1)
    steps = {
        "matrices": matrices[2].T if is_linear else matrices[2],
        "queries": queries,
        "keys": keys,
        "values": values,
        "attention scores": scores,
        "attention weights": weights,
        "context vectors": weights @ values,
    }
    answers = asked.diagnose(*(str(step)[:-1] + ending for step in steps.values()))
    for step, answer in zip(steps, answers, strict=True):
        (finding,) = answer["findings"]
        if seed in {123, 789} and step in {"attention weights", "context vectors"}:
            (place,) = finding["places"]  # the page prints these
            assert place["mistake"] == "the-matrices-drawn-on-a-gpu"
        else:
            expected = {"kind": "gpu", "seed": seed, "isLinear": is_linear, "step": step}
            assert expected.items() <= finding.items()


def test_one_row_from_a_gpu_is_enough(asked: Asked) -> None:
    rows = [gpu_matrices(seed, is_linear=False)[0].flatten() for seed in range(0, 2001, 50)]
    findings = [answer["findings"][0] for answer in asked.diagnose(*map(str, rows))]
    assert [(each["kind"], each["seed"]) for each in findings] == [
        ("gpu", seed) for seed in range(0, 2001, 50)
    ]


@pytest.mark.parametrize(("usual", "draw"), [(123, "rand"), (789, "linear")])
def test_a_right_step_is_right_where_the_book_does_not_print_it(
    asked: Asked, usual: int, draw: str
) -> None:
    """The right keys are also the queries that come of six numbers drawn before."""
    torch.manual_seed(usual)
    if draw == "rand":
        queries, keys, values = (INPUTS @ torch.rand(3, 2) for _ in range(3))
    else:
        layers = [torch.nn.Linear(3, 2, bias=False) for _ in range(3)]
        queries, keys, values = (layer(INPUTS).detach() for layer in layers)
    scores = queries @ keys.T
    steps = {
        "queries": queries,
        "keys": keys,
        "values": values,
        "attention scores": scores,
        "scaled scores": scores / 2**0.5,
        "attention weights": torch.softmax(scores / 2**0.5, dim=-1),
    }
    for form in (
        str,
        lambda tensor: str(tensor.tolist()),
        lambda tensor: "\n".join(map(str, tensor)),
    ):
        answers = asked.diagnose(*map(form, steps.values()))
        for step, answer in zip(steps, answers, strict=True):
            for finding in answer["findings"]:
                if finding["kind"] != "documented":
                    expected = {"kind": "right", "step": step, "usual": usual}
                    assert expected.items() <= finding.items(), step
        assert sum(answer["findings"][0]["kind"] == "right" for answer in answers) >= 3


def test_three_right_rows_are_right_though_other_seeds_come_near(asked: Asked) -> None:
    finding = asked.finding("[[0.3669, 0.7646], [0.4433, 1.1419], [0.4361, 1.1156]]")
    assert {"kind": "right", "step": "keys"}.items() <= finding.items()


def test_a_seed_that_the_page_prints_is_named(asked: Asked) -> None:
    torch.manual_seed(42)
    finding = asked.finding(str(SelfAttention_v1(3, 2)(INPUTS).detach()))
    assert {"kind": "seed", "seed": 42, "step": "context vectors"}.items() <= finding.items()


def test_small_numbers_are_not_the_zeros_of_another_output(asked: Asked) -> None:
    finding = asked.finding("tensor([1.0000e+00, 5.6792e-21, 1.1818e-28, 1.3871e-29])")
    assert finding["kind"] == "unknown"
    assert "one-hot" in finding["hints"]


def test_a_seed_beyond_those_tried_is_not_named(asked: Asked) -> None:
    torch.manual_seed(2001)
    finding = asked.finding(str(SelfAttention_v1(3, 2)(INPUTS).detach()))
    assert finding["kind"] == "unknown"
    assert finding["distance"] > 0


def test_swapped_digits_of_any_embedding_are_found(asked: Asked) -> None:
    typed = INPUTS.clone()
    typed[4, 1] = 0.52
    torch.manual_seed(123)
    finding = asked.finding(str(SelfAttention_v1(3, 2)(typed).detach()))
    slip = {"kind": "digits", "right": "0.25", "typed": "0.52", "row": 5, "column": 2}
    assert slip.items() <= finding.items()


@pytest.mark.parametrize("p", [0.1, 0.5])
def test_dropped_weights_are_recognized_whatever_was_drawn(asked: Asked, p: float) -> None:
    torch.manual_seed(123)
    attend = SelfAttention_v1(3, 2)
    scores = (INPUTS @ attend.W_query) @ (INPUTS @ attend.W_key).T / 2**0.5
    weights = torch.nn.functional.dropout(torch.softmax(scores, dim=-1), p)
    finding = asked.finding(str(weights.detach()))
    assert finding["kind"] == "dropout"
    assert finding["factor"] == pytest.approx(1 / (1 - p), rel=1e-3)


def weights_of(make: Any, seed: int, hidden: torch.Tensor) -> torch.Tensor:
    torch.manual_seed(seed)
    attend = make(3, 2)
    linear = isinstance(attend.W_query, torch.nn.Linear)
    queries, keys = (
        layer(INPUTS) if linear else INPUTS @ layer for layer in (attend.W_query, attend.W_key)
    )
    scores = (queries @ keys.T / 2**0.5).masked_fill(hidden, -torch.inf)
    return torch.softmax(scores, dim=-1).detach()


AHEAD = torch.ones(6, 6).triu(diagonal=1).bool()
PADDED = torch.tensor([False] * 4 + [True] * 2)


@pytest.mark.parametrize(
    ("make", "seed", "hidden", "rows"),
    [
        (SelfAttention_v1, 123, AHEAD, slice(2, 3)),
        (SelfAttention_v1, 123, AHEAD, slice(4, 5)),
        (SelfAttention_v1, 123, PADDED, slice(1, 2)),
        (SelfAttention_v2, 789, PADDED, slice(2, 3)),
        (SelfAttention_v1, 123, AHEAD, slice(0, 6)),
        (SelfAttention_v2, 789, PADDED, slice(0, 6)),
    ],
)
def test_masked_weights_are_masked_and_not_dropped(
    asked: Asked, make: Any, seed: int, hidden: torch.Tensor, rows: slice
) -> None:
    weights = weights_of(make, seed, hidden)[rows]
    for text in (str(weights), str(weights.squeeze(0))):
        assert asked.finding(text)["kind"] == "mask"


def test_a_masked_row_of_other_weights_is_unknown(asked: Asked) -> None:
    for row in ("0.3526, 0.2791, 0.3683, 0, 0, 0", "0.38, 0.32, 0.30, 0, 0, 0"):
        assert asked.finding(row)["kind"] not in {"dropout", "mask", "seed", "mistake"}


def test_a_few_shares_that_may_fit_by_chance_are_not_claimed(asked: Asked) -> None:
    """Rows of other weights, masked or dropped: each fits some row of the book."""
    rows = (
        "[0.3923, 0.6077, 0.0000, 0.0000, 0.0000, 0.0000]",
        "[0.3014, 0.3996, 0.0000, 0.2666, 0.0000, 0.3414]",
        "[0.2887, 0.0000, 0.0000, 0.2521, 0.0000, 0.2751]",
    )
    for row in rows:
        finding = asked.finding(row)
        assert finding["kind"] in {"few", "unknown"} or finding["isScarce"], row
    own = weights_of(SelfAttention_v1, 123, AHEAD)
    assert [asked.finding(str(rows))["isScarce"] for rows in (own[2], own)] == [True, False]


def random_rows(decimals: int) -> Iterator[str]:
    """Yield triples of numbers, and rows of six shares, as anybody's might be."""
    draw = random.Random(7)  # noqa: S311 - the same numbers each time
    for _ in range(60):
        yield " ".join(f"{draw.uniform(0.1, 0.25):.{decimals}f}" for _ in range(3))
        yield " ".join(f"{draw.uniform(0.2, 0.9):.{decimals}f}" for _ in range(3))
        shares = [draw.uniform(0.8, 1.3) for _ in range(6)]
        yield " ".join(f"{share / sum(shares):.{decimals}f}" for share in shares)


@pytest.mark.parametrize("decimals", [2, 3, 4])
def test_random_numbers_are_given_no_cause(asked: Asked, decimals: int) -> None:
    texts = ["0.33 0.34 0.35", *random_rows(decimals)]
    named = {
        text: finding["kind"]
        for text, answer in zip(texts, asked.diagnose(*texts), strict=True)
        for finding in answer["findings"]
        if finding["kind"] not in {"unknown", "few", "coarse", "documented"}
    }
    assert named == {}


@pytest.mark.parametrize("make", [SelfAttention_v1, SelfAttention_v2])
def test_one_row_of_weights_is_enough_for_a_seed(asked: Asked, make: Any) -> None:
    row = weights_of(make, 1000, torch.zeros(6, 6).bool())[1]
    finding = asked.finding(str(row))
    assert (finding["kind"], finding["seed"]) == ("seed", 1000)
    cut = asked.finding(" ".join(f"{share:.2f}" for share in row.tolist()))
    assert cut["kind"] != "seed"


@pytest.mark.parametrize(
    "text",
    [
        "Out[5]: tensor([0.3061, 0.8210])",
        "In [5]: context_vec_2\nOut[5]: tensor([0.3061, 0.8210])",
        "tensor([0.3061, 0.8210])\ntorch.Size([2])",
        "[0.3061 0.8210]\n(2,)",
        "shape 2: 0.3061 0.8210",
    ],
)
def test_what_stands_beside_two_numbers_does_not_hide_them(asked: Asked, text: str) -> None:
    finding = asked.finding(text)
    assert finding["kind"] == "few"
    assert any("step-by-step" in place["href"] for place in finding["places"])


def test_two_short_outputs_are_looked_up_each(asked: Asked) -> None:
    (answer,) = asked.diagnose("tensor([0.3061, 0.8210])\ntensor([0.9876])")
    assert [bool(finding["places"]) for finding in answer["findings"]] == [True, False]


@pytest.mark.parametrize("text", ["0.1 0.2 0.3 0.4", "[0.2, 0.1, 0.3, 0.1, 0.1, 0.2]"])
def test_numbers_with_one_decimal_are_too_coarse(asked: Asked, text: str) -> None:
    assert asked.finding(text)["kind"] == "coarse"


def test_fewer_than_three_numbers_name_no_mistake(asked: Asked) -> None:
    finding = asked.finding("tensor([0.3061, 0.8210])")
    assert finding["kind"] == "few"
    assert any("step-by-step" in place["href"] for place in finding["places"])
    assert not finding["isNear"]
    near = asked.finding("tensor([0.3061, 0.8211])")
    assert near["isNear"]
    assert near["places"] == finding["places"]
    assert asked.finding("0.306")["places"]
    assert asked.finding("0.98765")["places"] == []
    assert asked.finding("0.3071, 0.3071, 0.8230, 0.8230")["kind"] == "few"


def test_where_nothing_fits_the_nearest_is_named_with_its_distance(asked: Asked) -> None:
    off = re.sub(r"0\.\d+", lambda match: f"{float(match[0]) + 0.01:.4f}", CONTEXTS)
    finding = asked.finding(off)
    assert finding["kind"] == "unknown"
    assert 0.005 < finding["distance"] < 0.011


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("tensor([[nan, nan], [0.5517, 0.4483], [0.1234, nan]])", "nan"),
        ("[[0.2111, 0.7999],\n [0.2111, 0.7999],\n [0.2111, 0.7999],\n [0.21, 0.79]]", ""),
        ("[[0.2111, 0.7999, 0.1],\n [0.2111, 0.7999, 0.1],\n [0.2111, 0.7999, 0.1]]", ""),
        ("[[0.2111, 0.7999, 0.66],\n [0.2111, 0.7999, 0.66],\n [0.2111, 0.7999, 0.66]]", "equal"),
        ("[[0.9951, 0.0012, 0.0037],\n [0.2, 0.3, 0.5]]", "one-hot"),
        ("tensor([0.9911, 0.1213, 0.7111], device='cuda:0')", "device"),
        ("tensor([0.9911, 0.1213, 0.7111], dtype=torch.float16)", "half"),
    ],
)
def test_what_stands_out_is_said(asked: Asked, text: str, hint: str) -> None:
    assert asked.finding(text).get("hints", []) == ([hint] if hint else [])


def test_a_mistake_with_dropout_needs_no_luck(asked: Asked) -> None:
    """The page's own dropout is a fingerprint; `eval()` gives what the book documents."""
    torch.manual_seed(123)
    attend = CausalAttention(3, 2, context_length=6, dropout=0.5).eval()
    assert asked.finding(str(attend(INPUTS[None])[0].detach()))["kind"] == "documented"


HOSTILE = {
    "a megabyte of a letter": "a" * 1_000_000,
    "a hundred thousand numbers": "0.2996, " * 100_000,
    "different numbers": " ".join(f"{n / 1e4:.4f}" for n in range(100_000)),
    "a hundred thousand blocks": "[0.2996 0.8053 0.3061] " * 30_000,
    "brackets": "[" * 200_000,
    "brackets and back": "[" * 50_000 + "0.5" + "]" * 50_000,
    "spaces": " " * 300_000 + "0.5" + "\t" * 300_000 + "x",
    "grad_fn": "grad_fn=<" * 50_000,
    "commas": ", " * 200_000 + "device='cuda",
    "zeros": "0.0000 " * 5_000 + "0.1234 0.2345 0.3456",
    "html": "<script>alert(0.1234)</script><img src=x onerror=alert(0.2345)> 0.3456",
    "odd": "\x00 0.3061\x00 \u202e0.8210 −0.5"
    " 1e-30 inf nan 1+2j -inf 1e999 0x1p-3 \u0660\u066b\u0665",
    "empty": "",
}


def test_no_paste_takes_a_second_or_fails(asked: Asked) -> None:
    cut = [text[: number_box.LIMIT] for text in HOSTILE.values()]
    for name, answer in zip(HOSTILE, asked.diagnose(*cut), strict=True):
        assert answer["milliseconds"] < 1000, name
    counts = {n: a["total"] for n, a in zip(HOSTILE, asked.diagnose(*cut), strict=True)}
    assert counts["empty"] == counts["a megabyte of a letter"] == 0
    assert counts["html"] == 3


def test_the_whole_text_is_read_within_a_second_even_without_a_limit(asked: Asked) -> None:
    texts = ["0.2996, " * 100_000, "<b>" * 300_000]
    assert all(len(a["findings"]) <= 24 for a in asked.diagnose(*texts))


# The build ----------------------------------------------------------------------------

CONF = f"""
{EXTENSIONS_ON_PATH}
project, extensions = "Numbers", ["myst_nb", "sphinx_drift", "website.permalinks", "diagnosis"]
myst_enable_extensions = ["colon_fence"]

def setup(app):
    def shown(app, pagename, *rest):
        print("written:", pagename)
    app.connect("html-page-context", shown)
"""
ROWS = "[[0.25, 0.5],\n [0.1234, 2.0],\n [3.0, 4.0],\n [5.0, 6.0],\n [7.0, 8.0],\n [9.0, 1.0]]"


def printing(number: str) -> str:
    """Return a page with a verified output of a number, and one that isn't checked."""
    reason = ":unchecked: it takes too long to explain"
    return "\n\n".join(
        [
            f"{small_book.FRONT}# Other <page>\n\n## A section",
            small_book.cell(f"x = {number}\nprint(x)", number),
            small_book.cell("print(0.7777)", f"{reason}\n0.7777"),
        ]
    )


def box_page() -> str:
    rows = f'print("""{ROWS}""")'
    wrong = ROWS.replace("0.25", "0.75")
    return "\n\n".join(
        [
            f"{small_book.FRONT}# Mine\n\n```{{number-box}}\n```\n\n```{{mistake-table}}\n```",
            small_book.cell(rows, ROWS),
            "(mistakes)=\n## Mistakes\n\n### A slip\n\nIt is `wrong`.",
            small_book.cell(rows.replace("0.25", "0.75"), wrong),
        ]
    )


def data_of(page: str) -> list[Any]:
    (data,) = re.findall(r'id="printed-numbers">(.*?)</script>', page, re.DOTALL)
    return list(json.loads(data)["pages"])


@pytest.mark.slow
def test_the_box_gets_what_was_verified_elsewhere_and_follows_it(tmp_path: Path) -> None:
    index = "# Book\n\n```{toctree}\nmine\nother\nplain\n```\n"
    pages = {"index": index, "mine": box_page(), "other": printing("0.1234"), "plain": "# Plain\n"}
    source = small_book.write(tmp_path, {"conf.py": CONF} | pages)
    made = small_book.build(tmp_path)
    assert made.returncode == 0, made.stderr
    html = (tmp_path / "html/mine.html").read_text("utf-8")
    (other,) = data_of(html)
    section = ["A section", "", [[1, "x", "1234"]]]
    assert other == {"href": "other.html", "title": "Other <page>", "sections": [section]}
    assert 'id="a-section-output-1"' in (tmp_path / "html/other.html").read_text("utf-8")
    table = re.sub("<[^a][^>]*>", "", html[html.index("first context vector") :])
    assert re.search(
        r'none.*?0\.25, 0\.5.*?href="#a-slip".*?A slip.*?0\.75, 0\.5', table, re.DOTALL
    )
    assert "diagnosis.js" in html
    assert "diagnosis.js" not in (tmp_path / "html/plain.html").read_text("utf-8")

    (source / "other.md").write_text(printing("0.4321"), "utf-8")
    made = small_book.build(tmp_path)
    assert made.returncode == 0, made.stderr
    assert "written: mine" in made.stdout
    assert "written: plain" not in made.stdout
    assert (
        data_of((tmp_path / "html/mine.html").read_text("utf-8"))[0]["sections"][0][2][0][2]
        == "4321"
    )


def test_the_box_writes_the_shared_arithmetic_as_the_explorer_does(tmp_path: Path) -> None:
    app: Any = SimpleNamespace(builder=SimpleNamespace(name="html"), outdir=tmp_path)
    number_box.write_files(app)
    written = (tmp_path / "_static" / ARITHMETIC.name).read_text("utf-8")
    assert written == text_of(ARITHMETIC.name)


@pytest.mark.slow
def test_a_book_that_is_no_site_has_the_table_and_no_box(tmp_path: Path) -> None:
    small_book.write(tmp_path, {"conf.py": CONF, "index": box_page()})
    made = small_book.build(tmp_path, "singlehtml")
    assert made.returncode == 0, made.stderr
    html = (tmp_path / "singlehtml/index.html").read_text("utf-8")
    assert "number-box" not in html
    assert "printed-numbers" not in html
    assert "0.75, 0.5" in html
