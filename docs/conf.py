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
    "notfound.extension",
    "sphinx_drift",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinxcontrib.bibtex",
    "diagnosis",
    "explorer",
    "export",
    "figures",
    "quantities",
    "reference",
    "website",
]
exclude_patterns = ["_build", "_ext", "_theme"]
nitpicky = True

# Pages
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_url_schemes = {
    "http": None,
    "https": None,
    "mailto": None,
    "manual": "../sphinx-drift/{{path}}.html",  # from pages one folder down
}
myst_update_mathjax = False
exercise_chapter = 3
numfig = True

# Pages that are elsewhere now; see docs/_ext/website/moved_pages.py
moved_pages = {
    "companions/towards-a-language-model": [
        "self-attention/causal",
        "self-attention/causal-class",
        "self-attention/multi-head",
        "self-attention/multi-head-class",
    ],
    "reference/check-your-numbers": [
        "The manual of sphinx-drift <sphinx-drift/index.html>",
        "reference/verification",
    ],
}

# Links; see docs/_ext/reference/inventories.py for the names that each manual has
autodoc_member_order = "bysource"
bibtex_bibfiles = ["references.bib"]
bibtex_reference_style = "author_year"
codelinks_preface = "import torch\nfrom torch import nn"  # listings leave these out
inventories = {
    "python": "https://docs.python.org/3/",
    "torch": "https://docs.pytorch.org/docs/2.13/",
}
linkcheck_ignore = [r"\.\./sphinx-drift/"]  # the tests follow links within the site
napoleon_numpy_docstring = False
nb_code_prompt_show = "Show the {type}"  # a reader knows no "code cells"
nb_code_prompt_hide = "Hide the {type}"

# The site
html_theme = "selfattn"  # docs/_theme, which inherits sphinx_book_theme
html_title = "Self-attention, verified"
html_math_renderer = "mathml"
html_permalinks_icon = '<span aria-hidden="true">#</span>'  # so that a link is called by its title
html_static_path = ["_static"]
html_favicon = "_static/favicon.svg"
html_copy_source = False
html_show_sourcelink = False
html_domain_indices = False
html_show_search_summary = False  # it would fetch pages; see website/search_index.py
notfound_context = {"title": "Page not found"}
notfound_template = "404.html"
templates_path = ["_templates"]

# The e-book; docs/_ext/export/ebook.py makes it
epub_basename = "selfattn"
epub_contributor = author
epub_css_files = ["ebook.css"]
epub_description = "Self-attention with trainable weights, built in PyTorch; every number verified."
epub_identifier = "urn:uuid:5d1e5f0a-3c9c-5b0e-9a52-6c6b0f6d9a31"
epub_scheme = "UUID"
epub_show_urls = "no"
epub_title = html_title
epub_tocdepth = 4  # pages below those that the sidebar ends with
epub_tocdup = False
epub_tocscope = "includehidden"
epub_uid = "book"
