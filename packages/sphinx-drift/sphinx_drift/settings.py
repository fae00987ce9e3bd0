"""The table of settings: what each may be, where it may be set, and what it means.

A new setting is one field of :class:`Settings`. Sphinx's configuration values, the project's file,
the metadata of pages, the options of the command and the manual's page are made from these fields.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx_drift.compare.compare import Policy
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
    one_of,
    refuse_unknown,
    setting,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sphinx_drift.model import Page
    from sphinx_drift.output.filters import Filter
    from sphinx_drift.patterns import Pattern
    from sphinx_drift.probes import Probe

_FILES = (Place.CONF, Place.PROJECT)
_ANYWHERE = (*_FILES, Place.COMMAND)
_OF_PAGES = (*_FILES, Place.PAGE)


# The table ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """How pages are run and compared: the entries of the table, and what follows from others."""

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
        _FILES,
        NUMBER,
        "How many bytes the outputs of a cell may take; those of a page may take four times as "
        "many.",
        default=10_000_000,
    )
    twice: bool = setting(
        _ANYWHERE,
        TRUTH,
        "Whether each page runs a second time, with other entropy, so that outputs which don't "
        "repeat are found.",
        default=False,
    )
    keep_going: bool = setting(
        (Place.COMMAND,),
        TRUTH,
        "Whether a page goes on after an error that nothing allows; the error fails all the same.",
        default=False,
    )
    packages: Mapping[str, Path] = setting(
        _FILES,
        FOLDERS,
        "The packages that pages must import from the project itself, each with the folder that "
        "holds it.",
        default={},
    )
    preload: tuple[str, ...] | None = setting(
        _FILES,
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
        _FILES,
        TEXT,
        "The module that finds devices and computes on them, which any device but `cpu` needs.",
        default="",
    )
    severity: str = setting(
        (Place.CONF,),
        one_of("error", "warning"),
        "How a build reports what failed; a warning fails it only if Sphinx is run with `-W`.",
        default="error",
    )
    # What no table says ---------------------------------------------------------------

    live: bool = False
    """Whether `sphinx_drift.live` builds: it runs only the pages that changed."""
    probes: tuple[Probe, ...] = field(default=(), repr=False)
    """What extensions ask the kernel of each page."""
    allow_errors: bool = False
    """Whether the book or the page lets cells raise, whatever it documents of that."""
    notebooks_go_on: bool = False
    """Whether a notebook goes on after an error, whatever pages do."""
    metadata_key: str = "mystnb"
    """Where a page's metadata has the settings of MyST-NB."""
    kernel_aliases: Mapping[str, str] = field(default_factory=dict)
    """Regular expressions of the names of kernels, each with the one that is meant."""
    variables: Mapping[str, str | None] = field(default_factory=dict)
    """The environment variables that the book sets for pages, or deletes."""
    is_mystmd: bool = False
    """Whether pages are those of mystmd, and not of MyST-NB."""
    cache: Path | None = None
    """Where jupyter-cache has the outputs of earlier runs; None if each page runs."""
    own_reference: Mapping[str, str] = field(default_factory=dict)
    """The reference that a page or notebook names; its values hold on either."""

    def policy_on(self, environment: Mapping[str, str]) -> Policy:
        """Return the policy for an environment."""
        if self.policy is not None:
            return self.policy
        return Policy.EXACT if self.is_reference(environment) else Policy.PORTABLE

    def is_reference(self, environment: Mapping[str, str]) -> bool:
        """Whether an environment is the reference, as far as a page uses what that names."""
        # What a page doesn't use (torch, say) can't make its numbers differ.
        references = [r for r in (self.reference, self.own_reference) if r] or [{}]
        return any(
            all(environment.get(name, value) == value for name, value in documented.items())
            for documented in ({"device": "cpu", **reference} for reference in references)
        )

    def goes_on(self, page: Page) -> bool:
        """Whether a page or notebook goes on after an error."""
        is_kept_going = self.keep_going or (self.notebooks_go_on and page.is_notebook)
        return self.allow_errors or is_kept_going

    def applied_to(self, page: Page, file: Path) -> Page:
        """Return a page that has to be complete if these settings say so."""
        is_required = any(pattern.matches(file) for pattern in self.require)
        return replace(page, complete=page.complete or is_required)

    def of_page(self, metadata: Mapping[str, Any], **own_table: Any) -> Settings:
        """Return the settings of a page, which may say in its metadata how it is executed.

        MyST-NB reads ``mystnb: {execution_timeout: 600}``, or by another key that the book has
        chosen, and nbsphinx ``nbsphinx: {timeout: 600}``. What its table ``drift`` says is given.
        """
        changed = {name: value for name, value in own_table.items() if name != "complete"}
        changed["filters"] = (*changed.get("filters", ()), *self.filters)
        changed["own_reference"] = changed.pop("reference", {})
        own = dict(table_in(metadata, "nbsphinx"))
        for name, value in table_in(metadata, self.metadata_key).items():
            own[name.removeprefix("execution_")] = value
        timeout, allow_errors = own.get("timeout"), own.get("allow_errors")
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
    for column in fields(Settings):
        entry = column.metadata.get("entry")
        if entry and (place is None or place in entry.places):
            yield replace(entry, name=column.name)


# What files say ----------------------------------------------------------------------------


def read_table(
    table: Mapping[str, Any], place: Place, folder: Path, named: str = "{}"
) -> dict[str, Any]:
    """Return what the settings of a table mean, by the names of the fields of :class:`Settings`.

    Args:
        table: The settings by name; None says nothing.
        place: Where they are set.
        folder: The folder of the file.
        named: How a message names a setting.

    Raises:
        ValueError: If a value is one that nothing could follow.

    """
    return {
        entry.name: entry.read(value, named.format(entry.name), folder)
        for entry in entries(place)
        if (value := table.get(entry.name)) is not None
    }


def find_project(start: Path) -> Settings:
    """Read the nearest ``pyproject.toml`` at or above a folder; without one, use the defaults.

    Raises:
        ValueError: If it can't be read, or says what nothing would follow.

    """
    path = project_file(start)
    if path is None:
        return Settings()
    try:
        written = tomllib.loads(path.read_text("utf-8"))
        tool = table_in(written, "tool")
        refuse_unknown(tool.keys() & {"sphinx_drift"}, ["sphinx-drift"], "[tool]")
        table = table_in(tool, "sphinx-drift")
        known = [entry.name for entry in entries(Place.PROJECT)]
        refuse_unknown(table, known, "[tool.sphinx-drift]")
        origin = "{} in [tool.sphinx-drift]"
        return replace(Settings(), **read_table(table, Place.PROJECT, path.parent, origin))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def project_file(start: Path) -> Path | None:
    """Return the nearest ``pyproject.toml`` at or above a folder; None if there is none."""
    start = Path(os.path.abspath(start))  # noqa: PTH100 - links stay
    paths = (folder / "pyproject.toml" for folder in (start, *start.parents))
    return next((path for path in paths if path.is_file()), None)


def read_page_table(table: object) -> dict[str, Any]:
    """Return what the table ``drift`` in the metadata of a page or notebook says.

    Raises:
        ValueError: If it is none, has another name, or a value that nothing could follow.

    """
    known = [entry.name for entry in entries(Place.PAGE)]
    if not isinstance(table, dict):
        raise ValueError(f"`drift` may hold {', '.join(sorted(known))}; got {table!r}")  # noqa: TRY004 - the same
    refuse_unknown(table, known, "`drift`")
    return read_table(table, Place.PAGE, Path(), "`drift: {}`")


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
