"""Find the spaces that moved because an accepted number is wider or narrower than documented.

A wider number takes the space beside it. If its column has to become wider, the other lines of
that column get more space, and what was aligned with it, or with what follows it on its line, is
aligned with it still. Any other space that moved says something else.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sphinx_drift.compare.tokens import Token

_BLANK_LINE = re.compile(r"\n[^\S\n]*(?=\n)")
_BETWEEN_CELLS = 2
"""Cells of a table are separated by at least so many spaces."""

Pair = tuple[int, int]
"""The places of a documented token and of the executed one."""
_Edge = tuple[str, int, int]
"""Which edge of a token, and the columns in which it stands in both texts."""


@dataclass(frozen=True)
class Layout:
    """A text and its tokens: the line and column of each."""

    text: str
    tokens: Sequence[Token]

    @cached_property
    def _lines(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def line(self, position: int) -> int:
        """Return where the line of a position begins."""
        return self._lines[bisect(self._lines, position) - 1]

    def column(self, position: int) -> int:
        """Return how many characters stand before a position on its line."""
        return position - self.line(position)


def moved_by_numbers(
    documented: Layout, executed: Layout, numbers: Iterable[Pair], spaces: Iterable[Pair]
) -> set[Pair]:
    """Return the tokens that moved because of numbers of another width.

    Args:
        documented: The documented text.
        executed: The executed text.
        numbers: The numbers that differ and are accepted or waived.
        spaces: The tokens that have more or less space before them.

    """
    texts = _Texts(documented, executed)
    cells = dict.fromkeys(map(texts.cell, numbers))
    resized = [cell for cell in cells if texts.widening(cell)]
    explained = {pair for cell in resized for pair in texts.beside(cell)}
    most = max((abs(texts.widening(cell)) for cell in resized), default=0)
    anchors: dict[_Edge, set[tuple[int, int]]] = defaultdict(set)
    # What follows the first such cell on its line follows the others too, or is one of them.
    first_cells = {texts.block_and_line(cell[0]): cell for cell in reversed(resized)}
    for place, cell in first_cells.items():
        for edge in texts.edges_from(cell):
            anchors[edge].add(place)
    for pair in spaces:
        block, line = texts.block_and_line(pair)
        places = (place for edge in texts.edges_of_cell(pair) for place in anchors.get(edge, ()))
        is_aligned = any(other == block and at != line for other, at in places)
        if is_aligned and abs(texts.more_space(pair)) <= most:
            explained.add(pair)
    return explained


class _Texts:
    """Both texts, read by pairs of tokens."""

    def __init__(self, documented: Layout, executed: Layout) -> None:
        self._left, self._right = documented, executed
        self._blank_lines = [match.start() for match in _BLANK_LINE.finditer(documented.text)]

    def more_space(self, pair: Pair) -> int:
        """Return how many more spaces than documented there are before a token."""
        left, right = self._tokens(pair)
        return len(right.gap) - len(left.gap)

    def block_and_line(self, pair: Pair) -> tuple[int, int]:
        """Return the block of lines without a blank one that a token is in, and its own line."""
        start = self._left.tokens[pair[0]].start
        return bisect(self._blank_lines, start), self._left.line(start)

    def cell(self, number: Pair) -> tuple[Pair, Pair]:
        """Return the first and the last token that adjoin a number without a space."""
        first = last = number
        while min(first) and self._is_tight(first):
            first = (first[0] - 1, first[1] - 1)
        for after in self._after(last):
            if not self._is_tight(after):
                break
            last = after
        return first, last

    def widening(self, cell: tuple[Pair, Pair]) -> int:
        """Return by how many characters a cell is wider than documented."""
        (left, right), (left_end, right_end) = map(self._tokens, cell)
        return (right_end.end - right.start) - (left_end.end - left.start)

    def beside(self, cell: tuple[Pair, Pair]) -> Iterator[Pair]:
        """Yield a cell and what follows it, if the space before them is what the cell needs."""
        first, last = cell
        pairs = [first, *islice(self._after(last), 1)]
        changes = [self.more_space(pair) for pair in pairs]
        least, most = sorted((-self.widening(cell), 0))
        if all(least <= change <= most for change in (*changes, sum(changes))):
            yield from pairs

    def edges_from(self, cell: tuple[Pair, Pair]) -> Iterator[_Edge]:
        """Yield the right edge of a cell, and both edges of what follows it on its line."""
        yield self._edge("end", cell[1])
        for pair in self._after(cell[1]):
            yield self._edge("start", pair)
            yield self._edge("end", pair)

    def edges_of_cell(self, pair: Pair) -> Iterator[_Edge]:
        """Yield both edges of the cell of a table that begins with a token."""
        last = pair
        for last in takewhile(self._is_in_cell, self._after(pair)):  # noqa: B007 - the last one
            pass
        yield self._edge("start", pair)
        yield self._edge("end", last)

    def _tokens(self, pair: Pair) -> tuple[Token, Token]:
        return self._left.tokens[pair[0]], self._right.tokens[pair[1]]

    def _after(self, pair: Pair) -> Iterator[Pair]:
        """Yield what follows a token on its line."""
        left, right = pair
        lengths = len(self._left.tokens) - left, len(self._right.tokens) - right
        for by in range(1, min(lengths)):
            after = (left + by, right + by)
            if any(token.is_line for token in self._tokens(after)):
                return
            yield after

    def _is_tight(self, pair: Pair) -> bool:
        return not any(token.gap or token.is_line for token in self._tokens(pair))

    def _is_in_cell(self, pair: Pair) -> bool:
        return all(len(token.gap) < _BETWEEN_CELLS for token in self._tokens(pair))

    def _edge(self, name: str, pair: Pair) -> _Edge:
        left, right = self._tokens(pair)
        columns = (
            self._left.column(getattr(left, name)),
            self._right.column(getattr(right, name)),
        )
        return name, *columns
