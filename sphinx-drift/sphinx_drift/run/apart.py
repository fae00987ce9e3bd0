"""Runs a server under another package's name: ``python -P apart.py run.fork_server``.

Pages and builds are forked from servers that live for long. A child inherits every module that its
server has imported, so a server that had imported anything of the book's project would have its
children run that as it was when the server started; and the checker itself may be the project.
Here the server's own files are parts of ``_sphinx_drift``. The name ``sphinx_drift`` is left to the
child, which imports it as it is by then, if it needs it.
"""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path


def command(module: str, *arguments: str) -> list[str]:
    """Return the command line that runs the ``main`` of a module apart."""
    return [sys.executable, "-P", str(Path(__file__)), module, *arguments]


def _main() -> None:
    package = types.ModuleType("_sphinx_drift")  # its `__init__` is not run
    package.__path__ = [str(Path(__file__).parents[1])]
    sys.modules[package.__name__] = package
    importlib.import_module(f"{package.__name__}.{sys.argv[1]}").main(sys.argv[2:])


if __name__ == "__main__":
    _main()
