"""What every test in a browser needs: the built book, a server, the system's browsers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from built_site import Website, pages
from chromium import FLAGS, chromium
from firefox import Firefoxes
from playwright.sync_api import Error, sync_playwright
from reader import Reader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Playwright
    from reader import Judge, Visit

ROOT = Path(__file__).resolve().parents[2]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--site", type=Path, default=ROOT / "docs/_build/html", help="the built book")
    parser.addoption(
        "--shots", type=Path, default=ROOT / "docs/_build/browser", help="for pictures"
    )
    parser.addoption("--pages", default="", help="look only at pages whose name has this in it")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "name" not in metafunc.fixturenames:
        return
    site, part = (metafunc.config.getoption(option) for option in ("site", "pages"))
    if not (names := pages(site)):
        raise pytest.UsageError(f"no page in {site}: `nox -s docs` builds the book")
    metafunc.parametrize("name", [name for name in names if part in name])


@pytest.fixture(scope="session")
def site(pytestconfig: pytest.Config) -> Path:
    folder: Path = pytestconfig.getoption("site")
    return folder.resolve()


@pytest.fixture(scope="session")
def website(site: Path) -> Iterator[Website]:
    with Website(site) as served:
        yield served


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def reader(playwright: Playwright) -> Iterator[Reader]:
    browser = playwright.chromium.launch(executable_path=chromium(), args=[*FLAGS])
    yield Reader(lambda *_, **__: browser, ("clipboard-read", "clipboard-write"))
    browser.close()


@pytest.fixture(scope="session")
def firefox_reader(playwright: Playwright) -> Iterator[Reader]:
    with Firefoxes(playwright) as firefoxes:
        yield Reader(firefoxes.launch, emulates_theme=False)


@pytest.fixture
def judge(request: pytest.FixtureRequest) -> Judge:
    """Fail with all faults of a visit, and leave a picture of the page."""

    def judged(visit: Visit, faults: list[str]) -> None:
        if not faults:
            return
        folder: Path = request.config.getoption("shots")
        folder.mkdir(parents=True, exist_ok=True)
        picture = folder / (re.sub(r"[^\w.]+", "-", request.node.name).strip("-") + ".png")
        try:
            visit.page.screenshot(path=picture, full_page=True, timeout=30_000)
        except Error as error:
            faults = [*faults, f"no picture: {error.message.splitlines()[0]}"]
        pytest.fail("\n".join([*faults, f"picture: {picture}"]), pytrace=False)

    return judged
