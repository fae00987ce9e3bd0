"""The command: write the specification of a kernel like this Python's, but forked, for Jupyter."""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from ipykernel.kernelspec import write_kernel_spec
from jupyter_client.kernelspec import KernelSpecManager

from forked_kernels.provisioner import NAME


def main() -> None:
    """Write the specification, and print where it is."""
    parser = argparse.ArgumentParser("python -m forked_kernels", description=__doc__)
    parser.add_argument("--name", default="forked", help="the kernel's name (forked)")
    parser.add_argument("--preload", default="", help="libraries to load once, such as numpy,torch")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true", help="for this user, not this environment")
    where.add_argument("--prefix", default=sys.prefix, help="the environment (this one)")
    options = parser.parse_args()
    provisioner = {
        "provisioner_name": NAME,
        "config": {"preload": options.preload.replace(",", " ").split()},
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


if __name__ == "__main__":
    main()
