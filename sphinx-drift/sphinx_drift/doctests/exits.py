"""Let ``os._exit`` raise an error in examples: it would end the check without a word."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator

_leave = os._exit
_process = 0
"""The process in which an exit raises an error: a child that an example forks may leave."""


def watch_exits() -> None:
    """Replace ``os._exit``, before modules take it from there, by one that examples can't use.

    Elsewhere it does what it always did.
    """
    for name in ("os", os.name):  # `os` has it from `posix` or `nt`
        sys.modules[name].__dict__["_exit"] = _exit


@contextmanager
def exits_raised() -> Iterator[None]:
    """Let it raise an error in this process."""
    global _process  # noqa: PLW0603 - a function that others have imported is one for all
    watch_exits()
    before, _process = _process, os.getpid()
    try:
        yield
    finally:
        _process = before


def _exit(status: int) -> NoReturn:
    if os.getpid() == _process:
        raise SystemExit(f"os._exit({status})")
    _leave(status)
