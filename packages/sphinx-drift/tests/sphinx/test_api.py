"""What the extensions of a book may use of the checker."""

import pickle
from collections.abc import Callable
from typing import Any

import pytest
from small_book import cell

from conftest import Book
from sphinx_drift import api

EXTENSION = """
import types
from sphinx_drift import api
from sphinx_drift.run.results import OWN_ANSWERS

def counts():
    from IPython import get_ipython
    return get_ipython().counts

def setup(app):
    def start_counting():
        from IPython import get_ipython
        shell = get_ipython()
        shell.counts = []
        shell.events.register("post_run_cell", lambda *_: shell.counts.append(shell.user_ns["a"]))

    api.add_probe(app, before=start_counting, after=counts)
    for name in ("counts", *OWN_ANSWERS):
        try:
            api.add_probe(app, after=types.FunctionType(counts.__code__, {}, name))
        except ValueError as error:
            assert "rename" in str(error)
        else:
            raise AssertionError(name)
    for lambdas in ({"after": lambda: 1}, {"before": lambda: 1, "after": start_counting}):
        try:
            api.add_probe(app, **lambdas)
        except ValueError as error:
            assert "a lambda has no name" in str(error)
        else:
            raise AssertionError(lambdas)
    return {"parallel_read_safe": True}
"""
OTHER = "# Other\n\nNo cells, but {printed}`list[1]`.\n\n```{toctree}\nindex\n```"


@pytest.fixture(scope="module")
def env(make_book: Callable[[], Book]) -> Any:
    book = make_book()
    book.configure(
        f"import sys; sys.path.insert(0, {str(book.folder)!r})",
        extensions=["myst_nb", "sphinx_drift", "counting"],
        root_doc="other",
    )
    (book.folder / "counting.py").write_text(EXTENSION)
    book.write(
        "index.md",
        "# Counts",
        cell("a = 1"),
        cell("a = [2, 0.5]\nprint(a, a[1])", ":name: list\n[2, 0.5] 0.5"),
        cell("def start_counting():\n    pass\nprint('counts' in globals())", "False"),
    )
    book.write("other.md", OTHER, front=False)
    built = book.build("-n", "-W", "-j", "2", builder="html")
    assert built.status == 0, built.stderr
    return pickle.loads((built.doctrees / "environment.pickle").read_bytes())  # noqa: S301 - ours


def test_a_probe_reports_what_the_one_run_made(env: Any) -> None:
    assert api.probed(env, "index") == {"counts": [1, [2, 0.5], [2, 0.5]]}
    assert api.probed(env, "other") == {}
    assert [outcome.kind for outcome in api.results(env)["index"].outcomes] == [
        api.Kind.VERIFIED,
        api.Kind.VERIFIED,
    ]


def test_a_quotation_leads_to_its_cell(env: Any) -> None:
    assert api.quoted(env, "list#3 .0%") == ("index", 2)
    assert api.quoted(env, "nothing") is None
    with pytest.raises(ValueError, match="expected `name`"):
        api.quoted(env, "list[")
