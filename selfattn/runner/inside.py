"""Code that runs inside a page's process: each function stands alone and is sent as source."""

from __future__ import annotations

__all__ = ["compute_on_device", "describe", "disturb", "files", "print_full_precision", "watch"]


def describe() -> dict[str, str]:
    """Say what the numbers of this page were computed with."""
    import os
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
    # What was asked for: a cell may choose another default.
    found["device"] = os.environ.get("SELFATTN_DEVICE", "cpu")
    found["capability"] = torch.backends.cpu.get_cpu_capability()
    found["threads"] = str(torch.get_num_threads())
    if not found["device"].startswith("cpu"):
        from selfattn.devices import describe

        told = describe(torch.device(found["device"]))
        for each in ("name", "driver", "capability"):
            found[each] = told.get(each, "")
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


def print_full_precision() -> None:  # noqa: C901, PLR0915 - it is sent as one text
    """Make tensors, arrays and their elements print all the digits that they have.

    Invisible marks enclose what is known besides: a star after a number or tensor that was
    computed in float32 and is wider now; after a tensor the largest number of that which it is a
    part of.
    """
    import importlib.util
    from typing import Any

    digits = 17
    mark = "\N{INVISIBLE SEPARATOR}"

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

        class Single(float):
            """A number that was taken out of a float32 tensor, or computed from such a one."""

            def __repr__(self) -> str:
                return f"{float.__repr__(self)}{mark}*{mark}"

            __str__ = __repr__

            def __format__(self, form: str) -> str:
                percent = form.endswith("%")
                value = float(self) * 100 if percent else float(self)
                plus = "+" * ("+" in form and self >= 0)
                return f"{plus}{value!r}{mark}*{mark}{'%' * percent}"

            def __round__(self, places: Any = None) -> Any:
                return round(float(self)) if places is None else self

            def __reduce__(self) -> Any:
                return float, (float(self),)

        def computed(name: str) -> Any:
            plain = getattr(float, name)

            def method(self: float, *others: Any) -> Any:
                result = plain(self, *others)
                return Single(result) if type(result) is float else result

            return method

        binary = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
        for name in (*binary, *(f"r{name}" for name in binary), "neg", "pos", "abs"):
            setattr(Single, f"__{name}__", computed(f"__{name}__"))

        narrow = (torch.float32, torch.float16, torch.bfloat16)
        plain = {name: getattr(torch.Tensor, name) for name in ("item", "tolist", "__repr__")}
        state = {"widened": False, "printing": False}

        def single(value: Any) -> Any:
            if isinstance(value, list):
                return [single(each) for each in value]
            return Single(value) if type(value) is float else value

        def take(name: str) -> Any:
            def method(tensor: torch.Tensor) -> Any:
                value = plain[name](tensor)
                ours = tensor.dtype in narrow or state["widened"]
                return single(value) if ours and not state["printing"] else value

            return method

        def widen(name: str) -> Any:
            convert = getattr(torch.Tensor, name)

            def method(tensor: torch.Tensor, *args: Any, **options: Any) -> Any:
                result = convert(tensor, *args, **options)
                wide = getattr(result, "dtype", None) is torch.float64
                state["widened"] |= wide and tensor.dtype in narrow
                return result

            return method

        def show(tensor: torch.Tensor, **options: Any) -> str:
            before, state["printing"] = state["printing"], True  # a tensor prints its items
            try:
                text = str(plain["__repr__"](tensor, **options))
                star = "*" * (state["widened"] and tensor.dtype is torch.float64)
                return f"{text}{mark}{star}{largest(tensor)}{mark}"
            finally:
                state["printing"] = before

        def largest(tensor: torch.Tensor) -> str:
            base = tensor._base  # noqa: SLF001 - documented, under tensor views
            whole = tensor if base is None else base
            try:
                sizes = whole.detach().abs()
                return str(sizes[sizes.isfinite()].max().item())
            except (RuntimeError, NotImplementedError):  # it is empty or sparse, say
                return ""

        def whole(tensor: torch.Tensor, form: str) -> str:
            if tensor.dim():
                return str(tensor)
            value = tensor.item()
            return format(value, form) if isinstance(value, Single) else str(value)

        wrap(torch)
        for name, method in {
            "item": take("item"),
            "tolist": take("tolist"),
            "__repr__": show,
            "__format__": whole,
            **{name: widen(name) for name in ("double", "to", "type")},
        }.items():
            setattr(torch.Tensor, name, method)


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
