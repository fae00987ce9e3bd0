"""Variants of an expectation: of several texts for one output, the one whose condition holds."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from packaging.markers import InvalidMarker, Marker, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from sphinx_drift.kinds import Kind
from sphinx_drift.model import Cell, Expectation, Outcome, Page

UNCONDITIONAL = (
    "another text of this output has no `:when:`, and would hold too: give each its condition, "
    "such as `numpy<2` and `numpy>=2`"
)
_NO_ANSWER = "the page ended before it said which versions it has, so no variant is known to hold"


def read_condition(text: str) -> Requirement | Marker:
    """Return what a condition asks of a package, or of Python and the system.

    Raises:
        ValueError: If it is neither a requirement with versions nor a marker.

    """
    with suppress(InvalidRequirement):
        requirement = Requirement(text)
        if requirement.specifier:
            return requirement
    with suppress(InvalidMarker, UndefinedEnvironmentName):
        marker = Marker(text)
        marker.evaluate()  # a name may be one that only an installer knows
        return marker
    raise ValueError(
        "`:when:` must be a requirement such as `numpy<2`, or a marker such as "
        f'`python_version >= "3.13"`; got {text!r}'
    )


def packages_named(expectations: Iterable[Expectation]) -> list[str]:
    """Return the packages named in the conditions of expectations, `python` too."""
    conditions = [read_condition(e.when) for e in expectations if e.when]
    return sorted({canonicalize_name(c.name) for c in conditions if isinstance(c, Requirement)})


def choose_variants(page: Page, here: Mapping[str, Any] | None) -> Page:
    """Return the page with the variants that apply; list the others as OTHER_VARIANT.

    Args:
        page: The page.
        here: What its kernel answered: its `versions` of packages, and the values of `markers`;
            None if it didn't.

    """
    problems = list(page.problems)
    cells: list[Cell] = []
    for cell in page.cells:
        holding = _holding(cell.expectations, here)
        here_too = {expectation.line for expectation in holding}
        others = [e for e in cell.expectations if e.line not in here_too]
        is_claim = cell.is_claim or bool(others)
        unmet = (*cell.unmet, *_unmet(others, holding, here))
        cells.append(replace(cell, expectations=holding, unmet=unmet, is_claim=is_claim))
        of_cell = partial(Outcome, Kind.OTHER_VARIANT, cell=cell.number, cell_line=cell.line)
        problems += [of_cell(e.line, message=f"when {e.when}") for e in others]
    return replace(page, cells=tuple(cells), problems=tuple(problems))


def _holding(
    expectations: Sequence[Expectation], here: Mapping[str, Any] | None
) -> tuple[Expectation, ...]:
    """Return the expectations of a cell that are compared.

    If none is, the first of them fails and says so; if two of one output are, both do.
    """
    holding = [e for e in expectations if not e.when or (here and _holds(e.when, here))]
    if not holding:
        return tuple(_with_none(expectations, here))
    for i, expectation in enumerate(holding):
        rivals = [e for e in holding if e.when and e.part is expectation.part]
        if here and len(rivals) > 1:
            holding[i] = replace(expectation, problem=f"both hold: {_listed(rivals, here)}")
    return tuple(holding)


def _unmet(
    others: Sequence[Expectation], holding: Sequence[Expectation], here: Mapping[str, Any] | None
) -> Iterator[Expectation]:
    """Yield an expectation of each part of which all variants are for elsewhere."""
    known = {expectation.part for expectation in holding}
    for part in dict.fromkeys(e.part for e in others if e.part not in known):
        yield from _with_none([e for e in others if e.part is part], here)


def _with_none(
    variants: Sequence[Expectation], here: Mapping[str, Any] | None
) -> Iterator[Expectation]:
    """Yield the first of some variants, if there is one, with the problem that none holds."""
    problem = f"none holds: {_listed(variants, here)}" if here else _NO_ANSWER
    yield from (replace(first, problem=problem) for first in variants[:1])


def _listed(variants: Sequence[Expectation], here: Mapping[str, Any]) -> str:
    """List some conditions, and what the kernel has of what they name."""
    conditions = ", ".join(f"{variant.when} (line {variant.line})" for variant in variants)
    versions = dict.fromkeys(packages_named(variants), "isn't installed") | here["versions"]
    found = {**versions, "platform": here["markers"]["sys_platform"]}
    shown = ", ".join(f"{name} {value}" for name, value in sorted(found.items()))
    return f"{conditions}\nhere: {shown}"


def _holds(text: str, here: Mapping[str, Any]) -> bool:
    condition = read_condition(text)
    if isinstance(condition, Marker):
        return condition.evaluate(here["markers"])
    version = here["versions"].get(canonicalize_name(condition.name))
    is_here = version is not None and condition.specifier.contains(version, prereleases=True)
    return is_here and (not condition.marker or condition.marker.evaluate(here["markers"]))
