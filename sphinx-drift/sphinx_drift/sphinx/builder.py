"""The builder ``drift``: it runs and judges every page, and writes nothing but the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx import version_info
from sphinx.builders import Builder

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet


class DriftBuilder(Builder):
    """Runs and checks every page and writes nothing but the report: ``sphinx-build -b drift``."""

    name = "drift"
    epilog = "The report is in %(outdir)s: drift.txt and drift.json."
    allow_parallel = True

    def get_outdated_docs(self) -> set[str]:
        """Return nothing: pages are checked as they are read."""
        return set()

    def get_target_uri(self, docname: str, typ: str | None = None) -> str:
        """Return nothing: there is nothing to link to."""
        return ""

    def write_documents(self, docnames: AbstractSet[str]) -> None:
        """Write nothing."""

    if version_info < (8, 1):  # it has no `write_documents`, and resolves each page to write it

        def write(self, *_: object, **__: object) -> None:  # type: ignore[misc]  # final by now
            """Write nothing."""
