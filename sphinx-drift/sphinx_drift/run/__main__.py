"""The command: ``sphinx-build``, with the fork server started first: both load side by side."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

from sphinx_drift.configuration import find_project
from sphinx_drift.run import fork_client
from sphinx_drift.run.choice import chosen

_BETWEEN_COLLECTIONS = 200_000
"""New objects after which the garbage collector looks for waste; Python's own is 2,000 at most."""


def collect_rarely() -> None:
    """Let a build, which keeps nearly all that it makes, look for waste less often.

    With Python's own number a fifth of a build's time is spent on that. Processes that Sphinx
    forks leave what they inherit alone: to look at it would copy it.
    """
    gc.set_threshold(_BETWEEN_COLLECTIONS, 20, 100)
    if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
        os.register_at_fork(after_in_child=gc.freeze)


if __name__ == "__main__":
    try:
        if chosen() == "fork":
            books = [Path(word) for word in sys.argv[1:] if Path(word, "conf.py").is_file()]
            project = find_project(books[0] if books else Path())
            fork_client.preload(project.libraries(books))
            fork_client.start()
    except ValueError as error:
        sys.exit(f"sphinx_drift.run: {error}")
    collect_rarely()
    from sphinx.cmd.build import main

    sys.exit(main(sys.argv[1:]))
