"""Say in a sentence which packages are missing, before something that needs them is imported."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["NEEDED", "needed_by"]

NEEDED = ("docutils", "jupyter_client", "myst_nb", "nbclient", "nbformat", "numpy", "sphinx")
"""What the extra ``drift`` installs, by the names to import."""


@contextmanager
def needed_by(what: str, error: type[BaseException] = ModuleNotFoundError) -> Iterator[None]:
    """Look for all packages of the extra before the imports within.

    Args:
        what: Who needs them, as its user names it.
        error: What to raise; ``SystemExit`` ends a command with status 2 and no traceback.

    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        message = (
            f"{what} needs {', '.join(missing)}, which this Python ({sys.executable}) doesn't "
            "have; install it with: python -m pip install 'selfattn[drift]'"
        )
        if error is SystemExit:
            sys.stderr.write(f"{message}\n")
            raise SystemExit(2)
        raise error(message)
    yield
