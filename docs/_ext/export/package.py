"""The cells that bring along what a notebook uses of the book's own package."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.errors import ExtensionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PACKAGE = Path(__file__).parents[3] / "selfattn"
CELL = """\
# @title What this notebook uses of the book's package, {package}
import sys
import tempfile
from pathlib import Path

_folder = Path(tempfile.mkdtemp(), "{package}")
_folder.mkdir()
sys.path.insert(0, str(_folder.parent))
for _name, _source in ({modules}):
    (_folder / _name).write_text(_source, "utf-8")
"""
TEXT = """\
# @title A text, {name}
(_folder / "{name}").write_text(r'''{text}''', "utf-8")
"""


def package_cells(code: str, folder: Path = PACKAGE) -> list[str]:
    """Return cells after which a notebook's code can import a package that isn't installed.

    The first has what the code uses of the package, directly or not, without docstrings; one more
    has each text that lies beside a module. Code that imports nothing of the package needs none.

    Raises:
        ExtensionError: If a text would end the string that it is put into.

    """
    modules = used(code, folder)
    if not modules:
        return []
    pairs = (f"\n(\"{name}.py\", r'''{_quotable(text)}''')," for name, text in modules.items())
    cell = CELL.format(package=folder.name, modules="".join(pairs))
    texts = [path for name in modules if (path := folder / f"{name}.txt").is_file()]
    read = ((path.name, _quotable(path.read_text("utf-8"))) for path in texts)
    return [cell, *(TEXT.format(name=name, text=text) for name, text in read)]


def _quotable(text: str) -> str:
    if "'''" in text:
        raise ExtensionError("write the package's strings without three single quotes")
    return text


def used(code: str, folder: Path) -> dict[str, str]:
    """Return what code uses of a package: the source of each module, cut down to that."""
    wanted: dict[str, set[str]] = {}
    sources: dict[str, str] = {}
    nodes = [*ast.walk(ast.parse(code))]
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    queue = [*_imports(nodes, folder.name)]
    while queue:
        node = queue.pop()
        module = (node.module or "").partition(".")[2] or "__init__"
        names = {alias.name for alias in node.names}
        if module == "__init__":
            for name in {name for name in names if (folder / f"{name}.py").is_file()}:
                names.remove(name)
                read = {node.attr for node in attributes if ast.unparse(node.value) == name}
                aliases = [ast.alias(each) for each in read or {"*"}]
                queue.append(ast.ImportFrom(f"{folder.name}.{name}", aliases, 0))
        if module in wanted and names <= wanted[module]:
            continue
        wanted[module] = wanted.get(module, set()) | names
        parts = _parts((folder / f"{module}.py").read_text("utf-8"), wanted[module])
        sources[module] = "\n".join(text for _, text in parts) + "\n"
        queue += _imports((part for part, _ in parts), folder.name)
    return {"__init__": "", **sources} if sources else {}


def _imports(nodes: Iterable[ast.AST], package: str) -> Iterator[ast.ImportFrom]:
    """Yield the statements that import from a package."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == package:
            yield node


def _parts(source: str, names: set[str]) -> list[tuple[ast.stmt, str]]:
    """Return the statements of a module that some names need, and their text; `*` needs all."""
    names, lines = set(names), _without_docstrings(source)
    body = [node for node in ast.parse(source).body if not _is_text(node)]
    kept: list[ast.stmt] = []
    while new := [n for n in body if n not in kept and ("*" in names or _defined(n) & names)]:
        kept += new
        named = (node for part in new for node in ast.walk(part) if isinstance(node, ast.Name))
        names |= {node.id for node in named}
    parts: list[tuple[ast.stmt, str]] = []
    for node in (node for node in body if node in kept):
        if isinstance(node, ast.Import | ast.ImportFrom):
            node.names = [a for a in node.names if "*" in names or (a.asname or a.name) in names]
            parts.append((node, ast.unparse(node)))
        else:
            first = min(d.lineno for d in (node, *getattr(node, "decorator_list", ())))
            parts.append((node, "\n" + "\n".join(_held(lines[first - 1 : node.end_lineno]))))
    return parts


def _defined(node: ast.stmt) -> set[str]:
    """Return the names that a statement defines."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return {node.name}
    stored = (part for part in ast.walk(node) if isinstance(part, ast.Name))
    return {part.id for part in stored if isinstance(part.ctx, ast.Store)} - {"__all__"}


def _without_docstrings(source: str) -> list[str | None]:
    """Return the lines of code, with nothing for those of its docstrings."""
    lines: list[str | None] = list(source.splitlines())
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        for part in body if isinstance(body, list) else ():
            if _is_text(part):
                last = part.end_lineno or part.lineno
                after = last + 1 if last < len(lines) and lines[last] == "" else last
                lines[part.lineno - 1 : after] = [None] * (after - part.lineno + 1)
    return lines


def _held(lines: list[str | None]) -> list[str]:
    return [line for line in lines if line is not None]


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
