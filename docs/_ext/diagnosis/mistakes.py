"""Make the numbers that the usual mistakes make, for the page that recognizes them.

`python docs/_ext/diagnosis/mistakes.py` writes them into `docs/_data/mistakes.json`, by the titles
of the page's sections; a test makes them again and compares.
"""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from selfattn import CausalAttention
from selfattn.examples import six_tokens

if TYPE_CHECKING:
    from collections.abc import Callable

INPUTS = six_tokens().inputs  # (6, 3)
AHEAD = torch.ones(6, 6).triu(diagonal=1).bool()

Projections = list[Tensor]
"""Queries, keys and values."""


def matrices(seed: int = 123, draw: Callable[..., Tensor] = torch.rand) -> Projections:
    torch.manual_seed(seed)
    return [draw(3, 2) for _ in range(3)]


def layers(seed: int = 789, *, bias: bool = False) -> list[nn.Linear]:
    torch.manual_seed(seed)
    return [nn.Linear(3, 2, bias=bias) for _ in range(3)]


def projected(by: list[Tensor] | list[nn.Linear], x: Tensor = INPUTS) -> Projections:
    return [each(x).detach() if isinstance(each, nn.Linear) else x @ each for each in by]


def attend(
    projections: Projections, scale: float = 2**0.5, mask: Tensor | None = None, fill: float = 0.0
) -> list[Tensor]:
    """Return the context vectors and the weights."""
    queries, keys, values = projections
    scores = queries @ keys.T / scale
    if mask is not None:
        scores = scores.masked_fill(mask, fill)
    return weighed(torch.softmax(scores, dim=-1), values)


def weighed(weights: Tensor, values: Tensor) -> list[Tensor]:
    return [weights @ values, weights]


def softmax_over_columns(projections: Projections) -> list[Tensor]:
    queries, keys, values = projections
    return weighed(torch.softmax(queries @ keys.T / 2**0.5, dim=0), values)


def masked_too_late(projections: Projections) -> list[Tensor]:
    _, weights = attend(projections)
    return weighed(weights.masked_fill(AHEAD, 0), projections[2])


def in_other_orders(projections: Projections) -> list[Tensor]:
    others = list(permutations(projections))[1:]
    return [attend(list(order))[0] for order in others]


def square_not_transposed() -> list[Tensor]:
    """Fall into the trap of Exercise 3.1: square matrices are copied without a word."""
    torch.manual_seed(123)
    _ = [torch.rand(3, 3) for _ in range(3)]
    square = [nn.Linear(3, 3, bias=False) for _ in range(3)]
    return attend(projected([layer.weight.detach() for layer in square]))


def of_other_seeds() -> list[Tensor]:
    found: list[Tensor] = []
    for seed in (0, 1, 42, 789):
        found += [*matrices(seed), *attend(projected(matrices(seed)))]
    for seed in (0, 1, 42, 123):
        found += attend(projected(layers(seed)))
    return found


def after_a_draw() -> list[Tensor]:
    torch.manual_seed(123)
    torch.rand(1)
    found = attend(projected([torch.rand(3, 2) for _ in range(3)]))
    torch.manual_seed(789)
    torch.rand(1)
    return found + attend(projected([nn.Linear(3, 2, bias=False) for _ in range(3)]))


def with_dropout() -> list[Tensor]:
    torch.manual_seed(123)
    attention = CausalAttention(3, 2, context_length=6, dropout=0.5)
    return [attention(INPUTS[None])[0].detach()]


def in_half_precision(dtype: torch.dtype) -> list[Tensor]:
    short = INPUTS.to(dtype)
    found = attend(projected([W.to(dtype) for W in matrices()], short))
    return found + attend(projected([layer.to(dtype) for layer in layers()], short))


def with_swapped_digits() -> list[Tensor]:
    typed = INPUTS.clone()
    typed[1, 1] = 0.78  # for 0.87
    return attend(projected(matrices(), typed)) + attend(projected(layers(), typed))


def outputs() -> dict[str, list[Tensor]]:
    """Return what each mistake makes, by the title of its section; the first is no mistake."""
    from_rand, from_linear = projected(matrices()), projected(layers())

    def both(make: Callable[[Projections], list[Tensor]]) -> list[Tensor]:
        return make(from_rand) + make(from_linear)

    reshaped = [layer.weight.detach().reshape(3, 2) for layer in layers()]
    from_randn = matrices(draw=torch.randn)
    infinity = -torch.inf
    return {
        "none": both(attend),
        "No scaling": both(lambda each: attend(each, scale=1)),
        "Scaled by dₖ and not by its root": both(lambda each: attend(each, scale=2)),
        "Softmax over the wrong axis": both(softmax_over_columns),
        "The weight of a linear layer, not transposed": [
            *attend(projected(reshaped)),
            *square_not_transposed(),
        ],
        "Linear layers with a bias": attend(projected(layers(bias=True))),
        "The matrices drawn in another order": both(in_other_orders),
        "Another seed": of_other_seeds(),
        "A draw before": after_a_draw(),
        "randn for rand": [*from_randn, *attend(projected(from_randn))],
        "Masked after softmax, and not divided again": both(masked_too_late),
        "0 instead of −∞": both(lambda each: attend(each, mask=AHEAD)),
        "The mask the wrong way round": both(
            lambda each: attend(each, mask=AHEAD.T, fill=infinity)
        ),
        "Dropout left on": with_dropout(),
        "Half precision: float16": in_half_precision(torch.float16),
        "Half precision: bfloat16": in_half_precision(torch.bfloat16),
        "Digits swapped in an embedding": with_swapped_digits(),
    }


def printed() -> dict[str, list[str]]:
    """Return what PyTorch prints of each mistake, each tensor in one line."""
    made = outputs()
    return {title: [" ".join(str(each).split()) for each in made[title]] for title in made}


if __name__ == "__main__":
    file = Path(__file__).parents[2] / "_data" / "mistakes.json"
    file.write_text(json.dumps(printed(), indent=1, ensure_ascii=False) + "\n", "utf-8")
