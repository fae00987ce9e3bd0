"""Train the small GPT by the cells of its page, and its controls, with several seeds.

    python docs/_data/small_gpt.py [SEED ...]   # five seeds if none is named: 20 minutes

The weights of seed 123 go into ``selfattn/small_gpt.txt``, which the page loads; the losses on the
new text, and those of the best way to count that we know of, into ``small-gpt.json``. A seed's
model that is in it already isn't trained again.
"""

import base64
import sys
from collections import Counter
from math import log
from pathlib import Path
from typing import Any

import torch
from experiment import cells, digest, names_of, read_record, write_record
from torch import Tensor, nn

from selfattn import small_gpt
from selfattn.small_gpt import THE_VERDICT

OUT, PAGE = "small-gpt.json", "companions/small-gpt"
STEPS, SEEDS, KEPT = 6000, (123, 0, 1, 2, 3), 123
# How many characters the nets without attention read side by side, and how wide they are.
SIDE_BY_SIDE = {
    "five side by side": (5, 256),
    "five, twice as wide": (5, 512),
    "sixteen side by side": (16, 180),
}
MODELS = ("the GPT", "without attention", *SIDE_BY_SIDE)
# Other settings of the widest two: what of the page's cells is replaced by what, and the dropout.
CHANGED = {
    "twice the dropout": ("", "", 0.4),
    "half the learning rate": ("learning_rate=0.004", "learning_rate=0.002", 0.2),
    "a third of the weight decay": ("weight_decay=0.3", "weight_decay=0.1", 0.2),
}
DISCOUNTS, BACKS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95), range(2, 8)


class Nothing(nn.Module):
    """What a block has instead of attention, so that a model sees a character and its position."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x)


class SideBySide(nn.Module):
    """A model that reads a few characters side by side, as Bengio et al. did in 2003."""

    def __init__(
        self, letters: int, back: int, hidden: int, dropout: float = 0.2, d: int = 32
    ) -> None:
        super().__init__()
        self.back, self.nothing = back, letters
        self.characters = nn.Embedding(letters + 1, d)  # one more, for what is before the first
        self.layers = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(back * d, hidden),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(hidden, letters),
        )

    def forward(self, x: Tensor) -> Tensor:
        padded = nn.functional.pad(x, (self.back - 1, 0), value=self.nothing)
        logits: Tensor = self.layers(self.characters(padded.unfold(-1, self.back, 1)).flatten(-2))
        return logits


def code() -> list[str]:
    """Return the cells of the page that define model, training and loss."""
    others = ("steps=100", "who_sees(", "stages")  # what only shows a block
    before = cells(PAGE, "small_gpt.py")
    return [cell for cell in before if not any(other in cell for other in others)]


def names() -> dict[str, Any]:
    """Return what these cells define."""
    return names_of("\n".join(code()))


def train(page: dict[str, Any], seed: int, name: str, dropout: float = 0.2) -> nn.Module:
    """Train the model of a row of the page's table by the page's functions."""
    torch.manual_seed(seed)
    letters, sizes = len(page["letters"]), SIDE_BY_SIDE.get(name)
    model: Any = SideBySide(letters, *sizes, dropout) if sizes else page["GPT"]()
    for block in model.blocks if name == "without attention" else ():
        block.attention = Nothing()
    trained: nn.Module = page["learn"](model, STEPS)
    return trained


def kneser_ney(cut: int, places: range, discount: float, back: int) -> Tensor:
    """Return the losses of interpolated Kneser-Ney smoothing, which knows the text up to a cut."""
    known, letters = THE_VERDICT[:cut], len(set(THE_VERDICT))
    pieces = [Counter(known[i : i + n + 1] for i in range(cut - n)) for n in range(back + 1)]
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
        seen = max(counts[n][piece] - discount, 0.0)
        return (seen + discount * kinds[n][context] * shorter) / totals[n][context]

    return torch.tensor([-log(probability(THE_VERDICT[i - back : i + 1])) for i in places])


def best_counting(cut: int) -> dict[str, Any]:
    """Choose discount and length by the last fifth of the known text, and count in the new one."""
    inner = int(0.8 * cut)
    settings = [
        (kneser_ney(inner, range(inner, cut), discount, back).mean().item(), discount, back)
        for discount in DISCOUNTS
        for back in BACKS
    ]
    _, discount, back = min(settings)
    losses = kneser_ney(cut, range(cut + 16, len(THE_VERDICT)), discount, back)
    model = names()["GPT"]().eval()
    small_gpt.load_weights(model)
    ahead = losses - names()["losses_of"](model)  # at each character
    error = ahead.std() / len(ahead) ** 0.5
    return {
        "discount": discount,
        "back": back,
        "loss": round(losses.mean().item(), 4),
        "the GPT is ahead by": [round(ahead.mean().item(), 4), round(error.item(), 4)],
    }


def packed(model: nn.Module) -> str:
    """Return all parameters of a model as text: 16-bit numbers, in base 85, in lines."""
    numbers = nn.utils.parameters_to_vector(model.parameters()).detach().half()
    text = base64.b85encode(bytes(numbers.view(torch.uint8).tolist())).decode()
    return "\n".join(text[start : start + 100] for start in range(0, len(text), 100)) + "\n"


def main() -> None:
    """Train with the seeds that are named, or all, and write down what comes of it."""
    torch.set_num_threads(1)
    record, cells_now = read_record(OUT), digest(code())
    if record.get("cells") != cells_now:
        record = {"cells": cells_now, "seeds": {}}
    for seed in map(int, sys.argv[1:] or SEEDS):
        found = record["seeds"].setdefault(str(seed), {})
        for name in MODELS:
            if name in found:
                continue
            model = train(names(), seed, name)
            if (name, seed) == (MODELS[0], KEPT):
                path = Path(small_gpt.__file__).with_suffix(".txt")
                path.write_text(packed(model), "ascii")
            found[name] = round(names()["losses_of"](model).mean().item(), 4)
            print(seed, name, found[name])
            write_record(OUT, record)
    others = record.setdefault("other settings, seed 0", {})
    for name in MODELS[-2:]:
        for setting, (usual, other, dropout) in CHANGED.items():
            if f"{name}, {setting}" not in others:
                page = names_of("\n".join(code()).replace(usual, other))
                losses = page["losses_of"](train(page, 0, name, dropout))
                others[f"{name}, {setting}"] = round(losses.mean().item(), 4)
                write_record(OUT, record)
    record["Kneser-Ney"] = best_counting(names()["cut"])
    write_record(OUT, record)


if __name__ == "__main__":
    main()
