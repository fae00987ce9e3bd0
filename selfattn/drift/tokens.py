"""Read the text of an output into tokens: any text, nothing evaluated, nothing raised.

What makes no difference to a reader makes no difference to the tokens: how often a
space is repeated, where a line is wrapped inside brackets, padding beside a bracket or
before a comma, blank lines, terminal colours, the counter of a ``grad_fn`` and the
accelerator on which a tensor lives. Everything else does: each digit, sign, exponent,
bracket, comma, word and, outside brackets, each line break.
"""

from __future__ import annotations

import gc
import re
from contextlib import contextmanager
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

__all__ = ["ELISION", "Kind", "Token", "groups", "index_of", "indices", "plain", "tokens"]

ELISION = "\N{VERTICAL ELLIPSIS}"
"""Alone on a line of a documented output, it stands for rows that are not shown."""


class Kind(Enum):
    """What a token is."""

    WORD = "word"
    INT = "integer"
    FLOAT = "float"
    MARK = "mark"
    OPEN = "opening bracket"
    CLOSE = "closing bracket"
    LINE = "line break"
    ELISION = "elision"


class Token(NamedTuple):
    """One token: its kind, its text as compared, where it stands, and what is before it."""

    kind: Kind
    text: str
    start: int
    end: int
    spaced: bool
    """Whether white space that counts stands before it."""

    @property
    def key(self) -> tuple[Kind, str, bool]:
        """What two tokens must share to be equal."""
        return self.kind, self.text, self.spaced


_PATTERN = re.compile(
    r"""
    [^\S\n]*
    (?:
      (?P<number>
          (?<![\w.]) (?: (?<![)\]}]) [+-] )?
          (?: (?: \d+(?:\.(?!\.)\d*)? | \.\d+ ) (?:[eE][+-]?\d+)? | (?:nan|inf)(?!\w) )
          (?:j\b)?
        | (?<=[\d.]) [+-](?:\d+(?:\.(?!\.)\d*)?(?:[eE][+-]?\d+)?|nan|inf)j\b )
    | (?P<device> ,\s*device='(?:cuda|mps|xpu|hpu|npu)(?::\d+)?' )
    | (?P<comma> , )
    | (?P<line> \n )
    | (?P<open> [\[({] )
    | (?P<close> [\])}] )
    | (?P<grad> grad_fn=<\w*?Backward\d*> )
    | (?P<word> [^\W\d]\w* | \d\w* | \.\.\.+ )
    | (?P<elision> \N{VERTICAL ELLIPSIS} (?=[^\S\n]*(?:\n|\Z)) )
    | (?P<mark> \S )
    )
    """,
    re.VERBOSE,
)
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_BRACKET = re.compile(r"[()\[\]{}]")
_SPACE = re.compile(r"\s+")
_BLANK = re.compile(r"[^\S\n]+")
_COUNTER = re.compile(r"\d+>$")
_PAIRS = {")": "(", "]": "[", "}": "{"}
_GROUPS = _PATTERN.groupindex
_NUMBER, _LINE, _OPEN, _CLOSE = (_GROUPS[name] for name in ("number", "line", "open", "close"))
_DEVICE, _GRAD, _ELISION = (_GROUPS[name] for name in ("device", "grad", "elision"))
_SPECIAL = frozenset((_DEVICE, _GRAD, _ELISION))
# White space after the beginning or a bracket doesn't count, nor before a bracket or a comma.
_TIGHT = frozenset((0, _OPEN))
_FLUSH = frozenset((_CLOSE, _DEVICE, _GROUPS["comma"]))
_KINDS = {
    _NUMBER: Kind.FLOAT,
    _OPEN: Kind.OPEN,
    _CLOSE: Kind.CLOSE,
    _GROUPS["word"]: Kind.WORD,
    _GROUPS["comma"]: Kind.MARK,
    _GROUPS["mark"]: Kind.MARK,
    _DEVICE: Kind.MARK,
    _GRAD: Kind.WORD,
    _ELISION: Kind.ELISION,
}
_INTEGER = Kind.INT  # a plain name: looking up a member for each token takes its time
_new = partial(tuple.__new__, Token)


def plain(text: str) -> str:
    """Return a text without terminal colours and trailing space: what tokens' places count in."""
    return _ANSI.sub("", text).rstrip()


def tokens(text: str) -> list[Token]:
    r"""Read a text into tokens.

    Args:
        text: Any text: what PyTorch, NumPy or Python printed, or anything else.

    Returns:
        The tokens in order. Two texts are the same output if and only if the ``key`` of
        their tokens are the same.

    Examples:
        >>> [token.text for token in tokens("tensor([ 0.5, -1.])")]
        ['tensor', '(', '[', '0.5', ',', '-1.', ']', ')']
        >>> wrapped = "tensor([0.5000,\n        2.0000], device='cuda:0')"
        >>> [t.key for t in tokens(wrapped)] == [t.key for t in tokens("tensor([0.5000, 2.0000])")]
        True

    """
    text = plain(text)
    brackets = ((match.group(), match.start()) for match in _BRACKET.finditer(text))
    with _collector_at_rest():
        return _read(text, _matched(brackets))


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Keep the garbage collector from walking over a million new tokens again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _read(text: str, matched: Collection[int]) -> list[Token]:
    found: list[Token] = []
    in_tensor: list[bool] = []  # for each open bracket, whether it is that of `tensor(`
    before = 0
    broken = False
    for match in _PATTERN.finditer(text):
        group = match.lastindex or 0
        if group == _LINE:
            broken = True
            continue
        first, end = match.span()
        piece = match[group]
        start = end - len(piece)
        kind = _KINDS[group]
        if group == _NUMBER and piece.lstrip("+-").isdecimal():
            kind = _INTEGER
        elif group in _SPECIAL:
            if group == _DEVICE and in_tensor and in_tensor[-1]:
                continue
            kind, piece = _special(kind, piece, text, start, inside=bool(in_tensor))
        if broken:
            if before and not in_tensor:
                found.append(Token(Kind.LINE, "\n", start, start, spaced=False))
            first = -1 if in_tensor else start
            broken = False
        spaced = start > first and before not in _TIGHT and group not in _FLUSH
        if start in matched:
            if group == _OPEN:
                in_tensor.append(piece == "(" and bool(found) and found[-1].text == "tensor")
            else:
                in_tensor.pop()
        found.append(_new((kind, piece, start, end, spaced)))
        before = group
    return found


def _special(kind: Kind, piece: str, text: str, start: int, *, inside: bool) -> tuple[Kind, str]:
    """Take from a rare piece what makes no difference; an elision that isn't alone is a mark."""
    if kind is Kind.WORD:
        return kind, _COUNTER.sub(">", piece)
    if kind is Kind.MARK:
        return kind, (_SPACE if inside else _BLANK).sub(" ", piece)
    alone = not text[text.rfind("\n", 0, start) + 1 : start].strip()
    return kind if alone else Kind.MARK, piece


def _matched(brackets: Iterable[tuple[str, int]]) -> set[int]:
    """Return the places of the brackets that have a partner, properly nested."""
    stack: list[tuple[str, int]] = []
    matched: set[int] = set()
    for bracket, place in brackets:
        if bracket not in _PAIRS:
            stack.append((bracket, place))
        elif stack and stack[-1][0] == _PAIRS[bracket]:
            matched.add(stack.pop()[1])
            matched.add(place)
    return matched


def _brackets(found: Sequence[Token]) -> Iterable[tuple[str, int]]:
    kinds = (Kind.OPEN, Kind.CLOSE)
    return ((token.text, place) for place, token in enumerate(found) if token.kind in kinds)


def groups(found: Sequence[Token]) -> list[int]:
    """Number the array or list that each token stands in; -1 outside any.

    That is the outermost square bracket around it within the innermost call.

    Examples:
        >>> groups(tokens("a [1, [2]] b [3]"))
        [-1, 0, 0, 0, 0, 0, 0, 0, -1, 1, 1, 1]

    """
    matched = _matched(_brackets(found))
    numbers: list[int] = []
    around = [-1]
    count = 0
    for position, token in enumerate(found):
        opens = position in matched and token.kind is Kind.OPEN
        if opens:
            new = token.text == "[" and around[-1] < 0
            around.append(count if new else around[-1] if token.text == "[" else -1)
            count += new
        numbers.append(around[-1])
        if position in matched and not opens:
            around.pop()
    return numbers


def index_of(found: Sequence[Token], position: int) -> tuple[int, ...]:
    """Return where a token stands in the brackets around it, counted from 0.

    Examples:
        >>> read = tokens("tensor([[0.1, 0.2], [0.3, 0.4]])")
        >>> index_of(read, [token.text for token in read].index("0.4"))
        (1, 1)

    """
    return indices(found, {position})[position]


def indices(found: Sequence[Token], positions: Collection[int]) -> dict[int, tuple[int, ...]]:
    """Return where each of some tokens stands in the brackets around it, counted from 0."""
    if not positions:
        return {}
    matched = _matched(_brackets(found))
    places: dict[int, tuple[int, ...]] = {}
    path: list[int] = []
    fresh: list[bool] = []
    for here, token in enumerate(found[: max(positions) + 1]):
        square = here in matched and token.text in "[]"
        if square and token.kind is Kind.CLOSE:
            path.pop()
            fresh.pop()
        else:
            if path and token.kind is not Kind.LINE:
                _advance(path, fresh, token)
            if square:
                path.append(-1)
                fresh.append(True)
        if here in positions:
            places[here] = tuple(max(place, 0) for place in path)
    return places


def _advance(path: list[int], fresh: list[bool], token: Token) -> None:
    """Count an item where one begins: after a bracket, a comma or white space."""
    if token.text == ",":
        fresh[-1] = True
    elif fresh[-1] or token.spaced:
        path[-1] += 1
        fresh[-1] = False
