"""What `--update` is to write into a file, for its two formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nbformat import NotebookNode

    from sphinx_drift.model import Outcome, Page
    from sphinx_drift.output.filters import Filter


class Fixes(NamedTuple):
    """What is to be written into a file."""

    page: Page
    """What it documents."""
    executed: NotebookNode
    """Its notebook, as it was run."""
    outcomes: Sequence[Outcome]
    """What new outputs fix."""
    reasons: Mapping[int, str]
    """Why outputs can't be checked, by the numbers of their cells."""
    filters: Sequence[Filter]
    """What is never written as it was printed."""
