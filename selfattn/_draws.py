"""Random numbers are drawn by the CPU's generator, wherever the tensors live.

Every operation of PyTorch that draws is tagged, and each one has its treatment here. One that
has none, because a later PyTorch brought it, is refused: its numbers would be other ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend
from torch.utils._python_dispatch import TorchDispatchMode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torch._ops import OpOverload

__all__ = ["CpuDraws", "Treatment", "UnreproducibleError", "treatment"]

_CPU = torch.device("cpu")


class UnreproducibleError(RuntimeError):
    """An operation would draw random numbers that the CPU's generator can't draw for it."""


class Treatment(Enum):
    """What is done with an operation that may draw random numbers."""

    DRAW = "it runs on the CPU, and what it draws is moved"
    DROPOUT = "its mask is drawn as dropout on the CPU draws it"
    PARTS = "it is made of operations that are treated one by one"
    CHOICE = "it chooses how to attend: with dropout, by operations that are treated one by one"
    REFUSE = "it draws inside a kernel of its own, and is refused where it would draw"
    NOTHING = "it is tagged, but draws nothing"


_TREATMENTS = {
    Treatment.DRAW: """
        aten::_sample_dirichlet aten::_standard_gamma aten::bernoulli aten::bernoulli_
        aten::binomial aten::cauchy aten::cauchy_ aten::exponential aten::exponential_
        aten::geometric aten::geometric_ aten::log_normal aten::log_normal_ aten::multinomial
        aten::normal aten::normal_ aten::normal_functional aten::poisson aten::rand
        aten::rand_like aten::randint aten::randint_like aten::randn aten::randn_like
        aten::random aten::random_ aten::randperm aten::rrelu_with_noise
        aten::rrelu_with_noise_ aten::rrelu_with_noise_functional aten::uniform
        aten::uniform_ prims::normal prims::uniform
    """,
    Treatment.DROPOUT: "aten::native_dropout",
    Treatment.PARTS: """
        aten::_scaled_dot_product_attention_math aten::alpha_dropout aten::alpha_dropout_
        aten::dropout aten::dropout_ aten::feature_alpha_dropout aten::feature_alpha_dropout_
        aten::feature_dropout aten::feature_dropout_ aten::gru aten::lstm aten::rnn_relu
        aten::rnn_tanh aten::rrelu aten::rrelu_ aten::scaled_dot_product_attention
    """,
    Treatment.CHOICE: "aten::_fused_sdp_choice",
    Treatment.REFUSE: """
        aten::_cudnn_attention_backward aten::_cudnn_attention_forward
        aten::_cudnn_init_dropout_state aten::_cudnn_rnn aten::_efficient_attention_forward
        aten::_fill_mem_eff_dropout_mask_ aten::_flash_attention_forward
        aten::_flash_attention_forward_no_dropout_inplace aten::_fused_dropout aten::_lstm_mps
        aten::_scaled_dot_product_attention_math_for_mps
        aten::_scaled_dot_product_cudnn_attention
        aten::_scaled_dot_product_cudnn_attention_backward
        aten::_scaled_dot_product_efficient_attention
        aten::_scaled_dot_product_efficient_attention_backward
        aten::_scaled_dot_product_flash_attention
        aten::_scaled_dot_product_flash_attention_for_cpu
        aten::_scaled_dot_product_fused_attention_overrideable
        aten::_triton_scaled_dot_attention aten::miopen_rnn rngprims::philox_rand
    """,
    Treatment.NOTHING: "aten::_nested_tensor_softmax_with_shape",
}
_TREATMENT = {name: kind for kind, names in _TREATMENTS.items() for name in names.split()}


def treatment(operation: OpOverload) -> Treatment | None:
    """Return what is done with an operation, or None if it is a random one that nobody knows."""
    return _TREATMENT.get(operation._schema.name)  # noqa: SLF001 - torch names its operations there


class CpuDraws(TorchDispatchMode):
    """While it is active, tensors elsewhere get their random numbers from the CPU's generator.

    Args:
        meta: Whether tensors on ``meta`` draw as well. They hold no numbers, so a run on the CPU
            that makes some draws none for them.

    """

    def __init__(self, *, meta: bool = False) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._untouched = {"cpu"} if meta else {"cpu", "meta"}

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
        call = _Call(func, tuple(args), dict(kwargs or {}))
        if torch.Tag.nondeterministic_seeded not in func.tags:
            return call.run()
        given = call.given()
        device = _device(given)
        if device.type in self._untouched or _has_own_generator(given) or _is_traced(types):
            return call.run()
        if types:
            raise _refused(func, device, f"{types[0].__name__} is no plain tensor")
        return self._treated(call, given, device)

    def _treated(self, call: _Call, given: dict[str, Any], device: torch.device) -> Any:
        match treatment(call.func):
            case Treatment.DRAW:
                return _draw(call, device)
            case Treatment.DROPOUT if _drops(given):
                return _drop(call, given, device)
            case Treatment.PARTS:
                with self:
                    return call.func.decompose(*call.args, **call.kwargs)
            case Treatment.CHOICE if _drops(given):
                return SDPBackend.MATH.value
            case Treatment.REFUSE if _drops(given):
                raise _refused(call.func, device, "it draws inside a kernel of its own")
            case None:
                raise _refused(call.func, device, "it is a random operation that is new here")
        return call.run()


@dataclass(frozen=True)
class _Call:
    """An operation and what it is called with."""

    func: OpOverload
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def run(self) -> Any:
        """Run it as it is."""
        return self.func(*self.args, **self.kwargs)

    def given(self) -> dict[str, Any]:
        """Return the value of each argument by name, with the defaults."""
        arguments = self.func._schema.arguments  # noqa: SLF001 - the one place that has them
        values = {a.name: a.default_value for a in arguments if a.has_default_value()}
        values |= {a.name: value for a, value in zip(arguments, self.args, strict=False)}
        return values | self.kwargs

    def mapped(self, change: Callable[[Any, Any], Any]) -> _Call:
        """Return the call with each of its values changed, given the argument and the value."""
        arguments = {a.name: a for a in self.func._schema.arguments}  # noqa: SLF001 - as above
        args = tuple(
            change(a, value) for a, value in zip(arguments.values(), self.args, strict=False)
        )
        kwargs = {name: change(arguments[name], value) for name, value in self.kwargs.items()}
        return _Call(self.func, args, kwargs)


def _device(given: dict[str, Any]) -> torch.device:
    """Return where an operation's result lives."""
    named = given.get("device")
    if isinstance(named, torch.device):
        return named
    places = [value.device for value in given.values() if isinstance(value, Tensor)]
    return next((place for place in places if place != _CPU), _CPU)


def _has_own_generator(given: dict[str, Any]) -> bool:
    """Whether the caller asked for the numbers of a device's own generator."""
    generator = given.get("generator")
    return generator is not None and generator.device.type != "cpu"


def _is_traced(types: Sequence[type]) -> bool:
    """Whether the tensors stand for others while PyTorch records what is done with them."""
    return any(kind.__module__.startswith("torch._subclasses.") for kind in types)


def _drops(given: dict[str, Any]) -> bool:
    """Whether an operation with dropout draws a mask."""
    portion = given.get("dropout_p", given.get("dropout", given.get("p", 1.0)))
    return portion > 0 and given.get("train") is not False


def _refused(func: OpOverload, device: torch.device, reason: str) -> UnreproducibleError:
    return UnreproducibleError(
        f"{func} can't have the CPU's random numbers on {device}: {reason}; use layers without "
        f"dropout of their own and nn.Dropout between them, attention without sdpa_kernel(), or "
        f"draw the numbers on the CPU and move them"
    )


def _draw(call: _Call, device: torch.device) -> Any:
    """Run an operation on the CPU, with its tensors' twins, and move what comes of it."""
    written: list[tuple[Tensor, Tensor]] = []
    name = call.func._schema.name  # noqa: SLF001 - as above
    reads_what_it_writes = name.startswith("aten::rrelu")
    takes_the_layout = "self" if name.endswith("_like") else None

    def on_cpu(argument: Any, value: Any) -> Any:
        if isinstance(value, torch.device):
            return _CPU
        if not isinstance(value, Tensor):
            return value
        writes = argument.alias_info is not None and argument.alias_info.is_write
        reads = reads_what_it_writes if writes else argument.name != takes_the_layout
        twin = _twin(value, filled=reads)
        if writes:
            written.append((value, twin))
        return twin

    drawn = call.mapped(on_cpu).run()
    for original, twin in written:
        _put(original, twin)

    def moved(result: Tensor) -> Tensor:
        originals = (original for original, twin in written if twin is result)
        original = next(originals, None)
        return result.to(device) if original is None else original

    return tuple(map(moved, drawn)) if isinstance(drawn, tuple) else moved(drawn)


def _drop(call: _Call, given: dict[str, Any], device: torch.device) -> Any:
    """Do what dropout does on the CPU, where it isn't one operation, and return the mask too."""
    x, kept = given["input"], 1.0 - given["p"]
    if not x.numel():
        return call.run()
    mask = torch.empty_like(_twin(x, filled=False))
    noise = mask.bernoulli_(kept) / kept if kept > 0 else mask.zero_()
    results = (x * noise.to(device), mask.to(device, torch.bool))
    for result, name in zip(results, ("out0", "out1"), strict=True):
        if name in given:
            _put(given[name], result)
    return (given["out0"], given["out1"]) if "out0" in given else results


def _twin(tensor: Tensor, *, filled: bool) -> Tensor:
    """Return a tensor on the CPU that is laid out alike, for the order of draws follows that."""
    if tensor.layout is not torch.strided or 0 in tensor.stride():
        return tensor.to(_CPU)
    twin = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=_CPU)
    return twin.copy_(tensor) if filled else twin


def _put(original: Tensor, values: Tensor) -> None:
    """Write values over a tensor, which takes their shape if it is another, as ``out=`` does."""
    if original.shape != values.shape:
        original.resize_(values.shape)
    original.copy_(values)
