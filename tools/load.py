"""Build books that ask too much of a machine, and tell what it took: memory and processes.

``python tools/load.py failing`` has 450 pages that raise, ``python tools/load.py endless`` one that
prints without end. The build must fail for just these reasons and leave nothing behind.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import psutil

CONF = "extensions = ['myst_nb', 'sphinx_drift']\nhtml_theme = 'basic'\n"
PAGE = """---
file_format: mystnb
kernelspec:
  name: python3
---

# Page {number}

```{{code-cell}} ipython3
{code}
```

```{{expected-output}}
1
```
"""


class Load(NamedTuple):
    """A book: how many pages, what each does, and which failure it must have."""

    pages: int
    code: str
    kind: str


LOADS = {
    "failing": Load(450, "raise ValueError({number})", "raised"),
    "endless": Load(1, "import os\nwhile True: os.write(1, b'y' * 60000)", "output-limit"),
}


def write_book(folder: Path, load: Load) -> None:
    """Write the pages, each with the code of the load."""
    names = [f"page-{number:03}" for number in range(load.pages)]
    (folder / "conf.py").write_text(CONF, "utf-8")
    toctree = "\n".join(["# A book", "", "```{toctree}", *names, "```", ""])
    (folder / "index.md").write_text(toctree, "utf-8")
    for number, name in enumerate(names):
        page = PAGE.format(number=number, code=load.code.replace("{number}", str(number)))
        (folder / f"{name}.md").write_text(page, "utf-8")


def watch(process: psutil.Process) -> tuple[float, int]:
    """Return the memory, in MB, and the number of processes of a build at this moment."""
    sizes = []
    for each in (process, *process.children(recursive=True)):
        try:
            sizes.append(each.memory_full_info().pss / 1e6)
        except psutil.Error:
            continue  # it has ended
    return sum(sizes), len(sizes)


def build(book: Path) -> tuple[str, float, float, int, int]:
    """Return what a build said, its seconds, its peaks, and how many processes it left."""
    start, memory, processes = time.monotonic(), 0.0, 0
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", str(book), str(book / "_build")]
    log = book / "log.txt"
    seen: set[psutil.Process] = set()
    with log.open("w") as stream, psutil.Popen(command, stdout=stream, stderr=stream) as running:
        while running.poll() is None:
            seen |= set(running.children(recursive=True))
            now = watch(running)
            memory, processes = max(memory, now[0]), max(processes, now[1])
            time.sleep(0.1)
    _, left = psutil.wait_procs(seen, timeout=10)
    return log.read_text("utf-8"), time.monotonic() - start, memory, processes, len(left)


def main() -> int:
    """Build, measure, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("load", choices=LOADS)
    load = LOADS[parser.parse_args().load]
    with TemporaryDirectory() as place:
        book = Path(place).resolve()
        write_book(book, load)
        report, seconds, memory, processes, left = build(book)
    failures = report.count(f": {load.kind} in cell 1")
    print(
        f"{load.pages} pages, {failures} reported as {load.kind}, {seconds:.0f} s; at most "
        f"{memory:.0f} MB in {processes} processes; {left} processes left"
    )
    return 0 if failures >= load.pages and not left else 1


if __name__ == "__main__":
    sys.exit(main())
