"""Read the text of an output into tokens: any text, nothing evaluated, nothing raised.

What makes no difference to a reader makes no difference to the tokens: in tensors, arrays
and lists of numbers, where a line is wrapped and how a number is padded
(``sphinx_drift.compare.layout``); blank lines, space at the end of a line, terminal colours,
the zero that newer versions of PyTorch put after a ``grad_fn``, and the accelerator on which
a tensor lives. Everything else does: each digit, sign, exponent, bracket, comma, word, line
break and, between them and before them, each space.
"""

from __future__ import annotations

import gc
import re
from contextlib import contextmanager
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from sphinx_drift.compare.layout import loose_gaps

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

__all__ = ["ELISION", "Token", "TokenKind", "groups", "indices", "plain", "tokens"]

ELISION = "\N{VERTICAL ELLIPSIS}"
"""Alone on a line of a documented output, it stands for rows that are not shown."""


class TokenKind(Enum):
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

    kind: TokenKind
    text: str
    start: int
    end: int
    gap: str
    """The white space before it that counts: one space at most where layout says nothing."""

    @property
    def key(self) -> tuple[TokenKind, str, str]:
        """What two tokens must share to be equal."""
        return self.kind, self.text, self.gap

    @property
    def is_line(self) -> bool:
        """Whether it is a line break."""
        return self.kind is TokenKind.LINE

    @property
    def is_number(self) -> bool:
        """Whether it is an integer or a float."""
        return self.kind is TokenKind.FLOAT or self.kind is TokenKind.INT

    @property
    def is_word(self) -> bool:
        """Whether it is a word."""
        return self.kind is TokenKind.WORD

    @property
    def is_elision(self) -> bool:
        """Whether it stands for rows that are not shown."""
        return self.kind is TokenKind.ELISION


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
_SPACE = re.compile(r"\s+")
_COUNTER = re.compile(r"(?<=Backward)0?>$")
_PAIRS = {")": "(", "]": "[", "}": "{"}
_OPENING = frozenset(_PAIRS.values())
_GROUPS = _PATTERN.groupindex
_NUMBER, _LINE, _OPEN, _CLOSE = (_GROUPS[name] for name in ("number", "line", "open", "close"))
_DEVICE, _GRAD, _ELISION = (_GROUPS[name] for name in ("device", "grad", "elision"))
_KINDS = {
    _NUMBER: TokenKind.FLOAT,
    _OPEN: TokenKind.OPEN,
    _CLOSE: TokenKind.CLOSE,
    _GROUPS["word"]: TokenKind.WORD,
    _GROUPS["comma"]: TokenKind.MARK,
    _GROUPS["mark"]: TokenKind.MARK,
    _DEVICE: TokenKind.MARK,
    _GRAD: TokenKind.WORD,
    _ELISION: TokenKind.ELISION,
}
_OPENS, _CLOSES = TokenKind.OPEN, TokenKind.CLOSE
_INTEGER, _BREAK = TokenKind.INT, TokenKind.LINE  # plain names: to look up a member takes its time
_new = partial(tuple.__new__, Token)


def plain(text: str) -> str:
    """Return a text as it looks, without colours and trailing space: tokens' places count in it."""
    return _ANSI.sub("", text).expandtabs().rstrip()


def tokens(text: str, *, elisions: bool = True, flowing: bool = False) -> list[Token]:
    r"""Read a text into tokens.

    Args:
        text: Any text: what PyTorch, NumPy or Python printed, or anything else.
        elisions: Whether ``⋮`` alone on a line stands for rows that are not
            shown; if not, it is a word.
        flowing: Whether line breaks and repeated spaces say nothing anywhere.

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
    with _collector_at_rest():
        all_tokens = list(_read(plain(text), elisions=elisions))
        partners = _partners(all_tokens)
        relevant = _without_layout(all_tokens, partners, loose_gaps(all_tokens, partners))
        return _flowing(relevant) if flowing else list(relevant)


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


def _read(text: str, *, elisions: bool) -> Iterator[Token]:
    """Yield all tokens with the space before them, and a line break before each further line."""
    last = 0
    broken = False
    has_token = False
    for match in _PATTERN.finditer(text):
        group = match.lastindex or 0
        end = match.end()
        if group == _LINE:
            broken, last = has_token, end
            continue
        piece = match[group]
        start = end - len(piece)
        kind = _KINDS[group]
        if group == _NUMBER and piece.lstrip("+-").isdecimal():
            kind = _INTEGER
        elif group == _GRAD:
            piece = _COUNTER.sub(">", piece)
        elif group == _ELISION and (
            not elisions or text[text.rfind("\n", 0, start) + 1 : start].strip()
        ):
            kind = TokenKind.MARK if elisions else TokenKind.WORD
        if broken:
            yield _new((_BREAK, "\n", start, start, ""))
        yield _new((kind, piece, start, end, text[last:start]))
        last = end
        broken, has_token = False, True


def _without_layout(
    all_tokens: Sequence[Token], partners: Mapping[int, int], loose: Collection[int]
) -> Iterator[Token]:
    """Take out what makes no difference: layout that says nothing, and a tensor's device."""
    in_tensor: list[bool] = []  # for each open bracket, whether it is that of `tensor(`
    before = ""
    broken = False
    head = _head(all_tokens, loose)
    for place, token in enumerate(all_tokens):
        kind, text, start, end, gap = token
        if kind is _BREAK and place in loose:
            broken = True
            continue
        if text.startswith(",") and len(text) > 1:
            if in_tensor and in_tensor[-1]:
                continue
            text = _SPACE.sub(" ", text) if place in loose else text
        if place in loose:
            tight = before in _OPENING or kind is TokenKind.CLOSE or text.startswith(",")
            gap = " " if before and (gap or broken) and not tight else ""
        elif place <= head:
            gap = ""
        broken = False
        if place in partners:
            if kind is TokenKind.OPEN:
                in_tensor.append(text == "(" and before == "tensor")
            else:
                in_tensor.pop()
        yield _new((kind, text, start, end, gap))
        before = text


def _flowing(relevant: Iterable[Token]) -> list[Token]:
    """Make a space of each line break and of any space."""
    flow: list[Token] = []
    broken = False
    for token in relevant:
        if token.kind is not _BREAK:
            gap = " " if flow and (token.gap or broken) else ""
            flow.append(token._replace(gap=gap))
        broken = token.kind is _BREAK
    return flow


def _head(all_tokens: Sequence[Token], loose: Collection[int]) -> int:
    """Return 0 if a text begins with an array, whose place on its line says nothing; or -1."""
    names = (
        place for place, token in enumerate(all_tokens) if not (token.is_word or token.text == ".")
    )
    first = next(names, -1)
    return (
        0 if first >= 0 and all_tokens[first].kind is TokenKind.OPEN and first + 1 in loose else -1
    )


def _partners(all_tokens: Sequence[Token]) -> dict[int, int]:
    """Return for each bracket that has a partner, properly nested, the place of that."""
    stack: list[tuple[str, int]] = []
    partners: dict[int, int] = {}
    for place, (kind, text, _, _, _) in enumerate(all_tokens):
        if kind is _OPENS:
            stack.append((text, place))
        elif kind is _CLOSES and stack and stack[-1][0] == _PAIRS[text]:
            start = stack.pop()[1]
            partners[place], partners[start] = start, place
    return partners


def groups(all_tokens: Sequence[Token]) -> list[int]:
    """Number the array or list that each token stands in; -1 outside any.

    That is the outermost square bracket around it within the innermost call.

    Examples:
        >>> groups(tokens("a [1, [2]] b [3]"))
        [-1, 0, 0, 0, 0, 0, 0, 0, -1, 1, 1, 1]

    """
    matched = _partners(all_tokens)
    numbers: list[int] = []
    around = [-1]
    count = 0
    for position, token in enumerate(all_tokens):
        opens = position in matched and token.kind is TokenKind.OPEN
        if opens:
            new = token.text == "[" and around[-1] < 0
            around.append(count if new else around[-1] if token.text == "[" else -1)
            count += new
        numbers.append(around[-1])
        if position in matched and not opens:
            around.pop()
    return numbers


def indices(all_tokens: Sequence[Token], positions: Collection[int]) -> dict[int, tuple[int, ...]]:
    """Return where each of some tokens stands in the brackets around it, counted from 0.

    Examples:
        >>> read = tokens("tensor([[0.1, 0.2], [0.3, 0.4]])")
        >>> indices(read, {[token.text for token in read].index("0.4")})
        {12: (1, 1)}

    """
    if not positions:
        return {}
    matched = _partners(all_tokens)
    places: dict[int, tuple[int, ...]] = {}
    path: list[int] = []
    fresh: list[bool] = []
    for here, token in enumerate(all_tokens[: max(positions) + 1]):
        square = here in matched and token.text in "[]"
        if square and token.kind is TokenKind.CLOSE:
            path.pop()
            fresh.pop()
        else:
            if path and token.kind is not TokenKind.LINE:
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
    elif fresh[-1] or token.gap:
        path[-1] += 1
        fresh[-1] = False
