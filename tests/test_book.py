"""The book itself: every digit of it is guarded, and its pages are as pages should be."""

from __future__ import annotations

import json
import re
import runpy
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import pytest
from the_book import DOCS, PAGES

from sphinx_drift.compare.compare import Policy, compare
from sphinx_drift.compare.lexer import TokenKind
from sphinx_drift.compare.tokens import tokens
from sphinx_drift.model import Cell, Expectation, Page
from sphinx_drift.output.printed_text import printed
from sphinx_drift.run.run import execute, request_for
from sphinx_drift.source.read_source import load

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECTION = [
    DOCS / "self-attention" / f"{name}.md"
    for name in ("index", "step-by-step", "compact-class", "exercise-3-1")
]
MOST_LINES = 12
MANY = 40

# The values of Section 3.4, as the text of the section has them.
DOCUMENTED = {
    "1 x_2": "tensor([0.5500, 0.8700, 0.6600])",
    "2 d_in": "3",
    "3 W_query": "Parameter containing:\n"
    "tensor([[0.2961, 0.5166], [0.2517, 0.6886], [0.0740, 0.8665]])",
    "4 W_key": "[[0.1366, 0.1025], [0.1841, 0.7264], [0.3153, 0.6871]]",
    "5 W_value": "[[0.0756, 0.1966], [0.3164, 0.4017], [0.1186, 0.8274]]",
    "6 query_2": "tensor([0.4306, 1.4551])",
    "7 key_2": "tensor([0.4433, 1.1419])",
    "8 value_2": "tensor([0.3951, 1.0037])",
    "9 keys.shape": "keys.shape: torch.Size([6, 2])",
    "10 values.shape": "values.shape: torch.Size([6, 2])",
    "11 attn_score_22": "tensor(1.8524)",
    "12 attn_scores_2": "tensor([1.2705, 1.8524, 1.8111, 1.0795, 0.5577, 1.5440])",
    "13 attn_weights_2": "tensor([0.1500, 0.2264, 0.2199, 0.1311, 0.0906, 0.1820])",
    "14 context_vec_2": "tensor([0.3061, 0.8210])",
    "15 sa_v1(inputs)": "tensor([[0.2996, 0.8053], [0.3061, 0.8210], [0.3058, 0.8203],"
    " [0.2948, 0.7939], [0.2927, 0.7891], [0.2990, 0.8040]], grad_fn=<MmBackward0>)",
    "16 sa_v2(inputs)": "tensor([[-0.0739, 0.0713], [-0.0748, 0.0703], [-0.0749, 0.0702],"
    " [-0.0760, 0.0685], [-0.0763, 0.0679], [-0.0754, 0.0693]], grad_fn=<MmBackward0>)",
    "17 equal outputs": "True",
}


def name(path: Path) -> str:
    return path.relative_to(DOCS).as_posix()


@cache
def read(path: Path) -> Page:
    """Return the cells of a page; none if it has none."""
    found = load(path)
    return found[0] if found else Page()


WITH_CELLS = [path for path in PAGES if read(path).cells]


# What every page is -------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_page_with_a_cell_is_a_notebook(path: Path) -> None:
    page = read(path)  # refuses cells on a page that is no notebook
    assert page.problems == ()


@pytest.mark.parametrize("path", WITH_CELLS, ids=name)
def test_cells_are_short(path: Path) -> None:
    long = {cell.line: cell.source for cell in read(path).cells if lines(cell) > MOST_LINES}
    assert long == {}


def lines(cell: Cell) -> int:
    return len(cell.source.strip().splitlines())


@pytest.mark.parametrize("value", DOCUMENTED)
def test_documented_value_is_on_the_pages_of_its_section(value: str) -> None:
    wanted = keys(DOCUMENTED[value])
    found = [
        name(path)
        for path in SECTION
        for expectation in expectations(path)
        if holds(keys(expectation.text), wanted)
    ]
    assert found, f"no expectation holds {DOCUMENTED[value]}"


def test_equal_outputs_are_printed_by_the_exercise() -> None:
    """A bare True means nothing unless the cell compares the two outputs."""
    cells = read(DOCS / "self-attention" / "exercise-3-1.md").cells
    compared = [
        cell.expectations[0].text
        for cell in cells
        if "allclose" in cell.source and "out_v1, out_v2" in cell.source
    ]
    assert compared == ["False", "True"]


def expectations(path: Path) -> Iterator[Expectation]:
    for cell in read(path).cells:
        yield from cell.expectations


def keys(text: str) -> list[tuple[TokenKind, str]]:
    return [(token.kind, token.text) for token in tokens(text)]


def holds(found: list[tuple[TokenKind, str]], wanted: list[tuple[TokenKind, str]]) -> bool:
    """Whether one text holds another, token by token."""
    starts = range(len(found) - len(wanted) + 1)
    return any(found[start : start + len(wanted)] == wanted for start in starts)


# Every digit is guarded ---------------------------------------------------------------


class Printed(NamedTuple):
    path: Path
    expectation: Expectation
    executed: str


@pytest.fixture(scope="session")
def outputs() -> list[Printed]:
    found: list[Printed] = []
    for path in WITH_CELLS:
        loaded = load(path)
        assert loaded
        page, notebook = loaded
        may_raise = {cell.index for cell in page.cells if cell.may_raise}
        ended = execute(notebook, request_for(path.parent, timeout=300, may_raise=may_raise))
        assert ended.failure is None, ended.failure
        for cell in page.cells:
            output = printed(notebook.cells[cell.index].outputs)
            found += [Printed(path, e, output.select(e.part)) for e in cell.expectations]
    return found


def altered(text: str) -> Iterator[tuple[str, str]]:
    """Yield a text with one digit of one number changed to either neighbour.

    It is each digit in turn; in an output of many numbers, the last of each number.
    """
    found = [token for token in tokens(text) if token.kind in (TokenKind.INT, TokenKind.FLOAT)]
    for token in found:
        digits = re.finditer(r"\d", text[token.start : token.end].partition("e")[0])
        places = [token.start + digit.start() for digit in digits]
        for place in places if len(found) <= MANY else places[-1:]:
            for step in (1, 9):
                digit = str((int(text[place]) + step) % 10)
                yield text[:place] + digit + text[place + 1 :], token.text


@pytest.mark.slow
def test_each_altered_digit_is_caught(
    outputs: list[Printed], capsys: pytest.CaptureFixture[str]
) -> None:
    tried, numbers, missed = 0, 0, []
    for path, expectation, executed in outputs:
        if expectation.unchecked:
            continue
        options = {"policy": Policy.EXACT, "waivers": expectation.waivers}
        unaltered = compare(expectation.text, executed, **options)  # type: ignore[arg-type]
        assert unaltered.same, (name(path), expectation.line)
        numbers += sum(token.is_number for token in tokens(expectation.text))
        for text, number in altered(expectation.text):
            tried += 1
            verdict = compare(text, executed, **options)  # type: ignore[arg-type]
            # A waiver whose documented value is gone fails the build too.
            if verdict.same and not verdict.unneeded + verdict.unmatched:
                missed.append((name(path), expectation.line, number, text))
    with capsys.disabled():
        caught = tried - len(missed)
        print(
            f"\n{caught} of {tried} altered digits caught, in {numbers} numbers of "
            f"{len(outputs)} expectations on {len(WITH_CELLS)} pages"
        )
    assert missed == []
    assert numbers > 150


def test_tables_of_training_runs_are_those_recorded() -> None:
    recorded = json.loads((DOCS / "_data" / "card-task.json").read_text("utf-8"))
    leak = [row["right"] for row in recorded["leak"] if row["seed"] != SEED]
    projections = [row["right"] for row in recorded["projections"]]
    by_size: dict[int, list[int]] = {}
    for row in recorded["scaling"]:
        by_size.setdefault(row["d_k"], []).append(row["right"].count(ALL_RIGHT))
    tables = {
        "training": [" ".join(map(str, row)) for row in leak],
        "three-matrices": [f"{row.count(ALL_RIGHT)} | {min(row)}" for row in projections],
        "without-the-root": [
            " | ".join(map(str, (f"{size:,}", *counts))) for size, counts in by_size.items()
        ],
    }
    for page, rows in tables.items():
        text = (DOCS / "companions" / f"{page}.md").read_text("utf-8")
        place = 0
        for row in rows:
            place = text.index(f"| {row} |\n", place) + 1


def pair(one: list[bool], other: list[bool]) -> str:
    """Return how many seeds learn only one way, and how many only the other, as a cell has it."""
    both = list(zip(one, other, strict=True))
    return f"{both.count((True, False))}, {both.count((False, True))})"


def test_what_is_said_of_layers_without_the_root_is_recorded() -> None:
    recorded = json.loads((DOCS / "_data" / "card-task.json").read_text("utf-8"))
    text = (DOCS / "companions" / "without-the-root.md").read_text("utf-8")
    right = {
        (row["d_k"], row["learning_rate"], row["scaled"]): row["right"]
        for row in recorded["scaling"]
    }
    fewest = min(right[1024, FAST, False])
    assert f"seed 4 answers the fewest questions, {fewest} of 21" in text
    assert [seed for seed, n in enumerate(right[1024, FAST, False]) if n == fewest] == [4]
    learned = {key: [n == ALL_RIGHT for n in row] for key, row in right.items()}
    for size, rate, _ in learned:
        gap = pair(learned[size, rate, True], learned[size, rate, False])
        assert f'("{size} at {rate}", {gap},\n' in text
    seeds = json.loads(PAGE_SEEDS["OUT"].read_text("utf-8"))["without-the-root"]["seeds"].values()
    heads = [[min(row[f"{how} the root"]) == 1 for row in seeds] for how in ("with", "without")]
    assert f'("two heads of 64", {pair(*heads)},\n' in text
    start = [n == ALL_RIGHT for n in recorded["same_start"]]
    assert f"{sum(start)} of twenty such layers learn: eight seeds more" in text
    assert f"to none: {{chance({pair(start, learned[1024, FAST, False])}:" in text
    assert f"to root: {{chance({pair(learned[1024, FAST, True], start)}:" in text


def test_what_is_said_of_longer_training_is_recorded() -> None:
    recorded = json.loads((DOCS / "_data" / "card-task.json").read_text("utf-8"))
    text = (DOCS / "companions" / "without-the-root.md").read_text("utf-8")
    right = {(row["learning_rate"], row["scaled"]): row["right"] for row in recorded["longer"]}
    counts = {key: row.count(ALL_RIGHT) for key, row in right.items()}
    slow, slow_scaled = counts[0.003, False], counts[0.003, True]
    assert f"{slow} of 20 learn everything without the root, and {slow_scaled} with it" in text
    assert f"only one seed more does without the root, {counts[FAST, False]} of 20" in text
    (before,) = (
        row["right"]
        for row in recorded["scaling"]
        if (row["learning_rate"], row["d_k"], row["scaled"]) == (FAST, 256, False)
    )
    failed = [(n, m) for n, m in zip(before, right[FAST, False], strict=True) if m < ALL_RIGHT]
    assert "of the other eight, six have exactly as many right answers as before, and two" in text
    assert (len(failed), sum(n == m for n, m in failed)) == (8, 6)
    assert all(n <= m for n, m in failed)


def test_what_is_said_of_the_first_steps_is_recorded() -> None:
    recorded = json.loads((DOCS / "_data" / "card-task.json").read_text("utf-8"))["early"]
    text = (DOCS / "companions" / "without-the-root.md").read_text("utf-8")
    weights = [row["weight"] for row in recorded]
    losses = sorted(row["loss"] for row in recorded)
    low = [row["loss"] for row in recorded if row["weight"] < LITTLE]
    assert "The nine seeds in which the right card has less than 0.2" in text
    assert sorted(low) == losses[11:]
    assert "all end with a loss above 0.6" in text
    assert "of the other eleven only five end near 0, and six stop between 0.2 and 0.5" in text
    assert (losses[4] < 0.1, losses[5] > 0.2, losses[10] < 0.5, losses[11] > 0.6) == (True,) * 4
    assert "no seed has between 0.2 and 0.4" in text
    assert [weight for weight in weights if LITTLE <= weight <= 2 * LITTLE] == []


SEED, ALL_RIGHT, FAST, LITTLE = 123, 21, 0.03, 0.2
PAGE_SEEDS = runpy.run_path(str(DOCS / "_data" / "page_seeds.py"))


@pytest.mark.parametrize("page", PAGE_SEEDS["MEASURED"])
def test_tables_of_other_seeds_are_recorded_with_these_cells(page: str) -> None:
    record = json.loads(PAGE_SEEDS["OUT"].read_text("utf-8"))[page]
    assert record["cells"] == PAGE_SEEDS["digest"](page), f"run page_seeds.py {page} again"
    text = (DOCS / "companions" / f"{page}.md").read_text("utf-8")
    assert [line for line in PAGE_SEEDS["lines"](page, record) if line not in text] == []


def test_what_is_said_of_heads_that_share_keys_is_recorded() -> None:
    seeds = json.loads(PAGE_SEEDS["OUT"].read_text("utf-8"))["grouped-query"]["seeds"].values()
    learned = [row for row in seeds if min(row["one group"]) == 1]
    kept = [[share == 1 for share in row[PAGE_SEEDS["UNLISTED"]]] for row in learned]
    divided = [[True, False, False, True], [False, True, True, False]]
    counts = len(kept), sum(row in divided for row in kept)
    alone = sum(all(row[:2]) or all(row[2:]) for row in kept)
    text = (DOCS / "companions" / "grouped-query.md").read_text("utf-8")
    assert "Of the {} seeds of sixty that learn everything, {} divide".format(*counts) in text
    assert f"and in {alone} a single head does both" in text
