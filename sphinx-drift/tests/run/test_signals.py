"""A page ends by the signals that its build ends by, and ignores those that its build ignores."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import small_book

from sphinx_drift.run import fork_client

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runners import Pages

CONF = 'extensions = ["myst_nb", "sphinx_drift.run"]\n'
PAGE = (
    small_book.FRONT
    + """# A page

```{code-cell} ipython3
import os, signal
open("begun", "w").close()
os.kill(os.getpid(), signal.SIGHUP)
open("ended", "w").close()
```
"""
)
HANDLERS = "import signal\nfor number in (signal.SIGHUP, signal.SIGTERM):\n"
HANDLERS += "    print(signal.getsignal(number).name)"


@contextmanager
def inherited(handler: signal.Handlers) -> Iterator[None]:
    """Start processes as a shell does, or as `nohup` does."""
    numbers = {signal.SIGHUP: handler, signal.SIGTERM: signal.SIG_DFL}
    before = {number: signal.signal(number, chosen) for number, chosen in numbers.items()}
    try:
        yield
    finally:
        for number, chosen in before.items():
            signal.signal(number, chosen)


def test_page_of_a_build_under_nohup_is_not_hung_up(tmp_path: Path) -> None:
    source = small_book.write(tmp_path, {"conf.py": CONF, "index": PAGE})
    with inherited(signal.SIG_IGN):
        result = small_book.build(tmp_path, "dummy")
    assert result.returncode == 0, result.stderr
    assert (source / "ended").exists()


def test_page_of_a_plain_build_is_hung_up(tmp_path: Path) -> None:
    source = small_book.write(tmp_path, {"conf.py": CONF, "index": PAGE})
    with inherited(signal.SIG_DFL):
        result = small_book.build(tmp_path, "dummy")
    assert result.returncode == 1
    assert "killed by SIGHUP" in result.stderr
    assert (source / "begun").exists()
    assert not (source / "ended").exists()


@pytest.mark.parametrize("preloaded", [("json",), ("loud_module", "json")], ids=["once", "twice"])
@pytest.mark.parametrize("handler", [signal.SIG_DFL, signal.SIG_IGN])
def test_fork_server_hands_on_what_it_inherited(
    handler: signal.Handlers,
    preloaded: tuple[str, ...],
    pages: Pages,
    shown: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A fork server starts a second time if a module says something that pages must show."""
    (pages.folder / "loud_module.py").write_text("print('loud')\n")
    monkeypatch.setenv("PYTHONPATH", str(pages.folder), prepend=":")
    monkeypatch.setattr(fork_client, "_preloaded", preloaded)
    monkeypatch.setattr(fork_client, "_servers", {})
    with inherited(handler):
        notebook, _ = pages.fork(HANDLERS)
        fork_client.close()
    assert shown(notebook.cells[1]) == f"{handler.name}\nSIG_DFL\n"
