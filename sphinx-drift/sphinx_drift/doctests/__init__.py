"""Run the examples of docstrings through the same comparison as pages.

As a command it checks every module of the packages, and the text files, that it is given::

    python -m sphinx_drift.doctests yourpackage README.md

pytest does the same with ``-p sphinx_drift.pytest_plugin --drift-doctests``, and in any other
suite ``doctest.DocTestRunner(checker=sphinx_drift.doctests.Checker())`` is all that is needed.
"""

from sphinx_drift.doctests.examples import Checker

__all__ = ["Checker"]
