"""What every test in a browser needs: the built book, a server, the system's browsers."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsers import CHROMIUM, FLAGS, installed, launcher
from built_site import Website, pages
from playwright.sync_api import Error, Playwright, sync_playwright
from reader import Reader, Report, Visit

ROOT = Path(__file__).resolve().parents[2]


REPRESENTATIVE = (
    "index",
    "self-attention/step-by-step",
    "self-attention/explorer",
    "reference/my-numbers-differ",
    "companions/masks",
)
"""Pages that are looked at in every way; between them they have all that a page can have."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--site", type=Path, default=ROOT / "docs/_build/html", help="the built book")
    parser.addoption("--shots", type=Path, default=ROOT / "docs/_build/browser", help="pictures")
    parser.addoption("--draw", action="store_true", help="draw the README's picture anew")
    parser.addoption("--all", action="store_true", help="look at every page in every way")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give tests every page (`name`), or those that are looked at in every way (`page_name`)."""
    names = pages(metafunc.config.getoption("site"))
    if not names:
        raise pytest.UsageError("there is no book to look at: `nox -s docs` builds it")
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", names)
    if "page_name" in metafunc.fixturenames:
        is_all = metafunc.config.getoption("all")
        metafunc.parametrize("page_name", names if is_all else REPRESENTATIVE)


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
    program = installed("Chromium", CHROMIUM, "chromium", "CHROME_PATH")
    browser = playwright.chromium.launch(executable_path=program, args=[*FLAGS])
    yield Reader(lambda *_, **__: browser, ("clipboard-read", "clipboard-write"))
    browser.close()


@pytest.fixture(scope="session")
def firefox_reader(playwright: Playwright) -> Reader:
    return Reader(launcher(playwright), emulates_theme=False)  # they end with Playwright


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Report:
    """Fail with all faults of a visit, and leave a picture of the page."""

    def reported(visit: Visit, faults: list[str]) -> None:
        faults = faults + visit.errors
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

    return reported
