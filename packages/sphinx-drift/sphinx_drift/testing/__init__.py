"""Docstrings, pages and notebooks as tests: of pytest, or of the standard library's runner.

``pytest --drift-doctests yourpackage README.md`` checks every module
of a package, and text files; elsewhere
``doctest.DocTestRunner(checker=sphinx_drift.testing.Checker())`` is all that it takes.
"""

from sphinx_drift.testing.examples import Checker

__all__ = ["Checker"]
