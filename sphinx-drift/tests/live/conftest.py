"""A live session for all tests of a module, of the book that it names FILES."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from living import Live, living, write_book

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def live(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Live]:
    """Serve the module's book; each test leaves it as it was, and nothing in the background."""
    with living(write_book(tmp_path_factory.mktemp("book"), request.module.FILES)) as live:
        yield live
