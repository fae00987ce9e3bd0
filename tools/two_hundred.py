"""Build a small book many times in a row, and count what hung, failed or was left behind.

``python tools/two_hundred.py`` builds 200 times with ``-j 2``, pages run by fork. It exits with 0
if every build passed in time and left no process, socket or temporary file.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

PAGES = 4
MARK = "DRIFT_TWO_HUNDRED"
CONF = "extensions = ['myst_nb', 'sphinx_drift.run']\nnb_execution_raise_on_error = True\n"
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
print(weights.sum(dim=-1))
print("page", {number}, "ran")
```
"""


def write_book(folder: Path) -> None:
    """Write a book of a few pages that compute."""
    names = [f"page-{number}" for number in range(PAGES)]
    (folder / "conf.py").write_text(CONF, "utf-8")
    toctree = "\n".join(["# A book", "", "```{toctree}", *names, "```", ""])
    (folder / "index.md").write_text(toctree, "utf-8")
    for number, name in enumerate(names):
        (folder / f"{name}.md").write_text(PAGE.format(number=number), "utf-8")


def build(book: Path, out: Path, scratch: Path, limit: float) -> str:
    """Build once, from nothing, and say what went wrong; nothing if nothing did."""
    surroundings = {**os.environ, "TMPDIR": str(scratch), "DRIFT_RUNNER": "fork"}
    process = subprocess.Popen(  # noqa: S603 - the command is written here
        [sys.executable, "-m", "sphinx", "-q", "-E", "-W", "-j", "2", str(book), str(out)],
        env={**surroundings, MARK: str(os.getpid())},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        told, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return "hung"
    if process.returncode:
        print(told)
        return "failed"
    if "Jupyter kernels" in told:
        return "ran by the stock path"
    for number in range(PAGES):
        if f"page {number} ran" not in (out / f"page-{number}.html").read_text("utf-8"):
            return "lacked an output"
    return ""


def left(scratch: Path, sockets: set[str]) -> str:
    """Say what a build has left; nothing if it left nothing."""
    end = time.monotonic() + 10  # a process that was told to end may need a moment
    while found := processes():
        if time.monotonic() > end:
            for pid in found:
                os.kill(pid, signal.SIGKILL)
            return "left a process"
        time.sleep(0.01)
    while server_sockets() - sockets:
        if time.monotonic() > end:
            return "left a socket"
        time.sleep(0.1)  # another build's own, closed while it was looked at, say
    if any(scratch.iterdir()):
        return "left a temporary file"
    return ""


def processes() -> list[int]:
    """Return the processes, zombies too, that builds of ours have started."""
    mark = f"{MARK}={os.getpid()}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            ours = mark in (folder / "environ").read_bytes().split(b"\0")
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if ours or parent == os.getpid():
            found.append(int(folder.name))
    return found


def server_sockets() -> set[str]:
    """Return the sockets of fork servers, but for those of builds that are not ours."""
    lines = Path("/proc/net/unix").read_text("utf-8").splitlines()
    there = {line.split()[6] for line in lines if "@selfattn-" in line}
    ours = set(map(str, processes()))
    for end in Path("/proc").glob("[0-9]*/fd/*") if there else ():
        try:
            target = str(end.readlink())
        except OSError:
            continue
        if target.startswith("socket:[") and end.parts[2] not in ours:
            there.discard(target[8:-1])
    return there


def main() -> int:
    """Build, count, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--builds", type=int, default=200, metavar="N")
    parser.add_argument("--limit", type=float, default=120, metavar="S", help="seconds a build has")
    options = parser.parse_args()
    counted: Counter[str] = Counter()
    begun = time.monotonic()
    with TemporaryDirectory() as place:
        book, scratch = Path(place, "book"), Path(place, "scratch")
        book.mkdir()
        scratch.mkdir()
        write_book(book)
        sockets = server_sockets()
        for number in range(options.builds):
            wrong = build(book, Path(place, f"out-{number % 2}"), scratch, options.limit)
            for each in {wrong, left(scratch, sockets)} - {""}:
                print(f"build {number + 1} {each}", flush=True)
                counted[each] += 1
    took = time.monotonic() - begun
    told = ", ".join(f"{count} {words}" for words, count in sorted(counted.items()))
    print(
        f"{options.builds} builds of {PAGES} pages in {took:.0f} s: "
        + (told or "none hung, failed or left anything behind")
    )
    return 1 if counted else 0


if __name__ == "__main__":
    sys.exit(main())
