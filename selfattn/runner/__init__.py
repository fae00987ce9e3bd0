"""Runs the cells of pages: in forked children of a process that has torch loaded, or by Jupyter.

Use it for any MyST-NB book by one line in ``conf.py``, after ``myst_nb``:
``extensions = ["myst_nb", "selfattn.runner"]``. :mod:`selfattn.drift` uses it by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Set the Sphinx extension up."""
    # Here, for nothing else in the package needs Sphinx.
    from sphinx.errors import ExtensionError  # noqa: PLC0415

    from selfattn.drift.extra import needed_by  # noqa: PLC0415

    with needed_by("the extension selfattn.runner", ExtensionError):
        from selfattn.runner.extension import setup  # noqa: PLC0415

    return setup(app)
