"""The client of a page's kernel: it stops a page whose output never ends."""

import asyncio
import json
from collections import Counter
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete
from nbformat import NotebookNode, v4

from sphinx_drift.kinds import Kind
from sphinx_drift.run.results import Failure

_CELLS_OF_A_PAGE = 4
"""How many times as much as a cell a page may print."""
_ENDS = 2_000
"""Characters that are kept at each end of a text that is too long."""


def clipped(text: str) -> str:
    """Return a text, or both ends of one that is too long to be shown."""
    left_out = len(text) - 2 * _ENDS
    if left_out <= 0:
        return text
    return f"{text[:_ENDS]}\n[{left_out} characters left out]\n{text[-_ENDS:]}"


class LimitedClient(NotebookClient):
    """The stock client, but outputs may take only so many bytes."""

    def __init__(self, *arguments: Any, output_limit: float, **options: Any) -> None:
        """Take what the outputs of a cell may take."""
        super().__init__(*arguments, **options)
        self._limit = output_limit
        self._sizes: Counter[int] = Counter()
        """What the outputs have taken, by the indices of their cells."""
        self._end: asyncio.Future[None] | None = None

    def process_message(self, msg: Any, cell: NotebookNode, cell_index: int) -> Any:
        """Take a message in, and end the kernel if the page has printed too much."""
        output = super().process_message(msg, cell, cell_index)
        self._sizes[cell_index] += len(json.dumps(msg["content"]))
        self._sizes[cell_index] += sum(map(len, msg.get("buffers", ())))
        if not self._exceeds(cell_index):
            return output
        manager: Any = self.km
        self._end = asyncio.ensure_future(manager.shutdown_kernel(now=True))
        raise CellExecutionComplete  # no more is read from it

    def _exceeds(self, index: int) -> bool:
        of_page = self._sizes.total()
        return self._sizes[index] > self._limit or of_page > self._limit * _CELLS_OF_A_PAGE

    def excess(self, cell: NotebookNode, index: int) -> Failure | None:
        """Return the failure of a page that printed too much in a cell; keep both ends of it."""
        if not self._exceeds(index):
            return None
        text = "".join(o.text for o in cell.outputs if o.output_type == "stream")
        kept = v4.new_output("stream", name="stdout", text=clipped(text))  # type: ignore[no-untyped-call]
        cell.outputs = [kept]
        message = (
            f"its outputs took more than {self._limit:,} bytes, or those of the page more than "
            f"{self._limit * _CELLS_OF_A_PAGE:,}"
        )
        return Failure(Kind.OUTPUT_LIMIT, index, message)
