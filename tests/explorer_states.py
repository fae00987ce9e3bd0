"""States of the explorer: a fixed sample of what a reader can reach."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["COUNT", "State", "states"]

COUNT = 300
TOKENS, D_IN, D_OUT = 6, 3, 2
CAUSAL, MASKED, ZEROED = 0.4, 0.3, 0.1  # of the states that are edited
SHAPES = {
    "inputs": (TOKENS, D_IN),
    "W_query": (D_IN, D_OUT),
    "W_key": (D_IN, D_OUT),
    "W_value": (D_IN, D_OUT),
}
Edit = tuple[str, int, int, float]


class State(TypedDict):
    """What a reader has chosen; all else is as in the book."""

    seed: str
    """An integer, as text: JavaScript's numbers can't hold 64 bits."""
    draw: str
    """`rand`, as the book's first class draws its matrices, or `linear`, as its second does."""
    edits: list[Edit]
    """Entries that are not as drawn: matrix, row, column, number."""
    divisor: str
    causal: bool
    mask: list[list[bool]] | None
    axis: str


def states() -> list[State]:
    chance = random.Random(3)  # noqa: S311 - a sample, not a secret
    found = [_state(seed) for seed in (123, *range(40))]
    found += [_state(seed, draw="linear") for seed in (789, *range(40))]
    found += [_state(chance.randrange(-(2**63), 2**64)) for _ in range(20)]
    found += [_state(seed, edits=list(_ties(chance))) for seed in range(20)]
    long = [("inputs", 1, column, 90.0) for column in range(D_IN)]  # e to its scores is infinite
    found += [_state(seed, edits=long) for seed in range(10)]
    found += [_edited(chance) for _ in range(COUNT - len(found))]
    return found


def _state(seed: int, **chosen: Any) -> State:
    state: dict[str, Any] = {
        "seed": str(seed),
        "draw": "rand",
        "edits": [],
        "divisor": "sqrt",
        "causal": False,
        "mask": None,
        "axis": "row",
    }
    return State(**(state | chosen))  # type: ignore[typeddict-item]


def _edited(chance: random.Random) -> State:
    return _state(
        chance.randrange(10_000),
        draw=chance.choice(("rand", "rand", "linear")),
        edits=list(_edits(chance)),
        divisor=chance.choice(("1", "sqrt", "d_k")),
        causal=chance.random() < CAUSAL,
        mask=_mask(chance) if chance.random() < MASKED else None,
        axis=chance.choice(("row", "row", "column")),
    )


def _edits(chance: random.Random) -> Iterator[Edit]:
    """Change single entries, by a little or beyond all measure, or make a matrix 0."""
    for _ in range(chance.randrange(5)):
        name = chance.choice(list(SHAPES))
        rows, columns = SHAPES[name]
        size = chance.choice((1, 1, 1, 2, 10, 100))
        number = round(chance.uniform(-size, size), chance.choice((1, 2, 4)))
        yield name, chance.randrange(rows), chance.randrange(columns), number
    if chance.random() < ZEROED:
        name = chance.choice(list(SHAPES))
        rows, columns = SHAPES[name]
        yield from ((name, row, column, 0.0) for row in range(rows) for column in range(columns))


def _ties(chance: random.Random) -> Iterator[Edit]:
    """Make all entries eighths, so that products lie halfway between two printed numbers, or -0."""
    for name, (rows, columns) in SHAPES.items():
        for row in range(rows):
            for column in range(columns):
                yield name, row, column, chance.randrange(-8, 9) / 8 or -0.0


def _mask(chance: random.Random) -> list[list[bool]]:
    """Hide some of the scores: at times all of a row or of a column."""
    share = chance.choice((0.1, 0.3, 0.6))
    return [[chance.random() < share for _ in range(TOKENS)] for _ in range(TOKENS)]
