"""The tables of many seeds are what the data's commands recorded, and bear out what pages say."""

from __future__ import annotations

import json
from math import comb
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest
from the_book import DOCS

if TYPE_CHECKING:
    from collections.abc import Iterator


def recorded(name: str) -> Any:
    return json.loads((DOCS / f"_data/{name}.json").read_text("utf-8"))


SEEDS: dict[str, list[Any]] = recorded("many-seeds")
TRAINED, WHO_WHOM = recorded("trained-seeds"), recorded("who-whom")
RIGHT, HALF, TINY, ALL = 21, 0.5, 0.0001, [1.0, 1.0]
QKV, SCALE = "companions/queries-keys-values", "companions/why-scale"
CONTROLS, ENDS = "companions/seeds-and-controls", "self-attention/training"
NEED = "self-attention/multi-head"


def learned(name: str) -> list[bool]:
    """Return which seeds of an experiment answer everything right."""
    return [row == RIGHT if isinstance(row, int) else min(row) == 1 for row in SEEDS[name]]


def counted(name: str) -> int:
    return sum(learned(name))


def compare(one: str, other: str) -> str:
    """Return the seeds that learn in only one of two experiments, and the sign test, as printed."""
    pairs = list(zip(learned(one), learned(other), strict=True))
    only_one, only_other = pairs.count((True, False)), pairs.count((False, True))
    n = only_one + only_other
    tail = sum(comb(n, k) for k in range(min(only_one, only_other) + 1)) / 2**n
    chance = min(1.0, 2 * tail)
    return f"{only_one} : {only_other}, {f'{chance:.4f}' if chance > TINY else f'< {TINY:.4f}'}"


def rows_of(kinds: Iterator[tuple[str, Any]]) -> Iterator[str]:
    """Return a table's lines: what seeds have in common, and which they are."""
    shown: dict[str, list[str]] = {}
    for kind, seed in kinds:
        shown.setdefault(kind, []).append(str(seed))
    yield from (f"| {kind} | {', '.join(seeds)} |\n" for kind, seeds in shown.items())


def fewer_matrices() -> Iterator[tuple[str, str]]:
    for label, size in {
        "queries and keys": "",
        "keys and values": "",
        "all three": "",
        "all three, head dimension 6": " of 6",
    }.items():
        name = f"heads{size}, {label.partition(', ')[0]} shared"
        base = f"heads{size}, nothing shared"
        yield QKV, f"| {label} | {counted(name)} of 60 | {compare(base, name)} |\n"
        if label.startswith("all three"):
            yield QKV, f"| {label.replace('all three', 'nothing')} | {counted(base)} of 60 | |\n"


def without_the_root() -> Iterator[tuple[str, str]]:
    cards = [(size, rate) for rate in ("0.03", "0.003") for size in (64, 256, 1024)]
    for task, size, rate, name in (
        ("two heads", 64, "0.01", "heads of 64, {} root"),
        *(("cards", *how, "cards, {} entries, rate {}, {{}} root".format(*how)) for how in cards),
    ):
        both = [name.format(how) for how in ("with", "without")]
        counts = f"{counted(both[0])}/{len(SEEDS[both[0]])} | {counted(both[1])}"
        yield SCALE, f"| {task} | {size:,} | {rate} | {counts} | {compare(*both)} |\n"
    start, slower = "cards, no root, {} start, {} slower", ("none", "W_query", "W_key", "both")
    for label, how in (("usual, large scores", "large"), ("smaller, as with the root", "small")):
        counts = " | ".join(str(counted(start.format(how, each))) for each in slower)
        yield SCALE, f"| {label} | {counts} |\n"


def lost(row: dict[str, Any], off: str) -> str:
    """Return which words suffer if a head is switched off, as the page's table has it."""
    shares = zip(("verb", "pronoun"), row["attention"], row[off], strict=True)
    words = [
        word if now == HALF else f"{word}: {now:.2f}" for word, was, now in shares if now < was
    ]
    return "both" if len(words) > 1 else "".join(words) or "nothing"


def kind(row: dict[str, Any]) -> str:
    """Return how the heads of a seed share the work, by what suffers without each."""
    halves = sorted([now == HALF for now in row[f"{name}_off"]] for name in ("first", "second"))
    if row["attention"] == ALL and halves == [[False, True], [True, False]]:
        return "divide the work"
    if row["attention"] == ALL and halves == [[False, False], [True, True]]:
        return "leave both jobs to one head"
    return "neither"


def two_heads() -> Iterator[tuple[str, str]]:
    heads = ((f"{lost(r, 'first_off')} | {lost(r, 'second_off')}", r["seed"]) for r in TRAINED)
    yield from ((CONTROLS, line) for line in rows_of(heads))
    kinds = [kind(row) for row in TRAINED]
    for name in ("divide the work", "leave both jobs to one head", "neither"):
        yield ENDS, f"| {kinds.count(name)} | {name}"


def other_pages() -> Iterator[tuple[str, str]]:
    for steps in (100, 1000):
        seeds = SEEDS[f"cards, one deal held out, {steps} steps"]
        runs = [run for seed in seeds for run in seed]
        fitted = [held_out for trained, held_out in runs if trained == 90]
        found = f"{len(fitted)} of {len(runs)} | {fitted.count(18)}"
        yield "companions/training", f"| {steps:,} | {found} |\n"
    settings = [name.partition(" ")[2] for name in WHO_WHOM if name.startswith("1 ")]
    yield NEED, f"| model, sentences | {' | '.join(settings)} |\n"
    for name, model, which in (
        ("one head, trained", "1", 0),
        ("one head, held out", "1", 1),
        ("one head, own embeddings, held out", "1, own embeddings,", 1),
        ("two heads, held out", "2", 1),
    ):
        columns = [[row[which] for row in WHO_WHOM[f"{model} {each}"]] for each in settings]
        cells = [f"{median(each):.2f} ({min(each):.2f}–{max(each):.2f})" for each in columns]
        yield NEED, f"| {name} | {' | '.join(cells)} |\n"


TABLES = [*fewer_matrices(), *without_the_root(), *two_heads(), *other_pages()]


@pytest.mark.parametrize(("page", "line"), TABLES)
def test_a_table_shows_what_was_recorded(page: str, line: str) -> None:
    assert line in (DOCS / f"{page}.md").read_text("utf-8")


# What pages say in words of their own


def test_most_failures_are_one_word_at_exactly_one_half() -> None:
    names = [name for name in SEEDS if name.startswith("heads") and "steps" not in name]
    names = [name for name in names if "shared" in name and "trained" not in name]
    failed = [sorted(row) for name in names for row in SEEDS[name] if min(row) < 1]
    assert failed.count([HALF, 1]) > 0.75 * len(failed)


def test_three_matrices_win_where_pages_say_so() -> None:
    three, one = learned("cards, nothing shared"), learned("cards, all three shared")
    assert sum(three) > 2 * sum(one)
    name = "heads, all three shared"
    assert learned(name) == learned(f"{name}, trained sentences")


def test_controls_fail_where_pages_say_so() -> None:
    assert all(row["averaging"] == [HALF, 1] for row in TRAINED)
    assert all(row["adverb_first"] == ALL for row in TRAINED)
    longest = next(rows for name, rows in reversed(WHO_WHOM.items()) if name.startswith("1 "))
    assert median(trained for trained, _ in longest) == 1
    assert max(held_out for _, held_out in longest) < HALF + 0.05


@pytest.mark.parametrize("name", ["first", "second"])
def test_what_suffers_with_a_head_off_is_the_others_if_heads_are_exchanged(name: str) -> None:
    for row in TRAINED:
        suffers = [off < on for off, on in zip(row[f"{name}_off"], row["attention"], strict=True)]
        assert suffers == [share == 1 for share in row[f"{name}_exchanged"][2:]]
