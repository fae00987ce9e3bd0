"""The command: ``sphinx-build``, with the pages' process started first: both load side by side."""

import atexit
import gc
import os
import sys
from pathlib import Path

from sphinx_drift.run.host import HOST
from sphinx_drift.run.preload import libraries
from sphinx_drift.settings import find_project

_BETWEEN_COLLECTIONS = 200_000
"""New objects between two runs of the garbage collector; Python's number is 2,000 at most."""


def collect_rarely() -> None:
    """Run the garbage collector rarely, since a build keeps nearly all that it allocates.

    With Python's thresholds it takes a fifth of a build's time. Processes that Sphinx forks
    leave out what they inherit: to traverse it would copy it. Python looks through it all once
    more before it ends, unless it is asked not to.
    """
    gc.set_threshold(_BETWEEN_COLLECTIONS, 20, 100)
    atexit.register(gc.freeze)
    if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
        os.register_at_fork(after_in_child=gc.freeze)


def build(arguments: list[str]) -> int:
    """Run ``sphinx-build``."""
    books = [Path(word) for word in arguments if Path(word, "conf.py").is_file()]
    project = find_project(books[0] if books else Path())
    HOST.preload = libraries(project.preload, books)
    HOST.start()
    collect_rarely()
    from sphinx.cmd.build import main  # noqa: PLC0415 - after the process that runs pages

    return main(arguments)


if __name__ == "__main__":
    try:
        sys.exit(build(sys.argv[1:]))
    except ValueError as error:
        sys.exit(f"sphinx_drift.run: {error}")
