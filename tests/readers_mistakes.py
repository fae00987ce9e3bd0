"""What readers of the chapter get wrong, made with torch, and what the box must say of it.

Each entry: what the reader's code prints, and the title of the mistake that the box must name.
"""
# Code as readers write it.
# ruff: noqa: ANN001, ANN003, ANN201, NPY002
# mypy: ignore-errors

import numpy as np
import torch

from selfattn import (
    CausalAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    SelfAttention_v1,
    SelfAttention_v2,
)
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


def reseeded():
    return [drawn()[0] for _ in range(3)]


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


MHA = {"num_heads": 2}
CAUSAL = torch.ones(6, 6).triu(1).bool()
MISTAKES = {
    "another seed, causal class": (lambda: later(CausalAttention, 789), "Another seed"),
    "another seed, heads": (lambda: later(MultiHeadAttention, 42, **MHA), "Another seed"),
    "another seed, wrapper": (lambda: later(MultiHeadAttentionWrapper, 7, **MHA), "Another seed"),
    "dropout, causal class": (lambda: later(CausalAttention, dropout=0.5), "Dropout left on"),
    "dropout, heads": (lambda: later(MultiHeadAttention, dropout=0.1, **MHA), "Dropout left on"),
    "bias, causal class": (
        lambda: later(CausalAttention, qkv_bias=True),
        "Linear layers with a bias",
    ),
    "bias, heads": (
        lambda: later(MultiHeadAttention, qkv_bias=True, **MHA),
        "Linear layers with a bias",
    ),
    "no out_proj": (lambda: heads(project=False), "No `out_proj`"),
    "no transpose back": (lambda: heads(back=False), "Heads not transposed back"),
    "heads scaled by d_out": (lambda: heads(scale=2**0.5), "Heads scaled by the size of all"),
    "one sentence of two": (lambda: later(CausalAttention)[0], "The sentence"),
    "two heads with the same weights": (same_heads, "Heads with the same weights"),
    "causal class without a mask": (
        lambda: module(SelfAttention_v2),
        "No mask",
    ),
    "scaled by √d_in": (lambda: attend(*projected(drawn()), 3**0.5), "Scaled by √d_in"),
    "keys as values": (
        lambda: attend(*(projected(drawn())[place] for place in (0, 1, 1))),
        "One projection for another",
    ),
    "queries as keys": (
        lambda: attend(*(projected(drawn())[place] for place in (0, 0, 2))),
        "One projection for another",
    ),
    "reseeded before each matrix": (
        lambda: attend(*projected(reseeded())),
        "A seed before each matrix",
    ),
    "nn.Linear with seed 123": (
        lambda: module(SelfAttention_v2, x=X),
        "Linear layers for `torch.rand`",
    ),
    "numpy's generator": (by_numpy, "Drawn by NumPy"),
    "softmax over the wrong axis, causal": (
        wrong_axis,
        "Softmax over the wrong axis",
    ),
    "masked after softmax": (masked_after, "Masked after softmax, and not divided again"),
    "a bias in the compact class": (
        lambda: module(SelfAttention_v2, 789, x=X, qkv_bias=True),
        "Linear layers with a bias",
    ),
    "randn for rand": (lambda: attend(*projected(drawn(draw=torch.randn))), "`randn` for `rand`"),
    "not scaled": (lambda: attend(*projected(drawn()), 1.0), "No scaling"),
    "the first class, seed 1": (lambda: module(SelfAttention_v1, 1, x=X), "Another seed"),
}
