r"""The same seed, the same numbers, on any device.

The CPU and a GPU have generators of their own, so one seed gives two sequences. Under
:func:`reproducible` every random number is drawn by the CPU's and moved, in the CPU's order, for
each seed :math:`s`:

.. math::

    w_{\text{device}}(s) = \operatorname{move}_{\text{CPU} \to \text{device}}
                           \bigl(w_{\text{CPU}}(s)\bigr)

Initial weights, permutations and dropout masks are then the same bits everywhere. What is computed
from them may still differ in the last digits that are held, as between two CPUs.

As a command it lists the devices that are there, or looks for one::

    python -m selfattn.devices cuda
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from contextlib import ContextDecorator, ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from selfattn._draws import CpuDraws, UnreproducibleError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

__all__ = [
    "Device",
    "MissingDeviceError",
    "Reproducible",
    "UnreproducibleError",
    "choose",
    "describe",
    "find",
    "reproducible",
    "start",
    "stop",
]

_KINDS = ("cuda", "mps", "xpu")
"""Kinds of accelerators, in the order in which ``auto`` tries them."""
_WORKSPACE = ("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
"""What cuBLAS needs for sums in the same order each time."""


class MissingDeviceError(RuntimeError):
    """The device that was asked for isn't there, or doesn't work."""


@dataclass(frozen=True)
class Device:
    """A device that was looked at.

    Attributes:
        place: What PyTorch calls it, such as ``cuda:0``.
        name: What its maker calls it.
        driver: The driver's version, or what there is instead; empty for a CPU.
        capability: What it can compute with: ``9.0`` for a GPU, ``AVX512`` for a CPU.
        fault: Why it can't be used; empty if a sum on it came out right.
        memory: How many bytes it holds; 0 where that isn't its own or isn't known.
    """

    place: str
    name: str = ""
    driver: str = ""
    capability: str = ""
    fault: str = ""
    memory: int = 0

    def __str__(self) -> str:
        """Tell about it in one line."""
        details = ", ".join(part for part in (self.name, self.driver, self.capability) if part)
        line = f"{self.place} ({details})" if details else self.place
        return f"{line}: does not work: {self.fault}" if self.fault else line


def find() -> list[Device]:
    """Look for devices, the accelerators first, and try each one with a small sum.

    Returns:
        What was found; the CPU is always the last.

    Examples:
        >>> from selfattn.devices import find
        >>> find()[-1].place
        'cpu'

    """
    places = [f"{kind}:{index}" for kind in _KINDS for index in range(_count(kind))]
    return [_look(torch.device(place)) for place in [*places, "cpu"]]


def choose(name: str = "auto") -> Device:
    """Return the device of a name, if it works.

    Args:
        name: ``cpu``, ``cuda``, ``cuda:1``, ``mps``, any other name that PyTorch knows, or
            ``auto`` for the first accelerator that works, and the CPU if none does.

    Returns:
        The device, with its number.

    Raises:
        MissingDeviceError: If it isn't there or doesn't work; the error lists what was found.
        ValueError: If PyTorch knows no such kind of device, or it holds no numbers, as ``meta``.

    Examples:
        >>> from selfattn.devices import choose
        >>> choose("cpu").place
        'cpu'

    """
    if name == "auto":
        return next(device for device in find() if not device.fault or device.place == "cpu")
    try:
        asked = torch.device(name)
    except RuntimeError:
        raise ValueError(
            f"no kind of device is called {name!r}; take cpu, cuda, cuda:1, mps or auto"
        ) from None
    if asked.type == "meta":
        raise ValueError("tensors on meta hold no numbers; take cpu, cuda, cuda:1, mps or auto")
    if asked.type == "cpu":
        return _look(torch.device("cpu"))
    count = _count(asked.type)
    numbered: int | None = asked.index
    index = _current(asked.type) if numbered is None and count else numbered
    if index is None or index >= count:
        raise _missing(name, _why_not(asked.type, count))
    device = _look(torch.device(asked.type, index))
    if device.fault:
        raise _missing(name, device.fault)
    return device


def _missing(name: str, reason: str) -> MissingDeviceError:
    found = "; ".join(map(str, find()))
    return MissingDeviceError(f"no device {name!r}: {reason}. Found: {found}")


def _module(kind: str) -> Any:
    """Return PyTorch's module for a kind of device, such as ``torch.cuda``."""
    return getattr(torch, kind, None)


def _count(kind: str) -> int:
    """Return how many devices of a kind PyTorch can reach."""
    if kind == "mps":
        return int(torch.backends.mps.is_available())
    module = _module(kind)
    return module.device_count() if module is not None and module.is_available() else 0


def _current(kind: str) -> int:
    """Return the number of the device of a kind that is used where none is named."""
    return 0 if kind == "mps" else int(_module(kind).current_device())


def _why_not(kind: str, count: int) -> str:
    """Say why a device isn't there."""
    if count:
        return f"there {'is' if count == 1 else 'are'} {count}, counted from 0"
    backends: Any = torch.backends
    if kind == "cuda" and not backends.cuda.is_built():
        return f"PyTorch {torch.__version__} is built without CUDA"
    if kind == "mps" and not backends.mps.is_built():
        return f"PyTorch {torch.__version__} is built without MPS"
    return "PyTorch is built for it, but finds no device with a working driver"


def _look(place: torch.device) -> Device:
    """Describe a device, and try it."""
    if place.type == "cpu":
        capability = torch.backends.cpu.get_cpu_capability()
        return Device("cpu", _name_of_cpu(), capability=capability)
    try:
        known = describe(place)
        with torch.device("cpu"):  # whatever the default is at present
            total = (torch.arange(3.0).to(place) + 1).sum().item()
    except (AttributeError, AssertionError, NotImplementedError, RuntimeError) as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        return Device(str(place), fault=lines[0])
    fault = "" if total == 6 else f"1 + 2 + 3 is {total} there"  # noqa: PLR2004 - the sum
    return Device(str(place), **known, fault=fault)


def describe(place: torch.device | str) -> dict[str, Any]:
    """Return a device's name, driver, capability and memory, as far as they can be known.

    Args:
        place: An accelerator that is there; nothing is computed on it.

    Returns:
        Values for the fields of :class:`Device`.

    """
    place = torch.device(place)
    if place.type == "cuda":
        return {
            "name": torch.cuda.get_device_name(place),
            "driver": _driver_of_cuda(),
            "capability": ".".join(map(str, torch.cuda.get_device_capability(place))),
            "memory": torch.cuda.get_device_properties(place).total_memory,
        }
    if place.type == "mps":
        return {"name": platform.machine(), "driver": f"macOS {platform.mac_ver()[0]}"}
    name = getattr(_module(place.type), "get_device_name", lambda _: "")(place)
    return {"name": str(name)}


def _driver_of_cuda() -> str:
    """Return the driver's version as it tells it, and CUDA's that PyTorch is built for."""
    cuda, hip = (getattr(torch.version, name, None) for name in ("cuda", "hip"))
    built = f"CUDA {cuda}" if cuda else f"HIP {hip}"
    file = Path("/proc/driver/nvidia/version")
    if not file.exists():
        return built
    words = file.read_text("utf-8", "replace").partition("\n")[0].split()
    numbers = [word for word in words if word[0].isdigit() and "." in word]
    return f"driver {numbers[0]}, {built}" if numbers else built


def _name_of_cpu() -> str:
    """Return what the CPU's maker calls it, where the system tells."""
    file = Path("/proc/cpuinfo")
    if file.exists():
        for line in file.read_text("utf-8", "replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def reproducible(device: str = "auto") -> Reproducible:
    r"""Compute on a device with the random numbers that the CPU would draw.

    Two lines in a notebook::

        with selfattn.devices.reproducible("cuda"):
            ...  # your cells' code, unchanged

    Inside, tensors are made on the device unless ``device=`` says otherwise; whatever draws, from
    ``torch.rand`` to ``nn.Linear`` and dropout, takes its numbers from the CPU's generator, or from
    the CPU generator that ``generator=`` names, and leaves it as a run on the CPU would. A
    generator of the device itself that is named so is used as it is: the numbers are its own.
    Matrix products keep float32's digits (no TF32), algorithms are deterministic, and on a GPU
    attention is computed by its equation, not by fused kernels that would draw for themselves.
    Functions made by ``torch.compile`` run uncompiled. All of it is as before afterwards, also
    after an error.

    .. math::

        w_{\text{device}}(s) = \operatorname{move}\bigl(w_{\text{CPU}}(s)\bigr)

    It holds for the thread that enters it. On ``cpu`` numbers are drawn there in any case.

    Args:
        device: ``cpu``, ``cuda``, ``cuda:1``, ``mps`` or ``auto``; see :func:`choose`.

    Returns:
        A context, or a decorator, that may be entered again, also while it is active.
        ``as`` gives the :class:`torch.device`.

    Raises:
        MissingDeviceError: If the device isn't there or doesn't work.
        UnreproducibleError: Inside, if an operation draws in a way that can't be led to the CPU,
            such as an LSTM with dropout on cuDNN.
        RuntimeError: Inside, by PyTorch, if an operation has no deterministic algorithm; or if the
            GPU was used in this process before and cuBLAS was not told to be deterministic.

    Examples:
        Shape ``(2, 3)``, float32, wherever it lives:

        >>> import torch
        >>> from selfattn.devices import reproducible
        >>> with reproducible("cpu") as device:
        ...     generator = torch.manual_seed(123)
        ...     weights = torch.rand(2, 3)
        >>> weights
        tensor([[0.2961, 0.5166, 0.2517],
                [0.6886, 0.0740, 0.8665]])
        >>> device
        device(type='cpu')

    References:
        PyTorch's notes on reproducibility, which promise no such equality between devices.
    """
    return Reproducible(choose(device))


class Reproducible(ContextDecorator):
    """The context that :func:`reproducible` returns.

    Args:
        device: A device that works.

    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self._entered: list[ExitStack] = []

    def __enter__(self) -> torch.device:
        """Switch everything on."""
        place = torch.device(self.device.place)
        with ExitStack() as stack:
            stack.enter_context(_settings(place))
            stack.enter_context(place)
            if place.type != "cpu":
                stack.enter_context(_uncompiled())
                stack.enter_context(CpuDraws())
            self._entered.append(stack.pop_all())
        return place

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Put everything back as it was at the last entry."""
        self._entered.pop().__exit__(kind, error, trace)


_started: list[Reproducible] = []


def start(device: str = "auto", part: float | None = None) -> torch.device:
    """Switch :func:`reproducible` on for all that follows: a notebook's first cell.

    Run again, it begins anew, with the device that it is given now.

    Args:
        device: As for :func:`reproducible`.
        part: How much of the memory of a GPU with CUDA this process may fill, from 0 to 1;
            None for all of it.

    Returns:
        The device.

    Raises:
        MissingDeviceError: If the device isn't there or doesn't work; nothing is changed then.

    Examples:
        >>> from selfattn import devices
        >>> devices.start("cpu")
        device(type='cpu')
        >>> devices.stop()

    """
    wanted = reproducible(device)
    stop()
    place = wanted.__enter__()
    _started.append(wanted)
    if part is not None and place.type == "cuda":
        torch.cuda.set_per_process_memory_fraction(part, place)
    return place


def stop() -> None:
    """Switch off what :func:`start` has switched on; without it, do nothing.

    Examples:
        >>> from selfattn import devices
        >>> devices.stop()

    """
    while _started:
        _started.pop().__exit__(None, None, None)


@contextmanager
def _settings(place: torch.device) -> Iterator[None]:
    """Full precision and deterministic algorithms, until the end."""
    backends = torch.backends
    with ExitStack() as stack:
        _precision_of_products(stack)
        _precision_of_convolutions(stack)
        _determinism(stack)
        _set(stack, backends.cudnn, "deterministic", value=True)
        _set(stack, backends.cudnn, "benchmark", value=False)
        products = backends.cuda.matmul
        _set(stack, products, "allow_fp16_reduced_precision_reduction", value=False)
        _set(stack, products, "allow_bf16_reduced_precision_reduction", value=False)
        if place.type != "cpu":
            # Each of the fused kernels draws its dropout by itself.
            stack.enter_context(sdpa_kernel(SDPBackend.MATH))
        yield


def _set(stack: ExitStack, owner: object, name: str, *, value: object) -> None:
    """Set an attribute until the stack is left."""
    stack.callback(setattr, owner, name, getattr(owner, name))
    setattr(owner, name, value)


def _precision_of_products(stack: ExitStack) -> None:
    try:
        before = torch.get_float32_matmul_precision()
    except RuntimeError:  # it was set by PyTorch's newer names, and the two don't mix
        _set(stack, torch.backends.cuda.matmul, "fp32_precision", value="ieee")
    else:
        stack.callback(torch.set_float32_matmul_precision, before)
        torch.set_float32_matmul_precision("highest")


def _precision_of_convolutions(stack: ExitStack) -> None:
    cudnn: Any = torch.backends.cudnn
    try:
        _set(stack, cudnn, "allow_tf32", value=False)
    except RuntimeError:  # as for products
        _set(stack, cudnn.conv, "fp32_precision", value="ieee")
        _set(stack, cudnn.rnn, "fp32_precision", value="ieee")


def _determinism(stack: ExitStack) -> None:
    # The short way to `use_deterministic_algorithms`, which loads PyTorch's compiler.
    stack.callback(torch.set_deterministic_debug_mode, torch.get_deterministic_debug_mode())
    torch.set_deterministic_debug_mode("error")
    name, value = _WORKSPACE
    if name not in os.environ:
        os.environ[name] = value
        stack.callback(os.environ.pop, name, None)


@contextmanager
def _uncompiled() -> Iterator[None]:
    """Run compiled functions as they were written: compiled kernels draw by themselves.

    PyTorch compiles nothing while a mode is active, so what counts is what was compiled before.
    """
    if "torch._dynamo" not in sys.modules:
        yield
    elif hasattr(torch.compiler, "set_stance"):  # new in torch 2.6
        with torch.compiler.set_stance("force_eager"):
            yield
    else:
        torch.compiler.reset()
        yield


def main(arguments: Sequence[str] | None = None) -> int:
    """List the devices that are there, or look for one.

    Args:
        arguments: The command's words; those of the command line if None.

    Returns:
        The exit status: 0 if the device is there, 2 if not.

    """
    parser = argparse.ArgumentParser("python -m selfattn.devices", description=main.__doc__)
    parser.add_argument("device", nargs="?", help="cpu, cuda, cuda:1, mps or auto")
    parser.add_argument("--json", action="store_true", help="tell it in JSON")
    asked = parser.parse_args(arguments)
    try:
        found = [choose(asked.device)] if asked.device else find()
    except (MissingDeviceError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    if asked.json:
        print(json.dumps([{**asdict(device), "description": str(device)} for device in found]))
    else:
        print(*found, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
