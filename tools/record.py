"""Write a measured table where the book's pages find it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DATA = Path(__file__).resolve().parents[1] / "docs" / "_data"


def write_table(
    name: str,
    command: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    environment: Mapping[str, str],
) -> None:
    """Write a table to docs/_data, with the command that made it, the day and the machine."""
    table = {
        "command": command,
        "date": datetime.now(UTC).date().isoformat(),
        "environment": dict(environment),
        "columns": list(columns),
        "rows": [list(row) for row in rows],
    }
    (DATA / f"{name}.json").write_text(
        json.dumps(table, indent=2, ensure_ascii=False) + "\n", "utf-8"
    )
