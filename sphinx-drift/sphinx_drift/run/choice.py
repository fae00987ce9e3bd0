"""How pages are to be run: what the environment asks for."""

from __future__ import annotations

import os

__all__ = ["RUNNER_VARIABLE", "chosen", "refuse_old_variables"]

RUNNER_VARIABLE = "DRIFT_RUNNER"
_RUNNERS = ("fork", "jupyter", "off")
_RENAMED = ("DEVICE", "DEVICE_MEMORY", "POLICY", "RUNNER")


def chosen() -> str:
    """Return how pages are to be run: ``fork``, ``jupyter`` or ``off``.

    Raises:
        ValueError: If the environment variable names none of them, or ``off`` under ``CI``, or has
            its old name.

    """
    refuse_old_variables()
    name = os.environ.get(RUNNER_VARIABLE) or "fork"
    if name not in _RUNNERS:
        raise ValueError(f"{RUNNER_VARIABLE} must be one of {', '.join(_RUNNERS)}; got {name!r}")
    if name == "off" and os.environ.get("CI"):
        raise ValueError(
            f"{RUNNER_VARIABLE}=off executes and verifies nothing, so it is refused under CI; "
            "unset one of the two"
        )
    return name


def refuse_old_variables() -> None:
    """Refuse a variable by its old name: to ignore it would check otherwise than was asked for.

    Raises:
        ValueError: If there is one; the error says its new name.

    """
    for name in _RENAMED:
        if f"SELFATTN_{name}" in os.environ:
            raise ValueError(f"SELFATTN_{name} is not read any more; set DRIFT_{name} instead")
