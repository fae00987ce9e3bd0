"""Uses of Sphinx, MyST-NB and MyST-Parser that they don't document, one function for each.

`tests/test_private_api.py` says of each name what to do when it is no longer what it was.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import myst_nb.sphinx_ as myst_nb
from myst_nb.core.execute.base import NotebookClientBase
from myst_nb.ext.glue.utils import PendingGlueReference
from myst_nb.sphinx_ext import OUTPUT_FOLDER
from myst_parser.config.main import MdParserConfig
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from sphinx_drift.run.results import Execution

__all__ = ["OUTPUT_FOLDER", "NotebookClientBase", "PendingGlueReference"]

Parser = myst_nb.Parser


@contextmanager
def with_clients(make: Callable[..., NotebookClientBase]) -> Iterator[None]:
    """Temporarily replace MyST-NB's client factory by what takes it, and what that takes."""
    stock = myst_nb.create_client
    myst_nb.create_client = partial(make, stock)
    try:
        yield
    finally:
        myst_nb.create_client = stock


def execution_metadata(execution: Execution) -> dict[str, Any]:
    """Return what MyST-NB keeps of a run."""
    failure = execution.failure
    return {
        "mtime": execution.since or time.time(),
        "runtime": execution.seconds,
        "method": "sphinx_drift",
        "succeeded": failure is None,
        "error": failure.message if failure else None,
        "traceback": None,
    }


def markdown_config(env: BuildEnvironment) -> MdParserConfig:
    """Return how MyST-Parser reads Markdown, as conf.py says."""
    config: MdParserConfig = env.myst_config  # type: ignore[attr-defined]
    return config


def fail_build(app: Sphinx) -> None:
    """Have the build's exit status be 1."""
    app.statuscode = 1


def end_with(app: Sphinx, line: str) -> None:
    """Add a line after a build's last words."""
    before = f"{app.builder.epilog}\n\n" if app.builder.epilog else ""
    app.builder.epilog = before + line.replace("%", "%%")  # type: ignore[misc]  # of this builder
