"""Reads and writes files that another program or build may write or read at the same time."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def replace_text(path: Path, text: str) -> None:
    """Write a file so that whoever reads it sees the old text or the new one, never a part."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.new")
    unfinished.write_text(text, "utf-8")
    unfinished.replace(path)


def content_digest(path: Path) -> str:
    """Return the digest of a file's content; nothing if it can't be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
