"""Outputs that are made to take long are read in a time that grows as they do."""

from __future__ import annotations

import gc
import time

import pytest
from hostile import SHAPES, text_of


@pytest.mark.parametrize("name", SHAPES)
def test_time_grows_no_faster_than_the_text(name: str) -> None:
    def seconds(characters: int) -> float:
        text = text_of(name, characters)
        gc.collect()
        gc.disable()  # what it takes depends on everything else that was tested before
        try:
            start = time.process_time()
            SHAPES[name][0](text)
            return time.process_time() - start
        finally:
            gc.enable()

    # Eight times the text takes 64 times as long where the work is quadratic; another process
    # may disturb one measurement.
    ratios = (seconds(80_000) / max(seconds(10_000), 0.005) for _ in range(3))
    assert any(ratio < 24 for ratio in ratios)
