"""Uses of what others don't promise to keep: whether each is still what it was."""

import ast
import inspect
import pkgutil
import re
import sys
from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(frozen=True)
class Use:
    """A use of something that its makers may change."""

    package: str
    name: str
    """Where it is, as :func:`pkgutil.resolve_name` takes it."""
    remedy: str
    parameters: tuple[str, ...] = ()
    """The first of those that it must take."""
    by: str = ""
    """How our code names it, if not by the last part of its name."""
    says: str = ""
    """What its own code must hold."""

    @property
    def mention(self) -> re.Pattern[str]:
        """What our code is searched for."""
        return re.compile(self.by or rf"\b{re.split(r'[.:]', self.name)[-1]}\b")


def imported(text: str) -> set[str]:
    """Return what a module imports of packages that are neither Python's nor ours."""
    ours = {*sys.stdlib_module_names, "sphinx_drift"}
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.update(f"{node.module}:{alias.name}" for alias in node.names)
    return {name for name in names if package_of(name) not in ours}


def package_of(name: str) -> str:
    return re.split(r"[.:]", name)[0]


def problem(use: Use) -> str:
    """Return what has changed."""
    pytest.importorskip(package_of(use.name))
    try:
        thing: Any = pkgutil.resolve_name(use.name)
    except (AttributeError, ImportError) as error:
        return f"expected {use.name}, got {error}"
    if use.says not in (inspect.getsource(thing) if use.says else ""):
        return f"expected {use.says!r} in the code of {use.name}"
    if use.parameters:
        parameters = inspect.signature(thing).parameters
        expected = ", ".join(use.parameters)
        if ", ".join(name for name in parameters if name in use.parameters) != expected:
            return f"expected the parameters {expected}, got {', '.join(parameters)}"
    return ""
