r"""Scaled dot-product attention, one function for each step of its equation.

With queries :math:`Q`, keys :math:`K` and values :math:`V` as the rows of three matrices,

.. math::

    Z = \operatorname{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V

is computed from the inside out: attention scores, attention weights, context vectors
(Vaswani et al. (2017), Attention Is All You Need, equation 1).
In all of them a row belongs to a query and a column to a key.

All take tensors of any floating-point dtype, and raise a TypeError for what is none. Where dtypes
or devices differ, or leading dimensions don't broadcast, PyTorch's own RuntimeError says so.
"""

from collections.abc import Callable

import torch
from torch import Tensor, softmax


def attention_scores(queries: Tensor, keys: Tensor) -> Tensor:
    r"""Compare every query with every key by a dot product.

    .. math::

        \omega_{ij} = q^{(i)} \cdot k^{(j)}, \qquad \Omega = Q K^\top

    Args:
        queries: One query to a row, shape ``(..., N, d_k)``; in self-attention ``N`` equals ``T``.
        keys: One key to a row, shape ``(..., T, d_k)``.

    Returns:
        The attention scores, not yet normalized, shape ``(..., N, T)``.

    Raises:
        ValueError: If an argument has fewer than two dimensions, or if ``d_k`` differs.

    Examples:
        >>> import torch
        >>> from selfattn.functional import attention_scores
        >>> queries = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
        >>> keys = torch.tensor([[3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
        >>> attention_scores(queries, keys)
        tensor([[ 3.,  5.,  7.],
                [ 8., 12., 16.]])

    References:
        Raschka, Build a Large Language Model (From Scratch), section 3.4.1, figure 3.15.
    """
    _check("queries", queries, N=None, d_k=None)
    _check("keys", keys, T=None, d_k=queries.shape[-1])
    return queries @ keys.transpose(-2, -1)  # (..., N, T)


def attention_weights(attn_scores: Tensor, d_k: int, mask: Tensor | None = None) -> Tensor:
    r"""Scale attention scores and turn each row into weights that sum to 1.

    .. math::

        \alpha_{ij} = \frac{\exp(\omega_{ij} / \sqrt{d_k})}
                            {\sum_{t=1}^{T} \exp(\omega_{it} / \sqrt{d_k})}

    Args:
        attn_scores: Attention scores, shape ``(..., N, T)``.
        d_k: The number of features of a key; the scores are divided by its square root.
        mask: True where a query must not look, ``torch.bool``, of a shape that broadcasts to that
            of the scores. Causal attention needs ``torch.ones(T, T).triu(diagonal=1).bool()``.

    Returns:
        The attention weights, shape ``(..., N, T)``: each row sums to 1, or is NaN, as in
        ``torch.softmax``, if it holds NaN or infinity, or nothing but negative infinity.

    Raises:
        ValueError: If ``attn_scores`` has fewer than two dimensions, or ``d_k`` isn't 1, 2, 3, …
        RuntimeError: By PyTorch, if ``mask`` is not of ``torch.bool`` or does not broadcast.

    Examples:
        >>> import torch
        >>> from selfattn.functional import attention_weights
        >>> mask = torch.tensor([[False, True], [True, True]])
        >>> attention_weights(torch.zeros(2, 2), d_k=4, mask=mask)
        tensor([[1., 0.],
                [nan, nan]])

    References:
        Raschka, Build a Large Language Model (From Scratch), section 3.4.1, figure 3.16.
    """
    _check("attn_scores", attn_scores, N=None, T=None)
    if d_k < 1 or d_k != int(d_k):
        raise ValueError(f"d_k must be the number of features of a key, at least 1, got {d_k}")
    if mask is not None:
        attn_scores = attn_scores.masked_fill(mask, -torch.inf)
    return softmax(attn_scores / d_k**0.5, dim=-1)


def context_vectors(attn_weights: Tensor, values: Tensor) -> Tensor:
    r"""Sum the values, each multiplied by the attention weight that a query gives it.

    .. math::

        z^{(i)} = \sum_{j=1}^{T} \alpha_{ij}\, v^{(j)}, \qquad Z = A V

    Args:
        attn_weights: Attention weights, shape ``(..., N, T)``.
        values: One value to a row, shape ``(..., T, d_v)``.

    Returns:
        One context vector for each query, shape ``(..., N, d_v)``.

    Raises:
        ValueError: If an argument has fewer than two dimensions, or if ``T`` differs.

    Examples:
        >>> import torch
        >>> from selfattn.functional import context_vectors
        >>> context_vectors(torch.tensor([[0.25, 0.75]]), torch.tensor([[4.0, 0.0], [0.0, 8.0]]))
        tensor([[1., 6.]])

    References:
        Raschka, Build a Large Language Model (From Scratch), section 3.4.1, figure 3.17.
    """
    _check("attn_weights", attn_weights, N=None, T=None)
    _check("values", values, T=attn_weights.shape[-1], d_v=None)
    return attn_weights @ values  # (..., N, d_v)


def split_heads(vectors: Tensor, num_heads: int) -> Tensor:
    r"""Cut queries, keys or values into heads, with an axis for the heads before the tokens.

    .. math::

        Q = \bigl[\, Q^{(1)} \;\; Q^{(2)} \;\cdots\; Q^{(h)} \,\bigr]

    Args:
        vectors: One vector to a row, shape ``(..., T, d_out)``.
        num_heads: The number of heads; ``d_out`` must be a multiple of it.

    Returns:
        A view of the vectors, shape ``(..., num_heads, T, d_out / num_heads)``.

    Raises:
        ValueError: If ``vectors`` has fewer than two dimensions, or ``num_heads`` doesn't fit.

    Examples:
        >>> import torch
        >>> from selfattn.functional import split_heads
        >>> queries = torch.tensor([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
        >>> split_heads(queries, num_heads=2)[0]  # the first half of each row
        tensor([[1., 2.],
                [5., 6.]])

    References:
        Raschka, Build a Large Language Model (From Scratch), section 3.6.2, figure 3.26.
    """
    _check("vectors", vectors, T=None, d_out=None)
    *leading, d_out = vectors.shape
    if num_heads < 1 or d_out % num_heads:
        raise ValueError(f"d_out must be a multiple of {num_heads=}, got {d_out}; change either")
    by_token = vectors.view(*leading, num_heads, d_out // num_heads)
    return by_token.transpose(-3, -2)  # (..., num_heads, T, d_out / num_heads)


def join_heads(context_vecs: Tensor) -> Tensor:
    r"""Put the heads' context vectors side by side: the way back from :func:`split_heads`.

    .. math::

        Z = \bigl[\, Z^{(1)} \;\; Z^{(2)} \;\cdots\; Z^{(h)} \,\bigr]

    Args:
        context_vecs: Context vectors, shape ``(..., num_heads, T, head_dim)``.

    Returns:
        One context vector for each token, shape ``(..., T, num_heads * head_dim)``.

    Raises:
        ValueError: If ``context_vecs`` has fewer than three dimensions.

    Examples:
        >>> import torch
        >>> from selfattn.functional import join_heads
        >>> join_heads(torch.tensor([[[1.0, 2.0], [5.0, 6.0]], [[3.0, 4.0], [7.0, 8.0]]]))
        tensor([[1., 2., 3., 4.],
                [5., 6., 7., 8.]])

    References:
        Raschka, Build a Large Language Model (From Scratch), section 3.6.2.
    """
    _check("context_vecs", context_vecs, num_heads=None, T=None, head_dim=None)
    return context_vecs.transpose(-3, -2).flatten(-2)  # (..., T, d_out)


def who_sees(attend: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    r"""Change one token at a time, and find which rows of the result change with it.

    .. math::

        s_{ij} = \bigl[\, z^{(i)}(\ldots, x^{(j)} + \varepsilon, \ldots) \neq z^{(i)} \,\bigr]

    Args:
        attend: What to test, from ``(..., T, d_in)`` to ``(..., T, d_out)``, without dropout. It
            may begin with a layer norm, since the change differs from entry to entry.
        x: One embedding to a row, shape ``(..., T, d_in)``.

    Returns:
        True in row i and column j if result i depends on token j, shape ``(..., T, T)``.

    Raises:
        IndexError: By PyTorch, if ``x`` has fewer than two dimensions.

    Examples:
        >>> import torch
        >>> from selfattn.functional import who_sees
        >>> who_sees(lambda x: torch.ones(3, 3).tril() @ x, torch.zeros(3, 2)).int()
        tensor([[1, 0, 0],
                [1, 1, 0],
                [1, 1, 1]], dtype=torch.int32)

    References:
        The page on masks, whose test this is.
    """
    before, columns = attend(x), []
    for j in range(x.shape[-2]):
        changed = x.clone()
        changed[..., j, :] += torch.randn(x.shape[-1]).to(x)
        columns.append((attend(changed) != before).any(dim=-1))
    return torch.stack(columns, dim=-1)  # (..., T, T)


def _check(name: str, value: object, **sizes: int | None) -> None:
    """Require a floating-point tensor whose last dimensions have these sizes, None for any."""
    if not isinstance(value, Tensor) or not value.is_floating_point():
        raise TypeError(
            f"{name} must be a floating-point tensor, got {getattr(value, 'dtype', type(value))}; "
            f"embed token ids first, or convert numbers with .float()"
        )
    last = value.shape[-len(sizes) :]
    fits = [size in {None, got} for size, got in zip(sizes.values(), last, strict=False)]
    if len(fits) < len(sizes) or not all(fits):
        expected = [axis if size is None else f"{axis}={size}" for axis, size in sizes.items()]
        raise ValueError(
            f"{name} must have shape (..., {', '.join(expected)}), got {tuple(value.shape)}; "
            f"give a single vector a row of its own with .unsqueeze(), or make the sizes agree"
        )
