"""Make the numbers that the usual mistakes make, for the page that recognizes them.

`python docs/_ext/diagnosis/mistakes.py` writes them into `docs/_data/mistakes.json`, by the titles
of the page's sections; a test makes them again and compares.
"""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from selfattn import CausalAttention, MultiHeadAttention, MultiHeadAttentionWrapper
from selfattn.examples import six_tokens

if TYPE_CHECKING:
    from collections.abc import Callable

INPUTS = six_tokens().inputs  # (6, 3)
AHEAD = torch.ones(6, 6).triu(diagonal=1).bool()
BATCH = torch.stack((INPUTS, INPUTS))
SEEDS = (0, 1, 2, 3, 7, 10, 42, 100, 1234, 2024)  # that people take

Projections = list[Tensor]
"""Queries, keys and values."""


def matrices(seed: int = 123, draw: Callable[..., Tensor] = torch.rand) -> Projections:
    torch.manual_seed(seed)
    return [draw(3, 2) for _ in range(3)]


def layers(seed: int = 789, *, bias: bool = False) -> list[nn.Linear]:
    torch.manual_seed(seed)
    return [nn.Linear(3, 2, bias=bias) for _ in range(3)]


def projected(by: list[Tensor] | list[nn.Linear]) -> Projections:
    return [each(INPUTS).detach() if isinstance(each, nn.Linear) else INPUTS @ each for each in by]


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
    scores = queries @ keys.T / 2**0.5
    masked = scores.masked_fill(AHEAD, -torch.inf)
    both = [weighed(torch.softmax(each, dim=0), values) for each in (scores, masked)]
    return both[0] + both[1]


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


def right() -> list[Tensor]:
    """Return all steps of both examples: no page prints all of them."""
    found: list[Tensor] = [*matrices(), *(layer.weight.detach() for layer in layers())]
    for queries, keys, values in (projected(matrices()), projected(layers())):
        scores = queries @ keys.T
        found += [queries, keys, values, scores, scores / 2**0.5]
        found += attend([queries, keys, values])
    return found


def of_other_seeds() -> list[Tensor]:
    found: list[Tensor] = []
    for seed in (*SEEDS, 789):
        found += [*matrices(seed), *attend(projected(matrices(seed)))]
        torch.manual_seed(seed)
        stack = MultiHeadAttentionWrapper(3, 2, 6, 0.0, num_heads=2)
        found += [causal(seed=seed)[0], stack(BATCH)[0].detach(), heads(seed=seed)[0]]
    for seed in SEEDS:
        found += attend(projected(layers(seed)))
    return found


def after_draws() -> list[Tensor]:
    """Draw one number before the matrices, and as many as a cell draws that is run twice."""
    found: list[Tensor] = []
    for draws in (1, 18):
        torch.manual_seed(123)
        torch.rand(draws)
        found += attend(projected([torch.rand(3, 2) for _ in range(3)]))
        torch.manual_seed(789)
        torch.rand(draws)
        found += attend(projected([nn.Linear(3, 2, bias=False) for _ in range(3)]))
    return found


def causal(
    x: Tensor = BATCH, dropout: float = 0.0, *, qkv_bias: bool = False, seed: int = 123
) -> Tensor:
    torch.manual_seed(seed)
    return CausalAttention(3, 2, 6, dropout, qkv_bias)(x).detach()


def heads(
    x: Tensor = BATCH, dropout: float = 0.0, *, qkv_bias: bool = False, seed: int = 123
) -> Tensor:
    torch.manual_seed(seed)
    return MultiHeadAttention(3, 2, 6, dropout, 2, qkv_bias)(x).detach()


def with_dropout() -> list[Tensor]:
    rates = (0.1, 0.2, 0.5)
    one = [causal(INPUTS[None], dropout=0.5)[0]]
    return one + [each(dropout=rate) for each in (causal, heads) for rate in rates]


def heads_by_hand(scale: float = 1.0, *, is_back: bool = True, is_mixed: bool = True) -> Tensor:
    """Compute both heads for one sentence, as `MultiHeadAttention` does or nearly so."""
    torch.manual_seed(123)
    of = MultiHeadAttention(3, 2, 6, 0.0, 2)
    columns = [layer(INPUTS).detach().T[..., None] for layer in (of.W_query, of.W_key, of.W_value)]
    each = [attend([part[n] for part in columns], scale, AHEAD, -torch.inf)[0] for n in (0, 1)]
    joined = torch.cat(each, dim=-1) if is_back else torch.stack(each).reshape(6, 2)
    return of.out_proj(joined).detach() if is_mixed else joined


def with_one_for_another(projections: Projections) -> list[Tensor]:
    queries, keys, values = projections
    orders = [(queries, keys, keys), (queries, keys, queries), (queries, queries, values)]
    return [attend(list(order))[0] for order in (*orders, (keys, keys, values))]


def seeded_before_each() -> list[Tensor]:
    return attend(projected([matrices()[0]] * 3)) + attend(projected([layers()[0]] * 3))


def by_numpy() -> list[Tensor]:
    old, new = np.random.RandomState(123).rand, np.random.default_rng(123).random
    drawn = [old(3, 2) for _ in range(3)], [new((3, 2)) for _ in range(3)]
    return [
        made
        for each in drawn
        for made in attend(projected([torch.tensor(W).float() for W in each]))
    ]


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
        "Scaled by √d_in": both(lambda each: attend(each, scale=3**0.5)),
        "Softmax over the wrong axis": both(softmax_over_columns),
        "The weight of a linear layer, not transposed": [
            *attend(projected(reshaped)),
            *square_not_transposed(),
        ],
        "Linear layers with a bias": [
            *attend(projected(layers(bias=True))),
            causal(qkv_bias=True)[0],
            heads(qkv_bias=True)[0],
        ],
        "Linear layers with the seed 123": attend(projected(layers(123))),
        "The matrices drawn in another order": both(in_other_orders),
        "One projection for another": both(with_one_for_another),
        "Another seed": of_other_seeds(),
        "A seed before each matrix": seeded_before_each(),
        "A draw before": after_draws(),
        "randn for rand": [*from_randn, *attend(projected(from_randn))],
        "Drawn by NumPy": by_numpy(),
        "Masked after softmax, and not divided again": both(masked_too_late),
        "0 instead of −∞": both(lambda each: attend(each, mask=AHEAD)),
        "The mask the wrong way round": both(
            lambda each: attend(each, mask=AHEAD.T, fill=infinity)
        ),
        "Dropout left on": with_dropout(),
        "Heads with the same weights": [causal()[0].repeat(1, 2)],
        "Heads not transposed back": [heads_by_hand(is_back=False)],
        "Heads scaled by the size of all": [heads_by_hand(2**0.5)],
        "No out_proj": [heads_by_hand(is_mixed=False)],
    }


def printed() -> dict[str, Any]:
    """Return what PyTorch prints of right steps and of each mistake, each tensor in one line."""
    mistakes = {title: [in_one_line(each) for each in made] for title, made in outputs().items()}
    return {"right": [in_one_line(each) for each in right()], "mistakes": mistakes}


def in_one_line(tensor: Tensor) -> str:
    return " ".join(str(tensor).split())


if __name__ == "__main__":
    file = Path(__file__).parents[2] / "_data" / "mistakes.json"
    file.write_text(json.dumps(printed(), indent=1, ensure_ascii=False) + "\n", "utf-8")
