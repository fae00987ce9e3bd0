"""Each check is seen to fail: one page of a copy of the site is broken in one way at a time."""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import looking
import pytest
import using
from built_site import Website

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reader import Reader

PAGE = "self-attention/exercise-3-1"


class Broken(NamedTuple):
    """A page that is broken in one way, and what the check that must see it says."""

    what: str
    check: str
    seen: str
    end: str = ""
    head: str = ""
    cut: str = ""

    def write(self, page: str) -> str:
        page = re.sub(self.cut, "", page, flags=re.DOTALL) if self.cut else page
        page = page.replace("</article>", f"{self.end}</article>", 1)
        return page.replace("</head>", f"{self.head}</head>", 1)


with Path(__file__).with_name("broken.toml").open("rb") as table:
    BROKEN = [Broken(**row) for row in tomllib.load(table)["broken"]]


def _visit(
    look: Callable[..., list[str]], width: int = 390, theme: str = "light", **how: object
) -> Callable[[Reader, Website, str], list[str]]:
    """Make a check that opens the page and looks at it."""

    def check(reader: Reader, website: Website, name: str) -> list[str]:
        with reader.visit(website.page(name), width, theme, **how) as visit:  # type: ignore[arg-type]
            return look(visit)

    return check


def _links(reader: Reader, website: Website, name: str) -> list[str]:
    with reader.visit(website.page(name)) as visit:
        return looking.links(visit, website)


def _weight(reader: Reader, website: Website, name: str) -> list[str]:
    with reader.visit("about:blank", fresh=True) as visit:
        return looking.weight(visit.weigh(website.page(name)), 150_000)


def _theme(reader: Reader, website: Website, name: str) -> list[str]:
    with reader.visit(website.page(name), fresh=True) as visit:
        return using.theme(visit, "mouse", website.page(name))


def _folder(reader: Reader, website: Website, name: str) -> list[str]:
    with reader.visit((website.folder / f"{name}.html").as_uri()) as visit:
        return looking.from_a_folder(visit)


CHECKS = {
    "phone": _visit(lambda visit: looking.page(visit, "light", colours=False)),
    "desk": _visit(lambda visit: looking.page(visit, "light"), 1440),
    "night": _visit(lambda visit: looking.page(visit, "dark", colours=False), theme="dark"),
    "forced": _visit(looking.in_forced_colours, 1440),
    "hand": _visit(looking.in_the_hand, 360),
    "links": _links,
    "weight": _weight,
    "mouse": _visit(lambda visit: using.all_controls(visit, "mouse"), 1440),
    "keyboard": _visit(lambda visit: using.all_controls(visit, "keyboard"), 1440),
    "menu": _visit(lambda visit: using.menu(visit, "touch")),
    "contents": _visit(lambda visit: using.contents(visit, "touch")),
    "contents on a desk": _visit(lambda visit: using.contents(visit, "mouse"), 1440),
    "text": _visit(lambda visit: using.in_the_text(visit, "mouse"), 1440),
    "theme": _theme,
    "focus": _visit(lambda visit: using.skip_link(visit) + visit.probe("focus"), 1440),
    "search": _visit(lambda visit: using.search(visit, "softmax"), 1440),
    "no script": _visit(looking.without_scripts, script=False),
    "folder": _folder,
    "paper": _visit(looking.on_paper, 680, media="print"),
}


@pytest.fixture(scope="session")
def copied(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Website]:
    """Serve a copy of the site that may be broken."""
    folder = tmp_path_factory.mktemp("copied") / "site"
    shutil.copytree(site, folder)
    beside = (folder / PAGE).parent
    (beside / "w.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>', "utf-8")
    (beside / "impatient.js").write_text("// done\n", "utf-8")
    noise = f"<!-- {os.urandom(200_000).hex()} -->"
    (beside / "noise.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg">{noise}</svg>', "utf-8"
    )
    (folder / "404.html").unlink(missing_ok=True)
    with Website(folder) as served:
        yield served


@pytest.mark.parametrize("broken", BROKEN, ids=[broken.what for broken in BROKEN])
def test_a_broken_page_is_seen(reader: Reader, copied: Website, broken: Broken) -> None:
    whole = (copied.folder / f"{PAGE}.html").read_text("utf-8")
    page = broken.write(whole)
    assert page != whole, "it was not broken"
    name = f"{PAGE}-{re.sub('[^a-z]+', '-', broken.what)}"
    (copied.folder / f"{name}.html").write_text(page, "utf-8")
    faults = CHECKS[broken.check](reader, copied, name)
    assert any(re.search(broken.seen, fault) for fault in faults), faults


IN_FIREFOX = {"wide image", "field without a label", "complaint", "exception"}
IN_FIREFOX |= {broken.what for broken in BROKEN if broken.check == "hand"}


@pytest.mark.parametrize("what", sorted(IN_FIREFOX))
def test_a_broken_page_is_seen_in_firefox(
    firefox_reader: Reader, copied: Website, what: str
) -> None:
    broken = next(broken for broken in BROKEN if broken.what == what)
    test_a_broken_page_is_seen(firefox_reader, copied, broken)


def test_a_site_without_a_404_page_is_seen(reader: Reader, copied: Website) -> None:
    with reader.visit(f"{copied.address}/no/such/page.html") as visit:
        assert any(fault.startswith("404: its title") for fault in looking.not_found(visit))


def test_every_check_is_seen_to_fail() -> None:
    assert {broken.check for broken in BROKEN} == set(CHECKS)
    assert len({broken.what for broken in BROKEN}) == len(BROKEN)
