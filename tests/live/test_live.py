"""A live session of a small book: each save is built by itself, told, and nothing stays behind."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 300

CONF = """
import sys
from pathlib import Path
sys.path.insert(0, str(Path(__file__).parent))
extensions = ["myst_nb", "selfattn.drift", "shout"]
html_theme = "basic"
exclude_patterns = ["_build"]
"""
SHOUT = """
WORD = "loud"
def setup(app):
    app.connect("source-read", lambda app, name, text: text.__setitem__(0, text[0] + "\\n" + WORD))
"""
PAGE = """---
file_format: mystnb
kernelspec:
  name: python3
---

# A page

First sentence.

```{code-cell} ipython3
import helping
print(helping.NUMBER)
```

```{expected-output}
1.2346
```

Second sentence.
"""

pytestmark = pytest.mark.slow


class Live:
    """A session, and a browser on one of its pages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        command = [sys.executable, "-m", "selfattn.live", ".", "_build/live"]
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        self.port = int(first.split("/")[2].rpartition(":")[2])

    @contextmanager
    def get(self, path: str) -> Iterator[http.client.HTTPResponse]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request("GET", path)
        with closing(connection), connection.getresponse() as answer:
            yield answer

    def page(self) -> str:
        with self.get("/index.html") as answer:
            return answer.read().decode()

    def wait(self) -> str:
        """Return what the terminal shows of the next build."""
        assert self.process.stdout is not None
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if line[:2].isdigit() and line[2] == ":":
                break
        return "".join(lines)

    def end(self, how: signal.Signals) -> None:
        assert self.process.stdout is not None
        self.process.send_signal(how)
        self.process.stdout.read()
        self.process.stdout.close()
        self.process.wait()

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("book")
    (folder / "conf.py").write_text(CONF)
    (folder / "shout.py").write_text(SHOUT)
    (folder / "helping.py").write_text("NUMBER = 1.2346\n")
    (folder / "index.md").write_text(PAGE)
    live = Live(folder)
    live.wait()
    yield live
    if live.process.poll() is None:
        live.end(signal.SIGINT)


def failures(live: Live) -> list[dict[str, str]]:
    """Return what a browser is told that comes now."""
    with live.get("/-live/events?path=/nowhere&digest=") as events:
        events.readline()
        said = json.loads(events.readline().decode().removeprefix("data: "))
    found: list[dict[str, str]] = said["failures"]
    return found


def save(live: Live, name: str, old: str, new: str) -> str:
    """Change a file, and return what the terminal shows of the build."""
    path = live.folder / name
    text = path.read_text()
    assert old in text
    path.with_name(".new").write_text(text.replace(old, new))
    path.with_name(".new").rename(path)  # as many editors do
    told = live.wait()
    assert f" {name}, " in told
    return told


def unmarked(page: Path) -> str:
    """Return a page without checksums in links: Sphinx has not all files when it begins."""
    return re.sub(r"\?v=\w+", "", page.read_text())


class TestSaves:
    """One session for all: each test leaves the book as it was."""

    def test_the_first_build_is_served(self, live: Live) -> None:
        page = live.page()
        assert "First sentence." in page
        assert "1.2346" in page
        assert "/-live/page.js" in page
        assert failures(live) == []

    def test_a_save_changes_the_page(self, live: Live) -> None:
        told = save(live, "index.md", "First sentence.", "Another sentence.")
        assert "index.md" in told
        assert "Another sentence." in live.page()
        save(live, "index.md", "Another sentence.", "First sentence.")

    def test_a_drift_is_told_with_both_numbers_until_it_is_mended(self, live: Live) -> None:
        told = save(live, "index.md", "output}\n1.2346", "output}\n1.2345")
        (failure,) = failures(live)
        assert failure["title"] == "index.md:16: drift"
        assert "1.2345" in failure["text"]
        assert "1.2346" in failure["text"]
        assert failure["title"] in told
        save(live, "index.md", "output}\n1.2345", "output}\n1.2346")
        assert failures(live) == []

    def test_an_extension_of_the_book_is_imported_anew(self, live: Live) -> None:
        save(live, "shout.py", "loud", "LOUDER")
        save(live, "index.md", "First", "First of all, a")
        assert "LOUDER" in live.page()
        save(live, "shout.py", "LOUDER", "loud")
        save(live, "index.md", "First of all, a", "First")

    @pytest.mark.parametrize(
        ("name", "right", "wrong"),
        [("conf.py", "extensions = [", "extensions = [["), ("shout.py", "def setup", "deaf setup")],
    )
    def test_a_syntax_error_is_told_until_it_is_mended(
        self, live: Live, name: str, right: str, wrong: str
    ) -> None:
        save(live, name, right, wrong)
        (failure,) = failures(live)
        assert failure["title"] == "The build stopped"
        assert name in failure["text"]
        assert "First sentence." in live.page()
        save(live, name, wrong, right)
        assert failures(live) == []

    def test_a_warning_is_told(self, live: Live) -> None:
        save(live, "index.md", "Second sentence.", "Second [sentence](nowhere.md).")
        (failure,) = failures(live)
        assert failure["title"] == "Sphinx warns"
        assert "nowhere.md" in failure["text"]
        save(live, "index.md", "Second [sentence](nowhere.md).", "Second sentence.")
        assert failures(live) == []

    def test_a_build_that_dies_is_told(self, live: Live) -> None:
        save(live, "shout.py", "WORD =", "import os; os.kill(os.getpid(), 11)\nWORD =")
        (failure,) = failures(live)
        assert failure["title"] == "The build ended too early"
        assert "-11" in failure["text"]
        save(live, "shout.py", "import os; os.kill(os.getpid(), 11)\n", "")
        assert failures(live) == []

    def test_the_pages_are_those_of_a_build(self, live: Live, tmp_path: Path) -> None:
        command = [sys.executable, "-m", "sphinx", "-q", "-d", str(tmp_path / "d")]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        subprocess.run(
            [*command, ".", str(tmp_path / "html")], check=True, cwd=live.folder, env=environment
        )
        served = live.folder / "_build" / "live"
        for page in sorted((tmp_path / "html").rglob("*.html")):
            name = page.relative_to(tmp_path / "html")
            assert unmarked(served / name) == unmarked(page), name


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_stays_behind(live: Live, tmp_path: Path, ending: signal.Signals) -> None:
    for name in ("conf.py", "shout.py", "helping.py", "index.md"):
        (tmp_path / name).write_text((live.folder / name).read_text())
    another = Live(tmp_path)
    another.wait()
    before = another.children()
    assert len(before) >= 3
    another.end(ending)
    _, alive = psutil.wait_procs(before, timeout=PATIENCE)
    assert alive == []
