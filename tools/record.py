"""Write a measured table where the book's pages find it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def write_table(
    path: Path,
    command: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    environment: Mapping[str, str],
) -> None:
    """Write a table as JSON, with the command that made it, the day and the machine."""
    table = {
        "command": command,
        "date": datetime.now(UTC).date().isoformat(),
        "environment": dict(environment),
        "columns": list(columns),
        "rows": [list(row) for row in rows],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(table, indent=2, ensure_ascii=False) + "\n", "utf-8")
