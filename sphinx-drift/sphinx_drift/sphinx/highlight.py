"""Highlights code as Sphinx does, in less time: formatters are kept, and blocks done ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.highlighting import PygmentsBridge
from sphinx.util.logging import suppress_logging

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sphinx.application import Sphinx

__all__ = ["Highlighter", "highlight_cells", "keep_formatters"]

LEXER = "ipython3"
"""What the kernel of Python says that its cells are to be highlighted by."""


class Highlighter(PygmentsBridge):
    """Stands for a builder's highlighter, and gives what that would give.

    Sphinx makes a formatter for each block, which takes most of the time of a short one. Here each
    is kept. A block that was done ahead is given once: nothing is done less often than it is asked
    for, nor kept for longer.
    """

    def __init__(self, plain: PygmentsBridge) -> None:
        self.__dict__.update(plain.__dict__)
        self._formatters: dict[str, Any] = {}
        self._done: dict[str, list[str]] = {}

    def get_formatter(self, **kwargs: Any) -> Any:
        """Return the formatter for some options."""
        name = _named(kwargs)
        if name not in self._formatters:
            self._formatters[name] = super().get_formatter(**kwargs)
        return self._formatters[name]

    def highlight_ahead(self, source: str, lang: str, opts: dict[str, Any]) -> None:
        """Highlight a block, as a page will ask for it that says nothing of its own about it."""
        asked: dict[str, Any] = {"opts": opts, "force": False, "linenos": False}
        with suppress_logging() as said:
            done = super().highlight_block(source, lang, **asked)
        if not said.buffer:  # what is to be warned of is said with its place
            self._done.setdefault(_named(asked, source, lang), []).append(done)

    def highlight_block(  # type: ignore[override] # what it is asked for is passed on
        self, source: str, lang: str, *, location: Any = None, **asked: Any
    ) -> str:
        """Highlight a block."""
        if done := self._done.get(_named(asked, source, lang)):
            return done.pop()
        return super().highlight_block(source, lang, location=location, **asked)


def _named(asked: dict[str, Any], *of: str) -> str:
    return repr((of, sorted(asked.items())))


def keep_formatters(app: Sphinx) -> None:
    """Have a builder of HTML highlight in less time."""
    builder = app.builder
    if isinstance(builder, StandaloneHTMLBuilder) and type(builder.highlighter) is PygmentsBridge:
        builder.highlighter = Highlighter(builder.highlighter)


def highlight_cells(app: Sphinx, cells: Iterable[str], waiting: Callable[[], bool]) -> None:
    """Highlight the sources of cells for as long as there is something to wait for.

    Their pages would do it when they are written, and find it done.
    """
    highlighter = getattr(app.builder, "highlighter", None)
    if not isinstance(highlighter, Highlighter):
        return
    options = app.config.highlight_options.get(LEXER, {})
    for cell in cells:
        if not waiting():
            return
        highlighter.highlight_ahead(cell, LEXER, options)
