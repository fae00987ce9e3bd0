"""`{listing} package.module.Name`: an object's source as it stands, without its docstrings."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.parsers.rst import directives

from figures.numbered_blocks import CaptionedDirective
from sphinx_drift.api import lines_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class UnknownObjectError(Exception):
    """The listing names something that is not there."""


def listing_source(path: str) -> tuple[str, Path]:
    """Return an object's code without docstrings, and the file it stands in."""
    module, _, name = path.rpartition(".")
    file = _module_file(module, path)
    text = file.read_text(encoding="utf-8")
    return without_docstrings(text, _definition(text, name, module)), file


def _module_file(module: str, path: str) -> Path:
    try:
        spec = importlib.util.find_spec(module) if module else None
    except ModuleNotFoundError:
        spec = None
    if spec is None or spec.origin is None:
        raise UnknownObjectError(
            f"cannot list {path!r}: there is no module {module!r}; "
            "write the full path, such as selfattn.modules.SelfAttention_v1"
        )
    return Path(spec.origin)


def _definition(text: str, name: str, module: str) -> Definition:
    definitions = {node.name: node for node in ast.parse(text).body if isinstance(node, Definition)}
    if name not in definitions:
        valid = ", ".join(definitions) or "no class or function"
        raise UnknownObjectError(f"cannot list {name!r}: {module} defines {valid}")
    return definitions[name]


def without_docstrings(text: str, statement: ast.stmt) -> str:
    """Drop the docstrings' lines and one blank line after each; keep all else as it is written.

    A docstring that is all there is stays.
    """
    lines = lines_of(text)
    dropped: set[int] = set()
    for node in ast.walk(statement):
        if (
            isinstance(node, Definition)
            and ast.get_docstring(node, clean=False) is not None
            and len(node.body) > 1
        ):
            first = node.body[0]
            end = first.end_lineno or first.lineno
            dropped.update(range(first.lineno, end + 1))
            if end < len(lines) and not lines[end].strip():
                dropped.add(end + 1)
    decorators = getattr(statement, "decorator_list", [])
    start = min([statement.lineno, *(d.lineno for d in decorators)])
    stop = statement.end_lineno or statement.lineno
    kept = [lines[n - 1] for n in range(start, stop + 1) if n not in dropped]
    return "\n".join(kept) + "\n"


class Listing(CaptionedDirective):
    """Show an object's source, read from the package itself."""

    kind = "listing"
    required_arguments = 1
    option_spec = CaptionedDirective.shared_options | {"caption": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        path = self.arguments[0]
        try:
            code, file = listing_source(path)
        except UnknownObjectError as error:
            raise self.error(str(error)) from error
        self.env.note_dependency(str(file))
        block = nodes.literal_block(code, code, language="python")
        self.set_source_info(block)
        caption, messages = self.parse_inline(self.options.get("caption", path))
        return [self.wrap([block], caption, path), *messages]


def setup(app: Sphinx) -> None:
    app.add_directive("listing", Listing)
