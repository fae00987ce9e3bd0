"""Small books: their files are written, and Sphinx builds them in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

TORCH = version("torch").partition("+")[0]
"""The torch whose numbers the pages of the tests document."""

FRONT = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n\n"
"""What a page begins with whose cells run."""


def cell(code: str, expected: str | None = None) -> str:
    text = f"```{{code-cell}} ipython3\n{code}\n```"
    return text if expected is None else f"{text}\n\n```{{expected-output}}\n{expected}\n```"


_AROUND = ("READTHEDOCS", "DRIFT_")
"""Variables that would make of a book another one begin so."""


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """Write the files of a book, and return where they are: `source` in the folder.

    A name without an ending is a page's.
    """
    source = folder / "source"
    for name, text in files.items():
        file = source / name
        file.parent.mkdir(parents=True, exist_ok=True)
        (file if file.suffix else file.with_suffix(".md")).write_text(text, "utf-8")
    return source


def build(
    folder: Path, builder: str = "html", *options: str, module: str = "sphinx", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Build the book in a folder as strictly as the real one, beside its source.

    Args:
        folder: The folder; what is built is in one of the builder's name.
        builder: Sphinx's builder.
        *options: What else its command is told.
        module: Whose command it is.
        **variables: What is set in the environment.

    """
    command = [sys.executable, "-m", module, "-q", "-n", "-W", "-b", builder, "-d", "doctrees"]
    variables_taken = {
        name: value for name, value in os.environ.items() if not name.startswith(_AROUND)
    }
    return subprocess.run(
        [*command, *options, "source", builder],
        cwd=folder,
        env=variables_taken | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def built(folder: Path, files: Mapping[str, str], builder: str = "html", *options: str) -> Path:
    """Write and build a book in which nothing is wrong, and return where it is built."""
    write(folder, files)
    done = build(folder, builder, *options)
    assert done.returncode == 0, done.stderr
    return folder / builder


def refused(folder: Path, files: Mapping[str, str]) -> str:
    """Write and build a book in which something is wrong, and return what is said."""
    write(folder, files)
    done = build(folder)
    assert done.returncode == 1, done.stderr
    return done.stderr
