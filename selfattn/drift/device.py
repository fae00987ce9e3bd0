"""Choose the device that pages compute on, before the first of them runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfattn.runner.run import DEVICE_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "DEVICE_VARIABLE",
    "MEMORY_VARIABLE",
    "SHARE_VARIABLE",
    "ChosenDevice",
    "chosen_device",
    "computing_on",
    "explained",
]

MEMORY_VARIABLE = "SELFATTN_DEVICE_MEMORY"
SHARE_VARIABLE = "SELFATTN_DEVICE_SHARE"
_TOLD_VARIABLE = "SELFATTN_DEVICE_TOLD"
_MEMORY = 2.0
"""GiB of a device's memory that a page may fill, if nobody says otherwise."""
_CONTEXT = 0.75
"""GiB that a process takes on a GPU before it computes anything: more than was ever reported."""
_GIB = 2**30


@dataclass(frozen=True)
class ChosenDevice:
    """Where pages compute."""

    place: str = "cpu"
    """What PyTorch calls it."""
    told: str = ""
    """The same with its name, driver and capability; empty if nobody asked for a device."""


def chosen_device(configured: str = "cpu", *, asked: str | None = None) -> ChosenDevice:
    """Return the device: what was asked for, else the environment variable, else the configuration.

    The environment variable names it from then on, for the processes of pages. The device is
    looked for in a process of its own, so that this one never touches CUDA and can be forked.

    Raises:
        ValueError: If there is no such device; the error says what was found.

    """
    variable = os.environ.get(DEVICE_VARIABLE)
    name = asked or variable or configured
    origin = "--device" if asked else DEVICE_VARIABLE if variable else "drift_device"
    found: dict[str, Any] = {"place": "cpu"} if name == "cpu" else _look_for(name, origin)
    place, told = str(found["place"]), str(found.get("told", ""))
    for stale in (SHARE_VARIABLE, _TOLD_VARIABLE):
        os.environ.pop(stale, None)
    if place != "cpu" or DEVICE_VARIABLE in os.environ:
        os.environ[DEVICE_VARIABLE] = place
    if place != "cpu":
        os.environ[_TOLD_VARIABLE] = told  # results that are kept don't outlive a driver
    if memory := found.get("memory", 0):
        os.environ[SHARE_VARIABLE] = _share(memory / _GIB)
    return ChosenDevice(place, told)


def _look_for(name: str, origin: str) -> dict[str, Any]:
    """Ask another process for a device that works; an error says where it was asked for."""
    home = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    done = subprocess.run(  # noqa: S603 - it is our own
        [sys.executable, "-m", "selfattn.devices", name, "--json"],
        env=os.environ | {"PYTHONPATH": path},
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["it can't be looked for"]
        raise ValueError(f"{origin}={name}: {last[0]}")
    (found,) = json.loads(done.stdout)
    return dict(found)


def _share(total: float) -> str:
    """Return how many pages may run at a time, and the part of the memory that each may fill."""
    try:
        wanted = float(os.environ.get(MEMORY_VARIABLE) or _MEMORY)
    except ValueError:
        wanted = 0.0
    if wanted <= 0:
        raise ValueError(f"{MEMORY_VARIABLE} must be a number of GiB, such as {_MEMORY:g}")
    pages = max(1, int(total // (wanted + _CONTEXT)))
    part = min(1.0, wanted / total)
    return f"{pages} {part:.6f}"


def explained(message: str) -> str:
    """Add to an error's message, if it says that memory ran out, how much there was and why."""
    if "OutOfMemoryError" not in message and "out of memory" not in message:
        return message
    if SHARE_VARIABLE not in os.environ:
        return message
    wanted = os.environ.get(MEMORY_VARIABLE) or f"{_MEMORY:g}"
    return (
        f"{message}\nA page may fill {wanted} GiB of {os.environ.get(DEVICE_VARIABLE)}; "
        f"{MEMORY_VARIABLE} changes that. Other pages are not affected."
    )


@contextmanager
def computing_on(place: str) -> Iterator[None]:
    """Compute on a device in this process, with the CPU's random numbers; on ``cpu`` do nothing."""
    if place == "cpu":
        yield
        return
    from selfattn.devices import reproducible  # noqa: PLC0415 - books without torch need none

    with reproducible(place):
        yield
