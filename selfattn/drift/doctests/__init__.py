"""Run the examples of docstrings through the same comparison as pages.

As a command it checks every module of the packages, and the text files, that it is given::

    python -m selfattn.drift.doctests selfattn README.md

pytest does the same with ``-p selfattn.drift.pytest_plugin --drift-doctests``, and in any other
suite ``doctest.DocTestRunner(checker=selfattn.drift.doctests.Checker())`` is all that is needed.
"""

import sys

from selfattn.drift.extra import needed_by

with needed_by(
    "selfattn.drift.doctests", SystemExit if sys.argv[:1] == ["-m"] else ModuleNotFoundError
):
    from selfattn.drift.doctests.examples import (
        Checker,
        Examples,
        check_examples,
        check_module,
        check_text,
        compare_example,
        examples_of_module,
        examples_of_text,
    )

__all__ = [
    "Checker",
    "Examples",
    "check_examples",
    "check_module",
    "check_text",
    "compare_example",
    "examples_of_module",
    "examples_of_text",
]
