"""The ratchet: how many outputs of each page are verified may only grow.

The file that ``drift_ratchet`` names is committed. A build writes it where pages have more than it
says, but under CI; a page that has fewer, or is gone, fails until its line is deleted.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_drift.compare.outcomes import Kind, Outcome, PageResult
from sphinx_drift.sphinx.state import file_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sphinx.application import Sphinx


def check_ratchet(app: Sphinx, results: Mapping[str, PageResult]) -> list[PageResult]:
    """Return a result for each page that has fewer verified outputs; write what has grown."""
    if not app.config.drift_ratchet:
        return []
    path = Path(app.confdir, app.config.drift_ratchet)
    try:
        before = _read(path)
    except (AttributeError, OSError, TypeError, ValueError) as error:
        message = f"`drift_ratchet` names it ({error}); build once without CI to write it"
        return [PageResult(str(path), (Outcome(Kind.UNREADABLE, 1, message=message),))]
    verified = {
        name: sum(outcome.kind is Kind.VERIFIED for outcome in page.outcomes)
        for name, page in results.items()
    }
    fewer = {name: number for name, number in before.items() if verified.get(name, 0) < number}
    after = before | {name: n for name, n in verified.items() if n > before.get(name, 0)}
    if not os.environ.get("CI") and (after != before or not path.exists()):
        path.write_text(json.dumps(after, indent=2, sort_keys=True) + "\n", "utf-8")
    return [_fewer(app, name, verified.get(name, 0), number) for name, number in fewer.items()]


def _fewer(app: Sphinx, name: str, now: int, before: int) -> PageResult:
    message = f"{app.config.drift_ratchet} has {before} for {name}, and {now} are verified"
    file = file_of(app.env, name) if name in app.env.found_docs else name
    return PageResult(file, (Outcome(Kind.FEWER, 1, message=message),))


def _read(path: Path) -> dict[str, int]:
    if not path.exists() and not os.environ.get("CI"):
        return {}
    return {str(name): int(number) for name, number in json.loads(path.read_text("utf-8")).items()}
