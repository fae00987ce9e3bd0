"""Uses of Sphinx, MyST-NB and MyST-Parser that they don't document, one function for each.

`tests/test_private_api.py` says of each name what to do when it is no longer what it was.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import myst_nb.core.render as rendering
import myst_nb.sphinx_ as myst_nb
from docutils import nodes
from myst_nb.core.execute.base import NotebookClientBase
from myst_nb.ext.glue.utils import PendingGlueReference
from myst_nb.sphinx_ext import OUTPUT_FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from myst_parser.config.main import MdParserConfig
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from sphinx_drift.run.results import Failure

__all__ = ["OUTPUT_FOLDER", "NotebookClientBase", "PendingGlueReference"]

Parser = myst_nb.Parser


@contextmanager
def with_clients(
    make: Callable[..., NotebookClientBase],
    merges: Callable[[], bool],
) -> Iterator[None]:
    """Temporarily replace MyST-NB's client factory.

    Args:
        make: Takes MyST-NB's factory, and what that takes.
        merges: Whether MyST-NB may merge streams, which moves text over what is displayed.

    """
    stock, merge_streams = myst_nb.create_client, rendering.coalesce_streams
    myst_nb.create_client = partial(make, stock)
    rendering.coalesce_streams = lambda outputs: merge_streams(outputs) if merges() else outputs
    try:
        yield
    finally:
        rendering.coalesce_streams = merge_streams
        myst_nb.create_client = stock


def execution_metadata(seconds: float, failure: Failure | None) -> dict[str, Any]:
    """Return what MyST-NB keeps of a run that has just ended."""
    return {
        "mtime": time.time(),
        "runtime": seconds,
        "method": "sphinx_drift",
        "succeeded": failure is None,
        "error": failure.message if failure else None,
        "traceback": None,
    }


def execution_data(env: BuildEnvironment, docname: str) -> dict[str, Any]:
    """Return what MyST-NB keeps of a page's run, such as its time; nothing if it was not run."""
    return myst_nb.NbMetadataCollector.get_exec_data(env, docname) or {}


def markdown_config(env: BuildEnvironment) -> MdParserConfig:
    """Return how MyST-Parser reads Markdown, as conf.py says."""
    config: MdParserConfig = env.myst_config  # type: ignore[attr-defined]
    return config


def page_data(env: BuildEnvironment) -> Any:
    """Return what lasts as long as a page is being read, by name: Sphinx 8.2 renamed it."""
    return env.current_document if hasattr(env, "current_document") else env.temp_data


def fail_build(app: Sphinx) -> None:
    """Have the build's exit status be 1."""
    app.statuscode = 1


def code_cells(doctree: nodes.Element, part: str = "cell_code") -> Iterable[nodes.container]:
    """Yield the code cells that MyST-NB has put on a page, or another part of each."""
    return (node for node in doctree.findall(nodes.container) if node.get("nb_element") == part)


def code_outputs(doctree: nodes.Element) -> Iterable[nodes.container]:
    """Yield the outputs of the code cells of a page."""
    return code_cells(doctree, "cell_code_output")


def named_texts(env: BuildEnvironment) -> Iterator[tuple[str, str, str]]:
    """Yield each name of a text in the book, with its page and the text that Sphinx copied."""
    for label, (docname, _, text) in env.domaindata["std"]["labels"].items():
        yield label, docname, text


def end_with(app: Sphinx, line: str) -> None:
    """Add a line after a build's last words."""
    before = f"{app.builder.epilog}\n\n" if app.builder.epilog else ""
    app.builder.epilog = before + line.replace("%", "%%")  # type: ignore[misc]  # of this builder
