"""The ratchet: how many outputs of each page are verified may only grow.

The file that ``drift_ratchet`` names is committed. A build writes it where pages have more than it
says, but under CI; a page that has fewer, or is gone, fails until its line is deleted.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_drift.compare.outcomes import Kind, Outcome, PageResult
from sphinx_drift.run.choice import is_ci
from sphinx_drift.sphinx.state import file_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sphinx.application import Sphinx


def check_ratchet(app: Sphinx, results: Mapping[str, PageResult]) -> list[PageResult]:
    """Return all results, with a failure for each page that has fewer; write what has grown."""
    if not app.config.drift_ratchet:
        return [*results.values()]
    path = Path(app.confdir, app.config.drift_ratchet)
    try:
        before = _read(path)
    except (AttributeError, OSError, OverflowError, TypeError, ValueError) as error:
        message = f"`drift_ratchet` names it ({error}); build once without CI to write it"
        unreadable = Outcome(Kind.UNREADABLE, 1, message=message)
        return [*results.values(), PageResult(str(path), (unreadable,))]
    # What holds on the reference environment alone is documented elsewhere too.
    counted = (Kind.VERIFIED, Kind.NOT_COMPARED)
    verified = {
        name: sum(outcome.kind in counted for outcome in page.outcomes)
        for name, page in results.items()
    }
    fewer = {name: number for name, number in before.items() if verified.get(name, 0) < number}
    after = before | {name: n for name, n in verified.items() if n > before.get(name, 0)}
    if not is_ci() and (after != before or not path.exists()):
        path.write_text(json.dumps(after, indent=2, sort_keys=True) + "\n", "utf-8")
    failed = dict(results)
    for name, number in fewer.items():
        file = file_of(app.env, name) if name in app.env.found_docs else name
        page, now = results.get(name) or PageResult(file), verified.get(name, 0)
        message = f"{app.config.drift_ratchet} has {number} for {name}, and {now} are verified"
        outcome = Outcome(Kind.FEWER, 1, message=message)
        failed[name] = replace(page, outcomes=(*page.outcomes, outcome))
    return [*failed.values()]


def _read(path: Path) -> dict[str, int]:
    if not path.exists() and not is_ci():
        return {}
    return {str(name): int(number) for name, number in json.loads(path.read_text("utf-8")).items()}
