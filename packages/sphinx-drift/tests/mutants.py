"""Make wrong versions of an output, and see which of them a comparer lets through."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from sphinx_drift.compare.brackets import partners
from sphinx_drift.compare.compare import Policy, Verdict, Waiver, compare
from sphinx_drift.compare.lexer import Token, TokenKind, plain
from sphinx_drift.compare.tokens import read_tokens

_NUMBER = re.compile(r"(?P<mantissa>\d*\.?\d*)(?:[eE](?P<power>[+-]?\d+))?j?")
_ATTRIBUTE = re.compile(r",\s*\w+=[^,()\[\]]+")


class Mutant(NamedTuple):
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
    source: str
    mutant: Mutant
    verdict: Verdict
    """What *portable* makes of it; what that accepts or not, *exact* refuses."""

    @property
    def caught(self) -> bool:
        verdict = self.verdict
        return bool(verdict.differences or verdict.accepted or verdict.stale)

    @property
    def refused(self) -> bool:
        """Whether *portable* refuses it."""
        return not self.verdict.same

    @property
    def units(self) -> float:
        """How far beyond rounding it is, in units in the last place, if it is accepted."""
        return max((accepted.units for accepted in self.verdict.accepted), default=0.0)

    def __str__(self) -> str:
        name = f"{self.source}: {self.mutant.kind}: {self.mutant.where}"
        return f"{name} ({self.units:.1f} units)"


def attempts(output: Output) -> Iterator[Attempt]:
    """Compare every mutant of a documented output with the executed one."""
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
    for mutant in _all(text, read_tokens(text)):
        if mutant.text not in seen and _keys(mutant.text) != keys:
            seen.add(mutant.text)
            yield mutant


def _keys(text: str) -> list[tuple[TokenKind, str, str]]:
    return [token.key for token in read_tokens(text)]


def _all(text: str, all_tokens: Sequence[Token]) -> Iterator[Mutant]:
    for token in all_tokens:
        for kind, new in _changed(token):
            changed = text[: token.start] + new + text[token.end :]
            yield Mutant(kind, f"{token.text} -> {new} at {token.start}", changed)
    values = [token for token in all_tokens if token.is_number or token.is_word]
    for one, other in pairwise(values):
        pieces = text[: one.start], text[one.end : other.start], text[other.end :]
        exchanged = f"{pieces[0]}{other.text}{pieces[1]}{one.text}{pieces[2]}"
        yield Mutant("exchanged", f"{one.text} and {other.text}", exchanged)
    for name, (start, end) in _parts(text, all_tokens):
        part = text[start:end]
        yield Mutant(f"{name} dropped", part, text[:start] + text[end:])
        yield Mutant(f"{name} doubled", part, text[:end] + part + text[end:])
    lines = text.split("\n")
    for place, (line, after) in enumerate(pairwise(lines)):
        exchanged = "\n".join([*lines[:place], after, line, *lines[place + 2 :]])
        yield Mutant("lines exchanged", f"line {place + 1}", exchanged)


def _changed(token: Token) -> Iterator[tuple[str, str]]:
    """Yield other numbers and words that are printed alike."""
    number = token.text
    if token.is_word and number[0].isalpha():
        yield "word", number[:-1] + ("y" if number[-1] != "y" else "x")
    if not token.is_number:
        return
    bare = number.lstrip("+-")
    sign = number.removesuffix(bare)
    is_dropped = sign == "-" and "j" not in number
    yield "sign", bare if is_dropped else f"{'+' if sign == '-' else '-'}{bare}"
    match = _NUMBER.fullmatch(bare)
    if match is None:
        yield "not finite", "0.0000"
        return
    mantissa, power = match["mantissa"], match["power"]
    tail = bare.removeprefix(mantissa)
    value = Decimal(sign + mantissa)
    unit = Decimal((0, (1,), min(0, int(value.as_tuple().exponent))))
    dot = "." * mantissa.endswith(".")
    for kind, other in (("last digit +1", value + unit), ("last digit -1", value - unit)):
        yield kind, (f"{other:+f}" if sign == "+" else f"{other:f}") + dot + tail
    if "." in mantissa and mantissa[-1].isdigit():
        yield "a digit less", sign + mantissa[:-1] + tail
    for by in (1, -1) if power and value else ():  # of zero, no exponent changes anything
        yield f"exponent {by:+}", f"{sign}{mantissa}e{int(power) + by:+03d}{'j' * ('j' in bare)}"


def _parts(text: str, all_tokens: Sequence[Token]) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield where tokens, attributes, brackets and lines are."""
    for place, end in partners(all_tokens).items():
        if place < end:
            yield "bracket", (all_tokens[place].start, all_tokens[end].end)
    yield from (("token", (t.start, t.end)) for t in all_tokens if not t.is_line)
    yield from (("attribute", match.span()) for match in _ATTRIBUTE.finditer(text))
    yield from (("line", match.span()) for match in re.finditer(r".*\S.*(?:\n|\Z)", text))
