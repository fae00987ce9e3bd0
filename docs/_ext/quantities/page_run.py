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
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Span:
    """What one argument of a `print` wrote: its source, and from where to where in the output."""

    source: str
    start: int
    end: int


@dataclass(frozen=True)
class Piece:
    """Something that a cell prints, as text, and how the cell writes it; its parts, too."""

    source: str
    text: str
    parts: tuple[Piece, ...] = ()


@dataclass
class CellRun:
    """What a cell printed."""

    text: str = ""
    spans: list[Span] = field(default_factory=list)

    def print(self, *values: object, sep: str = " ", end: str = "\n", **_: Any) -> None:
        """Print as the built-in function does, and remember where each piece is."""
        for place, value in enumerate(values):
            self.text += sep if place else ""
            self._note(value if isinstance(value, Piece) else Piece("", str(value)))
        self.text += end

    def show(self, value: object, source: str) -> None:
        """Show the value of a cell's last line, as a notebook does."""
        if value is not None:
            self.print(Piece(source, repr(value)))

    def _note(self, piece: Piece) -> None:
        start = len(self.text)
        for part in piece.parts:
            self._note(part)
        self.text = self.text[:start] + piece.text
        if piece.source:
            self.spans.append(Span(piece.source, start, len(self.text)))


@dataclass(frozen=True)
class PageRun:
    """What a page's cells printed, and the tensors that they bound.

    Cells after the last that makes or prints something wanted aren't run.
    """

    cells: list[CellRun]
    bound: dict[str, torch.Tensor]


def run_page(file: Path, bind: Mapping[str, str], prints: Collection[str]) -> PageRun:
    """Run a page's cells.

    Args:
        file: The page.
        bind: What is wanted: names, and expressions in the names of the page. Each is kept as it
            is after the first cell that makes it.
        prints: What of that which the cells print is wanted, as they write it.

    """
    loaded = read_source.load(file, text=file.read_text("utf-8"))
    cells = [_Cell(cell.source, str(file)) for cell in (loaded[0].cells if loaded else ())]
    last = max((n for n, cell in enumerate(cells, 1) if cell.sources & set(prints)), default=0)
    names: dict[str, Any] = {"_piece_": Piece, "_joined_": _joined, "_each_": _each}
    run = PageRun([CellRun() for _ in cells], {})
    with one_thread(), _as_in_a_new_process(), torch.random.fork_rng(devices=[]):
        for number, (cell, printed) in enumerate(zip(cells, run.cells, strict=True)):
            if number >= last and not bind.keys() - run.bound.keys():
                break
            names |= {"print": printed.print, "_show_": printed.show}
            with contextlib.suppress(Exception):  # the verification of the page judges it
                exec(cell.code, names)  # noqa: S102 - the page is ours, and the build runs it too
            for name in bind.keys() - run.bound.keys():
                with contextlib.suppress(Exception):  # not made yet
                    run.bound[name] = _kept(eval(bind[name], names))  # noqa: S307 - as above
    return run


@contextlib.contextmanager
def _as_in_a_new_process() -> Iterator[None]:
    """Let no page change how another prints and computes."""
    dtype = torch.get_default_dtype()
    torch.set_printoptions(profile="default")
    try:
        yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_printoptions(profile="default")


def _kept(value: Any) -> torch.Tensor:
    """Return a tensor as it is now, for good."""
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"expected a tensor, got {type(value).__name__}")
    return value.detach().clone()


def _joined(source: str, *parts: Piece) -> Piece:
    """Return a formatted text, which knows its parts."""
    return Piece(source, "".join(part.text for part in parts), parts)


def _each(source: str, values: Iterable[object]) -> list[Piece]:
    """Return what a starred argument prints, as one piece."""
    texts = [str(value) for value in values]
    return [Piece(source, " ".join(texts))] if texts else []


class _Cell(ast.NodeTransformer):
    """A cell in which all that is printed says how it is written."""

    def __init__(self, source: str, file: str) -> None:
        self.sources: set[str] = set()
        tree = self.visit(ast.parse(source))
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr) and not _is_print(last.value):
            last.value = _call("_show_", last.value, self._source(last.value))
        self.code = compile(ast.fix_missing_locations(tree), file, "exec")

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if _is_print(node):
            node.args = [self._piece(each) for each in node.args]
        return node

    def _source(self, node: ast.expr) -> ast.Constant:
        self.sources.add(source := ast.unparse(node))
        return ast.Constant(source)

    def _piece(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Starred):
            return ast.Starred(_call("_each_", self._source(node), node.value), ast.Load())
        if isinstance(node, ast.JoinedStr):
            return _call("_joined_", self._source(node), *map(self._part, node.values))
        return _call("_piece_", self._source(node), _call("str", node))

    def _part(self, node: ast.expr) -> ast.expr:
        value = node.value if isinstance(node, ast.FormattedValue) else None
        source = self._source(value) if value else ast.Constant("")
        return _call("_piece_", source, ast.JoinedStr([node]))


def _is_print(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    )


def _call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])
