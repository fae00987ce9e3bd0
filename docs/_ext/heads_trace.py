"""The six tokens under the causal mask, and in two heads: what Sections 3.5 and 3.6 compute."""

from __future__ import annotations

import functools
from dataclasses import dataclass, fields

import torch
from attention_trace import Matrix, Trace, attention_trace, rows

from selfattn import (
    CausalAttention,
    MultiHeadAttentionWrapper,
    SelfAttention_v2,
    attention_scores,
    attention_weights,
)
from selfattn.examples import six_tokens


@dataclass(frozen=True)
class HeadsTrace(Trace):
    """The trace with causal weights of the linear layers and of two heads, and with its splits."""

    unmasked_weights: Matrix
    causal_weights: Matrix
    mask: Matrix
    weights_1: Matrix
    weights_2: Matrix
    joined: Matrix
    """The queries of both heads, as one projection makes them."""
    head_1: Matrix
    head_2: Matrix
    cut_1: Matrix
    """What a view without a transpose takes for the first head."""
    cut_2: Matrix


@functools.cache
def heads_trace() -> HeadsTrace:
    """Compute both sections once for the whole build, with their seeds."""
    inputs, base = six_tokens().inputs, attention_trace()
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(789)
        layer = SelfAttention_v2(3, 2)
        torch.manual_seed(123)
        stack = MultiHeadAttentionWrapper(3, 2, 6, 0.0, num_heads=2)
        first, second = stack.heads
        mask = first.mask
        joined = torch.cat([head.W_query(inputs) for head in stack.heads], dim=-1)
        by_head, cut = joined.view(6, 2, 2).transpose(0, 1), joined.view(2, 6, 2)
        weights = [_weights(each, inputs, mask) for each in (layer, first, second)]
        unmasked = _weights(layer, inputs, None)
    return HeadsTrace(
        **{field.name: getattr(base, field.name) for field in fields(base)},
        unmasked_weights=rows(unmasked),
        causal_weights=rows(weights[0]),
        mask=rows(mask.int()),
        weights_1=rows(weights[1]),
        weights_2=rows(weights[2]),
        joined=rows(joined),
        head_1=rows(by_head[0]),
        head_2=rows(by_head[1]),
        cut_1=rows(cut[0]),
        cut_2=rows(cut[1]),
    )


def _weights(
    layer: CausalAttention | SelfAttention_v2, inputs: torch.Tensor, mask: torch.Tensor | None
) -> torch.Tensor:
    attn_scores = attention_scores(layer.W_query(inputs), layer.W_key(inputs))
    return attention_weights(attn_scores, 2, mask)
