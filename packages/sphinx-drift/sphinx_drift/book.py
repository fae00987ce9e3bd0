"""Read what a book says of its pages: in ``conf.py``, ``_config.yml`` or ``myst.yml``."""

import functools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from types import ModuleType
from typing import Any, NamedTuple

import yaml
from sphinx.config import Config
from sphinx.util.tags import Tags

from sphinx_drift.folders import OF_BOOK, OF_PROJECT, holds, upwards
from sphinx_drift.patterns import inside, matches
from sphinx_drift.settings import (
    Settings,
    changed_by_environment,
    entries,
    find_project,
    read_table,
    table_in,
)
from sphinx_drift.shapes import Place, refuse_unknown
from sphinx_drift.source.metadata import OF_MYST_NB

_EXECUTE = {
    "allow_errors": "nb_execution_allow_errors",
    "exclude_patterns": "nb_execution_excludepatterns",
    "execute_notebooks": "nb_execution_mode",
    "stderr_output": "nb_output_stderr",
    "timeout": "nb_execution_timeout",
}
"""What Jupyter Book calls the settings of MyST-NB that count here, below `execute:`."""
_ALWAYS_EXCLUDED = (
    *("**/_sources", ".#*", "**/.#*", "*.lproj/**", "**.ipynb_checkpoints"),
    "**.jupyter_cache",
)
"""What Sphinx and MyST-NB add to `exclude_patterns`, and where MyST-NB keeps what it ran."""
_STOCK_TIMEOUT = 30
"""Seconds that MyST-NB gives a cell by default."""
OF_BUILDS = {"drift_live": False}
"""What `conf.py` or `-D` may set for a build alone, with its default."""
_OURS = tuple(f"drift_{entry.name}" for entry in entries(Place.CONF))
_READ = (
    *(*_OURS, *_EXECUTE.values(), "nb_kernel_rgx_aliases", "nb_metadata_key"),
    *(f"nb_{name}" for name in OF_MYST_NB),
    *("exclude_patterns", "extensions", "include_patterns"),
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
_ENVIRONMENT = "os.environ"
"""The variables that conf.py sets, each with its value, or with None if it deletes one."""
_MYSTMD = "myst.yml"
"""Whether the book is built by mystmd."""
_IN_MYST_YML = {"exclude_patterns": "exclude", "include_patterns": "toc"}
"""What mystmd calls the settings that say which pages there are."""


class Book(NamedTuple):
    """The settings of a book that say how its pages are run, and which there are."""

    folder: Path
    settings: Mapping[str, Any]
    """What its file sets, by the names that Sphinx has for it."""

    @property
    def resolved(self) -> Settings:
        """How pages are run and compared: by its file, its project's file, or default.

        Environment variables come before both.
        """
        settings, project = self.settings, find_project(self.folder)
        changed = _read_settings(settings, self.folder)
        return replace(
            changed_by_environment(replace(project, **changed)),
            allow_errors=bool(settings.get("nb_execution_allow_errors")),
            metadata_key=settings.get("nb_metadata_key") or Settings.metadata_key,
            kernel_aliases=settings.get("nb_kernel_rgx_aliases") or {},
            variables=settings.get(_ENVIRONMENT) or {},
            is_mystmd=_MYSTMD in settings,
        )

    @property
    def of_myst_nb(self) -> dict[str, Any]:
        """What it says of the outputs that readers see, and of what is run, by MyST-NB's names."""
        said = {name: self.settings.get(f"nb_{name}") for name in OF_MYST_NB}
        return {name: value for name, value in said.items() if value is not None}

    def excludes(self, page: Path) -> str:
        """Return the setting that excludes a page from the book; nothing if none does."""
        relative = inside(page, self.folder)
        assert relative is not None  # noqa: S101 - the book was found above the page
        named = _IN_MYST_YML if _MYSTMD in self.settings else {}
        name = "exclude_patterns"
        if not matches([*_ALWAYS_EXCLUDED, *(self.settings.get(name) or ())], relative):
            name = "include_patterns"
            if matches(self.settings.get(name, ["**"]), relative):
                return ""
        return named.get(name, name)


def _read_settings(settings: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return what the settings `drift_*` mean, and MyST-NB's timeout."""
    ours = {entry.name: settings.get(f"drift_{entry.name}") for entry in entries(Place.CONF)}
    changed = read_table(ours, Place.CONF, folder)
    timeout = settings.get(name := "nb_execution_timeout")
    if timeout in (None, _STOCK_TIMEOUT):
        return changed
    if type(timeout) is not int:  # nor a truth value
        raise ValueError(f"{name} must be a whole number of seconds; got {timeout!r}")
    return {"timeout": timeout if timeout > 0 else None, **changed}


def book_of(folder: Path) -> Book:
    """Return the nearest book at or above a folder, within its project; an empty one if none is.

    Raises:
        ValueError: If its file can't be read, or has an invalid value.

    """
    above = upwards(folder)
    for parent in above:
        if isinstance(settings := _settings_in(parent), ValueError):
            raise settings
        if settings is not None:
            return Book(parent, settings)
        if holds(parent, OF_PROJECT):
            break
    return Book(above[0], {})


@functools.cache
def _settings_in(folder: Path) -> Mapping[str, Any] | ValueError | None:
    """Return the settings of a folder's book, or why it can't be read; None without a book."""
    for file in filter(Path.is_file, map(folder.joinpath, _READERS)):
        try:
            if (settings := _READERS[file.name](file)) is not None:
                _read_settings(settings, folder)
                return settings
        except (ValueError, yaml.YAMLError) as error:
            return ValueError(f"{file}: {error}")  # which is cached too
    return None


def _run_conf(conf: Path) -> Mapping[str, Any] | None:
    """Run a ``conf.py`` in another process, which alone has its path and modules.

    Returns:
        Its settings; None if it belongs to no book with cells: other programs have one, too.

    """
    text = conf.read_text("utf-8", "replace")
    is_book = _OF_A_BOOK.search(text)
    if not (is_book or _TAKES_ON.search(text)):
        return None
    code = "import sphinx_drift.no_grammar; "
    code += "from sphinx_drift.book import print_settings; print_settings()"
    command = [sys.executable, "-P", "-c", code, str(conf.parent)]
    # Files, and no pipes, which a process that conf.py leaves running would hold open.
    output = partial(TemporaryFile, "w+", encoding="utf-8", errors="replace")
    with output() as out, output() as err:
        try:
            done = subprocess.run(command, stdout=out, stderr=err, check=False, timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            if not is_book:
                return None
            raise ValueError(
                f"it must be read within {_PATIENCE} seconds, and was still running; do what takes "
                "longer in `setup`, which builds alone call"
            ) from None
        out.seek(0)
        err.seek(0)
        if done.returncode and not is_book:
            return None
        if done.returncode:
            last = err.read().strip().rpartition("\n")[2]
            raise ValueError(last.removeprefix("ValueError: "))
        found = [row.partition(_PREFIX)[2] for row in out.read().splitlines() if _PREFIX in row]
    settings = {"include_patterns": ["**"], **json.loads("".join(found))}
    return settings if is_book or _EXTENSION.search(str(settings.get("extensions"))) else None


def print_settings() -> None:
    """Print what ``conf.py`` says, as JSON after a prefix; this process is given its folder."""
    before = dict(os.environ)
    written = written_settings(Config.read(sys.argv[1], overrides={}, tags=Tags()))
    refuse_misspelt(written, "conf.py")
    _read_settings(written, Path(sys.argv[1]))  # before JSON makes other values of some
    found = {name: written[name] for name in _READ if name in written}
    changed = dict(os.environ.items() ^ before.items())
    found[_ENVIRONMENT] = {name: os.environ.get(name) for name in changed}
    print(f"\n{_PREFIX}{json.dumps(found, default=_to_json)}")  # conf.py may print too


def _to_json(value: object) -> object:
    """Return what JSON has for a set, or for a path."""
    return sorted(value) if isinstance(value, (set, frozenset)) else str(value)


def refuse_misspelt(names: Iterable[str], origin: str) -> None:
    """Raise a `ValueError` for a name that begins as our settings do and is none of them."""
    prefixed = [name for name in names if name.startswith("drift_")]
    refuse_unknown(prefixed, [*_OURS, *OF_BUILDS], origin)


def written_settings(config: Config) -> Mapping[str, Any]:
    """Return all that conf.py sets, by name, registered or not, but for modules and functions."""
    written = config._raw_config  # noqa: SLF001 - nothing public has them
    return {
        name: value
        for name, value in written.items()
        if not (callable(value) or isinstance(value, ModuleType))
    }


def _read_yaml(file: Path) -> Mapping[str, Any]:
    """Read a ``_config.yml``; Jekyll's has none of these keys."""
    written = yaml.safe_load(file.read_text("utf-8"))
    execute = table_in(written, "execute")
    settings = {_EXECUTE[name]: value for name, value in execute.items() if name in _EXECUTE}
    if isinstance(written, dict) and "exclude_patterns" in written:
        settings["exclude_patterns"] = written["exclude_patterns"]
    if settings.get("nb_execution_mode") is False:  # it is how YAML reads `off`
        settings["nb_execution_mode"] = "off"
    of_sphinx = table_in(table_in(written, "sphinx"), "config")
    refuse_misspelt(of_sphinx, "sphinx.config")
    return {**settings, **of_sphinx}


def _read_myst(file: Path) -> Mapping[str, Any] | None:
    """Read a ``myst.yml``; None if it has no project, as one of a site alone."""
    project = _project_in(file)
    if project is None:
        return None
    exclude, toc = project.get("exclude") or [], project.get("toc")
    exclude = [exclude] if isinstance(exclude, str) else exclude
    for name, value in (("exclude", exclude), ("toc", toc or [])):
        if not isinstance(value, list):
            raise ValueError(f"project.{name} must be a list, got {value!r}")  # noqa: TRY004 - the file is wrong
    included = ["**"] if toc is None else [*_patterns_in(toc)]
    return {_MYSTMD: True, "exclude_patterns": exclude, "include_patterns": included}


def _project_in(file: Path, *below: Path) -> dict[str, Any] | None:
    """Return the project of a file, with what the files that it extends say; None without one.

    Its own values come first, then those of the last file. Files on the web aren't read.
    """
    if file in below:
        raise ValueError(f"{file} extends itself")
    if not file.is_file():
        raise ValueError(f"extends: there is no file {file}")
    written = yaml.safe_load(file.read_text("utf-8"))
    if not isinstance(written, dict):
        return None
    names = written.get("extends", written.get("extend")) or []
    names = [names] if isinstance(names, str) else names
    if not isinstance(names, list):
        raise ValueError(f"extends must be a file or a list of files, got {names!r}")  # noqa: TRY004 - the file is wrong
    paths = [(file.parent / str(name)).resolve() for name in names if "://" not in str(name)]
    found = [_project_in(path, file.resolve(), *below) for path in paths]
    projects = [one for one in (*found, written.get("project")) if isinstance(one, dict)]
    said = [{name: value for name, value in one.items() if value is not None} for one in projects]
    return {name: value for one in said for name, value in one.items()} if projects else None


def _patterns_in(toc: Iterable[Any]) -> Iterator[str]:
    """Yield patterns of the files that a table of contents of mystmd names."""
    for entry in toc:
        if isinstance(entry, dict):
            file = str(entry.get("file", "")).removeprefix("./")
            yield from (file, f"{file}.md", f"{file}.ipynb", str(entry.get("pattern", "")))
            yield from _patterns_in(entry.get("children") or ())


_READERS: Mapping[str, Callable[[Path], Mapping[str, Any] | None]] = dict(
    zip(OF_BOOK, (_run_conf, _read_yaml, _read_myst), strict=True)
)
