"""Notices when files have changed, by looking at them.

A look at a book's few hundred files takes a millisecond or two. Nothing that happens between two
looks is lost, whether an editor writes into the file or renames another over it, and it works
where the system's own notifications don't: in containers, on network shares.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

State = tuple[int, int, int, int] | None

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

    def _look_again(self) -> dict[str, State]:
        time.sleep(SETTLED)
        return self._look()

    def _look(self) -> dict[str, State]:
        states = ((path, state_of(path)) for path in self._files())
        return {path: state for path, state in states if state is not None}

    def _files(self) -> Iterator[str]:
        """Yield all files; what editors and Python keep for themselves is none.

        A folder that links lead to again is gone through once, and one that can't be read, never.
        """
        seen = set()
        for place in self._places:
            if os.path.isfile(place):  # noqa: PTH113 - a look must be quick
                yield place
            for folder, inner, files in os.walk(place, followlinks=True):
                state = state_of(folder)
                if state in seen:
                    inner.clear()
                    continue
                seen.add(state)
                kept = (name for name in inner if not _is_noise(name))
                inner[:] = [name for name in kept if f"{folder}/{name}" not in self._without]
                yield from (f"{folder}/{name}" for name in files if not _is_noise(name))


def _is_noise(name: str) -> bool:
    return name == "__pycache__" or name.startswith(".") or name.endswith(("~", ".pyc", ".tmp"))


def state_of(path: str | Path) -> State:
    """Return what tells one state of a file from another, and from other files; None if it is gone.

    It is called for each file that is watched, and for each that a build opens.
    """
    try:
        status = os.stat(path)  # noqa: PTH116 - it must be quick
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino, status.st_dev
