"""Cells as notebooks have them: what they print is measured in each lane by tools/bounds.py.

Each kind of cell is written once and taken at several sizes, each with a seed of its own.
"""

from __future__ import annotations

from typing import NamedTuple


class Cell(NamedTuple):
    """A cell: its kind, its size, and its code."""

    kind: str
    size: int
    code: str


_SIZES = (7, 61, 300, 1009)
_SMALL = (5, 17, 31, 64)

_LONG = {
    "product of a row": "(torch.randn(3, {n}) @ torch.randn({n}, 4))[0]",
    "product": "torch.randn(3, {n}) @ torch.randn({n}, 4)",
    "product of uniform numbers": "torch.rand(3, {n}) @ torch.rand({n}, 4)",
    "dot product": "torch.dot(torch.randn({n}), torch.randn({n}))",
    "dot product as a number": "torch.dot(torch.rand({n}), torch.rand({n})).item()",
    "dot product in percent": "print(f'{{(torch.rand({n}) @ torch.rand({n})).item() / {n}:.3%}}')",
    "number times a hundred": "torch.randn({n}).square().mean().item() * 100",
    "number that is cut": "print(f'loss {{torch.randn({n}).square().mean().item():.4f}}')",
    "rounded number": "round((torch.rand({n}) @ torch.randn({n})).item(), 4)",
    "sum": "torch.randn({n}).sum()",
    "sum of rows": "torch.randn(4, {n}).sum(dim=1)",
    "mean": "torch.randn({n}).mean()",
    "mean as a number": "torch.rand({n}).mean().item()",
    "mean in double precision": "torch.rand({n}).exp().double().mean()",
    "variance": "torch.randn(4, {n}).var(dim=1)",
    "standard deviation": "torch.rand({n}).std()",
    "norm": "torch.randn(4, {n}).norm(dim=1)",
    "cosine similarity": "torch.cosine_similarity(torch.randn(4, {n}), torch.randn(4, {n}))",
    "cumulative sum": "torch.randn({n}).cumsum(0)[-5:]",
    "cumulative sum of uniform numbers": "torch.rand({n}).cumsum(0)[-5:]",
    "cumulative product": "(1 + torch.randn({n}) / 100).cumprod(0)[-5:]",
    "logsumexp": "torch.logsumexp(torch.randn(4, {n}), dim=1)",
    "layer norm": "nn.functional.layer_norm(torch.randn(3, {n}), ({n},))[:, :4]",
    "linear layer": "nn.Linear({n}, 4)(torch.randn(3, {n}))",
    "two layers": (
        "nn.Sequential(nn.Linear({n}, 31), nn.GELU(), nn.Linear(31, 3))(torch.randn(4, {n}))"
    ),
    "numbers of a list": "(torch.rand(3, {n}) @ torch.rand({n})).tolist()",
    "array": "(torch.randn(3, {n}) @ torch.randn({n}, 4)).numpy()",
    "array's mean": "torch.rand({n}).numpy().mean()",
    "array's product": "torch.rand(3, {n}).numpy() @ torch.rand({n}, 2).numpy()",
    "fourier transform": "torch.fft.rfft(torch.randn({n}))[:4]",
    "cross entropy": (
        "nn.functional.cross_entropy(torch.randn({n}, 7), torch.randint(0, 7, ({n},)))"
    ),
    "mean squared error": "nn.functional.mse_loss(torch.randn({n}), torch.randn({n}))",
    "softmax of products": (
        "torch.softmax(torch.randn(3, {n}) @ torch.randn({n}, 5) / {n}**0.5, -1)"
    ),
    "counts": "torch.bincount(torch.randint(0, 5, ({n},))).float()",
}
_SHORT = {
    "softmax": "torch.softmax(torch.randn(3, {n}), dim=-1)[:, :5]",
    "softmax of large numbers": "torch.softmax(torch.randn({n}) * 20, dim=0)",
    "log softmax": "torch.log_softmax(torch.randn(2, {n}) * 5, dim=-1)[:, :5]",
    "exponential": "torch.randn({n}).exp()[:6]",
    "exponential of large numbers": "(torch.randn({n}) * 20).exp()[:6]",
    "logarithm": "torch.rand({n}).log()[:6]",
    "hyperbolic tangent": "torch.randn({n}).tanh()[:6]",
    "sigmoid": "torch.randn({n}).sigmoid()[:6]",
    "sine of large numbers": "(torch.randn({n}) * 100).sin()[:6]",
    "power": "torch.rand({n}).pow(2.5)[:6]",
    "gelu": "nn.functional.gelu(torch.randn({n}))[:6]",
    "attention": (
        "nn.functional.scaled_dot_product_attention(torch.randn(1, {n}, 16), "
        "torch.randn(1, {n}, 16), torch.randn(1, {n}, 16))[0, :3, :4]"
    ),
    "attention weights": (
        "torch.softmax(torch.randn({n}, 16) @ torch.randn(16, {n}) / 4, dim=-1)[:3, :6]"
    ),
    "multi-head attention": (
        "nn.MultiheadAttention(16, 4, batch_first=True)(*[torch.randn(1, {n}, 16)] * 3)"
        "[0][0, :3, :4]"
    ),
    "convolution": "nn.Conv1d(3, 4, 5)(torch.randn(1, 3, {n}))[0, :, :3]",
    "convolution of a picture": "nn.Conv2d(3, 2, 3)(torch.randn(1, 3, {n}, {n}))[0, :, 0, :3]",
    "gradient": (
        "x = torch.randn({n}, requires_grad=True)\n"
        "torch.softmax(x @ torch.randn({n}, 5), 0).square().sum().backward()\nx.grad[:6]"
    ),
    "training": (
        "layer = nn.Linear({n}, 1)\nx, y = torch.randn(64, {n}), torch.randn(64, 1)\n"
        "optimizer = torch.optim.SGD(layer.parameters(), lr=0.01)\n"
        "for step in range(20):\n"
        "    loss = nn.functional.mse_loss(layer(x), y)\n"
        "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n"
        "    if step % 5 == 4:\n        print(f'step {{step}}: {{loss.item():.4f}}')"
    ),
    "training with Adam": (
        "layer = nn.Sequential(nn.Linear({n}, 16), nn.Tanh(), nn.Linear(16, 1))\n"
        "x, y = torch.randn(64, {n}), torch.randn(64, 1)\n"
        "optimizer = torch.optim.Adam(layer.parameters())\nlosses = []\n"
        "for step in range(20):\n"
        "    loss = nn.functional.mse_loss(layer(x), y)\n"
        "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n"
        "    losses.append(loss.item())\nprint(sum(losses) / len(losses), losses[-1])"
    ),
    "solution": (
        "torch.linalg.solve(torch.eye({n}) * 9 + torch.randn({n}, {n}), torch.randn({n}))[:5]"
    ),
    "inverse": "torch.linalg.inv(torch.eye({n}) * 9 + torch.randn({n}, {n}))[:3, :3]",
    "singular values": "torch.linalg.svdvals(torch.randn({n}, {n}))[:5]",
    "determinant": "torch.linalg.det(torch.eye({n}) + torch.randn({n}, {n}) / 40)",
    "distances": "torch.cdist(torch.randn(3, {n}), torch.randn(4, {n}))",
    "einsum": "torch.einsum('ij,jk->ik', torch.randn(3, {n}), torch.randn({n}, 3))",
    "embedding and product": (
        "nn.Embedding({n}, 32)(torch.arange(4)) @ nn.Embedding({n}, 32)(torch.arange(3)).T"
    ),
    "recurrent layer": "nn.LSTM({n}, 8)(torch.randn(5, {n}))[0][-1]",
    "transformer layer": (
        "nn.TransformerEncoderLayer(16, 4, 32, 0.0, batch_first=True)"
        "(torch.randn(1, {n}, 16))[0, :3, :4]"
    ),
    "brain floats": "torch.randn(3, {n}).bfloat16() @ torch.randn({n}, 4).bfloat16()",
    "double precision": "torch.randn(3, {n}, dtype=torch.float64) @ torch.randn({n}, 4).double()",
}


def cells() -> list[Cell]:
    """Return all cells."""
    result = []
    for templates, sizes in ((_LONG, _SIZES), (_SHORT, _SMALL)):
        for kind, template in templates.items():
            for size in sizes:
                code = f"torch.manual_seed({size})\n{template.format(n=size)}"
                result.append(Cell(kind, size, code))
    return result
