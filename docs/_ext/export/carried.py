"""What a page imports from the book's package, as code that stands in the page's own notebook.

A notebook that was taken along finds no package, and no index has one. So its first cell defines
what its cells import, as the package's source has it, with the checks of arguments and without the
docstrings, and makes it known by the package's names.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.errors import ExtensionError

from reference.listing import without_docstrings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TITLE = "# @title What this page uses of the book's package"  # Colab folds a cell with a title
FOLDED = {"cellView": "form", "jupyter": {"source_hidden": True}}
KNOWN = """\
# The cells below import these by the names that they have in the package.
for path, members in {{
{members}
}}.items():
    sys.modules[path] = ModuleType(path)
    vars(sys.modules[path]).update((member.__name__, member) for member in members)
"""
REMARK = re.compile(r" *# (noqa|type: ignore)\b.*")  # for tools that look at the package

Definition = ast.ClassDef | ast.FunctionDef


@dataclass(frozen=True)
class Module:
    """A module's source, taken apart."""

    path: str
    text: str
    definitions: dict[str, ast.stmt] = field(default_factory=dict)
    imports: dict[str, ast.Import | ast.ImportFrom] = field(default_factory=dict)
    calls: list[ast.stmt] = field(default_factory=list)
    """What is done once the names are there, such as adding checks to a class."""

    @property
    def public(self) -> list[str]:
        """The names that it offers."""
        offered = self.definitions.get("__all__")
        return ast.literal_eval(offered.value) if isinstance(offered, ast.Assign) else []


@cache
def read(file: Path) -> Module:
    """Take a module of the package apart."""
    text = file.read_text("utf-8")
    module = Module(f"{file.parent.name}.{file.stem}", text)
    for node in ast.parse(text).body:
        if isinstance(node, Definition):
            module.definitions[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            module.definitions.update(dict.fromkeys(names(node, ast.Store), node))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            module.imports.update({(a.asname or a.name): node for a in node.names})
        elif isinstance(node, ast.For) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        ):
            module.calls.append(node)
    return module


def names(node: ast.AST, use: type[ast.expr_context] = ast.Load) -> set[str]:
    """Return the names that some code uses, or gives."""
    found = (n for n in ast.walk(node) if isinstance(n, ast.Name))
    return {name.id for name in found if isinstance(name.ctx, use)}


def parsed(cell: str) -> ast.Module:
    """Return a cell's code; nothing of one that Jupyter alone can read."""
    try:
        return ast.parse(cell)
    except SyntaxError:
        return ast.Module([], [])


def imported(package: str, cells: Iterable[str]) -> dict[str, set[str]]:
    """Return what code cells import from a package: the names, by the module they come from."""
    wanted: dict[str, set[str]] = {}
    for cell in cells:
        for node in ast.walk(parsed(cell)):
            if isinstance(node, ast.Import) and any(of(package, a.name) for a in node.names):
                raise ExtensionError(
                    f"line {node.lineno} of a cell imports {package} whole: write "
                    f"`from {package} import NAME`, so that a notebook can bring the name along"
                )
            if isinstance(node, ast.ImportFrom) and of(package, node.module or ""):
                wanted.setdefault(node.module or "", set()).update(a.name for a in node.names)
    return wanted


def of(package: str, module: str) -> bool:
    """Return whether a module is a package or one of its parts."""
    return f"{module}.".startswith(f"{package}.")


def libraries(package: str, cells: Iterable[str]) -> list[str]:
    """Return what else has to be installed for code cells, torch being needed anyhow."""
    found = {"torch"}
    for cell in cells:
        for node in ast.walk(parsed(cell)):
            if isinstance(node, ast.Import):
                found.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                found.add((node.module or "").partition(".")[0])
    return sorted(found - {package} - sys.stdlib_module_names)


class Carrier:
    """Collects what some names of a package need, and writes it as one cell."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.taken: dict[str, list[ast.stmt]] = {}
        self.done: dict[str, list[ast.stmt]] = {}
        self.outside: set[tuple[str, str]] = set()

    def take(self, wanted: dict[str, set[str]]) -> dict[str, list[str]]:
        """Take names, and return them by the module that a page imports them from."""
        offered: dict[str, list[str]] = {}
        for path, imported_names in sorted(wanted.items()):
            for name in sorted(imported_names):
                if path == self.folder.name and (self.folder / f"{name}.py").is_file():
                    whole = read(self.folder / f"{name}.py")
                    offered[whole.path] = whole.public
                else:
                    offered.setdefault(path, []).append(name)
        for path, given in offered.items():
            for name in given:
                self._name(self._home(path, name), name)
        self._calls()
        return offered

    def _home(self, path: str, name: str) -> Module:
        """Return the module in which a name is defined: the package passes on those of others."""
        files = [self.folder / f"{path.rpartition('.')[2]}.py"]
        if path == self.folder.name:
            files = sorted(self.folder.glob("[!_]*.py"))
        for module in map(read, filter(Path.is_file, files)):
            if name in module.public:
                return module
        raise ExtensionError(f"a page imports {name} from {path}, which has no such name")

    def _name(self, module: Module, name: str) -> None:
        """Take a name and what it needs: it is the module's own, or imported there, or Python's."""
        node = module.definitions.get(name)
        if node is not None:
            taken = self.taken.setdefault(module.path, [])
            if node not in taken:
                taken.append(node)
                self._needs(module, node)
        elif name in module.imports:
            self._import(module.imports[name], name)

    def _needs(self, module: Module, node: ast.stmt) -> None:
        for name in sorted(names(node)):
            self._name(module, name)

    def _import(self, node: ast.Import | ast.ImportFrom, name: str) -> None:
        if isinstance(node, ast.ImportFrom) and of(self.folder.name, node.module or ""):
            self._name(self._module(node.module or ""), name)
        else:
            self.outside.add((node.module or "" if isinstance(node, ast.ImportFrom) else "", name))

    def _calls(self) -> None:
        """Take what is done with the names that are taken, until that takes no more."""
        before = -1
        while before != (before := sum(map(len, self.taken.values()))):
            for path in list(self.taken):
                module, own = self._module(path), self._names_of(path)
                for call in module.calls:
                    if names(call) & own and call not in self.done.setdefault(path, []):
                        self.done[path].append(call)
                        self._needs(module, call)

    def _names_of(self, path: str) -> set[str]:
        taken = self.taken[path]
        return {name for name, node in self._module(path).definitions.items() if node in taken}

    def _module(self, path: str) -> Module:
        return read(self.folder / f"{path.rpartition('.')[2]}.py")

    def write(self, offered: dict[str, list[str]]) -> str:
        """Return the cell: imports, what readers may want to look at, checks, names."""
        # What begins with an underscore comes last, as it is there for the rest.
        paths = sorted(self.taken, key=lambda path: ("._" in path, path))
        self._check_names(paths)
        parts = [TITLE, "\n".join(self._imports(paths))]
        for path in paths:
            purpose = ast.get_docstring(ast.parse(self._module(path).text)) or "…"
            head = f"# From {path.replace('.', '/')}.py\n# {purpose.splitlines()[0]}"
            parts.append("\n\n".join([head, *self._code(path, self.taken[path])]))
        parts += [text for path in paths for text in self._code(path, self.done.get(path, []))]
        members = "\n".join(f'    "{path}": [{", ".join(own)}],' for path, own in offered.items())
        return "\n\n".join([*parts, KNOWN.format(members=members).rstrip()])

    def _check_names(self, paths: list[str]) -> None:
        """Refuse two things of one name: in one cell the second would replace the first."""
        seen: dict[str, str] = {}
        for path in paths:
            for name in self._names_of(path):
                if seen.setdefault(name, path) != path:
                    raise ExtensionError(
                        f"{seen[name]} and {path} both define {name}, and a notebook needs both: "
                        "give one of them another name"
                    )

    def _imports(self, paths: list[str]) -> Iterator[str]:
        if any("annotations" in self._module(path).imports for path in paths):
            yield "from __future__ import annotations\n"
        plain = {name for module, name in self.outside if not module} | {"sys"}
        yield from (f"import {name}" for name in sorted(plain))
        given: dict[str, set[str]] = {"types": {"ModuleType"}}
        for module, name in self.outside:
            if module:
                given.setdefault(module, set()).add(name)
        for module, found in sorted(given.items()):
            yield f"from {module} import {', '.join(sorted(found))}"

    def _code(self, path: str, nodes: list[ast.stmt]) -> Iterator[str]:
        """Yield the source of statements in the module's order."""
        text = self._module(path).text
        for node in sorted(nodes, key=lambda node: node.lineno):
            lines = without_docstrings(text, node).splitlines()
            yield "\n".join(REMARK.sub("", line) for line in lines)


def carried(folder: Path, cells: list[str]) -> str:
    """Return a cell that defines what code cells import from a package; nothing if they don't.

    Args:
        folder: Where the package's modules are; it has the package's name.
        cells: The source of a page's cells.

    Raises:
        ExtensionError: If a cell imports what the package doesn't have, or the package whole.

    """
    wanted = imported(folder.name, cells)
    if not wanted:
        return ""
    carrier = Carrier(folder)
    return carrier.write(carrier.take(wanted))
