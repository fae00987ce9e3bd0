"""What readers of the chapter get wrong, by the title that the box must name, made with torch."""
# Code as readers write it.
# ruff: noqa: ANN001, ANN003, ANN201, NPY002
# mypy: ignore-errors

import numpy as np
import torch

from selfattn import CausalAttention, MultiHeadAttention, SelfAttention_v2
from selfattn.examples import six_tokens

X = six_tokens().inputs
BATCH = torch.stack((X, X))


def drawn(seed=123, draw=torch.rand):
    torch.manual_seed(seed)
    return [draw(3, 2) for _ in range(3)]


def attend(queries, keys, values, scale=2**0.5, mask=None):
    scores = queries @ keys.transpose(-2, -1) / scale
    if mask is not None:
        scores = scores.masked_fill(mask, -torch.inf)
    return scores.softmax(-1) @ values


def projected(matrices):
    return [X @ matrix for matrix in matrices]


def module(kind, seed=123, *, x=BATCH, **options):
    torch.manual_seed(seed)
    return kind(3, 2, **options)(x)


def later(kind, seed=123, **options):
    return module(kind, seed, **({"context_length": 6, "dropout": 0.0} | options))


def heads(*, back=True, project=True, scale=1.0):
    torch.manual_seed(123)
    of = MultiHeadAttention(3, 2, 6, 0.0, num_heads=2)
    parts = [
        layer(BATCH).view(2, 6, 2, 1).transpose(1, 2)
        for layer in (of.W_query, of.W_key, of.W_value)
    ]
    joined = attend(*parts, scale, of.mask)
    joined = joined.transpose(1, 2) if back else joined
    joined = joined.reshape(2, 6, 2)
    return of.out_proj(joined) if project else joined


def by_numpy():
    np.random.seed(123)
    return attend(*projected([torch.tensor(np.random.rand(3, 2)).float() for _ in range(3)]))


def same_heads():
    torch.manual_seed(123)
    head = CausalAttention(3, 2, 6, 0.0)
    return torch.cat([head(BATCH), head(BATCH)], -1)


def masked_after():
    queries, keys, values = projected(drawn())
    return ((queries @ keys.T / 2**0.5).softmax(-1).tril()) @ values


def wrong_axis():
    queries, keys, values = projected(drawn())
    return (queries @ keys.T / 2**0.5).masked_fill(CAUSAL, -torch.inf).softmax(0) @ values


CAUSAL = torch.ones(6, 6).triu(1).bool()
MISTAKES = {
    "Another seed": lambda: later(MultiHeadAttention, 42, num_heads=2),
    "Dropout left on": lambda: later(CausalAttention, dropout=0.5),
    "Linear layers with a bias": lambda: later(MultiHeadAttention, qkv_bias=True, num_heads=2),
    "No `out_proj`": lambda: heads(project=False),
    "Heads not transposed back": lambda: heads(back=False),
    "Heads scaled by the size of all": lambda: heads(scale=2**0.5),
    "Heads with the same weights": same_heads,
    "No mask": lambda: module(SelfAttention_v2),
    "Scaled by √d_in": lambda: attend(*projected(drawn()), 3**0.5),
    "One projection for another": lambda: attend(*(projected(drawn())[i] for i in (0, 0, 2))),
    "A seed before each matrix": lambda: attend(*projected(drawn()[0] for _ in range(3))),
    "Linear layers for `torch.rand`": lambda: module(SelfAttention_v2, x=X),
    "Drawn by NumPy": by_numpy,
    "Softmax over the wrong axis": wrong_axis,
    "Masked after softmax, and not divided again": masked_after,
    "`randn` for `rand`": lambda: attend(*projected(drawn(draw=torch.randn))),
    "No scaling": lambda: attend(*projected(drawn()), 1.0),
}
