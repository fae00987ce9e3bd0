"""What a page's own cells made: a figure that is drawn from it can't show anything else."""

from __future__ import annotations

import contextlib
import functools
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from figures.trace import Traced, number_at
from selfattn.examples import six_tokens
from sphinx_drift.source import read_source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

COMPANIONS = Path(__file__).resolve().parents[2] / "companions"


@dataclass(frozen=True)
class PageTrace(Traced):
    """What the cells of a page made, by its names there, as plain numbers."""

    made: Mapping[str, Any]
    words: tuple[str, ...] = six_tokens().words

    def number(self, path: str) -> float:
        """Return the number at a path such as `seen.1.0` (counted from 0)."""
        return number_at(self.made, path)


def page_trace(name: str, *wanted: str) -> PageTrace:
    """Run a companion's cells, as they are now, until they have made what is wanted."""
    page = COMPANIONS / f"{name}.md"
    return _traced(page, page.read_text("utf-8"), wanted)


@functools.lru_cache(maxsize=16)
def _traced(page: Path, text: str, wanted: tuple[str, ...]) -> PageTrace:
    names: dict[str, Any] = {}
    loaded = read_source.load(page, text=text)
    with (
        one_thread(),
        torch.random.fork_rng(devices=[]),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        for cell in loaded[0].cells if loaded else ():
            exec(cell.source, names)  # noqa: S102 - the page is ours, and the build runs it too
            if names.keys() >= set(wanted):
                return PageTrace({each: _plain(names[each]) for each in wanted})
    missing = ", ".join(sorted(set(wanted) - names.keys()))
    raise ValueError(f"{page.name} must have cells that make {missing}, which its figure shows")


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread: matrices as small as these lose more by sharing than they gain."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _plain(value: Any) -> Any:
    """Return tensors and lists as nested numbers, and any other value as it is."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, torch.Tensor):
        value = value.tolist()
    return tuple(map(_plain, value)) if isinstance(value, list | tuple) else value
