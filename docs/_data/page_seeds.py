"""Train with many seeds what a page trains with one, by the cells of the page.

    python docs/_data/page_seeds.py [PAGE ...]   # writes page-seeds.json, in up to an hour a page

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

import selfattn.trained

OUT = Path(__file__).with_name("page-seeds.json")
COMPANIONS = Path(__file__).parents[1] / "companions"
CELL = re.compile(r"^```\{code-cell\} ipython3\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SEED = "torch.manual_seed(123)"
FEW, MANY, SLOW = (123, 0, 1, 2, 3), range(60), range(40)
UNLISTED = "one group: without the first head, without the second"  # a sentence, not a line
# For each page: its seeds, and what is measured by the names of its cells.
MEASURED: dict[str, tuple[Any, dict[str, str]]] = {
    "long-context": (
        FEW,
        {
            "places 1 to 32": "[curves['as trained'][:32].mean()]",
            **{
                f"97 to 128, {name}": f"[curves[{name!r}][96:].mean()]"
                for name in (
                    "as trained",
                    "window of 32",
                    "all keys, capped",
                    "squeezed",
                    "squeezed, trained",
                    "longer, trained",
                    "still 32, trained",
                    "still 32, window",
                )
            },
        },
    ),
    "sliding-windows": (
        FEW,
        {
            "share of the first token": "look(model, new)[:1]",
            "loss: all, window, first kept": "late_losses(model, new)",
            "start brings nothing: all, first kept": "silent[::2]",
            "no start: share of the first letter": (
                "look(model := learn(start=False), new := texts(300, start=False))[:1]"
            ),
            "no start: all, window, first kept": "late_losses(model, new)",
            "no start: shares of `<`, of one letter": "by_sign(model, new, causal)[1:]",
        },
    ),
    "three-matrices": (
        MANY,
        {
            name: f"accuracies(train(seed, {options}), held_out)"
            for name, options in {
                "nothing left out": "''",
                "one matrix for queries and keys": "'W_query'",
                "keys as values": "'W_value'",
                "one matrix for all three": "'W_query W_value'",
                "heads of 1": "'', 1",
                "heads of 6": "'', 6",
                "one matrix for all three, heads of 6": "'W_query W_value', 6",
            }.items()
        }
        | {"a plain average": "accuracies(selfattn.trained.train(seed, averaging=True), held_out)"},
    ),
    "without-the-root": (
        SLOW,
        {
            "with the root": "accuracies(learn(seed), held_out)",
            "without the root": "accuracies(learn(seed, root=False), held_out)",
        },
    ),
    "grouped-query": (
        MANY,
        {
            "two groups": "accuracies(train(seed, 2), held_out)",
            "one group": "accuracies(train(seed, 1), held_out)",
            UNLISTED: "each_head_off(train(seed, 1), held_out)",
        },
    ),
}


def each_head_off(model: Any, held_out: Any) -> list[float]:
    """Return verbs and pronouns without the first head, and then without the second."""
    off = (selfattn.trained.without_head(model, head) for head in (0, 1))
    return [share for each in off for share in selfattn.trained.accuracies(each, held_out)]


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


def measure(page: str, seed: int) -> dict[str, list[float]]:
    """Run a page's cells with a seed, and return its measures."""
    source = "\n".join(cells(page)).replace(SEED, f"torch.manual_seed({seed})")
    names = {**names_of(source), **globals(), "seed": seed, "source": source}
    found = {}
    for name, expression in MEASURED[page][1].items():
        numbers = eval(expression, names)  # noqa: S307 - from the table above
        found[name] = [round(float(number), 4) for number in numbers]
    return found


def lines(page: str, record: dict[str, Any]) -> list[str]:
    """Return the lines of the page's table: a column for each seed, or how many seeds learned."""
    table = []
    for name in MEASURED[page][1]:
        if name == UNLISTED:
            continue
        rows = [row[name] for row in record["seeds"].values()]
        if isinstance(MEASURED[page][0], range):
            counts = [sum(share == 1 for share in column) for column in zip(*rows, strict=True)]
            shown = [str(count) for count in (*counts, sum(min(row) == 1 for row in rows))]
        else:
            shown = [", ".join(f"{number:.2f}" for number in row) for row in rows]
        table.append(f"| {name} | {' | '.join(shown)} |")
    return table


def main() -> None:
    """Measure the pages that are named, or all, and write the figures down."""
    records = json.loads(OUT.read_text("utf-8")) if OUT.exists() else {}
    for page in sys.argv[1:] or MEASURED:
        seeds = {str(seed): measure(page, seed) for seed in MEASURED[page][0]}
        records[page] = {"cells": digest(page), "seeds": seeds}
        print(*lines(page, records[page]), sep="\n")
        written = (f"{json.dumps(name)}: {json.dumps(record)}" for name, record in records.items())
        OUT.write_text("{" + ",\n".join(written) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
