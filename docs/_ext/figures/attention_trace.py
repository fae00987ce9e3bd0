"""One run of the section's computation: every number that a figure shows comes from here."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import torch

from figures.trace import Traced
from selfattn import SelfAttention_v1, attention_scores, attention_weights, context_vectors
from selfattn.examples import six_tokens

Matrix = tuple[tuple[float, ...], ...]
SEED = 123


@dataclass(frozen=True)
class Trace(Traced):
    """Every tensor between the input and the context vectors, as plain numbers."""

    words: tuple[str, ...]
    inputs: Matrix
    W_query: Matrix
    W_key: Matrix
    W_value: Matrix
    queries: Matrix
    keys: Matrix
    values: Matrix
    attn_scores: Matrix
    scaled_scores: Matrix
    attn_weights: Matrix
    context_vecs: Matrix
    weighted_values_2: Matrix
    weights_sum_2: float


@functools.cache
def attention_trace() -> Trace:
    """Compute the six-token example once for the whole build."""
    example = six_tokens()
    inputs, d_k = example.inputs, example.d_out
    W_query, W_key, W_value = _weights(example.d_in, example.d_out)
    queries, keys, values = inputs @ W_query, inputs @ W_key, inputs @ W_value
    attn_scores = attention_scores(queries, keys)
    attn_weights = attention_weights(attn_scores, d_k)
    return Trace(
        words=example.words,
        inputs=rows(inputs),
        W_query=rows(W_query),
        W_key=rows(W_key),
        W_value=rows(W_value),
        queries=rows(queries),
        keys=rows(keys),
        values=rows(values),
        attn_scores=rows(attn_scores),
        scaled_scores=rows(attn_scores / d_k**0.5),
        attn_weights=rows(attn_weights),
        context_vecs=rows(context_vectors(attn_weights, values)),
        weighted_values_2=rows(attn_weights[1].unsqueeze(-1) * values),
        weights_sum_2=float(attn_weights[1].sum()),
    )


def _weights(d_in: int, d_out: int) -> tuple[torch.Tensor, ...]:
    """Draw the matrices as listing 3.1 does, without touching anybody else's generator."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        module = SelfAttention_v1(d_in, d_out)
    return module.W_query.detach(), module.W_key.detach(), module.W_value.detach()


def rows(tensor: torch.Tensor) -> Matrix:
    """Return a matrix as plain numbers."""
    return tuple(tuple(row) for row in tensor.tolist())
