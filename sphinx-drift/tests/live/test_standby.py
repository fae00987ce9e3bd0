"""A build stands by before a save, and shows the saved page before it knows the whole book."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from importlib import metadata
from types import SimpleNamespace
from typing import TYPE_CHECKING

import psutil
import pytest
from living import PATIENCE, ROOT, Live, living, wait_until, write_book

from sphinx_drift.live import warm_up
from sphinx_drift.live.session import Session
from sphinx_drift.live.standby import ReadFiles

if TYPE_CHECKING:
    from pathlib import Path

CONF = """
import sys
from pathlib import Path
sys.path.insert(0, str(Path(__file__).parent / "_ext"))
extensions = ["myst_nb", "sphinx_drift", "sphinxcontrib.bibtex", "told"]
bibtex_bibfiles = ["cited.bib"]
exclude_patterns = ["_build"]
html_theme = "basic"
numfig = True
templates_path = ["_templates"]
version = Path("version.txt").read_text()
"""
# Tells which processes have made an application for a save, and which have built; `.hold` holds a
# build up after its pages were read, and `.trip` has the early pages fail.
EXTENSION = """
import os, time
from pathlib import Path

def note(app, name):
    if app.config.drift_rerun == "always":
        return  # in the background
    with open(app.srcdir / name, "a") as file:
        file.write(f"{os.getpid()}\\n")

def hold(app, *_):
    while (app.srcdir / ".hold").exists():
        time.sleep(0.02)

def trip(app, *_):
    if os.getpid() != app.process and (app.srcdir / ".trip").exists():
        exec((app.srcdir / ".trip").read_text())

def setup(app):
    app.process = os.getpid()
    app.connect("config-inited", lambda app, _: note(app, ".made"))
    app.connect("env-check-consistency", hold)
    app.connect("html-page-context", trip)
    app.connect("build-finished", lambda app, _: note(app, ".built"))
"""
INDEX = """
# The book

```{toctree}
one
two
```

```{bibliography}
```
"""
ONE = """---
file_format: mystnb
kernelspec:
  name: python3
---

(one)=
# The first page

Text of the first page, see {numref}`figure-two`.

```{figure} dot.svg
:name: figure-one

A dot.
```

```{code-cell} ipython3
print(0.5)
```

```{expected-output}
0.5
```
"""
TWO = """
# The second page

See {cite}`ada` and {ref}`one` and {numref}`figure-one`.

```{figure} dot.svg
:name: figure-two

The same dot.
```
"""
CITED = "".join(
    f"@misc{{{name}, author = {{{name.title()} Last}}, title = {{Of {name}}}, year = {{1843}}}}\n"
    for name in ("ada", "bob")
)
DOT = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M1 1h5v5z"/></svg>\n'

FILES = {
    "conf.py": CONF,
    "_ext/told.py": EXTENSION,
    "_templates/part.html": "",
    "index.md": INDEX,
    "one.md": ONE,
    "two.md": TWO,
    "cited.bib": CITED,
    "dot.svg": DOT,
    "version.txt": "1",
}


def noted(folder: Path, name: str) -> list[int]:
    path = folder / name
    return [int(word) for word in path.read_text().split()] if path.exists() else []


def standing(folder: Path) -> psutil.Process:
    """Return the process that stands by, as soon as it does."""

    def wait_for_word(process: psutil.Process) -> bool:
        return process.status() == psutil.STATUS_SLEEPING and not process.children()

    wait_until(lambda: noted(folder, ".made")[-1] != noted(folder, ".built")[-1])
    process = psutil.Process(noted(folder, ".made")[-1])
    wait_until(lambda: wait_for_word(process))
    return process


@pytest.mark.slow
class TestStandby:
    @pytest.mark.parametrize(
        ("name", "old", "new"),
        [("one.md", "Text of", "Another text of"), ("two.md", "The second", "Another")],
    )
    def test_a_saved_page_is_built_by_it(self, live: Live, name: str, old: str, new: str) -> None:
        ready = standing(live.folder)
        live.save(name, old, new)
        assert noted(live.folder, ".built")[-1] == ready.pid
        assert new in live.page(name.removesuffix(".md"))
        live.save(name, new, old)

    @pytest.mark.parametrize(
        ("name", "old", "new"),
        [
            ("conf.py", "numfig = True", "numfig = False"),
            ("_ext/told.py", "import os, time", "import time, os"),
            ("_templates/part.html", "", "part"),
            ("version.txt", "1", "2"),
            ("cited.bib", "Of bob", "About bob"),
        ],
    )
    def test_another_file_has_one_made_anew(
        self, live: Live, name: str, old: str, new: str
    ) -> None:
        ready = standing(live.folder)
        live.save(name, old, new)
        assert noted(live.folder, ".built")[-1] != ready.pid
        assert not ready.is_running()
        path = live.folder / name
        path.write_text(FILES[name])
        live.wait()

    def test_a_page_that_came_or_went_has_one_made_anew(self, live: Live) -> None:
        """What lists the pages while the application is made has listed others."""
        new = live.folder / "three.md"
        for change in (lambda: new.write_text("---\norphan: true\n---\n# The third"), new.unlink):
            ready = standing(live.folder)
            change()
            live.wait()
            assert noted(live.folder, ".built")[-1] != ready.pid

    def test_one_that_died_is_replaced(self, live: Live) -> None:
        ready = standing(live.folder)
        ready.kill()
        live.save("one.md", "Text of", "Yet another text of")
        assert live.failures() == []
        assert "Yet another text" in live.page("one")
        live.save("one.md", "Yet another text of", "Text of")

    @pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
    def test_it_goes_with_the_session(self, tmp_path: Path, ending: signal.Signals) -> None:
        with living(write_book(tmp_path, FILES)) as another:
            ready = standing(tmp_path)
            assert ready in another.children()
            before = another.children()
            another.end(ending)
            _, alive = psutil.wait_procs(before, timeout=PATIENCE)
            assert alive == []

    def test_it_goes_when_the_servers_are_renewed(self, tmp_path: Path) -> None:
        folder = write_book(tmp_path, FILES)
        with Session(folder, folder / "_build" / "live") as session:
            assert session.build()["failures"] == []
            ready = standing(folder)
            session.renew()
            assert not ready.is_running()
            assert session.build([str(folder / "one.md")])["failures"] == []


@pytest.mark.slow
class TestEarly:
    def test_the_saved_page_comes_before_the_build_ends(self, live: Live) -> None:
        (live.folder / ".hold").touch()
        live.write("one.md", "Text of", "New text of")
        wait_until(lambda: "New text of" in live.page("one"))
        page = live.page("one")
        (live.folder / ".hold").unlink()
        live.wait()
        assert live.page("one") == page
        assert "Fig. 1" in page
        live.save("one.md", "New text of", "Text of")

    def test_a_browser_hears_at_once(self, live: Live) -> None:
        with live.get("/-live/events") as events:
            assert events.readline().startswith(b"data: ")
            (live.folder / ".hold").touch()
            live.write("one.md", "Text of", "Newer text of")
            assert [events.readline()[:6] for _ in range(2)] == [b"\n", b"data: "]
            assert "Newer text of" in live.page("one")
        (live.folder / ".hold").unlink()
        live.wait()
        live.save("one.md", "Newer text of", "Text of")

    def test_so_is_a_drift(self, live: Live) -> None:
        (live.folder / ".hold").touch()
        live.write("one.md", "output}\n0.5", "output}\n0.6")
        wait_until(lambda: "0.6" in str(live.failures()))
        (live.folder / ".hold").unlink()
        live.wait()
        (failure,) = live.failures()
        assert failure["title"].endswith("drift")
        live.save("one.md", "output}\n0.6", "output}\n0.5")
        assert live.failures() == []

    @pytest.mark.parametrize("trip", ["1 / 0", "import signal; os.kill(os.getpid(), 9)"])
    def test_what_goes_wrong_in_it_is_nothing_to_the_build(self, live: Live, trip: str) -> None:
        (live.folder / ".trip").write_text(trip)
        live.save("one.md", "Text of", "Fine text of")
        (live.folder / ".trip").unlink()
        assert live.failures() == []
        assert "Fine text of" in live.page("one")
        live.save("one.md", "Fine text of", "Text of")

    def test_the_output_is_that_of_builds_after_the_same_saves(self, tmp_path: Path) -> None:
        with living(write_book(tmp_path / "book", FILES)) as live:
            build(live.folder, tmp_path)
            for name, old, new in SAVES:
                if old:
                    live.save(name, old, new)
                else:
                    (live.folder / name).write_text(new)
                    live.wait()
                build(live.folder, tmp_path)
                assert contents(live.folder / "_build" / "live") == contents(tmp_path / "html"), new
            live_env, env = (
                environment(path) for path in (live.folder / "_build/live-doctrees", tmp_path / "d")
            )
            assert live_env == env


SAVES = [
    ("one.md", "Text of", "Other text of"),
    ("one.md", "# The first page", "# The very first page"),
    ("three.md", "", "---\norphan: true\n---\n# The third page\n\nSee {numref}`figure-one`.\n"),
    ("index.md", "one\ntwo", "two\none"),
    ("one.md", "```{figure}", "```{figure} dot.svg\n\nOne more.\n```\n\n```{figure}"),
    ("two.md", "{cite}`ada`", "{cite}`ada` and {cite}`bob`"),
]


def build(folder: Path, out: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-q", "-d", str(out / "d"), ".", str(out / "html")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(command, check=True, cwd=folder, env=environment)


def contents(folder: Path) -> dict[str, bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def environment(doctrees: Path) -> dict[str, object]:
    """Return what an environment knows, as far as it can be compared."""
    with (doctrees / "environment.pickle").open("rb") as file:
        env = pickle.load(file)  # noqa: S301 - a build of this test has written it
    names = ("toc_fignumbers", "toc_secnumbers", "toctree_includes", "files_to_rebuild", "tocs")
    return {name: str(getattr(env, name)) for name in names} | {
        "titles": {name: str(title) for name, title in env.titles.items()},
        "labels": env.domaindata["std"]["labels"],
        "pages": sorted(env.all_docs),
    }


def test_what_is_installed_is_the_same_when_it_is_remembered() -> None:
    module = SimpleNamespace(distributions=metadata.distributions)
    warm_up.remember_installed(module)
    stock, known = list(metadata.distributions()), list(module.distributions())
    assert [set(each.entry_points) for each in known] == [set(each.entry_points) for each in stock]
    assert [each.version for each in known] == [each.version for each in stock]
    assert [each.name for each in module.distributions(name="pytest")] == ["pytest"]


class TestWhatWasRead:
    def test_a_file_that_is_saved_after_it_was_read(self, tmp_path: Path) -> None:
        path = tmp_path / "file"
        path.write_text("before")
        read = ReadFiles()
        path.read_text()
        assert read.is_current()
        path.write_text("after!")
        assert not read.is_current()

    def test_a_file_that_was_looked_for_and_came(self, tmp_path: Path) -> None:
        read = ReadFiles()
        with pytest.raises(FileNotFoundError):
            (tmp_path / "file").read_text()
        assert read.is_current()
        (tmp_path / "file").touch()
        assert not read.is_current()

    def test_a_file_that_it_writes_itself(self, tmp_path: Path) -> None:
        read = ReadFiles()
        (tmp_path / "file").write_text("mine")
        (tmp_path / "file").unlink()
        assert read.is_current()

    def test_a_module_that_came_from_its_cache(self, tmp_path: Path) -> None:
        read = ReadFiles()
        read.note([str(tmp_path / "module.py")])
        (tmp_path / "module.py").touch()
        assert not read.is_current()

    def test_what_it_asked_another_process_for(self) -> None:
        read = ReadFiles()
        subprocess.run([sys.executable, "-c", ""], check=True)
        assert not read.is_current()

    def test_what_is_read_later_is_not_asked_about(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("before")
        read = ReadFiles()
        assert read.is_current()
        (tmp_path / "file").read_text()
        (tmp_path / "file").write_text("after!")
        assert read.is_current()
