"""Train with many seeds what a page trains with one, by the cells of the page.

    python docs/_data/page_seeds.py [PAGE ...]   # writes page-seeds.json, in minutes

A page's cells are run up to its table, with other seeds. What they are is recorded too, so that a
test fails when they change and the table has not been made again.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import torch

OUT = Path(__file__).with_name("page-seeds.json")
COMPANIONS = Path(__file__).parents[1] / "companions"
CELL = re.compile(r"^```\{code-cell\} ipython3\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SEED = "torch.manual_seed(123)"
SEEDS = (123, 0, 1, 2, 3)
# For each page, what is measured by the names of its cells.
MEASURED: dict[str, dict[str, str]] = {
    "kv-cache": {
        "weight of the first token": "[weight_on(model, ids)]",
        "weight of `^`, moved": "[weight_on(model, moved, position=4)]",
        **{
            f"loss, {name}": f"[late[{name!r}]]"
            for name in (
                "window",
                "first kept, its value 0",
                "window, second kept",
                "second kept, its value 0",
            )
        },
        **{
            f"loss without `^`, {name}": f"[without_start(source, seed)[{name!r}]]"
            for name in ("all", "window")
        },
    },
}


def cells(page: str) -> list[str]:
    """Return the cells of a page that come before its table of seeds."""
    text = (COMPANIONS / f"{page}.md").read_text("utf-8")
    return CELL.findall(text.partition("page_seeds.py")[0])


def digest(page: str) -> str:
    """Return a digest of what the cells do: spaces and comments aren't in it."""
    trees = "\n".join(ast.dump(ast.parse(cell)) for cell in cells(page))
    return hashlib.sha256(trees.encode()).hexdigest()[:16]


@functools.cache
def names_of(source: str) -> dict[str, Any]:
    """Run cells, and return their names."""
    names: dict[str, Any] = {}
    exec(source, names)  # noqa: S102 - the book's own
    return names


@functools.cache
def without_start(source: str, seed: int) -> dict[str, float]:
    """Train the page's head without a first token `^`, and return the loss at letters."""
    page = names_of(source)
    torch.manual_seed(seed)
    model = page["learn"](page["texts"](2000, start=False))
    new = page["texts"](300, start=False)
    letters = new[:, 16:-1] < page["AGAIN"]
    found = {}
    with torch.no_grad():
        for name, mask in (("all", page["causal"]), ("window", page["alone"])):
            found[name] = page["losses"](model, new, mask)[:, 16:][letters].mean().item()
    return found


def measure(page: str, seed: int) -> dict[str, list[float]]:
    """Run a page's cells with a seed, and return its measures."""
    source = "\n".join(cells(page)).replace(SEED, f"torch.manual_seed({seed})")
    names = {**globals(), **names_of(source), "seed": seed, "source": source}
    names["page"] = names
    found = {}
    for name, expression in MEASURED[page].items():
        numbers = eval(expression, names)  # noqa: S307 - from the table above
        found[name] = [round(float(number), 4) for number in numbers]
    return found


def lines(page: str, record: dict[str, Any]) -> list[str]:
    """Return the lines of the page's table: a column for each seed."""
    table = []
    for name in MEASURED[page]:
        rows = [row[name] for row in record["seeds"].values()]
        shown = [", ".join(f"{number:.2f}" for number in row) for row in rows]
        table.append(f"| {name} | {' | '.join(shown)} |")
    return table


def main() -> None:
    """Measure the pages that are named, or all, and write the figures down."""
    records = json.loads(OUT.read_text("utf-8")) if OUT.exists() else {}
    for page in sys.argv[1:] or MEASURED:
        seeds = {str(seed): measure(page, seed) for seed in SEEDS}
        records[page] = {"cells": digest(page), "seeds": seeds}
        print(*lines(page, records[page]), sep="\n")
        written = (f"{json.dumps(name)}: {json.dumps(record)}" for name, record in records.items())
        OUT.write_text("{" + ",\n".join(written) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
