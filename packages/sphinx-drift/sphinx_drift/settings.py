"""The table of settings: what each may be, where it may be set, and what it means.

A new setting is one field of :class:`Settings`. Sphinx's configuration values, the project's file,
the metadata of pages, the options of the command and the manual's page are made from these fields.
"""

from __future__ import annotations

import difflib
import os
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sphinx_drift.compare.compare import Policy
from sphinx_drift.output.filters import filters_in
from sphinx_drift.patterns import EVERY_PAGE, Pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from sphinx_drift.model import Page
    from sphinx_drift.output.filters import Filter
    from sphinx_drift.run.results import Probe


# The parts of an entry ---------------------------------------------------------------------


class Place(StrEnum):
    """Where a setting may be set."""

    CONF = "`conf.py`"
    PROJECT = "`[tool.sphinx-drift]`"
    PAGE = "the metadata of a page or notebook"
    COMMAND = "an option of the command"


class Shape(NamedTuple):
    """What values a setting takes."""

    name: str
    read: Callable[[Any, str, Path], Any]
    """Returns what a value means, said somewhere in a folder, or raises a `ValueError`."""
    from_text: Callable[[str], Any] = str
    """Returns the value that an option of a command gives as a text."""


@dataclass(frozen=True)
class Setting:
    """An entry of the table."""

    name: str
    default: Any
    shape: Shape
    text: str
    places: tuple[Place, ...]
    variable: str
    """The environment variable that comes before the files; nothing if there is none."""
    rereads: bool
    """Whether Sphinx reads all pages again if it changes."""

    @property
    def is_internal(self) -> bool:
        """Whether nobody is meant to write it: it has no line in the manual."""
        return not self.text

    @property
    def option(self) -> str:
        """The option of the command."""
        return f"--{self.name.replace('_', '-')}"


def setting(  # noqa: PLR0913 - the columns of the table
    places: tuple[Place, ...],
    shape: Shape,
    text: str,
    *,
    default: Any,
    variable: str = "",
    rereads: bool = True,
) -> Any:
    """Return a field of :class:`Settings` that is an entry of the table."""
    columns = (default, shape, text, places, variable, rereads)
    if isinstance(default, dict):
        return field(default_factory=default.copy, metadata={"entry": columns})
    value = None if default is None else shape.read(default, "", Path())
    return field(default=value, metadata={"entry": columns})


# What values there are ---------------------------------------------------------------------


def _must(what: str, is_right: Callable[[Any], bool], hint: str = "") -> Callable[..., Any]:
    def read(value: object, origin: str, _folder: Path) -> Any:
        if not is_right(value):
            raise ValueError(f"{origin} must {what} got {value!r}{hint}")
        return value

    return read


def _is_texts(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value)


def _whole(hint: str = "") -> Shape:
    def is_right(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and value > 0

    def from_text(text: str) -> object:
        return int(text) if text.isdecimal() else text

    return Shape("int", _must("be a whole number above 0,", is_right, hint), from_text)


def _one_of(*allowed: str) -> Shape:
    read = _must(f"be one of {', '.join(allowed)};", allowed.__contains__)
    return Shape("str", read)


def _split(text: str) -> list[str]:
    return text.split(",")


_text = Shape("str", _must("be a text,", lambda value: isinstance(value, str)))
_truth = Shape(
    "bool",
    _must("be True or False,", lambda value: isinstance(value, bool)),
    lambda text: {"0": False, "1": True}.get(text, text),
)
_names = Shape("list", _must("be a list of names,", _is_texts), _split)
_read_texts = _must(
    "hold names and texts,",
    lambda value: isinstance(value, dict) and all(isinstance(v, str) for v in value.values()),
)
_POLICY = _one_of("auto", *Policy)


def _read_policy(value: object, origin: str, folder: Path) -> Policy | None:
    name = _POLICY.read(value, origin, folder)
    return None if name == "auto" else Policy(name)


def _read_required(value: object, origin: str, folder: Path) -> tuple[Pattern, ...]:
    if value in ("expected", "all"):
        return EVERY_PAGE if value == "all" else ()
    if isinstance(value, str):
        message = f"{origin} must be 'expected', 'all' or a list of patterns, got {value!r}"
        raise ValueError(message)  # noqa: TRY004 - a list is right, this text is not
    return tuple(Pattern(text, folder) for text in _names.read(value, origin, folder))


def _read_reference(value: object, origin: str, folder: Path) -> dict[str, str]:
    reference: dict[str, str] = _read_texts(value, origin, folder)
    refuse_unknown(reference, _REPORTED, origin)
    return reference


def _read_folders(value: object, origin: str, folder: Path) -> dict[str, Path]:
    return {name: folder / at for name, at in _read_texts(value, origin, folder).items()}


def _read_filters(value: object, origin: str, _folder: Path) -> tuple[Filter, ...]:
    return filters_in(value, origin)


def _required_in(text: str) -> object:
    return text if text in ("expected", "all") else _split(text)


_REPORTED = (
    *("capability", "device", "driver", "machine", "name", "numpy", "python", "system", "threads"),
    "torch",
)
"""What `report_environment` of `run/injected.py` tells of the environment of a page."""
_LONGER = (
    "; a page that may take longer, or any time (-1), says so in its front matter: "
    "mystnb: {execution_timeout: 600}"
)
_FILES = (Place.CONF, Place.PROJECT)
_ANYWHERE = (*_FILES, Place.COMMAND)
_OF_PAGES = (*_FILES, Place.PAGE)


# The table ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """How pages are run and compared: the entries of the table, and what follows from others."""

    policy: Policy | None = setting(
        _ANYWHERE,
        Shape("str", _read_policy),
        "How strictly numbers are compared: `exact`, `portable` or `auto`, which means exact on "
        "the reference environment and portable elsewhere.",
        variable="DRIFT_POLICY",
        default="auto",
    )
    reference: Mapping[str, str] = setting(
        _OF_PAGES,
        Shape("dict", _read_reference),
        "The environment on which the documented values hold to the last digit, such as "
        "`{'torch': '2.13.0', 'device': 'cpu'}`; without one they hold on any CPU.",
        default={},
    )
    require: tuple[Pattern, ...] = setting(
        _ANYWHERE,
        Shape("str or list", _read_required, _required_in),
        "The pages on which each output must be documented: `all`, `expected` (none must), or "
        "patterns of pages.",
        default="expected",
    )
    complete: bool = setting(
        (Place.PAGE,),
        _truth,
        "Whether each output of this page must be documented, whatever the book requires.",
        default=False,
    )
    filters: tuple[Filter, ...] = setting(
        _OF_PAGES,
        Shape("list", _read_filters),
        "What varies from run to run and is not compared: a regular expression, a name and a "
        "reason each.",
        default=(),
    )
    timeout: int | None = setting(
        _ANYWHERE,
        _whole(_LONGER),
        "How many seconds a cell may take, and what a page does before its first one.",
        default=300,
    )
    output_limit: int = setting(
        _FILES,
        _whole(),
        "How many bytes the outputs of a cell may take; those of a page may take four times as "
        "many.",
        default=10_000_000,
    )
    twice: bool = setting(
        _ANYWHERE,
        _truth,
        "Whether each page runs a second time, with other entropy, so that outputs which don't "
        "repeat are found.",
        default=False,
    )
    keep_going: bool = setting(
        (Place.COMMAND,),
        _truth,
        "Whether a page goes on after an error that nothing allows; the error fails all the same.",
        default=False,
    )
    packages: Mapping[str, Path] = setting(
        _FILES,
        Shape("dict", _read_folders),
        "The packages that pages must import from the project itself, each with the folder that "
        "holds it.",
        default={},
    )
    preload: tuple[str, ...] | None = setting(
        _FILES,
        _names,
        "The libraries that are loaded once for all pages; if it is left out, NumPy and torch "
        "where a page imports them.",
        rereads=False,
        default=None,
    )
    device: str = setting(
        (Place.CONF, Place.COMMAND),
        _text,
        "What pages compute on, with the random numbers of the CPU: `cpu`, `cuda`, `cuda:1`, "
        "`mps` or `auto`.",
        variable="DRIFT_DEVICE",
        default="cpu",
    )
    devices: str = setting(
        _FILES,
        _text,
        "The module that finds devices and computes on them, which any device but `cpu` needs.",
        default="",
    )
    executor: str = setting(
        (Place.CONF,),
        _text,
        "The function that returns the executor which runs pages, as `module:function`.",
        rereads=False,
        default="",
    )
    severity: str = setting(
        (Place.CONF,),
        _one_of("error", "warning"),
        "How a build reports what failed; a warning fails it only if Sphinx is told so.",
        rereads=False,
        default="error",
    )
    live: bool = setting((Place.CONF,), _truth, "", default=False, rereads=False)
    """Whether `sphinx_drift.live` builds: it runs only the pages that changed."""
    environment: str = setting((Place.CONF,), _text, "", default="")
    """All of these as one text, by which Sphinx knows that pages have to be read again."""

    # What no table says ---------------------------------------------------------------

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
        named = [each for each in (self.reference, self.own_reference) if each] or [{}]
        return any(
            all(environment.get(name, value) == value for name, value in documented.items())
            for documented in ({"device": "cpu", **each} for each in named)
        )

    def goes_on(self, page: Page) -> bool:
        """Whether a page or notebook goes on after an error."""
        is_kept_going = self.keep_going or (self.notebooks_go_on and page.stored)
        return self.allow_errors or is_kept_going

    def applied_to(self, page: Page, file: Path) -> Page:
        """Return a page that has to be complete if these settings say so."""
        is_required = any(pattern.matches(file) for pattern in self.require)
        return replace(page, complete=page.complete or is_required)

    def of_page(self, metadata: Mapping[str, Any]) -> Settings:
        """Return the settings of a page, which may say in its metadata how it is executed.

        MyST-NB reads ``mystnb: {execution_timeout: 600}``, or by another key that the book has
        chosen; jupyter-cache reads ``execution: {timeout: 600}``, nbsphinx ``nbsphinx: {...}``.
        """
        own = {**_table(metadata, "nbsphinx"), **_table(metadata, "execution")}
        for name, value in _table(metadata, self.metadata_key).items():
            own[name.removeprefix("execution_")] = value
        timeout, allow_errors = own.get("timeout"), own.get("allow_errors")
        changed: dict[str, Any] = {"own_reference": stored_reference(metadata)}
        if isinstance(timeout, int) and not isinstance(timeout, bool):
            changed["timeout"] = timeout if timeout > 0 else None
        if isinstance(allow_errors, bool):
            changed["allow_errors"] = allow_errors
        with suppress(ValueError):  # an outcome of the page says what is wrong
            said = read_page_table(metadata.get("drift", {}))
            changed |= {name: said[name] for name in said.keys() - _READ_WITH_CELLS}
        return replace(self, **changed)

    def described(self) -> str:
        """Return what Sphinx compares with an earlier build: all that has pages read again."""
        plain = replace(self, filters=())
        # A compiled pattern shows no more than 200 of its characters.
        filters = [(each.pattern.pattern, *each[1:]) for each in self.filters]
        values = {
            each.name: getattr(plain, each.name) for each in entries() if each.rereads and each.text
        }
        return f"{values} {filters}"


def entries(place: Place | None = None) -> Iterator[Setting]:
    """Yield the entries of the table that may be set at a place, or all."""
    for each in fields(Settings):
        if columns := each.metadata.get("entry"):
            entry = Setting(each.name, *columns)
            if place is None or place in entry.places:
                yield entry


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
        each.name: each.shape.read(value, named.format(each.name), folder)
        for each in entries(place)
        if (value := table.get(each.name)) is not None
    }


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


_READ_WITH_CELLS = {"complete", "filters", "reference"}
"""What a page adds to the settings of its book, in place of changing them."""


def changed_by_environment(settings: Settings) -> Settings:
    """Return settings with what environment variables say."""
    changed = {
        entry.name: entry.shape.read(entry.shape.from_text(text), entry.variable, Path())
        for entry in entries()
        if entry.variable and (text := os.environ.get(entry.variable))
    }
    return replace(settings, **changed)


def stored_reference(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return the reference environment that a page or notebook brings along, wherever it lies.

    It is in its metadata, ``{"drift": {"reference": {...}}}``, with the names of
    :attr:`Settings.reference`. What can't be read is none, and then the project's counts.
    """
    table = _table(_table(metadata, "drift"), "reference")
    return dict(table) if all(isinstance(value, str) for value in table.values()) else {}


def _table(metadata: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = metadata.get(name)
    return table if isinstance(table, dict) else {}


def refuse_unknown(names: Iterable[str], known: Collection[str], place: str) -> None:
    """Raise a `ValueError` for a name that nothing would read, with the nearest one."""
    for name in sorted(set(names) - set(known)):
        nearest = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
        raise ValueError(f"{place} may hold {', '.join(sorted(known))}; got {name!r}{hint}")
