"""Self-attention with trainable weights, in code small enough to read in one sitting."""

from selfattn.causal import CausalAttention, MultiHeadAttention, MultiHeadAttentionWrapper
from selfattn.functional import (
    attention_scores,
    attention_weights,
    context_vectors,
    join_heads,
    split_heads,
    who_sees,
)
from selfattn.modules import SelfAttention_v1, SelfAttention_v2, copy_weights
from selfattn.training import fit

__all__ = [
    "CausalAttention",
    "MultiHeadAttention",
    "MultiHeadAttentionWrapper",
    "SelfAttention_v1",
    "SelfAttention_v2",
    "attention_scores",
    "attention_weights",
    "context_vectors",
    "copy_weights",
    "fit",
    "join_heads",
    "split_heads",
    "who_sees",
]

__version__ = "0.1.0"
