"""Choose the device that pages compute on, before the first of them runs.

A module of the book finds devices; it is named ``devices`` in ``[tool.sphinx-drift]``:

- ``python -m MODULE NAME --json`` looks for a device, and prints a list of one: an object with its
  ``place`` and a ``description``, the same with its name; or it exits with another status than 0,
  and its last line on stderr says why;
- ``start(place)`` has the page compute there;
- ``describe(place)`` returns its ``name``, ``driver`` and ``capability``;
- ``reproducible(place)`` is a context that has an example compute there.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from importlib import import_module
from typing import Any

from sphinx_drift.run.choice import DEVICE_VARIABLE, MODULE_VARIABLE


def choose_device(
    configured: str = "cpu", *, requested: str | None = None, modules: Iterable[str] = ()
) -> str:
    """Choose the requested device, else that of the environment variable or the configuration.

    The environment variables name it and its module from then on, for the processes of pages. The
    device is looked for in another process, so that this one never touches CUDA and can be
    forked.

    Returns:
        The device with its name, driver and capability; nothing if none was asked for.

    Raises:
        ValueError: If there is no such device; the error says what was found.

    """
    variable = os.environ.get(DEVICE_VARIABLE)
    name = requested or variable or configured
    if name == "cpu":
        if DEVICE_VARIABLE in os.environ:
            os.environ[DEVICE_VARIABLE] = name
        return ""
    origin = "--device" if requested else DEVICE_VARIABLE if variable else "drift_device"
    named = sorted(filter(None, modules))
    if len(named) != 1:
        raise ValueError(
            f"{origin}={name}: expected the name of one module that knows devices, got "
            f"{' and '.join(named) or 'none'}; "
            'write devices = "package.module" under [tool.sphinx-drift] in pyproject.toml'
        )
    device = _look_for(name, f"{origin}={name}", *named)
    os.environ[DEVICE_VARIABLE], os.environ[MODULE_VARIABLE] = device["place"], *named
    return str(device.get("description", ""))


def _look_for(name: str, origin: str, module: str) -> dict[str, Any]:
    """Ask another process for a device that works; an error says where it was asked for."""
    completed = subprocess.run(
        [sys.executable, "-m", module, name, "--json"],
        check=False,
        capture_output=True,
        text=True,
    )
    if completed.returncode:
        last = completed.stderr.strip().splitlines()[-1:] or ["it can't be looked for"]
        raise ValueError(f"{origin}: {last[0]}")
    with suppress(ValueError):
        match json.loads(completed.stdout):
            case [{"place": str()} as device]:
                return dict(device)
    raise ValueError(
        f"{origin}: expected {module} to print a list of one device as JSON, with its place; "
        f"got {completed.stdout[:200]!r}"
    )


def computing_on(device: str) -> AbstractContextManager[object]:
    """Compute on a device in this process, with the CPU's random numbers; on ``cpu`` do nothing."""
    if device == "cpu":
        return nullcontext()
    return import_module(os.environ[MODULE_VARIABLE]).reproducible(device)  # type: ignore[no-any-return]
