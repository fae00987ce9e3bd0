"""Does the page still print what it says? A check for MyST-NB pages, notebooks, doctests.

As a Sphinx extension it is loaded after MyST-NB::

    extensions = ["myst_nb", "selfattn.drift"]

A cell that prints is then followed by an ``expected-output`` directive with what it must
print, and the build fails when it prints anything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["setup"]


def setup(app: Sphinx) -> dict[str, Any]:
    """Set the Sphinx extension up."""
    # Here, for only Sphinx needs Sphinx.
    from sphinx.errors import ExtensionError  # noqa: PLC0415

    from selfattn.drift.extra import needed_by  # noqa: PLC0415

    with needed_by("the extension selfattn.drift", ExtensionError):
        from selfattn.drift import pages  # noqa: PLC0415

    return pages.setup(app)
