"""Make wrong versions of an output, and see which of them a comparer lets through."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sphinx_drift.compare.compare import Policy, Verdict, Waiver, compare
from sphinx_drift.compare.tokens import Token, TokenKind, indices, plain, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_CORPUS = Path(__file__).resolve().parent / "corpus"
_DTYPE = re.compile(r",\s*dtype=[\w.]+")
_GRAD = re.compile(r",\s*grad_fn=<\w+>")
_NUMBERS = (TokenKind.INT, TokenKind.FLOAT)

Edit = tuple[int, int, str]
"""Replace the characters from, to by a text."""


class Mutant(NamedTuple):
    """A wrong version of an output."""

    kind: str
    where: str
    """What was changed, in words."""
    text: str


@dataclass(frozen=True)
class Output:
    """A documented output that is true of an executed one."""

    source: str
    documented: str
    executed: str
    precise: str
    """The executed output at full precision."""
    waivers: tuple[Waiver, ...] = ()


@dataclass(frozen=True)
class Attempt:
    """What became of a mutant."""

    source: str
    mutant: Mutant
    verdict: Verdict
    """What *portable* makes of it; what that accepts or not, *exact* refuses."""

    @property
    def caught(self) -> bool:
        """Whether *exact* refuses it."""
        verdict = self.verdict
        return bool(verdict.differences or verdict.accepted or verdict.unneeded) or self.refused

    @property
    def refused(self) -> bool:
        """Whether *portable* refuses it."""
        return bool(self.verdict.differences or self.verdict.unmatched)

    @property
    def units(self) -> float:
        """How far beyond rounding it is, in units in the last place, if it is accepted."""
        return max((accepted.units for accepted in self.verdict.accepted), default=0.0)

    def __str__(self) -> str:
        """Say which mutant it is and how far off."""
        name = f"{self.source}: {self.mutant.kind}: {self.mutant.where}"
        return f"{name} ({self.units:.1f} units)"


class _List(NamedTuple):
    """A pair of square brackets: where it begins and ends, and what stands in it."""

    start: int
    end: int
    items: list[_List | Token]

    @property
    def numbers(self) -> list[Token]:
        """Its items if all are numbers, else nothing."""
        tokens = [item for item in self.items if isinstance(item, Token)]
        return tokens if len(tokens) == len(self.items) else []

    @property
    def rows(self) -> list[_List]:
        """Its items if all are lists, else nothing."""
        lists = [item for item in self.items if isinstance(item, _List)]
        return lists if len(lists) == len(self.items) else []


def corpus(folder: Path = _CORPUS) -> Iterator[Output]:
    """Yield the outputs of the corpus."""
    precise = json.loads((folder / "precise.json").read_text("utf-8"))
    for path in sorted(folder.glob("*.txt")):
        text = path.read_text("utf-8")
        yield Output(f"corpus/{path.name}", text, text, precise[path.stem])


def attempts(output: Output) -> Iterator[Attempt]:
    """Hold every mutant of a documented output against the executed one."""
    printed = _keys(output.executed)
    waived = printed != _keys(output.documented)
    for mutant in mutants(output.documented):
        if not waived or _keys(mutant.text) != printed:
            verdict = compare(
                mutant.text,
                output.executed,
                policy=Policy.PORTABLE,
                precise=output.precise,
                waivers=output.waivers,
            )
            yield Attempt(output.source, mutant, verdict)


def mutants(text: str) -> Iterator[Mutant]:
    """Yield wrong versions of an output; none reads like the output itself."""
    text = plain(text)
    keys = _keys(text)
    seen = {text}
    for mutant in _all(text, tokens(text)):
        if mutant.text not in seen and _keys(mutant.text) != keys:
            seen.add(mutant.text)
            yield mutant


def _keys(text: str) -> list[tuple[TokenKind, str, str]]:
    return [token.key for token in tokens(text)]


def _all(text: str, all_tokens: Sequence[Token]) -> Iterator[Mutant]:
    yield from _numbers(text, all_tokens)
    yield from _words(text, all_tokens)
    yield from _attributes(text)
    if any(token.kind is TokenKind.ELISION for token in all_tokens):
        return  # a row more or less may be true of an output that is shown in part
    yield from _lines(text)
    for each in _lists(all_tokens):
        yield from _items(text, each.numbers, "element")
        yield from _rows(text, each)
        yield from _columns(text, each)


def _edited(text: str, edits: Iterable[Edit]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


# One token ---------------------------------------------------------------------------


def _numbers(text: str, all_tokens: Sequence[Token]) -> Iterator[Mutant]:
    places = indices(all_tokens, range(len(all_tokens)))
    for place, token in enumerate(all_tokens):
        if not token.is_number:
            continue
        index = list(places[place]) or ""
        for kind, new in _changed(token.text):
            where = f"{index} {token.text} -> {new}".strip()
            yield Mutant(kind, where, _edited(text, [(token.start, token.end, new)]))


def _changed(number: str) -> Iterator[tuple[str, str]]:
    """Yield other numbers that are printed alike."""
    bare = number.lstrip("+-")
    yield "sign", (bare if number[0] == "-" and "j" not in number else _flipped(number, bare))
    match = re.fullmatch(r"(\d*\.?\d*)([eE][+-]?\d+)?(j?)", bare)
    if match is None:
        yield "not finite", "0.0000"
        return
    mantissa, exponent, tail = match[1], match[2] or "", match[3]
    value = Decimal(number[: len(number) - len(bare)] + mantissa)
    unit = Decimal((0, (1,), min(0, int(value.as_tuple().exponent))))
    dot = "." if mantissa.endswith(".") else ""
    for kind, other in (("last digit +1", value + unit), ("last digit -1", value - unit)):
        digits = f"{other:+f}" if number[0] == "+" else f"{other:f}"
        yield kind, digits + dot + exponent + tail
    if "." in mantissa and mantissa[-1].isdigit():
        yield "a digit less", number[: len(number) - len(exponent + tail) - 1] + exponent + tail
    if exponent:
        power = int(exponent[1:])
        for kind, other_power in (("exponent +1", power + 1), ("exponent -1", power - 1)):
            yield kind, number[: -len(exponent + tail)] + f"e{other_power:+03d}" + tail


def _flipped(number: str, bare: str) -> str:
    """Return a number with the other sign; an imaginary part keeps showing it."""
    return ("+" if number[0] == "-" else "-") + bare


def _words(text: str, all_tokens: Sequence[Token]) -> Iterator[Mutant]:
    for token in all_tokens:
        if token.kind is TokenKind.WORD and token.text[0].isalpha():
            new = text[token.start : token.end - 1] + ("y" if text[token.end - 1] != "y" else "x")
            where = f"{token.text} -> {new}"
            yield Mutant("label", where, _edited(text, [(token.start, token.end, new)]))


def _attributes(text: str) -> Iterator[Mutant]:
    for match in _DTYPE.finditer(text):
        start, end = match.span()
        yield Mutant("dtype lost", match.group(), _edited(text, [(start, end, "")]))
        other = ", dtype=torch.int32"
        yield Mutant("dtype changed", match.group(), _edited(text, [(start, end, other)]))
    for match in _GRAD.finditer(text):
        start, end = match.span()
        yield Mutant("grad_fn lost", match.group(), _edited(text, [(start, end, "")]))
        other = ", grad_fn=<DivBackward0>"
        yield Mutant("grad_fn changed", match.group(), _edited(text, [(start, end, other)]))
    for match in re.finditer(r"tensor\([^()]*(?=\))", text):
        end = match.end()
        yield Mutant("dtype added", "", _edited(text, [(end, end, ", dtype=torch.float64")]))
        if "grad_fn" not in match.group():
            yield Mutant(
                "grad_fn added", "", _edited(text, [(end, end, ", grad_fn=<MmBackward0>")])
            )


# Lines -------------------------------------------------------------------------------


def _lines(text: str) -> Iterator[Mutant]:
    lines = text.split("\n")
    for place, line in enumerate(lines):
        if line.strip():
            number = f"line {place + 1}"
            missing = "\n".join([*lines[:place], *lines[place + 1 :]])
            doubled = "\n".join([*lines[: place + 1], *lines[place:]])
            yield Mutant("line missing", number, missing)
            yield Mutant("line doubled", number, doubled)
    for place, (line, after) in enumerate(pairwise(lines)):
        exchanged = "\n".join([*lines[:place], after, line, *lines[place + 2 :]])
        yield Mutant("lines exchanged", f"line {place + 1}", exchanged)
    yield Mutant("output doubled", "", f"{text}\n{text}")


# Brackets ----------------------------------------------------------------------------


def _lists(all_tokens: Sequence[Token]) -> list[_List]:
    """Return every pair of square brackets, the inner ones first."""
    stack: list[tuple[int, list[_List | Token]]] = []
    lists: list[_List] = []
    for token in all_tokens:
        if token.text == "[":
            stack.append((token.start, []))
        elif token.text == "]" and stack:
            start, items = stack.pop()
            lists.append(_List(start, token.end, items))
            if stack:
                stack[-1][1].append(lists[-1])
        elif stack and token.kind in (*_NUMBERS, TokenKind.WORD):
            stack[-1][1].append(token)
    return lists


def _exchanged(text: str, a: Token | _List, b: Token | _List) -> list[Edit]:
    return [(a.start, a.end, text[b.start : b.end]), (b.start, b.end, text[a.start : a.end])]


def _without(items: Sequence[Token | _List], place: int) -> Edit:
    """Take one item out of a list, and the comma or space that parted it from the next."""
    if place + 1 < len(items):
        return items[place].start, items[place + 1].start, ""
    if place:
        return items[place - 1].end, items[place].end, ""
    return items[place].start, items[place].end, ""


def _doubled(text: str, items: Sequence[Token | _List], place: int) -> Edit:
    item = items[place]
    between = text[items[0].end : items[1].start] if len(items) > 1 else ", "
    return item.end, item.end, between + text[item.start : item.end]


def _rows(text: str, each: _List) -> Iterator[Mutant]:
    rows = each.rows
    yield from _items(text, rows, "row")
    if rows:
        inner = [(row.start, row.start + 1, "") for row in rows]
        inner += [(row.end - 1, row.end, "") for row in rows]
        yield Mutant("nesting flattened", "", _edited(text, inner))
        body = ", ".join(text[row.start + 1 : row.end - 1] for row in rows)
        yield Mutant("row nested", "", _edited(text, [(each.start, each.end, f"[[{body}]]")]))


def _items(text: str, items: Sequence[Token | _List], name: str) -> Iterator[Mutant]:
    for place in range(len(items)):
        where = f"{name} {place}"
        yield Mutant(f"{name} dropped", where, _edited(text, [_without(items, place)]))
        yield Mutant(f"{name} doubled", where, _edited(text, [_doubled(text, items, place)]))
        if place:
            edits = _exchanged(text, items[place - 1], items[place])
            yield Mutant(f"{name}s exchanged", where, _edited(text, edits))


def _columns(text: str, each: _List) -> Iterator[Mutant]:
    rows = [row.numbers for row in each.rows]
    width = len(rows[0]) if rows else 0
    if not width or any(len(row) != width for row in rows):
        return
    for place in range(width):
        where = f"column {place}"
        dropped = [_without(row, place) for row in rows]
        yield Mutant("column dropped", where, _edited(text, dropped))
        doubled = [_doubled(text, row, place) for row in rows]
        yield Mutant("column doubled", where, _edited(text, doubled))
        if place:
            edits = [e for row in rows for e in _exchanged(text, row[place - 1], row[place])]
            yield Mutant("columns exchanged", where, _edited(text, edits))
    if width != len(rows):
        flat = [text[number.start : number.end] for row in rows for number in row]
        turned = [flat[i : i + len(rows)] for i in range(0, len(flat), len(rows))]
        body = ",\n ".join(f"[{', '.join(row)}]" for row in turned)
        yield Mutant("shape changed", "", _edited(text, [(each.start, each.end, f"[{body}]")]))
