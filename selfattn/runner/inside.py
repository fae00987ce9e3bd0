"""Code that runs inside a page's process: each function stands alone and is sent as source."""

from __future__ import annotations

__all__ = [
    "compute_on_device",
    "describe",
    "disturb",
    "files",
    "origins",
    "print_full_precision",
    "watch",
]


def describe() -> dict[str, str]:
    """Say what the numbers of this page were computed with."""
    import platform
    import sys

    found = {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
    }
    torch = sys.modules.get("torch")
    if torch is None:
        return found
    found["torch"] = torch.__version__.partition("+")[0]
    found["device"] = str(torch.get_default_device())
    found["capability"] = torch.backends.cpu.get_cpu_capability()
    found["threads"] = str(torch.get_num_threads())
    if not found["device"].startswith("cpu"):
        from selfattn.devices import describe

        told = describe(torch.get_default_device())
        for each in ("name", "driver", "capability"):
            found[each] = told.get(each, "")
    return found


def origins() -> dict[str, str]:
    """Say from where the page imported those packages that the environment names."""
    import os
    import sys

    found = {}
    for name in filter(None, os.environ.get("SELFATTN_PACKAGES", "").split(",")):
        module = sys.modules.get(name)
        if module is not None:
            paths = [*getattr(module, "__path__", ()), getattr(module, "__file__", None)]
            found[name] = os.path.realpath(paths[0]) if paths[0] else ""
    return found


def compute_on_device() -> None:
    """Compute on the device that the environment names, with the CPU's random numbers."""
    import os

    import torch

    from selfattn import devices

    place = devices.start(os.environ["SELFATTN_DEVICE"])
    _, _, part = os.environ.get("SELFATTN_DEVICE_SHARE", "").partition(" ")
    if part and place.type == "cuda":
        torch.cuda.set_per_process_memory_fraction(float(part), place)


def print_full_precision() -> None:
    """Make tensors, arrays and their elements print all the digits that they have."""
    import importlib.util
    from typing import Any

    digits = 17

    def wrap(module: Any) -> None:
        plain = module.set_printoptions

        def set_printoptions(*args: Any, **options: Any) -> None:
            plain(*args, **options)
            plain(precision=digits)

        module.set_printoptions = set_printoptions
        plain(precision=digits)

    if importlib.util.find_spec("numpy"):
        import numpy

        wrap(numpy)
    if importlib.util.find_spec("torch"):
        import torch

        def whole(tensor: torch.Tensor, _: str) -> str:
            return str(tensor.item() if tensor.dim() == 0 else tensor)

        wrap(torch)
        torch.Tensor.__format__ = whole  # type: ignore[method-assign]


def disturb() -> None:
    """Give every default generator other entropy and torch another number of threads."""
    import importlib.util
    import os
    import random

    # NumPy's has the system's entropy once it is loaded: to load it here would take 20 ms.
    random.seed(os.urandom(16))
    if importlib.util.find_spec("torch"):
        import torch

        torch.seed()
        torch.set_num_threads(2 if torch.get_num_threads() == 1 else 1)


def watch() -> None:
    """Note from now on which files are opened for reading, and which modules are loaded."""
    import os
    import sys

    opened: set[str] = set()
    # By what is opened, not by sys.modules: to go through it copies a thousand pages of memory
    # that this process shares with its parent.
    sys.__dict__["_selfattn_watched"] = opened

    def note(event: str, arguments: tuple[object, ...]) -> None:
        # An extension module is imported by its file: the linker opens it, not Python.
        place = {"open": 0, "import": 1}.get(event)
        if place is None or not isinstance(path := arguments[place], str):
            return
        flags = arguments[2]
        if place == 0 and isinstance(flags, int) and flags & os.O_ACCMODE == os.O_WRONLY:
            return
        opened.add(os.path.abspath(path))  # the working directory may change

    sys.addaudithook(note)


def files() -> list[str]:
    """List the local modules that were imported, and the files that were opened for reading."""
    import contextlib
    import importlib.util
    import os
    import sys

    opened: set[str] = sys.__dict__["_selfattn_watched"]
    found = set(opened)
    for path in opened:
        if path.endswith(".pyc"):  # what is loaded is compiled; what an author changes is not
            with contextlib.suppress(ValueError):
                found.add(importlib.util.source_from_cache(path))
    standard, _ = os.path.split(os.__file__)
    libraries = {os.path.join(path, "") for path in (standard, os.path.realpath(standard))}
    elsewhere = (*libraries, "/dev/", "/proc/", "/sys/", "/etc/")
    packaged = {"site-packages", "dist-packages", "__pycache__"}
    # By their text first: asking the disk about a thousand library files takes a tenth of a second.
    local = [
        path
        for path in found
        if not path.startswith(elsewhere) and not packaged.intersection(path.split(os.sep))
    ]
    # A file that is gone, or was not there, may come back.
    return sorted({os.path.realpath(path) for path in local if not os.path.isdir(path)})
