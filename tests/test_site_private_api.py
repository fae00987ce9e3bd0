"""What the book's extensions use beyond promises: each fails here with what to do."""

from __future__ import annotations

import pytest
from private_api import Use, problem

LINKS = "docs/_ext, links in cells: find how sphinx-codeautolink now finds the names in a block"
MATHEMATICS = "docs/_ext, formulas: find what writes MathML now, and how a formula is numbered"
OUTPUTS = "docs/_ext, what a page ran: find where MyST-NB now keeps it"
SOLUTIONS = "docs/_ext, folded solutions: find what nodes sphinx-exercise now leaves"
WRITTEN = "docs/_ext, pages to be written again: find where Sphinx now keeps its numbers"

USES = [
    Use("sphinx-codeautolink", "sphinx_codeautolink.extension:SphinxCodeAutoLink.make_inventory",
        LINKS, ("app",)),
    Use("sphinx-codeautolink", "sphinx_codeautolink.extension:resolve", LINKS),
    Use("sphinx-codeautolink", "sphinx_codeautolink.extension.block:CodeBlockAnalyser", LINKS),
    Use("sphinx-codeautolink", "sphinx_codeautolink.extension.block:construct_name_pattern", LINKS),
    Use("sphinx-codeautolink", "sphinx_codeautolink.extension.block:format_title", LINKS),
    Use("sphinx-codeautolink", "sphinx_codeautolink.parse:Name", LINKS),
    Use("sphinx-exercise", "sphinx_exercise.nodes:exercise_enumerable_node", SOLUTIONS),
    Use("sphinx-exercise", "sphinx_exercise.nodes:exercise_node", SOLUTIONS),
    Use("sphinx-exercise", "sphinx_exercise.nodes:solution_node", SOLUTIONS),
    Use("docutils", "docutils.utils.math.latex2mathml:tex2mathml", MATHEMATICS,
        ("tex_math", "as_block")),
    Use("myst-nb", "myst_nb.sphinx_ext:OUTPUT_FOLDER", OUTPUTS),
    Use("myst-nb", "myst_nb.sphinx_:NbMetadataCollector.get_exec_data", OUTPUTS,
        ("env", "docname")),
    Use("sphinx", "sphinx.util.math:get_node_equation_number", MATHEMATICS, ("writer", "node")),
    Use("sphinx", "sphinx.util.nodes:get_node_source", MATHEMATICS, ("node",)),
    Use("sphinx", "sphinx.util.nodes:explicit_title_re",
        "docs/_ext, moved pages: find what tells a title from its target now"),
    Use("sphinx", "sphinx.environment.adapters.toctree:global_toctree_for_doc",
        "docs/_ext, the list of pages: find what makes the whole tree now",
        ("env", "docname", "builder", "tags", "includehidden")),
    Use("sphinx", "sphinx.search.en:SearchEnglish.stopwords",
        "docs/_ext, the search: find where Sphinx now keeps its stop words"),
    Use("sphinx", "sphinx.ext.intersphinx:InventoryAdapter",
        "docs/_ext, links of names: find what intersphinx now keeps", ("env",),
        ("main_inventory",)),
    Use("sphinx", "sphinx.environment:BuildEnvironment.__init__", WRITTEN,
        names=("toc_secnumbers", "toc_fignumbers", "files_to_rebuild", "tocs")),
]  # fmt: skip


@pytest.mark.parametrize("use", USES, ids=lambda use: use.name)
def test_it_is_what_it_was(use: Use) -> None:
    assert problem(use) == "", f"{use.package} has changed {use.name}. To do: {use.remedy}"
