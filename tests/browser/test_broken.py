"""Each check is seen to fail: a page of a copy of the site is broken in one way at a time."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, NamedTuple

import looking
import pytest
from built_site import Website

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from reader import Reader, Visit

PAGE = "self-attention/exercise-3-1"


class Broken(NamedTuple):
    """A page that is broken in one way, by HTML at its end, and what must be said of it."""

    look: Callable[[Visit], list[str]]
    fault: str
    html: str
    width: int = 390
    theme: str = "light"
    script: bool = True
    media: str = "screen"
    policy: bool = False  # keep the page's own, which refuses what breaks it


def night(visit: Visit) -> list[str]:
    return looking.theme(visit, "dark")


BROKEN = {
    "wide image": Broken(
        looking.page,
        "sideways: the page is",
        '<p><img src="w.svg" width="3000" style="max-width:none" alt=""></p>',
    ),
    "wrapped tensor": Broken(
        looking.page, "wraps the rows", "<style>pre{white-space:pre-wrap!important}</style>"
    ),
    "field without a label": Broken(looking.page, "axe: label:", '<input type="text">'),
    "other host": Broken(
        looking.page,
        "host: https://example.org",
        '<img src="https://example.org/x.png" alt="">',
    ),
    "exception": Broken(
        looking.page, "console: nothing works", '<script>throw Error("nothing works")</script>'
    ),
    "script that isn't the book's": Broken(
        looking.page, "violates the following", "<script>document.title</script>", policy=True
    ),
    "absent file": Broken(looking.page, "missing: .*absent", '<img src="absent.png" alt="">'),
    "picture without words": Broken(
        looking.page, "axe: image-alt: ", '<img src="w.svg" width="9" height="9">'
    ),
    "faint text": Broken(
        looking.page,
        "contrast: .*faint words",
        '<p style="color:#888;background:#999">faint words</p>',
    ),
    "raw TeX": Broken(looking.page, "mathematics: raw TeX", r"<p>\(\frac{a}{b}\)</p>"),
    "always day": Broken(
        night,
        "theme: the page does not follow",
        "<style>body,body *{background:#fff!important;color:#000!important}</style>",
        theme="dark",
    ),
    "small button": Broken(
        looking.on_a_phone,
        "target: .*“small” is 20 × 20 px",
        '<button style="width:20px;height:20px;padding:0;font-size:5px">small</button>',
    ),
    "box without a name": Broken(
        looking.on_a_phone,
        "scroller: .*div.wide",
        '<div class="wide" style="overflow-x:auto"><p style="width:900px">wide</p></div>',
    ),
    "text that can't grow": Broken(
        looking.zoomed,
        "sideways: the page",
        '<p style="width:30rem">wide only if enlarged</p>',
        680,
    ),
    "kept colours": Broken(
        looking.in_forced_colours,
        "contrast: .*kept",
        '<p style="forced-color-adjust:none;color:#fff;background:#eee">kept</p>',
    ),
    "hidden focus": Broken(
        looking.focus,
        "does not show that it has it",
        "<style>*:focus{outline:0!important;box-shadow:none!important}</style>",
    ),
    "text that waits for a script": Broken(
        looking.unaided,
        "unreadable: “Only with a script”",
        "<p hidden>Only with a script</p>",
        script=False,
    ),
    "printed controls": Broken(
        looking.on_paper,
        "print: .* is printed",
        '<button style="display:block!important">Print me</button>',
        680,
        media="print",
    ),
    "cut-off code on paper": Broken(
        looking.on_paper,
        "print: .* is cut off",
        '<pre style="white-space:pre!important;width:99px;overflow:hidden">'
        "one long line of code that is wider than its box</pre>",
        680,
        media="print",
    ),
    "heading without a link": Broken(
        lambda visit: visit.probe("permalinks"),
        "has no permanent link",
        '<section id="unlinked"><h2>Unlinked</h2></section>',
    ),
}


@pytest.fixture(scope="session")
def copied(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Website]:
    folder = tmp_path_factory.mktemp("copied") / "site"
    shutil.copytree(site, folder, ignore=shutil.ignore_patterns("_downloads", "vendor"))
    picture = '<svg xmlns="http://www.w3.org/2000/svg"/>'
    (folder / PAGE).with_name("w.svg").write_text(picture, "utf-8")
    with Website(folder) as served:
        yield served


def broken_page(copied: Website, html: str, *, policy: bool = False) -> str:
    """Write a page with something more at the end of its text; return its address."""
    text = (copied.folder / f"{PAGE}.html").read_text("utf-8")
    name = f"{PAGE}-broken"
    page = text.replace("</article>", f"{html}</article>", 1)
    assert page != text
    if not policy:
        page, found = re.subn("<meta [^>]*Content-Security-Policy[^>]*>", "", page)
        assert found
    (copied.folder / f"{name}.html").write_text(page, "utf-8")
    copied.packed.clear()
    return copied.page(name)


def check(reader: Reader, copied: Website, broken: Broken) -> None:
    page = broken_page(copied, broken.html, policy=broken.policy)
    address = f"{page}?{hash(broken)}"  # the browser keeps pages
    how = {"script": broken.script, "media": broken.media}
    with reader.visit(address, broken.width, broken.theme, **how) as visit:  # type: ignore[arg-type]
        faults = broken.look(visit)
    assert any(re.search(broken.fault, fault) for fault in faults), faults


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_page_is_seen(reader: Reader, copied: Website, what: str) -> None:
    check(reader, copied, BROKEN[what])


@pytest.mark.parametrize("what", ["wide image", "exception", "script that isn't the book's"])
def test_a_broken_page_is_seen_in_firefox(
    firefox_reader: Reader, copied: Website, what: str
) -> None:
    check(firefox_reader, copied, BROKEN[what])
