"""After a save, every page runs in the background; what it shows takes the place of what was known.

A page is held up while it runs, or while it is read, by the files `.hold` and `.hold-reading`.
"""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import psutil
import pytest
from living import Live, wait_until, write_book

from sphinx_drift.live.session import Session

if TYPE_CHECKING:
    from pathlib import Path

CONF = """
import sys
from pathlib import Path
sys.path.insert(0, str(Path(__file__).parent / "_ext"))
extensions = ["myst_nb", "sphinx_drift", "noting"]
exclude_patterns = ["_build"]
html_theme = "basic"
"""
NOTING = """
import os, time

def is_behind(app):
    return app.config.drift_rerun == "always"

def begin(app):
    if is_behind(app):
        with open(app.srcdir / ".behind", "a") as file:
            file.write(f"{os.getpid()}\\n")

def read(app, doctree):
    if is_behind(app):
        (app.srcdir / ".reading").touch()
        while (app.srcdir / ".hold-reading").exists():
            time.sleep(0.02)

def trip(app, env, docnames):
    trip = app.srcdir / ".trip"
    if trip.exists():
        while len((app.srcdir / ".ran").read_text().split()) <= int(trip.read_text()):
            time.sleep(0.02)
        time.sleep(1)  # the page comes to its end
        raise RuntimeError("tripped")

def setup(app):
    app.connect("builder-inited", begin)
    app.connect("doctree-read", read)
    app.connect("env-before-read-docs", trip, priority=1000)
"""
FRONT = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n\n"
INDEX = "# The book\n\n```{toctree}\none\ntwo\n```\n"
ONE = f"""{FRONT}# The first page

Text of the first page.

```{{code-cell}} ipython3
print(0.5)
```

```{{expected-output}}
0.5
```
"""
TWO = f"""{FRONT}# The second page

```{{code-cell}} ipython3
import os, time
from pathlib import Path
with Path(".ran").open("a") as file:
    file.write(f"{{os.getpid()}}\\n")
while Path(".hold").exists():
    time.sleep(0.02)
!cat data.txt
```

```{{expected-output}}
1.5
```
"""
THREE = TWO.replace("---\n\n", "orphan: true\n---\n\n", 1).replace("second", "third")
FILES = {
    "conf.py": CONF,
    "_ext/noting.py": NOTING,
    "index.md": INDEX,
    "one.md": ONE,
    "two.md": TWO,
    "data.txt": "1.5\n",
}

pytestmark = pytest.mark.slow


def pids(live: Live, name: str) -> list[int]:
    path = live.folder / name
    return [int(word) for word in path.read_text().split()] if path.exists() else []


def is_gone(pid: int) -> bool:
    return not psutil.pid_exists(pid)


def save_one(live: Live, old: str, new: str) -> None:
    """Save a page, and wait until all have run."""
    live.save("one.md", old, new)
    live.wait_for_all()


class TestEveryPageRuns:
    def test_what_a_page_reads_unseen_drifts_in_the_background(self, live: Live) -> None:
        shown = live.save("data.txt", "1.5", "1.6")
        assert "2 pages not run again" in shown
        shown = live.wait_for_all()
        assert "two.md:19: drift" in shown
        (failure,) = live.failures()
        assert "1.5" in failure["text"]
        assert "1.6" in failure["text"]
        assert "1.6" in live.page("two")
        live.save("data.txt", "1.6", "1.5")
        assert "2 outputs verified" in live.wait_for_all()
        assert live.failures() == []
        assert "1.5" in live.page("two")

    def test_browsers_hear_when_pages_ran(self, live: Live) -> None:
        started = time.time()
        (live.folder / ".hold").touch()
        live.save("one.md", "Text of", "New text of")
        runs = live.report()["runs"]
        assert runs["running"]
        assert runs["all"] is None
        assert runs["pages"]["two.html"] < started < runs["pages"]["one.html"]
        (live.folder / ".hold").unlink()
        live.wait_for_all()
        runs = live.report()["runs"]
        assert not runs["running"]
        assert started < runs["all"] <= min(runs["pages"].values())
        save_one(live, "New text of", "Text of")

    def test_not_again_if_all_have_run(self, live: Live) -> None:
        """Another version of the settings has every page read, and so run."""
        before = pids(live, ".ran")
        behind = pids(live, ".behind")
        live.save("conf.py", '"basic"\n', '"basic"\ndrift_timeout = 200\n')
        assert live.report()["runs"]["all"] is not None
        live.save("conf.py", "drift_timeout = 200\n", "")
        assert len(pids(live, ".ran")) == len(before) + 2
        assert pids(live, ".behind") == behind


class TestASaveMeanwhile:
    def test_it_is_shown_at_once_and_the_runs_are_left(self, live: Live) -> None:
        before = len(pids(live, ".ran"))
        (live.folder / ".hold").touch()
        live.save("one.md", "Text of", "New text of")
        wait_until(lambda: len(pids(live, ".ran")) > before)
        run, build = pids(live, ".ran")[-1], pids(live, ".behind")[-1]
        assert not is_gone(run)
        live.save("one.md", "New text of", "Text of")
        assert "New text of" not in live.page("one")
        assert is_gone(build)
        wait_until(lambda: is_gone(run))
        (live.folder / ".hold").unlink()
        assert "2 outputs verified" in live.wait_for_all()

    def test_what_is_being_written_is_written(self, live: Live) -> None:
        (live.folder / ".hold-reading").touch()
        (live.folder / ".reading").unlink(missing_ok=True)
        live.save("data.txt", "1.5", "1.6")
        wait_until((live.folder / ".reading").exists)
        build = pids(live, ".behind")[-1]
        live.write("one.md", "Text of", "New text of")
        time.sleep(0.5)  # for the save to be found
        assert not is_gone(build)
        (live.folder / ".hold-reading").unlink()
        live.wait()
        assert "New text of" in live.page("one")
        assert "1.6" in live.page("two")
        live.wait_for_all()
        live.save("data.txt", "1.6", "1.5")
        live.wait_for_all()
        save_one(live, "New text of", "Text of")
        assert live.failures() == []


class TestKilled:
    def test_the_build_in_the_background_is_begun_once_more(self, live: Live) -> None:
        """That it was killed is told when that happens again."""
        number = len(pids(live, ".behind"))
        (live.folder / ".hold").touch()
        live.save("one.md", "Text of", "New text of")
        for attempt in (1, 2):
            begun = number + attempt
            wait_until(lambda: len(pids(live, ".behind")) == begun)  # noqa: B023 - called here
            os.kill(pids(live, ".behind")[-1], signal.SIGKILL)
        shown = live.wait_for_all()
        (failure,) = live.failures()
        assert failure["title"] in shown
        assert "-9" in failure["text"]
        (live.folder / ".hold").unlink()
        save_one(live, "New text of", "Text of")
        assert live.failures() == []

    def test_the_process_that_forks_builds(self, live: Live) -> None:
        child(live.process.pid, "live.build_server").kill()
        live.save("one.md", "Text of", "New text of")
        assert "New text of" in live.page("one")
        child(live.process.pid, "live.build_server").kill()
        save_one(live, "New text of", "Text of")
        assert live.failures() == []

    def test_the_process_that_forks_builds_in_the_background(self, live: Live) -> None:
        number = len(pids(live, ".behind"))
        (live.folder / ".hold").touch()
        live.save("one.md", "Text of", "New text of")
        wait_until(lambda: len(pids(live, ".behind")) == number + 1)
        child(live.process.pid, "live.build_server").kill()
        wait_until(lambda: len(pids(live, ".behind")) == number + 2)
        (live.folder / ".hold").unlink()
        assert "2 outputs verified" in live.wait_for_all()
        save_one(live, "New text of", "Text of")

    def test_the_process_that_forks_pages(self, live: Live) -> None:
        child(live.process.pid, "run.fork_server").kill()
        save_one(live, "Text of", "New text of")
        assert live.failures() == []
        assert child(live.process.pid, "run.fork_server").is_running()
        save_one(live, "New text of", "Text of")


def test_a_short_request_to_a_process_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A buffer would keep it, and fail when it is closed."""
    for name in os.environ.keys() - {"PATH", "HOME"}:
        monkeypatch.delenv(name)
    with Session(write_book(tmp_path, FILES), tmp_path / "_build" / "live") as session:
        session.build()
        child(os.getpid(), "live.build_server").kill()
        assert session.build([str(tmp_path / "one.md")])["failures"] == []


def child(session: int, name: str) -> psutil.Process:
    """Return the process of the session that runs a file or a module."""
    (pid,) = (
        each
        for each in psutil.Process(session).children()
        if any(word.endswith(name) for word in each.cmdline())
    )
    return pid


def test_what_a_stopped_build_queued_is_not_fetched_by_the_next(live: Live) -> None:
    """It ran before the data was what it is."""
    (live.folder / ".trip").write_text(str(len(pids(live, ".ran"))))
    (live.folder / "three.md").write_text(THREE)
    live.wait()
    (failure,) = live.failures()
    assert "tripped" in failure["text"]
    (live.folder / ".trip").unlink()
    live.save("data.txt", "1.5", "1.6")
    assert "1.6" in live.page("three")
    assert "three.md" in str(live.failures())
    (live.folder / "three.md").unlink()
    live.wait()
    live.save("data.txt", "1.6", "1.5")


def test_a_page_that_is_deleted_is_not_served(live: Live) -> None:
    (live.folder / "three.md").write_text("---\norphan: true\n---\n# The third page\n")
    live.wait()
    live.wait_for_all()
    assert "The third page" in live.page("three")
    (live.folder / "three.md").unlink()
    live.wait()
    live.wait_for_all()
    with live.get("/three.html") as answer:
        assert answer.status == 404
