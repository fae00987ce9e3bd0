"""Read the settings of a ``conf.py``: it is run in a process of its own."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from types import ModuleType
from typing import Any

from sphinx.config import Config
from sphinx.util.tags import Tags

from sphinx_drift.book_settings import EXCLUDING, EXECUTE, OURS, read_settings, refuse_misspelt
from sphinx_drift.source.metadata import OF_MYST_NB

_READ = (
    *(*OURS, *EXECUTE.values(), "nb_kernel_rgx_aliases"),
    *(f"nb_{name}" for name in OF_MYST_NB),
    *(*EXCLUDING, "extensions", "include_patterns", "nb_custom_formats"),
)
"""The settings of conf.py that count here."""
_EXTENSION = re.compile(r"\b(?:jupyter_book|myst_nb|sphinx_drift)\b")
_OF_A_BOOK = re.compile(
    rf"(?m){_EXTENSION.pattern}"
    rf"|^[ \t]*(?:drift_\w+|{'|'.join(n for n in _READ if n.startswith('nb_'))})\b[^\n=]*="
)
"""What only the `conf.py` of a book with cells says."""
_TAKES_ON = re.compile(
    r"\bimport[ \t]*(?:\*|\([^)]*\bextensions\b|[\w ,]*\bextensions\b)|\w\.extensions\b"
)
"""How one takes its extensions, and perhaps its settings, from another module."""
_PATIENCE = 60
"""Seconds that conf.py may take."""
_PREFIX = "sphinx-drift reads: "
"""What begins the line with its settings, whatever else it prints."""
ENVIRONMENT = "os.environ"
"""The variables that conf.py sets, each with its value, or with None if it deletes one."""
_REFUSED = "refused"
"""Why what conf.py says of our settings can't be taken, if it can't."""


def run_conf(conf: Path) -> Mapping[str, Any] | None:
    """Run a ``conf.py`` in another process, which alone has its path and modules.

    Returns:
        Its settings; None if it belongs to no book with cells: other programs have one, too.

    """
    text = conf.read_text("utf-8", "replace")
    is_book = _OF_A_BOOK.search(text)
    if not (is_book or _TAKES_ON.search(text)):
        return None
    code = "import sphinx_drift.no_grammar; "
    code += "from sphinx_drift.conf_py import print_settings; print_settings()"
    command = [sys.executable, "-P", "-c", code, str(conf.parent)]
    # Files, and no pipes, which a process that conf.py leaves running would hold open.
    output = partial(TemporaryFile, "w+", encoding="utf-8", errors="replace")
    with output() as out, output() as err:
        try:
            subprocess.run(command, stdout=out, stderr=err, check=True, timeout=_PATIENCE)
            problem = ""
        except subprocess.CalledProcessError:
            err.seek(0)
            problem = err.read().strip().rpartition("\n")[2] or "it ends Python"
        except subprocess.TimeoutExpired:
            problem = (
                f"it must be read within {_PATIENCE} s, and was still running; do what takes "
                "longer in `setup`, which builds alone call"
            )
        out.seek(0)
        found = [row.partition(_PREFIX)[2] for row in out.read().splitlines() if _PREFIX in row]
    settings = {} if problem else {"include_patterns": ["**"], **json.loads("".join(found))}
    if not (is_book or _EXTENSION.search(str(settings.get("extensions")))):
        return None
    if problem := settings.pop(_REFUSED, problem):
        raise ValueError(problem)
    return settings


def print_settings() -> None:
    """Print what ``conf.py`` says, as JSON after a prefix; this process is given its folder."""
    before = dict(os.environ)
    written = written_settings(Config.read(sys.argv[1], overrides={}, tags=Tags()))
    found = {name: written[name] for name in _READ if name in written}
    try:
        refuse_misspelt(written, "conf.py")
        read_settings(written, Path(sys.argv[1]))  # before JSON makes other values of some
    except ValueError as error:
        found[_REFUSED] = str(error)
    changed = dict(os.environ.items() ^ before.items())
    found[ENVIRONMENT] = {name: os.environ.get(name) for name in changed}
    print(f"\n{_PREFIX}{json.dumps(found, default=_to_json)}")  # conf.py may print too


def _to_json(value: object) -> object:
    """Return what JSON has for a set, or for a path."""
    return sorted(value) if isinstance(value, (set, frozenset)) else str(value)


def written_settings(config: Config) -> Mapping[str, Any]:
    """Return all that conf.py sets, by name, registered or not, but for modules and functions."""
    written = config._raw_config  # noqa: SLF001 - nothing public has them
    return {
        name: value
        for name, value in written.items()
        if not (callable(value) or isinstance(value, ModuleType))
    }
