"""A CPU that stands for another device: real tensors, a memory and a generator of its own.

PyTorch keeps a place for devices that it doesn't know. Here it is filled by a device called
``standin``, each of whose operations is run by the CPU on the same memory; what draws random
numbers draws them from the device's own generator, so a draw that is not led to the CPU's shows.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = os.environ.get("STANDIN_NAME", "standin")
CPU = torch.device("cpu")
CPU_KERNELS = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
own_generator = torch.Generator().manual_seed(987654321)
_kept: dict[int, torch.UntypedStorage] = {}


class Module:
    """What ``torch.cuda`` is for CUDA."""

    def is_available(self) -> bool:
        return True

    def is_initialized(self) -> bool:
        return True

    def device_count(self) -> int:
        return 1

    def current_device(self) -> int:
        return 0

    def get_device_name(self, _: torch.device) -> str:
        return "CPU in disguise"

    def _is_in_bad_fork(self) -> bool:
        return False

    def manual_seed_all(self, seed: int) -> None:
        """Seed otherwise than the CPU, as other generators make other numbers of one seed."""
        own_generator.manual_seed(seed + 1)

    def get_rng_state(self, _: object = None) -> Tensor:
        return own_generator.get_state()

    def set_rng_state(self, state: Tensor, _: object = None) -> None:
        own_generator.set_state(state)


def _run(operation: Any, *args: Any, **kwargs: Any) -> Any:
    """Run any operation by the CPU's kernel, on the memory of the tensors given."""
    places: list[tuple[Tensor, Tensor]] = []

    def lent(value: Any) -> Any:
        if isinstance(value, Tensor) and value.device.type == NAME:
            # An empty one may be given to be filled, and then needs memory that can grow.
            twin = torch.empty(0, dtype=value.dtype, device=CPU)
            places.append((value, _twin(value) if value.numel() else twin))
            return places[-1][1]
        if isinstance(value, list | tuple):
            return type(value)(map(lent, value))
        return CPU if isinstance(value, torch.device) else value

    def back(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        for original, twin in places:
            if twin is value:
                if original.shape != twin.shape:
                    _point(original, twin)
                return original
        return _wrap(value)

    # A number that an operator was given arrives as a number, where a tensor is asked for.
    kinds = [str(argument.type) for argument in operation._schema.arguments]
    args = tuple(
        torch.tensor(value, device=CPU)
        if kind == "Tensor" and isinstance(value, int | float)
        else value
        for kind, value in zip(kinds, args, strict=False)
    )
    with _own_draws(operation):
        result = operation(*map(lent, args), **{name: lent(v) for name, v in kwargs.items()})
    return tuple(map(back, result)) if isinstance(result, tuple) else back(result)


@contextmanager
def _own_draws(operation: Any) -> Iterator[None]:
    """Let what draws draw from the device's generator."""
    if torch.Tag.nondeterministic_seeded not in operation.tags:
        yield
        return
    state = torch.get_rng_state()
    torch.set_rng_state(own_generator.get_state())
    yield
    own_generator.set_state(torch.get_rng_state())
    torch.set_rng_state(state)


def _copy_from(source: Tensor, target: Tensor, non_blocking: bool = False) -> Tensor:  # noqa: FBT001, FBT002
    _twin(target).copy_(_twin(source))
    return target


def _resize(tensor: Tensor, size: list[int], *, memory_format: object = None) -> Tensor:
    twin = torch.empty(size, dtype=tensor.dtype, device=CPU)
    return tensor if tensor.shape == twin.shape else _point(tensor, twin)


def _twin(tensor: Tensor) -> Tensor:
    """Return a tensor of the CPU on the same memory."""
    if tensor.device == CPU:
        return tensor
    memory = tensor.untyped_storage()
    lent = torch._C._construct_storage_from_data_pointer(memory.data_ptr(), CPU, memory.nbytes())
    twin = torch.empty(0, dtype=tensor.dtype, device=CPU)
    return twin.set_(lent, tensor.storage_offset(), tensor.shape, tensor.stride())


def _wrap(tensor: Tensor) -> Tensor:
    """Return a tensor of the device on the memory of the CPU's."""
    return _point(torch._C._acc.create_empty_tensor((0,), tensor.dtype), tensor)


def _point(tensor: Tensor, twin: Tensor) -> Tensor:
    """Let a tensor of the device have the memory and the layout of the CPU's."""
    memory = twin.untyped_storage()
    _kept.setdefault(memory.data_ptr(), memory)
    lent = torch._C._construct_storage_from_data_pointer(
        memory.data_ptr(), torch.device(NAME, 0), memory.nbytes()
    )
    torch.ops.aten.set_.source_Storage_storage_offset.redispatch(
        CPU_KERNELS, tensor, lent, twin.storage_offset(), twin.shape, twin.stride()
    )
    return tensor


_everything = torch.library.Library("_", "IMPL")
_copies = torch.library.Library("aten", "IMPL")


def register() -> None:
    """Make PyTorch know the device, for as long as this process lives."""
    _setup_privateuseone_for_python_backend(NAME, backend_module=Module())
    _everything.fallback(_run, "PrivateUse1")
    _copies.impl("_copy_from", _copy_from, "PrivateUse1")
    _copies.impl("resize_", _resize, "PrivateUse1")
    # `torch.tensor` makes its tensor below the modes, where PyTorch looks for these by name.
    for operation in (torch.ops.aten.empty.memory_format, torch.ops.aten.empty_strided.default):
        _copies.impl(operation.name(), partial(_run, operation), "PrivateUse1")
