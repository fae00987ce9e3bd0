"""Measure on a GPU what the page on GPUs shows: one seed in three places, and four attentions.

    python docs/_data/on_a_gpu.py     # two minutes; needs CUDA

The small GPT's page trains its model for 1,000 steps on the CPU, on the GPU as the CPU draws, and
on the GPU alone: `same-seed.csv`. Four layers attend at the size of the smallest GPT-2:
`attention-costs.csv`, with medians of 20 runs; memory is what a run holds at most besides the layer
and its input, the gradients included.
"""

import csv
import statistics
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import small_gpt
import torch
from experiment import cells
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from selfattn import MultiHeadAttention, MultiHeadAttentionWrapper
from selfattn.devices import reproducible

HERE = Path(__file__).parent
STEPS, SEED = 1000, 123
ROWS, T, D, HEADS = 8, 1024, 768, 12
RUNS, WARM_UP, MIB = 20, 5, 2**20


class Library(nn.Module):
    """PyTorch's layer, asked for no weights."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.MultiheadAttention(D, HEADS, batch_first=True)
        self.register_buffer("mask", torch.ones(T, T).triu(1).bool())

    def forward(self, x: Tensor) -> Tensor:
        mask = self.get_buffer("mask")
        found: Tensor = self.layer(x, x, x, attn_mask=mask, is_causal=True, need_weights=False)[0]
        return found


class OneCall(nn.Module):
    """One projection for queries, keys and values, and PyTorch's function."""

    def __init__(self) -> None:
        super().__init__()
        self.three, self.out_proj = nn.Linear(D, 3 * D), nn.Linear(D, D)

    def forward(self, x: Tensor) -> Tensor:
        three = self.three(x).unflatten(-1, (3, HEADS, -1)).movedim(-3, 0).transpose(-3, -2)
        queries, keys, values = three
        heads = scaled_dot_product_attention(queries, keys, values, is_causal=True)
        found: Tensor = self.out_proj(heads.transpose(-3, -2).flatten(-2))
        return found


LAYERS: dict[str, Callable[[], nn.Module]] = {
    "`MultiHeadAttentionWrapper`": lambda: MultiHeadAttentionWrapper(D, D // HEADS, T, 0.0, HEADS),
    "`MultiHeadAttention`": lambda: MultiHeadAttention(D, D, T, 0.0, HEADS),
    "`nn.MultiheadAttention`": Library,
    "one call": OneCall,
}


def costs() -> Iterable[list[str]]:
    """Return a row for each layer and type of number: milliseconds and MiB."""
    for dtype in (torch.float32, torch.bfloat16):
        for name, make in LAYERS.items():
            torch.manual_seed(SEED)
            layer = make().to("cuda", dtype)
            x = torch.rand(ROWS, T, D, device="cuda", dtype=dtype, requires_grad=True)
            yield [name, f"`{str(dtype).removeprefix('torch.')}`", *measured(layer, x)]


def measured(layer: nn.Module, x: Tensor) -> list[str]:
    """Return the times of a run forward and of one with the backward pass, then their memory."""

    def both() -> None:
        layer(x).sum().backward()

    runs = partial(torch.no_grad()(layer), x), both
    times = [f"{milliseconds(run):.2f}" for run in runs]
    return [*times, *(f"{peak(run):,.0f}" for run in runs)]


def milliseconds(run: Callable[[], object]) -> float:
    """Return the median time of a run, after some that warm up."""
    seconds = []
    for _ in range(WARM_UP + RUNS):
        torch.cuda.synchronize()
        began = time.perf_counter()
        run()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - began)
    return 1000 * statistics.median(seconds[WARM_UP:])


def peak(run: Callable[[], object]) -> float:
    """Return the MiB that a run holds at most, besides what was there before."""
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    run()
    return (torch.cuda.max_memory_allocated() - before) / MIB


def same_seed() -> Iterable[list[str]]:
    """Return a row for each place: the loss on the new text, and what the model writes."""
    torch.set_num_threads(1)
    write = next(cell for cell in cells(small_gpt.PAGE) if "def write(" in cell)
    places: dict[str, Any] = {
        "the CPU": nullcontext(),
        "the GPU, with the two lines": reproducible("cuda"),
        "the GPU, without them": torch.device("cuda"),
    }
    for name, place in places.items():
        with place:
            names: dict[str, Any] = {}
            exec("\n".join([*small_gpt.code(), write]), names)  # noqa: S102
            torch.manual_seed(SEED)
            model = names["model"] = names["GPT"]()
            names["learn"](model, STEPS)
            loss = names["losses_of"](model.eval()).mean()
            torch.manual_seed(SEED)
            text = names["write"]("I had always ", 40).replace("\n", " ")
        yield [name, f"{loss:.6f}", f"`{text}`"]


def save(name: str, head: str, rows: Iterable[list[str]]) -> None:
    """Write a table beside this file, and show it."""
    with (HERE / name).open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        for row in [head.split("; "), *rows]:
            table.writerow(row)
            print(*row, sep=" | ")


def main() -> None:
    """Make both tables."""
    save("same-seed.csv", "where it was trained; loss; what it writes", same_seed())
    head = "layer; dtype; forward, ms; both, ms; forward, MiB; both, MiB"
    save("attention-costs.csv", head, costs())


if __name__ == "__main__":
    main()
