"""What `docs/_data/quantities.toml` declares: the quantities of a page, and what it calls them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
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
    source: str
    axes: str = "ij"
    formulas: tuple[str, ...] = ()


@dataclass(frozen=True)
class DeclaredPage:
    """The quantities of a page, in the order in which they are made, and its own names for them."""

    words: Mapping[str, tuple[str, ...]]
    quantities: Mapping[str, Quantity]
    bind: Mapping[str, str]
    prints: Mapping[str, tuple[str, ...]]
    figures: Mapping[str, str]


def read(folder: Path) -> dict[str, DeclaredPage]:
    """Return what a book declares of each page; nothing if it has no such file.

    Raises:
        ValueError: If a page names a family that there isn't.

    """
    file = folder / DATA
    table = tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}
    families = table.get("family", {})
    words = table.get("words", {})
    pages = table.get("page", {}).items()
    return {name: _page(name, page, families, words) for name, page in pages}


def _page(
    name: str, page: Mapping[str, Any], families: Mapping[str, Any], words: Mapping[str, Any]
) -> DeclaredPage:
    if unknown := [family for family in page["families"] if family not in families]:
        known = ", ".join(families)
        raise ValueError(f"{name}: expected families among {known}; got {', '.join(unknown)}")
    quantities = {
        each: _quantity(entry)
        for family in page["families"]
        for each, entry in families[family].items()
    }
    itself = {each: each for each in quantities}
    prints = {
        source: (meant,) if isinstance(meant, str) else tuple(meant)
        for source, meant in (itself | page.get("prints", {})).items()
    }
    computed = {each for each, quantity in quantities.items() if quantity.formulas}
    bind = {k: v for k, v in (itself | page.get("bind", {})).items() if k not in computed}
    own = {axis: tuple(each) for axis, each in (words | page.get("words", {})).items()}
    return DeclaredPage(own, quantities, bind, prints, itself | page.get("figures", {}))


def _quantity(entry: Mapping[str, Any]) -> Quantity:
    formula = entry.get("formula", ())
    return Quantity(
        entry["symbol"],
        entry["name"],
        entry["origin"],
        entry.get("axes", "ij"),
        (formula,) if isinstance(formula, str) else tuple(formula),
    )
