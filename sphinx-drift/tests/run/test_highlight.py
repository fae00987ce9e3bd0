"""Code is highlighted as Sphinx highlights it, with formatters kept."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.highlighting import PygmentsBridge

from sphinx_drift.sphinx.highlight import Highlighter, keep_formatters

CELL = "import torch\n\ntorch.rand(2, 3)  # (2, 3)"


@pytest.fixture
def plain() -> PygmentsBridge:
    return PygmentsBridge("html", "sphinx")


@pytest.fixture
def app(plain: PygmentsBridge) -> Any:
    builder: Any = StandaloneHTMLBuilder.__new__(StandaloneHTMLBuilder)
    builder.highlighter = plain
    application = SimpleNamespace(builder=builder)
    keep_formatters(application)  # type: ignore[arg-type]
    return application


def page(highlighter: PygmentsBridge, code: str, **options: Any) -> str:
    """Highlight a cell as the writer of a page does."""
    settings = {"opts": {}, "linenos": False, "force": False, **options}
    return highlighter.highlight_block(code, "ipython3", location="a place", **settings)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"linenos": "inline"},
        {"linenos": "inline", "linenostart": 7},
        {"linenos": "table"},
        {"hl_lines": [1, 3]},
        {"opts": {"stripnl": False}},
        {"force": True},
    ],
)
def test_what_is_shown_is_what_sphinx_shows(
    app: Any, plain: PygmentsBridge, options: dict[str, Any]
) -> None:
    for _ in range(2):
        for code in (CELL, "\n\nx = 1\n", "tensor([[1.]])"):
            assert page(app.builder.highlighter, code, **options) == page(plain, code, **options)


def test_a_formatter_is_made_once_for_the_same_options(app: Any) -> None:
    highlighter = app.builder.highlighter
    assert highlighter.get_formatter(linenos=False) is highlighter.get_formatter(linenos=False)
    assert highlighter.get_formatter(linenos="inline") is not highlighter.get_formatter(
        linenos=False
    )


def test_another_highlighter_is_left_alone() -> None:
    class Own(PygmentsBridge):
        pass

    builder: Any = StandaloneHTMLBuilder.__new__(StandaloneHTMLBuilder)
    builder.highlighter = own = Own()
    app: Any = SimpleNamespace(builder=builder)
    keep_formatters(app)
    assert builder.highlighter is own
    keep_formatters(SimpleNamespace(builder=object()))  # type: ignore[arg-type]


def test_it_is_put_before_the_builders_own_once(app: Any) -> None:
    first = app.builder.highlighter
    assert type(first) is Highlighter
    keep_formatters(app)
    assert app.builder.highlighter is first
