"""Train the running example with 20 seeds, switch its heads and mask off, and train its controls.

    python docs/_data/trained_seeds.py     # writes trained-seeds.json beside it, in some minutes

Each pair of figures is the part of held-out sentences whose verb, and whose pronoun, is right.
Of an exchange, two more figures say how often they are those of the other sentence.
Where each head has a job, `looks_for` says which nouns the verb's head gives more weight.
What `self-attention/training` and other pages say of twenty seeds comes from them.
"""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch import Tensor, nn

from selfattn import fit
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
LONGEST = 10


def measure(seed: int) -> dict[str, Any]:
    """Return one row: the model, its heads switched off, and the controls."""
    held_out = sentences()[1]

    def rounded(model: TwoHeads) -> list[float]:
        return [round(share, 4) for share in accuracies(model, held_out)]

    model = train(seed)
    with mock.patch("selfattn.trained.sentences", adverb_first):
        no_adverb = train(seed, averaging=True)
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
        "shuffled": rounded(shuffled(seed)),
        "unmasked": rounded(without_mask(model)),
        "adverb_first": [round(share, 4) for share in accuracies(no_adverb, adverb_first()[1])],
    }
    lost = (row["first_off"], row["second_off"])
    if sorted(lost) == [[0.5, 1.0], [1.0, 0.5]]:
        row["looks_for"] = looks_for(model, lost.index([0.5, 1.0]))
    return row


def changed(model: TwoHeads, head: int, change: Callable[[Tensor], Tensor]) -> TwoHeads:
    """Return a copy in which a head brings to all sentences what a function makes of it."""

    def hook(_layer: Any, joined: tuple[Tensor]) -> Tensor:
        brought, part = joined[0].clone(), slice(2 * head, 2 * head + 2)
        brought[..., part] = change(joined[0][..., part])
        return brought

    copied = copy.deepcopy(model)
    copied.attention.out_proj.register_forward_pre_hook(hook)
    return copied


def with_average(model: TwoHeads, head: int) -> TwoHeads:
    """Return a copy in which a head brings to every sentence its average over all."""
    return changed(model, head, lambda brought: brought.mean(dim=0))


@torch.no_grad()
def exchanged(model: TwoHeads, head: int) -> list[float]:
    """Give each sentence what a head found in another; count its answers, and the other's."""
    held_out = sentences()[1]
    says = changed(model, head, lambda brought: brought.flip(0))(held_out[:, :-1]).argmax(dim=-1)
    right = [(says == rows[:, 1:]).double().mean(dim=0) for rows in (held_out, held_out.flip(0))]
    return [round(each[place - 1].item(), 4) for each in right for place in (VERB, PRONOUN)]


def looks_for(model: TwoHeads, head: int) -> str:
    """Return which nouns the verb's head gives more weight, plural or singular ones."""
    held_out = sentences()[1]
    weights = model.attn_weights(held_out[:, :VERB])[:, head, ADVERB, 1]
    plural = held_out[:, VERB] == to_ids("were")
    return "plural" if weights[plural].mean() > weights[~plural].mean() else "singular"


def without_mask(model: TwoHeads) -> TwoHeads:
    """Let a model see the words ahead, after training."""
    unmasked = copy.deepcopy(model)
    unmasked.attention.mask[:] = False
    return unmasked


def shuffled(seed: int) -> TwoHeads:
    """Train with the words of each sentence, but for the last five, in a random order."""
    torch.manual_seed(seed)
    model, trained = TwoHeads(), sentences()[0]

    def loss(model: TwoHeads) -> Tensor:
        batch = trained[torch.randint(len(trained), (32,))]
        order = torch.rand(len(batch), VERB).argsort(dim=-1)
        batch = torch.cat([batch.gather(1, order), batch[:, VERB:]], dim=-1)
        logits = model(batch[:, :-1]).flatten(0, 1)
        return nn.functional.cross_entropy(logits, batch[:, 1:].flatten())

    fit(model, loss, 1000, weight_decay=0.1)
    return model


def adverb_first() -> tuple[Tensor, Tensor]:
    """Return the sentences with the second noun as the last word before the verb."""
    order = [ADVERB, *range(ADVERB), *range(VERB, LONGEST + 1)]
    trained, held_out = sentences()
    return trained[:, order], held_out[:, order]


def main() -> None:
    """Measure every seed and write the figures down."""
    torch.set_num_threads(1)
    rows = ",\n".join(json.dumps(measure(seed)) for seed in SEEDS)
    OUT.write_text(f"[\n{rows}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
