"""Read the checker's configuration from ``pyproject.toml`` or a notebook's metadata."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sphinx_drift.compare.compare import Policy
from sphinx_drift.output.filters import filters_in
from sphinx_drift.run.preload import imported_below
from sphinx_drift.source.metadata import table_in

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from sphinx_drift.output.filters import Filter

_REPORTED = (
    *("capability", "device", "driver", "machine", "name", "numpy", "python", "system", "threads"),
    "torch",
)
"""What `report_environment` of `run/injected.py` tells of the environment of a page."""


@dataclass(frozen=True)
class Project:
    """The configuration of a project: ``[tool.sphinx-drift]`` of its ``pyproject.toml``."""

    reference: Mapping[str, str] = field(default_factory=dict)
    """The environment on which its documented values hold to the last digit: names such as
    ``torch``, ``system``, ``machine`` and ``device``. If there are none, they hold on any CPU."""
    packages: Mapping[str, Path] = field(default_factory=dict)
    """Packages that pages must import from the project itself, each with the folder it is in."""
    preload: Sequence[str] | None = None
    """Libraries that are loaded once for all pages; None for the slow ones that pages import."""
    devices: str = ""
    """The module that knows devices."""
    filters: tuple[Filter, ...] = ()
    """What varies, and is not compared."""
    require: tuple[str, ...] = ()
    """Patterns of the pages on which each output must have an expectation."""

    def libraries(self, pages: Iterable[Path]) -> Sequence[str]:
        """Return the libraries that are loaded once for the pages at or below some paths."""
        return imported_below(pages) if self.preload is None else self.preload


def find_project(start: Path) -> Project:
    """Read the nearest ``pyproject.toml`` at or above a folder; without one, use the defaults.

    Raises:
        ValueError: If it can't be read, or says what nothing would follow.

    """
    path = project_file(start)
    if path is None:
        return Project()
    table = {f"drift_{name}": value for name, value in _table(path).items()}
    for name, value in table.items():
        setting = name.removeprefix("drift_")
        CHECKS[name](value, f"{path}: {setting} in [tool.sphinx-drift]")
    return overridden(Project(), table, path.parent)


def project_file(start: Path) -> Path | None:
    """Return the nearest ``pyproject.toml`` at or above a folder; None if there is none."""
    start = start.resolve()
    paths = (folder / "pyproject.toml" for folder in (start, *start.parents))
    return next((path for path in paths if path.is_file()), None)


def _table(path: Path) -> dict[str, object]:
    """Return the checker's table of a project's file; refuse unknown names."""
    try:
        table: object = tomllib.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    for name in ("tool", "sphinx-drift"):
        table = table.get(name, {}) if isinstance(table, dict) else None
    if not isinstance(table, dict):
        raise ValueError(f"{path}: [tool.sphinx-drift] must hold names and texts, got {table!r}")  # noqa: TRY004 - the same
    refuse_unknown(table, [each.name for each in fields(Project)], f"{path}: [tool.sphinx-drift]")
    return table


def refuse_unknown(names: Iterable[str], known: Collection[str], place: str) -> None:
    """Raise a `ValueError` for a name that nothing would read, with the nearest one."""
    for name in sorted(set(names) - set(known)):
        nearest = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
        raise ValueError(f"{place} may hold {', '.join(sorted(known))}; got {name!r}{hint}")


def _must(what: str, is_right: Callable[[Any], bool]) -> Callable[..., Any]:
    """Return a function that returns the value of a setting if it is right."""

    def check(value: object, setting: str, hint: str = "") -> object:
        if not is_right(value):
            raise ValueError(f"{setting} must {what} got {value!r}{hint}")
        return value

    return check


def one_of(*allowed: str) -> Callable[..., Any]:
    """Return a function that returns the value of a setting if it is one of some texts."""
    return _must(f"be one of {', '.join(allowed)};", allowed.__contains__)


text = _must("be a text,", lambda value: isinstance(value, str))
truth = _must("be True or False,", lambda value: isinstance(value, bool))
number_above_zero = _must(
    "be a whole number above 0,",
    lambda value: isinstance(value, int) and not isinstance(value, bool) and value > 0,
)
list_of_names = _must(
    "be a list of names,",
    lambda value: isinstance(value, (list, tuple)) and all(isinstance(n, str) for n in value),
)
table_of_texts = _must(
    "hold names and texts,",
    lambda value: isinstance(value, dict) and all(isinstance(v, str) for v in value.values()),
)


def pages_required(value: object, setting: str) -> tuple[str, ...]:
    """Return the patterns of the pages on which each output must have an expectation."""
    if value in ("expected", "all"):
        return ("*",) if value == "all" else ()
    if isinstance(value, str):
        message = f"{setting} must be 'expected', 'all' or a list of patterns, got {value!r}"
        raise ValueError(message)  # noqa: TRY004 - a list is right, this text is not
    return tuple(list_of_names(value, setting))


def reference_in(value: object, setting: str) -> dict[str, str]:
    """Return a reference environment if it names nothing but what pages report of theirs."""
    reference: dict[str, str] = table_of_texts(value, setting)
    refuse_unknown(reference, _REPORTED, setting)
    return reference


def stored_reference(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return the reference environment that a page or notebook brings along, wherever it lies.

    It is in its metadata, ``{"drift": {"reference": {...}}}``, with the names of
    :attr:`Project.reference`. What can't be read is no reference, and then the project's counts.
    """
    table = table_in(table_in(metadata, "drift"), "reference")
    return dict(table) if all(isinstance(value, str) for value in table.values()) else {}


def overridden(project: Project, book: Mapping[str, Any], folder: Path) -> Project:
    """Return what a project says, where its book, in a folder, doesn't say otherwise."""
    read: dict[str, Callable[[Any], object]] = {
        "reference": dict,
        "packages": lambda folders: {name: folder / at for name, at in folders.items()},
        "preload": tuple,
        "devices": str,
        "filters": lambda value: filters_in(value, "drift_filters"),
        "require": lambda value: pages_required(value, "drift_require"),
    }
    own = {name: book.get(f"drift_{name}") for name in read}
    changed: dict[str, Any] = {n: read[n](value) for n, value in own.items() if value is not None}
    return replace(project, **changed)


_LONGER = (
    "; a page that may take longer, or any time (-1), says so in its front matter: "
    "mystnb: {execution_timeout: 600}"
)
CHECKS: Mapping[str, Callable[[object, str], object]] = {
    "drift_device": text,
    "drift_devices": text,
    "drift_environment": text,
    "drift_executor": text,
    "drift_filters": filters_in,
    "drift_live": truth,
    "drift_output_limit": number_above_zero,
    "drift_packages": table_of_texts,
    "drift_policy": one_of("auto", *Policy),
    "drift_preload": list_of_names,
    "drift_reference": reference_in,
    "drift_require": pages_required,
    "drift_severity": one_of("error", "warning"),
    "drift_timeout": partial(number_above_zero, hint=_LONGER),
    "drift_twice": truth,
}
"""What refuses a wrong value of each setting; None, where it is the default, says nothing."""


def check_values(settings: Mapping[str, Any]) -> None:
    """Raise a `ValueError` for a setting with a value that nothing could follow."""
    for name, check in CHECKS.items():
        if settings.get(name) is not None:
            check(settings[name], name)
