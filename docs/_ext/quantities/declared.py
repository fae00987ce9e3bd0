"""Read `docs/_data/quantities.toml`: the quantities of a page, and what it calls them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

DATA = "_data/quantities.toml"


@dataclass(frozen=True)
class Quantity:
    """A tensor of a computation, and what a note says of one number in it."""

    symbol: str
    name: str
    origin: str
    axes: str = "ij"
    formulas: tuple[str, ...] = ()
    uses: Mapping[str, str] = field(default_factory=dict)
    """What the notes of other quantities say that their numbers are used in, by their names."""


@dataclass(frozen=True)
class DeclaredPage:
    """The quantities of a page, in the order in which they are made, and where it shows them."""

    words: Mapping[str, tuple[str, ...]]
    quantities: Mapping[str, Quantity]
    bind: Mapping[str, str]
    """What makes a quantity, in the names of the page."""
    prints: tuple[str, ...]
    """The parts of quantities that the page prints, such as `attn_scores[1]`."""
    keep: Mapping[str, str]
    """What makes what else a figure shows, by its name there."""
    figures: Mapping[str, str]
    """The part that a name in a figure's trace is."""


def read(folder: Path) -> dict[str, DeclaredPage]:
    """Return what a book declares of each page; nothing if it has no such file.

    Raises:
        ValueError: If a page names a family that there isn't.

    """
    file = folder / DATA
    table = tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}
    families, words = table.get("family", {}), table.get("words", {})
    pages = table.get("page", {}).items()
    return {name: _page(name, page, families, words) for name, page in pages}


def _page(
    name: str, page: Mapping[str, Any], families: Mapping[str, Any], words: Mapping[str, Any]
) -> DeclaredPage:
    named = page.get("families", ())
    if unknown := [family for family in named if family not in families]:
        known = ", ".join(families)
        raise ValueError(f"{name}: expected families among {known}; got {', '.join(unknown)}")
    quantities = {
        each: _quantity(entry) for family in named for each, entry in families[family].items()
    }
    itself = {each: each for each in quantities}
    return DeclaredPage(
        {axis: tuple(each) for axis, each in (words | page.get("words", {})).items()},
        quantities,
        itself | page.get("bind", {}),
        tuple(page.get("prints", ())),
        page.get("keep", {}),
        itself | page.get("figures", {}),
    )


def _quantity(entry: Mapping[str, Any]) -> Quantity:
    formula = entry.get("formula", ())
    return Quantity(
        entry["symbol"],
        entry["name"],
        entry["origin"],
        entry.get("axes", "ij"),
        (formula,) if isinstance(formula, str) else tuple(formula),
        entry.get("uses", {}),
    )
