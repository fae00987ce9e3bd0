"""Make the numbers of every usual mistake in every class and step of Sections 3.3 to 3.6.

`python docs/_data/mistakes.py` writes them into `mistakes.json`, each mistake by the title of its
section on the page "My numbers differ"; a test makes them again.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np
import torch
from experiment import write_record
from numbers_file import packed
from torch import Tensor, nn

from selfattn import CausalAttention, MultiHeadAttention, MultiHeadAttentionWrapper
from selfattn.examples import six_tokens

FILE = "mistakes.json"
X = six_tokens().inputs  # (6, 3)
AHEAD = torch.ones(6, 6).triu(diagonal=1).bool()
DIAGONAL = torch.eye(6).bool()
SEEDS = (0, 1, 2, 3, 7, 10, 42, 100, 123, 789, 1234, 2024)  # that people take
MODULES = {
    "CausalAttention": lambda rate: CausalAttention(3, 2, 6, rate),
    "MultiHeadAttentionWrapper": lambda rate: MultiHeadAttentionWrapper(3, 2, 6, rate, 2),
    "MultiHeadAttention": lambda rate: MultiHeadAttention(3, 2, 6, rate, 2),
}


@dataclass(frozen=True)
class Code:
    """What a reader runs, and how it differs from the book's."""

    name: str
    """A class, or the steps of a section."""
    draw: str = "linear"
    d_out: int = 2
    dtype: torch.dtype = torch.float32
    seed: int = 123
    bias: bool = False
    draws_before: int = 0
    seeds_each: bool = False
    order: tuple[int, ...] = (0, 1, 2)
    """Which of the matrices drawn is that of queries, of keys and of values."""
    roles: tuple[int, ...] = (0, 1, 2)
    """Which of queries, keys, values and inputs are used as queries, keys and values."""
    scores: str = "dot"
    scale: str = "√d_k"
    mask: str = ""
    softmax: str = "rows"
    dropout: float = 0.0
    weights: str = "each query’s"
    stacked: int = 1
    """Heads with projections of their own."""
    cut: int = 0
    """Into how many heads a projection is cut, if it is."""
    is_viewed: bool = False
    """Whether it is cut without an exchange of axes."""
    joined: str = "side by side"
    out_proj: str = ""


SIMPLE = Code("the steps of Section 3.3", draw="nothing", scale="1")
V1 = Code("SelfAttention_v1", draw="rand")
V2 = Code("SelfAttention_v2", seed=789)
MASKED = Code("the steps of Section 3.5", seed=789, mask="ahead")
CAUSAL = Code("CausalAttention", mask="ahead")
STACK = Code("MultiHeadAttentionWrapper", mask="ahead", stacked=2)
MULTI = Code("MultiHeadAttention", mask="ahead", cut=2, out_proj="last")
OTHER = Code("SelfAttention_v1 with a mask", draw="rand", mask="ahead")  # nowhere in the book
DRAWING = (V1, V2, MASKED, CAUSAL, STACK, MULTI)
LINEAR = (V2, MASKED, CAUSAL, STACK, MULTI)
HIDING = (OTHER, MASKED, CAUSAL, STACK, MULTI)
RIGHT = (SIMPLE, *DRAWING)
ALL = (*RIGHT, OTHER)

# A mistake's title, where it can be made, and what it changes there.
MISTAKES: dict[str, tuple[tuple[Code, ...], tuple[dict[str, Any], ...]]] = {
    "No scaling": (DRAWING, ({"scale": "1"},)),
    "Scaled by dₖ and not by its root": (DRAWING, ({"scale": "d_k"},)),
    "Scaled by √d_in": (DRAWING, ({"scale": "√d_in"},)),
    "Scaled by another size": (
        DRAWING,
        ({"scale": "√T"}, {"scale": "1/√d_k"}, {"scale": "d_in"}, {"scale": "d_k²"}),
    ),
    "Weights scaled, and not scores": (DRAWING, ({"scale": "weights"},)),
    "Scaled where Section 3.3 doesn’t scale": ((SIMPLE,), ({"scale": "√d_k"}, {"scale": "d_k"})),
    "Softmax over the wrong axis": (
        ALL,
        ({"softmax": "columns"}, {"softmax": "all"}, {"softmax": "batch"}),
    ),
    "Softmax over the heads": ((MULTI,), ({"softmax": "heads"},)),
    "No softmax, or two": (
        ALL,
        ({"softmax": "none"}, {"softmax": "sums"}, {"softmax": "twice"}),
    ),
    "Queries and keys exchanged": (DRAWING, ({"scores": "transposed"},)),
    "Weights transposed": (ALL, ({"weights": "each key’s"},)),
    "Cosines for dot products": (ALL, ({"scores": "cosines"},)),
    "The weight of a linear layer, not transposed": (LINEAR, ({"draw": "reshaped"},)),
    "Square matrices, copied without `.T`": ((V1,), ({"draw": "square", "d_out": 3},)),
    "Another `d_out`": (
        DRAWING,
        tuple({"d_out": size} for size in (1, 3, 4)),
    ),
    "Another number of heads": (
        (STACK, MULTI),
        ({"stacked": 3}, {"stacked": 4}, {"cut": 1}, {"cut": 4, "d_out": 4}),
    ),
    "No seed before the class": (
        (V2, CAUSAL),
        (
            {"seed": 123, "draws_before": 18},
            {"seed": 789, "draws_before": 18},
            {"seed": 123, "draws_before": 36},
        ),
    ),
    "In half precision": (
        (V1, V2, CAUSAL, MULTI),
        ({"dtype": torch.float16}, {"dtype": torch.bfloat16}),
    ),
    "Initialized in another way": (
        LINEAR,
        ({"draw": "xavier"}, {"draw": "normal"}, {"draw": "ones"}),
    ),
    "Linear layers with a bias": (LINEAR, ({"bias": True},)),
    "Linear layers for `torch.rand`": ((V1,), ({"draw": "linear"},)),
    "`torch.rand` for linear layers": ((V2, CAUSAL), ({"draw": "rand"},)),
    "The matrices drawn in another order": (
        DRAWING,
        tuple({"order": order} for order in list(permutations(range(3)))[1:]),
    ),
    "The matrices drawn with rows for columns": ((V1,), ({"draw": "rows"},)),
    "One projection for another": (
        DRAWING,
        tuple(
            {"roles": roles}
            for roles in (
                *((0, 1, 1), (0, 1, 0), (0, 0, 2), (1, 1, 2), (0, 2, 2), (2, 1, 2), (0, 2, 1)),
                *((0, 0, 0), (1, 1, 1), (2, 2, 2)),
            )
        ),
    ),
    "The inputs for a projection": (
        (V1, V2, MASKED, CAUSAL, STACK),
        ({"roles": (0, 1, 3)}, {"roles": (3, 3, 2)}),
    ),
    "Another seed": (DRAWING, tuple({"seed": seed} for seed in SEEDS)),
    "A seed before each matrix": (DRAWING, ({"seeds_each": True},)),
    "A draw before the matrices": (
        DRAWING,
        tuple({"draws_before": n} for n in (1, 2, 3, 6, 9, 12, 18, 22, 24, 36)),
    ),
    "`randn` for `rand`": ((V1,), ({"draw": "randn"},)),
    "Drawn in float64": ((V1, CAUSAL), ({"draw": "float64"},)),
    "Drawn by NumPy": (
        (V1,),
        ({"draw": "RandomState"}, {"draw": "default_rng"}, {"draw": "RandomState.randn"}),
    ),
    "No mask": (HIDING, ({"mask": ""},)),
    "A mask where the book has none": ((SIMPLE, V1, V2), ({"mask": "ahead"},)),
    "Masked after softmax, and not divided again": (HIDING, ({"mask": "late"},)),
    "Masked weights divided by their columns": (HIDING, ({"mask": "late, columns"},)),
    "0 instead of −∞": (HIDING, ({"mask": "zero"},)),
    "The mask the wrong way round": (HIDING, ({"mask": "past"},)),
    "The mask begins at another diagonal": (HIDING, ({"mask": "diagonal"}, {"mask": "second"})),
    "Dropout left on": (
        (CAUSAL, STACK, MULTI),
        tuple({"dropout": rate} for rate in (0.1, 0.2, 0.5)),
    ),
    "Heads with the same weights": ((STACK,), ({"joined": "the first twice"},)),
    "Heads added, or below one another": (
        (STACK,),
        ({"joined": "added"}, {"joined": "averaged"}, {"joined": "below"}),
    ),
    "Heads in another order": ((STACK, MULTI), ({"joined": "reversed"},)),
    "Heads cut without `transpose`": ((MULTI,), ({"is_viewed": True},)),
    "Heads not transposed back": ((MULTI,), ({"joined": "viewed"},)),
    "Heads scaled by the size of all": ((MULTI,), ({"scale": "√d_out"},)),
    "No `out_proj`": ((MULTI,), ({"out_proj": "none"},)),
    "`out_proj` without a bias": ((MULTI,), ({"out_proj": "no bias"},)),
    "`out_proj` made first": ((MULTI,), ({"out_proj": "first"},)),
    "The weight of `out_proj`, not transposed": ((MULTI,), ({"out_proj": "transposed"},)),
}


# What code computes ------------------------------------------------------------------------


# How a linear layer's weight is drawn anew, if it is.
LAYERS: dict[str, Callable[[Tensor], object]] = {
    "linear": lambda _: None,
    "reshaped": lambda _: None,
    "xavier": nn.init.xavier_uniform_,
    "normal": lambda weight: nn.init.normal_(weight, std=0.02),
    "ones": nn.init.ones_,
}


class Draws:
    """Random numbers as some code draws them."""

    def __init__(self, code: Code) -> None:
        self.code = code
        torch.manual_seed(code.seed)
        torch.rand(code.draws_before)
        self.old, self.new = np.random.RandomState(code.seed), np.random.default_rng(code.seed)

    def matrices(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield the three weight matrices of a head, each with what it makes of the inputs."""
        made = [self.matrix() for _ in range(3)]
        for n in self.code.order:
            yield made[n]

    def matrix(self) -> tuple[Tensor, Tensor]:
        code = self.code
        if code.seeds_each:
            torch.manual_seed(code.seed)
        if code.draw in LAYERS or (code.draw == "float64" and code.mask):
            dtype = torch.float64 if code.draw == "float64" else torch.float32
            layer = nn.Linear(3, code.d_out, bias=code.bias, dtype=dtype)
            LAYERS.get(code.draw, LAYERS["linear"])(layer.weight)
            weight = layer.weight.detach()
            if code.draw == "reshaped":
                return weight, X @ weight.reshape(3, code.d_out)
            return weight, layer(X.to(dtype)).detach()
        shape = (3, code.d_out)
        weight = {
            "rand": lambda: torch.rand(shape),
            "randn": lambda: torch.randn(shape),
            "float64": lambda: torch.rand(shape, dtype=torch.float64),
            "rows": lambda: torch.rand(shape[::-1]).T,
            "square": lambda: torch.rand(shape).T,
            "RandomState": lambda: torch.tensor(self.old.rand(*shape)),
            "RandomState.randn": lambda: torch.tensor(self.old.randn(*shape)),
            "default_rng": lambda: torch.tensor(self.new.random(shape)),
        }[code.draw]()
        return weight, X.to(weight.dtype) @ weight


def steps(code: Code) -> dict[str, Tensor]:
    """Return what some code makes of the six tokens, by the names of its steps."""
    if code.dropout:  # as the module draws it: for both sentences of a batch at once
        torch.manual_seed(code.seed)
        module = MODULES[code.name](code.dropout)
        return {"context vectors": module(torch.stack((X, X))).detach()}
    draws = Draws(code)
    first = [nn.Linear(code.d_out, code.d_out)] if code.out_proj == "first" else []
    found: dict[str, Tensor] = {}
    heads: list[tuple[Tensor, ...]] = [(X, X, X)]
    if code.draw != "nothing":
        drawn = [list(draws.matrices()) for _ in range(code.stacked)]
        heads = [tuple(made for _, made in head) for head in drawn]
        names = ("queries", "keys", "values")
        for name, (weight, made) in zip(names, drawn[0], strict=True):
            found |= {f"the matrix of {name}": weight, name: made}
    used = [torch.stack([(*head, X)[n].to(head[0]) for head in heads]) for n in code.roles]
    if code.is_viewed:
        used = [part.reshape(code.cut, 6, -1) for part in used]
    elif code.cut:
        used = [part.view(6, code.cut, -1).transpose(0, 1) for part in used]
    found |= attend(code, *(part.to(code.dtype) for part in used))
    context = joined(code, found.pop("context"))
    if code.out_proj not in {"", "none"}:
        size = code.d_out
        (out,) = first or [nn.Linear(size, size, bias=code.out_proj != "no bias")]
        out = out.to(code.dtype)
        if code.out_proj == "transposed":
            out.weight.data = out.weight.data.T
        context = out(context).detach()
    return found | {"context vectors": context}


def attend(code: Code, queries: Tensor, keys: Tensor, values: Tensor) -> dict[str, Tensor]:
    """Return each step of all heads, with the heads in front."""
    if code.scores == "cosines":
        queries, keys = (nn.functional.normalize(each, dim=-1) for each in (queries, keys))
    scores = queries @ keys.mT
    if code.scores == "transposed":
        scores = scores.mT
    size = keys.shape[-1]
    divisors = {"√d_k": size**0.5, "d_k": size, "1/√d_k": size**-0.5, "√T": 6**0.5}
    divisors |= {"√d_in": 3**0.5, "√d_out": code.d_out**0.5, "d_in": 3, "d_k²": size**2}
    scaled = scores / divisors.get(code.scale, 1)
    masked = masked_scores(code, scaled)
    weights = softmax(code, masked)
    if code.scale == "weights":
        weights = weights / size**0.5
    if code.mask.startswith("late"):
        weights = weights.masked_fill(AHEAD, 0)
        weights = weights / weights.sum(dim=-2, keepdim=True) if "columns" in code.mask else weights
    mixing = weights.mT if code.weights == "each key’s" else weights
    found = {"scores": scores, "scaled scores": scaled, "masked scores": masked}
    return found | {"weights": weights, "context": mixing @ values}


def masked_scores(code: Code, scores: Tensor) -> Tensor:
    hidden = {
        "ahead": AHEAD,
        "zero": AHEAD,
        "past": AHEAD.T,
        "diagonal": AHEAD | DIAGONAL,
        "second": AHEAD.triu(diagonal=2),
    }.get(code.mask)
    fill = 0.0 if code.mask == "zero" else -torch.inf
    return scores if hidden is None else scores.masked_fill(hidden, fill)


def softmax(code: Code, scores: Tensor) -> Tensor:
    if code.softmax == "none":
        return scores
    if code.softmax == "sums":
        return scores / scores.sum(dim=-1, keepdim=True)
    if code.softmax == "all":
        return scores.flatten(1).softmax(dim=-1).view_as(scores)
    if code.softmax == "batch":  # of two equal sentences
        return (scores - scores).exp() / 2
    axis = {"columns": -2, "heads": -3}.get(code.softmax, -1)
    weights = scores.softmax(dim=axis)
    return weights.softmax(dim=-1) if code.softmax == "twice" else weights


def joined(code: Code, heads: Tensor) -> Tensor:
    """Return the context vectors of all heads, shape ``(heads, 6, size)``, joined."""
    if code.joined == "viewed":
        return heads.reshape(6, -1)
    together = {
        "added": lambda: heads.sum(dim=0),
        "averaged": lambda: heads.mean(dim=0),
        "below": lambda: heads.flatten(0, 1),
        "reversed": lambda: torch.cat([*heads.flip(0)], dim=-1),
        "the first twice": lambda: torch.cat([heads[0], heads[0]], dim=-1),
    }
    return together.get(code.joined, lambda: torch.cat([*heads], dim=-1))()


# The file ----------------------------------------------------------------------------------


def made() -> Iterator[tuple[str, str, dict[str, Tensor]]]:
    """Yield each mistake's title, what it is made in, and its steps; what is right has no title."""
    for code in RIGHT:
        yield "", code.name, steps(code)
    for title, (codes, changes) in MISTAKES.items():
        for code in codes:
            for change in changes:
                wrong = replace(code, **change)
                if wrong != code and can_be(wrong, code):
                    yield title, code.name, steps(wrong)


def can_be(wrong: Code, code: Code) -> bool:
    """Whether a change of some code runs: a class keeps its kind of heads, all of one size."""
    is_stack, is_cut = code.stacked > 1, bool(code.cut)
    kept = (is_stack or wrong.stacked == 1) and (is_cut or not wrong.cut)
    return kept and (not wrong.cut or wrong.d_out % wrong.cut == 0)


def recorded() -> dict[str, Any]:
    """Return what the file holds."""
    return packed(list(made()))


def main() -> None:
    write_record(FILE, recorded())


if __name__ == "__main__":
    main()
