"""Train the running example with 20 seeds, switch its heads and mask off, and train two controls.

    python docs/_data/trained_seeds.py     # writes trained-seeds.json beside it, in some minutes

Each pair of figures is the share of held-out sentences whose verb, and whose pronoun, is right.
The table on the page `companions/how-it-was-trained` is made of them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from selfattn.trained import TwoHeads, accuracies, sentences, train, without_head

OUT = Path(__file__).with_name("trained-seeds.json")
SEEDS = range(20)


def measure(seed: int) -> dict[str, Any]:
    """Return one row: the model, its heads switched off, and the controls."""
    held_out = sentences()[1]

    def rounded(model: TwoHeads) -> list[float]:
        return [round(share, 4) for share in accuracies(model, held_out)]

    model = train(seed)
    return {
        "seed": seed,
        "attention": rounded(model),
        "first_off": rounded(without_head(model, 0)),
        "second_off": rounded(without_head(model, 1)),
        "averaging": rounded(train(seed, averaging=True)),
        "shuffled": rounded(train(seed, shuffled=True)),
        "unmasked": rounded(without_mask(model)),
    }


def without_mask(model: TwoHeads) -> TwoHeads:
    """Let a model see what is ahead, which it didn't in training."""
    model.attention.mask[:] = False
    return model


def main() -> None:
    """Measure every seed and write the figures down."""
    torch.set_num_threads(1)
    rows = ",\n".join(json.dumps(measure(seed)) for seed in SEEDS)
    OUT.write_text(f"[\n{rows}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
