"""Train the small GPT by the cells of its page, with several seeds and without attention.

    python docs/_data/small_gpt.py [SEED ...]   # five seeds if none is named: a quarter of an hour

The weights of seed 123 go into ``selfattn/small_gpt.txt``, which the page loads; the losses on the
new text, and those of the best way to count that we know of, into ``small-gpt.json``.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from collections import Counter
from math import log
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from selfattn import small_gpt
from selfattn.verdict import THE_VERDICT

OUT = Path(__file__).with_name("small-gpt.json")
PAGE = Path(__file__).parents[1] / "companions" / "small-gpt.md"
CELL = re.compile(r"^```\{code-cell\} ipython3\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STEPS, SEEDS, KEPT = 6000, (123, 0, 1, 2, 3), 123
DISCOUNT, BACK = 0.85, 5  # the best for this text among 0.5 to 0.85, and 2 to 6


class Nothing(nn.Module):
    """What a block has instead of attention, so that a model sees a character and its position."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x)


def code() -> str:
    """Return the cells of the page that define model, training and loss."""
    before = PAGE.read_text("utf-8").partition("small_gpt.py")[0]
    return "\n".join(cell for cell in CELL.findall(before) if "steps=100" not in cell)


def digest() -> str:
    """Return a digest of these cells, which changes where the weights have to be made again."""
    return hashlib.sha256(code().encode()).hexdigest()[:16]


def train(names: dict[str, Any], seed: int, *, attention: bool) -> nn.Module:
    """Train a model by the page's functions."""
    torch.manual_seed(seed)
    model = names["GPT"]()
    for block in () if attention else model.blocks:
        block.attention = Nothing()
    trained: nn.Module = names["learn"](model, STEPS)
    return trained


def kneser_ney(cut: int) -> float:
    """Return the loss of interpolated Kneser-Ney smoothing on the characters after a cut."""
    known, letters = THE_VERDICT[:cut], len(set(THE_VERDICT))
    pieces = [Counter(known[i : i + n + 1] for i in range(cut - n)) for n in range(BACK + 1)]
    # Below the longest context, what counts is before how many characters a piece was seen.
    counts = [Counter(piece[1:] for piece in longer) for longer in pieces[1:]] + [pieces[-1]]
    totals: list[Counter[str]] = [Counter() for _ in counts]
    kinds: list[Counter[str]] = [Counter() for _ in counts]
    for n, table in enumerate(counts):
        for piece, count in table.items():
            totals[n][piece[:-1]] += count
            kinds[n][piece[:-1]] += 1

    def probability(piece: str) -> float:
        if not piece:
            return 1 / letters
        n, context, shorter = len(piece) - 1, piece[:-1], probability(piece[1:])
        if not totals[n][context]:
            return shorter
        seen = max(counts[n][piece] - DISCOUNT, 0.0)
        return (seen + DISCOUNT * kinds[n][context] * shorter) / totals[n][context]

    places = range(cut + 16, len(THE_VERDICT))
    losses = [-log(probability(THE_VERDICT[i - BACK : i + 1])) for i in places]
    return sum(losses) / len(losses)


def packed(model: nn.Module) -> str:
    """Return all parameters of a model as text: 16-bit numbers, in base 85, in lines."""
    numbers = nn.utils.parameters_to_vector(model.parameters()).detach().half()
    text = base64.b85encode(bytes(numbers.view(torch.uint8).tolist())).decode()
    return "\n".join(text[start : start + 100] for start in range(0, len(text), 100)) + "\n"


def main() -> None:
    """Train with the seeds that are named, or all, and write down what comes of it."""
    names: dict[str, Any] = {}
    exec(code(), names)  # noqa: S102 - the book's own
    torch.set_num_threads(1)
    record = json.loads(OUT.read_text("utf-8")) if OUT.exists() else {}
    if record.get("cells") != digest():
        record = {"cells": digest(), "seeds": {}}
    record["Kneser-Ney"] = round(kneser_ney(names["cut"]), 4)
    for seed in map(int, sys.argv[1:] or SEEDS):
        found = {}
        for name, attention in (("the GPT", True), ("without attention", False)):
            model = train(names, seed, attention=attention)
            if attention and seed == KEPT:
                path = Path(small_gpt.__file__).with_suffix(".txt")
                path.write_text(packed(model), "ascii")
            found[name] = round(names["losses_of"](model).mean().item(), 4)
            print(seed, name, found[name])
        record["seeds"][str(seed)] = found
        OUT.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
