"""Self-attention as two PyTorch modules, listings 3.1 and 3.2, and the copying of their weights.

The book's pages define the same classes, and a test compares the two. What doesn't fit is refused
by PyTorch; the same steps with checks of their own are in :mod:`selfattn.functional`.
The equation is the first of Vaswani et al. (2017), Attention Is All You Need.
"""

import torch
from torch import nn


class SelfAttention_v1(nn.Module):
    r"""Self-attention whose three weight matrices are plain parameters (listing 3.1).

    .. math::

        Z = \operatorname{softmax}\!\left(
                \frac{(X W_q)(X W_k)^\top}{\sqrt{d_{\text{out}}}}\right) X W_v

    The parameters ``W_query``, ``W_key`` and ``W_value`` have shape ``(d_in, d_out)`` and are drawn
    in this order by ``torch.rand``, uniformly from 0 to 1.

    Called with ``x`` of shape ``(..., T, d_in)``, in the parameters' dtype and on their device, the
    module returns one context vector for each token, shape ``(..., T, d_out)``.

    Args:
        d_in: The number of features of a token.
        d_out: The number of features of a query, a key, a value and a context vector.

    Raises:
        RuntimeError: In the call, by PyTorch, if ``x`` has another width, dtype or device.
        IndexError: In the call, by PyTorch, if ``x`` has fewer than two dimensions.

    Examples:
        >>> import torch
        >>> from selfattn import SelfAttention_v1
        >>> sa_v1 = SelfAttention_v1(d_in=2, d_out=1)
        >>> _ = torch.nn.init.zeros_(sa_v1.W_query)  # so every weight is one half
        >>> _ = torch.nn.init.ones_(sa_v1.W_value)
        >>> sa_v1(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor([[5.],
                [5.]], grad_fn=<MmBackward0>)

    References:
        Raschka, Build a Large Language Model (From Scratch), section 3.4.2, listing 3.1.
    """

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        keys = x @ self.W_key  # (..., T, d_out)
        queries = x @ self.W_query
        values = x @ self.W_value
        attn_scores = queries @ keys.transpose(-2, -1)  # (..., T, T)
        attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)
        context_vecs = attn_weights @ values  # (..., T, d_out)
        return context_vecs


class SelfAttention_v2(nn.Module):
    r"""Self-attention whose three projections are linear layers (listing 3.2).

    .. math::

        Q &= X W_q + b_q, \quad K = X W_k + b_k, \quad V = X W_v + b_v \\
        Z &= \operatorname{softmax}\!\left(
                \frac{Q K^\top}{\sqrt{d_{\text{out}}}}\right) V

    ``W_query``, ``W_key`` and ``W_value`` are ``nn.Linear`` layers made in this order. Each stores
    its matrix transposed, shape ``(d_out, d_in)``, drawn uniformly from ±1/√d_in; the vectors
    :math:`b` are there only with ``qkv_bias=True``. Shapes and dtypes are those of
    :class:`SelfAttention_v1`.

    Args:
        d_in: As in a v1, and so is ``d_out``.
        qkv_bias: Whether the projections add a learned vector.

    Raises:
        RuntimeError: In the call, as a v1, which has an IndexError too.

    Examples:
        >>> import torch
        >>> from selfattn import SelfAttention_v2
        >>> sa_v2 = SelfAttention_v2(d_in=3, d_out=2, qkv_bias=True)
        >>> sa_v2(torch.rand(7, 5, 3)).shape
        torch.Size([7, 5, 2])

    References:
        Raschka, Build a Large Language Model (From Scratch), section 3.4.2, listing 3.2.
    """

    def __init__(self, d_in: int, d_out: int, qkv_bias: bool = False) -> None:
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        keys = self.W_key(x)  # (..., T, d_out)
        queries = self.W_query(x)
        values = self.W_value(x)
        attn_scores = queries @ keys.transpose(-2, -1)  # (..., T, T)
        attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)
        context_vecs = attn_weights @ values  # (..., T, d_out)
        return context_vecs


def copy_weights(source: SelfAttention_v2, target: SelfAttention_v1) -> None:
    r"""Copy the weights of a v2 into a v1, so that both compute the same (exercise 3.1).

    .. math::

        W^{(1)} = \bigl(W^{(2)}\bigr)^\top \quad\text{for query, key and value}

    The copy leaves no trace in autograd, and later changes of one don't reach the other.

    Args:
        source: The module to copy from, without biases.
        target: The module to copy to, with the same sizes.

    Raises:
        RuntimeError: By PyTorch, if ``source`` has biases, for which a v1 has no place, or if the
            sizes differ. What fits has been copied then.

    Examples:
        >>> import torch
        >>> from selfattn import SelfAttention_v1, SelfAttention_v2, copy_weights
        >>> source, target = SelfAttention_v2(3, 2), SelfAttention_v1(3, 2)
        >>> copy_weights(source, target)
        >>> torch.equal(target.W_query, source.W_query.weight.transpose(-2, -1))
        True

    References:
        Raschka, Build a Large Language Model (From Scratch), section 3.4.2, exercise 3.1.
    """
    copied = {}
    for name, parameter in source.state_dict().items():  # such as W_query.weight
        copied[name.removesuffix(".weight")] = parameter.transpose(0, -1)
    target.load_state_dict(copied)
