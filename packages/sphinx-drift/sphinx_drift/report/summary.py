"""The last line of a report: how much was verified, what failed or drifted, and on what."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from sphinx_drift.kinds import Kind
from sphinx_drift.model import PageResult
from sphinx_drift.output.filters import Filter
from sphinx_drift.report.excerpts import many


def summary(results: Sequence[PageResult], *, noun: str = "output") -> str:
    """Say in one line how much was verified, and what failed.

    Args:
        results: The outcomes of each page.
        noun: What was verified.

    Examples:
        >>> summary([])
        'nothing was checked'

    """
    kinds = _kinds(results)
    not_verified = [*_besides(results, kinds), *_unchecked(results, noun)]
    if is_nothing(results):
        return ", ".join(["nothing was checked", *not_verified])
    drifted, not_run = kinds[Kind.DRIFT], kinds[Kind.NOT_EXECUTED]
    other = sum(number for kind, number in kinds.items() if kind.fails) - drifted - not_run
    parts = []
    if drifted:
        parts.append(f"{many(drifted, noun)} drifted")
    if other:
        parts.append(many(other, "other failure" if drifted else "failure"))
    if not_run:
        parts.append(f"{many(not_run, 'cell')} not run")
    parts.append(f"{many(sum(map(_verified, results)), noun)} verified{_on_pages(results, noun)}")
    parts += not_verified
    return f"{', '.join(parts)} ({describe_environment(results, full=True)})"


def is_nothing(results: Sequence[PageResult]) -> bool:
    """Whether nothing was checked and nothing failed; what draws or stays silent is counted."""
    kinds = _kinds(results).keys()
    # Of HTML that may show more than its text, that was compared.
    was_compared = any(o.verdict.compared for result in results for o in result.outcomes)
    if was_compared or any(kind is Kind.VERIFIED or kind.fails for kind in kinds):
        return False
    says_more = kinds & {Kind.NO_EXPECTATION, Kind.UNCHECKED} or any(p.left_out for p in results)
    return bool(says_more) or not any(result.not_text or result.silent for result in results)


def _kinds(results: Iterable[PageResult]) -> Counter[Kind]:
    return Counter(outcome.kind for result in results for outcome in result.outcomes)


def _verified(result: PageResult) -> int:
    """Count the outputs of a page that are right in each of their forms."""
    judged = [((o.cell, o.line), o.kind) for o in result.outcomes]
    wrong = {output for output, kind in judged if kind is Kind.DRIFT and result.is_notebook}
    return sum(kind is Kind.VERIFIED and output not in wrong for output, kind in judged)


def _on_pages(results: Sequence[PageResult], noun: str) -> str:
    """Say on how many pages something was compared or counted."""
    is_told = bool(_silent(results))
    number = sum(
        bool(result.not_text or (is_told and result.silent))
        or any(o.kind is not Kind.NO_EXPECTATION for o in result.outcomes)
        for result in results
    )
    return f" on {many(number, 'page')}" if noun == "output" else ""


def _silent(results: Sequence[PageResult]) -> int:
    """Count the cells that stayed silent, if no output of any page was compared."""
    kinds = _kinds(results)
    was_compared = kinds[Kind.VERIFIED] or kinds[Kind.DRIFT]
    return 0 if was_compared else sum(result.silent for result in results)


def _besides(results: Sequence[PageResult], kinds: Mapping[Kind, int]) -> Iterator[str]:
    """Count what was not simply verified."""
    verdicts = [o.verdict for result in results for o in result.outcomes if o.kind is Kind.VERIFIED]
    filtered = sum((Counter(result.filter_counts) for result in results), Counter[str]())
    not_text = sum((Counter(result.not_text) for result in results), Counter[str]())
    for number, name in (
        (sum(_verified(r) for r in results if r.from_cache), "of them from the cache"),
        (sum(len(verdict.accepted) for verdict in verdicts), "accepted as rounding"),
        (sum(len(verdict.waived) for verdict in verdicts), "waived"),
        (kinds[Kind.UNCHECKED], "unchecked"),
        (kinds[Kind.NOT_COMPARED], "not compared away from the reference environment"),
        *((n, f"filtered as {f}") for f, n in sorted(filtered.items())),
    ):
        if number:
            yield f"{number} {name}"
    for number, noun, end in (
        (kinds[Kind.OTHER_VARIANT], "variant", "not looked at here"),
        (_silent(results), "cell", "silent, as stored"),
        (not_text["pictures"], "picture", "not compared"),
        (not_text["widgets"], "widget", "not compared"),
        (sum(not result.was_run for result in results), "page", "not run again"),
    ):
        if number:
            yield f"{many(number, noun)} {end}"


def _unchecked(results: Iterable[PageResult], noun: str) -> Iterator[str]:
    """Count what nothing says anything of: outputs, and pages that aren't run."""
    outputs = [sum(o.kind is Kind.NO_EXPECTATION for o in result.outcomes) for result in results]
    if number := sum(outputs):
        pages = many(sum(map(bool, outputs)), "page")
        yield f"{many(number, noun)} on {pages} {'has' if number == 1 else 'have'} no expectation"
    for setting, number in sorted(Counter(result.left_out for result in results).items()):
        if setting:
            yield f"{many(number, 'page')} left out by {setting}"


def unused_filters(filters: Iterable[Filter], results: Iterable[PageResult]) -> str:
    """Say which filters replaced nothing; nothing if each did, or if nothing ran."""
    results = list(results)
    if not any(result.cells and not result.left_out for result in results):
        return ""
    if any(kind.unknown or kind is Kind.RAISED for kind in _kinds(results)):
        return ""  # what wasn't run may need them
    counts: Counter[str] = Counter()
    for result in results:
        counts.update(result.filter_counts)
        counts.update(result.undocumented_counts)  # it may be for these
    # Filters of pages are counted from 0.
    names = dict.fromkeys([*(one.name for one in filters), *counts])
    unused = ", ".join(name for name in names if not counts[name])
    return unused and (
        f"nothing was filtered as {unused}; delete what is not needed, and have the rest match "
        "whole words, and whole numbers with their signs"
    )


def describe_environment(results: Iterable[PageResult], *, full: bool = False) -> str:
    """Name the environment of the numbers, and the policy."""
    results = list(results)
    descriptions = dict.fromkeys(
        f"{_described(result.environment, full=full)}, {result.policy.value}"
        for result in results
        if result.environment
    )
    # A page that doesn't use torch says nothing about it.
    with_torch = [description for description in descriptions if description.startswith("torch")]
    if descriptions:
        return " and ".join(with_torch or descriptions)
    # A kernel that was stopped couldn't be asked.
    ran = _kinds(results).keys() & {Kind.VERIFIED, Kind.DRIFT, Kind.TIMEOUT, Kind.OUTPUT_LIMIT}
    is_unknown = ran or any(result.silent for result in results)
    return "environment unknown" if is_unknown else "nothing was run"


def _described(environment: Mapping[str, str], *, full: bool) -> str:
    if "torch" not in environment:
        return f"python {environment.get('python', 'unknown')}"
    # A GPU's digits depend on its driver and capability; a full line names a CPU's too.
    is_gpu = "name" in environment
    names = ("name", "driver", "capability") if is_gpu else ()
    details = ", ".join(filter(None, map(environment.get, names)))
    device = environment["device"] + (f" ({details})" if details else "")
    words = [f"torch {environment['torch']}", device]
    if full:
        words += [] if is_gpu else [environment["capability"]]
        words.append(many(int(environment["threads"]), "thread"))
    return ", ".join(words)
