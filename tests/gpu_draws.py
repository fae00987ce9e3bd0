"""What a GPU draws, as the page "My numbers differ" works it out: its own cells, run."""

from __future__ import annotations

import contextlib
import io
from functools import cache
from typing import Any

from the_book import DOCS

from sphinx_drift.source.read_source import load

PAGE = DOCS / "reference" / "my-numbers-differ.md"


@cache
def names() -> dict[str, Any]:
    """Run the page as far as the cell that defines `gpu_rand`, and return what it has defined."""
    loaded = load(PAGE)
    assert loaded is not None
    defined: dict[str, Any] = {}
    for cell in loaded[0].cells:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(cell.source, defined)  # noqa: S102 - the book's own code
        if "gpu_rand" in defined:
            return defined
    raise AssertionError(f"no cell of {PAGE} defines gpu_rand")
