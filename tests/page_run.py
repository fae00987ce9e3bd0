"""What the figures of a page show, from its cells run here."""

from __future__ import annotations

import contextlib
import functools
import io
from typing import Any

import torch
from the_book import DOCS, EXTENSIONS_ON_PATH  # noqa: F401 - makes the extensions importable

from figures.values import Values, named_values
from quantities import declared
from sphinx_drift.source import read_source


@functools.cache
def made_by(page: str) -> Values:
    """Run a page's cells, and return what its figures show, by its names."""
    of_page = declared.read(DOCS).get(page)
    wanted = {*of_page.bind.values(), *of_page.keep.values()} if of_page else set()
    file = DOCS / f"{page}.md"
    loaded = read_source.load(file, text=file.read_text("utf-8"))
    names: dict[str, Any] = {}
    made: dict[str, Any] = {}
    with torch.random.fork_rng(devices=[]), contextlib.redirect_stdout(io.StringIO()):
        for cell in loaded[0].cells if loaded else ():
            with contextlib.suppress(Exception):  # some cells raise what the page announces
                exec(cell.source, names)  # noqa: S102 - the page is ours
            for expression in wanted - made.keys():
                with contextlib.suppress(Exception):
                    made[expression] = _plain(eval(expression, names))  # noqa: S307 - the same
    torch.set_default_dtype(torch.float32)
    return named_values(made, of_page)


def _plain(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.tolist()
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    return [*map(_plain, value)] if isinstance(value, list | tuple) else value
