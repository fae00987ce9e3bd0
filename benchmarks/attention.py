"""Measure attention written out against PyTorch's single call, as sentences grow longer.

    python benchmarks/attention.py            # writes docs/_data/attention-benchmark.json
    python benchmarks/attention.py --rounds 5 --out elsewhere.json

Both forms get the same queries, keys and values: one sentence, one head, float32, no gradients.
They run on one thread, by the processor's time and in turns, so that whatever else the machine does
counts for neither; the figures are medians over the rounds.
Memory is the largest sum of the blocks that PyTorch's allocator handed out within one call and had
not taken back, read from a profile of that call.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.profiler import ProfilerActivity, profile
from torch.utils.benchmark import Timer

from selfattn.devices import choose

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    Form = Callable[[Tensor, Tensor, Tensor], Tensor]

OUT = Path(__file__).resolve().parents[1] / "docs" / "_data" / "attention-benchmark.json"
LENGTHS = (128, 256, 512, 1024, 2048, 4096, 8192)
D_K = 64
SEED = 123
SECONDS = 0.02  # about what one round of one form takes, or one call if that is longer


def written_out(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Compute scores, weights and context vectors by the lines of Listing 3.1."""
    attn_scores = queries @ keys.transpose(-2, -1)  # (..., T, T)
    attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)
    return attn_weights @ values  # (..., T, d_k)


FORMS: dict[str, Form] = {"written-out": written_out, "one-call": scaled_dot_product_attention}


def inputs(length: int) -> tuple[Tensor, Tensor, Tensor]:
    """Draw queries, keys and values of shape (1, 1, T, d_k): the fused kernels want four axes."""
    torch.manual_seed(SEED)
    queries, keys, values = torch.randn(3, 1, 1, length, D_K)
    return queries, keys, values


def times(length: int, rounds: int) -> dict[str, list[float]]:
    """Return the processor's seconds for one call, by form, a number for each round."""
    names = ("queries", "keys", "values")
    arguments = dict(zip(names, inputs(length), strict=True))
    timers = {
        name: Timer(
            "form(queries, keys, values)",
            timer=time.thread_time,
            globals={"form": form, **arguments},
        )
        for name, form in FORMS.items()
    }
    calls = {name: _calls(timer) for name, timer in timers.items()}
    seconds: dict[str, list[float]] = {name: [] for name in FORMS}
    for _ in range(rounds):
        for name, timer in timers.items():
            seconds[name].append(timer.timeit(calls[name]).median)
    return seconds


def _calls(timer: Timer) -> int:
    """Return how many calls make one round long enough to be measured."""
    return max(1, round(SECONDS / timer.timeit(1).median))


def peak_bytes(form: Form, length: int) -> int:
    """Return the most memory that one call holds at a time, its result included."""
    arguments = inputs(length)
    form(*arguments)  # what is set up once is not the call's
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        form(*arguments)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        profiler.export_chrome_trace(str(path))
        events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    blocks = [event for event in events if event.get("name") == "[memory]"]
    if not blocks:
        raise RuntimeError("the profile holds no memory events; is profile_memory supported here?")
    in_use = peak = 0
    for block in sorted(blocks, key=lambda event: float(event["ts"])):
        in_use += block["args"]["Bytes"]
        peak = max(peak, in_use)
    return peak


def measure(length: int, rounds: int) -> list[dict[str, Any]]:
    """Return one row for each form, after making sure that they compute the same."""
    results = [form(*inputs(length)) for form in FORMS.values()]
    torch.testing.assert_close(*results)
    rows = []
    for name, seconds in times(length, rounds).items():
        low, middle, high = statistics.quantiles(seconds, n=4)
        rows.append(
            {
                "T": length,
                "form": name,
                "seconds": middle,
                "seconds_quartiles": [low, high],
                "peak_bytes": peak_bytes(FORMS[name], length),
            }
        )
    return rows


def machine() -> dict[str, Any]:
    """Say what the figures were measured on."""
    return {
        "processor": choose("cpu").name,
        "logical_processors": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


def main() -> None:
    """Measure every length and write the figures down."""
    parser = argparse.ArgumentParser(description="Measure two ways to compute attention.")
    parser.add_argument("--rounds", type=int, default=21, help="rounds for each length and form")
    parser.add_argument("--out", type=Path, default=OUT, help="the JSON file to write")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    torch.set_num_threads(1)
    with torch.inference_mode():
        for length in LENGTHS:
            rows += measure(length, options.rounds)
            print(*(f"{row['T']} {row['form']} {row['seconds']:.6f} s" for row in rows[-2:]))
    report = {
        "measured": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "setup": {
            "d_k": D_K,
            "dtype": "float32",
            "clock": "processor time",
            "rounds": options.rounds,
            "seed": SEED,
        },
        "results": rows,
    }
    options.out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
