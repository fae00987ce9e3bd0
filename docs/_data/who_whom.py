"""Train the cells of page 3.6 with twenty seeds, one head or two, wider and longer.

    python docs/_data/who_whom.py     # writes who-whom.json beside it, in some minutes

For each number of heads and each setting: the parts of the training sentences and of the held-out
ones that are right, seed by seed.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import torch

from selfattn import CausalAttention, MultiHeadAttentionWrapper, fit

OUT = Path(__file__).with_name("who-whom.json")
PAGE = Path(__file__).parents[1] / "self-attention" / "multi-head.md"
CELL = re.compile(r"^```\{code-cell\} ipython3\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SEEDS = range(20)
SETTINGS = {  # width, steps, learning rate
    "24 wide": (24, 600, 0.01),
    "48 wide": (48, 600, 0.01),
    "24 wide, 3,000 steps": (24, 3000, 0.003),
}


def cells() -> dict[str, Any]:
    """Return what the cells of the page define before a model is trained."""
    before, _, _ = PAGE.read_text("utf-8").partition("from selfattn import CausalAttention")
    names: dict[str, Any] = {}
    exec("".join(CELL.findall(before)), names)  # noqa: S102 - the book's own
    return names


def measure(names: dict[str, Any], heads: int, setting: str, seed: int) -> list[float]:
    """Return the parts of training and of held-out sentences that a model gets right."""
    width, steps, learning_rate = SETTINGS[setting]
    torch.manual_seed(seed)
    attention = (
        CausalAttention(width, width, 4, 0.0)
        if heads == 1
        else MultiHeadAttentionWrapper(width, width // heads, 4, 0.0, heads)
    )
    model = names["WhoWhom"](attention, width)
    fit(model, names["loss"], steps, learning_rate=learning_rate)
    return [round(names["right"](model, names[ids]), 4) for ids in ("trained", "held_out")]


def main() -> None:
    """Measure everything and write the figures down."""
    names = cells()
    torch.set_num_threads(1)
    record = {
        f"{heads} {setting}": [measure(names, heads, setting, seed) for seed in SEEDS]
        for heads in (1, 2)
        for setting in SETTINGS
    }
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in record.items())
    OUT.write_text("{\n" + rows + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
