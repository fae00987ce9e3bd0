"""What the book's extensions use beyond promises: each fails here with what to do."""

from __future__ import annotations

import pytest
from private_api import Use, problem

LINKS = "docs/_ext, links in cells: find how sphinx-codeautolink now finds the names in a block"
WRITTEN = "docs/_ext, pages to be written again: find where Sphinx now keeps its numbers"

USES = [
    Use("sphinx-codeautolink", "sphinx_codeautolink.extension:SphinxCodeAutoLink.make_inventory",
        LINKS, ("app",)),
    Use("sphinx-codeautolink", "sphinx_codeautolink.extension:resolve", LINKS),
    Use("sphinx-codeautolink", "sphinx_codeautolink.extension.block:CodeBlockAnalyser", LINKS),
    Use("sphinx-codeautolink", "sphinx_codeautolink.extension.block:construct_name_pattern", LINKS),
    Use("sphinx-codeautolink", "sphinx_codeautolink.extension.block:format_title", LINKS),
    Use("sphinx-exercise", "sphinx_exercise.nodes:exercise_enumerable_node",
        "docs/_ext, folded solutions: find what nodes sphinx-exercise now leaves"),
    Use("sphinx", "sphinx.ext.intersphinx:InventoryAdapter",
        "docs/_ext, links of names: find what intersphinx now keeps", ("env",),
        ("main_inventory",)),
    Use("sphinx", "sphinx.environment:BuildEnvironment.__init__", WRITTEN,
        names=("toc_secnumbers", "toc_fignumbers", "files_to_rebuild", "tocs")),
]  # fmt: skip


@pytest.mark.parametrize("use", USES, ids=lambda use: use.name)
def test_it_is_what_it_was(use: Use) -> None:
    assert problem(use) == "", f"{use.package} has changed {use.name}. To do: {use.remedy}"
