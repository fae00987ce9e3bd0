"""A page's cells, run once more to see which expression prints which part of an output."""

from __future__ import annotations

import ast
import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from figures.page_trace import one_thread
from sphinx_drift.source import read_source

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Span:
    """What one argument of a `print` wrote: its source, and from where to where in the output."""

    source: str
    start: int
    end: int


@dataclass
class CellRun:
    """What a cell printed."""

    text: str = ""
    spans: list[Span] = field(default_factory=list)

    def print(
        self,
        *values: object,
        sep: str = " ",
        end: str = "\n",
        sources: tuple[str, ...] = (),
        **_: Any,
    ) -> None:
        """Print as the built-in function does, and remember where each value is."""
        for place, value in enumerate(values):
            self.text += sep if place else ""
            start = len(self.text)
            self.text += str(value)
            if sources:
                self.spans.append(Span(sources[place], start, len(self.text)))
        self.text += end


@dataclass(frozen=True)
class PageRun:
    """What a page's cells printed, and the tensors that they bound."""

    cells: list[CellRun]
    bound: dict[str, torch.Tensor]


def run_page(file: Path, bind: Mapping[str, str]) -> PageRun:
    """Run a page's cells.

    Args:
        file: The page.
        bind: What is wanted: names, and expressions in the names of the page. Each is kept as it
            is after the first cell that makes it.

    """
    loaded = read_source.load(file, text=file.read_text("utf-8"))
    names: dict[str, Any] = {}
    run = PageRun([], {})
    with one_thread(), torch.random.fork_rng(devices=[]):
        for cell in loaded[0].cells if loaded else ():
            run.cells.append(CellRun())
            names["print"] = run.cells[-1].print
            code = compile(_SourcesOfPrints().visit(ast.parse(cell.source)), str(file), "exec")
            with contextlib.suppress(Exception):  # the verification of the page judges it
                exec(code, names)  # noqa: S102 - the page is ours, and the build runs it too
            for name in bind.keys() - run.bound.keys():
                with contextlib.suppress(Exception):  # not made yet
                    run.bound[name] = _kept(eval(bind[name], names))  # noqa: S307 - as above
    return run


def _kept(value: Any) -> torch.Tensor:
    """Return a tensor as it is now, for good."""
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"expected a tensor, got {type(value).__name__}")
    return value.detach().clone()


class _SourcesOfPrints(ast.NodeTransformer):
    """Tells each `print` how its arguments are written."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        is_print = isinstance(node.func, ast.Name) and node.func.id == "print"
        if is_print and not any(isinstance(each, ast.Starred) for each in node.args):
            sources = ast.Tuple([ast.Constant(ast.unparse(each)) for each in node.args], ast.Load())
            node.keywords.append(ast.keyword("sources", sources))
            ast.fix_missing_locations(node)
        return node
