"""Pairs of brackets among the tokens of an output: which one a token is in, and where in it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sphinx_drift.compare.lexer import Token

PAIRS = {")": "(", "]": "[", "}": "{"}
"""The opening bracket for each closing one."""
OPENING = frozenset(PAIRS.values())

_DEEPEST = 64
"""No array of NumPy has more dimensions: what is deeper in brackets has no index."""


@dataclass(slots=True, eq=False)
class Bracket:
    """A pair of brackets, properly nested."""

    start: int
    """Which token opens it."""
    end: int
    """Which token closes it."""
    name: str
    """What is called, if it holds the arguments of a call."""
    parent: "Bracket | None"
    """The pair around it."""
    array: "Bracket | None" = None
    """The outermost square one around it within the innermost call, if it is square."""


def partners(tokens: Sequence[Token]) -> dict[int, int]:
    """Return for each bracket that has a partner, properly nested, the position of that partner."""
    unclosed: list[tuple[str, int]] = []
    matched: dict[int, int] = {}
    for position, token in enumerate(tokens):
        if token.text in OPENING:
            unclosed.append((token.text, position))
        elif token.text in PAIRS and unclosed and unclosed[-1][0] == PAIRS[token.text]:
            start = unclosed.pop()[1]
            matched[position], matched[start] = start, position
    return matched


def brackets(tokens: Sequence[Token]) -> list[Bracket | None]:
    """Return for each token the innermost pair that it is in; a bracket is in its pair."""
    ends = partners(tokens)
    innermost: list[Bracket | None] = []
    current: Bracket | None = None
    for position, token in enumerate(tokens):
        end = ends.get(position, -1)
        if end > position:
            is_call = position and token.text == "(" and tokens[position - 1].end == token.start
            name = tokens[position - 1].text if is_call else ""
            current = Bracket(position, end, name, current)
            if token.text == "[":
                current.array = (current.parent and current.parent.array) or current
        innermost.append(current)
        if current is not None and position == current.end:
            current = current.parent
    return innermost


def indices(tokens: Sequence[Token], positions: Collection[int]) -> dict[int, tuple[int, ...]]:
    """Return the index of each of some tokens in the square brackets around it, counted from 0.

    An element in more than 64 of them has none.

    Examples:
        >>> from sphinx_drift.compare.tokens import read_tokens
        >>> read = read_tokens("tensor([[0.1, 0.2], [0.3, 0.4]])")
        >>> indices(read, {[token.text for token in read].index("0.4")})
        {12: (1, 1)}

    """
    if not positions:
        return {}
    matched = partners(tokens)
    found: dict[int, tuple[int, ...]] = {}
    index: list[int] = []
    is_new_item: list[bool] = []
    for position, token in enumerate(tokens[: max(positions) + 1]):
        square = token.text if position in matched else ""
        if square == "]":
            index.pop()
            is_new_item.pop()
        elif index and token.text == ",":
            is_new_item[-1] = True
        elif index and not token.is_line and (is_new_item[-1] or token.gap):
            index[-1] += 1
            is_new_item[-1] = False
        if square == "[":
            index.append(-1)
            is_new_item.append(True)
        if position in positions and len(index) <= _DEEPEST:
            found[position] = tuple(max(item, 0) for item in index)
    return found
