"""What values settings take, and the entries of the table that is made of them."""

import difflib
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.machinery import all_suffixes
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from sphinx_drift.compare.compare import Policy
from sphinx_drift.output.filters import filters_in
from sphinx_drift.patterns import EVERY_PAGE, Pattern


class Place(StrEnum):
    """Where a setting may be set."""

    CONF = "`conf.py`"
    PROJECT = "`[tool.sphinx-drift]`"
    PAGE = "the metadata of a page or notebook"
    COMMAND = "an option of the command"


class Shape(NamedTuple):
    """A kind of values that a setting may have, and what one means in a file of a folder."""

    name: str
    fits: Callable[[Any], bool]
    meaning: Callable[[Any, str, Path], Any] = lambda value, _origin, _folder: value


def _patterns(value: str | list[str], _origin: str, folder: Path) -> tuple[Pattern, ...]:
    if isinstance(value, str):
        return EVERY_PAGE if value == "all" else ()
    return tuple(Pattern(text, folder) for text in value)


def _folders(names: dict[str, str | PurePath], origin: str, folder: Path) -> dict[str, Path]:
    """Return the folders of packages, each of which has a package or a module of that name."""
    folders = {name: folder / path for name, path in names.items()}
    for name, holds in folders.items():
        held = holds / name.rpartition(".")[2]
        if not (held.is_dir() or any(Path(f"{held}{end}").exists() for end in all_suffixes())):
            raise ValueError(f"{origin} must name the folder that holds {name!r}; got {holds}")
    return folders


def _environment(names: dict[str, str], origin: str, _folder: Path) -> dict[str, str]:
    """Return an environment, of what `report_environment` in `run/injected.py` reports."""
    reported = "capability device driver machine name numpy python system threads torch"
    refuse_unknown(names, reported.split(), origin)
    return names


NUMBER = Shape("a whole number above 0", lambda value: type(value) is int and value > 0)
TRUTH = Shape("True or False", lambda value: isinstance(value, bool))
TEXT = Shape("a text", lambda value: isinstance(value, str))
NAMES = Shape(
    "a list of names",
    lambda value: isinstance(value, (list, tuple)) and all(map(TEXT.fits, value)),
)
ENVIRONMENT = Shape(
    "names with a text each",
    lambda value: isinstance(value, dict) and all(map(TEXT.fits, value.values())),
    _environment,
)
FOLDERS = Shape(
    "names with a folder each",
    lambda value: (
        isinstance(value, dict)
        and all(isinstance(folder, (str, PurePath)) for folder in value.values())
    ),
    _folders,
)
FILTERS = Shape(
    "a list of filters",
    lambda value: isinstance(value, (list, tuple)),
    lambda value, origin, _: filters_in(value, origin),
)
PAGES = Shape(
    "a list of patterns, 'all' or 'expected'",
    lambda value: value in ("expected", "all") or NAMES.fits(value),
    _patterns,
)
POLICY = Shape(
    f"one of {', '.join(['auto', *Policy])}",
    ("auto", *Policy).__contains__,
    lambda name, _origin, _folder: None if name == "auto" else Policy(name),
)


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

    @property
    def option(self) -> str:
        """The option of the command."""
        return f"--{self.name.replace('_', '-')}"

    def read(self, value: object, origin: str, folder: Path) -> Any:
        """Return what a value means that is set in a file of a folder.

        Raises:
            ValueError: If it is invalid; the message begins with the origin.

        """
        if not self.shape.fits(value):
            raise ValueError(f"{origin} must be {self.shape.name}; got {value!r}")
        return self.shape.meaning(value, origin, folder)

    def from_text(self, text: str) -> object:
        """Return the value that an option or an environment variable gives as a text."""
        if self.shape is NUMBER and text.isdecimal():
            return int(text)
        if self.shape is TRUTH:
            return {"0": False, "1": True}.get(text, text)
        is_list = self.shape in (NAMES, PAGES) and text not in ("expected", "all")
        return text.split(",") if is_list else text


def setting(
    places: tuple[Place, ...], shape: Shape, text: str, *, default: Any, variable: str = ""
) -> Any:
    """Return a field of a table that is an entry of the table."""
    entry = Setting("", default, shape, text, places, variable)
    if isinstance(default, dict):
        return field(default_factory=default.copy, metadata={"entry": entry})
    value = None if default is None else entry.read(default, "", Path())
    return field(default=value, metadata={"entry": entry})


def refuse_unknown(names: Iterable[str], known: Collection[str], origin: str) -> None:
    """Raise a `ValueError` for a name that nothing would read, with the nearest one."""
    for name in sorted(set(names) - set(known)):
        nearest = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
        raise ValueError(f"{origin} may hold {', '.join(sorted(known))}; got {name!r}{hint}")
