"""What the book's extensions use beyond promises: each fails here with what to do."""

import pytest
from private_api import Use, problem

MATHEMATICS = "docs/_ext, formulas: find what writes MathML now, and how a formula is numbered"
OUTPUTS = "docs/_ext, what a page ran: find where MyST-NB now keeps it"
SOLUTIONS = "docs/_ext, folded solutions: find what nodes sphinx-exercise now leaves"

USES = [
    Use("sphinx-exercise", "sphinx_exercise.nodes:exercise_node", SOLUTIONS),
    Use("sphinx-exercise", "sphinx_exercise.nodes:solution_node", SOLUTIONS),
    Use("docutils", "docutils.utils.math.latex2mathml:tex2mathml", MATHEMATICS,
        ("tex_math", "as_block")),
    Use("myst-nb", "myst_nb.sphinx_ext:OUTPUT_FOLDER", OUTPUTS),
    Use("myst-nb", "myst_nb.sphinx_:NbMetadataCollector.get_exec_data", OUTPUTS,
        ("env", "docname")),
    Use("sphinx", "sphinx.util.nodes:traverse_parent",
        "docs/_ext/website/outputs.py: find how Sphinx goes up from a node", ("node", "cls")),
    Use("sphinx", "sphinx.util:parselinenos",
        "docs/_ext, listings: find how Sphinx reads the option emphasize-lines", ("spec", "total")),
]  # fmt: skip


@pytest.mark.parametrize("use", USES, ids=lambda use: use.name)
def test_it_is_what_it_was(use: Use) -> None:
    assert problem(use) == "", f"{use.package} has changed {use.name}. To do: {use.remedy}"
