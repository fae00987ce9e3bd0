"""What Sections 3.6 and 3.7 say of many seeds is what was recorded of them."""

from __future__ import annotations

import json
from statistics import median

import pytest
from the_book import DOCS

TRAINED = json.loads((DOCS / "_data/trained-seeds.json").read_text("utf-8"))
WHO_WHOM = json.loads((DOCS / "_data/who-whom.json").read_text("utf-8"))
NEED, ROUTE_ENDS = (
    (DOCS / f"self-attention/{name}.md").read_text("utf-8") for name in ("multi-head", "training")
)
SETTINGS = [name.partition(" ")[2] for name in WHO_WHOM if name.startswith("1 ")]
HALF, NEAR, ALL = 0.5, 0.05, [1.0, 1.0]


def summary(parts: list[float]) -> str:
    return f"{median(parts):.2f} ({min(parts):.2f}–{max(parts):.2f})"


@pytest.mark.parametrize(
    ("name", "heads", "which"),
    [("one head, trained", 1, 0), ("one head, held out", 1, 1), ("two heads, held out", 2, 1)],
)
def test_the_table_of_who_and_whom_is_the_recorded_one(name: str, heads: int, which: int) -> None:
    columns = [[row[which] for row in WHO_WHOM[f"{heads} {each}"]] for each in SETTINGS]
    assert f"| | {' | '.join(SETTINGS)} |\n" in NEED
    assert f"| {name} | {' | '.join(map(summary, columns))} |\n" in NEED


@pytest.mark.parametrize("heads", [1, 2])
def test_the_recorded_cells_are_those_of_the_page(heads: int) -> None:
    """The page trains seed 2 of the first setting."""
    trained, held_out = WHO_WHOM[f"{heads} {SETTINGS[0]}"][2]
    assert NEED.count("torch.manual_seed(2)") == 2
    assert f"trained {trained:.2f}, held out {held_out:.2f}\n" in NEED


def test_one_head_fails_though_it_is_trained_longer() -> None:
    longest = WHO_WHOM[f"1 {SETTINGS[-1]}"]
    assert median(trained for trained, _ in longest) == 1
    assert max(held_out for _, held_out in longest) < HALF + NEAR
    assert "it usually learns all training sentences, and still about half of the new" in NEED


def kind(row: dict[str, list[float]]) -> str:
    """Return how the heads of a seed share the work, by what suffers without each."""
    lost = [[now == HALF for now in row[f"{name}_off"]] for name in ("first", "second")]
    if row["attention"] == ALL and sorted(lost) == [[False, True], [True, False]]:
        return "divide the work"
    if row["attention"] == ALL and sorted(lost) == [[False, False], [True, True]]:
        return "leave both jobs to one head"
    return "neither"


def test_the_table_counts_what_twenty_seeds_do() -> None:
    kinds = [kind(row) for row in TRAINED]
    for name in ("divide the work", "leave both jobs to one head", "neither"):
        assert f"| {kinds.count(name)} | {name}" in ROUTE_ENDS
    neither = [row for row, each in zip(TRAINED, kinds, strict=True) if each == "neither"]
    assert sorted(row["attention"] for row in neither) == [[1.0, HALF], ALL]


@pytest.mark.parametrize(
    ("words", "name", "count"),
    [("Of twenty seeds, {} get every", "attention", 19), ("{} of 20 seeds", "one_head", 14)],
)
def test_the_page_counts_the_seeds_that_learned_everything(
    words: str, name: str, count: int
) -> None:
    assert sum(row[name] == ALL for row in TRAINED) == count
    assert words.format(count) in ROUTE_ENDS


def test_no_average_gets_more_than_half_of_the_verbs() -> None:
    assert {row["averaging"][0] for row in TRAINED} == {HALF}
    assert "no seed gets more than half of the verbs" in ROUTE_ENDS


def test_a_head_that_wins_need_not_be_needed() -> None:
    (row,) = (row for row in TRAINED if row["seed"] == 7)
    own_verb, _, other_verb, _ = row["second_exchanged"]
    assert (own_verb, other_verb) == (0, 1)
    assert f"without this head {row['second_off'][0]:.2f} of its own verbs are right" in ROUTE_ENDS


def test_half_of_those_that_divide_the_work_look_for_plurals() -> None:
    looks = [row["looks_for"] for row in TRAINED if kind(row) == "divide the work"]
    assert (looks.count("plural"), looks.count("singular")) == (4, 4)
    assert "four look for plurals and four for singulars" in ROUTE_ENDS
