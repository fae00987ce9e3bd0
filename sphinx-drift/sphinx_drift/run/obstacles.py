"""Why a page can't be run in a forked child: the system, the user's settings, or its kernel."""

from __future__ import annotations

import functools
import os
import shutil
import sys
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

from sphinx_drift.run.fork_client import can_fork


@functools.cache
def obstacle() -> str:
    """Return why no page can be run in a forked child on this machine; an empty text if it can."""
    if not can_fork():
        return f"pages can't be forked on {sys.platform}"
    if personal := _personal_settings():
        return f"{personal} changes what kernels do"
    return ""


def _personal_settings() -> Path | None:
    """Return a file by which the user changes kernels, which a forked child would not read."""
    home = Path(os.environ.get("IPYTHONDIR") or Path("~/.ipython").expanduser())
    profile = home / "profile_default"
    settings = (profile / f"{name}.{end}" for name in _SETTINGS for end in ("py", "json"))
    startup = (path for path in sorted((profile / "startup").glob("*")) if path.suffix != "")
    return next((path for path in (*settings, *startup) if path.is_file()), None)


_SETTINGS = ("ipython_config", "ipython_kernel_config")


@functools.cache
def kernel_obstacle(name: str) -> str:
    """Return why the pages of a kernel can't be run in forked children, in the same way."""
    try:
        spec = KernelSpecManager().get_kernel_spec(name)
    except NoSuchKernel:
        return f"there is no kernel {name!r}"
    except (OSError, ValueError) as error:
        return f"the specification of the kernel {name!r} can't be read: {error}"
    ours = "ipykernel_launcher" in spec.argv and not set(spec.env) - {"PYDEVD_USE_FRAME_EVAL"}
    if not ours or not _is_ours(spec.argv[0]):
        return f"the kernel {name!r} isn't this Python's own"
    return ""


def _is_ours(command: str) -> bool:
    """Tell whether a kernel's command starts this Python, with the packages that it has here."""
    if command in _THIS_PYTHON:
        return True
    python = Path(shutil.which(command) or command).absolute()
    ours = Path(sys.executable).absolute()
    return (
        python.exists()
        and python.samefile(ours)
        and _environment_of(python) == _environment_of(ours)
    )


# What Jupyter takes for the Python that it runs in, whatever the path says.
_THIS_PYTHON = {
    "python",
    f"python{sys.version_info.major}",
    f"python{sys.version_info.major}.{sys.version_info.minor}",
}


def _environment_of(python: Path) -> Path | None:
    """Return the virtual environment of an interpreter; None if it is in none.

    Python looks for it beside the link by which it was started, not beside what that leads to.
    """
    folders = (python.parent, python.parent.parent)
    return next((f.resolve() for f in folders if (f / "pyvenv.cfg").is_file()), None)
