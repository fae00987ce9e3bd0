"""Runs a page in a forked child: asks the fork server for it, and receives its messages."""

from __future__ import annotations

import atexit
import functools
import hashlib
import inspect
import json
import os
import secrets
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

from sphinx_drift.run import protocol
from sphinx_drift.run.fork_client import can_fork, fork_server, page_environment
from sphinx_drift.run.jupyter import kernel_name
from sphinx_drift.run.obstacles import kernel_obstacle, obstacle
from sphinx_drift.run.transcript import CannotForkError, Transcript

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterable, Sequence

    from nbformat import NotebookNode

    from sphinx_drift.run.results import Execution, Request


class Queued(NamedTuple):
    """A page that has begun before anybody asked for its outputs."""

    key: str
    environment: dict[str, str]
    """That of the time: a module that Sphinx loads afterwards may set a variable, and pages are
    not run again for it."""


_queued: dict[str, Queued] = {}
"""The pages of this build that have begun, by what they are. Sphinx's readers, forked later,
inherit it; nobody else knows the keys, so no build can fetch what another has queued."""

_owners: list[socket.socket] = []
"""The connections that own them in the fork servers, open as long as this build lasts. This process
alone has them: at its end, however it ends, the servers drop what nobody has fetched."""


def queue(requests: Iterable[tuple[Sequence[str], Request]]) -> None:
    """Have pages begin: each is fetched later by :func:`run` with the same cells and request.

    Raises:
        CannotForkError: If a server is gone; then no page has begun.

    """
    by_seed: dict[str | None, list[tuple[Sequence[str], Request]]] = {}
    for cells, request in requests:
        by_seed.setdefault(request.hash_seed, []).append((cells, request))
    queued: dict[str, Queued] = {}
    connections = []
    with ExitStack() as opened:
        for hash_seed, group in by_seed.items():
            message, pages = _message(group)
            try:
                connection = opened.enter_context(fork_server(hash_seed).connect())
                connection.sendall(protocol.pack(message))
            except OSError as error:
                raise CannotForkError(f"the fork server is gone: {error}") from error
            connections.append(connection)
            queued |= pages
        opened.pop_all()
    _queued.update(queued)
    _owners.extend(connections)


@atexit.register
def forget() -> None:
    """Drop all pages that this process has queued and nobody has fetched: their build is over."""
    _queued.clear()
    _leave_to_parent()


def _leave_to_parent() -> None:
    """Let a forked process not keep the jobs of its parent alive."""
    while _owners:
        _owners.pop().close()


if can_fork():
    os.register_at_fork(after_in_child=_leave_to_parent)


def _message(
    requests: Iterable[tuple[Sequence[str], Request]],
) -> tuple[dict[str, Any], dict[str, Queued]]:
    """Return the message for pages that are to begin, and these by what they are.

    What pages have in common travels once: what is sent before the server reads must not fill the
    socket, or the build would wait for it.
    """
    token = secrets.token_hex(8)
    ways: dict[str, dict[str, Any]] = {}
    jobs = []
    pages: dict[str, Queued] = {}
    for cells, request in requests:
        way = _way(request)
        page = _digest([list(cells), way])
        if page in pages:
            continue  # of two that are equal one is run now, and one when it is asked for
        pages[page] = Queued(f"{token} {len(pages)}", page_environment(request.hash_seed))
        way["environment"] = pages[page].environment
        name = _digest(way)
        ways[name] = way
        jobs.append((pages[page].key, list(cells), name))
    return {"do": "queue", "ways": ways, "jobs": jobs}, pages


def run(notebook: NotebookNode, request: Request) -> Execution:
    """Run the code cells of a notebook, in order, in a forked child.

    Raises:
        CannotForkError: If that can't be done here; nothing was run.

    """
    if reason := obstacle() or kernel_obstacle(kernel_name(notebook)):
        raise CannotForkError(reason)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    code = code_of(notebook)
    cells = [source for _, source in code]
    way = _way(request)
    queued = _queued.pop(_digest([cells, way]), None)
    way["environment"] = queued.environment if queued else page_environment(request.hash_seed)
    tagged = {i for i, cell in enumerate(notebook.cells) if "raises-exception" in _tags(cell)}
    may_raise = {*request.may_raise, *tagged}
    allowed = [number for number, (index, _) in enumerate(code) if index in may_raise]
    key = queued.key if queued else ""
    fetch = {"do": "fetch", "key": key, "job": {"cells": cells, **way}, "may_raise": allowed}
    transcript = Transcript(notebook, [index for index, _ in code], may_raise, request)
    try:
        _receive(transcript, fetch, request.hash_seed)
    except OSError as error:
        raise CannotForkError(f"the fork server is gone: {error}") from error
    return transcript.execution()


def _receive(transcript: Transcript, fetch: dict[str, Any], hash_seed: str | None) -> None:
    """Ask for a page, and receive all its messages."""
    with fork_server(hash_seed).connect() as connection:
        connection.sendall(protocol.pack(fetch))
        frames = protocol.Frames()
        while not transcript.is_over:
            piece = connection.recv(1 << 20)
            if not piece:
                raise ConnectionError("it stopped answering")
            for message, _ in frames.feed(piece):
                transcript.receive(message)


def code_of(notebook: NotebookNode) -> list[tuple[int, str]]:
    """Return the places and sources of the cells that run."""
    return [
        (index, cell.source)
        for index, cell in enumerate(notebook.cells)
        if cell.cell_type == "code" and cell.source.strip() and "skip-execution" not in _tags(cell)
    ]


def _tags(cell: NotebookNode) -> Sequence[str]:
    tags: Sequence[str] = cell.metadata.get("tags", ())
    return tags


def _way(request: Request) -> dict[str, Any]:
    """Return what the fork server needs to know of how a page is run."""
    return {
        "folder": str(request.folder),
        "timeout": request.timeout,
        "output_limit": request.output_limit,
        "before": [_source(function) for function in request.before],
        "after": {function.__name__: _source(function) for function in request.after},
    }


_source = functools.cache(inspect.getsource)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
