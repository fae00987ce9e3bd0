"""Run the examples of docstrings through the same comparison as pages.

``python -m sphinx_drift.doctests yourpackage README.md`` checks every module of the packages, and
the text files; ``pytest -p sphinx_drift.pytest_plugin --drift-doctests`` does so in pytest; and
elsewhere ``doctest.DocTestRunner(checker=sphinx_drift.doctests.Checker())`` is all that it takes.
"""

from sphinx_drift.doctests.examples import Checker

__all__ = ["Checker"]
