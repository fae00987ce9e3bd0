"""Blanks: marks inside the lines of a documented output, which stand for what varies there."""

from __future__ import annotations

import re
from collections import defaultdict
from operator import attrgetter
from typing import TYPE_CHECKING

from sphinx_drift.compare.tokens import ELISION, Token, plain, tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

TEXT, NUMBER = "\N{MIDLINE HORIZONTAL ELLIPSIS}", "\N{EQUAL AND PARALLEL TO}"
BLANKS = frozenset((TEXT, NUMBER))
"""They stand for at least one word, number or sign, and for one number."""
_KNOWN = re.compile("(\N{INVISIBLE SEPARATOR}|\\\\u2063).*?\\1")
"""What is known of a number at full precision besides its digits; in quotation marks, escaped."""
_STOP = re.compile(r"(?<=\d)\.(?![\w.])")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")


def with_blanks(documented: str, executed: str) -> str:
    """Return an executed text with the blanks of the documented one, in lines that match.

    Nothing is searched: the place of a line is counted from the first, or from the last.

    Examples:
        >>> with_blanks("loss 0.3061 after ⋯", "loss 0.3062 after 3 min 5 s")
        'loss 0.3062 after ⋯'

    """
    if BLANKS.isdisjoint(documented) or plain(documented) == plain(executed):
        return executed
    wanted = [line for line in plain(documented).split("\n") if line.strip()]
    lines = plain(executed).split("\n")
    rows = [place for place, line in enumerate(lines) if line.strip()]
    left_out = False
    for place, line in enumerate(wanted):
        left_out = left_out or line.strip() == ELISION
        from_end = place + len(rows) - len(wanted)
        for at in [] if BLANKS.isdisjoint(line) else [*[place][left_out:], from_end]:
            if 0 <= at < len(rows) and (filled := _filled(line, lines[rows[at]])):
                lines[rows[at]] = filled
                break
    return "\n".join(lines)


def _filled(line: str, row: str) -> str:
    """Return a row with the blanks of a line, and the space beside them; nothing if they differ."""
    bare = _KNOWN.sub(lambda known: " " * len(known[0]), row)
    left, right = _tokens(line, line), _tokens(bare, line)
    texts, keys = (
        [[read(token) for token in side] for side in (left, right)]
        for read in (attrgetter("text"), _key)
    )
    ends = _matched(*texts) or _matched(*keys)
    pieces: list[str] = []
    after_blank, last, there = False, 0, 0
    for token, end in zip(left, ends, strict=False):
        own, is_blank = right[end - 1], token.text in BLANKS
        known = _KNOWN.match(row, own.end)
        own_end = known.end() if known else own.end
        if is_blank:
            pieces.append(line[last : token.end])
        elif after_blank:
            pieces += line[last : token.start], row[own.start : own_end]
        else:
            pieces.append(row[there:own_end])
        after_blank, last, there = is_blank, token.end, own_end
    return "".join([*pieces, row[there:]]) if ends else ""


def _tokens(line: str, documented: str) -> list[Token]:
    """Read a line, in which a blank may be a number, and commas stand between thousands.

    Unless the documented line has them between blanks; and points after blanks are full stops.
    """
    text = line.replace(NUMBER, "7")
    if f"{NUMBER},{NUMBER}" not in documented:
        text = _THOUSANDS.sub(lambda number: number[0].replace(",", "0"), text)
    if f"{NUMBER}." in documented:
        text = _STOP.sub("!", text)
    return [token._replace(text=line[token.start : token.end]) for token in tokens(text)]


def _key(token: Token) -> str:
    """Return what two tokens must share to be alike: numbers are compared later."""
    is_finite = token.is_number and "n" not in token.text
    is_whole = token.text == NUMBER or NUMBER not in token.text
    return NUMBER if is_finite and is_whole else token.text


def _matched(left: Sequence[str], right: Sequence[str]) -> list[int]:
    """Return up to where the tokens of a row go that each of a line stands for; none if it can't.

    Each part between two blanks is where it occurs first: with the same numbers, or else with any.
    """
    codes: defaultdict[str, str] = defaultdict(lambda: chr(len(codes)))
    line, row = ("".join(codes[key] for key in ("", *side, "\n")) for side in (left, right))
    ends: list[int] = []
    at = -1
    for part in line.split(codes[TEXT]):
        start = row.find(part, at + 1)
        if start < 0:
            return []
        at = start + len(part)
        ends += range(start, at + 1)
    return [end - 1 for end in ends[2:-1]]
