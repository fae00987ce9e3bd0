"""Messages over pipes and sockets: a length, then JSON. The fork server imports it too."""

from __future__ import annotations

import json
import os
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    """Puts messages together from the pieces in which they arrive.

    Args:
        most: How many bytes a message may have; None for any number.

    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._rest = bytearray()

    def feed(self, piece: bytes) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Take a piece in, and yield each message that it completes, read and as it travelled.

        Raises:
            ValueError: If it is no message: nothing after it can be read.

        """
        self._rest += piece
        while len(self._rest) >= _LENGTH.size:
            length = _LENGTH.unpack_from(self._rest)[0]
            if self._most is not None and length > self._most:
                raise ValueError(f"a message must have at most {self._most} bytes; got {length}")
            end = _LENGTH.size + length
            if len(self._rest) < end:
                return
            whole = bytes(self._rest[:end])
            del self._rest[:end]
            yield json.loads(whole[_LENGTH.size :]), whole
