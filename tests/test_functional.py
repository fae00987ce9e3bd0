"""The functions against the documented values, PyTorch's own attention and plain Python."""

import math
import re
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from selfattn import (
    attention_scores,
    attention_weights,
    context_vectors,
    join_heads,
    split_heads,
    who_sees,
)

BATCH, N, T, D_K, D_V = 2, 3, 5, 11, 13  # distinct primes: no two axes can be exchanged


def draw(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=dtype)


def draw_three(*batch: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> list[Tensor]:
    """Draw queries, keys and values."""
    shapes = ((*batch, N, D_K), (*batch, T, D_K), (*batch, T, D_V))
    return [draw(*shape, seed=seed + place, dtype=dtype) for place, shape in enumerate(shapes)]


def attend(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    attn_scores = attention_scores(queries, keys)
    return context_vectors(attention_weights(attn_scores, queries.shape[-1]), values)


# Independent oracles


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_agrees_with_pytorch(dtype: torch.dtype) -> None:
    queries, keys, values = draw_three(BATCH, dtype=dtype)
    context_vecs = attend(queries, keys, values)
    assert context_vecs.dtype == dtype
    assert context_vecs.shape == (BATCH, N, D_V)
    exact = scaled_dot_product_attention(queries.double(), keys.double(), values.double())
    rounding = 16 * torch.finfo(dtype).eps
    torch.testing.assert_close(context_vecs.double(), exact, rtol=rounding, atol=rounding)


def test_shapes_and_broadcast_batches() -> None:
    queries, keys, values = draw(BATCH, 1, N, D_K), draw(17, T, D_K), draw(T, D_V)
    attn_scores = attention_scores(queries, keys)
    assert attn_scores.shape == (BATCH, 17, N, T)
    attn_weights = attention_weights(attn_scores, D_K)
    assert attn_weights.shape == (BATCH, 17, N, T)
    assert context_vectors(attn_weights, values).shape == (BATCH, 17, N, D_V)


@pytest.mark.parametrize("diagonal", [-1, 0, 1, T])
def test_who_sees_finds_each_mask(diagonal: int) -> None:
    visible = torch.ones(T, T).tril(diagonal).bool()
    x = draw(BATCH, T, D_K)
    unchanged = x.clone()
    seen = who_sees(lambda x: visible.to(x.dtype) @ x, x)
    assert torch.equal(seen, visible.expand(BATCH, T, T))
    assert torch.equal(x, unchanged)


@pytest.mark.parametrize("seed", range(4))
def test_who_sees_looks_through_the_norm_of_a_block(seed: int) -> None:
    torch.manual_seed(seed)
    block = torch.nn.TransformerEncoderLayer(
        8, nhead=2, dim_feedforward=32, dropout=0.0, batch_first=True, norm_first=True
    )
    block.requires_grad_(requires_grad=False)
    hidden = torch.ones(T, T).triu(diagonal=1).bool()
    seen = who_sees(lambda x: block(x, src_mask=hidden), torch.randn(2, T, 8))
    assert torch.equal(seen, ~hidden.expand(2, T, T))


def test_gradients() -> None:
    assert torch.autograd.gradcheck(attend, [each.requires_grad_() for each in draw_three()])


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [0, 1, 2], ids=["queries", "keys", "values"])
def test_nan_and_infinity_go_through_as_in_pytorch(bad: float, place: int) -> None:
    queries, keys, values = draw_three(seed=1)
    (queries, keys, values)[place][2, 3] = bad
    # A fused kernel may take a row of NaN for one that is masked, so the defining one is asked.
    with sdpa_kernel(SDPBackend.MATH):
        expected = scaled_dot_product_attention(queries, keys, values)
    context_vecs = attend(queries, keys, values)
    assert not context_vecs.isfinite().all()
    torch.testing.assert_close(context_vecs, expected, equal_nan=True)


@pytest.mark.parametrize("scale", [0.0, 1e-3, 1.0, 1e3])
@pytest.mark.parametrize("seed", range(3))
def test_weights_are_a_distribution(scale: float, seed: int) -> None:
    attn_weights = attention_weights(draw(BATCH, N, T, seed=seed) * scale, D_K)
    assert (attn_weights >= 0).all()
    torch.testing.assert_close(attn_weights.sum(dim=-1), torch.ones(BATCH, N).double())


def test_a_mask_is_repeated_over_leading_axes() -> None:
    ahead = torch.ones(T, T).triu(diagonal=1).bool()
    attn_scores = draw(BATCH, N, T, T)
    attn_weights = attention_weights(attn_scores, D_K, ahead)
    assert (attn_weights[..., ahead] == 0).all()
    torch.testing.assert_close(attn_weights[1, 2], attention_weights(attn_scores[1, 2], D_K, ahead))
    padding = torch.zeros(BATCH, 1, 1, T, dtype=torch.bool)
    padding[1, ..., 3:] = True
    attn_weights = attention_weights(attn_scores, D_K, padding)
    assert (attn_weights[1, ..., 3:] == 0).all()
    assert (attn_weights[0] > 0).all()


def test_splitting_and_joining_are_inverse() -> None:
    vectors = draw(BATCH, T, N * D_V)
    heads = split_heads(vectors, N)
    assert torch.equal(heads[1, 2], vectors[1, :, 2 * D_V :])
    assert heads.data_ptr() == vectors.data_ptr()
    assert torch.equal(join_heads(heads), vectors)


# Errors: what was expected, what came, what to do


QUERIES, KEYS, VALUES = draw_three()
SCORES = draw(N, T)
Call = Callable[[], Tensor]
FLOAT = "must be a floating-point tensor, got "
NUMBER = "d_k must be the number of features of a key, at least 1, got "
ERRORS: list[tuple[Call, type[Exception], str]] = [
    (lambda: attention_scores([[1.0]], KEYS), TypeError, f"queries {FLOAT}list; embed"),  # type: ignore[arg-type]
    (lambda: attention_scores(QUERIES, KEYS.long()), TypeError, f"keys {FLOAT}torch.int64; embed"),
    (lambda: attention_scores(QUERIES[0], KEYS), ValueError, "(..., N, d_k), got (11,); give a"),
    (lambda: attention_scores(QUERIES, VALUES), ValueError, "(..., T, d_k=11), got (5, 13); "),
    (lambda: attention_weights(SCORES, 2**0.5), ValueError, f"{NUMBER}1.41421"),  # type: ignore[arg-type]
    (lambda: attention_weights(SCORES, 0), ValueError, f"{NUMBER}0"),
    (lambda: attention_weights(SCORES, D_K, SCORES), RuntimeError, "only supports boolean masks"),
    (lambda: context_vectors(SCORES, VALUES[1:]), ValueError, "(..., T=5, d_v), got (4, 13); "),
    (lambda: split_heads(VALUES, 2), ValueError, "a multiple of num_heads=2, got 13; change"),
    (lambda: join_heads(VALUES), ValueError, "(..., num_heads, T, head_dim), got (5, 13); give"),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_error(call: Call, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        call()
