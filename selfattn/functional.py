r"""Scaled dot-product attention, one function for each step of its equation.

With queries :math:`Q`, keys :math:`K` and values :math:`V` as the rows of three matrices,

.. math::

    Z = \operatorname{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V

is computed from the inside out: attention scores, attention weights, context vectors.
In all of them a row belongs to a query and a column to a key.

Each function refuses what would give wrong numbers without an error, or an error that is hard to
understand. Where dtypes or devices differ, or leading dimensions don't broadcast, PyTorch's own
RuntimeError says so.
"""

import torch
from torch import Tensor, softmax

__all__ = [
    "attention_scores",
    "attention_weights",
    "context_vectors",
    "join_heads",
    "self_attention",
    "split_heads",
]


def attention_scores(queries: Tensor, keys: Tensor) -> Tensor:
    r"""Compare every query with every key by a dot product.

    .. math::

        \omega_{ij} = q^{(i)} \cdot k^{(j)}, \qquad \Omega = Q K^\top

    Args:
        queries: One query to a row, shape ``(..., N, d_k)``, any floating-point dtype.
            In self-attention ``N`` equals ``T``; to follow one token, pass one row.
        keys: One key to a row, shape ``(..., T, d_k)``, same dtype and device.

    Returns:
        The attention scores, not yet normalised, shape ``(..., N, T)``. One beyond the dtype's
        largest number becomes infinity, and that of float16 is 65504.

    Raises:
        TypeError: If an argument is no floating-point tensor.
        ValueError: If an argument has fewer than two dimensions, or if ``d_k`` differs.

    Examples:
        The second query holds a single 2, so its scores are twice the keys' second column.

        >>> import torch
        >>> from selfattn.functional import attention_scores
        >>> queries = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
        >>> keys = torch.tensor([[3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
        >>> attention_scores(queries, keys)
        tensor([[ 3.,  5.,  7.],
                [ 8., 12., 16.]])

        In float16 the dot product of 64 features of 40, 102400, is too large. Divided by
        :math:`\sqrt{d_k}` it isn't: scale the queries first, and the scores, with ``d_k=1``, not
        again.

        >>> from selfattn.functional import attention_weights
        >>> queries = keys = torch.full((1, 64), 40.0, dtype=torch.float16)
        >>> attention_scores(queries, keys)
        tensor([[inf]], dtype=torch.float16)
        >>> attn_scores = attention_scores(queries / 64**0.5, keys)
        >>> attention_weights(attn_scores, d_k=1)
        tensor([[1.]], dtype=torch.float16)

    References:
        Raschka, Build a Large Language Model (From Scratch), section 3.4.1, figure 3.15.
        Vaswani et al. (2017), Attention Is All You Need, equation 1: the product :math:`QK^\top`.
    """
    _check_matrix("queries", queries, "(..., N, d_k)")
    _check_matrix("keys", keys, "(..., T, d_k)")
    if keys.shape[-1] != queries.shape[-1]:
        raise ValueError(
            f"keys must have shape (..., T, d_k={queries.shape[-1]}), got {tuple(keys.shape)}; "
            f"project queries and keys to the same number of features"
        )
    return queries @ keys.transpose(-2, -1)  # (..., N, T)


def attention_weights(attn_scores: Tensor, d_k: int, mask: Tensor | None = None) -> Tensor:
    r"""Scale attention scores and turn each row into weights that sum to 1.

    .. math::

        \alpha_{ij} = \frac{\exp(\omega_{ij} / \sqrt{d_k})}
                            {\sum_{t=1}^{T} \exp(\omega_{it} / \sqrt{d_k})}

    Args:
        attn_scores: Attention scores, shape ``(..., N, T)``, any floating-point dtype.
        d_k: The number of features of a key; the scores are divided by its square root.
        mask: True where a query must not look, ``torch.bool`` on the same device, of a shape that
            broadcasts to that of the scores; their place is taken by negative infinity. Without
            it, every query looks at every key.

    Returns:
        The attention weights, shape ``(..., N, T)``. None is negative, each row sums to 1. A score
        of negative infinity has weight 0. A row that holds NaN or positive infinity, or nothing but
        negative infinity, becomes NaN, as in ``torch.softmax``.

    Raises:
        TypeError: If ``attn_scores`` is no floating-point tensor.
        ValueError: If ``attn_scores`` has fewer than two dimensions, or ``d_k`` is no whole number
            from 1.
        RuntimeError: By PyTorch, if ``mask`` is not of ``torch.bool`` or does not broadcast.

    Examples:
        For ``d_k = 4`` the scores are halved, to 0 and ln 3; their exponentials, 1 and 3, sum to 4.

        >>> import math
        >>> import torch
        >>> from selfattn.functional import attention_weights
        >>> attn_scores = torch.tensor([[0.0, 2 * math.log(3)]])
        >>> attention_weights(attn_scores, d_k=4)
        tensor([[0.2500, 0.7500]])

        A mask hides keys where it is True. One that leaves a query no key at all leaves nothing
        to normalise:

        >>> mask = torch.tensor([[False, True], [True, True]])
        >>> attention_weights(torch.zeros(2, 2), d_k=4, mask=mask)
        tensor([[1., 0.],
                [nan, nan]])

    References:
        Raschka, Build a Large Language Model (From Scratch), section 3.4.1, figure 3.16.
        Vaswani et al. (2017), Attention Is All You Need, equation 1, and section 3.2.1 for the
        scale.
    """
    _check_matrix("attn_scores", attn_scores, "(..., N, T)")
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
        attn_weights: Attention weights, shape ``(..., N, T)``, any floating-point dtype.
        values: One value to a row, shape ``(..., T, d_v)``, same dtype and device.

    Returns:
        One context vector for each query, shape ``(..., N, d_v)``.

    Raises:
        TypeError: If an argument is no floating-point tensor.
        ValueError: If an argument has fewer than two dimensions, or if ``T`` differs.

    Examples:
        A quarter of the first value and three quarters of the second:

        >>> import torch
        >>> from selfattn.functional import context_vectors
        >>> attn_weights = torch.tensor([[0.25, 0.75]])
        >>> values = torch.tensor([[4.0, 0.0], [0.0, 8.0]])
        >>> context_vectors(attn_weights, values)
        tensor([[1., 6.]])

    References:
        Raschka, Build a Large Language Model (From Scratch), section 3.4.1, figure 3.17.
        Vaswani et al. (2017), Attention Is All You Need, equation 1: the product with :math:`V`.
    """
    _check_matrix("attn_weights", attn_weights, "(..., N, T)")
    _check_matrix("values", values, "(..., T, d_v)")
    if values.shape[-2] != attn_weights.shape[-1]:
        raise ValueError(
            f"values must have shape (..., T={attn_weights.shape[-1]}, d_v), got "
            f"{tuple(values.shape)}; pass one value for each column of attn_weights"
        )
    return attn_weights @ values  # (..., N, d_v)


def split_heads(vectors: Tensor, num_heads: int) -> Tensor:
    r"""Cut queries, keys or values into heads, with an axis for the heads before the tokens.

    .. math::

        Q = \bigl[\, Q^{(1)} \;\; Q^{(2)} \;\cdots\; Q^{(h)} \,\bigr]

    Args:
        vectors: One vector to a row, shape ``(..., T, d_out)``, any floating-point dtype.
        num_heads: The number of heads; ``d_out`` must be a multiple of it.

    Returns:
        A view of the vectors, shape ``(..., num_heads, T, d_out / num_heads)``. The functions of
        this module take it as a batch of sequences, one for each head.

    Raises:
        TypeError: If ``vectors`` is no floating-point tensor.
        ValueError: If ``vectors`` has fewer than two dimensions, or ``num_heads`` is less than 1 or
            doesn't divide ``d_out``.

    Examples:
        The first head takes the first half of each row, the second head the second half.

        >>> import torch
        >>> from selfattn.functional import split_heads
        >>> queries = torch.tensor([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
        >>> split_heads(queries, num_heads=2)
        tensor([[[1., 2.],
                 [5., 6.]],
        <BLANKLINE>
                [[3., 4.],
                 [7., 8.]]])

    References:
        Raschka, Build a Large Language Model (From Scratch), section 3.6.2, figure 3.26.
    """
    _check_matrix("vectors", vectors, "(..., T, d_out)")
    *leading, d_out = vectors.shape
    if num_heads < 1 or d_out % num_heads:
        raise ValueError(
            f"d_out must be a multiple of num_heads={num_heads}, got {d_out}; each head has "
            f"d_out / num_heads features, so change one of the two"
        )
    by_token = vectors.view(*leading, num_heads, d_out // num_heads)
    return by_token.transpose(-3, -2)  # (..., num_heads, T, d_out / num_heads)


def join_heads(context_vecs: Tensor) -> Tensor:
    r"""Put the heads' context vectors side by side: the way back from :func:`split_heads`.

    .. math::

        Z = \bigl[\, Z^{(1)} \;\; Z^{(2)} \;\cdots\; Z^{(h)} \,\bigr]

    Args:
        context_vecs: Context vectors, shape ``(..., num_heads, T, head_dim)``, any floating-point
            dtype.

    Returns:
        One context vector for each token, shape ``(..., T, num_heads * head_dim)``.

    Raises:
        TypeError: If ``context_vecs`` is no floating-point tensor.
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
    _check_matrix("context_vecs", context_vecs, "(..., num_heads, T, head_dim)", dims=3)
    return context_vecs.transpose(-3, -2).flatten(-2)  # (..., T, d_out)


def self_attention(
    x: Tensor, W_query: Tensor, W_key: Tensor, W_value: Tensor, mask: Tensor | None = None
) -> Tensor:
    r"""Project tokens to queries, keys and values, and attend from each token to all.

    .. math::

        Z = \operatorname{softmax}\!\left(
                \frac{(X W_q)(X W_k)^\top}{\sqrt{d_k}}\right) X W_v

    Args:
        x: Embedded tokens, shape ``(..., T, d_in)``, any floating-point dtype.
        W_query: Shape ``(d_in, d_k)``, same dtype and device as ``x``, applied as ``x @ W_query``.
        W_key: Shape ``(d_in, d_k)``, likewise.
        W_value: Shape ``(d_in, d_v)``, likewise; ``d_v`` may differ from ``d_k``.
        mask: True where a token must not look, ``torch.bool`` on the same device, of a shape that
            broadcasts to ``(..., T, T)``; ``torch.ones(T, T).triu(diagonal=1).bool()`` makes the
            attention causal. Without it, every token looks at all.

    Returns:
        One context vector for each token, shape ``(..., T, d_v)``. In float16 the queries are
        scaled before they meet the keys: the scores themselves may exceed its largest number.

    Raises:
        TypeError: If ``x`` or a matrix is no floating-point tensor.
        ValueError: If ``x`` has fewer than two dimensions, or if a matrix does not fit.
        RuntimeError: By PyTorch, if ``mask`` is not of ``torch.bool`` or does not broadcast.

    Examples:
        Tokens 0 and 1 have the queries 0 and ln 3, the keys 0 and 1, the values 0 and 4.
        The first token weighs both values equally, the second by a quarter and three quarters.

        >>> import math
        >>> import torch
        >>> from selfattn.functional import self_attention
        >>> x = torch.tensor([[0.0], [1.0]])
        >>> W_query = torch.tensor([[math.log(3)]])
        >>> W_key = torch.tensor([[1.0]])
        >>> W_value = torch.tensor([[4.0]])
        >>> self_attention(x, W_query, W_key, W_value)
        tensor([[2.0000],
                [3.0000]])

        With a causal mask the first token sees nothing but itself, whose value is 0.

        >>> mask = torch.ones(2, 2).triu(diagonal=1).bool()
        >>> self_attention(x, W_query, W_key, W_value, mask)
        tensor([[0.0000],
                [3.0000]])

    References:
        Raschka, Build a Large Language Model (From Scratch), section 3.4, figure 3.18.
        Vaswani et al. (2017), Attention Is All You Need, equation 1.
    """
    _check_matrix("x", x, "(..., T, d_in)")
    for name, weight in (("W_query", W_query), ("W_key", W_key), ("W_value", W_value)):
        _check_weight(name, weight, d_in=x.shape[-1])
    d_k = W_query.shape[-1]

    queries = x @ W_query  # (..., T, d_k)
    keys = x @ W_key  # (..., T, d_k)
    values = x @ W_value  # (..., T, d_v)
    if queries.dtype == torch.float16:  # which has no room for scores that are not yet scaled
        queries, d_k = queries / d_k**0.5, 1
    attn_scores = attention_scores(queries, keys)  # (..., T, T)
    attn_weights = attention_weights(attn_scores, d_k, mask)
    return context_vectors(attn_weights, values)  # (..., T, d_v)


def _check_matrix(name: str, value: object, shape: str, dims: int = 2) -> None:
    """Require a floating-point tensor of at least so many dimensions."""
    if not isinstance(value, Tensor) or not value.is_floating_point():
        got = value.dtype if isinstance(value, Tensor) else type(value).__name__
        raise TypeError(
            f"{name} must be a floating-point tensor, got {got}; "
            f"embed token ids first, or convert numbers with .float()"
        )
    if value.dim() < dims:
        raise ValueError(
            f"{name} must have shape {shape}, got {tuple(value.shape)}; "
            f"give a single vector a row of its own, or a single head an axis, with .unsqueeze()"
        )


def _check_weight(name: str, weight: Tensor, d_in: int) -> None:
    """Require a matrix that can be applied as ``x @ weight``."""
    _check_matrix(name, weight, "(d_in, d_out)")
    if weight.shape != (d_in, weight.shape[-1]):
        raise ValueError(
            f"{name} must have shape (d_in={d_in}, d_out), got {tuple(weight.shape)}; it is "
            f"applied as x @ {name}, so a matrix stored as (d_out, d_in), like that of nn.Linear, "
            f"comes in as {name}.transpose(-2, -1)"
        )
