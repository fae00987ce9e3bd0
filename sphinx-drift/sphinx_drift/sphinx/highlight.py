"""Highlights code as Sphinx does, in less time: formatters are kept.

Sphinx makes a formatter for each block, which takes most of the time of a short one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.highlighting import PygmentsBridge

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class Highlighter(PygmentsBridge):
    """Stands for a builder's highlighter, and gives what that would give."""

    def __init__(self, plain: PygmentsBridge) -> None:
        self.__dict__.update(plain.__dict__)
        self._formatters: dict[str, Any] = {}

    def get_formatter(self, **kwargs: Any) -> Any:
        """Return the formatter for some options."""
        name = repr(sorted(kwargs.items()))
        if name not in self._formatters:
            self._formatters[name] = super().get_formatter(**kwargs)
        return self._formatters[name]


def keep_formatters(app: Sphinx) -> None:
    """Have a builder of HTML highlight in less time."""
    builder = app.builder
    if isinstance(builder, StandaloneHTMLBuilder) and type(builder.highlighter) is PygmentsBridge:
        builder.highlighter = Highlighter(builder.highlighter)
