"""What a build does before there is a page to build: it would do the same for its first page."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from jinja2 import FileSystemBytecodeCache, TemplateError
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound
from sphinx.builders.html import StandaloneHTMLBuilder

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def warm_up(app: Sphinx) -> None:
    """Load and compile what pages are highlighted, checked and written with."""
    keep_templates(app)
    compile_templates(app)
    for language in ("ipython3", "python", app.config.highlight_language):
        with suppress(ClassNotFound):
            get_lexer_by_name(language)
    if "nbformat" in sys.modules:
        import nbformat  # noqa: PLC0415 - a book without notebooks does not need it

        nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]  # compiles what validates it
    for name in ("importlib.metadata", "importlib_metadata"):
        if name in sys.modules:
            remember_installed(sys.modules[name])


_NAME = re.compile(r"[\w./-]+\.html")


def _environment(app: Sphinx) -> Any:
    """Return the environment of an HTML builder's templates; none of another template engine."""
    if not isinstance(app.builder, StandaloneHTMLBuilder):
        return None
    return getattr(app.builder.templates, "environment", None)


def keep_templates(app: Sphinx) -> None:
    """Have templates compiled once for all builds: they are cached by their content."""
    if environment := _environment(app):
        folder = app.doctreedir / "templates"
        folder.mkdir(exist_ok=True)
        environment.bytecode_cache = FileSystemBytecodeCache(str(folder))


def compile_templates(app: Sphinx) -> list[str]:
    """Compile what an HTML page is written with, and return the names.

    They would be compiled for the first page that is written: this takes nothing away and adds
    nothing but the few that a theme names and does not use.
    """
    builder: Any = app.builder
    environment = _environment(app)
    if environment is None:
        return []
    options = builder.theme.get_options(builder.theme_options)
    waiting = ["page.html", *_NAME.findall(" ".join(map(str, options.values())))]
    compiled: dict[str, None] = {}
    for name in waiting:
        if name in compiled:
            continue
        try:
            environment.get_template(name)
            source, _, _ = environment.loader.get_source(environment, name)
        except TemplateError:
            continue  # it is named, and not there, or no template: said if a page needs it
        compiled[name] = None
        waiting += _NAME.findall(source)
    return list(compiled)


def remember_installed(module: Any) -> None:
    """Look up once what is installed: plugins are asked for ten times in a build."""
    stock = module.distributions
    known = [Distribution(each) for each in stock()]
    module.distributions = lambda **which: stock(**which) if which else iter(known)


class Distribution:
    """An installed distribution that has read its entry points."""

    def __init__(self, plain: Any) -> None:
        self._plain = plain
        self.entry_points = plain.entry_points

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plain, name)
