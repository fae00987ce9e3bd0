"""Pages hardly move when their fonts come late: what stands in for them has their measures.

On Linux the Liberation fonts stand in.
"""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import looking
import pytest
from built_site import Website, pages

if TYPE_CHECKING:
    from pathlib import Path

    from reader import Reader

SITE = ("index", "self-attention/", "companions/")
# On average over pages: in one of them, a line more or less near its top moves all the rest.
MOST = 0.08
MEASURES = re.compile(r"(size-adjust|(ascent|descent|line-gap)-override):[^;}]+;?")


def shifts(reader: Reader, website: Website) -> dict[str, float]:
    found = {}
    for name in pages(website.folder):
        if name.startswith(SITE):
            with reader.visit("about:blank", 390, fresh=True) as visit:
                found[name] = visit.shift(website.page(name))
    return found


def test_late_fonts_hardly_move_a_page(reader: Reader, website: Website) -> None:
    found = shifts(reader, website)
    assert len(found) > 10
    assert looking.steadiness(found, MOST) == []


def test_fonts_of_other_measures_are_noticed(reader: Reader, site: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(site, tmp_path / "site", ignore=shutil.ignore_patterns("_downloads"))
    sheet = copy / "_static" / "book.css"
    text, count = MEASURES.subn("", sheet.read_text("utf-8"))
    assert count > 4
    sheet.write_text(text, "utf-8")
    with Website(copy) as broken:
        (fault,) = looking.steadiness(shifts(reader, broken), MOST)
    assert fault.startswith("fonts: pages shift by 0.")


@pytest.mark.parametrize(("most", "faults"), [(0.2, 0), (0.1, 1)])
def test_shifts_are_judged_on_average(most: float, faults: int) -> None:
    assert len(looking.steadiness({"a": 0.3, "b": 0.0}, most)) == faults
