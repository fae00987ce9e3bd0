"""Finds where on its page something is: docutils miscounts lines, MyST-NB codes cells in them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sphinx.environment import BuildEnvironment

from sphinx_drift.model import below
from sphinx_drift.source.markdown import lines_of

_LINES_OF_CELL = 10_000
"""How far apart MyST-NB numbers the lines of a notebook's cells, from the first on."""


def position(env: BuildEnvironment, line: int | None) -> dict[str, Any]:
    """Return where an outcome is by a line that docutils has for it, on the page being read."""
    cells = env.metadata[env.docname].get("drift_cells")
    if cells is None:
        return {"line": line or 1}
    index, row = divmod(line or 1, _LINES_OF_CELL)
    known = {"where": below(sum(cell < index - 1 for cell in cells), row - 1)} if index else {}
    return {"line": 1, **known}


def _rows(env: BuildEnvironment) -> Iterator[tuple[int, str]]:
    """Yield the rows of the page being read, and their numbers."""
    page = Path(env.doc2path(env.docname)).read_text("utf-8", "replace")
    yield from enumerate(lines_of(page), start=1)


def position_of_include(env: BuildEnvironment, source: Path, line: int | None) -> dict[str, Any]:
    """Return where the page being read includes a file, for what stands on a line of that."""
    found = next((n for n, row in _rows(env) if "{include}" in row and source.name in row), 1)
    return {"line": found, "where": f"{found} (line {line or 1} of {source.name})"}


def positions(
    env: BuildEnvironment, found: Sequence[tuple[str, int | None]]
) -> Iterator[dict[str, Any]]:
    """Yield where texts of the page being read are, each given with docutils' line of it.

    They are the page's rows that have such a text, if these are as many.
    """
    count, rows = Counter(text for text, _ in found), defaultdict[str, list[int]](list)
    if found and "drift_cells" not in env.metadata[env.docname]:
        for number, row in _rows(env):
            for text in count:
                rows[text] += [number] * row.count(text)
    exact = {text: iter(rows[text]) for text in count if len(rows[text]) == count[text]}
    for text, line in found:
        yield {"line": next(exact[text])} if text in exact else position(env, line)
