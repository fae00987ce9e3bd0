"""How pages are to be run: what the environment asks for."""

import os

RUNNER_VARIABLE = "DRIFT_RUNNER"
DEVICE_VARIABLE = "DRIFT_DEVICE"
MODULE_VARIABLE = "DRIFT_DEVICE_MODULE"
"""Names the module that knows devices, for the processes of pages."""
COVERAGE_VARIABLE = "DRIFT_COVERAGE"
"""Names the options of coverage.py, as JSON, where what pages run is measured."""
SCRATCH = "sphinx-drift"
"""How the names of temporary folders begin; the process that made it follows."""
PAGE_VARIABLES = {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
"""The variables that pages start with, where nothing sets them."""
_RUNNERS = ("fork", "jupyter")


def chosen_runner() -> str:
    """Return how pages are to be run: ``fork`` or ``jupyter``.

    Raises:
        ValueError: If the environment variable names none of them.

    """
    name = os.environ.get(RUNNER_VARIABLE) or "fork"
    if name not in _RUNNERS:
        raise ValueError(f"{RUNNER_VARIABLE} must be one of {', '.join(_RUNNERS)}; got {name!r}")
    return name


def is_ci() -> bool:
    """Whether a CI system runs this; some programs set ``CI=false`` where none does."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def page_environment() -> dict[str, str]:
    """Return this process's environment, as pages start with it: one thread, one order of sets.

    Many pages run at a time. Where each has a thread for every core, they get in one another's
    way, and how sums are split, and so their last digits, depends on the machine.
    If the order of sets changed with each build, a verified output would differ later.
    """
    return PAGE_VARIABLES | os.environ
