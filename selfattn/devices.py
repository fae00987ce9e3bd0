r"""The same seed, the same numbers, on any device.

The CPU and a GPU have generators of their own, so one seed gives two sequences. Under
:func:`reproducible` every random number is drawn by the CPU's and moved: initial weights and
dropout masks are then the same bits everywhere. As a command it looks for a device::

    python -m selfattn.devices cuda
"""

import argparse
import atexit
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from selfattn._draws import cpu_draws


def choose(name: str = "auto") -> torch.device:
    """Return the device of a name, with its number, if it can compute a small sum.

    Args:
        name: ``cpu``, ``cuda``, ``cuda:1``, ``mps``, any other name that PyTorch knows, or
            ``auto`` for the first accelerator that works, and the CPU if none does.

    Raises:
        RuntimeError: If it isn't there or doesn't work; the error has PyTorch's reason.

    Examples:
        >>> from selfattn.devices import choose
        >>> choose("cpu")
        device(type='cpu')
    """
    if name == "auto":
        kind = torch.accelerator.current_accelerator()
        for index in range(torch.accelerator.device_count()):
            with suppress(RuntimeError):
                return choose(f"{kind}:{index}")
        name = "cpu"
    try:
        total = torch.arange(4.0, device=name).sum()
        total.item()
    except (AssertionError, AttributeError, ImportError, RuntimeError) as error:
        raise RuntimeError(f"no device {name!r}: {str(error).partition('. ')[0]}") from None
    return total.device


def describe(place: torch.device | str) -> dict[str, str]:
    """Return a device's ``name``, and what is known of its ``driver`` and ``capability``."""
    place = torch.device(place)
    if place.type == "cuda":
        gpu, cuda = torch.cuda.get_device_properties(place), torch.version.cuda
        driver = f"CUDA {cuda}" if cuda else f"HIP {torch.version.hip}"
        return {"name": gpu.name, "driver": driver, "capability": f"{gpu.major}.{gpu.minor}"}
    if place.type in {"cpu", "mps"}:  # of which PyTorch knows no name
        return {"name": platform.machine()}
    return {"name": str(torch.get_device_module(place).get_device_name(place))}


@contextmanager
def reproducible(device: str = "auto") -> Iterator[torch.device]:
    r"""Compute on a device with the random numbers that the CPU would draw.

    .. math::

        w_{\text{device}}(s) = w_{\text{CPU}}(s) \quad\text{for each seed } s

    Inside, tensors are made on the device unless ``device=`` says otherwise; whatever draws, from
    ``torch.rand`` to ``nn.Linear`` and dropout, takes its numbers from the CPU's generator and
    leaves it as a run on the CPU would. Matrix products keep float32's digits (no TF32), algorithms
    are deterministic, and attention is computed by its equation, not by fused kernels that draw for
    themselves. Functions that were compiled before run uncompiled.

    Args:
        device: ``cpu``, ``cuda``, ``cuda:1``, ``mps`` or ``auto``; see :func:`choose`.

    Returns:
        A context, or a decorator; ``as`` gives the device, the default one of this thread.

    Raises:
        RuntimeError: If the device doesn't work. Inside, by PyTorch, if an operation has no
            deterministic algorithm.
        NotImplementedError: Inside, for what can't draw on the CPU, as cuDNN's LSTM with dropout,
            or with a ``generator=`` of the device.

    Examples:
        >>> import torch
        >>> from selfattn.devices import reproducible
        >>> with reproducible("cpu"):
        ...     generator = torch.manual_seed(123)
        ...     weights = torch.rand(2, 3)
        >>> weights
        tensor([[0.2961, 0.5166, 0.2517],
                [0.6886, 0.0740, 0.8665]])

    References:
        PyTorch's notes on reproducibility, which promise no such equality between devices.
    """
    place = choose(device)
    with ExitStack() as stack:
        _compute_exactly(stack)
        stack.enter_context(place)
        if place.type != "cpu":
            stack.enter_context(sdpa_kernel(SDPBackend.MATH))
            _run_uncompiled(stack)
            stack.enter_context(cpu_draws(place.type))
        yield place


def _compute_exactly(stack: ExitStack) -> None:
    """Keep all digits and sum in the same order each time, until the stack is left."""
    cudnn, products = torch.backends.cudnn, torch.backends.cuda.matmul
    stack.enter_context(cudnn.flags(enabled=True, deterministic=True, allow_tf32=False))
    for kind in ("bf16", "fp16"):
        name = f"allow_{kind}_reduced_precision_reduction"
        stack.callback(setattr, products, name, getattr(products, name))
        setattr(products, name, False)
    stack.callback(torch.set_float32_matmul_precision, torch.get_float32_matmul_precision())
    torch.set_float32_matmul_precision("highest")
    stack.callback(torch.set_deterministic_debug_mode, torch.get_deterministic_debug_mode())
    torch.set_deterministic_debug_mode("error")


def _run_uncompiled(stack: ExitStack) -> None:
    """Run compiled functions as they were written: compiled ones draw for themselves."""
    if "torch._dynamo" in sys.modules:
        stack.enter_context(torch.compiler.set_stance("force_eager"))
    elif "TORCHDYNAMO_DISABLE" not in os.environ:
        # Nothing was compiled yet, and to import the compiler takes seconds.
        os.environ["TORCHDYNAMO_DISABLE"] = "1"
        stack.callback(os.environ.pop, "TORCHDYNAMO_DISABLE", None)


_started = ExitStack()


def start(device: str = "auto") -> torch.device:
    """Switch :func:`reproducible` on for all that follows: a notebook's first cell.

    Run again, it begins anew. It takes, returns and raises what :func:`reproducible` does.
    """
    name = str(choose(device))
    stop()
    return _started.enter_context(reproducible(name))


@atexit.register  # before Python takes apart what is needed to switch it off
def stop() -> None:
    """Switch off what :func:`start` has switched on; without it, do nothing."""
    _started.close()


def main(arguments: Sequence[str] | None = None) -> None:
    """Look for a device; the exit status is 2 if it is not there or doesn't work."""
    parser = argparse.ArgumentParser("python -m selfattn.devices", description=main.__doc__)
    parser.add_argument("device", nargs="?", default="auto", help="cpu, cuda, cuda:1, mps or auto")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    options = parser.parse_args(arguments)
    try:
        place = choose(options.device)
    except RuntimeError as error:
        parser.exit(2, f"{error}\n")
    text = f"{place} ({', '.join(describe(place).values())})"
    print(json.dumps([{"place": str(place), "description": text}]) if options.json else text)


if __name__ == "__main__":
    main()
