"""What each kind of outcome means on a page, in a notebook and in docstrings, and its remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx_drift.compare.outcomes import Kind

if TYPE_CHECKING:
    from sphinx_drift.compare.outcomes import PageResult

_OF_NOTEBOOKS = {
    Kind.UNDOCUMENTED: (
        "a cell prints and the notebook has no output of it",
        "run the notebook and save it with its outputs",
    ),
    Kind.NO_OUTPUT: (
        "the notebook has an output of a cell that printed nothing",
        "run the notebook and save it with its outputs",
    ),
    Kind.RAISED: (
        "a cell raised an error that the notebook doesn't have among its outputs",
        "mend the cell, or save the notebook with the error",
    ),
    Kind.NOT_RAISED: (
        "a cell didn't raise the error that the notebook has among its outputs",
        "mend the cell, or save the notebook with what it prints now",
    ),
    Kind.NOT_EXECUTED: (Kind.NOT_EXECUTED.meaning, "mend what stopped the notebook before it"),
    Kind.UNREADABLE: (Kind.UNREADABLE.meaning, "mend the file: it must be a notebook in JSON"),
    Kind.UNREPEATABLE: (
        Kind.UNREPEATABLE.meaning,
        "seed the generator in the same cell, or print what repeats",
    ),
    Kind.NESTED: (
        "a cell or an expectation stands in the text of a notebook, where nothing reads it",
        "delete it: what the notebook documents are the outputs that it has stored",
    ),
}
"""Other wording for notebooks, which have no expectations to write options in."""
_OF_OUTPUTS = (Kind.UNDOCUMENTED, Kind.RAISED, Kind.NESTED)
_OF_DOCSTRINGS = {
    Kind.UNDOCUMENTED: (
        "an example prints and nothing is documented below it",
        "write below it what it prints, or give the value a name",
    ),
    Kind.UNCHECKED: ("the example is skipped", ""),
    Kind.RAISED: (
        "an example raised an error that it doesn't document",
        "mend the example, or write the traceback below it",
    ),
    Kind.DEAD_KERNEL: (
        "the process ended in an example",
        "run the example alone to see why: it exits, is killed, or crashes in compiled code",
    ),
    Kind.UNREADABLE: (
        "a module can't be imported, or a docstring can't be read",
        "mend what the message names",
    ),
    Kind.NOTHING_CHECKED: (
        "there is no example",
        "write one that prints something that matters, or don't name what has none",
    ),
}
"""Other wording for docstrings."""
_STORES_NOTHING = (
    "make it a MyST page or a notebook: a format of nb_custom_formats stores no outputs"
)


def meaning_and_remedy(page: PageResult, kind: Kind) -> tuple[str, str]:
    """Return what a kind of outcome means on a page, in a notebook or in docstrings."""
    default = (kind.meaning, kind.remedy)
    if page.stored:
        if kind in _OF_OUTPUTS and not page.file.lower().endswith(".ipynb"):
            return _OF_NOTEBOOKS[kind][0], _STORES_NOTHING
        return _OF_NOTEBOOKS.get(kind, default)
    return _OF_DOCSTRINGS.get(kind, default) if page.examples else default
