"""Settings of the book."""

import sys
from pathlib import Path

from selfattn import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "Self-attention, verified"
author = "The selfattn authors"
version = __version__
copyright = "the selfattn authors, Apache-2.0"

extensions = [
    "myst_nb",
    "selfattn.drift",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinxcontrib.bibtex",
    "codelinks",
    "cost",
    "figures",
    "folded",
    "inventories",
    "listing",
    "mathml",
    "notation",
    "recorded",
]
exclude_patterns = ["_build", "_ext"]
nitpicky = True

# Pages
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_update_mathjax = False
exercise_chapter = 3
numfig = True

# Links; see docs/_ext/inventories.py for the names that each manual has
autodoc_member_order = "bysource"
bibtex_bibfiles = ["references.bib"]
bibtex_reference_style = "author_year"
codeautolink_concat_default = True
codeautolink_global_preface = "import torch\nfrom torch import nn"  # listings leave these out
codeautolink_warn_on_missing_inventory = True
inventories = {
    "python": "https://docs.python.org/3/",
    "sphinx": "https://www.sphinx-doc.org/en/master/",
    "torch": "https://docs.pytorch.org/docs/2.13/",
}
napoleon_numpy_docstring = False

# The site
html_theme = "sphinx_book_theme"
html_title = "Self-attention, verified"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["selfattn.css"]
html_favicon = "_static/favicon.svg"
html_context = {"default_mode": "auto"}
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "navbar_persistent": [],
    "show_toc_level": 2,
    "use_download_button": False,
    "use_fullscreen_button": False,
}
copybutton_exclude = ".linenos, .gp, .go"
