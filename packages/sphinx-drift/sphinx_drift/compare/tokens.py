"""Read the text of an output into tokens: any text, nothing evaluated, nothing raised.

What makes no difference to a reader makes no difference to the tokens: in tensors, arrays
and lists of numbers, where a line is wrapped and how a number is padded
(``sphinx_drift.compare.layout``); blank lines, space at the end of a line, terminal colors,
and the accelerator on which a tensor lives. Everything else does: each digit, sign, exponent,
bracket, comma, word, line break and, between them and before them, each space.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sphinx_drift.compare.layout import without_layout
from sphinx_drift.compare.lexer import plain, split

if TYPE_CHECKING:
    from sphinx_drift.compare.lexer import Token

_TENSOR = re.compile(r"\btensor\((?:[^()]|\([^()]*+\))*+\)")
"""A tensor, which may have others in it, as a sparse one has."""
_ACCELERATOR = re.compile(r",\s*device='(?:cuda|mps|xpu|hpu|npu)(?::\d+)?'(?=[,)])")


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
    return _TENSOR.sub(lambda tensor: _ACCELERATOR.sub(_blank, tensor[0]), text)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
