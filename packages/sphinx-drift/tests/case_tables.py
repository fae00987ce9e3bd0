"""Tables of cases in text files, whose cells stand between bars as Python writes them."""

from ast import literal_eval
from pathlib import Path

import pytest


def rows(file: Path, heading: str) -> list[object]:
    """Return the rows below a heading that begins so, for `pytest.mark.parametrize`.

    What stands before the first bar of a row is its name.
    """
    _, found, below = file.read_text("utf-8").partition(f"# {heading}")
    assert found, heading
    table = (line.split("¦") for line in below.split("\n\n")[1].splitlines())
    return [
        pytest.param(*map(_unescaped, cells), id=name.strip() or " ".join(cells))
        for name, *cells, _ in table
    ]


def _unescaped(text: str) -> str:
    return str(literal_eval(f'"{text}"' if "'" in text else f"'{text}'"))
