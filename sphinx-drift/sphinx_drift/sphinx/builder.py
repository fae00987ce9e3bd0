"""The builder ``drift``: it runs and judges every page, and writes nothing but the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx import version_info
from sphinx.builders.dummy import DummyBuilder

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet


class DriftBuilder(DummyBuilder):
    """Runs and checks every page and writes nothing but the report: ``sphinx-build -b drift``."""

    name = "drift"
    epilog = "The report is in %(outdir)s: drift.txt and drift.json."

    def write_documents(self, docnames: AbstractSet[str]) -> None:
        """Write nothing."""

    if version_info < (8, 1):  # it has no `write_documents`, and resolves each page to write it

        def write(self, *_: object, **__: object) -> None:  # type: ignore[misc]  # final by now
            """Write nothing."""
