"""Read the text of an output into tokens, without what makes no difference to a reader.

Left out are blank lines, space at the end of a line, terminal colors, the accelerator on which
a tensor lives, and in tensors, arrays and lists of numbers the line breaks and the padding,
which depend on the width of a terminal and of the widest number. Everything else counts: each
digit, sign, exponent, bracket, comma, word, line break and, between them and before them, each
space. In a table, in indented text, in a formula that takes two lines or between quotation
marks a space says what belongs to what.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from sphinx_drift.compare.brackets import OPENING, partners
from sphinx_drift.compare.lexer import Token, TokenKind, plain, split

_TENSOR = re.compile(r"\btensor\((?:[^()]|\([^()]*+\))*+\)")
"""A tensor, which may have others in it, as a sparse one has."""
_ACCELERATOR = re.compile(r",\s*device='(?:cuda|mps|xpu|hpu|npu)(?::\d+)?'(?=[,)])")


def read_tokens(text: str) -> list[Token]:
    r"""Read a text into tokens: any text, nothing evaluated, nothing raised.

    Args:
        text: What PyTorch, NumPy or Python printed, or anything else.

    Returns:
        The tokens in order. Two texts are the same output if and only if the ``key`` of
        their tokens are the same.

    Examples:
        >>> [token.text for token in read_tokens("tensor([ 0.5, -1.])")]
        ['tensor', '(', '[', '0.5', ',', '-1.', ']', ')']
        >>> one, other = "tensor([0.5, 2.0])", "tensor([0.5,\n        2.0], device='cuda:0')"
        >>> [t.key for t in read_tokens(one)] == [t.key for t in read_tokens(other)]
        True

    """
    on_cpu = _TENSOR.sub(lambda tensor: _ACCELERATOR.sub(_blank, tensor[0]), plain(text))
    return list(_without_layout(list(split(on_cpu))))


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


# Layout ------------------------------------------------------------------------------

_CONSTANTS = frozenset({"True", "False", "None", "NaN", "NaT"})
_QUOTES = frozenset("'\"")
_NAME = r"n(?:\.n)*"
_VALUE = rf"(?:v|b|n?q|{_NAME}c)"
"""A number or a constant, what is in brackets or in quotation marks, a call."""
_KEY = rf"(?:{_NAME}=|(?:{_VALUE}|{_NAME}):)"
_DATA = re.compile(rf"(?=.*[vqbc]|\Z)(?:{_KEY}*(?:{_VALUE}[vqb]*|{_NAME})(?:,|\Z))*")
"""The spelling of data: values with names or keys between commas, or values between spaces.

What brackets hold is spelled with one letter for each token, ``[1, 'a']`` as ``v,q`` and
``(dtype=torch.int8)`` as ``n=n.n``. It looks ahead for a value first: names alone may be words.

====== ==========================================
``v``  a number or a constant
``q``  a text in quotation marks
``n``  a name
``b``  a pair of brackets that holds data
``c``  the same after a name: a call's arguments
``?``  anything else, which makes it no data
====== ==========================================

The signs ``. , =`` spell themselves, and ``:`` does in braces.
"""


def _without_layout(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield tokens without the line breaks and the padding that mean nothing."""
    data, quoted = _data_in(tokens, partners(tokens))
    end = -1  # of the brackets of data around a token
    before = ""
    for position, token in enumerate(tokens):
        gap = token.gap
        if position <= end and position not in quoted:
            if token.is_line:
                continue
            is_apart = gap or tokens[position - 1].is_line
            is_tight = before in OPENING or token.kind is TokenKind.CLOSE or token.text == ","
            gap = " " if is_apart and not is_tight else ""
        yield token if gap == token.gap else token._replace(gap=gap)
        before = token.text
        end = max(end, data.get(position, -1))


def _data_in(tokens: Sequence[Token], pairs: Mapping[int, int]) -> tuple[dict[int, int], set[int]]:
    """Return which token closes each bracket of data, and which tokens a quotation holds.

    A pair is spelled when it closes, and is then one letter of the spelling around it.
    """
    data: dict[int, int] = {}
    quoted: set[int] = set()
    unclosed: list[tuple[int, list[str]]] = []
    """Which token opens each pair, and the spelling of what it holds so far."""
    for position, token in enumerate(tokens):
        partner = pairs.get(position, -1)
        if position in quoted or token.is_line:
            continue
        if partner > position:
            unclosed.append((position, []))
        elif unclosed and partner == unclosed[-1][0]:
            start, spelling = unclosed.pop()
            letter = _letter_of_pair(tokens, start, "".join(spelling))
            if letter != "?":
                data[start] = position
            if unclosed:
                unclosed[-1][1].append(letter)
        elif unclosed:
            start, spelling = unclosed[-1]
            end = _closing_quote(tokens, position, pairs[start]) if token.text in _QUOTES else -1
            quoted.update(range(position + 1, end + 1))
            spelling.append("q" if end > 0 else _letter(token, tokens[start].text))
    return data, quoted


def _letter_of_pair(tokens: Sequence[Token], start: int, spelling: str) -> str:
    """Return the letter for a pair of brackets, by what it holds."""
    # Without commas, lines that begin below the bracket are the rows of a custom `repr`.
    has_rows = "," not in spelling and tokens[start + 1].is_line
    if has_rows or not _DATA.fullmatch(spelling):
        return "?"
    is_call = start > 0 and tokens[start - 1].is_word and not tokens[start].gap
    return "c" if is_call else "b"


def _letter(token: Token, bracket: str) -> str:
    """Return the letter for a token that is no bracket; no spelling has the ``?``."""
    text = token.text
    if token.is_number or text in _CONSTANTS or text.startswith(("...", "grad_fn=<")):
        return "v"
    if token.is_word:
        return "n"
    return text if text in (".", ",", "=") or (text == ":" and bracket == "{") else "?"


def _closing_quote(tokens: Sequence[Token], first: int, end: int) -> int:
    """Return the position of the mark that closes a quotation before ``end``; -1 if none does."""
    escaped = False
    for position in range(first + 1, end):
        if tokens[position].text == tokens[first].text and not escaped:
            return position
        is_next = tokens[position].end == tokens[position + 1].start
        escaped = tokens[position].text == "\\" and not escaped and is_next
    return -1
