"""What each number of a quantity is used in, read off the formulas: a note says it, no person.

A formula is computed with numbers of no meaning, once for each of the entries that it uses: the
entries of the result that change are those that use it.
"""

from __future__ import annotations

import ast
import functools
import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from quantities.matching import MismatchError, computed, expanded, ranges

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from types import CodeType

    from quantities.declared import Quantity

IT = "_it"
# What an entry becomes until something changes; a mask changes at 0 or at 1.
OTHERS = (1000.0, 0.0, 1.0)


@dataclass(frozen=True)
class Use:
    """Entries that use an entry, as a text with its index, and which entries these are used in."""

    text: str
    places: str  # in short; empty for all


def needed(quantities: Mapping[str, Quantity], printed: Collection[str]) -> dict[str, Quantity]:
    """Return the quantities without the formulas of those that no printed one is made from.

    A page on causal attention has the weights without a mask, and makes no context vectors of
    them. Where nothing is printed, a figure shows all.
    """
    kept = set(printed or quantities)
    for name, quantity in reversed([*quantities.items()]):
        if name in kept:
            kept |= _names_in(quantity.formulas) & quantities.keys()
    return {
        name: quantity if name in kept else replace(quantity, formulas=())
        for name, quantity in quantities.items()
    }


def _names_in(formulas: Sequence[str]) -> set[str]:
    trees = [ast.walk(ast.parse(formula)) for formula in formulas]
    return {each.id for tree in trees for each in tree if isinstance(each, ast.Name)}


def uses(
    quantities: Mapping[str, Quantity], made: Mapping[str, torch.Tensor]
) -> dict[str, list[Use]]:
    """Return what each quantity is used in.

    Raises:
        MismatchError: If a formula uses entries in a way that one text can't say of all of them.

    """
    found: dict[str, list[Use]] = {name: [] for name in quantities}
    for user, quantity in quantities.items():
        for formula in quantity.formulas:
            names = _names_in([formula])
            shapes = tuple((name, made[name].shape) for name in made if name in names)
            for name, ways in _reached(formula, shapes).items():
                together = torch.stack(ways).any(dim=0)
                said = [_use(quantity, quantities[name], together)]
                if None in said:
                    said = [_use(quantity, quantities[name], way) for way in ways]
                if None in said:
                    message = f"no text says which entries of {user} use one of {name}"
                    raise MismatchError(f"{message}, by {formula}: declare it without a formula")
                found[name] += filter(None, said)
    return {name: _merged(each) for name, each in found.items()}


def _merged(uses: Sequence[Use]) -> list[Use]:
    """Return uses with a text, each text once."""
    places: dict[str, list[str]] = {}
    for use in uses:
        if use.text:
            places.setdefault(use.text, []).append(use.places)
    return [Use(text, _union(each)) for text, each in places.items()]


def _union(places: Sequence[str]) -> str:
    if not all(places):
        return ""
    flat = sorted(int(place) for each in places for place in expanded(each))
    return ranges(torch.tensor(flat).unique())


Shapes = tuple[tuple[str, torch.Size], ...]


@functools.cache
def _reached(formula: str, shapes: Shapes) -> dict[str, list[torch.Tensor]]:
    """Return which entries of a formula's result the entries of each name in it change.

    There is one tensor for each time that the formula has the name. The entries of the result are
    in the last axes, those that change them in the first.
    """
    drawn = torch.Generator().manual_seed(0)
    numbers = {name: torch.rand(shape, generator=drawn) + 0.5 for name, shape in shapes}
    ways: dict[str, list[torch.Tensor]] = {}
    for name, once in _occurrences(formula, numbers):
        changes = _changes(compile(once, "<formula>", "eval"), numbers, name)
        ways.setdefault(name, []).append(changes)
    return ways


def _occurrences(formula: str, known: Mapping[str, torch.Tensor]) -> Iterator[tuple[str, str]]:
    """Yield each name in a formula, with the formula that has another there alone."""
    for n in range(len(_names(ast.parse(formula), known))):
        tree = ast.parse(formula)
        node = _names(tree, known)[n]
        name, node.id = node.id, IT
        yield name, ast.unparse(tree)


def _names(tree: ast.AST, known: Mapping[str, torch.Tensor]) -> list[ast.Name]:
    return [each for each in ast.walk(tree) if isinstance(each, ast.Name) and each.id in known]


def _changes(formula: CodeType, numbers: Mapping[str, torch.Tensor], name: str) -> torch.Tensor:
    it = numbers[name].clone()
    names = {**numbers, IT: it}
    before = computed(formula, names).clone()  # it may be a view
    changed = torch.zeros(it.numel(), *before.shape, dtype=torch.bool)
    for place in range(it.numel()):
        for other in OTHERS:
            it.view(-1)[place] = other
            changed[place] = computed(formula, names) != before
            if changed[place].any():
                break
        it.view(-1)[place] = numbers[name].view(-1)[place]
    return changed.view(*it.shape, *before.shape)


def _use(user: Quantity, used: Quantity, reached: torch.Tensor) -> Use | None:
    """Say which entries of a quantity use an entry, if they are a row, a column or the like."""
    if not reached.any():  # its size is used, perhaps
        return Use("", "")
    if "$w" in user.symbol:
        return None
    size = len(used.axes)
    steps = reached.nonzero().unbind(-1)
    fixed = {
        letter: used.axes[q]
        for u, letter in enumerate(user.axes)
        for q in range(size)
        if torch.equal(steps[size + u], steps[q])
    }
    grid = torch.meshgrid(*(torch.arange(n) for n in reached.shape), indexing="ij")
    those = reached.flatten(size).any(dim=-1)
    said = those[(..., *[None] * len(user.axes))].expand(reached.shape).clone()
    for letter, other in fixed.items():
        said &= grid[size + user.axes.index(letter)] == grid[used.axes.index(other)]
    if not torch.equal(said, reached):
        return None
    free = {
        letter: n
        for letter, n in zip(user.axes, reached.shape[size:], strict=True)
        if letter not in fixed
    }
    places = torch.arange(those.numel()).view(those.shape)[those]
    return Use(_text(user.symbol, fixed, free), "" if those.all() else ranges(places))


def _text(symbol: str, fixed: Mapping[str, str], free: Mapping[str, int]) -> str:
    """Return the symbols of entries: `ω_{$i1} … ω_{$i6}`, or `z^{($i)}` for a whole vector."""
    if [*free] == [symbol[-1]] and symbol.endswith(f"_${symbol[-1]}"):
        return _text(symbol[:-3], fixed, {})
    ends = [_indexed(symbol, fixed, dict.fromkeys(free, 1)), _indexed(symbol, fixed, free)]
    are_two = math.prod(free.values()) == len(ends)
    return (" and " if are_two else " … ").join(dict.fromkeys(ends))


def _indexed(symbol: str, fixed: Mapping[str, str], free: Mapping[str, int]) -> str:
    def index(match: re.Match[str]) -> str:
        axis = match[2]
        return f"${match[1]}{fixed[axis]}" if axis in fixed else str(free[axis])

    return re.sub(r"\$(w?)([a-z])", index, symbol)
