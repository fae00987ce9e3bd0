"""Train the cells of page 3.6 with twenty seeds, one head or two, wider and longer.

    python docs/_data/who_whom.py     # writes who-whom.json beside it, in some minutes

For each model and each setting: the parts of the training sentences and of the held-out ones that
are right, seed by seed. The third model is a control: one head, and an embedding for each token at
each position, so that a value can tell who chased from who was chased.
"""

from typing import Any

import torch
from experiment import cells, names_of, write_record
from torch import nn

from selfattn import CausalAttention, MultiHeadAttentionWrapper, fit

SEEDS = range(20)
SETTINGS = {  # width, steps, learning rate
    "24 wide": (24, 600, 0.01),
    "24 wide, 3,000 steps": (24, 3000, 0.003),
    "48 wide, 3,000 steps": (48, 3000, 0.003),
}
MODELS = ("1", "2", "1, own embeddings,")


class TokenAtPosition(nn.Embedding):
    """An embedding for each of 22 tokens at each of 4 positions."""

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return super().forward(ids + 22 * torch.arange(4))


def measure(names: dict[str, Any], kind: str, setting: str, seed: int) -> list[float]:
    """Return the parts of training and of held-out sentences that a model gets right."""
    width, steps, learning_rate = SETTINGS[setting]
    torch.manual_seed(seed)
    attention = (
        CausalAttention(width, width, 4, 0.0)
        if kind != "2"
        else MultiHeadAttentionWrapper(width, width // 2, 4, 0.0, 2)
    )
    model = names["WhoWhom"](attention, width)
    if kind == "1, own embeddings,":
        model.tokens = TokenAtPosition(4 * 22, width).double()
    fit(model, names["loss"], steps, learning_rate=learning_rate)
    return [round(names["right"](model, names[ids]), 4) for ids in ("trained", "held_out")]


def main() -> None:
    """Measure everything and write the figures down."""
    names = names_of("".join(cells("self-attention/multi-head", "from selfattn import Causal")))
    torch.set_num_threads(1)
    record = {
        f"{kind} {setting}": [measure(names, kind, setting, seed) for seed in SEEDS]
        for kind in MODELS
        for setting in SETTINGS
    }
    write_record("who-whom.json", record)


if __name__ == "__main__":
    main()
