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

from sphinx_drift.compare.layout import without_layout
from sphinx_drift.compare.lexer import plain, split

if TYPE_CHECKING:
    from sphinx_drift.compare.lexer import Token

_PIECE = re.compile(
    r"(?P<open>(?P<tensor>\btensor)?[(\[])|(?P<close>[)\]])"
    r"|,\s*device='(?:cuda|mps|xpu|hpu|npu)(?::\d+)?'(?=[,)])"
)
"""A bracket, or an accelerator among the arguments of a call."""


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
    return list(without_layout(list(split(_on_cpu(plain(text))))))


def _on_cpu(text: str) -> str:
    """Put space, which has no meaning there, in the place of each accelerator of a tensor."""
    open_brackets: list[bool] = []

    def replaced(piece: re.Match[str]) -> str:
        if piece["open"]:
            open_brackets.append(bool(piece["tensor"]))
        elif piece["close"]:
            del open_brackets[-1:]
        elif open_brackets[-1:] == [True]:
            return " " * len(piece[0])
        return piece[0]

    return _PIECE.sub(replaced, text) if "device='" in text else text
