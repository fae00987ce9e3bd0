"""The modules: documented values, PyTorch's own attention as oracle, its tools, and errors."""

import re
from itertools import product
from typing import Any

import pytest
import torch
from test_functional import draw
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from selfattn import (
    CausalAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    SelfAttention_v1,
    SelfAttention_v2,
    copy_weights,
)
from selfattn.examples import six_tokens

# Distinct primes: no two axes can be exchanged. D_OUT is that of one head.
BATCH, T, D_IN, D_OUT, HEADS, CONTEXT = 2, 5, 7, 11, 3, 13
WIDE = HEADS * D_OUT
MASKED = (CausalAttention, MultiHeadAttentionWrapper, MultiHeadAttention)
KINDS = (SelfAttention_v1, SelfAttention_v2, *MASKED)
for_each_masked = pytest.mark.parametrize("kind", MASKED)


def build(kind: Any, seed: int = 123, **options: Any) -> Any:
    torch.manual_seed(seed)
    if kind in MASKED:
        options = {"context_length": CONTEXT, "dropout": 0.0} | options
    if kind in MASKED[1:]:
        options["num_heads"] = HEADS
    return kind(D_IN, WIDE if kind is MultiHeadAttention else D_OUT, **options).double()


def oracle(module: Any, x: Tensor) -> Tensor:
    """Compute context vectors by PyTorch's own attention, one head after the other."""
    if isinstance(module, MultiHeadAttentionWrapper):
        return torch.cat([oracle(head, x) for head in module.heads], dim=-1)
    weights = (module.W_query, module.W_key, module.W_value)
    projected = [x @ w if isinstance(w, Tensor) else w(x) for w in weights]
    num_heads = getattr(module, "num_heads", 1)
    heads = zip(*(part.chunk(num_heads, dim=-1) for part in projected), strict=True)
    is_causal = isinstance(module, MASKED)
    made = [scaled_dot_product_attention(q, k, v, is_causal=is_causal) for q, k, v in heads]
    joined = torch.cat(made, dim=-1)
    return module.out_proj(joined) if isinstance(module, MultiHeadAttention) else joined


@pytest.mark.parametrize(
    ("kind", "seed", "second"),
    [(SelfAttention_v1, 123, [0.3061, 0.8210]), (SelfAttention_v2, 789, [-0.0748, 0.0703])],
)
def test_the_documented_context_vector(kind: Any, seed: int, second: list[float]) -> None:
    """The pages, whose listings define the same, print the others."""
    torch.manual_seed(seed)
    assert [round(x, 4) for x in kind(3, 2)(six_tokens().inputs)[1].tolist()] == second


def test_an_example_that_is_changed_is_whole_in_the_next_call() -> None:
    six_tokens().inputs.zero_()
    assert six_tokens().inputs.all()


# The oracle


@pytest.mark.parametrize(
    ("kind", "bias"), [(SelfAttention_v1, False), *product(KINDS[1:], (False, True))]
)
@pytest.mark.parametrize("shape", [(T,), (BATCH, 1), (BATCH, 3, CONTEXT)], ids=str)
def test_agrees_with_pytorch(kind: Any, shape: tuple[int, ...], *, bias: bool) -> None:
    """What is causal is so at each length, and the split class is the stack and a projection."""
    module, x = build(kind, **{"qkv_bias": True} if bias else {}), draw(*shape, D_IN)
    layers = [layer for name, layer in module.named_modules() if "W_" in name]
    assert all((layer.bias is not None) is bias for layer in layers)
    context_vecs = module(x)
    assert context_vecs.shape == (*shape, WIDE if kind in MASKED[1:] else D_OUT)
    torch.testing.assert_close(context_vecs, oracle(module, x))


@pytest.mark.parametrize("kind", KINDS)
def test_compile_in_one_graph(kind: Any) -> None:
    module, x = build(kind), draw(BATCH, T, D_IN)
    compiled = torch.compile(module, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), module(x))


# Dropout


@for_each_masked
def test_dropout_is_for_training_alone(kind: Any) -> None:
    module, x = build(kind, dropout=0.5), draw(BATCH, T, D_IN)
    assert module.training
    torch.manual_seed(0)
    assert not torch.allclose(module(x), oracle(module, x))
    torch.testing.assert_close(module.eval()(x), oracle(module, x))


def test_dropout_drops_weights_and_not_features() -> None:
    """A token whose only weight is dropped has nothing left, in all its features at once."""
    heads = [build(CausalAttention, seed, dropout=0.5) for seed in range(30)]
    first = torch.stack([head(draw(1, D_IN))[0] for head in heads])
    dropped = (first == 0).all(dim=-1)
    assert (first == 0).any(dim=-1).equal(dropped)
    assert 0 < dropped.sum() < 30


# The mask


@for_each_masked
def test_the_mask_is_a_buffer(kind: Any) -> None:
    module = build(kind)
    masks = {name: value for name, value in module.state_dict().items() if name.endswith("mask")}
    assert len(masks) == (HEADS if kind is MultiHeadAttentionWrapper else 1)
    assert not any(name.endswith("mask") for name, _ in module.named_parameters())
    for mask in masks.values():
        assert mask.dtype == torch.bool  # .double() has left it alone
        assert mask.equal(torch.ones(CONTEXT, CONTEXT).triu(diagonal=1) == 1)
    assert {buffer.device.type for buffer in module.to("meta").buffers()} == {"meta"}


@for_each_masked
def test_saved_masks_of_floats_are_read(kind: Any) -> None:
    """Checkpoints of the chapter's own classes hold the mask as ones and zeros."""
    module, other, x = build(kind), build(kind, seed=789), draw(T, D_IN)
    other.load_state_dict({n: value.double() for n, value in module.state_dict().items()})
    assert torch.equal(other(x), module(x))


@for_each_masked
def test_bad_sizes_are_refused(kind: Any) -> None:
    with pytest.raises(RuntimeError, match="must match the size"):
        build(kind)(draw(BATCH, CONTEXT + 4, D_IN))
    with pytest.raises(ValueError, match="dropout probability has to be between 0 and 1"):
        build(kind, dropout=2)


def test_heads_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="d_out must be a multiple of num_heads=2, got 3"):
        MultiHeadAttention(3, 3, 6, 0.0, 2)


# Exercise 3.1


def test_copied_weights_compute_the_same() -> None:
    source, target = build(SelfAttention_v2), build(SelfAttention_v1)
    copy_weights(source, target)
    torch.testing.assert_close(target(x := draw(T, D_IN)), source(x))


def test_copied_weights_are_parameters_of_their_own() -> None:
    source, target = build(SelfAttention_v2), build(SelfAttention_v1)
    parameters = list(target.parameters())
    copy_weights(source, target)
    for before, after, layer in zip(
        parameters, target.parameters(), source.children(), strict=True
    ):
        assert after is before
        assert after.requires_grad
        assert after.is_leaf
        assert after.grad_fn is None
        assert after.untyped_storage().data_ptr() != layer.weight.untyped_storage().data_ptr()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (SelfAttention_v2(D_IN, D_OUT, qkv_bias=True), "Unexpected key(s) in state_dict: "),
        (SelfAttention_v2(D_IN, 1), "size mismatch for W_query"),  # which could be repeated
    ],
)
def test_a_copy_of_what_does_not_fit_is_refused(source: SelfAttention_v2, message: str) -> None:
    with pytest.raises(RuntimeError, match=re.escape(message)):
        copy_weights(source, SelfAttention_v1(D_IN, D_OUT))
