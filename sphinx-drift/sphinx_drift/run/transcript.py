"""Turns what a page's process told into the outputs of a notebook, as the stock client does."""

from __future__ import annotations

import base64
import signal
from typing import TYPE_CHECKING, Any

from jupyter_client.session import Session
from nbclient import NotebookClient
from nbformat import NotebookNode

from sphinx_drift.run.results import (
    Ending,
    Execution,
    Failure,
    ended,
    excess,
    join_captured,
    joined,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sphinx_drift.run.results import Request

__all__ = ["Told", "UnfitError"]


class UnfitError(RuntimeError):
    """A page can't be run in a forked child here; it says why."""


class _Nobody:
    """Stands where the client would answer a kernel: the page's process has answered itself."""

    def __init__(self) -> None:
        self.session = Session()
        self.shell_channel = self

    def send(self, _: object) -> None:
        """Send nothing."""


class Told:
    """What a page's process has told so far."""

    def __init__(
        self,
        notebook: NotebookNode,
        places: Sequence[int],
        may_raise: Collection[int],
        request: Request,
    ) -> None:
        """Take the notebook, and the places in it of the cells that run."""
        self.places = places
        self.notebook = notebook
        self.may_raise = may_raise
        self.request = request
        self.client = NotebookClient(notebook)
        self.client.reset_execution_trackers()
        self.client.kc = _Nobody()  # type: ignore[assignment] # a widget needs no more of it
        self.over = False
        self._number = -1
        self._running = ""
        self._words: list[str] = []
        self._streams: dict[str, list[str]] = {}
        self._executed: set[int] = set()
        self._failure: Failure | None = None
        self._answers: dict[str, Any] | None = None

    def hear(self, message: dict[str, Any]) -> None:
        """Take one message in."""
        kind = message["type"]
        known = getattr(self, f"_hear_{kind}", None)
        if known is not None:
            known(message)
        elif message["cell"] == self._running:
            self._process(kind, message)

    @property
    def _place(self) -> int:
        """Return the place of the cell that is running; -1 before the first."""
        return self.places[self._number] if self._number >= 0 else -1

    def execution(self) -> Execution:
        """Say how the page ended, once all was heard."""
        last = self._failure.index if self._failure else len(self.notebook.cells)
        for index, cell in enumerate(self.notebook.cells):
            if cell.cell_type == "code":
                cell.outputs = joined(cell.outputs)
                if index < last and index not in self.places:
                    self._executed.add(index)  # nothing in it was to be run
        join_captured(self.client)
        self.client.set_widgets_metadata()
        return ended(self._executed, self._failure, self._answers or {})

    def _hear_begun(self, message: dict[str, Any]) -> None:
        self.notebook.metadata["language_info"] = message["language"]

    def _hear_cell(self, message: dict[str, Any]) -> None:
        self._send()
        self._number = message["index"]
        self._running = f"cell-{self._number}"
        self.client.clear_before_next_output = False

    def _hear_stream(self, message: dict[str, Any]) -> None:
        if message["cell"] == self._running:
            self._streams.setdefault(message["name"], []).append(message["text"])

    def _hear_flush(self, message: dict[str, Any]) -> None:
        self._send(message["name"])

    def _hear_ended(self, message: dict[str, Any]) -> None:
        self._send()
        self._running = ""  # what a task of it prints from now on is shown nowhere
        index = self.places[message["index"]]
        self.notebook.cells[index]["execution_count"] = message["execution_count"]
        if message["status"] == "ok" or index in self.may_raise:
            self._executed.add(index)
            return
        told = f"{message['ename']}: {message['evalue']}"
        self._failure = Failure(Ending.RAISED, index, told)

    def _hear_answers(self, message: dict[str, Any]) -> None:
        self._answers = message["answers"]

    def _hear_broken(self, message: dict[str, Any]) -> None:
        self._words += message["why"].splitlines()

    def _hear_timeout(self, _: dict[str, Any]) -> None:
        self._stop(Ending.TIMEOUT, f"it ran for more than {self.request.timeout} seconds")

    def _hear_excess(self, _: dict[str, Any]) -> None:
        self._send()
        self._failure = excess(self.notebook, self._place, self.request.output_limit)
        self.over = True

    def _hear_garbled(self, message: dict[str, Any]) -> None:
        told = "it wrote to a descriptor of the runner's, which expected messages"
        self._stop(Ending.DEAD_KERNEL, f"{told}: {message['why']}")

    def _hear_over(self, message: dict[str, Any]) -> None:
        if self._answers is None and self._failure is None:
            words = _telling([*self._words, *message["words"].splitlines()])
            self._stop(Ending.DEAD_KERNEL, "\n".join([_ending(message["status"]), *words]))
        self.over = True

    def _hear_unfit(self, message: dict[str, Any]) -> None:
        raise UnfitError(message["why"])

    def _stop(self, kind: Ending, told: str) -> None:
        self._send()
        self._failure = Failure(kind, self._place, told)
        self.over = True

    # Streams: what is printed is sent when it is flushed, as it is before each display ---

    def _send(self, *names: str) -> None:
        for name in names or tuple(self._streams):
            if name in self._streams:
                self._print(name, "".join(self._streams.pop(name)))

    def _print(self, name: str, text: str) -> None:
        """Add the text of a stream to the cell's outputs."""
        if self.client.clear_before_next_output or self.client.output_hook_stack:
            self._process("stream", {"content": {"name": name, "text": text}})
            return
        # As the stock client does it, but without validating each piece by a schema.
        output = NotebookNode(  # type: ignore[no-untyped-call]
            output_type="stream", name=name, text=text
        )
        self.notebook.cells[self._place].outputs.append(output)

    def _process(self, kind: str, message: dict[str, Any]) -> None:
        parent = {"msg_id": f"cell-{self._number}"}
        told = {
            "header": {"msg_type": kind},
            "parent_header": parent,
            "msg_type": kind,
            "content": message["content"],
            "metadata": message.get("metadata", {}),
            "buffers": [base64.b64decode(b) for b in message.get("buffers", [])],
        }
        index = self._place
        self.client.process_message(told, self.notebook.cells[index], index)


def _telling(lines: list[str]) -> list[str]:
    """Return the lines that tell most: a crash names its place first, an exception last."""
    crash = next((n for n, line in enumerate(lines) if line.startswith("Fatal Python")), None)
    return lines[-8:] if crash is None else lines[crash : crash + 8]


def _ending(status: int) -> str:
    """Say how a child ended before its page did."""
    if status >= 0:
        return f"the page's process ended by itself, with exit status {status}"
    name = signal.Signals(-status).name
    memory = ": the machine may be out of memory" if -status == signal.SIGKILL else ""
    return f"the page's process was killed by {name}{memory}"
