"""Refuse bad input with a message that says what was expected, what came and what to do."""

from collections.abc import Sequence
from numbers import Integral, Real

import torch
from torch import Tensor


def check_matrix(name: str, value: object, shape: str) -> Tensor:
    """Return a floating-point tensor of two dimensions or more, with no empty row or column."""
    if not isinstance(value, Tensor):
        raise TypeError(
            f"{name} must be a torch.Tensor, got {type(value).__name__}; "
            f"make one, for example with torch.tensor(...)"
        )
    if not value.is_floating_point():
        raise TypeError(
            f"{name} must be a floating-point tensor, got {value.dtype}; "
            f"embed token ids first, or convert numbers with {name}.float()"
        )
    if value.dim() < 2:  # noqa: PLR2004 - a matrix has two dimensions, which needs no name
        raise ValueError(
            f"{name} must have shape {shape}, got {tuple(value.shape)}; "
            f"give a single vector a row of its own with {name}.unsqueeze(0)"
        )
    if value.shape[-2] == 0 or value.shape[-1] == 0:
        raise ValueError(
            f"{name} must have shape {shape} with no dimension of 0 among the last two, "
            f"got {tuple(value.shape)}; pass at least one token with at least one feature"
        )
    return value


def check_alike(name: str, value: Tensor, other_name: str, other: Tensor) -> None:
    """Require one device and one dtype; under autocast, PyTorch itself unifies the dtypes."""
    if value.device != other.device:
        raise ValueError(
            f"{name} and {other_name} must be on one device, got {value.device} and "
            f"{other.device}; move one of them with .to(device)"
        )
    if value.dtype != other.dtype and not torch.is_autocast_enabled(value.device.type):
        raise TypeError(
            f"{name} and {other_name} must have one dtype, got {value.dtype} and {other.dtype}; "
            f"convert one of them, for example with {name}.to({other.dtype})"
        )


def check_leading(name: str, value: Tensor, other_name: str, other: Tensor) -> None:
    """Require leading dimensions that are equal, or broadcast as in a matrix product."""
    leading, other_leading = value.shape[:-2], other.shape[:-2]
    pairs = zip(reversed(leading), reversed(other_leading), strict=False)
    if any(size != other_size and 1 not in (size, other_size) for size, other_size in pairs):
        raise ValueError(
            f"{name} and {other_name} must have leading dimensions that broadcast, got "
            f"{tuple(leading)} and {tuple(other_leading)}; make them equal, or 1 where one is "
            f"to be repeated"
        )


def check_input(x: object, d_in: int) -> None:
    """Require embedded tokens of ``d_in`` features."""
    x = check_matrix("x", x, f"(..., T, d_in={d_in})")
    if x.shape[-1] != d_in:
        raise ValueError(
            f"x must have shape (..., T, d_in={d_in}), got {tuple(x.shape)}; "
            f"give each token {d_in} features, or use weights for d_in={x.shape[-1]}"
        )


def check_weight(name: str, value: object, names: Sequence[str], sizes: Sequence[int]) -> None:
    """Require a ``(d_in, d_out)`` matrix whose known sizes, from the left, are ``sizes``."""
    labels = [f"{label}={size}" for label, size in zip(names, sizes, strict=False)]
    shape = f"({', '.join([*labels, *names[len(sizes) :]])})"
    value = check_matrix(name, value, shape)
    if value.dim() != len(names) or list(value.shape[: len(sizes)]) != list(sizes):
        raise ValueError(
            f"{name} must have shape {shape}, got {tuple(value.shape)}; it is applied as "
            f"x @ {name}, so a matrix stored as (d_out, d_in), like that of nn.Linear, "
            f"comes in as {name}.transpose(-2, -1)"
        )


def check_orientation(x: object, name: str, value: Tensor, names: Sequence[str]) -> None:
    """Where ``x`` fits a matrix from the wrong side only, blame the matrix and not ``x``."""
    if isinstance(x, Tensor) and x.shape[-1:] == value.shape[-1:]:
        check_weight(name, value, names, x.shape[-1:])


def check_size(name: str, value: object) -> None:
    """Require a number of features, tokens or heads: an integer of at least 1."""
    counted = {"context_length": "tokens", "num_heads": "heads"}.get(name, "features")
    if isinstance(value, bool) or not isinstance(value, (Integral, torch.SymInt)):
        raise _wrong_type(name, "an int", value, f"pass the number of {counted}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value}; pass the number of {counted}")


def check_heads(name: str, d_out: int, num_heads: int) -> None:
    """Require a width that can be cut into heads of one size."""
    if d_out % num_heads:
        raise ValueError(
            f"{name} must be a multiple of num_heads={num_heads}, got {d_out}; each head has "
            f"{name} / num_heads features, so change one of the two"
        )


def check_head_axis(name: str, value: Tensor) -> None:
    """Require an axis for the heads, before the tokens and the features."""
    if value.dim() < 3 or value.shape[-3] == 0:  # noqa: PLR2004 - heads, tokens, features
        raise ValueError(
            f"{name} must have shape (..., num_heads, T, head_dim), got {tuple(value.shape)}; "
            f"cut it into heads first with split_heads, or give a single head an axis of its own "
            f"with {name}.unsqueeze(-3)"
        )


def check_probability(name: str, value: object) -> None:
    """Require a number from 0 to 1."""
    remedy = "pass the probability with which a weight is dropped, such as 0.1"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise _wrong_type(name, "a float", value, remedy)
    if not 0 <= float(value) <= 1:
        raise ValueError(f"{name} must be from 0 to 1, got {value}; {remedy}")


def check_context(x: Tensor, context_length: int) -> None:
    """Require no more tokens than a module's mask has room for."""
    if x.shape[-2] > context_length:
        raise ValueError(
            f"x must have at most context_length={context_length} tokens, got {x.shape[-2]} in "
            f"shape {tuple(x.shape)}; keep the last ones with x[..., -{context_length}:, :], or "
            f"build the module with a larger context_length"
        )


def check_mask(mask: object, scores_name: str, scores: Tensor) -> None:
    """Require truth values that broadcast to the scores: a number is no answer to "hide it?"."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        came = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(
            f"mask must be a tensor of torch.bool, True where a query must not look, got {came}; "
            f"convert it with torch.as_tensor(mask).bool()"
        )
    if mask.device != scores.device:
        raise ValueError(
            f"mask and {scores_name} must be on one device, got {mask.device} and "
            f"{scores.device}; move one of them with .to(device)"
        )
    pairs = zip(reversed(mask.shape), reversed(scores.shape), strict=False)
    if mask.dim() > scores.dim() or any(size not in (1, other) for size, other in pairs):
        raise ValueError(
            f"mask must broadcast to the shape of {scores_name}, {tuple(scores.shape)}, got "
            f"{tuple(mask.shape)}; give it a row for each query and a column for each key, and 1 "
            f"where it is to be repeated"
        )


def check_flag(name: str, value: object) -> None:
    """Require True or False, so that a number meant for something else is not read as True."""
    if not isinstance(value, bool):
        raise _wrong_type(name, "True or False", value, "pass one of the two")


def _wrong_type(name: str, expected: str, value: object, remedy: str) -> TypeError:
    got = f"{value!r} of type {type(value).__name__}"
    return TypeError(f"{name} must be {expected}, got {got}; {remedy}")
