"""Write the corpus: what PyTorch, NumPy and Python print, as they print it and at full precision.

`python sphinx-drift/tests/corpus/make.py [FOLDER]` writes a text for each kind of output, and
`precise.json` with the same outputs at full precision.
"""
# ruff: noqa: T201 - what the kinds print is the corpus

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

from sphinx_drift.run.injected import print_full_precision

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS: dict[str, Callable[[], object]] = {}


def kind(function: Callable[[], object]) -> Callable[[], object]:
    """Take a function for a kind of output: what it prints, then what it returns."""
    KINDS[function.__name__.replace("_", "-")] = function
    return function


@kind
def vector() -> object:
    return torch.rand(5)


@kind
def matrix() -> object:
    return torch.randn(4, 3)


@kind
def matrix_wrapped() -> object:
    return torch.randn(3, 17)


@kind
def three_dimensions() -> object:
    return torch.randn(2, 3, 5)


@kind
def four_dimensions() -> object:
    return torch.randn(2, 1, 2, 3)


@kind
def scalar() -> object:
    return torch.randn(7) @ torch.randn(7)


@kind
def scalar_with_grad() -> object:
    return torch.randn(7, requires_grad=True).square().sum()


@kind
def parameter() -> object:
    return nn.Parameter(torch.rand(3, 2))


@kind
def matrix_product() -> object:
    return torch.randn(5, 31) @ nn.Parameter(torch.randn(31, 7))


@kind
def long_product() -> object:
    return torch.randn(3, 997) @ torch.randn(997, 5)


@kind
def large_and_small() -> object:
    return torch.randn(3, 211) @ torch.randn(211, 5) * torch.tensor([1.0, 10, 100, 1, 0.1])


@kind
def linear_layer() -> object:
    return nn.Linear(13, 7)(torch.randn(5, 13))


@kind
def integers() -> object:
    return torch.randint(0, 50, (3, 5))


@kind
def negative_integers() -> object:
    return torch.arange(-6, 6).reshape(3, 4)


@kind
def small_integers() -> object:
    return torch.arange(5, dtype=torch.uint8)


@kind
def whole_floats() -> object:
    return torch.arange(6.0).reshape(2, 3) - 2


@kind
def causal_mask() -> object:
    return torch.tril(torch.ones(4, 4))


@kind
def booleans() -> object:
    return torch.randn(3, 4) > 0


@kind
def shape() -> object:
    return torch.rand(6, 2).shape


@kind
def shape_labelled() -> object:
    print("keys.shape:", torch.rand(6, 2).shape)
    print("values.shape:", torch.rand(13, 28).shape)
    return None


@kind
def scientific() -> object:
    return torch.randn(3, 5) * torch.tensor([1e-5, 1.0, 1e3, 1e-2, 10.0])


@kind
def softmax_rows() -> object:
    return torch.softmax(torch.randn(4, 7) @ torch.randn(7, 6), dim=-1)


@kind
def softmax_tail() -> object:
    scores = torch.randn(11, 16) @ torch.randn(16, requires_grad=True) * 9
    return torch.softmax(scores, dim=0)


@kind
def softmax_masked() -> object:
    scores = torch.randn(4, 4).masked_fill(torch.ones(4, 4).triu(1).bool(), -math.inf)
    print(scores)
    return torch.softmax(scores, dim=-1)


@kind
def not_finite() -> object:
    return torch.tensor([math.nan, math.inf, -math.inf, 0.5])


@kind
def negative_zeros() -> object:
    return torch.tensor([-0.0, 0.0, -1e-6, 1e-6, 0.25])


@kind
def double() -> object:
    return torch.randn(2, 3, dtype=torch.float64)


@kind
def half() -> object:
    return torch.randn(5).half()


@kind
def brain_float() -> object:
    return torch.randn(2, 5).bfloat16()


@kind
def complex_numbers() -> object:
    return torch.fft.fft(torch.randn(5))


@kind
def complex_whole() -> object:
    return torch.tensor([1 + 2j, -3j, 0.0 + 1j])


@kind
def sparse() -> object:
    return torch.tensor([[0, 0.25, 0], [1.5, 0, -0.125]]).to_sparse()


@kind
def quantized() -> object:
    return torch.fake_quantize_per_tensor_affine(torch.randn(5), 0.1, 0, -128, 127)


@kind
def summarised() -> object:
    return torch.randn(1003, 7)


@kind
def empty() -> object:
    return torch.empty(0, 3)


@kind
def layers() -> object:
    return nn.Sequential(nn.Linear(3, 2, bias=False), nn.Softmax(dim=-1), nn.Dropout(0.5))


@kind
def state_dict() -> object:
    return nn.Linear(3, 2).state_dict()


@kind
def list_of_tensors() -> object:
    return [torch.randn(3), 100 * torch.randn(3)]


@kind
def tuple_of_tensors() -> object:
    return torch.randn(5).sort()


@kind
def dictionary() -> object:
    words = ["your", "journey", "starts", "with", "one", "step"]
    return {word: place for place, word in enumerate(sorted(words))}


@kind
def ordered_dictionary() -> object:
    return OrderedDict(loss=0.125, steps=3, name="v2")


@kind
def item() -> object:
    return (torch.randn(31) @ torch.randn(31)).item()


@kind
def items() -> object:
    for step in range(3):
        print(f"step {step}: loss", torch.randn(7).square().mean().item())
    return None


@kind
def formatted() -> object:
    weights = torch.softmax(torch.randn(3), dim=0)
    for word, weight in zip(("your", "journey", "starts"), weights, strict=True):
        print(f"{word:>8} {weight:.4f}")
    return None


@kind
def tolist() -> object:
    return torch.randn(2, 3).tolist()


@kind
def fewer_digits() -> object:
    torch.set_printoptions(precision=2, sci_mode=False)
    try:
        print(torch.randn(2, 5))
    finally:
        torch.set_printoptions(profile="default")
    return None


@kind
def python_numbers() -> object:
    return 0.1 + 0.2, 1e-9, 10**12, -5, 1e22, 2.0, math.pi


@kind
def numpy_matrix() -> object:
    print(torch.randn(3, 4).numpy())
    return torch.randn(2, 3).numpy()


@kind
def numpy_double() -> object:
    return np.linspace(0, 1, 7).reshape(1, 7) ** 3


@kind
def numpy_scalars() -> object:
    print(np.float64(1) / 3, np.float32(1) / np.float32(3))
    return [np.float64(0.25), np.float32(1) / np.float32(3), np.int64(3), np.bool_(1)]


@kind
def numpy_integers() -> object:
    return np.arange(-3, 9).reshape(3, 4)


@kind
def numpy_complex() -> object:
    return np.array([1 + 2j, 0.5 - 0.125j, 1j])


@kind
def numpy_scientific() -> object:
    return np.exp(np.array([-20.0, -3.0, 0.0, 5.0]))


@kind
def several_lines() -> object:
    attn_scores = torch.randn(3, 5) @ torch.randn(5, 3)
    print("attention scores:")
    print(attn_scores)
    print("sum of each row:", torch.softmax(attn_scores, dim=-1).sum(dim=-1))
    print("equal:", torch.allclose(attn_scores, attn_scores.clone()))
    return None


@kind
def table() -> object:
    print(f"{'T':>5} {'scores':>8} {'ms':>6}")
    for tokens in (16, 64, 256):
        print(f"{tokens:5} {tokens * tokens:8} {tokens / 7:6.2f}")
    return None


@kind
def error() -> object:
    try:
        torch.rand(2, 3) @ torch.rand(4, 2)
    except RuntimeError as raised:
        print(f"RuntimeError: {raised}")
    return None


@kind
def gradient() -> object:
    x = torch.randn(3, 5, requires_grad=True)
    torch.softmax(x @ torch.randn(5, 4), dim=-1).square().sum().backward()
    return x.grad


@kind
def large() -> object:
    return torch.randn(5, 61) @ torch.randn(61, 3) * 1000


@kind
def exact_at_large() -> object:
    return torch.tensor([16777216.0, 3.0]), torch.tensor([123456.78, 0.5])


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
    print_full_precision()
    precise = {name: written(function) for name, function in sorted(KINDS.items())}
    text = json.dumps(precise, indent=1, ensure_ascii=False)
    (folder / "precise.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
