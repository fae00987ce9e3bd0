"""Draw random numbers with the CPU's generator, wherever the tensors live."""

from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

_CPU = torch.device("cpu")


class CpuDraws(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Run whatever draws on the CPU, and move what it has drawn to the device.

    A ``TorchFunctionMode`` would not see what ``nn.Linear`` draws when it is made. Here every
    operation comes by, and PyTorch tags those that draw.
    """

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one operation; those that draw nothing, or draw on the CPU, as they are."""
        names = [argument.name for argument in func._schema.arguments]
        given = dict(zip(names, args, strict=False)) | (kwargs or {})
        device = _device(given)
        if device.type in {"cpu", "meta"} or not _is_random(func, given):
            return func(*args, **(kwargs or {}))
        if func is torch.ops.aten.native_dropout.default:  # on the CPU, it isn't one operation
            ones = torch.ones_like(_on_cpu(given["input"]))
            factors = torch.dropout(ones, given["p"], train=True).to(device)
            return given["input"] * factors, factors != 0
        try:
            return _draw(func, given, device)
        except NotImplementedError as error:
            error.add_note(
                f"{func} draws by itself: use nn.Dropout between layers, no sdpa_kernel()"
            )
            raise


def _device(given: dict[str, Any]) -> torch.device:
    """Return where an operation's result lives."""
    places = [value.device for value in given.values() if isinstance(value, Tensor)]
    return given.get("device") or next((place for place in places if place != _CPU), _CPU)


def _is_random(func: OpOverload, given: dict[str, Any]) -> bool:
    """Whether an operation draws: one with dropout does only if it is on."""
    dropout = given.get("dropout_p", given.get("dropout", 1.0))
    is_off = dropout == 0 or given.get("train") is False
    is_choice = func is torch.ops.aten._fused_sdp_choice.default  # tagged, but it draws nothing
    return torch.Tag.nondeterministic_seeded in func.tags and not is_off and not is_choice


def _draw(func: OpOverload, given: dict[str, Any], device: torch.device) -> Any:
    """Run an operation on the CPU, with copies of its tensors, and move what comes of it."""
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
