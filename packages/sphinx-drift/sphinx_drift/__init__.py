"""Does the page still print what it says? A check for MyST-NB pages, notebooks, doctests.

As a Sphinx extension it is loaded after MyST-NB::

    extensions = ["myst_nb", "sphinx_drift"]

A cell that prints is then followed by an ``expected-output`` directive with what it must
print, and the build fails when it prints anything else.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # each start of pytest would wait for Sphinx
    from sphinx.application import Sphinx

__all__ = ["__version__", "setup"]

__version__ = "0.1.0"


def setup(app: "Sphinx") -> dict[str, Any]:
    """Set the Sphinx extension up."""
    from sphinx_drift.sphinx import setup as extension  # noqa: PLC0415 - only Sphinx needs it

    return extension.setup(app)
