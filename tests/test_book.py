"""The book itself: every digit of it is guarded, and its pages are as pages should be."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import nbformat
import page_seeds
import pytest
import small_gpt
import torch
from experiment import cells, digest, read_record
from test_listings import CELL
from the_book import DOCS, PAGES, current_site

from sphinx_drift.compare.compare import Policy, compare
from sphinx_drift.compare.lexer import TokenKind
from sphinx_drift.compare.tokens import read_tokens
from sphinx_drift.model import Cell, Expectation, Page
from sphinx_drift.output.printed_text import read_outputs
from sphinx_drift.source.read_source import load

SECTION = [
    DOCS / "self-attention" / f"{name}.md"
    for name in ("index", "step-by-step", "compact-class", "exercise-3-1")
]
DOCUMENTED = json.loads(Path(__file__).with_name("section_3_4.json").read_text("utf-8"))
"""The values of Section 3.4, as the text of the section has them."""
MOST_LINES = 12
MANY = 40


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
    cells = CELL.finditer(path.read_text("utf-8"))
    listings = {cell["code"].strip() for cell in cells if cell["listing"]}
    long = [cell for cell in read(path).cells if lines(cell) > MOST_LINES]
    shown = [cell for cell in long if "hide-input" not in cell.tags]  # what is folded may be long
    assert [cell.line for cell in shown if cell.source.strip() not in listings] == []


@cache
def without_a_deterministic_kernel() -> re.Pattern[str]:
    """Return a pattern of the calls that PyTorch's own list refuses on a GPU."""
    listed = str(torch.use_deterministic_algorithms.__doc__).partition("RuntimeError` when ``mode")
    names = set(re.findall(r"^ +\* :\w+:`[\w.]*?(\w+)`", listed[2], re.MULTILINE))
    return re.compile(rf"\b({'|'.join(names)})\([^)]")  # median() is fine, and median(dim=0) isn't


@pytest.mark.parametrize("path", WITH_CELLS, ids=name)
def test_cells_run_on_a_gpu(path: Path) -> None:
    refused = without_a_deterministic_kernel()
    assert refused.findall("weights.cumsum(0); torch.bincount(back)") == ["cumsum", "bincount"]
    assert [
        refused.findall(cell.source) for cell in read(path).cells if refused.search(cell.source)
    ] == []


def lines(cell: Cell) -> int:
    return len(cell.source.strip().splitlines())


@pytest.mark.parametrize("value", DOCUMENTED)
def test_documented_value_is_on_the_pages_of_its_section(value: str) -> None:
    wanted, shown = keys(DOCUMENTED[value]), [e for path in SECTION for e in expectations(path)]
    assert [e for e in shown if holds(keys(e.text), wanted)], f"none holds {DOCUMENTED[value]}"


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
    return [(token.kind, token.text) for token in read_tokens(text)]


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
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[Printed]:
    """Return what each cell has printed, from the notebooks of the built site."""
    downloads, found = current_site(tmp_path_factory.mktemp("book")) / "_downloads", []
    for path in WITH_CELLS:
        stored = nbformat.read((downloads / name(path)).with_suffix(".ipynb"), as_version=4)
        code = [cell for cell in stored.cells if cell.cell_type == "code"]
        own = [cell for cell in code if "cellView" not in cell.metadata]  # not the book's package
        for cell, executed in zip(read(path).cells, own, strict=True):
            output = read_outputs(executed.outputs)
            found += [Printed(path, e, output.select(e.part)) for e in cell.expectations]
    return found


def altered(text: str) -> Iterator[tuple[str, str]]:
    """Yield a text with one digit of one number changed to either neighbour.

    It is each digit in turn; in an output of many numbers, the last of each number.
    """
    found = [token for token in read_tokens(text) if token.kind in (TokenKind.INT, TokenKind.FLOAT)]
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
    tried, missed = 0, []
    for path, expectation, executed in outputs:
        if expectation.unchecked:
            continue
        options = {"policy": Policy.EXACT, "waivers": expectation.waivers}
        unaltered = compare(expectation.text, executed, **options)  # type: ignore[arg-type]
        assert unaltered.same, (name(path), expectation.line)
        for text, number in altered(expectation.text):
            tried += 1
            verdict = compare(text, executed, **options)  # type: ignore[arg-type]
            # A waiver whose documented value is gone fails the build too.
            if verdict.same and not verdict.stale:
                missed.append((name(path), expectation.line, number, text))
    with capsys.disabled():
        print(f"\n{tried - len(missed)} of {tried} altered digits caught")
    assert tried
    assert missed == []


def text_of(page: str) -> str:
    return (DOCS / f"{page}.md").read_text("utf-8")


def test_what_the_page_on_caches_says_of_sinks_holds_for_each_seed() -> None:
    record = read_record(page_seeds.OUT)
    now = digest(cells(page_seeds.PAGE, "page_seeds.py"))
    assert record["cells"] == now, "run page_seeds.py again"
    text = text_of(page_seeds.PAGE)
    assert [line for line in page_seeds.lines(record) if line not in text] == []
    for row in record["seeds"].values():
        assert 0.4 < row["mean weight of `^`, moved"] < row["weight of the first token"]
        assert row["loss, window, second kept"] > row["loss, window"]
        assert row["loss, second kept, its value 0"] < row["loss, window"]
        assert row["loss without `^`, window"] - row["loss without `^`, all"] < 0.025


def test_one_call_takes_what_its_page_says() -> None:
    record = read_record("attention-benchmark.json")
    for row in record["results"]:
        length, peak = row["T"], row["peak_bytes"]
        if row["form"] == "written-out":
            assert peak == 12 * length**2
        elif length >= 1024:
            assert peak == 591_872 + 260 * length
    faster = []
    for name in ("results", "results, memory kept"):
        written, one = (row["seconds"] for row in record[name] if row["T"] == 8192)
        faster.append(written / one)
    text = text_of("companions/one-call")
    for said in ("the one call was {:.1f} times as fast.", "the factor is {1:.2f}."):
        assert said.format(*faster) in text


def test_the_small_gpt_was_trained_by_the_cells_of_its_page() -> None:
    record = read_record(small_gpt.OUT)
    assert record["cells"] == digest(small_gpt.code()), "run small_gpt.py again"
    assert list(record["seeds"]) == [str(seed) for seed in small_gpt.SEEDS]
    text = text_of(small_gpt.PAGE)
    for name in small_gpt.MODELS:
        losses = [f"{row[name]:.2f}" for row in record["seeds"].values()]
        assert f"| {name} | {' | '.join(losses)} |" in text
    ahead = [row["five side by side"] - row["the GPT"] for row in record["seeds"].values()]
    assert "ahead of them by 0.03 to 0.05 with every seed" in text
    assert [f"{min(ahead):.2f}", f"{max(ahead):.2f}"] == ["0.03", "0.05"]
    for name in ("five, twice as wide", "sixteen side by side"):
        assert all(row[name] > row["five side by side"] for row in record["seeds"].values())
    widest, settings = small_gpt.MODELS[-2:], list(small_gpt.CHANGED)
    others = record["other settings, seed 0"]
    assert list(others) == [f"{name}, {how}" for name in widest for how in settings]
    assert min(others.values()) > record["seeds"]["0"]["five side by side"]
    assert f"so it is with {', '.join(settings[:2])} or {settings[2]} (one seed)" in text
    counting = record["Kneser-Ney"]
    lead, error = counting["the GPT is ahead by"]
    said = f"reaches {counting['loss']:.2f} on the same characters: the GPT is behind it by"
    assert f"{said} {-lead:.3f} ± {error:.3f}." in text
    assert f"{small_gpt.STEPS:,} steps" in text
