"""Train the head of the page on caches with five seeds, by the cells of the page.

    python docs/_data/page_seeds.py     # writes page-seeds.json, in minutes

The cells are run up to the page's table, with other seeds. What they are is recorded too, so that a
test fails when they change and the table has not been made again.
"""

from typing import Any

import torch
from experiment import cells, digest, names_of, write_record

PAGE, OUT = "companions/kv-cache", "page-seeds.json"
SEEDS = (123, 0, 1, 2, 3)
UNUSED = ("all", "window, first kept")  # of the losses: they hardly differ


def measure(seed: int) -> dict[str, float]:
    """Run the page's cells with a seed, and return what its table shows."""
    source = "\n".join(cells(PAGE, "page_seeds.py"))
    page = names_of(source.replace("torch.manual_seed(123)", f"torch.manual_seed({seed})"))
    weight_on, late, anew = page["weight_on"], page["late"], without_start(page, seed)
    found = {
        "weight of the first token": weight_on(page["model"], page["ids"]),
        "mean weight of `^`, moved": sum(page["shares"]) / len(page["shares"]),
        **{f"loss, {name}": late[name] for name in late if name not in UNUSED},
        **{f"loss without `^`, {name}": loss for name, loss in anew.items()},
    }
    return {name: round(float(number), 4) for name, number in found.items()}


def without_start(page: dict[str, Any], seed: int) -> dict[str, float]:
    """Train the page's head without a first token `^`, and return the loss at letters."""
    torch.manual_seed(seed)
    model = page["learn"](page["texts"](2000, start=False))
    new = page["texts"](300, start=False)
    letters = new[:, 16:-1] < page["AGAIN"]
    with torch.no_grad():
        return {
            name: page["losses"](model, new, mask)[:, 16:][letters].mean().item()
            for name, mask in (("all", page["causal"]), ("window", page["alone"]))
        }


def lines(record: dict[str, Any]) -> list[str]:
    """Return the lines of the page's table: a column for each seed."""
    seeds = list(record["seeds"].values())
    return [
        f"| {name} | {' | '.join(f'{seed[name]:.2f}' for seed in seeds)} |" for name in seeds[0]
    ]


def main() -> None:
    """Measure every seed and write the figures down."""
    seeds = {str(seed): measure(seed) for seed in SEEDS}
    record = {"cells": digest(cells(PAGE, "page_seeds.py")), "seeds": seeds}
    write_record(OUT, record)
    print(*lines(record), sep="\n")


if __name__ == "__main__":
    main()
