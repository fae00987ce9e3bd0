"""Code that runs inside a page's kernel: each function stands alone and is sent as source."""

from __future__ import annotations

__all__ = ["describe", "disturb", "print_full_precision"]


def describe() -> dict[str, str]:
    """Say what the numbers of this kernel were computed with."""
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
    return found


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

    random.seed(os.urandom(16))
    if importlib.util.find_spec("numpy"):
        import numpy

        # The old generator is the one that a page uses without saying so.
        numpy.random.seed(int.from_bytes(os.urandom(4), "little"))  # noqa: NPY002
    if importlib.util.find_spec("torch"):
        import torch

        torch.seed()
        torch.set_num_threads(2 if torch.get_num_threads() == 1 else 1)
