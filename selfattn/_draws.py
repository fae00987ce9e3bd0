"""Draw random numbers with the CPU's generator, wherever the tensors live."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch._library.utils import lookup_op
from torch._ops import OpOverload
from torch.utils._pytree import tree_map

_CPU = torch.device("cpu")
_open_contexts: Counter[str] = Counter()  # by the kind of device
_libraries: dict[str, list[torch.library.Library]] = {}


@contextmanager
def cpu_draws(kind: str) -> Iterator[None]:
    """Run whatever draws on the CPU, and move what it has drawn to the device.

    PyTorch tags the operations that draw. Their kernels for a kind of device, such as ``cuda``, are
    replaced, in all threads; no other operation is looked at, so none becomes slower.
    """
    if not _open_contexts[kind]:
        _libraries[kind] = _replace_kernels(torch._C._dispatch_key_for_device(kind))
    _open_contexts[kind] += 1
    try:
        yield
    finally:
        _open_contexts[kind] -= 1
        if not _open_contexts[kind]:
            for library in _libraries.pop(kind):
                library._destroy()


def _replace_kernels(key: str) -> list[torch.library.Library]:
    """Register kernels that lead to the CPU; the former ones return when the libraries go."""
    libraries: dict[str, torch.library.Library] = {}
    registered = torch._C._dispatch_get_registrations_for_dispatch_key
    names = {*registered("CPU"), *registered(key)}  # what is made of others needs no kernel
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Warning only once for all operators", UserWarning)
        for name in names - {"aten::_fused_sdp_choice"}:  # which is tagged, too
            operation = lookup_op(name)
            if torch.Tag.nondeterministic_seeded in operation.tags:
                space = name.partition("::")[0]
                library = libraries.setdefault(space, torch.library.Library(space, "IMPL"))
                library.impl(name, _on_the_cpu(operation, key), key, with_keyset=True)
    return [*libraries.values()]


def _on_the_cpu(func: OpOverload, key: str) -> Callable[..., Any]:
    """Return a kernel for a device that runs an operation on the CPU, or refuses to run it."""
    defaults = {a.name: a.default_value for a in func._schema.arguments if a.has_default_value()}
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CPU")
    former = None if has_kernel else torch.library.get_kernel(func, key)

    def kernel(keys: Any, *args: Any, **kwargs: Any) -> Any:
        names = (argument.name for argument in func._schema.arguments)
        given: dict[str, Any] = defaults | dict(zip(names, args, strict=False)) | kwargs
        if func is torch.ops.aten.native_dropout.default and given["train"]:
            ones = torch.ones_like(_on_cpu(given["input"]))  # on the CPU, it isn't one operation
            factors = torch.dropout(ones, given["p"], train=True).to(given["input"].device)
            return given["input"] * factors, factors != 0
        generator = given.get("generator")
        if has_kernel and (generator is None or generator.device == _CPU):
            return _draw(func, given)
        dropout = given.get("dropout_p", given.get("dropout", 1.0))
        if former and (dropout == 0 or given.get("train") is False):
            return former.call_boxed(keys, *args, **kwargs)
        raise NotImplementedError(
            f"{func} draws by itself, not with the CPU's generator:"
            " use nn.Dropout between layers, no sdpa_kernel(), and no generator of the device"
        )

    return kernel


def _draw(func: OpOverload, given: dict[str, Any]) -> Any:
    """Run an operation on the CPU, with copies of its tensors, and move what comes of it."""
    places = [value.device for value in given.values() if isinstance(value, Tensor)]
    device = given.get("device") or next(place for place in places if place != _CPU)
    copies = tree_map(_on_cpu, given)
    drawn = func(**copies)
    originals = {}
    for argument in func._schema.arguments:
        if argument.is_write:
            original, copy = given[argument.name], copies[argument.name]
            originals[id(copy)] = original.resize_(copy.shape).copy_(copy)  # for `out=`
    return tree_map(lambda t: originals[id(t)] if id(t) in originals else t.to(device), drawn)


def _on_cpu(value: Any) -> Any:
    """Return a tensor's copy that is laid out alike, for the order of draws follows that."""
    if isinstance(value, torch.device):
        return _CPU
    if not isinstance(value, Tensor):
        return value
    if value.layout is not torch.strided or 0 in value.stride():
        return value.to(_CPU)
    copy = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=_CPU)
    return copy.copy_(value)
