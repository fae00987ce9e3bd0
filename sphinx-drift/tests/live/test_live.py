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
from living import PATIENCE, ROOT, Live, living

if TYPE_CHECKING:
    from collections.abc import Iterator
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

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("book")
    (folder / "conf.py").write_text(CONF)
    (folder / "shout.py").write_text(SHOUT)
    (folder / "helping.py").write_text("NUMBER = 1.2346\n")
    (folder / "index.md").write_text(PAGE)
    with living(folder) as live:
        yield live


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
        told = live.save("index.md", "First sentence.", "Another sentence.")
        assert "index.md" in told
        assert "Another sentence." in live.page()
        live.save("index.md", "Another sentence.", "First sentence.")

    def test_a_drift_is_told_with_both_numbers_until_it_is_mended(self, live: Live) -> None:
        told = live.save("index.md", "output}\n1.2346", "output}\n1.2345")
        (failure,) = live.failures()
        assert failure["title"] == "index.md:16: drift"
        assert "1.2345" in failure["text"]
        assert "1.2346" in failure["text"]
        assert failure["title"] in told
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
    def test_a_syntax_error_is_told_until_it_is_mended(
        self, live: Live, name: str, right: str, wrong: str
    ) -> None:
        live.save(name, right, wrong)
        (failure,) = live.failures()
        assert failure["title"] == "The build stopped"
        assert name in failure["text"]
        assert "First sentence." in live.page()
        live.save(name, wrong, right)
        assert live.failures() == []

    def test_a_warning_is_told(self, live: Live) -> None:
        live.save("index.md", "Second sentence.", "Second [sentence](nowhere.md).")
        (failure,) = live.failures()
        assert failure["title"] == "Sphinx warns"
        assert "nowhere.md" in failure["text"]
        live.save("index.md", "Second [sentence](nowhere.md).", "Second sentence.")
        assert live.failures() == []

    def test_a_build_that_dies_is_told(self, live: Live) -> None:
        live.save("shout.py", "WORD =", "import os; os.kill(os.getpid(), 11)\nWORD =")
        (failure,) = live.failures()
        assert failure["title"] == "The build ended too early"
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
