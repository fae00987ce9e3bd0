"""The numbers of the figures: made by a page's cells, or measured before.

What a page makes comes from its one run.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from page_values import values_of
from quantities import declared
from quantities.matching import MismatchError, arrays, part_of

if TYPE_CHECKING:
    from sphinx.environment import BuildEnvironment

    from quantities.declared import DeclaredPage

Matrix = Sequence[Sequence[float]]
WORDS = ("Your", "journey", "starts", "with", "one", "step")
BENCHMARK = Path(__file__).resolve().parents[2] / "_data" / "attention-benchmark.json"


class Values(dict[str, Any]):
    """Nested lists and dicts of numbers by their names."""

    def at(self, path: str) -> Any:
        """Return what is at a path such as `keys.1` (counted from 0)."""
        value: Any = self
        for step in path.split("."):
            value = value[step] if isinstance(value, dict) else value[int(step)]
        return value

    def number(self, path: str) -> float:
        """Return the number at a path such as `keys.1.0`.

        Raises:
            TypeError: If something else than a number is there.

        """
        value = self.at(path)
        if not isinstance(value, int | float):
            raise TypeError(f"{path} is no number")
        return float(value)


def page_values(env: BuildEnvironment, docname: str) -> Values:
    """Return what a page's cells made, by the names in its figures; nothing if it wasn't run."""
    made = values_of(env, docname)
    page = declared.read(Path(env.srcdir)).get(docname)
    return named_values(made, page) if made else Values()


def named_values(made: Mapping[str, Any], page: DeclaredPage | None) -> Values:
    """Return quantities of a page, parts of them and what it keeps, by the names in its figures.

    Args:
        made: The values of a page by their expressions.
        page: What is declared of it.

    """
    values: dict[str, Any] = {"words": WORDS}
    if page:
        with contextlib.suppress(MismatchError):  # the marking of numbers says so
            quantities = arrays(page, made)
            for root, expression in page.figures.items():
                part = part_of(expression, quantities)
                values[root] = quantities[part.quantity].flatten()[part.places].tolist()
        values |= {name: made[each] for name, each in page.keep.items() if each in made}
    return Values(**values)


def no_values() -> Values:
    """Return the words alone, for figures that show no number."""
    return Values(words=WORDS)


def benchmark() -> Values:
    """Return the recorded times in ms and memory in MB: `one-call.8192.time`."""
    record = json.loads(BENCHMARK.read_text("utf-8"))
    forms: dict[str, dict[str, dict[str, float]]] = {}
    for row in record["results"]:
        measured = {"time": row["seconds"] * 1e3, "memory": row["peak_bytes"] * 1e-6}
        forms.setdefault(row["form"], {})[str(row["T"])] = measured
    return Values(**forms)
