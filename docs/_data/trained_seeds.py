"""Train the running example with 20 seeds, switch its heads and mask off, and train its controls.

    python docs/_data/trained_seeds.py     # writes trained-seeds.json beside it, in some minutes

Each pair of figures is the part of held-out sentences whose verb, and whose pronoun, is right.
Of an exchange, two more figures say how often they are those of the other sentence.
Where each head has a job, `learns` has, after some steps, the share that the noun gets which the
verb's head looks for, and the share of held-out verbs that are right.
What `self-attention/training` and other pages say of twenty seeds comes from them.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch import Tensor

from selfattn import MultiHeadAttention
from selfattn.trained import (
    PRONOUN,
    VERB,
    TwoHeads,
    accuracies,
    sentences,
    to_ids,
    train,
    without_head,
)

OUT = Path(__file__).with_name("trained-seeds.json")
SEEDS = range(20)
ADVERB = 5
STEPS = (0, 50, 80, 100, 120, 150, 200, 300)
HIDDEN = torch.ones(10, 10).triu(diagonal=1).bool()


class OneHead(TwoHeads):
    """The same model with a single head of four numbers, and so with as many parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(16, 4, len(HIDDEN), dropout=0.0, num_heads=1)
        self.double()


def measure(seed: int) -> dict[str, Any]:
    """Return one row: the model, its heads switched off, and the controls."""
    held_out = sentences()[1]

    def rounded(model: TwoHeads) -> list[float]:
        return [round(share, 4) for share in accuracies(model, held_out)]

    model = train(seed)
    with mock.patch("selfattn.trained.sentences", adverb_first):
        no_adverb = train(seed, averaging=True)
    with mock.patch("selfattn.trained.TwoHeads", OneHead):
        one_head = train(seed)
    row: dict[str, Any] = {
        "seed": seed,
        "attention": rounded(model),
        "first_off": rounded(without_head(model, 0)),
        "second_off": rounded(without_head(model, 1)),
        "first_average": rounded(with_average(model, 0)),
        "second_average": rounded(with_average(model, 1)),
        "first_exchanged": exchanged(model, 0),
        "second_exchanged": exchanged(model, 1),
        "averaging": rounded(train(seed, averaging=True)),
        "shuffled": rounded(train(seed, shuffled=True)),
        "unmasked": rounded(with_mask(model, hidden=False)),
        "peeking": rounded(peeking := train(seed, unmasked=True)),
        "peeking_masked": rounded(with_mask(peeking, hidden=HIDDEN)),
        "one_head": rounded(one_head),
        "adverb_first": [round(share, 4) for share in accuracies(no_adverb, adverb_first()[1])],
    }
    lost = (row["first_off"], row["second_off"])
    if sorted(lost) == [[0.5, 1.0], [1.0, 0.5]]:
        row |= learns(model, seed, lost.index([0.5, 1.0]))
    return row


def with_average(model: TwoHeads, head: int) -> TwoHeads:
    """Return a copy in which a head brings to every sentence its average over all."""

    def hook(_layer: Any, joined: tuple[Tensor]) -> Tensor:
        brought, part = joined[0].clone(), slice(2 * head, 2 * head + 2)
        brought[..., part] = brought[..., part].mean(dim=0)
        return brought

    changed = copy.deepcopy(model)
    changed.attention.out_proj.register_forward_pre_hook(hook)
    return changed


@torch.no_grad()
def exchanged(model: TwoHeads, head: int) -> list[float]:
    """Give each sentence what a head found in another; count its answers, and the other's."""

    def hook(_layer: Any, joined: tuple[Tensor]) -> Tensor:
        brought, part = joined[0].clone(), slice(2 * head, 2 * head + 2)
        brought[..., part] = joined[0].flip(0)[..., part]
        return brought

    held_out, changed = sentences()[1], copy.deepcopy(model)
    changed.attention.out_proj.register_forward_pre_hook(hook)
    says = changed(held_out[:, :-1]).argmax(dim=-1)
    right = [(says == rows[:, 1:]).double().mean(dim=0) for rows in (held_out, held_out.flip(0))]
    return [round(each[place - 1].item(), 4) for each in right for place in (VERB, PRONOUN)]


def learns(model: TwoHeads, seed: int, head: int) -> dict[str, Any]:
    """Return which nouns the verb's head looks for, and how it learns to."""
    held_out = sentences()[1]
    many = held_out[:, VERB] == to_ids("were")
    kinds = {"plural": held_out[many, :VERB], "singular": held_out[~many, :VERB]}

    def share(stage: TwoHeads, kind: str) -> float:
        return stage.attn_weights(kinds[kind])[:, head, ADVERB, 1].mean().item()

    kind = max(kinds, key=lambda each: share(model, each))
    rows = []

    def watch(step: int, stage: TwoHeads) -> None:
        if step in STEPS:
            verbs, _ = accuracies(stage, held_out)
            rows.append([step, round(share(stage, kind), 4), round(verbs, 4)])

    train(seed, steps=max(STEPS), watch=watch)
    return {"looks_for": kind, "learns": rows}


def with_mask(model: TwoHeads, *, hidden: Tensor | bool) -> TwoHeads:
    """Change what a model must not see, after training."""
    model.attention.mask[:] = hidden
    return model


def adverb_first() -> tuple[Tensor, Tensor]:
    """Return the sentences with the second noun as the last word before the verb."""
    order = [ADVERB, *range(ADVERB), *range(VERB, len(HIDDEN) + 1)]
    trained, held_out = sentences()
    return trained[:, order], held_out[:, order]


def main() -> None:
    """Measure every seed and write the figures down."""
    torch.set_num_threads(1)
    rows = ",\n".join(json.dumps(measure(seed)) for seed in SEEDS)
    OUT.write_text(f"[\n{rows}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
