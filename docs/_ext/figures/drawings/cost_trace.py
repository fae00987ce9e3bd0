"""What the recorded benchmark of two ways to compute attention says."""

from __future__ import annotations

import functools
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[3] / "_data" / "attention-benchmark.json"
FORMS = ("written-out", "one-call")
SHOWN = {"time": ("seconds", 1e3, "ms"), "memory": ("peak_bytes", 1e-6, "MB")}


@dataclass(frozen=True)
class CostTrace:
    """`rows` holds what was measured, by form and length."""

    machine: dict[str, Any]
    setup: dict[str, Any]
    measured: str
    lengths: tuple[int, ...]
    rows: dict[tuple[str, int], dict[str, Any]]

    def number(self, path: str) -> float:
        """Return milliseconds or megabytes at a path such as `one-call.8192.time`."""
        form, length, what = path.split(".")
        key, unit, _ = SHOWN[what]
        return float(self.rows[form, int(length)][key]) * unit


def cost_trace() -> CostTrace:
    """Read the record as it stands now."""
    return _read(FILE.read_text(encoding="utf-8"))


@functools.lru_cache(maxsize=1)
def _read(text: str) -> CostTrace:
    record = json.loads(text)
    rows = {(row["form"], row["T"]): row for row in record["results"]}
    lengths = tuple(sorted({length for _, length in rows}))
    return CostTrace(record["machine"], record["setup"], record["measured"], lengths, rows)


def rounded(number: float) -> str:
    """Write a number with three significant digits, and never with an exponent."""
    digits = 2 - math.floor(math.log10(abs(number))) if number else 0
    return f"{round(number, digits):.{max(digits, 0)}f}"
