"""Decide which number of which quantity a printed number is: by its digits and its place."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sphinx_drift import api

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from quantities.declared import DeclaredPage

Array = np.ndarray[Any, np.dtype[Any]]
Arrays = dict[str, Array]
DECIMALS = 2  # of a number alone; one with fewer may be a count or a sum


@dataclass(frozen=True)
class Part:
    """Some numbers of a quantity, in an order and a shape: flat places, counted from 0."""

    quantity: str
    places: Array


@dataclass(frozen=True)
class Run:
    """Numbers of an output that are a part of a quantity, and where each is in the text."""

    expression: str
    part: Part
    spans: list[tuple[int, int]]


class MismatchError(ValueError):
    """What is shown or computed isn't the quantity that it is declared to be."""


def arrays(declared: DeclaredPage, values: Mapping[str, Any]) -> Arrays:
    """Return the quantities of a page: by their formulas, or from the values that the page made.

    Raises:
        MismatchError: If a quantity has neither, or formulas that differ.

    """
    made: Arrays = {}
    for name, quantity in declared.quantities.items():
        value = values.get(declared.bind[name])
        if quantity.formulas:
            value, *others = (_computed(formula, made) for formula in quantity.formulas)
            for formula, other in zip(quantity.formulas[1:], others, strict=True):
                if not np.allclose(value, other, equal_nan=True):
                    raise MismatchError(f"{name} isn't both {quantity.formulas[0]} and {formula}")
        if value is None:
            message = f"{name} has no formula, so a cell must make {declared.bind[name]}; none does"
            raise MismatchError(message)
        made[name] = np.array(value)
        if len(quantity.axes) != made[name].ndim:
            message = f"{name} has the axes {quantity.axes!r}, so expected that many; got"
            raise MismatchError(f"{message} {made[name].ndim}")
    return made


def _computed(formula: str, made: Arrays) -> Array:
    with np.errstate(invalid="ignore"):  # softmax of nothing but -inf is nan
        return np.array(eval(formula, {"np": np, "softmax": softmax, **made}))  # noqa: S307 - ours


def softmax(scores: Array) -> Array:
    """Return the shares along the last axis."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def part_of(expression: str, made: Arrays) -> Part:
    """Return what an expression such as `attn_scores[1]` takes of which quantity."""
    name = re.match(r"\w*", expression)[0]  # type: ignore[index]
    if name not in made:
        raise MismatchError(f"expected a quantity of the page in {expression!r}, got {name!r}")
    places = np.arange(made[name].size).reshape(made[name].shape)
    return Part(name, eval(expression, {name: places}))  # noqa: S307 - it is ours


def fits(printed: str, value: float) -> bool:
    """Tell whether a number is printed as it should be, to the digits that it has."""
    shown = printed.replace("\N{MINUS SIGN}", "-")
    factor = 1
    if shown.endswith("%"):
        shown, factor = shown[:-1], 100
    if not shown.strip("-")[:1].isdigit():
        return str(float(shown)) == str(value)  # nan equals nothing, so compare the text
    mantissa, _, exponent = shown.partition("e")
    last_digit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    # What a page computes in float32 is that much off, or more where it is a power of e.
    return abs(float(shown) - factor * value) <= 0.5001 * last_digit + 3e-6 * abs(factor * value)


def runs_of(text: str, parts: Mapping[str, Part], made: Arrays, seen: Collection[str]) -> list[Run]:
    """Return which numbers of an output are which of the parts that its page prints.

    An array is a part if it has its size and all its digits fit; outside arrays, so are numbers
    that stand together on a line. Where several parts fit, the largest is taken, and of parts of
    one size the first that hasn't been printed yet.

    Args:
        text: The output.
        parts: The parts, by their expressions, in the order in which the page prints them.
        made: The quantities.
        seen: Expressions of the parts that were printed before.

    """
    runs: list[Run] = []
    for numbers in _together(text):
        is_array = numbers[0].array >= 0
        first = 0
        while first < len(numbers):
            printed = {*seen, *(run.expression for run in runs)}
            fitting = [
                (expression, part.places.size)
                for expression, part in parts.items()
                if _fits_part(numbers[first:], part, made, whole=is_array)
            ]
            if fitting:
                expression, size = min(fitting, key=lambda each: (-each[1], each[0] in printed))
                spans = [(each.start, each.end) for each in numbers[first : first + size]]
                runs.append(Run(expression, parts[expression], spans))
                first += size
            elif is_array:
                break
            else:
                first += 1
    return runs


def _together(text: str) -> Iterator[list[api.Number]]:
    """Yield the numbers of each array, and those between which there is nothing but space."""
    group: list[api.Number] = []
    for number in api.numbers(text):
        between = text[group[-1].end : number.start] if group else ""
        apart = number.array < 0 and ("\n" in between or between.strip())
        if group and (number.array != group[-1].array or apart):
            yield group
            group = []
        group.append(number)
    if group:
        yield group


def _fits_part(numbers: Sequence[api.Number], part: Part, made: Arrays, *, whole: bool) -> bool:
    size = part.places.size
    if size > len(numbers) or (whole and size != len(numbers)):
        return False
    if size == 1 and not whole and len(numbers[0].text.partition(".")[2]) < DECIMALS:
        return False
    values = _values(part, made)
    return all(
        each.value == value if isinstance(each.value, int) else fits(each.text, value)
        for each, value in zip(numbers, values, strict=False)
    )


def _values(part: Part, made: Arrays) -> list[float]:
    values: list[float] = made[part.quantity].flat[part.places.flatten()].tolist()
    return values


def fault(shown: str, path: Sequence[int], part: Part, made: Arrays) -> str:
    """Say what is wrong with a number that is shown, at a path in a part, or nothing."""
    try:
        place = int(part.places[tuple(path)])
    except IndexError:
        return f"expected an index in the shape {tuple(part.places.shape)}, got {list(path)}"
    array = made[part.quantity]
    value = array.flat[place].item()
    if fits(shown, value):
        return ""
    return f"expected {part.quantity}{index(place, array.shape)} = {value:.4f}, got {shown}"


def index(place: int, shape: Sequence[int]) -> str:
    """Return a flat place as an index: `[1,0]`."""
    steps: list[int] = []
    for size in reversed(shape):
        place, step = divmod(place, size)
        steps.insert(0, step)
    return f"[{','.join(map(str, steps))}]"


def ranges(places: Array) -> str:
    """Return flat places in short: `6-11`, or `0-1 4-5`."""
    flat = places.flatten().tolist()
    groups = itertools.groupby(enumerate(flat), lambda pair: pair[1] - pair[0])
    return " ".join(_range([place for _, place in group]) for _, group in groups)


def _range(places: Sequence[int]) -> str:
    return f"{places[0]}-{places[-1]}" if len(places) > 1 else str(places[0])
