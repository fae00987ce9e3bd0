"""Notices when files have changed, by looking at them.

A look at a book's few hundred files takes a millisecond or two. Nothing that happens between two
looks is lost, whether an editor writes into the file or renames another over it, and it works
where the system's own notifications don't: in containers, on network shares.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

_State = dict[str, tuple[int, int, int]]

# Seconds between two looks, and for how long a changed file must have stayed as it is.
PAUSE = 0.03
SETTLED = 0.008


class Watch:
    """The files below some folders, and which of them have changed since they were last asked for.

    Args:
        places: Folders and files to watch.
        without: Folders in them that are not watched: what a build itself writes.

    """

    def __init__(self, places: Collection[Path], without: Collection[Path] = ()) -> None:
        self._places = [os.path.realpath(place) for place in places]
        self._without = {os.path.realpath(place) for place in without}
        self._known = self._look()

    def changed(self) -> list[str]:
        """Return the files that have changed, come or gone since this was last asked."""
        now = self._look()
        if now != self._known:
            # An editor may be half-way through.
            while (later := self._look_again()) != now:
                now = later
        before, self._known = self._known, now
        names = now.keys() | before.keys()
        return sorted(name for name in names if now.get(name) != before.get(name))

    def _look_again(self) -> _State:
        time.sleep(SETTLED)
        return self._look()

    def _look(self) -> _State:
        state: _State = {}
        for path in self._files():
            with contextlib.suppress(OSError):  # gone since its folder was read, or leads nowhere
                status = os.stat(path)  # noqa: PTH116 - a look must be quick, and this is its middle
                state[path] = status.st_mtime_ns, status.st_size, status.st_ino
        return state

    def _files(self) -> Iterator[str]:
        """Yield all files; what editors and Python keep for themselves is none.

        A folder that links lead to again is gone through once, and one that can't be read, never.
        """
        folders = list(self._places)
        seen = set()
        while folders:
            folder = folders.pop()
            if os.path.isfile(folder):  # noqa: PTH113 - as above
                yield folder
                continue
            with contextlib.suppress(OSError):
                status = os.stat(folder)  # noqa: PTH116 - as above
                place = status.st_dev, status.st_ino
                if place not in seen:
                    seen.add(place)
                    inner, files = self._entries(folder)
                    folders += inner
                    yield from files

    def _entries(self, folder: str) -> tuple[list[str], list[str]]:
        """Return the folders and the files in a folder."""
        folders: list[str] = []
        files: list[str] = []
        with os.scandir(folder) as entries:
            for entry in entries:
                if not _is_noise(entry.name) and entry.path not in self._without:
                    (folders if _is_folder(entry) else files).append(entry.path)
        return folders, files


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a folder; a link that leads nowhere is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_noise(name: str) -> bool:
    return name == "__pycache__" or name.startswith(".") or name.endswith(("~", ".pyc", ".tmp"))
