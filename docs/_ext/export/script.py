"""A page as a script that plain Python runs and that prints what the page prints."""

from __future__ import annotations

import ast
import re
import textwrap
from typing import TYPE_CHECKING

from sphinx_drift.source.printed_text import Stream, printed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from export.pieces import Code, Piece

# What reads the same as a value and printed; of other values, their `repr` is printed.
PRINTABLE = re.compile(r"tensor\(|Parameter containing|[{\[(\d-]|(True|False)$")


class NoScriptError(ValueError):
    """A cell that plain Python can't run."""


def to_script(page: Iterable[Piece]) -> str:
    """Return a script in cells, whose comments are the page's text and what it prints."""
    parts: list[str] = []
    for piece in page:
        if isinstance(piece, str):
            parts.append(f"# %% [markdown]\n{_commented(piece)}")
            continue
        output = printed(piece.node.outputs).select(Stream.ALL)
        comment = f"\n\n# It prints:\n{_commented(output, '#     ')}" if output.strip() else ""
        parts.append(f"# %%\n{script_cell(piece).rstrip()}{comment}")
    return "\n\n".join(parts) + "\n"


def _commented(text: str, mark: str = "# ") -> str:
    return "\n".join(f"{mark}{line}".rstrip() for line in text.splitlines())


def script_cell(code: Code) -> str:
    """Return a cell's code for plain Python: a value is printed, a wanted error is caught.

    Raises:
        NoScriptError: If the cell is one for Jupyter alone.

    """
    source = str(code.node.source)
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise NoScriptError(f"plain Python can't read {error.text!r}") from error
    kinds = {output.output_type for output in code.node.outputs}
    if "display_data" in kinds:
        raise NoScriptError("plain Python has no display")
    values = [out for out in code.node.outputs if out.output_type == "execute_result"]
    if values:
        source = _printing(source, tree, "".join(values[0].data.get("text/plain", "")))
    return _catching(source, code.raises) if code.raises else source


def _printing(source: str, tree: ast.Module, shown: str) -> str:
    """Return code that prints its last value, which a notebook shows by itself."""
    last = tree.body[-1]
    lines = source.encode().splitlines(keepends=True)
    end_line, end_column = last.end_lineno or last.lineno, last.end_col_offset or 0
    before = b"".join(lines[: last.lineno - 1]) + lines[last.lineno - 1][: last.col_offset]
    after = lines[end_line - 1][end_column:] + b"".join(lines[end_line:])
    value = ast.get_source_segment(source, last) or ""
    call = f"print({value})" if PRINTABLE.match(shown) else f"print(repr({value}))"
    return before.decode() + call + after.decode()


def _catching(source: str, error: str) -> str:
    """Return code that prints the error it raises and lets the script go on."""
    inner = textwrap.indent(source.rstrip(), "    ")
    wrapped = f'try:\n{inner}\nexcept {error} as error:\n    print(f"{error}: {{error}}")\n'
    body = ast.parse(wrapped).body[0]
    assert isinstance(body, ast.Try)  # noqa: S101 - written so above
    if [ast.dump(node) for node in body.body] != [ast.dump(n) for n in ast.parse(source).body]:
        raise NoScriptError("it raises, and has a text of several lines")
    return wrapped
