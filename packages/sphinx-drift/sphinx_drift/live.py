"""Show a book in the browser while it is written: ``python -m sphinx_drift.live docs site``.

sphinx-autobuild watches the files, builds after each save, serves the pages and reloads them. What
is added here is a fork server that outlives the builds, so that libraries are loaded only once,
and the setting that has a build run only pages that changed, or whose files changed.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from forked_kernels import provisioner
from sphinx_drift.run.choice import page_environment
from sphinx_drift.run.preload import libraries
from sphinx_drift.settings import find_project, project_file


def main(arguments: Sequence[str] | None = None) -> int:
    """Build a book, serve it, and build it again after each save, until Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="python -m sphinx_drift.live",
        description=main.__doc__,
        epilog="Options after the folders are sphinx-autobuild's, such as --port and --watch.",
    )
    parser.add_argument("source", type=Path, help="the folder with conf.py and the pages")
    parser.add_argument("output", type=Path, help="the folder to build into")
    options, others = parser.parse_known_args(arguments)
    if not (options.source / "conf.py").is_file():
        return _refuse(f"there is no conf.py in {options.source}")
    try:
        autobuild = distribution("sphinx-autobuild").entry_points["sphinx-autobuild"].load()
        loaded = libraries(find_project(options.source).preload, [options.source])
    except PackageNotFoundError:
        return _refuse("it needs sphinx-autobuild: python -m pip install 'sphinx-drift[live]'")
    except ValueError as error:
        return _refuse(str(error))
    _start_fork_server(loaded)
    autobuild(_command(options.source, options.output, others))
    return 0


def _refuse(reason: str) -> int:
    print(f"sphinx_drift.live: {reason}", file=sys.stderr)
    return 2


def _command(source: Path, output: Path, others: Sequence[str]) -> list[str]:
    """Return the arguments of sphinx-autobuild."""
    project = project_file(source)
    return [
        "--port=0",  # a free one, unless another is asked for
        *others,
        *([f"--watch={project}"] if project else []),
        "--re-ignore=__pycache__",  # what a build imports is compiled
        *("-D", "drift_live=1"),
        *("-t", "live"),  # books leave out what only readers need
        *("-d", f"{output}-doctrees"),  # not among the files that are served
        *(str(source), str(output)),
    ]


def _start_fork_server(names: Sequence[str]) -> None:
    """Load libraries once, in a server that all builds use and that ends with this process."""
    os.environ.update(page_environment())  # kernels get the server's environment
    provisioner.start_server(names)


if __name__ == "__main__":
    sys.exit(main())
