r"""The same seed, the same numbers, on any device.

The CPU and a GPU have generators of their own, so one seed gives two sequences. Under
:func:`reproducible` every random number is drawn by the CPU's and moved: initial weights,
permutations and dropout masks are then the same bits everywhere, what is computed from them is
within rounding.

As a command it lists the devices that are there, or looks for one::

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

__all__ = ["choose", "describe", "find", "reproducible", "start", "stop"]


def find() -> list[torch.device]:
    """Return the devices that work, the accelerators first and the CPU last."""
    kind = torch.accelerator.current_accelerator()
    names = [f"{kind}:{index}" for index in range(torch.accelerator.device_count())]
    found = []
    for name in [*names, "cpu"]:
        with suppress(RuntimeError):
            found.append(choose(name))
    return found


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
        return find()[0]
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
        gpu, hip = torch.cuda.get_device_properties(place), torch.version.hip
        driver = f"HIP {hip}" if hip else f"CUDA {torch.version.cuda}"
        return {"name": gpu.name, "driver": driver, "capability": f"{gpu.major}.{gpu.minor}"}
    if place.type in {"cpu", "mps"}:  # of which PyTorch knows no name
        return {"name": platform.machine()}
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
        A context, or a decorator; ``as`` gives the device. Tensors are made on it in the thread
        that enters the context, and what draws on such a device draws like a CPU in all threads.

    Raises:
        RuntimeError: If the device isn't there or doesn't work. Inside, by PyTorch, if an operation
            has no deterministic algorithm, or if ``generator=`` names a generator of the device.
        NotImplementedError: Inside, if an operation can't draw on the CPU, such as an LSTM with
            dropout on cuDNN.

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
    if "CUBLAS_WORKSPACE_CONFIG" not in os.environ:
        _set_variable(stack, "CUBLAS_WORKSPACE_CONFIG", ":4096:8")


def _run_uncompiled(stack: ExitStack) -> None:
    """Run compiled functions as they were written: compiled ones draw for themselves."""
    if "torch._dynamo" in sys.modules:
        stack.enter_context(torch.compiler.set_stance("force_eager"))
    else:  # nothing was compiled yet, and to import the compiler takes seconds
        _set_variable(stack, "TORCHDYNAMO_DISABLE", "1")


def _set_variable(stack: ExitStack, name: str, value: str) -> None:
    """Set a variable of the environment until the stack is left."""
    before = os.environ.get(name)
    os.environ[name] = value
    if before is None:
        stack.callback(os.environ.pop, name, None)
    else:
        stack.callback(os.environ.__setitem__, name, before)


_started = ExitStack()


def start(device: str = "auto") -> torch.device:
    """Switch :func:`reproducible` on for all that follows: a notebook's first cell.

    Run again, it begins anew, with the device that it is given now; without such a device it
    changes nothing. It takes, returns and raises what :func:`reproducible` does.
    """
    name = str(choose(device))
    stop()
    return _started.enter_context(reproducible(name))


@atexit.register  # before Python takes apart what is needed to switch it off
def stop() -> None:
    """Switch off what :func:`start` has switched on; without it, do nothing."""
    _started.close()


def main(arguments: Sequence[str] | None = None) -> None:
    """List the devices that work, or look for one; the exit status is 2 if it is not there."""
    parser = argparse.ArgumentParser("python -m selfattn.devices", description=main.__doc__)
    parser.add_argument("device", nargs="?", help="cpu, cuda, cuda:1, mps or auto")
    parser.add_argument("--json", action="store_true", help="print them as JSON")
    options = parser.parse_args(arguments)
    try:
        places = [choose(options.device)] if options.device else find()
    except RuntimeError as error:
        parser.exit(2, f"{error}\n")
    texts = {str(place): f"{place} ({', '.join(describe(place).values())})" for place in places}
    found = [{"place": place, "description": text} for place, text in texts.items()]
    print(json.dumps(found) if options.json else "\n".join(texts.values()))


if __name__ == "__main__":
    main()
