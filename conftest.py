"""Which copy is tested, and which tests run only when asked for by name.

Tests in a browser need more than the others.
"""

import importlib.util
import os
import signal
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent
BROWSER = ROOT / "tests" / "browser"
# Tests share the cores: a thread of torch's that waits for others sleeps.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def pytest_configure() -> None:
    """Refuse to test another copy, and let what tests start hear Ctrl-C.

    A shell has what it starts in the background ignore it.
    """
    refuse_elsewhere("selfattn", ROOT)
    for package, folder in (("sphinx_drift", "sphinx-drift"), ("forked_kernels", "forked-kernels")):
        refuse_elsewhere(package, ROOT / "packages" / folder)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def refuse_elsewhere(package: str, root: Path) -> None:
    """Refuse to run if a package would be imported from elsewhere than a folder.

    An editable environment that was copied along with the tree imports that of the old one.
    """
    spec = importlib.util.find_spec(package)  # nothing is imported
    if spec is None or not spec.origin:
        return  # tests in a browser need no package
    found = Path(spec.origin).resolve().parents[1]
    if found != root:
        raise pytest.UsageError(
            f"expected {package} from {root}, got it from {found}: "
            "these tests would test another copy; install this one: "
            f"{sys.executable} -m pip install --no-deps --editable {root}"
        )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Pass by the tests in a browser, unless the command line names them."""
    named = any("browser" in Path(word.split("::")[0]).parts for word in config.args)
    return True if collection_path == BROWSER and not named else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the tests of devices begin: autograd counts devices when it first runs in a process."""
    items.sort(key=lambda item: item.path.name != "test_devices.py")
