"""Small books: their files are written, and Sphinx builds them in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from nbformat import NotebookNode, v4

TORCH = version("torch").partition("+")[0]
"""The torch whose numbers the pages of the tests document."""

FRONT = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n\n"
"""What a page begins with whose cells run."""


def front(own: str) -> str:
    """Return what a page begins with that says something of its own there."""
    return FRONT.replace("---\n\n", f"{own}\n---\n\n")


def cell(code: str, documented: str | None = None) -> str:
    text = f"```{{code-cell}} ipython3\n{code}\n```"
    return text if documented is None else f"{text}\n\n{expected(documented)}".rstrip("\n")


def expected(*lines: str, fence: str = "```", options: str = "") -> str:
    return "\n".join([f"{fence}{{expected-output}}", options + "\n".join(lines), fence, ""])


_AROUND = ("READTHEDOCS", "DRIFT_")
"""Variables that would make of a book another one begin so."""


def write(folder: Path, files: Mapping[str, str | NotebookNode]) -> Path:
    """Write files into a folder, and return it; a name without an ending is a page's."""
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else v4.writes(content)
        (file if "." in file.name else file.with_suffix(".md")).write_text(text, "utf-8")
    return folder


def _build(
    folder: Path, files: Mapping[str, str], builder: str, options: Sequence[str]
) -> subprocess.CompletedProcess[str]:
    """Write a book to `source` in a folder, and build it beside that as strictly as ours."""
    write(folder / "source", files)
    command = [sys.executable, "-m", "sphinx", "-q", "-n", "-W", "-b", builder, "-d", "doctrees"]
    return subprocess.run(
        [*command, *options, "source", builder],
        cwd=folder,
        env={name: text for name, text in os.environ.items() if not name.startswith(_AROUND)},
        capture_output=True,
        text=True,
        check=False,
    )


def built(folder: Path, files: Mapping[str, str], builder: str = "html", *options: str) -> Path:
    """Write and build a book in which nothing is wrong, and return where it is built."""
    done = _build(folder, files, builder, options)
    assert done.returncode == 0, done.stderr
    return folder / builder


def refused(folder: Path, files: Mapping[str, str]) -> str:
    """Write and build a book in which something is wrong, and return what is said."""
    done = _build(folder, files, "html", ())
    assert done.returncode == 1, done.stderr
    return done.stderr
