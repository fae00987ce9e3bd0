"""What a build does while its pages wait for torch: it compiles the templates of its pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jinja2 import TemplateError
from sphinx.builders.html import StandaloneHTMLBuilder

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["compile_templates"]

_NAME = re.compile(r"[\w./-]+\.html")


def compile_templates(app: Sphinx) -> list[str]:
    """Compile what an HTML page is written with, and return the names.

    They would be compiled for the first page that is written: this takes nothing away and adds
    nothing but the few that a theme names and does not use.
    """
    builder = app.builder
    if not isinstance(builder, StandaloneHTMLBuilder):
        return []
    environment = getattr(builder.templates, "environment", None)
    if environment is None:  # of another template engine
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
