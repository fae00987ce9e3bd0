"""Every page is correct HTML, as the Nu HTML checker reads it."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest
from built_site import pages

FAULT = re.compile(r'^"file:(?P<file>[^"]+)":(?P<line>\d+)\S*: (?:error|non-document-error)')

OF_MYST_NB = "Element “p” not allowed as child of element “summary”"  # of a cell that is folded


@cache
def checker() -> tuple[str, ...]:
    """Return the command; `nox -s browser` installs its program, and the system has Java."""
    home, java = os.environ.get("VNU_HOME"), shutil.which("java")
    if home is None or java is None:
        pytest.fail(
            "the Nu HTML checker needs Java (Debian: apt-get install default-jre-headless) and"
            " vnu.jar in VNU_HOME, where `nox -s browser` puts it",
            pytrace=False,
        )
    jars = list(Path(home).rglob("vnu.jar"))
    assert jars, f"no vnu.jar in {home}"
    return (java, "-jar", str(jars[0]), "--errors-only", "--format", "gnu")


def faults(files: Iterable[Path]) -> list[str]:
    """Return one line for each error, as the checker writes it."""
    result = subprocess.run(
        [*checker(), *map(str, files)], check=False, capture_output=True, text=True
    )
    lines = [line for line in result.stderr.splitlines() if line]
    assert (result.returncode == 0) is not any(map(FAULT.match, lines)), result.stderr
    return [line for line in lines if OF_MYST_NB not in line]


def test_every_page_is_correct_html(site: Path) -> None:
    files = [site / f"{name}.html" for name in pages(site)]
    assert (found := faults(files)) == [], "\n".join(found)


def test_incorrect_html_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        '<!DOCTYPE html><html lang="en"><title>t</title>\n<p id="a" id="a">text</p></html>',
        "utf-8",
    )
    (fault,) = faults([page])
    assert FAULT.match(fault)
    assert "Duplicate attribute" in fault
