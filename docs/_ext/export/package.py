"""The cells that bring along what a notebook uses of the book's own package."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[3] / "selfattn"
CELL = """\
# @title What this notebook uses of the book's package, {package}
import sys
import tempfile
from pathlib import Path

_folder = Path(tempfile.mkdtemp(), "{package}")
_folder.mkdir()
sys.path.insert(0, str(_folder.parent))
"""
FILE = """_size = (_folder / "{name}").write_text(r'''{text}''', "utf-8")\n"""


def package_cells(code: str, folder: Path = PACKAGE) -> list[str]:
    """Return cells after which a notebook's code can import a package that isn't installed.

    The first has the modules that the code uses, directly or not, with what it uses of them; one
    more has each text that a module names. Code that imports nothing of it needs none.
    """
    modules = used(ast.parse(code), folder)
    if not modules:
        return []
    files = [FILE.format(name=f"{name}.py", text=text) for name, text in modules.items()]
    source = "".join(modules.values())
    texts = [path for path in sorted(folder.glob("*.txt")) if path.name in source]
    return [
        CELL.format(package=folder.name) + "".join(files),
        *(
            f"# @title A text, {path.name}\n"
            + FILE.format(name=path.name, text=path.read_text("utf-8"))
            for path in texts
        ),
    ]


def used(code: ast.Module, folder: Path) -> dict[str, str]:
    """Return the source of each module that code imports of a package, cut down to that."""
    wanted: dict[str, set[str]] = {}
    sources: dict[str, str] = {}
    queue = [*_imported(code, folder)]
    while queue:
        module, names = queue.pop()
        if module in wanted and names <= wanted[module]:
            continue
        wanted[module] = wanted.get(module, set()) | names
        tree = ast.parse((folder / f"{module}.py").read_text("utf-8"))
        tree.body = _needed(tree.body, wanted[module])
        sources[module] = ast.unparse(Plain().visit(tree)) + "\n"
        queue += _imported(tree, folder)
    return {"__init__": "", **sources} if sources else {}


def _imported(code: ast.Module, folder: Path) -> Iterator[tuple[str, set[str]]]:
    """Yield the modules of a package that code imports from, with the names; `*` is all of one."""
    nodes = [*ast.walk(code)]
    read = [(ast.unparse(n.value), n.attr) for n in nodes if isinstance(n, ast.Attribute)]
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == folder.name:
            module = (node.module or "").partition(".")[2] or "__init__"
            names = {alias.name for alias in node.names}
            whole = {name for name in names if (folder / f"{name}.py").is_file()}
            for name in whole:
                yield name, {attribute for of, attribute in read if of == name} or {"*"}
            yield module, names - whole


def _needed(body: list[ast.stmt], names: set[str]) -> list[ast.stmt]:
    """Return the statements of a module that define some names, and what these use."""
    kept: set[ast.stmt] = set()
    names = set(names)
    while new := [n for n in body if n not in kept and ("*" in names or _defined(n) & names)]:
        kept.update(new)
        parts = (part for node in new for part in ast.walk(node))
        names |= {part.id for part in parts if isinstance(part, ast.Name)}
    for node in kept:
        if isinstance(node, ast.Import | ast.ImportFrom) and "*" not in names:
            node.names = [each for each in node.names if (each.asname or each.name) in names]
    return [node for node in body if node in kept]


def _defined(node: ast.stmt) -> set[str]:
    """Return the names that a statement defines."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return {node.name}
    stored: Iterable[ast.AST] = ast.walk(node)
    return {p.id for p in stored if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Store)}


class Plain(ast.NodeTransformer):
    """Takes docstrings off."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node
