"""A book that is served while it is written: each save is built, verified, told and shown."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest
from processes import wait_until
from small_book import FRONT, write

from sphinx_drift import live

ROOT = Path(__file__).resolve().parents[1]  # the checker's folder
PATIENCE = 300
SERVING = re.compile(r"Serving on http://(\S+)")
PAGE = """
# A page

First sentence.

```{code-cell} python
import helping
print(helping.NUMBER)
```

```{expected-output}
1.2346
```
"""


VARIABLES = {**os.environ, "CI": "", "PYTHONUNBUFFERED": "1"}  # its log is read while it runs


class Session:
    """A session in a process of its own, with all that it has printed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._log = folder / "log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "sphinx_drift.live", "docs", "site", "--watch", "lib"],
                cwd=folder,
                env={**VARIABLES, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder / 'lib'}"},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._builds = 0
        self.built()
        wait_until(self.serves)  # it says where before it does

    def serves(self) -> bool:
        with contextlib.suppress(OSError):
            return bool(self.shown())
        return False

    @property
    def texts(self) -> list[str]:
        """What each build has printed, once it is done, and what came since."""
        assert self.process.poll() is None, self._log.read_text("utf-8")
        return re.split(SERVING, self._log.read_text("utf-8"))[::2]

    def built(self) -> str:
        """Wait for the next build, and return what it printed."""
        self._builds += 1
        wait_until(lambda: len(self.texts) > self._builds)
        return self.texts[self._builds - 1]

    @property
    def host(self) -> str:
        served = SERVING.search(self._log.read_text("utf-8"))
        assert served
        return re.sub(r"\x1b.*", "", served[1])

    def shown(self) -> str:
        with urlopen(f"http://{self.host}/") as answer:
            return str(answer.read().decode("utf-8"))

    def save(self, path: Path, old: str, new: str) -> str:
        """Save a file, and return what the build printed."""
        path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")
        return self.built()


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Serve a book, which each test leaves as it was."""
    with serving(tmp_path_factory.mktemp("live")) as session:
        yield session


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[Session]:
    files = {
        "docs/conf.py": "extensions = ['myst_nb', 'sphinx_drift']\nhtml_theme = 'basic'\n",
        "docs/index.md": FRONT + PAGE,
        "lib/helping.py": "NUMBER = 1.2346\n",
        "pyproject.toml": "[tool.sphinx-drift]\n",
    }
    session = Session(write(folder, files))
    try:
        yield session
    finally:
        session.process.kill()
        session.process.wait()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("docs/index.md", "}\n1.2346", "}\n1.2345", "documented 1.2345, executed 1.2346"),
        ("lib/helping.py", "1.2346", "1.2347", "executed 1.2347"),
        ("pyproject.toml", "drift]\n", "drift]\nother = 1\n", "got 'other'"),
    ],
)
def test_a_save_is_told_and_shown(
    file: str, old: str, new: str, told: str, session: Session
) -> None:
    assert told in session.save(session.folder / file, old, new)
    assert ("drift-mark drift-drift" in session.shown()) is ("executed" in told)
    assert "1 output verified" in session.save(session.folder / file, new, old)
    assert "drift-mark drift-drift" not in session.shown()


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_stays_behind(ending: signal.Signals, tmp_path: Path) -> None:
    with serving(tmp_path) as session:
        children = psutil.Process(session.process.pid).children(recursive=True)
        session.process.send_signal(ending)
        session.process.wait(PATIENCE)
        _, alive = psutil.wait_procs(children, timeout=PATIENCE)
        assert alive == []


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "there is no conf.py in"),
        ({"conf.py": "", "pyproject.toml": "[tool.sphinx-drift]\nother = 1"}, "got 'other'"),
    ],
)
def test_what_cannot_be_built_is_refused(
    files: dict[str, str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    assert live.main([str(tmp_path), str(tmp_path / "site")]) == 2
    assert reason in capsys.readouterr().err
