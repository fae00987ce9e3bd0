"""Measure attention written out against PyTorch's single call, as sentences grow longer.

    python docs/_data/attention_benchmark.py     # writes attention-benchmark.json beside it

Both forms get the same queries, keys and values: one sentence, one head, float32, no gradients.
They run on one thread, by the processor's time and in turns; the figures are medians. Memory is the
largest sum of the blocks that PyTorch's allocator handed out within one call, from a profile of it.
Figure O.3, on the page `companions/one-call`, is drawn from it. At the end the long sentences are
measured again while the C library keeps the memory that a call has freed (with glibc).
"""

import ctypes
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from torch.profiler import ProfilerActivity, profile
from torch.utils.benchmark import Timer

OUT = Path(__file__).with_name("attention-benchmark.json")
LENGTHS = (128, 256, 512, 1024, 2048, 4096, 8192)
D_K, SEED, ROUNDS = 64, 123, 21
LONG = 2048  # its tables of scores have 17 MB, and the next 67
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # from glibc's malloc.h
SECONDS = 0.02  # about what one round of one form takes, or one call if that is longer


def written_out(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Compute scores, weights and context vectors by the lines of Listing 3.1."""
    attn_scores = queries @ keys.transpose(-2, -1)  # (..., T, T)
    attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)
    return attn_weights @ values  # (..., T, d_k)


FORMS: dict[str, Callable[..., Tensor]] = {
    "written-out": written_out,
    "one-call": scaled_dot_product_attention,
}


def measure(length: int) -> list[dict[str, Any]]:
    """Return one row for each form, after making sure that they compute the same."""
    torch.manual_seed(SEED)
    arguments = torch.randn(3, 1, 1, length, D_K)  # the fused kernels want four axes
    torch.testing.assert_close(*(form(*arguments) for form in FORMS.values()))
    timers = {
        name: Timer(
            "form(*arguments)",
            timer=time.thread_time,
            globals={"form": form, "arguments": arguments},
        )
        for name, form in FORMS.items()
    }
    calls = {name: max(1, round(SECONDS / t.timeit(1).median)) for name, t in timers.items()}
    seconds: dict[str, list[float]] = {name: [] for name in FORMS}
    for _ in range(ROUNDS):
        for name, timer in timers.items():
            seconds[name].append(timer.timeit(calls[name]).median)
    rows = []
    for name, form in FORMS.items():
        low, middle, high = statistics.quantiles(seconds[name], n=4)
        row = {"T": length, "form": name, "seconds": middle, "seconds_quartiles": [low, high]}
        rows.append(row | {"peak_bytes": peak_bytes(form, arguments)})
    return rows


def peak_bytes(form: Callable[..., Tensor], arguments: Tensor) -> int:
    """Return the most memory that one call holds at a time, its result included."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        form(*arguments)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        profiler.export_chrome_trace(str(path))
        events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    blocks = [event for event in events if event.get("name") == "[memory]"]
    in_use = peak = 0
    for block in sorted(blocks, key=lambda event: float(event["ts"])):
        in_use += block["args"]["Bytes"]
        peak = max(peak, in_use)
    return peak


def keep_freed_memory() -> None:
    """Let glibc keep freed blocks of any size; it gives those above 32 MB back to the system."""
    library = ctypes.CDLL(None)
    for parameter, value in ((M_MMAP_MAX, 0), (M_TRIM_THRESHOLD, 2**31 - 1)):
        if not library.mallopt(parameter, value):
            raise RuntimeError("the C library doesn't take mallopt's parameters; glibc does")


def machine() -> dict[str, Any]:
    """Return what the figures were measured on."""
    about = Path("/proc/cpuinfo").read_text("utf-8")  # `platform.processor` names the kind alone
    return {
        "processor": about.partition("model name")[2].splitlines()[0].strip("\t :"),
        "logical_processors": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


def main() -> None:
    """Measure every length and write the figures down."""
    torch.set_num_threads(1)
    with torch.inference_mode():
        rows = [row for length in LENGTHS for row in measure(length)]
        keep_freed_memory()
        kept = [row for length in LENGTHS if length >= LONG for row in measure(length)]
    setup = {"d_k": D_K, "dtype": "float32", "clock": "processor time", "rounds": ROUNDS}
    about = {
        "measured": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "setup": setup | {"seed": SEED},
    }
    lines = [f"{json.dumps(name)}: {json.dumps(each)}" for name, each in about.items()]
    for name, some in (("results", rows), ("results, memory kept", kept)):
        lines.append(f'"{name}": [\n' + ",\n".join(map(json.dumps, some)) + "]")
    OUT.write_text("{" + ",\n".join(lines) + "}\n", "utf-8")


if __name__ == "__main__":
    main()
