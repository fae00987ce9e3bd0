"""What a page's child sends to the fork server: outputs, streams, and how its cells end."""

from __future__ import annotations

import base64
import contextlib
import contextvars
import copy
import fcntl
import os
import select
import struct
import termios
import threading
from typing import TYPE_CHECKING, Any

from ipykernel.iostream import OutStream

from .kernel import seem_like
from .limit import Allowance, clipped
from .protocol import pack, write_all

if TYPE_CHECKING:
    from collections.abc import Iterator


class Channel:
    """The child's ends of its pipes, and the streams whose text goes through them.

    Args:
        session: Makes the kernel's messages.
        fds: The ends of the pipes: ``events``, ``control``, ``out`` and ``err``.
        output_limit: How many bytes the outputs of a cell may take.

    """

    def __init__(self, session: Any, fds: dict[str, int], output_limit: int) -> None:
        self._events, self._control = fds["events"], fds["control"]
        self._allowance = Allowance(output_limit)
        self._pid = os.getpid()
        self.captures = Captures(session)
        # Of one thread at a time, also where a message is sent while another is: by a signal's
        # handler, say.
        self._writing, self._reading = threading.RLock(), threading.RLock()
        self.streams = [
            CellStream(self, session, "stdout", 1),
            CellStream(self, session, "stderr", 2),
        ]
        self._watched = list(zip(self.streams, (fds["out"], fds["err"]), strict=True))

    def send(self, **message: Any) -> None:
        """Send a message to the fork server."""
        if self.is_copied:
            return
        self.captures.observe(message)
        data = pack(message)
        with self._writing:
            if not self._allowance.admits(message, len(data)):
                self._stop(message)
            write_all(self._events, data)

    def _stop(self, message: dict[str, Any]) -> None:
        """End this process, which prints without end, with the last that it printed."""
        last = []
        if message["type"] == "stream":
            last = [{**message, "text": clipped(message["text"])}]
        with self._writing:
            for each in (*last, {"type": "excess"}):
                write_all(self._events, pack(each))
            os._exit(0)

    def may_go_on(self) -> bool:
        """Ask the fork server whether the page goes on after an error."""
        return os.read(self._control, 1) == b"+"

    @property
    def is_copied(self) -> bool:
        """Whether this process was forked by the page, which alone speaks to the fork server.

        It would send once more all that the page itself sends, or break its messages in two.
        """
        return os.getpid() != self._pid

    def close(self) -> None:
        """Close the way to the fork server, in a process that the page has forked."""
        for fd in (self._events, self._control):
            with contextlib.suppress(OSError):  # the page may have closed it
                os.close(fd)

    def forward(self, message: dict[str, Any], buffers: list[Any]) -> None:
        """Send on what the kernel sends."""
        self.send(
            type=message["msg_type"],
            content=message["content"],
            metadata=message["metadata"],
            buffers=[base64.b64encode(buffer).decode("ascii") for buffer in buffers],
            cell=(message.get("parent_header") or {}).get("msg_id", ""),
        )

    def send_text(self, stream: CellStream, text: str) -> None:
        """Send a piece of a stream."""
        if not text:
            return
        too_long = len(text) > self._allowance.limit
        if too_long:  # to be copied, and refused
            text = clipped(text)
        text = text.encode(errors="backslashreplace").decode()  # half a surrogate is no text
        cell = stream.parent_header.get("msg_id", "")
        message = {"type": "stream", "name": stream.name, "text": text, "cell": cell}
        if too_long and not self.is_copied:
            self._stop(message)
        self.send(**message)

    def drain(self) -> None:
        """Send what was written past Python, to a descriptor itself, by a subprocess, say."""
        with self._reading:
            for stream, fd in self._watched:
                while size := struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, b"\0" * 4))[0]:
                    self.send_text(stream, os.read(fd, size).decode(errors="replace"))

    def watch(self) -> None:
        """Drain whenever there is something, in a thread: a full pipe would stop a subprocess."""
        poll = select.poll()
        for _, fd in self._watched:
            poll.register(fd, select.POLLIN)
        while True:
            poll.poll()
            self.drain()


class Captures:
    """Lets output widgets capture what the page shows, as the stock client does from outside."""

    def __init__(self, session: Any) -> None:
        """Take the session, which makes messages."""
        self.session = session
        self.shell_channel = self
        self._widgets: dict[str, Any] = {}
        self._active: list[Any] = []
        self._printed: dict[str, str] = {}
        self._messages: list[dict[str, Any]] = []

    def observe(self, message: dict[str, Any]) -> None:
        """Take in what the page shows, if a widget captures it."""
        kind, content = message["type"], message.get("content", {})
        if kind == "comm_open" and content.get("target_name") == "jupyter.widget":
            self._open(content["comm_id"], content["data"].get("state", {}))
        elif kind == "comm_msg" and content["comm_id"] in self._widgets:
            self._widgets[content["comm_id"]].handle_msg(message)
        elif not self._active:
            return
        elif kind == "stream":
            self._printed[message["name"]] = (
                self._printed.get(message["name"], "") + message["text"]
            )
        elif kind == "flush":
            if text := self._printed.pop(message["name"], ""):
                self._capture("stream", {"content": {"name": message["name"], "text": text}})
        elif kind in _CAPTURED:
            self._capture(kind, message)

    def _open(self, comm_id: str, state: dict[str, Any]) -> None:
        if state.get("_model_name") != "OutputModel":
            return
        from nbclient.output_widget import OutputWidget  # noqa: PLC0415 - hardly a page needs it

        client: Any = self  # the part of a client that a widget needs
        self._widgets[comm_id] = OutputWidget(comm_id, copy.deepcopy(state), client, self)

    def register_output_hook(self, _cell: str, widget: Any) -> None:
        """Have a widget capture what is shown from now on."""
        self._active.append(widget)

    def remove_output_hook(self, _cell: str, widget: Any) -> None:
        """Have it capture no more."""
        self._active.remove(widget)

    def _capture(self, kind: str, message: dict[str, Any]) -> None:
        output = {"metadata": {}, **message, "header": {"msg_type": kind}, "parent_header": {}}
        if kind == "clear_output":
            self._active[-1].clear_output([], output, 0)
        else:
            self._active[-1].output([], output, None, 0)

    def send(self, message: dict[str, Any]) -> None:
        """Keep what is for the kernel until it has time."""
        self._messages.append(message)

    def replies(self) -> Iterator[dict[str, Any]]:
        """Yield, once, what the stock client would have sent the kernel during a cell."""
        while self._messages:
            yield {**self._messages.pop(0), "buffers": []}


_CAPTURED = {"clear_output", "display_data", "error", "execute_result"}


class CellStream(OutStream):
    """What ``print`` writes to in a cell; each piece is sent at once."""

    # The stock stream's own start would begin threads.
    def __init__(self, channel: Channel, session: Any, name: str, fd: int) -> None:
        """Stand for a standard stream."""
        self._channel = channel
        self._fd = fd
        self.session = session
        self.name = name
        self.topic: Any = b"stream." + name.encode()
        self.pub_thread = self  # any but None: the stream is open
        self.echo = None
        self._parent_header = contextvars.ContextVar("parent_header")
        self._parent_header_global = {}
        self._master_pid = os.getpid()
        self._isatty = False
        self._should_watch = False
        self._local = threading.local()
        self._nowhere = os.open(os.devnull, os.O_WRONLY)

    def fileno(self) -> int:
        """Return where the stock kernel's own output goes, which no page shows."""
        return self._nowhere

    def write(self, string: str) -> int:
        """Send a piece of text."""
        if not isinstance(string, str):
            raise TypeError(f"write() argument must be str, not {type(string)}")
        if os.getpid() == self._master_pid:
            self._channel.drain()
            self._channel.send_text(self, string)
        else:  # in a process that the page has forked
            os.write(self._fd, string.encode(errors="replace"))
        return len(string)

    def flush(self) -> None:
        """Send that the stock kernel would send at this point what was printed."""
        if os.getpid() == self._master_pid:
            self._channel.drain()
            self._channel.send(type="flush", name=self.name)


seem_like(OutStream, CellStream)
