"""Run all cells of tools/cells.py in this process, twice, and print what they print as JSON."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys

import torch
from cells import cells
from torch import nn

from sphinx_drift.run.injected import print_full_precision, watch_imports


def printed(code: str) -> str:
    """Run a cell and return what it prints, and its value as IPython would show it."""
    names = {"torch": torch, "nn": nn}
    *body, last = ast.parse(code).body
    with contextlib.redirect_stdout(io.StringIO()) as out:
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(body, []), "cell", "exec"), names)  # noqa: S102 - our cells
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307
            if value is not None:
                print(repr(value))
        else:
            exec(compile(ast.Module([*body, last], []), "cell", "exec"), names)  # noqa: S102
    return out.getvalue()


first = [printed(cell.code) for cell in cells()]
watch_imports()
print_full_precision()
json.dump(list(zip(first, map(printed, (cell.code for cell in cells())), strict=True)), sys.stdout)
