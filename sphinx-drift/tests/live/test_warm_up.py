"""What a live build prepares before there is a page to build."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from jinja2 import DictLoader, Environment
from sphinx.builders.html import StandaloneHTMLBuilder

from sphinx_drift.live.warm_up import compile_templates


def app(**templates: str) -> Any:
    environment = Environment(loader=DictLoader({f"{k}.html": v for k, v in templates.items()}))  # noqa: S701 - nothing is rendered
    theme = SimpleNamespace(get_options=lambda _: {"start": "side.html, gone.html", "deep": 2})
    builder: Any = StandaloneHTMLBuilder.__new__(StandaloneHTMLBuilder)
    builder.templates = SimpleNamespace(environment=environment)
    builder.theme, builder.theme_options = theme, {}
    return SimpleNamespace(builder=builder)


def test_what_a_page_needs_is_compiled() -> None:
    page = '{% include "part.html" %}{% extends "layout.html" %}{% include name %}'
    application = app(page=page, part="", layout='{% include "page.html" %}', side="", unused="")
    names = compile_templates(application)
    assert names == ["page.html", "side.html", "part.html", "layout.html"]
    cached = {name for _, name in application.builder.templates.environment.cache}
    assert cached == set(names)


def test_a_template_that_is_wrong_is_left_to_the_page_that_needs_it() -> None:
    assert compile_templates(app(page='{% include "part.html" %}', part="{% if %}")) == [
        "page.html"
    ]


def test_builders_without_templates_have_nothing_to_do() -> None:
    assert compile_templates(SimpleNamespace(builder=SimpleNamespace())) == []  # type: ignore[arg-type]
