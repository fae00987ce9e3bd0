"""Read the text of an output into tokens: any text, nothing evaluated, nothing raised.

What makes no difference to a reader makes no difference to the tokens: in tensors, arrays
and lists of numbers, where a line is wrapped and how a number is padded
(``sphinx_drift.compare.layout``); blank lines, space at the end of a line, terminal colours,
the zero that newer versions of PyTorch put after a ``grad_fn``, and the accelerator on which
a tensor lives. Everything else does: each digit, sign, exponent, bracket, comma, word, line
break and, between them and before them, each space.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sphinx_drift.compare.brackets import OPENING, brackets, partners
from sphinx_drift.compare.layout import loose_gaps
from sphinx_drift.compare.lexer import Token, TokenKind, plain, split

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

_SPACE = re.compile(r"\s+")


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
    all_tokens = list(split(plain(text)))
    loose = loose_gaps(all_tokens, partners(all_tokens))
    return list(_without_layout(all_tokens, loose, _accelerators(all_tokens)))


def _accelerators(all_tokens: Sequence[Token]) -> set[int]:
    """Return which tokens name the accelerator on which a tensor lives."""
    named = [place for place, token in enumerate(all_tokens) if token.is_device]
    pairs = brackets(all_tokens) if named else []
    return {place for place in named if (pair := pairs[place]) and pair.name == "tensor"}


def _without_layout(
    all_tokens: Sequence[Token], loose: Collection[int], dropped: Collection[int]
) -> Iterator[Token]:
    """Drop some tokens, and the layout of the loose ones: their line breaks and padding."""
    before = ""
    for place, token in enumerate(all_tokens):
        if place in dropped or (token.is_line and place in loose):
            continue
        text, gap = token.text, token.gap
        if place in loose:
            text = _SPACE.sub(" ", text) if token.is_device else text
            is_apart = gap or all_tokens[place - 1].is_line
            is_tight = before in OPENING or token.kind is TokenKind.CLOSE or text[0] == ","
            gap = " " if is_apart and not is_tight else ""
        elif place == 0 and _begins_with_array(all_tokens, loose):
            gap = ""
        same = text == token.text and gap == token.gap
        yield token if same else token._replace(text=text, gap=gap)
        before = text


def _begins_with_array(all_tokens: Sequence[Token], loose: Collection[int]) -> bool:
    """Whether an array comes first, behind nothing but its name."""
    for place, token in enumerate(all_tokens):
        if not (token.is_word or token.text == "."):
            return token.kind is TokenKind.OPEN and place + 1 in loose
    return False
