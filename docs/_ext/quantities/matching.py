"""Which number of which quantity each printed number is, and whether its digits are right."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import CodeType

    from quantities.declared import DeclaredPage
    from quantities.page_run import CellRun

# As `numbers.js` has it: a number that isn't part of a name.
NUMBER = re.compile(r"(?<![\w.])-?(?:\d+(?:\.\d*)?(?:e[+-]\d+)?|inf|nan)(?!\w)")


@dataclass(frozen=True)
class Part:
    """Some numbers of a quantity, in an order and a shape: flat places, counted from 0."""

    quantity: str
    places: torch.Tensor


@dataclass(frozen=True)
class Run:
    """Numbers of an output, from the one of this count on, and what they are."""

    first: int
    part: Part


class MismatchError(ValueError):
    """What is printed isn't the quantity that it is declared to be."""


def tensors(declared: DeclaredPage, bound: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the quantities of a page: by their formulas, or bound by its cells.

    Raises:
        MismatchError: If a quantity has neither, or formulas that differ.

    """
    made: dict[str, torch.Tensor] = {}
    for name, quantity in declared.quantities.items():
        if quantity.formulas:
            ways = [computed(formula, made) for formula in quantity.formulas]
            made[name] = ways[0]
            for formula, way in zip(quantity.formulas, ways, strict=True):
                if not torch.allclose(way, ways[0], equal_nan=True):
                    raise MismatchError(f"{name} isn't both {quantity.formulas[0]} and {formula}")
        elif name in bound:
            made[name] = bound[name]
        else:
            message = f"{name} has no formula, so a cell must make {declared.bind[name]}; none does"
            raise MismatchError(message)
        if len(quantity.axes) != made[name].dim():
            message = f"{name} has the axes {quantity.axes!r}, so expected that many; got"
            raise MismatchError(f"{message} {made[name].dim()}")
    return made


def computed(formula: str | CodeType, made: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """Return what a formula makes of the quantities before it."""
    result: torch.Tensor = eval(formula, {"torch": torch, **made})  # noqa: S307 - it is ours
    return result


def part_of(expression: str, made: Mapping[str, torch.Tensor]) -> Part:
    """Return what an expression such as `attn_scores[1]` takes of which quantity."""
    name = re.match(r"\w*", expression)[0]  # type: ignore[index]
    if name not in made:
        raise MismatchError(f"expected a quantity of the page in {expression!r}, got {name!r}")
    places = torch.arange(made[name].numel()).reshape(made[name].shape)
    return Part(name, eval(expression, {name: places}))  # noqa: S307 - it is ours


def fits(printed: str, value: float) -> bool:
    """Whether a number is printed as it should be, to the digits that it has."""
    shown = printed.replace("\N{MINUS SIGN}", "-")
    if shown.endswith("%"):
        return fits(shown[:-1], 100 * value)
    decimals = len(re.sub(r"e.*|^[^.]*\.?", "", shown))
    exponent = int(shown.partition("e")[2] or 0)
    if not shown.strip("-")[:1].isdigit():
        return str(float(shown)) == str(value)  # a nan equals none
    return abs(float(shown) - value) <= 0.5001 * 10 ** (exponent - decimals) + 1e-6 * abs(value)


def runs_of(cell: CellRun, declared: DeclaredPage, made: Mapping[str, torch.Tensor]) -> list[Run]:
    """Return what the numbers of a cell's output are.

    Raises:
        MismatchError: If a declared expression printed other digits than its quantity has.

    """
    places = [match.start() for match in NUMBER.finditer(cell.text)]
    runs: list[Run] = []
    for span in sorted(cell.spans, key=lambda span: span.start):
        if not declared.prints.get(span.source):
            continue
        printed = NUMBER.findall(cell.text[span.start : span.end])
        parts = [part_of(meant, made) for meant in declared.prints[span.source]]
        faults = [_fault(printed, part, made) for part in parts]
        if "" not in faults:
            raise MismatchError(f"`print({span.source})`: {'; or '.join(faults)}")
        first = sum(place < span.start for place in places)
        fitting = [part for part, fault in zip(parts, faults, strict=True) if not fault]
        before = [run.part for run in runs]
        new = [part for part in fitting if not any(_same(part, each) for each in before)]
        runs.append(Run(first, (new or fitting)[0]))
    return runs


def _same(one: Part, other: Part) -> bool:
    return one.quantity == other.quantity and torch.equal(one.places, other.places)


def _fault(printed: Sequence[str], part: Part, made: Mapping[str, torch.Tensor]) -> str:
    """Say what is wrong with numbers that should be a part of a quantity, or nothing."""
    values = made[part.quantity].flatten()[part.places.flatten()].tolist()
    if len(values) != len(printed):
        return f"expected {len(values)} numbers of {part.quantity}, got {len(printed)}"
    for shown, value, place in zip(printed, values, part.places.flatten().tolist(), strict=True):
        if not fits(shown, value):
            where = index(place, made[part.quantity].shape)
            return f"expected {part.quantity}{where} = {value:.4f}, got {shown}"
    return ""


def figure_fault(
    shown: str, path: Sequence[int], part: Part, made: Mapping[str, torch.Tensor]
) -> str:
    """Say what is wrong with a number of a figure, at a path in a part, or nothing."""
    try:
        place = part.places[tuple(path)]
    except IndexError:
        return f"expected an index in the shape {tuple(part.places.shape)}, got {list(path)}"
    return _fault([shown], Part(part.quantity, place.reshape(1)), made)


def index(place: int, shape: Sequence[int]) -> str:
    """Return a flat place as an index: `[1,0]`."""
    steps: list[int] = []
    for size in reversed(shape):
        place, step = divmod(place, size)
        steps.insert(0, step)
    return f"[{','.join(map(str, steps))}]"


def ranges(places: torch.Tensor) -> str:
    """Return flat places in short: `6-11`, or `0-1 4-5`."""
    flat = places.flatten().tolist()
    groups = itertools.groupby(enumerate(flat), lambda pair: pair[1] - pair[0])
    return " ".join(_range([place for _, place in group]) for _, group in groups)


def _range(places: Sequence[int]) -> str:
    return f"{places[0]}-{places[-1]}" if len(places) > 1 else str(places[0])


def expanded(places: str) -> set[str]:
    """Return the places that `ranges` wrote in short, as texts."""
    ends = ([int(end) for end in part.split("-")] for part in places.split())
    return {str(place) for each in ends for place in range(each[0], each[-1] + 1)}


def with_index(text: str, axes: str, of: str, words: Mapping[str, Sequence[str]]) -> str:
    """Return what a note says of one number, such as `attn_scores[1,0]`."""
    steps = [int(step) for step in of[of.index("[") + 1 : -1].split(",") if step]

    def indexed(match: re.Match[str]) -> str:
        step = steps[axes.index(match[2])]
        return words[match[2]][step] if match[1] else str(step + 1)

    return re.sub(r"\$(w?)([a-z])", indexed, text)
