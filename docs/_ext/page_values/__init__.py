"""The exact values that a page's own cells made, as the one run of the page reports them.

`_data/figures.toml` names them.
"""

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from page_values.probe import keep_page_values, page_values
from sphinx_drift import api

DATA = "_data/figures.toml"


def values_of(env: BuildEnvironment, docname: str) -> Mapping[str, Any]:
    """Return the values of a page by their names: numbers, and lists and dicts of them."""
    return read(str(api.probed(env, docname).get(page_values.__name__, "{}"))).get(docname, {})


@functools.lru_cache(maxsize=4)
def read(text: str) -> Mapping[str, Mapping[str, Any]]:
    """Read the values that a kernel reported, by the pages of its folder."""
    return dict(json.loads(text))


def data_file(env: BuildEnvironment) -> Path:
    """Return the file that names the values."""
    return env.srcdir / DATA


def setup(app: Sphinx) -> dict[str, Any]:
    api.add_probe(app, before=keep_page_values, after=page_values)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
