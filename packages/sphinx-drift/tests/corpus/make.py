"""Write the corpus: what PyTorch, NumPy and Python print, as they print it and at full precision.

`python tests/corpus/make.py [FOLDER]` writes a text for each kind of output, and
`precise.json` with the same outputs at full precision.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import sys
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn

from sphinx_drift.run.injected import IN_FULL

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS: dict[str, Callable[[], object]] = {
    "vector": lambda: torch.rand(5),
    "matrix": lambda: torch.randn(4, 3),
    "matrix-wrapped": lambda: torch.randn(3, 17),
    "three-dimensions": lambda: torch.randn(2, 3, 5),
    "four-dimensions": lambda: torch.randn(2, 1, 2, 3),
    "scalar": lambda: torch.randn(7) @ torch.randn(7),
    "scalar-with-grad": lambda: torch.randn(7, requires_grad=True).square().sum(),
    "parameter": lambda: nn.Parameter(torch.rand(3, 2)),
    "matrix-product": lambda: torch.randn(5, 31) @ nn.Parameter(torch.randn(31, 7)),
    "long-product": lambda: torch.randn(3, 997) @ torch.randn(997, 5),
    "large-and-small": lambda: (
        torch.randn(3, 211) @ torch.randn(211, 5) * torch.tensor([1.0, 10, 100, 1, 0.1])
    ),
    "linear-layer": lambda: nn.Linear(13, 7)(torch.randn(5, 13)),
    "integers": lambda: torch.randint(0, 50, (3, 5)),
    "negative-integers": lambda: torch.arange(-6, 6).reshape(3, 4),
    "small-integers": lambda: torch.arange(5, dtype=torch.uint8),
    "whole-floats": lambda: torch.arange(6.0).reshape(2, 3) - 2,
    "causal-mask": lambda: torch.tril(torch.ones(4, 4)),
    "booleans": lambda: torch.randn(3, 4) > 0,
    "shape": lambda: torch.rand(6, 2).shape,
    "scientific": lambda: torch.randn(3, 5) * torch.tensor([1e-5, 1.0, 1e3, 1e-2, 10.0]),
    "softmax-rows": lambda: torch.softmax(torch.randn(4, 7) @ torch.randn(7, 6), dim=-1),
    "not-finite": lambda: torch.tensor([math.nan, math.inf, -math.inf, 0.5]),
    "negative-zeros": lambda: torch.tensor([-0.0, 0.0, -1e-6, 1e-6, 0.25]),
    "double": lambda: torch.randn(2, 3, dtype=torch.float64),
    "half": lambda: torch.randn(5).half(),
    "brain-float": lambda: torch.randn(2, 5).bfloat16(),
    "complex-numbers": lambda: torch.fft.fft(torch.randn(5)),
    "complex-whole": lambda: torch.tensor([1 + 2j, -3j, 0.0 + 1j]),
    "sparse": lambda: torch.tensor([[0, 0.25, 0], [1.5, 0, -0.125]]).to_sparse(),
    "quantized": lambda: torch.fake_quantize_per_tensor_affine(torch.randn(5), 0.1, 0, -128, 127),
    "summarised": lambda: torch.randn(1003, 7),
    "empty": lambda: torch.empty(0, 3),
    "layers": lambda: nn.Sequential(
        nn.Linear(3, 2, bias=False), nn.Softmax(dim=-1), nn.Dropout(0.5)
    ),
    "state-dict": lambda: nn.Linear(3, 2).state_dict(),
    "list-of-tensors": lambda: [torch.randn(3), 100 * torch.randn(3)],
    "tuple-of-tensors": lambda: torch.randn(5).sort(),
    "ordered-dictionary": lambda: OrderedDict(loss=0.125, steps=3, name="v2"),
    "tolist": lambda: torch.randn(2, 3).tolist(),
    "python-numbers": lambda: (0.1 + 0.2, 1e-9, 10**12, -5, 1e22, 2.0, math.pi),
    "numpy-double": lambda: np.linspace(0, 1, 7).reshape(1, 7) ** 3,
    "numpy-integers": lambda: np.arange(-3, 9).reshape(3, 4),
    "numpy-complex": lambda: np.array([1 + 2j, 0.5 - 0.125j, 1j]),
    "numpy-scientific": lambda: np.exp(np.array([-20.0, -3.0, 0.0, 5.0])),
    "large": lambda: torch.randn(5, 61) @ torch.randn(61, 3) * 1000,
    "exact-at-large": lambda: (torch.tensor([16777216.0, 3.0]), torch.tensor([123456.78, 0.5])),
    "softmax-tail": lambda: torch.softmax(
        torch.randn(11, 16) @ torch.randn(16, requires_grad=True) * 9, dim=0
    ),
    "dictionary": lambda: {"journey": 0, "one": 1, "starts": 2, "step": 3, "with": 4, "your": 5},
    "item": lambda: float(torch.randn(31) @ torch.randn(31)),
}
"""What each kind of output returns; the functions below print too."""


def kind(function: Callable[[], object]) -> Callable[[], object]:
    """Take a function for a kind of output: what it prints, then what it returns."""
    KINDS[function.__name__.replace("_", "-")] = function
    return function


@kind
def softmax_masked() -> object:
    scores = torch.randn(4, 4).masked_fill(torch.ones(4, 4).triu(1).bool(), -math.inf)
    print(scores)
    return torch.softmax(scores, dim=-1)


@kind
def formatted() -> None:
    weights = torch.softmax(torch.randn(3), dim=0)
    for word, weight in zip(("your", "journey", "starts"), weights, strict=True):
        print(f"{word:>8} {weight:.4f}")


@kind
def fewer_digits() -> None:
    torch.set_printoptions(precision=2, sci_mode=False)
    try:
        print(torch.randn(2, 5))
    finally:
        torch.set_printoptions(profile="default")


@kind
def numpy_matrix() -> object:
    print(torch.randn(3, 4).numpy())
    return torch.randn(2, 3).numpy()


@kind
def numpy_scalars() -> object:
    print(np.float64(1) / 3, np.float32(1) / np.float32(3))
    return [np.float64(0.25), np.float32(1) / np.float32(3), np.int64(3), np.bool_(1)]


@kind
def several_lines() -> None:
    attn_scores = torch.randn(3, 5) @ torch.randn(5, 3)
    print("attention scores:")
    print(attn_scores)
    print("sum of each row:", torch.softmax(attn_scores, dim=-1).sum(dim=-1))
    print("equal:", torch.allclose(attn_scores, attn_scores.clone()))


@kind
def table() -> None:
    print(f"{'T':>5} {'scores':>8} {'ms':>6}")
    for tokens in (16, 64, 256):
        print(f"{tokens:5} {tokens * tokens:8} {tokens / 7:6.2f}")


@kind
def error() -> None:
    try:
        torch.rand(2, 3) @ torch.rand(4, 2)
    except RuntimeError as raised:
        print(f"RuntimeError: {raised}")


@kind
def gradient() -> object:
    x = torch.randn(3, 5, requires_grad=True)
    torch.softmax(x @ torch.randn(5, 4), dim=-1).square().sum().backward()
    return x.grad


def written(function: Callable[[], object]) -> str:
    """Return what a kind prints, ending with what it returns."""
    torch.manual_seed(123)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        value = function()
        if value is not None:
            print(repr(value))
    return out.getvalue()


def main() -> None:
    """Write the corpus into a folder, this one if none is named."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    folder.mkdir(parents=True, exist_ok=True)
    for name, function in KINDS.items():
        (folder / f"{name}.txt").write_text(written(function), encoding="utf-8")
    for change in IN_FULL.values():
        change()
    precise = {name: written(function) for name, function in sorted(KINDS.items())}
    text = json.dumps(precise, indent=1, ensure_ascii=False)
    (folder / "precise.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
