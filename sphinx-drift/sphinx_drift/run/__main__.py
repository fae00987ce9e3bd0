"""The command: ``sphinx-build``, with the pages' process started first: both load side by side.

``python -m sphinx_drift.run install`` writes a kernelspec whose kernels are forked, for Jupyter.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

_BETWEEN_COLLECTIONS = 200_000
"""New objects between two runs of the garbage collector; Python's own number is 2,000 at most."""


def collect_rarely() -> None:
    """Run the garbage collector rarely, since a build keeps nearly all that it allocates.

    With Python's own thresholds it takes a fifth of a build's time. Processes that Sphinx forks
    leave out what they inherit: to traverse it would copy it.
    """
    gc.set_threshold(_BETWEEN_COLLECTIONS, 20, 100)
    if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
        os.register_at_fork(after_in_child=gc.freeze)


def install(words: list[str]) -> None:
    """Write the specification of a kernel like this Python's, but forked."""
    from ipykernel.kernelspec import write_kernel_spec  # noqa: PLC0415 - only this needs Jupyter
    from jupyter_client.kernelspec import KernelSpecManager  # noqa: PLC0415 - the same

    parser = argparse.ArgumentParser("python -m sphinx_drift.run install")
    parser.add_argument("--name", default="forked", help="the kernel's name (forked)")
    parser.add_argument("--preload", default="", help="libraries to load once, such as numpy,torch")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true", help="for this user, not this environment")
    where.add_argument("--prefix", default=sys.prefix, help="the environment (this one)")
    options = parser.parse_args(words)
    provisioner = {
        "provisioner_name": "forked",
        "config": {"preload": [name for name in options.preload.split(",") if name]},
    }
    extra = {
        "display_name": f"Python 3 ({options.name})",
        "metadata": {"debugger": False, "kernel_provisioner": provisioner},
    }
    with TemporaryDirectory() as scratch:
        folder = write_kernel_spec(Path(scratch, options.name), overrides=extra)
        prefix = None if options.user else options.prefix
        manager = KernelSpecManager()
        print(manager.install_kernel_spec(folder, options.name, user=options.user, prefix=prefix))


def build(words: list[str]) -> int:
    """Run ``sphinx-build``."""
    from sphinx_drift.configuration import find_project  # noqa: PLC0415 - only this needs it
    from sphinx_drift.run import host  # noqa: PLC0415 - the same
    from sphinx_drift.run.choice import chosen  # noqa: PLC0415 - the same

    if chosen() != "off":
        books = [Path(word) for word in words if Path(word, "conf.py").is_file()]
        project = find_project(books[0] if books else Path())
        host.preload(project.libraries(books))
        host.start()
    collect_rarely()
    from sphinx.cmd.build import main  # noqa: PLC0415 - after the process that runs pages

    return main(words)


if __name__ == "__main__":
    try:
        if sys.argv[1:2] == ["install"]:
            install(sys.argv[2:])
        else:
            sys.exit(build(sys.argv[1:]))
    except ValueError as error:
        sys.exit(f"sphinx_drift.run: {error}")
