"""What the figures of a page show, from its cells run here."""

import contextlib
import functools
import io
import tomllib
from typing import Any

import torch
from the_book import DOCS, EXTENSIONS_ON_PATH  # noqa: F401 - makes the extensions importable

import page_values
from figures.values import WORDS, Values
from sphinx_drift.source import read_source


@functools.cache
def made_by(page: str) -> Values:
    """Run a page's cells, and return what its figures show, by its names."""
    wanted = tomllib.loads((DOCS / page_values.DATA).read_text("utf-8")).get(page, {})
    file = DOCS / f"{page}.md"
    loaded = read_source.load(file, text=file.read_text("utf-8"))
    names: dict[str, Any] = {}
    made: dict[str, Any] = {}
    plain: dict[str, Any] = {"words": WORDS}
    with torch.random.fork_rng(devices=[]), contextlib.redirect_stdout(io.StringIO()):
        for cell in loaded[0].cells if loaded else ():
            with contextlib.suppress(Exception):  # some cells raise what the page announces
                exec(cell.source, names)  # noqa: S102 - the page is ours
            for name in [name for name in wanted if name not in made]:
                with contextlib.suppress(Exception):
                    made[name] = eval(wanted[name], {**made, **names})  # noqa: S307 - the same
                    plain[name] = _plain(made[name])
    torch.set_default_dtype(torch.float32)
    return Values(plain)


def _plain(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.tolist()
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    return [*map(_plain, value)] if isinstance(value, list | tuple) else value
