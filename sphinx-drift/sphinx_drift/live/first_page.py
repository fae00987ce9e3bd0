"""The saved page first: it is written while its build is still at work on the whole book."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from sphinx.environment.collectors.toctree import TocTreeCollector

from sphinx_drift.run.processes import die_with, thread_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

FEW = 3


def show_first(app: Sphinx, send: Callable[[], None]) -> None:
    """Have a build that reads few pages write them as soon as they are read, in another process.

    The process is a copy of the build, and its end changes nothing in it: the build writes these
    pages again, like all others, when it knows the whole book. What the copy warns of,
    wrong links and the like, is dropped, and so is what goes wrong in it: the build will report it.
    Meanwhile the build waits: it would only make the page late.
    """
    figures: dict[str, Any] = {}

    def keep(_: Sphinx, env: BuildEnvironment, docname: str) -> None:
        """Keep the numbers of a page that is about to be read: all figures are counted later."""
        figures[docname] = env.toc_fignumbers.get(docname, {})

    def write(_: Sphinx, env: BuildEnvironment) -> None:
        docnames = figures.keys() & env.found_docs
        if not 0 < len(docnames) <= FEW or thread_count() != 1:
            return
        build = os.getpid()
        copy = os.fork()  # it has the environment as it is: nothing is pickled
        if copy == 0:
            env.toc_fignumbers = {**figures, **env.toc_fignumbers}
            _be_the_copy(build, app, docnames, send)
        os.waitpid(copy, 0)

    app.connect("env-purge-doc", keep, priority=-sys.maxsize)  # before Sphinx forgets them
    app.connect("env-updated", write, priority=-sys.maxsize)


def _be_the_copy(build: int, app: Sphinx, docnames: set[str], send: Callable[[], None]) -> NoReturn:
    try:
        die_with(build)
        gc.disable()  # it ends soon; a collection would copy the memory that it shares
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
        TocTreeCollector().assign_section_numbers(app.env)
        _write(app, docnames)
        send()
    finally:
        os._exit(0)  # never back into the build


def _write(app: Sphinx, docnames: set[str]) -> None:
    """Write pages as the builder does, and the pictures that they show."""
    builder: Any = app.builder
    app.events.emit("write-started", builder)
    searched, builder.search = builder.search, False  # nothing is added to the index of words
    builder.prepare_writing(docnames)
    builder.search = searched
    builder.write_documents(docnames)
    builder.copy_image_files()
