"""Causal attention and its heads as three PyTorch modules, listings 3.3 to 3.5.

The book's pages define the same classes, and a test compares the two. What doesn't fit is refused
by PyTorch. Heads and mask: Vaswani et al. (2017), Attention Is All You Need, section 3.2.
"""

import torch
from torch import nn

from selfattn.functional import split_heads


class CausalAttention(nn.Module):
    r"""Self-attention in which no token sees what comes after it (listing 3.3).

    .. math::

        Z = \operatorname{dropout}\!\left(\operatorname{softmax}\!\left(
                \frac{Q K^\top + M}{\sqrt{d_{\text{out}}}}\right)\right) V,
        \qquad M_{ij} = \begin{cases} 0 & j \le i \\ -\infty & j > i \end{cases}

    with :math:`Q`, :math:`K` and :math:`V` as in :class:`~selfattn.modules.SelfAttention_v2`, and
    the buffer ``mask``, True where a query must not look. ``T`` may be anything up to
    ``context_length``. A NaN in ``x`` reaches even the tokens before it, since 0 times NaN is NaN.

    Args:
        d_in: As in a v2, and so are ``d_out``, ``qkv_bias`` and the shapes.
        context_length: The largest number of tokens; the mask has as many rows and columns.
        dropout: The probability with which training sets an attention weight to zero; the others
            are divided by ``1 - dropout``.

    Raises:
        ValueError: By PyTorch, if ``dropout`` is not from 0 to 1.
        RuntimeError: In the call, as a v2, and if ``x`` has more tokens than ``context_length``.
        IndexError: In the call, as a v2.

    Examples:
        Queries of zero give equal weights, so each result is the mean of the values so far.

        >>> import torch
        >>> from selfattn import CausalAttention
        >>> ca = CausalAttention(d_in=2, d_out=1, context_length=3, dropout=0.0)
        >>> _ = torch.nn.init.zeros_(ca.W_query.weight)
        >>> _ = torch.nn.init.ones_(ca.W_value.weight)
        >>> ca(torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
        tensor([[3.],
                [5.],
                [7.]], grad_fn=<MmBackward0>)

    References:
        Raschka, Build a Large Language Model (From Scratch), section 3.5.3, listing 3.3.
    """

    mask: torch.Tensor

    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, qkv_bias: bool = False
    ) -> None:
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        ahead = torch.ones(context_length, context_length).triu(diagonal=1)
        self.register_buffer("mask", ahead.bool())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        num_tokens = x.shape[-2]
        keys = self.W_key(x)  # (..., T, d_out)
        queries = self.W_query(x)
        values = self.W_value(x)
        attn_scores = queries @ keys.transpose(-2, -1)  # (..., T, T)
        mask = self.mask[:num_tokens, :num_tokens]
        attn_scores = attn_scores.masked_fill(mask, -torch.inf)
        attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)
        attn_weights = self.dropout(attn_weights)
        context_vecs = attn_weights @ values  # (..., T, d_out)
        return context_vecs


class MultiHeadAttentionWrapper(nn.Module):
    r"""Several causal attentions, computed one after the other and joined (listing 3.4).

    .. math::

        Z = \bigl[\, Z^{(1)} \;\; Z^{(2)} \;\cdots\; Z^{(h)} \,\bigr]

    where head :math:`n` of the list ``heads`` is a :class:`~selfattn.causal.CausalAttention`.

    Args:
        num_heads: The number of heads; ``d_out`` is that of each, and all else as in a single one.

    Raises:
        ValueError: As a single head, which has a RuntimeError and an IndexError too.

    Examples:
        >>> import torch
        >>> from selfattn import MultiHeadAttentionWrapper
        >>> mha = MultiHeadAttentionWrapper(3, 2, context_length=6, dropout=0.0, num_heads=5)
        >>> mha(torch.rand(7, 4, 3)).shape
        torch.Size([7, 4, 10])

    References:
        Raschka, Build a Large Language Model (From Scratch), section 3.6.1, listing 3.4.
    """

    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        dropout: float,
        num_heads: int,
        qkv_bias: bool = False,
    ) -> None:
        super().__init__()
        self.heads = nn.ModuleList(
            [
                CausalAttention(d_in, d_out, context_length, dropout, qkv_bias)
                for _ in range(num_heads)
            ]
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([head(x) for head in self.heads], dim=-1)


class MultiHeadAttention(nn.Module):
    r"""Causal attention with several heads, all computed at once (listing 3.5).

    .. math::

        Z = \bigl[\, Z^{(1)} \;\; Z^{(2)} \;\cdots\; Z^{(h)} \,\bigr]\, W_o + b_o

    Queries, keys and values are projected once and split into ``num_heads`` heads, each scaled by
    its own number of features; joined, they go through the layer ``out_proj``, which has a bias.

    Args:
        d_out: The number of features of a context vector, a multiple of ``num_heads``; the other
            arguments are those of :class:`~selfattn.causal.CausalAttention`, and so are the shapes.
        num_heads: The number of heads.

    Raises:
        ValueError: If ``num_heads`` doesn't divide ``d_out``, or ``dropout`` is not from 0 to 1; in
            the call, if ``x`` has fewer than two dimensions. The others are those of a single head.

    Examples:
        >>> import torch
        >>> from selfattn import MultiHeadAttention
        >>> mha = MultiHeadAttention(768, 768, 1024, dropout=0.1, num_heads=12, qkv_bias=True)
        >>> sum(parameter.numel() for parameter in mha.parameters())
        2362368
        >>> mha(torch.rand(2, 5, 768)).shape
        torch.Size([2, 5, 768])

    References:
        Raschka, Build a Large Language Model (From Scratch), section 3.6.2, listing 3.5.
    """

    mask: torch.Tensor

    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        dropout: float,
        num_heads: int,
        qkv_bias: bool = False,
    ) -> None:
        super().__init__()
        if d_out % num_heads:
            raise ValueError(f"d_out must be a multiple of {num_heads=}, got {d_out}")
        self.num_heads, self.head_dim = num_heads, d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        ahead = torch.ones(context_length, context_length).triu(diagonal=1)
        self.register_buffer("mask", ahead.bool())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        num_tokens = x.shape[-2]
        keys = split_heads(self.W_key(x), self.num_heads)  # (..., num_heads, T, head_dim)
        queries = split_heads(self.W_query(x), self.num_heads)
        values = split_heads(self.W_value(x), self.num_heads)
        attn_scores = queries @ keys.transpose(-2, -1)  # (..., num_heads, T, T)
        mask = self.mask[:num_tokens, :num_tokens]
        attn_scores = attn_scores.masked_fill(mask, -torch.inf)
        attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)
        attn_weights = self.dropout(attn_weights)
        context_vecs = attn_weights @ values  # (..., num_heads, T, head_dim)
        context_vecs = context_vecs.transpose(-3, -2).contiguous().flatten(-2)
        return self.out_proj(context_vecs)  # (..., T, d_out)
