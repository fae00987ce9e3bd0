"""Split the text of an output into tokens: any text, nothing evaluated, nothing raised."""

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple


class TokenKind(Enum):
    """What a token is."""

    WORD = "word"
    INT = "integer"
    FLOAT = "float"
    PUNCTUATION = "punctuation"
    OPEN = "opening bracket"
    CLOSE = "closing bracket"
    LINE = "line break"


class Token(NamedTuple):
    """One token: its kind, its text as compared, its position, and the space before it."""

    kind: TokenKind
    text: str
    start: int
    end: int
    gap: str
    """The white space before it that counts: at most one space where layout has no meaning."""

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


DIGITS = r"(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
"""A finite number without its sign, as a regular expression."""

# A sign belongs to a number unless an operand is before it; to an imaginary part, always.
_NUMBER = rf"""
    (?<![\w.]) (?: (?<![)\]}}]) [+-] )? (?: {DIGITS} | (?:nan|inf)(?!\w) ) (?:j\b)?
    | (?<=[\d.]) [+-] (?: {DIGITS} | nan | inf ) j\b
"""
NUMBER = re.compile(_NUMBER, re.VERBOSE)
"""A number with its sign, where it stands."""
_PATTERN = re.compile(
    rf"""
    [^\S\n]*
    (?:
      (?P<number> {_NUMBER} )
    | (?P<line> \n )
    | (?P<open> [\[({{] )
    | (?P<close> [\])}}] )
    | (?P<word> grad_fn=<\w*?Backward\d*> | [^\W\d]\w* | \d\w* | \.\.\.+ )
    | (?P<punctuation> \S )
    )
    """,
    re.VERBOSE,
)
ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
"""What sets a terminal's colors or marks its links."""
_KINDS = {
    "number": TokenKind.FLOAT,
    "open": TokenKind.OPEN,
    "close": TokenKind.CLOSE,
    "word": TokenKind.WORD,
    "punctuation": TokenKind.PUNCTUATION,
}


def plain(text: str) -> str:
    """Return a text without colors, links and trailing space: positions of tokens are in it."""
    return ESCAPE.sub("", text).expandtabs().rstrip()


def is_integer(number: str) -> bool:
    """Whether a printed number has neither a point nor an exponent."""
    return number.lstrip("+-").isdecimal()


def split(text: str) -> Iterator[Token]:
    """Yield every token with the space before it, and a line break for each new line."""
    last = 0
    is_broken = has_token = False
    for match in _PATTERN.finditer(text):
        group = match.lastgroup or ""
        end = match.end()
        if group == "line":
            is_broken, last = has_token, end
            continue
        piece = match[group]
        start = end - len(piece)
        kind = _KINDS[group]
        if group == "number" and is_integer(piece):
            kind = TokenKind.INT
        if is_broken:
            yield Token(TokenKind.LINE, "\n", start, start, "")
        yield Token(kind, piece, start, end, text[last:start])
        last = end
        is_broken, has_token = False, True
