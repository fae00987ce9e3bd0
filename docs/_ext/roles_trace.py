"""The section's trace, and beside it the same six tokens without weights, and with a mask."""

from __future__ import annotations

import functools
from dataclasses import dataclass, fields

import torch
from attention_trace import Matrix, Trace, attention_trace, rows

from selfattn import attention_scores, context_vectors
from selfattn.examples import six_tokens


@dataclass(frozen=True)
class RolesTrace(Trace):
    """The trace with what the raw embeddings give, unscaled, and with the weights under a mask."""

    raw_scores: Matrix
    raw_weights: Matrix
    raw_context_vecs: Matrix
    causal_weights: Matrix


@functools.cache
def roles_trace() -> RolesTrace:
    """Compute both forms once for the whole build."""
    inputs = six_tokens().inputs
    scores = attention_scores(inputs, inputs)
    weights = scores.softmax(dim=-1)
    base = attention_trace()
    scaled = torch.tensor(base.scaled_scores)
    ahead = torch.ones_like(scaled).triu(diagonal=1).bool()
    return RolesTrace(
        **{field.name: getattr(base, field.name) for field in fields(base)},
        raw_scores=rows(scores),
        raw_weights=rows(weights),
        raw_context_vecs=rows(context_vectors(weights, inputs)),
        causal_weights=rows(scaled.masked_fill(ahead, -torch.inf).softmax(dim=-1)),
    )
