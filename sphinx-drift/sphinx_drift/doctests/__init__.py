"""Run the examples of docstrings through the same comparison as pages.

``pytest --drift-doctests yourpackage README.md`` checks every module
of a package, and text files; elsewhere
``doctest.DocTestRunner(checker=sphinx_drift.doctests.Checker())`` is all that it takes.
"""

from sphinx_drift.doctests.examples import Checker

__all__ = ["Checker"]
