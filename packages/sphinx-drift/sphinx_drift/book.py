"""Find the book of a page: it says how its pages are run, and which there are."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from sphinx_drift.book_settings import EXCLUDING, read_settings
from sphinx_drift.book_yaml import MYSTMD, read_config_yml, read_myst_yml
from sphinx_drift.conf_py import ENVIRONMENT, run_conf
from sphinx_drift.folders import OF_BOOK, OF_MYSTMD, OF_PROJECT, holds, upwards
from sphinx_drift.patterns import inside, matches
from sphinx_drift.settings import (
    Settings,
    UnreadableSettings,
    changed_by_environment,
    find_project,
)
from sphinx_drift.source.metadata import OF_MYST_NB

_ALWAYS_EXCLUDED = (
    *("**/_sources", ".#*", "**/.#*", "*.lproj/**", "**.ipynb_checkpoints"),
    "**.jupyter_cache",
)
"""What Sphinx and MyST-NB add to `exclude_patterns`, and where MyST-NB keeps what it ran."""
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
        changed = read_settings(settings, self.folder)
        return replace(
            changed_by_environment(replace(project, **changed)),
            allow_errors=bool(settings.get("nb_execution_allow_errors")),
            metadata_key=settings.get("nb_metadata_key") or Settings.metadata_key,
            kernel_aliases=settings.get("nb_kernel_rgx_aliases") or {},
            variables=settings.get(ENVIRONMENT) or {},
            is_mystmd=MYSTMD in settings,
        )

    @property
    def of_myst_nb(self) -> dict[str, Any]:
        """What it says of the outputs that readers see, and of what is run, by MyST-NB's names."""
        said = {name: self.settings.get(f"nb_{name}") for name in OF_MYST_NB}
        return {name: value for name, value in said.items() if value is not None}

    def converts(self, page: Path) -> bool:
        """Whether MyST-NB has another program read a page, as a notebook without outputs."""
        return page.name.endswith(tuple(self.settings.get("nb_custom_formats") or ()))

    def excludes(self, page: Path) -> str:
        """Return the setting that excludes a page from the book; nothing if none does."""
        relative = inside(page, self.folder)
        assert relative is not None  # noqa: S101 - the book was found above the page
        named = _IN_MYST_YML if MYSTMD in self.settings else {}
        patterns = {name: self.settings.get(name) or () for name in EXCLUDING}
        patterns["exclude_patterns"] = (*_ALWAYS_EXCLUDED, *patterns["exclude_patterns"])
        excluding = (name for name, said in patterns.items() if matches(map(str, said), relative))
        name, included = next(excluding, ""), self.settings.get("include_patterns", ["**"])
        if not (name or matches(included, relative, with_folders=False)):
            name = "include_patterns"
        if not name and self.converts(page):
            name = "nb_custom_formats"
        return named.get(name, name)


def book_of(folder: Path, *, by_mystmd: bool = False) -> Book:
    """Return the nearest book at or above a folder, within its project; an empty one if none is.

    If mystmd is building it, it is the nearest of mystmd's, here or where the build began.

    Raises:
        UnreadableSettings: If its file can't be read, or has an invalid value.

    """
    above = (*upwards(folder), *(upwards(Path()) if by_mystmd else ()))
    for parent in above:
        settings = _settings_in(parent, OF_MYSTMD if by_mystmd else OF_BOOK)
        if isinstance(settings, UnreadableSettings):
            raise settings
        if settings is not None:
            return Book(parent, settings)
        if holds(parent, OF_PROJECT) and not by_mystmd:
            break
    return Book(above[0], {MYSTMD: True} if by_mystmd else {})


@functools.cache
def _settings_in(
    folder: Path, names: tuple[str, ...]
) -> Mapping[str, Any] | UnreadableSettings | None:
    """Return the settings of a folder's book, or why it can't be read; None without a book."""
    for file in filter(Path.is_file, map(folder.joinpath, names)):
        try:
            if (settings := _READERS[file.name](file)) is not None:
                read_settings(settings, folder)
                return settings
        except (ValueError, yaml.YAMLError) as error:
            return UnreadableSettings(file, error)  # which is cached too
    return None


_READERS: Mapping[str, Callable[[Path], Mapping[str, Any] | None]] = dict(
    zip(OF_BOOK, (run_conf, read_myst_yml, read_myst_yml, read_config_yml), strict=True)
)
