"""Ask Lighthouse about every page, on a phone and on a desk, and hold its answers to the bars."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from built_site import Website, pages
from chromium import chromium

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMS = ("mobile", "desktop")
BARS = {"performance": 98, "accessibility": 100, "best-practices": 100, "seo": 100}
RUNNER = Path(__file__).with_suffix(".mjs")


def ask(site: Path, out: Path, names: list[str]) -> Iterator[dict[str, Any]]:
    """Give Lighthouse's answer to each page as it comes."""
    with Website(site) as website:
        wanted = [word for name in names for word in (website.page(name), name)]
        for form in FORMS:
            yield from _run([str(RUNNER), str(out), form, *wanted])


def _run(arguments: list[str]) -> Iterator[dict[str, Any]]:
    env = os.environ | {"CHROME_PATH": chromium()}
    command = [shutil.which("node") or "node", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=env, text=True) as run:
        for line in run.stdout or ():
            yield json.loads(line)
    if run.returncode:
        raise SystemExit(f"Lighthouse ended with status {run.returncode}")


def below(answer: dict[str, Any]) -> list[str]:
    """Return the categories in which a page misses its bar; no engine indexes our search."""
    bars = BARS | ({"seo": 0} if answer["name"] == "search" else {})
    return [name for name, bar in bars.items() if answer["scores"].get(name, 0) < bar]


def main(arguments: list[str]) -> int:
    """Print a table, keep the answers, and return 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--pages", default="", help="only those whose name has this in it")
    given = parser.parse_args(arguments)
    names = [name for name in pages(given.site) if given.pages in name]
    answers, missed = [], 0
    for answer in ask(given.site, given.out, names):
        answers.append(answer)
        scores = " ".join(f"{answer['scores'].get(name, 0):4}" for name in BARS)
        print(f"{scores}  {answer['form']:7}  {answer['name']}", flush=True)
        if answer["error"] or below(answer):
            missed += 1
            print(*([answer["error"]] if answer["error"] else answer["lost"]), sep="\n    ")
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "scores.json").write_text(json.dumps(answers, indent=1) + "\n", "utf-8")
    bars = "/".join(map(str, BARS.values()))
    print(f"{len(answers)} looks at {len(names)} pages, {missed} below {bars}")
    return 1 if missed or len(answers) != len(FORMS) * len(names) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
