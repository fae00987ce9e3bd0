"""Settings of the book."""

import os
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
PROJECT = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text("utf-8"))
TORCH = PROJECT["tool"]["sphinx-drift"]["reference"]["torch"]
TORCH_MINOR = TORCH.rpartition(".")[0]  # such as 2.13

project = "Self-attention, verified"
author = "The selfattn authors"
version = metadata.version("selfattn")  # to import it would load torch
copyright = "the selfattn authors, Apache-2.0"

extensions = [
    "myst_nb",
    "notfound.extension",
    "sphinx_drift",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx_book_theme",  # its directives, in the e-book too
    "sphinx_design",
    "sphinx_reredirects",
    "sphinxcontrib.bibtex",
    "sphinxext.opengraph",
    "diagnosis",
    "explorer",
    "export",
    "figures",
    "reference",
    "website",
]
exclude_patterns = ["_build", "_contributing", "_ext", "_themes", "_tools"]
drift_require = "all"
nitpicky = True

# Pages
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath", "substitution"]
myst_substitutions = {"torch": TORCH}
myst_heading_anchors = 3
myst_url_schemes = {
    "http": None,
    "https": None,
    "mailto": None,
    "manual": "../sphinx-drift/{{path}}.html",  # from pages one folder down
}
myst_update_mathjax = False

# Links
autodoc_member_order = "bysource"
bibtex_bibfiles = ["references.bib"]
bibtex_reference_style = "author_year"
codeautolink_concat_default = True
codeautolink_global_preface = "import torch\nfrom torch import nn"  # listings leave these out
codeautolink_inventory_map = {  # where Python knows a name -> where it is documented
    "random.Random.seed": "random.seed",
    "torch._C._linalg.linalg_svd": "torch.linalg.svd",
    "torch._C._nn.gelu": "torch.nn.functional.gelu",
    "torch._VariableFunctionsClass.full_like": "torch.full_like",
    "torch._VariableFunctionsClass.maximum": "torch.maximum",
    "torch._VariableFunctionsClass.multinomial": "torch.multinomial",
    "torch._VariableFunctionsClass.ones_like": "torch.ones_like",
    "torch._VariableFunctionsClass.randint": "torch.randint",
    "torch._VariableFunctionsClass.zeros_like": "torch.zeros_like",
    "torch._tensor.Tensor.backward": "torch.Tensor.backward",
    "torch.autograd.grad_mode.no_grad": "torch.no_grad",
    "torch.functional.cartesian_prod": "torch.cartesian_prod",
    "torch.functional.cdist": "torch.cdist",
    "torch.nn.Parameter": "torch.nn.parameter.Parameter",
    "torch.nn.attention._SDPBackend": "torch.nn.attention.SDPBackend",
    "torch.nn.attention._SDPBackend.EFFICIENT_ATTENTION": "torch.nn.attention.SDPBackend",
    "torch.nn.attention._SDPBackend.FLASH_ATTENTION": "torch.nn.attention.SDPBackend",
    "torch._VariableFunctionsClass.where": "torch.where",
    "torch.nn.modules.activation.GELU": "torch.nn.GELU",
    "torch.nn.modules.activation.MultiheadAttention": "torch.nn.MultiheadAttention",
    "torch.nn.modules.container.ModuleList": "torch.nn.ModuleList",
    "torch.nn.modules.container.Sequential": "torch.nn.Sequential",
    "torch.nn.modules.dropout.Dropout": "torch.nn.Dropout",
    "torch.nn.modules.linear.Linear": "torch.nn.Linear",
    "torch.nn.modules.module.Module": "torch.nn.Module",
    "torch.nn.modules.module.Module.eval": "torch.nn.Module.eval",
    "torch.nn.modules.module.Module.named_children": "torch.nn.Module.named_children",
    "torch.nn.modules.module.Module.parameters": "torch.nn.Module.parameters",
    "torch.nn.modules.module.Module.requires_grad_": "torch.nn.Module.requires_grad_",
    "torch.nn.modules.module.Module.train": "torch.nn.Module.train",
    "torch.nn.modules.normalization.LayerNorm": "torch.nn.LayerNorm",
    "torch.nn.modules.sparse.Embedding": "torch.nn.Embedding",
    "torch.optim.adam.Adam.step": "torch.optim.Optimizer.step",
    "torch.optim.adamw.AdamW": "torch.optim.AdamW",
    "torch.optim.optimizer.Optimizer.zero_grad": "torch.optim.Optimizer.zero_grad",
    "torch.optim.swa_utils": "torch.optim.swa_utils.AveragedModel",
    "torch.optim.swa_utils.get_ema_multi_avg_fn": "torch.optim.swa_utils.AveragedModel",
    "torch.random.manual_seed": "torch.manual_seed",
}
# Python's own names and variables, which would lead to their class, are no links.
codeautolink_inventory_map |= dict.fromkeys(
    ("bool", "int", "list", "str", "tuple", "RuntimeError", "ValueError", "torch.Tensor"), ""
)
intersphinx_mapping = {
    # A build needs no network: the names that the book uses lie in files, a line each.
    "python": ("https://docs.python.org/3/", "_data/inventory/python.txt"),
    "torch": (f"https://docs.pytorch.org/docs/{TORCH_MINOR}/", "_data/inventory/torch.txt"),
}
redirects = {  # a page that moved: where it is now, from the top of the site
    "companions/any-device": "/reference/any-device.html",
    "companions/blocks": "/companions/one-call.html#tiles",
    "companions/grouped-query": "/companions/kv-cache.html#grouped-query",
    "companions/how-it-was-trained": "/self-attention/training.html",
    "companions/long-context": "/companions/positions.html#beyond-the-trained-length",
    "companions/padding": "/companions/masks.html#padding",
    "companions/sliding-windows": "/companions/kv-cache.html#windows",
    "companions/not-explanations": "/companions/seeds-and-controls.html#what-each-word-adds",
    "companions/cross-attention": "/companions/small-gpt.html#attending-to-another-text",
    "companions/to-an-llm": "/companions/since-2019.html",
    "companions/transformer-block": "/companions/small-gpt.html#the-block",
    "companions/thirteen-words": "/reference/thirteen-words.html",
    "companions/three-matrices": (
        "/companions/queries-keys-values.html#does-attention-need-three-matrices"
    ),
    "companions/without-the-root": (
        "/companions/why-scale.html#does-attention-learn-without-the-root"
    ),
}
redirect_html_template_file = "_templates/redirect.html"  # valid, and readable without a script
linkcheck_ignore = [r"\.\./sphinx-drift/"]  # the tests follow links within the site
napoleon_numpy_docstring = False

# The site
html_theme = "selfattn"  # docs/_themes/selfattn, which inherits sphinx_book_theme
html_theme_path = ["_themes"]
html_baseurl = os.environ.get("READTHEDOCS_CANONICAL_URL", "")  # where the site is published
html_title = "Self-attention, verified"
ogp_site_url = html_baseurl
ogp_image = "_static/card.png"  # `nox -s browser -- tests/browser/test_picture.py --draw` draws it
ogp_image_alt = "The figure of the first page: a trained model looks back from now to dogs."
html_math_renderer = "mathml"
html_permalinks_icon = '<span aria-hidden="true">#</span>'  # so that a link is called by its title
html_static_path = ["_static"]
html_favicon = "_static/favicon.svg"
html_copy_source = False
html_show_sourcelink = False
html_domain_indices = False
html_show_search_summary = False  # it would fetch pages
notfound_context = {"title": "Page not found"}
notfound_template = "404.html"
notfound_urls_prefix = urlsplit(html_baseurl).path or "/"
templates_path = ["_templates"]

# The e-book
epub_basename = "selfattn"
epub_contributor = author
epub_cover = ("_static/card.png", "")
epub_description = "Self-attention with trainable weights, built in PyTorch and verified."
epub_exclude_files = [f"{page}.xhtml" for page in redirects]
epub_identifier = "urn:uuid:5d1e5f0a-3c9c-5b0e-9a52-6c6b0f6d9a31"
epub_scheme = "UUID"
epub_show_urls = "no"
epub_title = html_title
epub_tocdepth = 4  # pages below those that the sidebar ends with
epub_tocdup = False
epub_tocscope = "includehidden"
epub_uid = "book"
