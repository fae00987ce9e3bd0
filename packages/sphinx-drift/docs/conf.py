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
    "settings_list",
]
exclude_patterns = ["_build", "_ext"]
nitpicky = True
# Links to other manuals would need a network.
nitpick_ignore_regex = [("py:.*", r"(collections\.abc|doctest)\b.*")]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
myst_url_schemes = {
    "http": None,
    "https": None,
    "mailto": None,
    "book": "../{{path}}.html",  # the book that this manual is published with
}
drift_packages = {"sphinx_drift": ".."}
drift_require = "all"

autodoc_member_order = "bysource"
napoleon_numpy_docstring = False

html_theme = "selfattn"  # the look of the book that this manual is published with
html_theme_path = ["../../../docs/_themes"]
html_theme_options = {"home": "../index.html", "home_title": "The book"}
html_favicon = "../../../docs/_static/favicon.svg"
html_title = "sphinx-drift"
html_show_search_summary = False  # it would fetch pages
html_permalinks_icon = '<span aria-hidden="true">#</span>'  # so that a link is called by its title
html_copy_source = False
html_show_sourcelink = False
