"""The section's trace, and beside it the same six tokens without weights."""

from __future__ import annotations

import functools
from dataclasses import dataclass, fields

from attention_trace import Matrix, Trace, attention_trace, rows

from selfattn import attention_scores, context_vectors
from selfattn.examples import six_tokens


@dataclass(frozen=True)
class RolesTrace(Trace):
    """The trace with what the raw embeddings give, unscaled."""

    raw_scores: Matrix
    raw_weights: Matrix
    raw_context_vecs: Matrix


@functools.cache
def roles_trace() -> RolesTrace:
    """Compute both forms once for the whole build."""
    inputs = six_tokens().inputs
    scores = attention_scores(inputs, inputs)
    weights = scores.softmax(dim=-1)
    base = attention_trace()
    return RolesTrace(
        **{field.name: getattr(base, field.name) for field in fields(base)},
        raw_scores=rows(scores),
        raw_weights=rows(weights),
        raw_context_vecs=rows(context_vectors(weights, inputs)),
    )
