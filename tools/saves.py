"""Save the pages of a small book many times in a live session, and watch what its processes keep.

``python tools/saves.py`` makes 200 saves; after each the page is shown, and after every tenth all
pages have run. It prints the memory of the processes that stay, and what is left when the session
has ended. It exits with 0 if each save was verified and nothing is left.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from sphinx_drift.live.session import Session

CONF = """extensions = ['myst_nb', 'sphinx_drift']
exclude_patterns = ['_build']
html_theme = 'basic'
"""
PAGE = """---
file_format: mystnb
kernelspec:
  name: python3
---

# Page {number}

```{{code-cell}} ipython3
import torch
generator = torch.manual_seed({number})
weights = torch.softmax(torch.rand(6, 6) @ torch.rand(6, 6), dim=-1)
print("page", {number}, weights.shape)
```

```{{expected-output}}
page {number} torch.Size([6, 6])
```
"""
PAGES = 4
PARTS = {
    "build_server.py": "builds",
    "fork_server.py": "pages",
    "sphinx_drift.live.server": "server",
}
SHOWN = (1, 50, 100, 150, 200)
PATIENCE = 60.0


def write_book(folder: Path) -> None:
    """Write a book of a few pages that compute, and say what they print."""
    names = [f"page-{number}" for number in range(PAGES)]
    (folder / "conf.py").write_text(CONF, "utf-8")
    toctree = "\n".join(["# A book", "", "```{toctree}", *names, "```", ""])
    (folder / "index.md").write_text(toctree, "utf-8")
    for number, name in enumerate(names):
        (folder / f"{name}.md").write_text(PAGE.format(number=number), "utf-8")


def save(session: Session, page: Path, number: int) -> tuple[str, bool]:
    """Save a page; say what went wrong, if anything did, and whether all pages run now."""
    head, _, _ = page.read_text("utf-8").partition("\nSave number")
    page.write_text(f"{head}\nSave number {number}.\n", "utf-8")
    report = session.build([str(page)])
    shown = (page.parent / "_build" / "live" / f"{page.stem}.html").read_text("utf-8")
    if f"Save number {number}." not in shown:
        return "was not shown", False
    return "failed" if report["failures"] else "", report["runs"]["running"]


def run_all(session: Session) -> str:
    """Wait until all pages have run, and say what went wrong."""
    end = time.monotonic() + PATIENCE
    while (report := session.wait(0.1)) is None:
        if time.monotonic() > end:
            return "hung in the background"
    return "failed in the background" if report["failures"] else ""


def resident() -> dict[str, float]:
    """Return the memory of the processes that stay, in MB: of each part, the largest process.

    The largest of the pages' part is the one with torch, from which pages are forked.
    """
    sizes: dict[str, float] = {}
    for each in psutil.Process().children(recursive=True):
        for part, name in PARTS.items():
            try:
                if any(word.endswith(part) for word in each.cmdline()):
                    sizes[name] = max(sizes.get(name, 0), each.memory_info().rss / 1e6)
            except psutil.Error:
                continue  # it has ended
    return sizes


def main() -> int:
    """Save, measure, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--saves", type=int, default=200, metavar="N")
    saves = parser.parse_args().saves
    wrong = []
    with TemporaryDirectory() as place:
        book = Path(place)
        write_book(book)
        with Session(book, book / "_build" / "live") as session:
            session.build()
            for number in range(1, saves + 1):
                fault, running = save(session, book / f"page-{number % PAGES}.md", number)
                wrong.append(fault)
                if running and (number % 10 == 0 or number == 1):
                    wrong.append(run_all(session))
                if number in SHOWN:
                    parts = ", ".join(f"{name} {size:.0f} MB" for name, size in resident().items())
                    print(f"save {number}: {parts}", flush=True)
            processes = psutil.Process().children(recursive=True)
    _, left = psutil.wait_procs(processes, timeout=10)
    faults = [each for each in wrong if each]
    outcome = ", ".join(faults) or "all shown and verified"
    print(f"{saves} saves: {outcome}; {len(left)} processes left")
    return 1 if faults or left else 0


if __name__ == "__main__":
    sys.exit(main())
