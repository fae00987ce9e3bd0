"""Train the card task of `companions/training` with many seeds, and write down what comes out.

    python docs/_data/card_task.py     # writes card-task.json beside it, in some minutes

Each result counts right answers: of 21 questions about seven deals that training never saw, or,
where the three numbers always differ, of 18 about the one deal held out. The best that can be done
without looking at the question is 14 of 21. Of these, tables on `companions/training`,
`companions/three-matrices` and `companions/without-the-root` are made. `longer` is `scaling` with
five times as many steps, for one size. `early` is trained as on the last of these pages: what
weight the right card has after five steps, and the loss after a hundred.
"""

from __future__ import annotations

import json
from itertools import permutations, product
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

OUT = Path(__file__).with_name("card-task.json")
SEEDS = range(20)
LEAK_SEEDS = range(10)
LONGER = 1001
DEALS = list(product(range(3), repeat=3))
PROJECTIONS = (("three", 3), ("shared", 3), ("keys-as-values", 3), ("one", 3), ("one", 4))
SYMMETRIC, READS_KEYS = ("shared", "one"), ("keys-as-values", "one")


def embed(cards: list[tuple[int, int]], asked: int) -> Tensor:
    """Return three cards (colour, number) and the question as four tokens of nine entries."""
    x = torch.zeros(4, 9)
    for place, (colour, number) in enumerate(cards):
        x[place, colour] = x[place, 3 + number] = 1
    x[3, 6 + asked] = 1
    return x


def table(deals: list[tuple[int, ...]]) -> Tensor:
    """Return the questions of shape (deals, 3, 4, 9)."""
    asked = [[embed(list(enumerate(deal)), colour) for colour in range(3)] for deal in deals]
    return torch.stack([torch.stack(three) for three in asked])


class Layer(nn.Module):
    """One layer of self-attention, with or without the scale and with fewer projections."""

    def __init__(
        self, d_k: int, *, scaled: bool = True, kind: str = "three", same_start: bool = False
    ) -> None:
        super().__init__()
        self.divisor = d_k**0.5 if scaled else 1.0
        self.kind = kind
        self.W_query = nn.Linear(9, d_k, bias=False)
        self.W_key = self.W_query if kind in SYMMETRIC else nn.Linear(9, d_k, bias=False)
        self.W_out = nn.Linear(d_k if kind in READS_KEYS else 9, 3, bias=False)
        if same_start:  # the scores begin as if they were divided
            with torch.no_grad():
                self.W_query.weight /= d_k**0.5

    def forward(self, x: Tensor) -> Tensor:
        """Return what the question's context vector says of the three numbers."""
        queries, keys = self.W_query(x), self.W_key(x)
        values = self.W_out(keys if self.kind in READS_KEYS else x)
        self.weights = torch.softmax(queries @ keys.transpose(-2, -1) / self.divisor, dim=-1)
        return (self.weights @ values)[:, :, 3]


def train(layer: Layer, x: Tensor, answers: Tensor, steps: int, lr: float) -> None:
    """Train as the page does."""
    optimizer = torch.optim.Adam(layer.parameters(), lr=lr)
    for _ in range(steps):
        loss = cross_entropy(layer(x).flatten(0, 1), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def right(layer: Layer, x: Tensor, answers: Tensor) -> int:
    """Count right answers."""
    with torch.no_grad():
        return int((layer(x).argmax(dim=-1) == answers).sum())


def held_out(seed: int, lr: float = 0.03, steps: int = 201, **options: object) -> int:
    """Train with twenty deals and count the right answers about the other seven."""
    x, answers = table(DEALS), torch.tensor(DEALS)
    torch.manual_seed(123)
    shuffled = torch.randperm(len(DEALS))
    torch.manual_seed(seed)
    layer = Layer(**options)  # type: ignore[arg-type]
    train(layer, x[shuffled[:20]], answers[shuffled[:20]], steps, lr)
    return right(layer, x[shuffled[20:]], answers[shuffled[20:]])


def one_deal(seed: int, place: int) -> int:
    """Train with five of the six deals of different numbers, and count answers about the sixth."""
    six = list(permutations(range(3)))
    x, answers = table(six), torch.tensor(six)
    kept = [deal for deal in range(6) if deal != place]
    torch.manual_seed(seed)
    layer = Layer(3)
    # Six orders of each deal are the same to the layer, so one stands for all six.
    train(layer, x[kept], answers[kept], 101, 0.03)
    return 6 * right(layer, x[place : place + 1], answers[place : place + 1])


def early(seed: int) -> dict[str, float]:
    """Train without the root on all deals, and look at the right card's weight early on."""
    x, answers = table(DEALS), torch.tensor(DEALS)
    torch.manual_seed(seed)
    layer = Layer(1024, scaled=False)
    train(layer, x, answers, 5, 0.03)
    with torch.no_grad():
        layer(x)
    weight = layer.weights[:, range(3), 3, range(3)].mean()
    torch.manual_seed(seed)
    layer = Layer(1024, scaled=False)
    train(layer, x, answers, 100, 0.03)
    with torch.no_grad():
        loss = cross_entropy(layer(x).flatten(0, 1), answers.flatten())
    return {"weight": round(float(weight), 2), "loss": round(float(loss), 2)}


def main() -> None:
    """Train all and write the counts down."""
    torch.set_num_threads(1)
    scaling = [
        {
            "learning_rate": lr,
            "d_k": d_k,
            "scaled": scaled,
            "right": [held_out(seed, lr, d_k=d_k, scaled=scaled) for seed in SEEDS],
        }
        for lr in (0.03, 0.003)
        for d_k in (64, 256, 1024)
        for scaled in (True, False)
    ]
    longer = [
        {
            "learning_rate": lr,
            "d_k": 256,
            "scaled": scaled,
            "right": [held_out(seed, lr, LONGER, d_k=256, scaled=scaled) for seed in SEEDS],
        }
        for lr in (0.03, 0.003)
        for scaled in (True, False)
    ]
    projections = [
        {"kind": kind, "d_k": d_k, "right": [held_out(seed, d_k=d_k, kind=kind) for seed in SEEDS]}
        for kind, d_k in PROJECTIONS
    ]
    same_start = [held_out(seed, d_k=1024, scaled=False, same_start=True) for seed in SEEDS]
    leak = [
        {"seed": seed, "right": [one_deal(seed, place) for place in range(6)]}
        for seed in (123, *LEAK_SEEDS)
    ]
    report = {
        "torch": torch.__version__,
        "seeds": list(SEEDS),
        "scaling": scaling,
        "longer": longer,
        "projections": projections,
        "same_start": same_start,
        "early": [early(seed) for seed in SEEDS],
        "leak": leak,
    }
    OUT.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
