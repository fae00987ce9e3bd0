"""Check the arguments and the input of a listing's class, outside the listing."""

import functools
import inspect
from typing import Any

from torch import Tensor, nn

from selfattn._checks import (
    check_alike,
    check_context,
    check_flag,
    check_heads,
    check_input,
    check_probability,
    check_size,
)

_SIZES = ("d_in", "d_out", "context_length", "num_heads")


def check_arguments(module_class: type[nn.Module], *, split: bool = False) -> None:
    """Check the arguments before ``__init__``; with ``split``, heads must divide ``d_out``."""
    init: Any = module_class.__init__
    signature = inspect.signature(init)

    @functools.wraps(init)
    def checked_init(self: nn.Module, *args: Any, **kwargs: Any) -> None:
        arguments = signature.bind(self, *args, **kwargs).arguments
        _check_values(arguments)
        if split:
            check_heads("d_out", arguments["d_out"], arguments["num_heads"])
        init(self, *args, **kwargs)

    _replace(module_class, "__init__", checked_init)


def check_calls(module_class: type[nn.Module]) -> None:
    """Check ``x`` before ``forward``, by the sizes of ``W_query`` and of the mask, if any."""
    forward: Any = module_class.forward

    @functools.wraps(forward)
    def checked_forward(self: nn.Module, x: Tensor) -> Any:
        _check_x(self, x)
        return forward(self, x)

    _replace(module_class, "forward", checked_forward)


def _replace(module_class: type[nn.Module], name: str, method: Any) -> None:
    setattr(module_class, name, method)


def _check_values(arguments: dict[str, Any]) -> None:
    for name in _SIZES:
        if name in arguments:
            check_size(name, arguments[name])
    check_probability("dropout", arguments.get("dropout", 0.0))
    check_flag("qkv_bias", arguments.get("qkv_bias", False))


def _check_x(module: Any, x: Tensor) -> None:
    W_query = module.W_query
    if isinstance(W_query, Tensor):
        weight, d_in = W_query, W_query.shape[0]
    elif type(W_query) is nn.Linear:
        weight, d_in = W_query.weight, W_query.in_features
    else:  # a layer that someone put in its place (adapter, quantised) knows its own input
        return
    check_input(x, d_in)
    check_alike("x", x, "W_query", weight)
    if hasattr(module, "mask"):
        check_context(x, module.mask.shape[-1])
