"""Turns the messages of a page's process into a notebook's outputs, as the stock client does."""

from __future__ import annotations

import base64
import signal
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from jupyter_client.session import Session
from nbclient import NotebookClient
from nbformat import NotebookNode

from sphinx_drift.run.results import (
    Ending,
    Execution,
    Failure,
    excess,
    execution_from,
    join_captured,
    joined,
    never_begun,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sphinx_drift.run.results import Request


class CannotForkError(RuntimeError):
    """A page can't be run in a forked child here; the message says why."""


class Transcript:
    """What a page's process has sent so far, in a notebook."""

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
        # What a widget needs of one: the page's process has answered itself, so nothing is sent.
        channel = SimpleNamespace(send=lambda _: None)
        self.client.kc = SimpleNamespace(session=Session(), shell_channel=channel)  # type: ignore[assignment]
        self.is_over = False
        self._number = -1
        self._running = ""
        self._last_words: list[str] = []
        self._streams: dict[str, list[str]] = {}
        self._executed: set[int] = set()
        self._failure: Failure | None = None
        self._answers: dict[str, Any] | None = None

    def receive(self, message: dict[str, Any]) -> None:
        """Take one message in."""
        kind = message["type"]
        handler = getattr(self, f"_on_{kind}", None)
        if handler is not None:
            handler(message)
        elif message["cell"] == self._running:
            self._process(kind, message)

    @property
    def _place(self) -> int:
        """Return the place of the cell that is running; -1 before the first."""
        return self.places[self._number] if self._number >= 0 else -1

    def execution(self) -> Execution:
        """Return how the page ended, once all its messages were received."""
        last = self._failure.index if self._failure else len(self.notebook.cells)
        for index, cell in enumerate(self.notebook.cells):
            if cell.cell_type == "code":
                cell.outputs = joined(cell.outputs)
                if index < last and index not in self.places:
                    self._executed.add(index)  # nothing in it was to be run
        join_captured(self.client)
        self.client.set_widgets_metadata()
        return execution_from(self._executed, self._failure, self._answers or {})

    def _on_begun(self, message: dict[str, Any]) -> None:
        self.notebook.metadata["language_info"] = message["language"]

    def _on_cell(self, message: dict[str, Any]) -> None:
        self._flush()
        self._number = message["index"]
        self._running = f"cell-{self._number}"
        self.client.clear_before_next_output = False

    def _on_stream(self, message: dict[str, Any]) -> None:
        if message["cell"] == self._running:
            self._streams.setdefault(message["name"], []).append(message["text"])

    def _on_flush(self, message: dict[str, Any]) -> None:
        self._flush(message["name"])

    def _on_ended(self, message: dict[str, Any]) -> None:
        self._flush()
        self._running = ""  # what a task of it prints from now on is shown nowhere
        index = self.places[message["index"]]
        self.notebook.cells[index]["execution_count"] = message["execution_count"]
        if message["status"] == "ok" or index in self.may_raise:
            self._executed.add(index)
            return
        error = f"{message['ename']}: {message['evalue']}"
        self._failure = Failure(Ending.RAISED, index, error)

    def _on_answers(self, message: dict[str, Any]) -> None:
        self._answers = message["answers"]

    def _on_broken(self, message: dict[str, Any]) -> None:
        self._last_words += message["reason"].splitlines()

    def _on_timeout(self, _: dict[str, Any]) -> None:
        self._stop(Ending.TIMEOUT, f"it ran for more than {self.request.timeout} seconds")
        if self._place < 0:
            self._failure = never_begun(self.request)

    def _on_excess(self, _: dict[str, Any]) -> None:
        self._flush()
        self._failure = excess(self.notebook, self._place, self.request.output_limit)
        self.is_over = True

    def _on_garbled(self, message: dict[str, Any]) -> None:
        wrote = "it wrote to a descriptor of the runner's, which expected messages"
        self._stop(Ending.DEAD_KERNEL, f"{wrote}: {message['reason']}")

    def _on_over(self, message: dict[str, Any]) -> None:
        if self._answers is None and self._failure is None:
            lines = _most_telling([*self._last_words, *message["last_words"].splitlines()])
            self._stop(Ending.DEAD_KERNEL, "\n".join([_ending(message["status"]), *lines]))
        self.is_over = True

    def _on_cannot_fork(self, message: dict[str, Any]) -> None:
        raise CannotForkError(message["reason"])

    def _stop(self, kind: Ending, text: str) -> None:
        self._flush()
        self._failure = Failure(kind, self._place, text)
        self.is_over = True

    # Streams: what is printed is shown when it is flushed, as it is before each display --

    def _flush(self, *names: str) -> None:
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
        sent = {
            "header": {"msg_type": kind},
            "parent_header": parent,
            "msg_type": kind,
            "content": message["content"],
            "metadata": message.get("metadata", {}),
            "buffers": [base64.b64decode(b) for b in message.get("buffers", [])],
        }
        index = self._place
        self.client.process_message(sent, self.notebook.cells[index], index)


def _most_telling(lines: list[str]) -> list[str]:
    """Return the lines that tell most: a crash names its place first, an exception last."""
    crash = next((n for n, line in enumerate(lines) if line.startswith("Fatal Python")), None)
    return lines[-8:] if crash is None else lines[crash : crash + 8]


def _ending(status: int) -> str:
    """Describe how a child ended before its page did."""
    if status >= 0:
        return f"the page's process ended by itself, with exit status {status}"
    name = signal.Signals(-status).name
    memory = ": the machine may be out of memory" if -status == signal.SIGKILL else ""
    return f"the page's process was killed by {name}{memory}"
