"""Variants of an expectation: of several texts for one output, the one whose condition holds."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from packaging.markers import InvalidMarker, Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from sphinx_drift.model import Cell, Expectation, Kind, Outcome, Page

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sphinx_drift.output.printed_text import Part

UNCONDITIONAL = (
    "another text of this output has no `:when:`, and would hold too: give each its condition, "
    "such as `numpy<2` and `numpy>=2`"
)
_OF_MARKERS = re.compile(r"(implementation|os|platform|python|sys)_\w+")
"""What a marker asks for; without its quotes it would read as a package."""
_UNKNOWN = "the page ended before it said which versions it has, so no variant is known to hold"


def read_condition(text: str) -> tuple[Requirement | None, Marker | None]:
    """Return what a condition asks of a package, and of Python and the system.

    Raises:
        ValueError: If it is neither a requirement with versions nor a marker.

    """
    with suppress(InvalidRequirement):
        requirement = Requirement(text)
        is_plain = not (requirement.url or requirement.extras)
        if requirement.specifier and is_plain and not _OF_MARKERS.fullmatch(requirement.name):
            return requirement, requirement.marker
    with suppress(InvalidMarker):
        return None, Marker(text)
    raise ValueError(
        "`:when:` must be a requirement such as `numpy<2`, or a marker such as "
        f'`python_version >= "3.13"`; got {text!r}'
    )


def packages_named(page: Page) -> list[str]:
    """Return the packages that the conditions of a page name, `python` too."""
    conditions = (e.when for cell in page.cells for e in cell.expectations if e.when)
    requirements = (read_condition(text)[0] for text in conditions)
    return sorted({canonicalize_name(each.name) for each in requirements if each})


def chosen(page: Page, here: Mapping[str, Any] | None) -> Page:
    """Return the page with the variants that apply; list the others as OTHER_VARIANT.

    Args:
        page: The page.
        here: What its kernel answered: its `versions` of packages, and the values of `markers`;
            None if it didn't.

    """
    problems = list(page.problems)
    cells: list[Cell] = []
    for cell in page.cells:
        kept, elsewhere = _chosen(cell.expectations, here)
        lines = {each.line for each in kept}
        problems += [
            Outcome(
                Kind.OTHER_VARIANT,
                each.line,
                cell=cell.number,
                cell_line=cell.line,
                message=f"when {each.when}",
            )
            for each in cell.expectations
            if each.line not in lines
        ]
        cells.append(replace(cell, expectations=tuple(kept), elsewhere=tuple(elsewhere)))
    return replace(page, cells=tuple(cells), problems=tuple(problems))


def _chosen(
    expectations: Sequence[Expectation], here: Mapping[str, Any] | None
) -> tuple[list[Expectation], list[Expectation]]:
    """Return the expectations of a cell that are compared, and what fails if it is printed.

    Where none is, or two of one output would be, the first of them says so, and fails.
    """
    kept: list[Expectation] = []
    for expectation in expectations:
        if not expectation.when:
            kept.append(expectation)
        elif here and _holds(expectation.when, here):
            place = next((i for i, e in enumerate(kept) if e.part is expectation.part), None)
            if place is None:
                kept.append(expectation)
            else:
                both = f"both hold: {_listed([kept[place], expectation])}"
                kept[place] = replace(kept[place], problem=f"{both}\n{_found(here)}")
    others: dict[Part, list[Expectation]] = {}
    for expectation in expectations:
        if all(expectation.part is not each.part for each in kept):
            others.setdefault(expectation.part, []).append(expectation)
    elsewhere = [replace(each[0], problem=_none_holds(each, here)) for each in others.values()]
    if expectations and not kept:
        kept, elsewhere = [replace(expectations[0], problem=_none_holds(expectations, here))], []
    return kept, elsewhere


def _none_holds(variants: Iterable[Expectation], here: Mapping[str, Any] | None) -> str:
    return f"none holds: {_listed(variants)}\n{_found(here)}" if here else _UNKNOWN


def _listed(variants: Iterable[Expectation]) -> str:
    return ", ".join(f"{each.when} (line {each.line})" for each in variants)


def _found(here: Mapping[str, Any]) -> str:
    """Say which versions a kernel has."""
    found = {**here["versions"], "platform": here["markers"]["sys_platform"]}
    return f"here: {', '.join(f'{name} {value}' for name, value in sorted(found.items()))}"


def _holds(text: str, here: Mapping[str, Any]) -> bool:
    requirement, marker = read_condition(text)
    if marker and not marker.evaluate(here["markers"]):
        return False
    version = here["versions"].get(canonicalize_name(requirement.name)) if requirement else None
    return requirement is None or (
        version is not None and requirement.specifier.contains(version, prereleases=True)
    )
