"""Draw random numbers with the CPU's generator, wherever the tensors live."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

_CPU = torch.device("cpu")
_DRAW_NOTHING = {"aten::_fused_sdp_choice", "aten::_nested_tensor_softmax_with_shape"}
"""Operations that PyTorch tags as random although they draw nothing."""


class UnreproducibleError(RuntimeError):
    """An operation would draw random numbers that the CPU's generator can't draw for it."""


class CpuDraws(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Run whatever draws on the CPU, and move what it has drawn to the device.

    A ``TorchFunctionMode`` would not see what ``nn.Linear`` draws when it is made. Here every
    operation comes by, and PyTorch tags those that draw.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Spare PyTorch the import of its compiler, seconds long, to hide this from it."""
        return False

    def __torch_dispatch__(
        self,
        func: OpOverload,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run one operation; those that draw nothing, or draw on the CPU, as they are."""
        kwargs = kwargs or {}
        if torch.Tag.nondeterministic_seeded not in func.tags:
            return func(*args, **kwargs)
        names = [argument.name for argument in func._schema.arguments]
        given = dict(zip(names, args, strict=False)) | dict(kwargs)
        device = _device(given)
        if device.type in {"cpu", "meta"} or not _is_random(func, given):
            return func(*args, **kwargs)
        if types:  # a subclass of Tensor takes itself apart, and its parts come by here
            return NotImplemented
        if func is torch.ops.aten.native_dropout.default and 0 < given["p"] < 1:
            return _drop(given["input"], given["p"])
        try:
            return _draw(func, args, kwargs, device)
        except NotImplementedError as error:
            raise UnreproducibleError(
                f"{func} draws inside a kernel of its own on {device}; use layers without dropout "
                f"of their own and nn.Dropout between them, attention without sdpa_kernel(), or "
                f"draw the numbers on the CPU and move them"
            ) from error


def _device(given: dict[str, Any]) -> torch.device:
    """Return where an operation's result lives."""
    if isinstance(named := given.get("device"), torch.device):
        return named
    places = [value.device for value in given.values() if isinstance(value, Tensor)]
    return next((place for place in places if place != _CPU), _CPU)


def _is_random(func: OpOverload, given: dict[str, Any]) -> bool:
    """Whether an operation that may draw does: one with dropout does only if it is on."""
    dropout = given.get("dropout_p", given.get("dropout", 1.0))
    is_off = dropout == 0 or given.get("train") is False
    return not is_off and func._schema.name not in _DRAW_NOTHING


def _draw(
    func: OpOverload, args: Sequence[Any], kwargs: Mapping[str, Any], device: torch.device
) -> Any:
    """Run an operation on the CPU, with its tensors' twins, and move what comes of it."""
    written: list[tuple[Tensor, Tensor]] = []

    def on_cpu(argument: Any, value: Any) -> Any:
        if isinstance(value, torch.device):
            return _CPU
        if not isinstance(value, Tensor):
            return value
        twin = _twin(value)
        if argument.is_write:
            written.append((value, twin))
        return twin

    signature = func._schema.arguments
    named = {argument.name: argument for argument in signature}
    moved = {name: on_cpu(named[name], value) for name, value in kwargs.items()}
    drawn = func(*map(on_cpu, signature, args), **moved)
    for original, twin in written:
        if original.shape != twin.shape:  # `out=` takes any shape
            original.resize_(twin.shape)
        original.copy_(twin)
    originals = {id(twin): original for original, twin in written}
    return tree_map(lambda t: originals[id(t)] if id(t) in originals else t.to(device), drawn)


def _drop(x: Tensor, p: float) -> tuple[Tensor, Tensor]:
    """Do what dropout does on the CPU, where it isn't one operation, and return the mask too."""
    mask = torch.empty_like(_twin(x)).bernoulli_(1 - p)
    return x * (mask / (1 - p)).to(x.device), mask.to(x.device, torch.bool)


def _twin(tensor: Tensor) -> Tensor:
    """Return a copy on the CPU that is laid out alike, for the order of draws follows that."""
    if tensor.layout is not torch.strided or 0 in tensor.stride():
        return tensor.to(_CPU)
    twin = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=_CPU)
    return twin.copy_(tensor)
