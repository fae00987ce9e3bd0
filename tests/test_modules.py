"""The two modules: the documented values and Exercise 3.1; `test_causal.py` has what all share."""

import re
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import linear, scaled_dot_product_attention

from selfattn import SelfAttention_v1, SelfAttention_v2, copy_weights
from selfattn.examples import six_tokens

BATCH, T, D_IN, D_OUT = 2, 5, 7, 11  # distinct primes: no two axes can be exchanged
KINDS = [SelfAttention_v1, SelfAttention_v2]
Module = SelfAttention_v1 | SelfAttention_v2
Kind = TypeVar("Kind", bound=nn.Module)


def build(
    kind: Callable[[int, int], Kind], seed: int = 123, d_in: int = D_IN, d_out: int = D_OUT
) -> Kind:
    torch.manual_seed(seed)
    return kind(d_in, d_out).double()


def draw(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def matrices(module: Any) -> list[Tensor]:
    weights = (module.W_query, module.W_key, module.W_value)
    return [w if isinstance(w, Tensor) else w.weight.transpose(-2, -1) for w in weights]


@pytest.mark.parametrize(
    ("kind", "seed", "second"),
    [(SelfAttention_v1, 123, [0.3061, 0.8210]), (SelfAttention_v2, 789, [-0.0748, 0.0703])],
)
def test_the_documented_context_vector(kind: type[Module], seed: int, second: list[float]) -> None:
    """The pages, whose listings define the same, print the others."""
    torch.manual_seed(seed)
    assert [round(x, 4) for x in kind(3, 2)(six_tokens().inputs)[1].tolist()] == second


def test_an_example_that_is_changed_is_whole_in_the_next_call() -> None:
    six_tokens().inputs.zero_()
    assert six_tokens().inputs.all()


# Independent oracles


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch", [(), (BATCH,), (BATCH, 3)], ids=str)
def test_agrees_with_pytorch(kind: type[Module], batch: tuple[int, ...]) -> None:
    module, x = build(kind), draw(*batch, T, D_IN)
    W_query, W_key, W_value = matrices(module)
    context_vecs = module(x)
    assert context_vecs.shape == (*batch, T, D_OUT)
    expected = scaled_dot_product_attention(x @ W_query, x @ W_key, x @ W_value)
    torch.testing.assert_close(context_vecs, expected)


def test_biases_are_added() -> None:
    torch.manual_seed(123)
    module, x = SelfAttention_v2(D_IN, D_OUT, qkv_bias=True).double(), draw(BATCH, T, D_IN)
    queries, keys, values = (
        linear(x, layer.weight, layer.bias)
        for layer in (module.W_query, module.W_key, module.W_value)
    )
    assert len(list(module.parameters())) == 6
    expected = scaled_dot_product_attention(queries, keys, values)
    torch.testing.assert_close(module(x), expected)


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
        assert isinstance(layer, nn.Linear)
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
