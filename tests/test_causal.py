"""The modules: PyTorch's own attention as oracle, PyTorch's tools around them, their errors."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from test_modules import KINDS, draw
from test_modules import build as compact
from torch.nn.functional import scaled_dot_product_attention

from selfattn import (
    CausalAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    attention_weights,
    join_heads,
    split_heads,
)

# Distinct primes: no two axes can be exchanged. D_OUT is that of one head.
BATCH, T, D_IN, D_OUT, HEADS, CONTEXT = 2, 5, 7, 11, 3, 13
Build = Callable[..., Any]


def causal(dropout: float = 0.0, *, qkv_bias: bool = False, seed: int = 123) -> CausalAttention:
    torch.manual_seed(seed)
    return CausalAttention(D_IN, D_OUT, CONTEXT, dropout, qkv_bias).double()


def stacked(
    dropout: float = 0.0, *, qkv_bias: bool = False, seed: int = 123
) -> MultiHeadAttentionWrapper:
    torch.manual_seed(seed)
    return MultiHeadAttentionWrapper(D_IN, D_OUT, CONTEXT, dropout, HEADS, qkv_bias).double()


def split(dropout: float = 0.0, *, qkv_bias: bool = False, seed: int = 123) -> MultiHeadAttention:
    torch.manual_seed(seed)
    width = HEADS * D_OUT
    return MultiHeadAttention(D_IN, width, CONTEXT, dropout, HEADS, qkv_bias).double()


BUILDS: list[Build] = [causal, stacked, split]
for_each = pytest.mark.parametrize("build", BUILDS)
for_every = pytest.mark.parametrize("build", [*BUILDS, *(partial(compact, kind) for kind in KINDS)])
AHEAD = torch.ones(T, T).triu(diagonal=1).bool()


# Independent oracles


@pytest.mark.parametrize("qkv_bias", [False, True])
@pytest.mark.parametrize("batch", [(), (BATCH,), (BATCH, 3)], ids=str)
def test_causal_attention_agrees_with_pytorch(batch: tuple[int, ...], *, qkv_bias: bool) -> None:
    module, x = causal(qkv_bias=qkv_bias), draw(*batch, T, D_IN)
    queries, keys, values = module.W_query(x), module.W_key(x), module.W_value(x)
    expected = scaled_dot_product_attention(queries, keys, values, is_causal=True)
    assert expected.shape == (*batch, T, D_OUT)
    torch.testing.assert_close(module(x), expected)


@pytest.mark.parametrize("qkv_bias", [False, True])
@pytest.mark.parametrize("batch", [(), (BATCH,), (BATCH, 3)], ids=str)
def test_one_projection_is_the_stack(batch: tuple[int, ...], *, qkv_bias: bool) -> None:
    """Equal weights make equal numbers: the split class is the stack and an output projection."""
    stack, module, x = stacked(qkv_bias=qkv_bias), split(qkv_bias=qkv_bias), draw(*batch, T, D_IN)
    with torch.no_grad():
        for name in ("W_query", "W_key", "W_value"):
            heads: list[Any] = [getattr(head, name) for head in stack.heads]
            getattr(module, name).weight.copy_(torch.cat([head.weight for head in heads]))
            if qkv_bias:
                getattr(module, name).bias.copy_(torch.cat([head.bias for head in heads]))
    assert module(x).shape == (*batch, T, HEADS * D_OUT)
    torch.testing.assert_close(module(x), module.out_proj(stack(x)))


@for_each
def test_a_shorter_sentence_is_the_start_of_a_longer_one(build: Build) -> None:
    module, x = build(), draw(BATCH, CONTEXT, D_IN)
    whole = module(x)
    for num_tokens in (1, 2, T, CONTEXT):
        torch.testing.assert_close(module(x[:, :num_tokens]), whole[:, :num_tokens])


# Dropout


@for_each
def test_dropout_is_for_training_alone(build: Build) -> None:
    module, plain, x = build(dropout=0.5), build(), draw(BATCH, T, D_IN)
    assert module.training
    torch.manual_seed(0)
    assert not torch.allclose(module(x), plain(x))
    module.eval()
    assert torch.equal(module(x), plain(x))


def test_dropout_drops_weights_and_not_features() -> None:
    """A token whose only weight is dropped has nothing left, in all its features at once."""
    torch.manual_seed(0)
    first = torch.stack([causal(dropout=0.5, seed=n)(draw(1, D_IN))[0] for n in range(30)])
    dropped = (first == 0).all(dim=-1)
    assert (first == 0).any(dim=-1).equal(dropped)
    assert 0 < dropped.sum() < 30


# The mask


@for_each
def test_the_mask_is_a_buffer(build: Build) -> None:
    module = build()
    masks = {name: value for name, value in module.state_dict().items() if name.endswith("mask")}
    assert len(masks) == (HEADS if isinstance(module, MultiHeadAttentionWrapper) else 1)
    assert not any(name.endswith("mask") for name, _ in module.named_parameters())
    for mask in masks.values():
        assert mask.dtype == torch.bool  # .double() has left it alone
        assert mask.equal(torch.ones(CONTEXT, CONTEXT).triu(diagonal=1) == 1)
    assert {buffer.device.type for buffer in module.to("meta").buffers()} == {"meta"}


def test_a_mask_is_repeated_over_leading_axes() -> None:
    attn_scores = draw(BATCH, HEADS, T, T)
    attn_weights = attention_weights(attn_scores, D_IN, AHEAD)
    assert (attn_weights[..., AHEAD] == 0).all()
    torch.testing.assert_close(attn_weights[1, 2], attention_weights(attn_scores[1, 2], 7, AHEAD))
    padding = torch.zeros(BATCH, 1, 1, T, dtype=torch.bool)
    padding[1, ..., 3:] = True
    attn_weights = attention_weights(attn_scores, D_IN, padding)
    assert (attn_weights[1, ..., 3:] == 0).all()
    assert (attn_weights[0] > 0).all()


def test_splitting_and_joining_are_inverse() -> None:
    vectors = draw(BATCH, T, HEADS * D_OUT)
    heads = split_heads(vectors, HEADS)
    assert torch.equal(heads[1, 2], vectors[1, :, 2 * D_OUT :])
    assert heads.data_ptr() == vectors.data_ptr()
    assert torch.equal(join_heads(heads), vectors)


@for_each
def test_saved_masks_of_floats_are_read(build: Build) -> None:
    """Checkpoints of the chapter's own classes hold the mask as ones and zeros."""
    module, other, x = build(), build(seed=789), draw(T, D_IN)
    other.load_state_dict({n: value.double() for n, value in module.state_dict().items()})
    assert torch.equal(other(x), module(x))


@for_every
def test_compile_in_one_graph(build: Build) -> None:
    module, x = build(), draw(BATCH, T, D_IN)
    compiled = torch.compile(module, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), module(x))


# What doesn't fit is refused, as docstrings say


@for_each
def test_bad_sizes_of_masks_and_heads(build: Build) -> None:
    with pytest.raises(RuntimeError, match="must match the size"):
        build()(draw(BATCH, CONTEXT + 4, D_IN))
    with pytest.raises(ValueError, match="dropout probability has to be between 0 and 1"):
        build(dropout=2)
    with pytest.raises(ValueError, match="d_out must be a multiple of num_heads=2, got 3"):
        MultiHeadAttention(3, 3, 6, 0.0, 2)
