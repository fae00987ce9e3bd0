"""Run Sphinx builds, each in a child forked from a process that has Sphinx loaded.

It reads a request a line: the folder to build in, where to put what is printed, the variables
to set, and the arguments of ``sphinx-build``. It answers each with the exit status.
"""

import json
import os
import sys

import myst_nb.sphinx_ext  # noqa: F401 - loaded once for all builds
import sphinx.cmd.build

import sphinx_drift.sphinx.setup  # noqa: F401 - loaded once for all builds
from forked_kernels import provisioner


def build(request: dict) -> int:
    os.chdir(request["folder"])
    os.environ.update(request["variables"])
    for stream, name in ((sys.stdout, "stdout"), (sys.stderr, "stderr")):
        with open(request[name], "wb") as file:  # noqa: PTH123 - its descriptor is wanted
            os.dup2(file.fileno(), stream.fileno())
    return sphinx.cmd.build.main(request["arguments"])


def main() -> None:
    """Answer requests until there are no more."""
    provisioner.start_server(("numpy", "torch"))  # the kernels of all builds are forked from it
    for line in sys.stdin:
        if not (child := os.fork()):
            sys.exit(build(json.loads(line)))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
