"""The numbers of a report, and its last line: how much was verified, what failed or drifted."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sphinx_drift.compare.lexer import DIGITS
from sphinx_drift.model import Kind, Outcome, PageResult
from sphinx_drift.report.excerpts import many, safe_line, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sphinx_drift.compare.differences import Difference
    from sphinx_drift.output.filters import Filter

_MOST_CAUSES = 10
_NUMBER = re.compile(rf"(?<![\w.]){DIGITS}")


@dataclass(frozen=True)
class Counts:
    """How many outcomes there are of each sort."""

    verified: int = 0
    kept: int = 0
    """How many of these were printed by an earlier run, and kept by jupyter-cache."""
    failed: int = 0
    drifted: int = 0
    not_run: int = 0
    """Cells that were left out because something stopped their page."""
    unchecked: int = 0
    tagged: Mapping[str, int] = field(default_factory=dict)
    """How many of these a tag of their cell excludes, by what is said of it."""
    no_expectation: int = 0
    """Outputs that no expectation documents, on pages that needn't be complete."""
    pages_without_expectation: int = 0
    """Pages that have such outputs."""
    not_compared: int = 0
    """Outputs that hold on the reference environment alone, where this is another."""
    other_variants: int = 0
    """Texts that hold elsewhere, so that nobody looked at them here."""
    accepted: int = 0
    waived: int = 0
    filtered: Mapping[str, int] = field(default_factory=dict)
    """What was replaced before it was compared, by the names of filters."""
    pictures: int = 0
    """Pictures that were counted and not compared."""
    widgets: int = 0
    pages: int = 0
    not_run_again: int = 0
    """Pages that were not run in this build, with the outcomes of an earlier one."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Pages that the book excludes from execution, by the setting."""

    @property
    def is_nothing(self) -> bool:
        """Whether nothing was checked, and nothing failed: pages that only draw are counted."""
        only_drawn = self.pictures and not (self.no_expectation or self.unchecked or self.left_out)
        return not (self.verified or self.failed or only_drawn)


def count(results: Iterable[PageResult]) -> Counts:
    """Count the outcomes of all pages that have cells or outcomes."""
    results = list(results)
    pages = [page for page in results if (page.cells and not page.left_out) or page.outcomes]
    judged = [outcome for page in pages for outcome in page.outcomes]
    good = [outcome.verdict for page in pages for outcome in _verified(page)]
    kinds = Counter(outcome.kind for outcome in judged)
    return Counts(
        verified=len(good),
        kept=sum(len([*_verified(page)]) for page in pages if page.kept),
        filtered=_filtered(pages),
        pictures=sum(page.skipped.get("pictures", 0) for page in pages),
        widgets=sum(page.skipped.get("widgets", 0) for page in pages),
        failed=sum(number for kind, number in kinds.items() if kind.fails),
        drifted=kinds[Kind.DRIFT],
        not_run=kinds[Kind.NOT_EXECUTED],
        unchecked=kinds[Kind.UNCHECKED],
        tagged=Counter(o.message for o in judged if o.message.startswith("tagged ")),
        not_compared=kinds[Kind.NOT_COMPARED],
        other_variants=kinds[Kind.OTHER_VARIANT],
        accepted=sum(len(verdict.accepted) for verdict in good),
        waived=sum(len(verdict.waived) for verdict in good),
        pages=sum(
            bool(page.skipped) or any(o.kind is not Kind.NO_EXPECTATION for o in page.outcomes)
            for page in pages
        ),
        no_expectation=kinds[Kind.NO_EXPECTATION],
        pages_without_expectation=sum(
            any(o.kind is Kind.NO_EXPECTATION for o in page.outcomes) for page in pages
        ),
        not_run_again=sum(not page.was_run for page in pages),
        left_out=Counter(page.left_out for page in results if page.left_out),
    )


def _verified(page: PageResult) -> Iterator[Outcome]:
    """Yield the outcomes of the outputs that are right in each of their forms."""
    wrong = {(o.cell, o.line) for o in page.outcomes if o.kind is Kind.DRIFT and o.cell}
    for outcome in page.outcomes:
        is_wrong = page.stored and (outcome.cell, outcome.line) in wrong
        if outcome.kind is Kind.VERIFIED and not is_wrong:
            yield outcome


def _filtered(pages: Iterable[PageResult]) -> Counter[str]:
    """Count what was replaced, by the names of filters."""
    return sum((Counter(page.filtered) for page in pages), Counter[str]())


def summary(results: Sequence[PageResult], *, noun: str = "output") -> str:
    """Say in one line how much was verified, and what failed.

    Args:
        results: The outcomes of each page.
        noun: What was verified.

    Examples:
        >>> summary([])
        'nothing was checked'

    """
    counts = count(results)
    left_out = [
        f"{many(number, 'page')} left out by {setting}"
        for setting, number in sorted(counts.left_out.items())
    ]
    if number := counts.no_expectation:
        have = "has" if number == 1 else "have"
        pages = many(counts.pages_without_expectation, "page")
        left_out.insert(0, f"{many(number, noun)} on {pages} {have} no expectation")
    if counts.is_nothing:
        if bare := sum(page == PageResult("") for page in results):
            left_out.append(f"{many(bare, 'page')} without a cell")
        return ", ".join(["nothing was checked", *left_out])
    parts = []
    if counts.drifted:
        parts.append(f"{many(counts.drifted, noun)} drifted")
    if other := counts.failed - counts.drifted - counts.not_run:
        parts.append(many(other, "other failure" if counts.drifted else "failure"))
    if counts.not_run:
        parts.append(f"{many(counts.not_run, 'cell')} not run")
    pages = f" on {many(counts.pages, 'page')}" if noun == "output" else ""
    parts += [f"{many(counts.verified, noun)} verified{pages}", *_besides(counts), *left_out]
    return f"{', '.join(parts)} ({describe_environment(results, full=True)})"


def _besides(counts: Counts) -> Iterator[str]:
    """Count what was not simply verified."""
    for number, name in (
        (counts.kept, "of them from the cache"),
        (counts.accepted, "accepted as rounding"),
        (counts.waived, "waived"),
        (counts.unchecked, f"unchecked{_by_tag(counts.tagged)}"),
        (counts.not_compared, "not compared away from the reference environment"),
    ):
        if number:
            yield f"{number} {name}"
    for name, number in sorted(counts.filtered.items()):
        yield f"{number} filtered as {name}"
    for number, noun, end in (
        (counts.other_variants, "variant", "not looked at here"),
        (counts.pictures, "picture", "not compared"),
        (counts.widgets, "widget", "not compared"),
        (counts.not_run_again, "page", "not run again"),
    ):
        if number:
            yield f"{many(number, noun)} {end}"


def unused_filters(filters: Iterable[Filter], results: Iterable[PageResult]) -> str:
    """Say which filters replaced nothing; nothing if each did."""
    counts: Counter[str] = Counter()
    for page in results:
        counts.update(page.filtered)
    # Pages and cells have filters of their own, which are counted from 0.
    names = dict.fromkeys([*(one.name for one in filters), *counts])
    unused = ", ".join(name for name in names if not counts[name])
    return unused and (
        f"nothing was filtered as {unused}; delete what is not needed, and have the rest match "
        "whole words, and whole numbers with their signs"
    )


def causes(results: Iterable[PageResult]) -> str:
    """Name what drifted, a line for what is alike, the most frequent first."""
    drifted = (o for page in results for o in page.outcomes if o.kind is Kind.DRIFT)
    counts = Counter(_cause(d) for outcome in drifted for d in outcome.verdict.differences)
    lines = [f"{number} × {cause}" for cause, number in counts.most_common(_MOST_CAUSES)]
    more = len(counts) - len(lines)
    return "\n".join([*lines, f"and {many(more, 'other')}"] if more else lines)


def _cause(difference: Difference) -> str:
    """Return a difference without its place, and without the numbers in longer texts."""
    sides = (difference.documented, difference.executed)
    if difference.number:
        return "a number"
    if sides[0] == sides[1]:
        return "spaces"
    return safe_line(" -> ".join(shortened(_NUMBER.sub("#", side)) for side in sides))


def _by_tag(tagged: Mapping[str, int]) -> str:
    counted = ", ".join(f"{number} {name}" for name, number in sorted(tagged.items()))
    return f" ({counted})" if counted else ""


def describe_environment(results: Iterable[PageResult], *, full: bool = False) -> str:
    """Name the environment of the numbers, and the policy."""
    descriptions: list[str] = []
    has_run = False
    for page in results:
        has_run = has_run or any(o.kind in (Kind.VERIFIED, Kind.DRIFT) for o in page.outcomes)
        words = [*_environment(page.environment, full=full), page.policy.value]
        description = ", ".join(words)
        if page.environment and description not in descriptions:
            descriptions.append(description)
    # A page that doesn't use torch says nothing about it.
    rich = [description for description in descriptions if description.startswith("torch")]
    # A kernel that was stopped couldn't be asked.
    return " and ".join(rich or descriptions) or (
        "environment unknown" if has_run else "nothing was run"
    )


def _environment(environment: Mapping[str, str], *, full: bool) -> list[str]:
    if "torch" not in environment:
        return [f"python {environment['python']}"] if "python" in environment else []
    # A GPU's digits depend on its driver and capability; a full line names a CPU's too.
    names = ("name", "driver", "capability") if "name" in environment else ()
    details = [environment[name] for name in names if environment.get(name)]
    device = environment["device"] + (f" ({', '.join(details)})" if details else "")
    words = [f"torch {environment['torch']}", device]
    if full:
        words += [] if names else [environment["capability"]]
        words.append(many(int(environment["threads"]), "thread"))
    return words
