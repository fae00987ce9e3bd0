"""The table of settings: what each may be, where it may be set, and what it means.

A new setting is one field of :class:`Table`. Sphinx's configuration values, the project's file,
the metadata of pages, the options of the command and the manual's page are made from these fields.
"""

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self

from sphinx_drift.compare.compare import Policy
from sphinx_drift.folders import upwards
from sphinx_drift.model import Page
from sphinx_drift.output.filters import Filter
from sphinx_drift.patterns import Pattern
from sphinx_drift.probes import Probe
from sphinx_drift.shapes import (
    ENVIRONMENT,
    FILTERS,
    FOLDERS,
    NAMES,
    NUMBER,
    PAGES,
    POLICY,
    TEXT,
    TRUTH,
    Place,
    Setting,
    refuse_unknown,
    setting,
)

_IN_FILES = (Place.CONF, Place.PROJECT)
_ANYWHERE = (*_IN_FILES, Place.COMMAND)
_OF_PAGES = (*_IN_FILES, Place.PAGE)


# The table ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """What users set: each field is an entry of the table."""

    policy: Policy | None = setting(
        _ANYWHERE,
        POLICY,
        "How strictly numbers are compared: `exact`, `portable` or `auto`, which means exact on "
        "the reference environment and portable elsewhere.",
        variable="DRIFT_POLICY",
        default="auto",
    )
    reference: Mapping[str, str] = setting(
        _OF_PAGES,
        ENVIRONMENT,
        "The environment on which the documented values hold to the last digit, such as "
        "`{'torch': '2.13.0', 'device': 'cpu'}`; without one they hold on any CPU.",
        default={},
    )
    require: tuple[Pattern, ...] = setting(
        _ANYWHERE,
        PAGES,
        "The pages on which each output must be documented: `all`, `expected` (none must), or "
        "patterns of pages.",
        default="expected",
    )
    complete: bool = setting(
        (Place.PAGE,),
        TRUTH,
        "Whether each output of this page must be documented, whatever the book requires.",
        default=False,
    )
    filters: tuple[Filter, ...] = setting(
        _OF_PAGES,
        FILTERS,
        "What varies from run to run and is not compared: a regular expression, a name and a "
        "reason each.",
        default=(),
    )
    timeout: int | None = setting(
        _ANYWHERE,
        NUMBER,
        "How many seconds a cell may take, and what a page does before its first one.",
        default=300,
    )
    output_limit: int = setting(
        _IN_FILES,
        NUMBER,
        "How many bytes the outputs of a cell may take; those of a page may take four times as "
        "many.",
        default=10_000_000,
    )
    twice: bool = setting(
        _ANYWHERE,
        TRUTH,
        "Whether each page runs a second time, with other entropy and another number of threads, "
        "so that outputs which don't repeat are found.",
        default=False,
    )
    keep_going: bool = setting(
        (Place.COMMAND,),
        TRUTH,
        "Whether a page goes on after an error that nothing allows; the error fails all the same.",
        default=False,
    )
    packages: Mapping[str, Path] = setting(
        _IN_FILES,
        FOLDERS,
        "The packages that pages must import from the project itself, each with the folder that "
        "holds it.",
        default={},
    )
    preload: tuple[str, ...] | None = setting(
        _IN_FILES,
        NAMES,
        "The libraries that are loaded once for all pages; if it is left out, NumPy and torch "
        "where a page imports them.",
        default=None,
    )
    device: str = setting(
        (Place.CONF, Place.COMMAND),
        TEXT,
        "What pages compute on, with the random numbers of the CPU: `cpu`, `cuda`, `cuda:1`, "
        "`mps` or `auto`.",
        variable="DRIFT_DEVICE",
        default="cpu",
    )
    devices: str = setting(
        _IN_FILES,
        TEXT,
        "The module that finds devices and computes on them, which any device but `cpu` needs.",
        default="",
    )


# The settings of a page --------------------------------------------------------------------


@dataclass(frozen=True)
class Settings(Table):
    """How pages are run and compared: what users set, and what else is known of their book."""

    probes: tuple[Probe, ...] = field(default=(), repr=False)
    """What extensions ask the kernel of each page."""
    allow_errors: bool = False
    """Whether the book or the page lets cells raise, whatever it documents of that."""
    metadata_key: str = "mystnb"
    """Where a page's metadata has the settings of MyST-NB."""
    kernel_aliases: Mapping[str, str] = field(default_factory=dict)
    """Regular expressions of the names of kernels, each with the one that is meant."""
    variables: Mapping[str, str | None] = field(default_factory=dict)
    """The environment variables that the book sets for pages, or deletes."""
    is_mystmd: bool = False
    """Whether pages are those of mystmd, and not of MyST-NB."""
    page_reference: Mapping[str, str] = field(default_factory=dict)
    """The reference that a page or notebook names; its values hold on either."""
    cache: Path | None = None
    """Where jupyter-cache has the outputs of earlier runs; None if each page runs."""

    def policy_on(self, environment: Mapping[str, str]) -> Policy:
        """Return the policy for an environment."""
        if self.policy is not None:
            return self.policy
        return Policy.EXACT if self.is_reference(environment) else Policy.PORTABLE

    def is_reference(self, environment: Mapping[str, str]) -> bool:
        """Whether an environment is the reference, as far as a page uses what that names."""
        # A library that a page doesn't use can't make its numbers differ.
        references = [r for r in (self.reference, self.page_reference) if r] or [{}]
        return any(
            all(environment.get(name, value) == value for name, value in documented.items())
            for documented in ({"device": "cpu", **reference} for reference in references)
        )

    def goes_on(self, page: Page) -> bool:
        """Whether a page goes on after an error, as each notebook does."""
        return self.allow_errors or self.keep_going or page.is_notebook

    def applied_to(self, page: Page, file: Path) -> Page:
        """Return a page that has to be complete if these settings say so."""
        is_required = any(pattern.matches(file) for pattern in self.require)
        return replace(page, complete=page.complete or is_required)

    def of_page(self, metadata: Mapping[str, Any], **table: Any) -> Self:
        """Return the settings of a page, which may say in its metadata how it is executed.

        MyST-NB reads ``mystnb: {execution_timeout: 600}``, or by another key that the book has
        chosen, and nbsphinx ``nbsphinx: {timeout: 600}``. Its table ``drift`` has been read.
        """
        changed = {**table, "filters": (*table.get("filters", ()), *self.filters)}
        changed["page_reference"] = changed.pop("reference", {})
        nbsphinx, myst_nb = (table_in(metadata, key) for key in ("nbsphinx", self.metadata_key))
        timeout, allow_errors = (
            myst_nb.get(f"execution_{name}", nbsphinx.get(name))
            for name in ("timeout", "allow_errors")
        )
        if type(timeout) is int:  # and not a truth value
            changed["timeout"] = timeout if timeout > 0 else None
        if isinstance(allow_errors, bool):
            changed["allow_errors"] = allow_errors
        return replace(self, **changed)

    def described(self) -> str:
        """Return what Sphinx compares with an earlier build: a change has pages read again."""
        values = {entry.name: getattr(self, entry.name) for entry in entries()}
        # A compiled pattern shows no more than 200 of its characters.
        values["filters"] = [(pattern.pattern, *rest) for pattern, *rest in self.filters]
        return str(values)


def entries(place: Place | None = None) -> Iterator[Setting]:
    """Yield the entries of the table that may be set at a place, or all."""
    for column in fields(Table):
        entry = column.metadata["entry"]
        if place is None or place in entry.places:
            yield replace(entry, name=column.name)


# What files say ----------------------------------------------------------------------------


_NAMES = {
    Place.CONF: ("conf.py", "drift_{}"),
    Place.PROJECT: ("[tool.sphinx-drift]", "{} in [tool.sphinx-drift]"),
    Place.PAGE: ("`drift`", "`drift: {}`"),
}
"""How messages name each table, and a setting in it."""


def read_table(table: object, place: Place, folder: Path) -> dict[str, Any]:
    """Return what the settings of a table mean, by name; a value of None sets nothing.

    Args:
        table: The table.
        place: Where it is.
        folder: The folder of its file.

    Raises:
        ValueError: If it is no table, has another name, or an invalid value.

    """
    origin, named = _NAMES[place]
    known = {entry.name: entry for entry in entries(place)}
    if not isinstance(table, dict):
        raise ValueError(f"{origin} may hold {', '.join(sorted(known))}; got {table!r}")  # noqa: TRY004 - the file is wrong
    refuse_unknown(table, known, origin)
    return {
        name: known[name].read(value, named.format(name), folder)
        for name, value in table.items()
        if value is not None
    }


class UnreadableSettings(ValueError):  # noqa: N818 - as the outcome is named
    """A file of settings that can't be read, or sets an invalid value."""

    def __init__(self, file: Path, error: Exception) -> None:
        super().__init__(f"{file}: {error}")
        self.file, self.reason = file, str(error)


def find_project(start: Path) -> Settings:
    """Read the nearest ``pyproject.toml`` at or above a folder; without one, use the defaults.

    Raises:
        UnreadableSettings: If it can't be read, or has an unknown or invalid setting.

    """
    path = project_file(start)
    if path is None:
        return Settings()
    try:
        tool = table_in(tomllib.loads(path.read_text("utf-8")), "tool")
        refuse_unknown(tool.keys() & {"sphinx_drift"}, ["sphinx-drift"], "[tool]")
        said = read_table(tool.get("sphinx-drift", {}), Place.PROJECT, path.parent)
    except ValueError as error:
        raise UnreadableSettings(path, error) from None
    return replace(Settings(), **said)


def project_file(start: Path) -> Path | None:
    """Return the nearest ``pyproject.toml`` at or above a folder; None if there is none."""
    paths = (folder / "pyproject.toml" for folder in upwards(start))
    return next((path for path in paths if path.is_file()), None)


def changed_by_environment(settings: Settings) -> Settings:
    """Return settings with what environment variables say."""
    changed = {
        entry.name: entry.read(entry.from_text(text), entry.variable, Path.cwd())
        for entry in entries()
        if entry.variable and (text := os.environ.get(entry.variable))
    }
    return replace(settings, **changed)


def table_in(written: object, name: str) -> Mapping[str, Any]:
    """Return a table of some metadata or of a file; an empty one for what is none."""
    table = written.get(name) if isinstance(written, dict) else None
    return table if isinstance(table, dict) else {}
