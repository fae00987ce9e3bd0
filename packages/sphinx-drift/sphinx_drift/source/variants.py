"""Variants of an expectation: of several texts for one output, the one whose condition holds."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from packaging.markers import InvalidMarker, Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from sphinx_drift.model import Cell, Expectation, Kind, Outcome, Page

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

UNCONDITIONAL = (
    "another text of this output has no `:when:`, and would hold too: give each its condition, "
    "such as `numpy<2` and `numpy>=2`"
)
_UNKNOWN = "the page ended before it said which versions it has, so no variant is known to hold"


def read_condition(text: str) -> Requirement | Marker:
    """Return what a condition asks of a package, or of Python and the system.

    Raises:
        ValueError: If it is neither a requirement with versions nor a marker.

    """
    with suppress(InvalidRequirement):
        requirement = Requirement(text)
        if requirement.specifier:
            return requirement
    with suppress(InvalidMarker):
        return Marker(text)
    raise ValueError(
        "`:when:` must be a requirement such as `numpy<2`, or a marker such as "
        f'`python_version >= "3.13"`; got {text!r}'
    )


def packages_named(page: Page) -> list[str]:
    """Return the packages that the conditions of a page name, `python` too."""
    conditions = (
        read_condition(e.when) for cell in page.cells for e in cell.expectations if e.when
    )
    return sorted({canonicalize_name(c.name) for c in conditions if isinstance(c, Requirement)})


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
        kept = _chosen(cell.expectations, here)
        lines = {expectation.line for expectation in kept}
        others = [e for e in cell.expectations if e.line not in lines]
        for other in others:
            outcome = Outcome(Kind.OTHER_VARIANT, other.line, cell=cell.number, cell_line=cell.line)
            problems.append(replace(outcome, message=f"when {other.when}"))
        cells.append(replace(cell, expectations=kept, is_claim=cell.is_claim or bool(others)))
    return replace(page, cells=tuple(cells), problems=tuple(problems))


def _chosen(
    expectations: Sequence[Expectation], here: Mapping[str, Any] | None
) -> tuple[Expectation, ...]:
    """Return the expectations of a cell that are compared.

    Where none is, the first of them says so, and fails; where two of one output are, both do.
    """
    holding = [e for e in expectations if not e.when or (here and _holds(e.when, here))]
    if expectations and not holding:
        problem = f"none holds: {_listed(expectations)}\n{_found(here)}" if here else _UNKNOWN
        return (replace(expectations[0], problem=problem),)
    kept = []
    for expectation in holding:
        variants = [e for e in holding if e.when and e.part is expectation.part]
        if here and len(variants) > 1:
            problem = f"both hold: {_listed(variants)}\n{_found(here)}"
            expectation = replace(expectation, problem=problem)  # noqa: PLW2901 - with a problem
        kept.append(expectation)
    return tuple(kept)


def _listed(variants: Iterable[Expectation]) -> str:
    return ", ".join(f"{variant.when} (line {variant.line})" for variant in variants)


def _found(here: Mapping[str, Any]) -> str:
    """Say which versions a kernel has."""
    found = {**here["versions"], "platform": here["markers"]["sys_platform"]}
    return f"here: {', '.join(f'{name} {value}' for name, value in sorted(found.items()))}"


def _holds(text: str, here: Mapping[str, Any]) -> bool:
    condition = read_condition(text)
    marker = condition if isinstance(condition, Marker) else condition.marker
    if marker and not marker.evaluate(here["markers"]):
        return False
    if isinstance(condition, Marker):
        return True
    version = here["versions"].get(canonicalize_name(condition.name))
    return version is not None and condition.specifier.contains(version, prereleases=True)
