"""Uses of what others don't promise to keep: whether each is still what it was."""

from __future__ import annotations

import inspect
import pkgutil
import re
from dataclasses import dataclass
from types import CodeType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Use:
    """A use of something that its makers may change."""

    package: str
    name: str
    """Where it is, as :func:`pkgutil.resolve_name` takes it."""
    remedy: str
    parameters: tuple[str, ...] = ()
    """The first of those that it must take."""
    names: tuple[str, ...] = ()
    """Attributes, globals and texts that its code must use."""
    by: str = ""
    """How our code names it, if not by the last part of its name."""

    @property
    def mention(self) -> re.Pattern[str]:
        """What our code is searched for."""
        return re.compile(self.by or rf"\b{re.split(r'[.:]', self.name)[-1]}\b")


def problem(use: Use) -> str:
    """Return what has changed."""
    pytest.importorskip(use.name.partition(":")[0].partition(".")[0])
    try:
        thing: Any = pkgutil.resolve_name(use.name)
    except (AttributeError, ImportError) as error:
        return f"expected {use.name}, got {error}"
    if use.parameters:
        parameters = list(inspect.signature(thing).parameters)
        missing = [name for name in use.parameters if name not in parameters]
        in_order = [name for name in parameters if name in use.parameters] == list(use.parameters)
        if missing or not in_order:
            return (
                f"expected the parameters {', '.join(use.parameters)}, got {', '.join(parameters)}"
            )
    absent = sorted({*use.names} - words(thing)) if use.names else []
    return f"expected its code to use {', '.join(use.names)}, not there: {absent}" if absent else ""


def words(thing: Any) -> set[str]:
    """Return the names and texts in the code of a function, or of a class's methods."""
    if inspect.isclass(thing):
        return {
            word for base in thing.__mro__ for each in vars(base).values() for word in words(each)
        } | {*dir(thing)}
    thing = inspect.unwrap(getattr(thing, "fget", None) or thing)
    code = getattr(getattr(thing, "__func__", thing), "__code__", None)
    return {*_words(code)} if isinstance(code, CodeType) else set()


def _words(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _words(constant)
        elif isinstance(constant, str):
            yield constant
        elif isinstance(constant, tuple):
            yield from filter(lambda each: isinstance(each, str), constant)
