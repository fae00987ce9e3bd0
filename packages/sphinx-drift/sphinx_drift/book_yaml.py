"""Read the settings of a book's ``_config.yml`` or ``myst.yml``, by the names that Sphinx has."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from sphinx_drift.book_settings import EXECUTE, refuse_misspelt
from sphinx_drift.settings import table_in
from sphinx_drift.source.mystmd import output_stderr

MYSTMD = "myst.yml"
"""Whether the book is built by mystmd."""


def read_config_yml(file: Path) -> Mapping[str, Any] | None:
    """Read a ``_config.yml``; None if it is Jekyll's, with none of these keys or files."""
    written = yaml.safe_load(file.read_text("utf-8"))
    execute = table_in(written, "execute")
    settings = {EXECUTE[name]: value for name, value in execute.items() if name in EXECUTE}
    of_sphinx = table_in(written, "sphinx")
    if of_sphinx or file.with_name("_toc.yml").is_file():
        # A book's, though it may say nothing that counts here.
        settings |= {"include_patterns": ["**"], "html_static_path": ["_static"]}
    if isinstance(written, dict) and "exclude_patterns" in written:
        settings["exclude_patterns"] = written["exclude_patterns"]
    if settings.get("nb_execution_mode") is False:  # it is how YAML reads `off`
        settings["nb_execution_mode"] = "off"
    config = table_in(of_sphinx, "config")
    refuse_misspelt(config, "sphinx.config")
    return {**settings, **config} or None


def read_myst_yml(file: Path) -> Mapping[str, Any] | None:
    """Read a ``myst.yml``; None if it has no project, as one of a site alone."""
    project = _project_in(file)
    if project is None:
        return None
    exclude, toc = project.get("exclude") or [], project.get("toc")
    exclude = [exclude] if isinstance(exclude, str) else exclude
    for name, value in (("exclude", exclude), ("toc", toc or [])):
        if not isinstance(value, list):
            raise ValueError(f"project.{name} must be a list, got {value!r}")  # noqa: TRY004 - the file is wrong
    included = ["**"] if toc is None else [*_patterns_in(toc, file.parent)]
    excluded = [pattern for said in exclude for pattern in _as_sphinx(str(said))]
    settings = {MYSTMD: True, "exclude_patterns": excluded, "include_patterns": included}
    if said := output_stderr(table_in(project, "settings")):
        settings["nb_output_stderr"] = said
    return settings


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
    merged = {n: value for one in projects for n, value in one.items() if value is not None}
    merged["settings"] = {n: v for one in projects for n, v in table_in(one, "settings").items()}
    return merged if projects else None


def _alternatives(pattern: str) -> Iterator[str]:
    """Yield the patterns that one with braces stands for, as `*.{md,ipynb}` does."""
    before, opened, after = pattern.rpartition("{")
    within, closed, after = after.partition("}")
    if not (opened and closed):
        yield pattern
    else:
        for text in within.split(","):
            yield from _alternatives(f"{before}{text}{after}")


def _as_sphinx(pattern: str) -> Iterator[str]:
    """Yield the patterns of Sphinx that one of mystmd stands for.

    There `**/` may be no folder, and `**` beside other signs is one star.
    """
    pattern = re.sub(r"(?<=[^/{,])\*\*|\*\*(?=[^/},])", "*", pattern)
    return _alternatives(pattern.removeprefix("./").removesuffix("/").replace("**/", "{**/,}"))


def _patterns_in(toc: Iterable[Any], folder: Path) -> Iterator[str]:
    """Yield patterns of the files that a table of contents of mystmd names."""
    for entry in toc:
        if isinstance(entry, dict):
            file = str(entry.get("file", "")).removeprefix("./")
            names = (file, f"{file}.md", f"{file}.ipynb")
            yield from [name for name in names if (folder / name).is_file()][:1]  # as mystmd does
            yield from _as_sphinx(str(entry.get("pattern", "")))
            yield from _patterns_in(entry.get("children") or (), folder)
