"""Alter every documented output of a book, and count what is caught.

*exact* must catch every altered output, *portable* at least 97 % and all that are beyond its bound.
The pages run in stock Jupyter kernels, once as they are and once at full precision.

    nox -s mutation                # the book in docs/
    nox -s mutation -- FOLDER      # another one
"""

import argparse
import copy
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from sphinx_drift.compare.brackets import partners
from sphinx_drift.compare.compare import UNITS, Policy, Verdict, Waiver, compare
from sphinx_drift.compare.lexer import Token, TokenKind, plain
from sphinx_drift.compare.tokens import read_tokens
from sphinx_drift.output.printed_text import read_outputs
from sphinx_drift.source.read_source import load

_NUMBER = re.compile(r"(?P<mantissa>\d*\.?\d*)(?:[eE](?P<power>[+-]?\d+))?j?")
_ATTRIBUTE = re.compile(r",\s*\w+=[^,()\[\]]+")
PORTABLE_SHARE = 0.97
FULL_PRECISION = """\
from sphinx_drift.run.in_full import IN_FULL
for change in IN_FULL.values():
    change()
"""


# Wrong versions of an output --------------------------------------------------


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
    """A wrong version, compared with what was printed."""

    source: str
    mutant: Mutant
    verdict: Verdict
    """What *portable* makes of it; what that accepts or not, *exact* refuses."""

    @property
    def caught(self) -> bool:
        """Whether *exact* refuses it."""
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


# A whole book ------------------------------------------------------------


def main() -> int:
    """Try every altered output; return 1 if too many pass."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("book", type=Path, nargs="?", default=Path("docs"))
    book = list(documented_outputs(parser.parse_args().book))
    if not book:
        parser.error("the book documents no output")
    faults = [f"{output.source}: not as documented" for output in book if not is_true(output)]
    tried = [attempt for output in book for attempt in attempts(output)]
    print_table(tried)
    faults += find_faults(tried)
    print(*faults, sep="\n")
    return bool(faults)


def documented_outputs(folder: Path) -> Iterator[Output]:
    """Run each page twice, the second time at full precision, and yield its outputs."""
    for path in sorted(folder.rglob("*.md")):
        loaded = None if "_build" in path.parts else load(path)
        if loaded is None:
            continue
        page, notebook = loaded
        precise = copy.deepcopy(notebook)
        precise.cells.insert(0, new_code_cell(FULL_PRECISION))
        execute(notebook, path.parent)
        execute(precise, path.parent)
        for cell in page.cells:
            normal = read_outputs(notebook.cells[cell.index].outputs)
            full = read_outputs(precise.cells[cell.index + 1].outputs)
            for expectation in cell.expectations:
                if not expectation.unchecked:
                    yield Output(
                        f"{path} cell {cell.number}",
                        expectation.text,
                        normal.select(expectation.part),
                        full.select(expectation.part),
                        expectation.waivers,
                    )


def execute(notebook: NotebookNode, folder: Path) -> None:
    """Run a notebook in a stock kernel, in the folder of its page."""
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=600, allow_errors=True, resources=resources).execute()


def is_true(output: Output) -> bool:
    """Return whether an output is as documented: altering a wrong one proves nothing."""
    return compare(
        output.documented, output.executed, policy=Policy.EXACT, waivers=output.waivers
    ).same


def print_table(tried: Sequence[Attempt]) -> None:
    """Print, for each kind of alteration, how many there were and how many were caught."""
    kinds = Counter(attempt.mutant.kind for attempt in tried)
    exact = Counter(attempt.mutant.kind for attempt in tried if attempt.caught)
    portable = Counter(attempt.mutant.kind for attempt in tried if attempt.refused)
    print(f"{'':<20}{'altered':>9}{'exact':>9}{'portable':>10}")
    for kind in sorted(kinds):
        print(f"{kind:<20}{kinds[kind]:>9}{exact[kind]:>9}{portable[kind]:>10}")
    totals = len(tried), exact.total(), portable.total()
    print(f"{'all':<20}{totals[0]:>9}{totals[1]:>9}{totals[2]:>10}\n")


def find_faults(tried: Sequence[Attempt]) -> Iterator[str]:
    """Yield what is not as good as it must be."""
    yield from (f"exact lets through: {attempt}" for attempt in tried if not attempt.caught)
    survivors = [attempt for attempt in tried if not attempt.refused]
    yield from (f"beyond the bound: {a}" for a in survivors if not a.units <= UNITS)
    if len(survivors) > (1 - PORTABLE_SHARE) * len(tried):
        yield f"portable lets {len(survivors)} of {len(tried)} through"


if __name__ == "__main__":
    sys.exit(main())
