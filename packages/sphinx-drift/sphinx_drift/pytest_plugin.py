"""The options of pytest that make pages, notebooks and docstrings tests.

Pytest finds this plugin wherever the package is installed, so it imports nothing until an option
asks for it::

    pytest --drift docs notebooks
    pytest --drift-doctests src README.md

What is collected then is in `sphinx_drift.testing.items`.
"""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; without them nothing changes."""
    add = parser.getgroup("drift").addoption
    add(
        "--drift",
        action="store_true",
        help="run pages and notebooks, and compare what they print with what they document",
    )
    add(
        "--drift-doctests",
        action="store_true",
        help="run the examples of docstrings, compared as sphinx_drift compares pages",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Collect what the options ask for."""
    if config.option.drift or config.option.drift_doctests:
        from sphinx_drift.testing import items  # noqa: PLC0415 - not for other runs of pytest

        config.pluginmanager.register(items)
