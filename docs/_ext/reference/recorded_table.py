"""`{recorded-table} NAME`: measurements that a command recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.util.docutils import SphinxDirective

from reference.table import origin, table

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx


class RecordedTable(SphinxDirective):
    """Show a table that a command recorded, and say how, when and on what."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        path = Path(self.env.srcdir, "_data", f"{self.arguments[0]}.json")
        if not path.is_file():
            raise self.error(f"no table is recorded as {path.name}; run the command that makes it")
        self.env.note_dependency(str(path))
        record = json.loads(path.read_text(encoding="utf-8"))
        machine = _machine(record["environment"])
        said = origin(f"Recorded by `{record['command']}` on {record['date']}: {machine}.")
        return [table(record["columns"], record["rows"]), said]


def _machine(environment: dict[str, str]) -> str:
    words = [
        f"torch {environment['torch']}" if "torch" in environment else "",
        environment.get("device", ""),
        environment.get("capability", ""),
        f"{environment.get('system', '')} {environment.get('machine', '')}".strip(),
    ]
    return ", ".join(word for word in words if word)


def setup(app: Sphinx) -> None:
    app.add_directive("recorded-table", RecordedTable)
