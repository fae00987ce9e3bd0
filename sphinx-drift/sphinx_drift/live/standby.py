"""A build that stands by: its application is made before there is anything to build."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from sphinx.application import Sphinx

from sphinx_drift.live.watch import state_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sphinx_drift.live.watch import State

# How a process asks others for something: what they have read is not known.
_ASKING = {"os.posix_spawn", "os.system", "socket.connect", "sqlite3.connect", "subprocess.Popen"}


class Application(Sphinx):
    """An application that waits, as soon as it is made, until there is something to build."""

    def __init__(
        self, *arguments: Any, wait: Callable[[Sphinx], None], rerun: str, **options: Any
    ) -> None:
        self._waiting = wait
        self._rerun = rerun
        super().__init__(*arguments, **options)

    def preload_builder(self, name: str) -> None:
        """Do what Sphinx does once all extensions are loaded, and wait before what they do then.

        They may read pages then.
        """
        super().preload_builder(name)
        if "drift_rerun" in self.config:
            self.config.overrides["drift_rerun"] = self._rerun
        self.connect("builder-inited", self._waiting, priority=-sys.maxsize)


class ReadFiles:
    """The files that this process reads, from now on, and whether they are still as they were."""

    def __init__(self) -> None:
        self._states: dict[str, State] = {}
        self._known = True
        self._listening = True
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note a file that is about to be opened for reading: a later save is another state."""
        if not self._listening:
            return
        if event in _ASKING:
            self._known = False
        elif event == "open":
            path, _, flags = arguments
            if isinstance(path, str | bytes) and flags & os.O_ACCMODE == os.O_RDONLY:
                self.note([os.path.realpath(os.fsdecode(path))])

    def note(self, paths: Iterable[str]) -> None:
        """Note files that have been read by other ways, such as modules from their cache."""
        for path in paths:
            self._states.setdefault(path, state_of(path))

    def is_current(self) -> bool:
        """Return whether all is still as it was read; what is read from now on is not noted."""
        self._listening = False
        return self._known and all(state_of(path) == state for path, state in self._states.items())
