"""Tell a machine what came of a check: JSON, JUnit, GitHub annotations."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from selfattn.drift.kinds import Kind
from selfattn.drift.report import count, render, summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from selfattn.drift.check import Outcome, PageResult
    from selfattn.drift.compare import Difference

__all__ = ["to_github", "to_json", "to_junit"]


def to_json(results: Sequence[PageResult]) -> str:
    """Return everything that is known of a check, as JSON."""
    counted = count(results)
    said = {
        "version": 1,
        "summary": summary(results),
        "counts": {name: getattr(counted, name) for name in counted.__dataclass_fields__},
        "pages": [_page(page) for page in results],
    }
    return json.dumps(said, indent=2, ensure_ascii=False) + "\n"


def _page(page: PageResult) -> dict[str, Any]:
    return {
        "file": page.file,
        "policy": page.policy.value,
        "environment": dict(page.environment),
        "cells": page.cells,
        "skipped": dict(page.skipped),
        "outcomes": [_outcome(outcome) for outcome in page.outcomes],
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    verdict = outcome.verdict
    return {
        "kind": outcome.kind.label,
        "line": outcome.line,
        "cell": outcome.cell,
        "cell_line": outcome.cell_line,
        "message": outcome.message,
        "documented": outcome.documented,
        "executed": outcome.executed,
        "numbers": verdict.numbers,
        "differences": [_difference(d) for d in verdict.differences],
        "accepted": [
            {**_difference(a.difference), "precise": a.precise, "units": a.units}
            for a in verdict.accepted
        ],
        "waived": [
            {"documented": w.documented, "executed": w.executed, "reason": w.reason}
            for w in verdict.waived
        ],
        "rounding": bool(outcome.rounding and outcome.rounding.same),
    }


def _difference(difference: Difference) -> dict[str, Any]:
    return {
        "index": difference.index,
        "documented": difference.documented,
        "executed": difference.executed,
        "note": difference.note,
    }


def to_junit(results: Sequence[PageResult]) -> str:
    """Return the outcomes as a JUnit report: a suite for each page, a case for each outcome."""
    root = ET.Element("testsuites", name="selfattn.drift")
    for page in results:
        failed = [outcome for outcome in page.outcomes if outcome.kind.fails]
        errors = sum(outcome.kind.unknown for outcome in failed)
        suite = ET.SubElement(
            root,
            "testsuite",
            name=page.file,
            tests=str(len(page.outcomes)),
            failures=str(len(failed) - errors),
            errors=str(errors),
            skipped=str(sum(outcome.kind is Kind.UNCHECKED for outcome in page.outcomes)),
        )
        for outcome in page.outcomes:
            _case(suite, page, outcome)
    ET.indent(root)
    return _printable(ET.tostring(root, encoding="unicode", xml_declaration=True)) + "\n"


def _case(suite: ET.Element, page: PageResult, outcome: Outcome) -> None:
    place = f"cell {outcome.cell}, line {outcome.line}" if outcome.cell else f"line {outcome.line}"
    case = ET.SubElement(suite, "testcase", classname=page.file, name=place, file=page.file)
    case.set("line", str(outcome.line))
    if outcome.kind.fails:
        tag = "error" if outcome.kind.unknown else "failure"
        told = ET.SubElement(case, tag, type=outcome.kind.label, message=outcome.kind.meaning)
        told.text = _printable(_alone(page, outcome))
    elif outcome.kind is Kind.UNCHECKED:
        ET.SubElement(case, "skipped", message=_printable(outcome.message))


def _printable(text: str) -> str:
    """Drop the control characters that XML can't hold."""
    return "".join(c for c in text if c in "\t\n" or (ord(c) >= 32 and c not in "\ufffe\uffff"))  # noqa: PLR2004


def _alone(page: PageResult, outcome: Outcome) -> str:
    """Return the report of one outcome, without the summary."""
    return render([replace(page, outcomes=(outcome,))]).rpartition("\n\n")[0]


def to_github(results: Sequence[PageResult]) -> Iterator[str]:
    """Yield a GitHub workflow command for each failure, which shows it beside its line."""
    for page in results:
        for outcome in page.outcomes:
            if outcome.kind.fails:
                told = _alone(page, outcome).partition(": ")[2]
                yield (
                    f"::error file={_property(page.file)},line={outcome.line},"
                    f"title={_property(outcome.kind.label)}::{_data(told)}"
                )


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
