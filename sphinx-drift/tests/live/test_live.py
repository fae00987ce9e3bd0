"""A live session of a small book: each save is built by itself, told, and nothing stays behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import psutil
import pytest
from living import PATIENCE, ROOT, Live, living, write_book

if TYPE_CHECKING:
    from pathlib import Path

CONF = """
import sys
from pathlib import Path
sys.path.insert(0, str(Path(__file__).parent))
extensions = ["myst_nb", "sphinx_drift", "shout"]
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

FILES = {
    "conf.py": CONF,
    "shout.py": SHOUT,
    "helping.py": "NUMBER = 1.2346\n",
    "index.md": PAGE,
}

pytestmark = pytest.mark.slow


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
        assert live.failures() == []

    def test_a_save_changes_the_page(self, live: Live) -> None:
        report = live.save("index.md", "First sentence.", "Another sentence.")
        assert "index.md" in report
        assert "Another sentence." in live.page()
        live.save("index.md", "Another sentence.", "First sentence.")

    def test_a_drift_is_reported_with_both_numbers_until_it_is_mended(self, live: Live) -> None:
        report = live.save("index.md", "output}\n1.2346", "output}\n1.2345")
        (failure,) = live.failures()
        assert failure["title"] == "index.md:16: drift"
        assert "1.2345" in failure["text"]
        assert "1.2346" in failure["text"]
        assert failure["title"] in report
        live.save("index.md", "output}\n1.2345", "output}\n1.2346")
        assert live.failures() == []

    def test_an_extension_of_the_book_is_imported_anew(self, live: Live) -> None:
        live.save("shout.py", "loud", "LOUDER")
        live.save("index.md", "First", "First of all, a")
        assert "LOUDER" in live.page()
        live.save("shout.py", "LOUDER", "loud")
        live.save("index.md", "First of all, a", "First")

    @pytest.mark.parametrize(
        ("name", "right", "wrong"),
        [("conf.py", "extensions = [", "extensions = [["), ("shout.py", "def setup", "deaf setup")],
    )
    def test_a_syntax_error_is_reported_until_it_is_mended(
        self, live: Live, name: str, right: str, wrong: str
    ) -> None:
        live.save(name, right, wrong)
        (failure,) = live.failures()
        assert failure["title"] == "The build stopped"
        assert name in failure["text"]
        assert "First sentence." in live.page()
        live.save(name, wrong, right)
        assert live.failures() == []

    def test_a_warning_is_reported(self, live: Live) -> None:
        live.save("index.md", "Second sentence.", "Second [sentence](nowhere.md).")
        (failure,) = live.failures()
        assert failure["title"] == "Sphinx warns"
        assert "nowhere.md" in failure["text"]
        live.save("index.md", "Second [sentence](nowhere.md).", "Second sentence.")
        assert live.failures() == []

    def test_a_build_that_dies_is_reported(self, live: Live) -> None:
        live.save("shout.py", "WORD =", "import os; os.kill(os.getpid(), 11)\nWORD =")
        (failure,) = live.failures()
        assert "-11" in failure["text"]
        live.save("shout.py", "import os; os.kill(os.getpid(), 11)\n", "")
        assert live.failures() == []

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


def test_a_change_of_the_projects_file_is_a_save(tmp_path: Path) -> None:
    """It is above the book, and says on what pages compute and where packages are."""
    project = tmp_path / "pyproject.toml"
    project.write_text("[tool.sphinx-drift.packages]\nhelping = 'docs'\n")
    with living(write_book(tmp_path / "docs", FILES)) as live:
        assert live.failures() == []
        project.write_text("[tool.sphinx-drift.packages]\nhelping = 'elsewhere'\n")
        assert "pyproject.toml, " in live.wait()
        (failure,) = live.failures()
        assert failure["title"].endswith(": elsewhere")


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_stays_behind(tmp_path: Path, ending: signal.Signals) -> None:
    another = Live(write_book(tmp_path, FILES))
    another.wait()
    before = another.children()
    assert len(before) >= 3  # the build server, a build standing by, the fork server
    another.end(ending)
    _, alive = psutil.wait_procs(before, timeout=PATIENCE)
    assert alive == []
