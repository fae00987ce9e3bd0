"""Settings of the manual."""

import sys
from pathlib import Path

from sphinx_drift import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "sphinx-drift"
author = "The selfattn authors"
version = __version__
copyright = "the selfattn authors, Apache-2.0"

extensions = [
    "myst_nb",
    "sphinx_drift",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "outcome_kinds",
]
exclude_patterns = ["_build", "_ext"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"doctest\b.*")]  # no links to other manuals: they need a network

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
myst_url_schemes = {
    "http": None,
    "https": None,
    "mailto": None,
    "book": "../{{path}}.html",  # the book that this manual is published with
}
drift_packages = {"sphinx_drift": ".."}

autodoc_member_order = "bysource"
napoleon_numpy_docstring = False

html_theme = "sphinx_book_theme"
html_title = "sphinx-drift"
html_static_path = ["_static"]
html_css_files = ["manual.css"]
html_copy_source = False
html_show_sourcelink = False
