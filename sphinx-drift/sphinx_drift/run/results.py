"""How a page's run ended."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from enum import Enum
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from nbformat import from_dict, v4

from sphinx_drift.run.limit import CELLS_OF_A_PAGE, clipped, first_and_last

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from pathlib import Path

    from nbclient import NotebookClient
    from nbformat import NotebookNode

OUTPUT_LIMIT = 10_000_000
"""Bytes that the outputs of a cell may take, unless a book says otherwise."""


class Ending(Enum):
    """How a page can be stopped; whoever judges it has a kind of outcome of the same name."""

    RAISED = "raised"
    TIMEOUT = "timeout"
    OUTPUT_LIMIT = "output-limit"
    DEAD_KERNEL = "dead-kernel"
    RUNNER_FAILED = "could-not-check"


@dataclass(frozen=True)
class Failure:
    """What stopped a page."""

    kind: Ending
    index: int
    """Place of the cell among all cells of the notebook; -1 if no cell had begun."""
    message: str


class FileState(NamedTuple):
    """What a file was like when a page opened it."""

    modified: int
    changed: int
    size: int
    number: int
    digest: str = ""
    """The digest of its content; none if it is too large to be read twice."""


@dataclass(frozen=True)
class Execution:
    """How the cells of a page ended."""

    executed: frozenset[int] = frozenset()
    """Places of the code cells that ran to their end, or raised what they may raise."""
    failure: Failure | None = None
    environment: dict[str, str] = field(default_factory=dict)
    """What the numbers were computed with: torch, device, capability, threads."""
    files: Mapping[str, FileState | None] = field(default_factory=dict)
    """Local modules that the page imported and data that it opened, as they were by then."""
    changed: tuple[str, ...] = ()
    """Files that changed after the page had opened them, while it ran."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """From where it imported the packages that ``DRIFT_PACKAGES`` names."""


@dataclass(frozen=True)
class Request:
    """How a page is to be run."""

    folder: Path
    """Where it starts."""
    timeout: int | None = None
    """How many seconds a cell may take; None for as long as it likes."""
    may_raise: Collection[int] = ()
    """Places of the cells after which the page goes on if they raise."""
    before: tuple[Callable[[], object], ...] = ()
    """Functions of :mod:`sphinx_drift.run.injected` to run before the first cell."""
    after: tuple[Callable[[], object], ...] = ()
    """Functions of it to run after the last."""
    hash_seed: str | None = None
    """What orders sets of texts, ``PYTHONHASHSEED``; None leaves it as it is."""
    output_limit: int = OUTPUT_LIMIT
    """Bytes that the outputs of a cell may take; those of a page may take four times as many."""


def never_begun(request: Request) -> Failure:
    """Return the failure of a page that came to no cell in the time that a cell may take."""
    module = os.environ.get("DRIFT_DEVICE_MODULE")
    first = f"the module for devices, `{module}`, in its `start`" if module else "what is injected"
    message = (
        f"no cell had begun after {request.timeout} seconds, the limit for one: {first} took "
        "longer; see that it ends, or raise the limit"
    )
    return Failure(Ending.TIMEOUT, -1, message)


def execution_from(
    executed: Iterable[int], failure: Failure | None, answers: dict[str, Any]
) -> Execution:
    """Return how a page ended, from what its process answered."""
    watched = answers.get("files", {"read": {}, "changed": {}})
    files = {path: state and FileState(*state) for path, state in watched["read"].items()}
    environment, origins = answers.get("report_environment", {}), answers.get("origins", {})
    changed = tuple(sorted(watched["changed"]))
    return Execution(frozenset(executed), failure, environment, files, changed, origins)


def joined(outputs: Iterable[NotebookNode]) -> list[NotebookNode]:
    """Return a cell's outputs with each stream whole between two displays, stdout before stderr.

    In how many pieces the two arrive, and which comes first, depends on the clock alone.
    """
    whole: list[NotebookNode] = []
    for is_stream, group in groupby(outputs, lambda output: output.output_type == "stream"):
        run = list(group)
        whole += _whole_streams(run) if is_stream else run
    return whole


def join_captured(client: NotebookClient) -> None:
    """Do the same for what a page's output widgets have captured."""
    for state in client.widget_state.values():
        if "outputs" in state:
            state["outputs"] = joined(map(from_dict, state["outputs"]))


def _whole_streams(pieces: Iterable[NotebookNode]) -> list[NotebookNode]:
    streams: dict[str, NotebookNode] = {}
    for piece in pieces:
        if piece.name in streams:
            streams[piece.name].text += piece.text
        else:
            streams[piece.name] = piece
    return sorted(streams.values(), key=lambda stream: stream.name == "stderr")


def excess(notebook: NotebookNode, index: int, limit: int) -> Failure:
    """Return the failure of a page that printed too much in a cell; keep both ends of the text."""
    outputs = notebook.cells[index].outputs if index >= 0 else []
    text = "".join(output.text for output in outputs if output.output_type == "stream")
    if index >= 0:
        clipped_output = v4.new_output("stream", name="stdout", text=clipped(text))  # type: ignore[no-untyped-call]
        notebook.cells[index].outputs = [clipped_output]
    message = (
        f"its outputs took more than {limit:,} bytes, or those of the page more than "
        f"{limit * CELLS_OF_A_PAGE:,}"
    )
    if text:
        message += f"; they began and ended so:\n{first_and_last(text)}"
    return Failure(Ending.OUTPUT_LIMIT, index, message)
