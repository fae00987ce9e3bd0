"""What is asked of a page's kernel: functions that stand alone, with their source."""

import inspect
from collections.abc import Callable
from functools import cache
from textwrap import dedent
from typing import NamedTuple


class Injected(NamedTuple):
    """A function that stands alone, as it is sent into a page's kernel."""

    name: str
    source: str
    arguments: tuple[str, ...] = ()


@cache
def injected(
    function: Callable[..., object], *arguments: str, helper: Callable[..., object] | None = None
) -> Injected:
    """Return a call of a function, which may use nothing but its imports and its helper."""
    sources = map(inspect.getsource, filter(None, (helper, function)))
    source = "\n\n".join(map(dedent, sources))  # one may be defined in another
    return Injected(function.__name__, source, arguments)


class Probe(NamedTuple):
    """What an extension asks a page's kernel."""

    before: Injected | None
    """Runs before the first cell."""
    after: Injected
    """Runs after the last; its answer is kept under its name."""
