"""What pages say of many seeds, in tables and sentences, is what the data's commands recorded."""

from collections.abc import Iterator, Sequence
from math import comb
from statistics import median
from typing import Any

import pytest
from experiment import read_record
from the_book import DOCS

SEEDS: dict[str, list[Any]] = read_record("many-seeds.json")
CARD = "weight of the asked card"
TRAINED: Any = read_record("trained-seeds.json")
WHO_WHOM = read_record("who-whom.json")
RIGHT, HALF, ENOUGH, TINY, ALL = 21, 0.5, 0.8, 0.0001, [1.0, 1.0]
LEAKS = "cards, one deal held out, 1000 steps"
QKV, SCALE = "companions/queries-keys-values", "companions/why-scale"
CONTROLS, ENDS = "companions/seeds-and-controls", "self-attention/training"
NEED = "self-attention/multi-head"


def learned(name: str) -> list[bool]:
    """Return which seeds of an experiment answer everything right."""
    return [row == RIGHT if isinstance(row, int) else min(row) == 1 for row in SEEDS[name]]


def counted(name: str) -> int:
    return sum(learned(name))


def compare(one: str | list[bool], other: str | list[bool]) -> str:
    """Return the seeds that learn in only one of two experiments, and the sign test, as printed."""
    both = [learned(each) if isinstance(each, str) else each for each in (one, other)]
    pairs = list(zip(*both, strict=True))
    only_one, only_other = pairs.count((True, False)), pairs.count((False, True))
    n = only_one + only_other
    tail = sum(comb(n, k) for k in range(min(only_one, only_other) + 1)) / 2**n
    chance = min(1.0, 2 * tail)
    return f"{only_one} : {only_other}, {f'{chance:.4f}' if chance > TINY else f'< {TINY:.4f}'}"


def fisher(one: int, other: int, n: int) -> float:
    """Return Fisher's exact test of two counts of n seeds."""
    total = one + other
    ways = {k: comb(n, k) * comb(n, total - k) for k in range(total - n, n + 1) if k >= 0}
    return sum(way for way in ways.values() if way <= ways[one]) / sum(ways.values())


def rows_of(kinds: Iterator[tuple[str, Any]]) -> Iterator[str]:
    """Return a table's lines: what seeds have in common, and which they are."""
    shown: dict[str, list[str]] = {}
    for kind, seed in kinds:
        shown.setdefault(kind, []).append(str(seed))
    yield from (f"| {kind} | {', '.join(seeds)} |\n" for kind, seeds in shown.items())


def fewer_matrices() -> Iterator[tuple[str, str]]:
    rows: list[str] = []
    for size, what in (
        ("", ("queries and keys", "keys and values", "all three")),
        (" of 6", ("all three",)),
    ):
        base, label = f"heads{size}, nothing shared", size and ", head dimension 6"
        rows.append(f"nothing{label} | {counted(base)} | | |\n")
        first = len(rows)
        for each in what:
            name = f"heads{size}, {each} shared"
            against = f"row {first} | {compare(base, name)}"
            rows.append(f"{each}{label} | {counted(name)} | {against} |\n")
    yield from ((QKV, f"| {number} | {row}") for number, row in enumerate(rows, 1))
    usual, wide = counted("heads, nothing shared"), counted("heads of 6, all three shared")
    assert fisher(usual, wide, 60) < TINY
    yield QKV, f"({wide} against {usual}, Fisher's test: < 0.0001)"
    pair = [f"heads, {each} shared" for each in ("nothing", "keys and values")]
    new = [learned(f"{each}, seeds 60 to 119") for each in pair]
    every = [learned(each) + more for each, more in zip(pair, new, strict=True)]
    yield QKV, f"sixty more ({compare(*new).partition(',')[0]}); all 120 give"
    yield QKV, f"all 120 give {compare(*every).replace(', ', ', or ')}"
    slow = counted("heads, all three shared, rate 0.003, 2000 steps")
    yield QKV, f"with 2,000 steps at 0.003, {slow} of sixty learn both"
    one = "cards, all three shared"
    cards = [counted(f"cards, {each} shared") for each in ("queries and keys", "keys and values")]
    text = "{} do with one matrix for queries and keys, and {} with one for keys and values"
    yield QKV, text.format(*cards)
    assert fisher(counted("cards, nothing shared"), counted(one), 20) < TINY
    others = [right for right in SEEDS[one] if right < RIGHT]
    words = f"{counted(one)} do (Fisher's test: < 0.0001), and the others get"
    yield QKV, f"With one for all three, {words} {min(others)} to {max(others)} right"
    yield QKV, f"Five times as many steps make it {counted(f'{one}, 1000 steps')}, and a fourth"
    assert counted(f"{one}, 4 entries") == len(SEEDS[one])


def without_the_root() -> Iterator[tuple[str, str]]:
    cards = [(size, rate) for rate in ("0.03", "0.003") for size in (64, 256, 1024)]
    for task, size, rate, name in (
        ("two heads", 64, "0.01", "heads of 64, {} root"),
        *(("cards", *how, "cards, {} entries, rate {}, {{}} root".format(*how)) for how in cards),
    ):
        both = [name.format(how) for how in ("with", "without")]
        counts = f"{counted(both[0])}/{len(SEEDS[both[0]])} | {counted(both[1])}"
        yield SCALE, f"| {task} | {size:,} | {rate} | {counts} | {compare(*both)} |\n"
    names = [f"cards, {size} entries, rate 0.03, without root" for size in (256, 1024)]
    failed = [right for name in names for right in SEEDS[name] if right < RIGHT]
    words = f"those that fail have {min(failed)} to {max(failed)} of {RIGHT}"
    yield SCALE, f"{words} answers right"
    slow, fast, rooted = (
        counted(f"cards, 256 entries, rate {rate} root, 1000 steps")
        for rate in ("0.003, without", "0.03, without", "0.003, with")
    )
    assert rooted == len(SEEDS[names[0]])
    words = f"{slow} of twenty learn without the root at 0.003 (with it, all)"
    yield SCALE, f"{words}, but only {fast} at 0.03"
    whole = "cards, 1024 entries, rate 0.03/32, {} root, {} steps"
    brief, long = ([whole.format(how, n) for how in ("with", "without")] for n in (200, 1000))
    usual = compare("cards, 1024 entries, rate 0.03, with root", brief[1])
    words = "learn without the root, where all do with it at 0.03"
    yield SCALE, f"{counted(brief[1])} of twenty {words} ({usual})"
    yield SCALE, f"({counted(brief[0])} learn)"
    words = "{} learn with it and {} without".format(*map(counted, long))
    yield SCALE, f"{words} ({compare(*long)}, which"
    start, slower = "cards, no root, {} start, {} slower", ("none", "W_query", "W_key", "both")
    for label, how in (("usual, large scores", "large"), ("smaller, as with the root", "small")):
        cells = [str(counted(start.format(how, each))) for each in slower]
        if how == "small":  # the root in other words
            cells[1] = f"({cells[1]})"
        yield SCALE, f"| {label} | {' | '.join(cells)} |\n"
    both = [
        compare(start.format("large", "both"), start.format(size, "none"))
        for size in ("large", "small")
    ]
    yield SCALE, f"({both[0]}, and {both[1]}, against both slower)"
    none = "heads of 64, without root"
    both_slower = f"{none}, both slower"
    count = f"{counted(both_slower)} of {len(SEEDS[both_slower])}"
    yield SCALE, f"both slower, {count} seeds learn"
    yield SCALE, f"may be luck, {compare(both_slower, none)}."


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
    right = learned("heads, nothing shared")
    assert right[:20] == [row["attention"] == ALL for row in TRAINED]
    yield CONTROLS, f"With {sum(right[:20])} of the seeds 0 to 19"
    yield CONTROLS, f"of the next forty, {sum(right[20:])} do"
    heads = ((f"{lost(r, 'first_off')} | {lost(r, 'second_off')}", r["seed"]) for r in TRAINED)
    yield from ((CONTROLS, line) for line in rows_of(heads))
    looks: dict[str, list[str]] = {}
    for row in TRAINED:
        looks.setdefault(row.get("looks_for", ""), []).append(str(row["seed"]))
    assert {name: len(seeds) for name, seeds in looks.items() if name} == dict.fromkeys(
        ("plural", "singular"), 4
    )
    yield CONTROLS, f"four ({', '.join(looks['plural'])}) looks for plural nouns"
    yield ENDS, "four look for plurals and four for singulars"
    shuffled = [row["shuffled"][0] for row in TRAINED]
    average = f"{sum(shuffled) / 20:.2f} of the verbs on average"
    yield CONTROLS, f"{average}, between {min(shuffled):.2f} and {max(shuffled):.2f}"
    yield ENDS, f"Of twenty seeds, {sum(right[:20])} get every"
    three, single = counted("cards, nothing shared"), counted("cards, all three shared")
    assert fisher(three, single, 20) < TINY
    words = f"{three} of 20 seeds learn with three matrices and {single} with one"
    yield CONTROLS, f"{words}, *p* is below {TINY:.4f}"
    kinds = [kind(row) for row in TRAINED]
    for name in ("divide the work", "leave both jobs to one head", "neither"):
        yield ENDS, f"| {kinds.count(name)} | {name}"
    changes = {
        (row["seed"], name): (row[f"{name}_off"][0], row[f"{name}_average"][0])
        for row in TRAINED
        for name in ("first", "second")
        if max(abs(a - b) for a, b in zip(row[f"{name}_off"], row[f"{name}_average"], strict=True))
        > 0.02
    }
    assert list(changes) == [(7, "second"), (19, "first")]
    yield from (
        (CONTROLS, f"from {zero:.2f} to {average:.2f}") for zero, average in changes.values()
    )


def spread(numbers: Sequence[float]) -> str:
    """Return the least and the largest number, or one if they are the same."""
    return "–".join(dict.fromkeys(f"{end(numbers):.2f}" for end in (min, max)))


def looking_up() -> Iterator[tuple[str, str]]:
    page, cards = "companions/training", SEEDS[f"cards, {CARD}"]
    low = {seed: row["below half"] for seed, row in enumerate(cards) if row["below half"]}
    assert all(row["least"] > 0.95 for seed, row in enumerate(cards) if seed not in low)
    assert (len(cards), len(low)) == (20, 2)
    yield page, "eighteen of the twenty seeds: the card gets more than 0.95"
    yield page, "Seeds {} and {} get all answers right without that".format(*low)
    assert all(list(each) == ["red 2", "blue 1"] for each in low.values())
    assert all((cards[seed]["says"][0], cards[seed]["says"][2]) == (2, 1) for seed in low)
    card, itself = zip(*(pair for each in low.values() for pair in each.values()), strict=True)
    yield (
        page,
        f"the card at most {max(card):.2f} and the question itself at least {min(itself):.2f}",
    )
    assert {tuple(row) for row in SEEDS["cards, queries at 0"]} == {(38, 13)}
    runs, rules, reads = (
        [run for seed in SEEDS[f"{LEAKS}{kind}"] for run in seed]
        for kind in ("", ", how", ", reads")
    )
    found: dict[tuple[bool, bool], list[Any]] = {}
    for (trained, held_out), rule, row in zip(runs, rules, reads, strict=True):
        if trained == 90:
            found.setdefault((rule[0] < 0.005, held_out == 18), []).append((rule, row))
    eliminate, rest = ({how: found[blind, how] for how in (False, True)} for blind in (True, False))
    failed, passed = (len(eliminate[how]) + len(rest[how]) for how in (False, True))
    yield page, f"but {failed} of these {failed + passed} fail on the deal held out"
    for said, how in (("wrong", False), ("right", True)):
        for answers in (eliminate[how], rest[how]):
            card, others, right = zip(*(rule for rule, _ in answers), strict=True)
            shown = " | ".join(spread(numbers) for numbers in (card, others, right))
            yield page, f"| {said} | {len(answers)} | {shown} |\n"
    assert len(eliminate[True]) == 5
    yield page, f"The {len(eliminate[False])} and the five don't look at the card asked for"
    both, one = ([row for _, row in eliminate[how]] for how in (True, False))
    assert {by_elimination for by_elimination, *_ in both + one} == {30}
    assert all(answer == 0 and larger < 0.55 for _, *new in both for larger, _, answer in new)
    wrong = [answer for _, *new in one for answer in new if answer[2]]
    assert all(answer == 2 and larger > 2.5 * smaller for larger, smaller, answer in wrong)
    assert sum(larger > 99 * smaller for larger, smaller, _ in wrong) > 0.9 * len(wrong) > 90
    yield page, f"tell the five from the {len(rest[True])}, which look the card up"


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
        ("two heads, held out", "2", 1),
    ):
        columns = [[row[which] for row in WHO_WHOM[f"{model} {each}"]] for each in settings]
        cells = [f"{median(each):.2f} ({min(each):.2f}–{max(each):.2f})" for each in columns]
        yield NEED, f"| {name} | {' | '.join(cells)} |\n"
    low = [sum(right == 0 for _, right in WHO_WHOM[f"1 {each}"]) for each in settings]
    yield NEED, "So it is with {}, {} and {} of twenty seeds".format(*low)
    mixing = [right for _, right in WHO_WHOM["2 24 wide"] if right < ENOUGH]
    assert len(mixing) == 3
    yield NEED, f"{min(mixing):.2f} to {max(mixing):.2f} of the new sentences are right"
    control = median(right for _, right in WHO_WHOM["1, own embeddings, 24 wide"])
    yield NEED, f"one head gets {control:.2f} of the new sentences right (24 wide, median)"


CLAIMS = [*fewer_matrices(), *looking_up(), *without_the_root(), *two_heads(), *other_pages()]


@pytest.mark.parametrize(("page", "words"), CLAIMS)
def test_a_page_says_what_was_recorded(page: str, words: str) -> None:
    assert words in (DOCS / f"{page}.md").read_text("utf-8")


# What pages say in words of their own


def test_more_steps_save_few_seeds_with_one_matrix() -> None:
    once, twice = (learned(f"heads, all three shared{how}") for how in ("", ", 2000 steps"))
    saved = [late and not early for early, late in zip(once, twice, strict=True)]
    assert (sum(saved), once.count(False)) == (2, 30)


def test_most_failures_are_one_word_at_exactly_one_half() -> None:
    names = [name for name in SEEDS if name.startswith("heads") and "steps" not in name]
    names = [name for name in names if "shared" in name and "trained" not in name]
    failed = [sorted(row) for name in names for row in SEEDS[name] if min(row) < 1]
    assert failed.count([HALF, 1]) > 0.75 * len(failed)
    assert all(sorted(row) == [HALF, 1] for row in SEEDS["heads, nothing shared"] if min(row) < 1)


def test_controls_fail_where_pages_say_so() -> None:
    assert all(row["averaging"] == [HALF, 1] for row in TRAINED)
    assert all(row["adverb_first"] == ALL for row in TRAINED)
    unmasked = [row["unmasked"] for row in TRAINED]
    verbs = [verb for verb, _ in unmasked]
    assert (verbs.count(0.5), verbs.count(0.75), sum(verb > 0.95 for verb in verbs)) == (8, 1, 11)
    both = zip(TRAINED, unmasked, strict=True)
    assert all(pronoun == 1 for row, (_, pronoun) in both if row["attention"][1] == 1)
    longest = next(rows for name, rows in reversed(WHO_WHOM.items()) if name.startswith("1 "))
    assert median(trained for trained, _ in longest) == 1
    assert max(held_out for _, held_out in longest) < HALF + 0.05


@pytest.mark.parametrize("name", ["first", "second"])
def test_what_suffers_with_a_head_off_is_the_others_if_heads_are_exchanged(name: str) -> None:
    for row in TRAINED:
        suffers = [off < on for off, on in zip(row[f"{name}_off"], row["attention"], strict=True)]
        assert suffers == [share == 1 for share in row[f"{name}_exchanged"][2:]]


def test_an_exchange_shows_which_head_wins_though_it_isnt_needed() -> None:
    assert (TRAINED[7]["second_exchanged"], TRAINED[7]["second_off"][0]) == ([0, 1, 1, 0], 0.9)
