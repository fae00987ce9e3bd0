"""The pages' tables of many seeds are those that the data's command recorded."""

from __future__ import annotations

import json
from math import comb
from typing import Any

import pytest
from the_book import DOCS

SEEDS: dict[str, list[Any]] = json.loads((DOCS / "_data/many-seeds.json").read_text("utf-8"))
TRAINED = json.loads((DOCS / "_data/trained-seeds.json").read_text("utf-8"))
ALL_RIGHT, HALF, TINY = 21, 0.5, 0.0001


def learned(name: str) -> list[bool]:
    """Return which seeds of an experiment answer everything right."""
    return [
        result == ALL_RIGHT if isinstance(result, int) else min(result) == 1
        for result in SEEDS[name]
    ]


def compare(one: str, other: str) -> str:
    """Return the seeds that learn in only one of two experiments, and the sign test, as printed."""
    pairs = list(zip(learned(one), learned(other), strict=True))
    only_one, only_other = pairs.count((True, False)), pairs.count((False, True))
    n = only_one + only_other
    tail = sum(comb(n, k) for k in range(min(only_one, only_other) + 1)) / 2**n
    chance = min(1.0, 2 * tail)
    shown = f"{chance:.4f}" if chance > TINY else f"< {TINY:.4f}"
    return f"{only_one} : {only_other}, {shown}"


def page(name: str) -> str:
    return (DOCS / f"companions/{name}.md").read_text("utf-8")


SHARED = (
    ("queries and keys", "heads, queries and keys shared", "heads, nothing shared"),
    ("keys and values", "heads, keys and values shared", "heads, nothing shared"),
    ("all three", "heads, all three shared", "heads, nothing shared"),
    ("all three, heads of 6", "heads of 6, all three shared", "heads of 6, nothing shared"),
)


@pytest.mark.parametrize(("label", "name", "baseline"), SHARED)
def test_fewer_matrices_are_compared_with_three(label: str, name: str, baseline: str) -> None:
    row = f"| {label} | {sum(learned(name))} of 60 | {compare(baseline, name)} |\n"
    assert row in page("queries-keys-values")
    alone = label.replace("all three", "nothing")
    if alone != label:
        row = f"| {alone} | {sum(learned(baseline))} of 60 | |\n"
        assert row in page("queries-keys-values")


def test_more_steps_save_few_seeds_with_one_matrix() -> None:
    once, twice, slow = (
        learned(f"heads, all three shared{how}")
        for how in ("", ", 2000 steps", ", rate 0.003, 2000 steps")
    )
    saved = [late and not early for early, late in zip(once, twice, strict=True)]
    assert (sum(saved), once.count(False)) == (2, 30)
    assert "twice as many steps save two of its thirty lost seeds" in page("queries-keys-values")
    assert f"at the rate 0.003 leave {sum(slow)} of sixty" in page("queries-keys-values")


def test_most_failures_are_one_word_at_exactly_one_half() -> None:
    names = {name for _, *both in SHARED for name in both}
    failed = [sorted(row) for name in names for row in SEEDS[name] if min(row) < 1]
    assert failed.count([HALF, 1]) > 0.75 * len(failed)
    assert all(sorted(row) == [HALF, 1] for row in SEEDS["heads, nothing shared"] if min(row) < 1)


def test_fewer_matrices_of_the_cards_are_counted() -> None:
    names = [f"cards, {which} shared" for which in ("queries and keys", "keys and values")]
    one = "cards, all three shared"
    text = "{} of twenty seeds learn with one matrix for queries and keys, {} with one for keys"
    assert text.format(*(sum(learned(name)) for name in names)) in page("queries-keys-values")
    gap = compare("cards, nothing shared", one)
    assert f"{sum(learned(one))} with one for all three ({gap})" in page("queries-keys-values")
    assert "instead of three, 20 do" in page("queries-keys-values")
    assert (sum(learned("cards, nothing shared")), sum(learned(f"{one}, 4 entries"))) == (20, 20)


ROOT = (
    ("two heads", 64, "0.01", "heads of 64, {} root"),
    *(
        ("cards", size, rate, f"cards, {size} entries, rate {rate}, {{}} root")
        for rate in ("0.03", "0.003")
        for size in (64, 256, 1024)
    ),
)


@pytest.mark.parametrize(("task", "size", "rate", "name"), ROOT)
def test_training_without_the_root_is_compared(task: str, size: int, rate: str, name: str) -> None:
    both = [name.format(how) for how in ("with", "without")]
    root, none = (sum(learned(each)) for each in both)
    counts = f"{root}/{len(SEEDS[both[0]])} | {none}"
    row = f"| {task} | {size:,} | {rate} | {counts} | {compare(*both)} |\n"
    assert row in page("why-scale")


def test_failures_without_the_root_are_described() -> None:
    names = [f"cards, {size} entries, rate 0.03, without root" for size in (256, 1024)]
    failed = [right for name in names for right in SEEDS[name] if right < ALL_RIGHT]
    words = f"those that fail have {min(failed)} to {max(failed)} of {ALL_RIGHT} answers right"
    assert words in page("why-scale")


def test_longer_training_without_the_root_is_counted() -> None:
    slow, fast = (
        sum(learned(f"cards, 256 entries, rate {rate}, without root, 1000 steps"))
        for rate in ("0.003", "0.03")
    )
    assert f"{slow} of twenty learn at 0.003, but only {fast} at 0.03" in page("why-scale")


def test_start_and_steps_are_told_apart() -> None:
    slower = ("none", "W_query", "W_key", "both")
    for label, start in (("usual, large scores", "large"), ("smaller, as with the root", "small")):
        counts = (sum(learned(f"cards, no root, {start} start, {each} slower")) for each in slower)
        assert f"| {label} | {' | '.join(map(str, counts))} |\n" in page("why-scale")
    usual = [
        compare("cards, no root, large start, both slower", f"cards, no root, {start}, none slower")
        for start in ("large start", "small start")
    ]
    assert f"({usual[0]}, and {usual[1]}, against both slower)" in page("why-scale")


def test_slower_steps_of_two_heads_are_counted() -> None:
    none, slower = "heads of 64, without root", "heads of 64, without root, both slower"
    counted = f"{sum(learned(slower))} of {len(SEEDS[slower])} seeds learn without the root"
    assert counted in page("why-scale")
    assert f"({compare(slower, none)}, against usual rates)" in page("why-scale")


def test_the_leak_lesson_has_all_ten_seeds() -> None:
    shown: dict[str, list[str]] = {}
    for seed, right in enumerate(SEEDS["cards, one deal held out"][:10]):
        shown.setdefault(" ".join(map(str, right)), []).append(str(seed))
    for right, seeds in shown.items():
        assert f"| {', '.join(seeds)} | {right} |\n" in page("training")


def lost(row: dict[str, Any], off: str) -> str:
    """Return which words suffer if a head is switched off, as the page's table has it."""
    shares = zip(("verb", "pronoun"), row["attention"], row[off], strict=True)
    words = [
        word if now == HALF else f"{word}: {now:.2f}" for word, was, now in shares if now < was
    ]
    return "both" if len(words) > 1 else "".join(words) or "nothing"


def test_each_seed_is_in_the_table_of_heads() -> None:
    shown: dict[str, list[str]] = {}
    for row in TRAINED:
        heads = f"{lost(row, 'first_off')} | {lost(row, 'second_off')}"
        shown.setdefault(heads, []).append(str(row["seed"]))
    for heads, seeds in shown.items():
        assert f"| {heads} | {', '.join(seeds)} |\n" in page("seeds-and-controls")


def test_controls_are_counted() -> None:
    text = page("seeds-and-controls")
    assert all(row["averaging"] == [HALF, 1] for row in TRAINED)
    shuffled = [row["shuffled"][0] for row in TRAINED]
    words = f"{sum(shuffled) / 20:.2f} of the verbs on average, and no seed more than"
    assert f"{words} {max(shuffled):.2f}" in text
    unmasked = [row["unmasked"] for row in TRAINED]
    verbs = [verb for verb, _ in unmasked]
    assert "Eight seeds lose half of the verbs, one a quarter, and eleven next to none" in text
    assert (verbs.count(0.5), verbs.count(0.75), sum(verb > 0.95 for verb in verbs)) == (8, 1, 11)
    assert all(
        pronoun == 1
        for row, (_, pronoun) in zip(TRAINED, unmasked, strict=True)
        if row["attention"][1] == 1
    )
    one, two = (sum(row[name] == [1, 1] for row in TRAINED) for name in ("one_head", "attention"))
    words = f"learns everything with {one} of 20 seeds, against {two}: by that test"
    assert f"{words}, {fisher(one, two, 20):.2f}" in text


def fisher(one: int, other: int, n: int) -> float:
    """Return Fisher's exact test of two counts of n seeds."""
    total = one + other
    ways = {k: comb(n, k) * comb(n, total - k) for k in range(total - n, n + 1) if k >= 0}
    return sum(way for way in ways.values() if way <= ways[one]) / sum(ways.values())


def test_zero_and_average_are_compared() -> None:
    changes = {
        (row["seed"], name): (row[f"{name}_off"][0], row[f"{name}_average"][0])
        for row in TRAINED
        for name in ("first", "second")
        if max(abs(a - b) for a, b in zip(row[f"{name}_off"], row[f"{name}_average"], strict=True))
        > 0.02
    }
    assert list(changes) == [(7, "second"), (19, "first")]
    for zero, average in changes.values():
        assert f"from {zero:.2f} to {average:.2f}" in page("seeds-and-controls")


def test_an_exchange_agrees_with_switching_off_in_eighteen_seeds() -> None:
    agree = []
    for row in TRAINED:
        needed, decides = [], []
        for name in ("first", "second"):
            *_, other_verb, other_pronoun = row[f"{name}_exchanged"]
            needed += [[share == HALF for share in row[f"{name}_off"]]]
            decides += [[share == 1 for share in (other_verb, other_pronoun)]]
        agree += [row["seed"]] if needed == decides else []
    assert len(agree) == 18
    assert not {7, 17} & {*agree}
    assert "In eighteen seeds, what suffers with a head off" in page("seeds-and-controls")
    assert (TRAINED[7]["second_exchanged"], TRAINED[7]["second_off"][0]) == ([0, 1, 1, 0], 0.9)


def test_verb_heads_look_for_plurals_or_singulars() -> None:
    kinds: dict[str, list[str]] = {}
    for row in TRAINED:
        if "looks_for" in row:
            kinds.setdefault(row["looks_for"], []).append(str(row["seed"]))
    for seeds in kinds.values():
        assert f"four ({', '.join(seeds)})" in page("seeds-and-controls")


def test_sixty_seeds_are_disclosed() -> None:
    right = learned("heads, nothing shared")
    assert right[:20] == [row["attention"] == [1, 1] for row in TRAINED]
    words = f"With {sum(right[:20])} of the seeds 0 to 19"
    assert words in page("seeds-and-controls")
    words = f"of the next forty, {sum(right[20:])} do, which makes {sum(right)} of 60"
    assert words in page("seeds-and-controls")
