"""The numbers of the figures: made by a page's cells, or measured before.

What a page makes comes from its one run.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sphinx.environment import BuildEnvironment

from page_values import values_of

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
    return Values({"words": WORDS, **made}) if made else Values()


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
