"""Compare the outputs in two folders of notebooks."""

from __future__ import annotations

import json
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def differences(one: Path, other: Path) -> dict[str, Any]:
    """Return how many outputs there are, how many differ, and in which cells.

    All of an output counts: its texts, kinds, order and metadata.

    Raises:
        ValueError: If the folders do not hold the same notebooks with the same cells.

    """
    ours, theirs = _notebooks(one), _notebooks(other)
    if ours.keys() != theirs.keys() or not ours:
        raise ValueError(f"{one} and {other} hold other notebooks: {sorted({*ours} ^ {*theirs})}")
    outputs = 0
    differ: list[str] = []
    for name, cells in ours.items():
        for place, (a, b) in enumerate(zip(cells, theirs[name], strict=True)):
            outputs += max(len(a), len(b))
            pairs = zip_longest(a, b)
            differ += [f"{name} cell {place}" for first, second in pairs if first != second]
    return {"outputs": outputs, "differ": len(differ), "where": differ}


def _notebooks(folder: Path) -> dict[str, list[list[dict[str, Any]]]]:
    """Return the outputs of each code cell of each notebook, by its name."""
    return {
        path.relative_to(folder).as_posix(): [
            cell["outputs"]
            for cell in json.loads(path.read_text("utf-8"))["cells"]
            if cell["cell_type"] == "code"
        ]
        for path in sorted(folder.rglob("*.ipynb"))
    }
