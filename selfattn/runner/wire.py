"""Messages over pipes and sockets: a length, then JSON. Loaded by path too: imports no package."""

from __future__ import annotations

import json
import os
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Frames", "pack", "write_all"]

_LENGTH = struct.Struct("!I")


def pack(message: dict[str, Any]) -> bytes:
    """Return a message as it travels."""
    body = json.dumps(message, separators=(",", ":")).encode("ascii")
    return _LENGTH.pack(len(body)) + body


def write_all(fd: int, data: bytes) -> None:
    """Write all of the data, also where the other end reads slowly."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


class Frames:
    """Puts messages together from the pieces in which they arrive."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, piece: bytes) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Take a piece in, and yield each message that it completes, read and as it travelled."""
        self._rest += piece
        while len(self._rest) >= _LENGTH.size:
            end = _LENGTH.size + _LENGTH.unpack_from(self._rest)[0]
            if len(self._rest) < end:
                return
            whole = bytes(self._rest[:end])
            del self._rest[:end]
            yield json.loads(whole[_LENGTH.size :]), whole
