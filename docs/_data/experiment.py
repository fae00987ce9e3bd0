"""What experiments share: the cells of a page, and records with a line for each result."""

import ast
import functools
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CELL = re.compile(r"^```\{code-cell\} ipython3\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def cells(page: str, end: str = "") -> list[str]:
    """Return the cells of a page, or those that come before some words of it."""
    text = (HERE.parent / f"{page}.md").read_text("utf-8")
    return CELL.findall(text.partition(end)[0] if end else text)


@functools.cache
def names_of(source: str) -> dict[str, Any]:
    """Run cells, and return their names."""
    names: dict[str, Any] = {}
    exec(source, names)  # noqa: S102 - the book's own
    return names


def digest(sources: Iterable[str]) -> str:
    """Return a digest of what cells do: it has no comment, no space and no line that prints."""
    lines = (ast.unparse(line) for source in sources for line in ast.parse(source).body)
    done = [line for line in lines if not line.startswith("print(")]
    return hashlib.sha256("\n".join(done).encode()).hexdigest()[:16]


def read_record(name: str) -> dict[str, Any]:
    """Return what an experiment has recorded; nothing before its first run."""
    path = HERE / name
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def write_record(name: str, record: Mapping[str, Any]) -> None:
    """Write a record, a line for each of its entries."""
    rows = (
        f"{json.dumps(key)}: {json.dumps(entry, ensure_ascii=False)}"
        for key, entry in record.items()
    )
    (HERE / name).write_text("{\n" + ",\n".join(rows) + "\n}\n", "utf-8")
