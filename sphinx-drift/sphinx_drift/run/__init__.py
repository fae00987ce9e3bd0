"""Runs the cells of pages: in forked children of a process with libraries loaded, or by Jupyter.

Use it for any MyST-NB book by one line in ``conf.py``, after ``myst_nb``:
``extensions = ["myst_nb", "sphinx_drift.run"]``. :mod:`sphinx_drift` uses it by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Set the Sphinx extension up."""
    from sphinx_drift.sphinx.running import setup  # noqa: PLC0415 - only Sphinx needs Sphinx

    return setup(app)
