"""What values settings take, and the entries of the table that is made of them."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sphinx_drift.compare.compare import Policy
from sphinx_drift.output.filters import filters_in
from sphinx_drift.patterns import EVERY_PAGE, Pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from sphinx_drift.output.filters import Filter


# An entry of the table ----------------------------------------------------------------------


class Place(StrEnum):
    """Where a setting may be set."""

    CONF = "`conf.py`"
    PROJECT = "`[tool.sphinx-drift]`"
    PAGE = "the metadata of a page or notebook"
    COMMAND = "an option of the command"


class Shape(NamedTuple):
    """A kind of values that a setting may have."""

    name: str
    read: Callable[[Any, str, Path], Any]
    """Returns what a value means, set by a file of a folder, or raises a `ValueError`."""
    from_text: Callable[[str], Any] = str
    """Returns the value that an option of a command gives as a text."""


@dataclass(frozen=True)
class Setting:
    """An entry of the table."""

    name: str
    """The name of its field; empty until the table is read."""
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
    entry = Setting("", default, shape, text, places, variable, rereads)
    if isinstance(default, dict):
        return field(default_factory=default.copy, metadata={"entry": entry})
    value = None if default is None else shape.read(default, "", Path())
    return field(default=value, metadata={"entry": entry})


# What values there are ---------------------------------------------------------------------


def _must(what: str, is_right: Callable[[Any], bool], hint: str = "") -> Callable[..., Any]:
    def read(value: object, origin: str, _folder: Path) -> Any:
        if not is_right(value):
            raise ValueError(f"{origin} must {what} got {value!r}{hint}")
        return value

    return read


def _is_texts(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)


def whole_number(hint: str = "") -> Shape:
    """Return the shape of a number of things; a message ends with the hint."""

    def is_right(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and value > 0

    def from_text(text: str) -> object:
        return int(text) if text.isdecimal() else text

    return Shape("int", _must("be a whole number above 0,", is_right, hint), from_text)


def one_of(*allowed: str) -> Shape:
    """Return the shape of a text that is one of some."""
    read = _must(f"be one of {', '.join(allowed)};", allowed.__contains__)
    return Shape("str", read)


def _split(text: str) -> list[str]:
    return text.split(",")


TEXT = Shape("str", _must("be a text,", lambda value: isinstance(value, str)))
TRUTH = Shape(
    "bool",
    _must("be True or False,", lambda value: isinstance(value, bool)),
    lambda text: {"0": False, "1": True}.get(text, text),
)
NAMES = Shape("list", _must("be a list of names,", _is_texts), _split)
_read_texts = _must(
    "hold names and texts,",
    lambda value: isinstance(value, dict) and all(isinstance(v, str) for v in value.values()),
)
_POLICY_NAME = one_of("auto", *Policy)


def _read_policy(value: object, origin: str, folder: Path) -> Policy | None:
    name = _POLICY_NAME.read(value, origin, folder)
    return None if name == "auto" else Policy(name)


def _read_required(value: object, origin: str, folder: Path) -> tuple[Pattern, ...]:
    if value in ("expected", "all"):
        return EVERY_PAGE if value == "all" else ()
    if isinstance(value, str):
        message = f"{origin} must be 'expected', 'all' or a list of patterns, got {value!r}"
        raise ValueError(message)  # noqa: TRY004 - a list is right, this text is not
    return tuple(Pattern(text, folder) for text in NAMES.read(value, origin, folder))


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
"""What `report_environment` of `run/injected.py` reports of the environment of a page."""
POLICY = Shape("str", _read_policy)
REQUIRED = Shape("str or list", _read_required, _required_in)
REFERENCE = Shape("dict", _read_reference)
FOLDERS = Shape("dict", _read_folders)
FILTERS = Shape("list", _read_filters)


def refuse_unknown(names: Iterable[str], known: Collection[str], place: str) -> None:
    """Raise a `ValueError` for a name that nothing would read, with the nearest one."""
    for name in sorted(set(names) - set(known)):
        nearest = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
        raise ValueError(f"{place} may hold {', '.join(sorted(known))}; got {name!r}{hint}")
