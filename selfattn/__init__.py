"""Self-attention with trainable weights, in code small enough to read in one sitting."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selfattn.causal import CausalAttention, MultiHeadAttention, MultiHeadAttentionWrapper
    from selfattn.functional import (
        attention_scores,
        attention_weights,
        context_vectors,
        join_heads,
        split_heads,
    )
    from selfattn.modules import SelfAttention_v1, SelfAttention_v2, copy_weights

__all__ = [
    "CausalAttention",
    "MultiHeadAttention",
    "MultiHeadAttentionWrapper",
    "SelfAttention_v1",
    "SelfAttention_v2",
    "__version__",
    "attention_scores",
    "attention_weights",
    "context_vectors",
    "copy_weights",
    "join_heads",
    "split_heads",
]

__version__ = "0.1.0"

_MODULES = ("selfattn.functional", "selfattn.modules", "selfattn.causal")


def __getattr__(name: str) -> object:
    """Import what is asked for: whoever wants the version alone need not wait for torch."""
    if name in __all__:
        for module in map(import_module, _MODULES):
            if name in module.__all__:
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
