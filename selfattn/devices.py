r"""The same seed, the same numbers, on any device.

The CPU and a GPU have generators of their own, so one seed gives two sequences. Under
:func:`reproducible` every random number is drawn by the CPU's and moved: initial weights,
permutations and dropout masks are then the same bits everywhere. What is computed from them may
still differ in the last digits that are held, as between two CPUs.

As a command it lists the devices that are there, or looks for one::

    python -m selfattn.devices cuda
"""

import argparse
import json
import os
import platform
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from selfattn._draws import CpuDraws, UnreproducibleError

__all__ = [
    "MissingDeviceError",
    "UnreproducibleError",
    "choose",
    "describe",
    "find",
    "reproducible",
    "start",
    "stop",
]


class MissingDeviceError(RuntimeError):
    """The device that was asked for isn't there, or doesn't work."""


def find() -> list[torch.device]:
    """Return the devices that work, the accelerators first and the CPU last."""
    places = ["cpu"]
    if torch.accelerator.is_available() and (kind := torch.accelerator.current_accelerator()):
        places[:0] = [f"{kind.type}:{index}" for index in range(torch.accelerator.device_count())]
    found = []
    for place in places:
        with suppress(MissingDeviceError):
            found.append(choose(place))
    return found


def choose(name: str = "auto") -> torch.device:
    """Return the device of a name, if it can compute a small sum.

    Args:
        name: ``cpu``, ``cuda``, ``cuda:1``, ``mps``, any other name that PyTorch knows, or
            ``auto`` for the first accelerator that works, and the CPU if none does.

    Returns:
        The device, with its number.

    Raises:
        MissingDeviceError: If it isn't there or doesn't work; the error has PyTorch's reason.

    Examples:
        >>> from selfattn.devices import choose
        >>> choose("cpu")
        device(type='cpu')

    """
    if name == "auto":
        return find()[0]
    try:
        total = torch.arange(4.0, device=name).sum()
        total.item()
    except (AssertionError, AttributeError, ImportError, RuntimeError) as error:
        raise MissingDeviceError(f"no device {name!r}: {str(error).partition('. ')[0]}") from None
    return total.device


def describe(place: torch.device | str) -> dict[str, Any]:
    """Return a device's name, driver and capability, as far as they can be known.

    Args:
        place: A device that is there; nothing is computed on it.

    Returns:
        ``name``, and where they are known ``driver`` and ``capability`` (``9.0`` for a GPU,
        ``AVX512`` for a CPU).

    """
    place = torch.device(place)
    if place.type == "cpu":
        file = Path("/proc/cpuinfo")
        text = file.read_text("utf-8") if file.exists() else ""
        found = re.search(r"^model name\s*: (.+)", text, re.MULTILINE)
        name = found[1] if found else platform.processor() or platform.machine()
        return {"name": name, "capability": torch.backends.cpu.get_cpu_capability()}
    if place.type == "cuda":
        gpu, hip = torch.cuda.get_device_properties(place), torch.version.hip
        driver = f"HIP {hip}" if hip else f"CUDA {torch.version.cuda}"
        return {"name": gpu.name, "driver": driver, "capability": f"{gpu.major}.{gpu.minor}"}
    if place.type == "mps":
        return {"name": platform.machine(), "driver": f"macOS {platform.mac_ver()[0]}"}
    return {"name": str(torch.get_device_module(place).get_device_name(place))}


@contextmanager
def reproducible(device: str = "auto") -> Iterator[torch.device]:
    r"""Compute on a device with the random numbers that the CPU would draw.

    .. math::

        w_{\text{device}}(s) = \operatorname{move}_{\text{CPU} \to \text{device}}
                               \bigl(w_{\text{CPU}}(s)\bigr) \quad\text{for each seed } s

    Inside, tensors are made on the device unless ``device=`` says otherwise; whatever draws, from
    ``torch.rand`` to ``nn.Linear`` and dropout, takes its numbers from the CPU's generator and
    leaves it as a run on the CPU would. Matrix products keep float32's digits (no TF32), algorithms
    are deterministic, and attention is computed by its equation, not by fused kernels that draw for
    themselves. Functions that were compiled before run uncompiled.

    Args:
        device: ``cpu``, ``cuda``, ``cuda:1``, ``mps`` or ``auto``; see :func:`choose`.

    Returns:
        A context for the thread that enters it, or a decorator; ``as`` gives the
        :class:`torch.device`.

    Raises:
        MissingDeviceError: If the device isn't there or doesn't work.
        UnreproducibleError: Inside, if an operation can't draw on the CPU, such as an LSTM with
            dropout on cuDNN.
        RuntimeError: Inside, by PyTorch, if an operation has no deterministic algorithm, or if
            ``generator=`` names a generator of the device.

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
            if "torch._dynamo" in sys.modules:  # else nothing was compiled before
                stack.enter_context(torch.compiler.set_stance("force_eager"))
            stack.enter_context(CpuDraws())  # type: ignore[no-untyped-call]
        yield place


def _compute_exactly(stack: ExitStack) -> None:
    """Keep all digits and sum in the same order each time, until the stack is left."""
    cudnn, products = torch.backends.cudnn, torch.backends.cuda.matmul
    for owner, name, value in (
        (cudnn, "allow_tf32", False),
        (cudnn, "benchmark", False),
        (cudnn, "deterministic", True),
        (products, "allow_bf16_reduced_precision_reduction", False),
        (products, "allow_fp16_reduced_precision_reduction", False),
    ):
        stack.callback(setattr, owner, name, getattr(owner, name))
        setattr(owner, name, value)
    stack.callback(torch.set_float32_matmul_precision, torch.get_float32_matmul_precision())
    torch.set_float32_matmul_precision("highest")
    # The short way to `use_deterministic_algorithms`, which loads PyTorch's compiler.
    stack.callback(torch.set_deterministic_debug_mode, torch.get_deterministic_debug_mode())
    torch.set_deterministic_debug_mode("error")
    if "CUBLAS_WORKSPACE_CONFIG" not in os.environ:
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
        stack.callback(os.environ.pop, "CUBLAS_WORKSPACE_CONFIG", None)


_started = ExitStack()


def start(device: str = "auto") -> torch.device:
    """Switch :func:`reproducible` on for all that follows: a notebook's first cell.

    Run again, it begins anew, with the device that it is given now.

    Args:
        device: As for :func:`reproducible`.

    Returns:
        The device.

    Raises:
        MissingDeviceError: If the device isn't there or doesn't work; nothing is changed then.

    """
    name = str(choose(device))
    stop()
    return _started.enter_context(reproducible(name))


def stop() -> None:
    """Switch off what :func:`start` has switched on; without it, do nothing."""
    _started.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """List the devices that work, or look for one; the exit status is 2 if it is not there."""
    parser = argparse.ArgumentParser("python -m selfattn.devices", description=main.__doc__)
    parser.add_argument("device", nargs="?", help="cpu, cuda, cuda:1, mps or auto")
    parser.add_argument("--json", action="store_true", help="print them as JSON")
    options = parser.parse_args(arguments)
    try:
        places = [choose(options.device)] if options.device else find()
    except MissingDeviceError as error:
        print(error, file=sys.stderr)
        return 2
    found = [{"place": str(place), **describe(place)} for place in places]
    for device in found:
        details = [device.get(key, "") for key in ("name", "driver", "capability")]
        device["description"] = f"{device['place']} ({', '.join(filter(None, details))})"
    if options.json:
        print(json.dumps(found))
    else:
        print(*(device["description"] for device in found), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
