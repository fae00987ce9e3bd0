"""Train the small GPT of `companions/small-gpt` with five seeds, by the cells of its page.

python docs/_data/gpt_seeds.py     # prints the row of the page's table, in a minute or two

A change of the page's model or training changes the table: run it again.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "companions" / "small-gpt.md"
CELL = re.compile(r"^```\{code-cell\} ipython3\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SEED = "torch.manual_seed(123)"
SEEDS = (123, 0, 1, 2, 3)


def held_out_loss(seed: int) -> float:
    """Run the page's cells up to the one that trains, with another seed."""
    names: dict[str, Any] = {}
    for cell in CELL.findall(PAGE.read_text("utf-8")):
        exec(cell.replace(SEED, f"torch.manual_seed({seed})"), names)  # noqa: S102 - the book's own
        if SEED in cell:
            break
    return float(names["losses"][-1])


if __name__ == "__main__":
    print("| seed |", *(f"{seed} |" for seed in SEEDS))
    print("| loss |", *(f"{held_out_loss(seed):.2f} |" for seed in SEEDS))
