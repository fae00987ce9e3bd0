"""The section's trace, and beside it the same six tokens without trainable weights."""

from __future__ import annotations

import functools
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from attention_trace import Matrix, Trace, attention_trace

from selfattn import attention_scores, context_vectors
from selfattn.examples import six_tokens

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class RolesTrace(Trace):
    """The trace with what the raw embeddings give; the score of two embeddings has no scale."""

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
        raw_scores=_rows(scores),
        raw_weights=_rows(weights),
        raw_context_vecs=_rows(context_vectors(weights, inputs)),
    )


def _rows(tensor: Tensor) -> Matrix:
    return tuple(tuple(row) for row in tensor.tolist())
