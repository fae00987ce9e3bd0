"""A package in one text: its modules one after the other, each after those that it imports."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cache
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

from sphinx.errors import ExtensionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

REGISTER = """\
# These are the names under which the package's modules are imported.
for _name in ({names}):
    sys.modules[f"{{__name__}}.{{_name}}"] = globals()[_name] = sys.modules[__name__]
"""
CELL = """\
# @title The book's package, {package}, in one module
import sys
from types import ModuleType

sys.modules["{package}"] = ModuleType("{package}")
exec(r'''{source}''', vars(sys.modules["{package}"]))
"""


@dataclass
class Module:
    """A module, taken apart."""

    code: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    """What it defines."""
    imports: set[tuple[str, str]] = field(default_factory=set)
    """What it imports from elsewhere: the other module, or nothing, and the name."""
    needs: set[str] = field(default_factory=set)
    """The modules of the package that it imports from."""


@cache
def flatten(folder: Path) -> str:
    """Return a package's modules as one.

    Args:
        folder: Where the modules are; it has the package's name.

    Raises:
        ExtensionError: If two modules define the same name, or one has that of a module.

    """
    files = {path.stem: path for path in sorted(folder.glob("*.py")) if path.stem != "__init__"}
    modules = {name: read_module(path, set(files)) for name, path in files.items()}
    owners = {name: f"the module {name}" for name in modules}
    for name, module in modules.items():
        for defined in sorted(module.names):
            if owners.setdefault(defined, name) != name:
                raise ExtensionError(
                    f"{folder.name}: {name} and {owners[defined]} both define {defined}, and a "
                    "notebook has them in one module: give one of them another name"
                )
    order = TopologicalSorter({name: sorted(module.needs) for name, module in modules.items()})
    parts = ["from __future__ import annotations\n", import_lines(modules.values())]
    for name in order.static_order():
        parts += [f"# From {folder.name}/{name}.py", *modules[name].code]
    names = ", ".join(f'"{name}"' for name in modules)
    return "\n\n".join([*parts, REGISTER.format(names=names)])


def import_lines(modules: Iterable[Module]) -> str:
    """Return one statement for each module that any of some modules imports from."""
    imports: dict[str, set[str]] = {"": {"sys"}}
    for module in modules:
        for source, name in module.imports:
            imports.setdefault(source, set()).add(name)
    lines = [f"import {name}" for name in sorted(imports.pop(""))]
    lines += [
        f"from {source} import {', '.join(sorted(imports[source]))}" for source in sorted(imports)
    ]
    return "\n".join(lines)


def read_module(path: Path, siblings: set[str]) -> Module:
    """Take a module apart; `siblings` are the modules of its package."""
    module, package = Module(), path.parent.name
    text = path.read_text("utf-8")
    for node in ast.parse(text).body:
        if isinstance(node, ast.Import):
            module.imports.update(("", ast.unparse(alias)) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if source == package:
                module.needs.update(alias.name for alias in node.names)
            elif source.startswith(f"{package}."):
                module.needs.add(source.removeprefix(f"{package}."))
            elif source != "__future__":
                module.imports.update((source, ast.unparse(alias)) for alias in node.names)
        elif not is_left_out(node):
            module.names.update(defined_names(node))
            module.code.append(source_of(text, node))
    module.needs &= siblings
    return module


def is_left_out(node: ast.stmt) -> bool:
    """Return whether a statement is a docstring, or for tools that look at the package."""
    if isinstance(node, ast.If):
        return ast.unparse(node.test) in {"TYPE_CHECKING", "__name__ == '__main__'"}
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0]) == "__all__"
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def defined_names(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a module defines."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name
    else:
        targets = (n for n in ast.walk(node) if isinstance(n, ast.Name))
        yield from (name.id for name in targets if isinstance(name.ctx, ast.Store))


def source_of(text: str, node: ast.stmt) -> str:
    """Return a statement's lines, with its decorators."""
    lines = text.splitlines()
    decorators = getattr(node, "decorator_list", [])
    first = min(each.lineno for each in [node, *decorators])
    return "\n".join(lines[first - 1 : node.end_lineno])


def first_cell(folder: Path) -> str:
    """Return a cell after which a notebook can import a package that isn't installed."""
    source = flatten(folder)
    if "'''" in source:
        raise ExtensionError(f"{folder.name}: write its strings without three single quotes")
    return CELL.format(package=folder.name, source=source)
