"""Pages hardly move when their fonts or scripts come late.

What stands in for a font has its measures (on Linux the Liberation fonts do), and what a script
brings to life has its place before.
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
MOST = 0.03
HARDLY = 0.01  # a tenth of what counts as good
FONTS, SCRIPTS = "**/*.woff2", "**/*.js*"
NUMBERS = "reference/my-numbers-differ"
Shifts = dict[str, float]
MEASURES = re.compile(r"(size-adjust|(ascent|descent|line-gap)-override):[^;}]+;?")


def shifts(reader: Reader, website: Website, files: str, start: str | tuple[str, ...]) -> Shifts:
    found, never = {}, FONTS if files == SCRIPTS else SCRIPTS
    for name in pages(website.folder):
        if name.startswith(start):
            with reader.visit("about:blank", 390, fresh=True) as visit:
                found[name] = visit.shift(website.page(name), files, never)
    return found


def test_late_fonts_hardly_move_a_page(reader: Reader, website: Website) -> None:
    found = shifts(reader, website, FONTS, SITE)
    assert len(found) > 10
    assert looking.steadiness(found, MOST) == []


def test_fonts_of_other_measures_are_noticed(reader: Reader, site: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(site, tmp_path / "site", ignore=shutil.ignore_patterns("_downloads"))
    sheet = copy / "_static" / "book.css"
    text, count = MEASURES.subn("", sheet.read_text("utf-8"))
    assert count > 4
    sheet.write_text(text, "utf-8")
    with Website(copy) as broken:
        (fault,) = looking.steadiness(shifts(reader, broken, FONTS, SITE), MOST)
    assert fault.startswith("pages shift by 0.")


def test_late_scripts_move_no_page(reader: Reader, website: Website) -> None:
    found = shifts(reader, website, SCRIPTS, "")
    assert {name: shift for name, shift in found.items() if shift > HARDLY} == {}


def test_what_a_script_puts_in_is_noticed(reader: Reader, site: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(site, tmp_path / "site", ignore=shutil.ignore_patterns("_downloads"))
    page, script = copy / f"{NUMBERS}.html", copy / "_static" / "book.js"
    box = 'class="number-box"'
    text = page.read_text("utf-8")
    assert box in text
    page.write_text(text.replace(box, f"hidden {box}"), "utf-8")
    shown = 'document.querySelector(".number-box").hidden = false;'
    script.write_text(f"{script.read_text('utf-8')}\n{shown}\n", "utf-8")
    with Website(copy) as broken:
        assert shifts(reader, broken, SCRIPTS, NUMBERS)[NUMBERS] > HARDLY


@pytest.mark.parametrize(("most", "faults"), [(0.2, 0), (0.1, 1)])
def test_shifts_are_judged_on_average(most: float, faults: int) -> None:
    assert len(looking.steadiness({"a": 0.3, "b": 0.0}, most)) == faults
