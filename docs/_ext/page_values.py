"""The exact values that a page's own cells made, as the one run of the page reports them.

`_data/quantities.toml` says which: what it binds, and what it keeps for figures. Each is kept as it
is after the first cell that makes it.
"""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

from page_probe import keep_page_values, page_values
from sphinx_drift import api

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment


def values_of(env: BuildEnvironment, docname: str) -> Mapping[str, Any]:
    """Return the values of a page by their expressions: numbers, and lists and dicts of them."""
    return read(text_of(env, docname))


def text_of(env: BuildEnvironment, docname: str) -> str:
    """Return the values of a page as its kernel reported them."""
    return str(api.probed(env, docname).get(page_values.__name__, "{}"))


@functools.lru_cache(maxsize=4)
def read(text: str) -> Mapping[str, Any]:
    """Read the values that a kernel reported."""
    return dict(json.loads(text))


def setup(app: Sphinx) -> dict[str, Any]:
    api.add_probe(app, before=keep_page_values, after=page_values)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
