"""Where the site is published, if the environment or `pyproject.toml` says so.

Canonical links, link previews with a picture and the sitemap need the address. Where nobody gave
one, the site has none of them, and all its links are relative.
"""

from __future__ import annotations

import os
import tomllib
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sphinx.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from sphinx.application import Sphinx
    from sphinx.config import Config

VARIABLES = ("SELFATTN_BASEURL", "READTHEDOCS_CANONICAL_URL")


def site(folder: Path) -> str:
    """Return the site's address, with a slash at its end, or an empty text.

    Args:
        folder: Where `conf.py` stands; `pyproject.toml` is looked for here and above.

    Raises:
        ConfigError: If what was given is no address of a site.

    """
    for origin, address in _given(folder):
        parts = urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.netloc or parts.query:
            raise ConfigError(
                f"{origin}: write the site's address as https://HOST/FOLDER/, got {address!r}"
            )
        return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}/"
    return ""


def _given(folder: Path) -> list[tuple[str, str]]:
    variables = [(name, os.environ.get(name, "")) for name in VARIABLES]
    return [each for each in (*variables, of_project(folder, "Documentation")) if each[1]]


def of_project(folder: Path, name: str) -> tuple[str, str]:
    """Return a file and the address, or an empty text, that a project gives there by a name.

    The file is the nearest `pyproject.toml`, in the folder or above.
    """
    for place in (folder, *folder.parents):
        file = place / "pyproject.toml"
        if file.is_file():
            project = tomllib.loads(file.read_text("utf-8")).get("project", {})
            return str(file), project.get("urls", {}).get(name, "")
    return "", ""


def of_page(config: Config, uri: str) -> str:
    """Return a page's own address; a folder's page is the folder."""
    if not config.html_baseurl:
        return ""
    if uri == "index.html" or uri.endswith("/index.html"):
        uri = uri.removesuffix("index.html")
    return f"{config.html_baseurl}{uri}"


def settle(app: Sphinx, config: Config) -> None:
    """Tell Sphinx the address, and the page for lost readers where its links begin."""
    address = config.html_baseurl or site(app.confdir)
    config.html_baseurl = f"{address.rstrip('/')}/" if address else ""
    if "notfound_urls_prefix" in config:
        config.notfound_urls_prefix = urlsplit(address).path or "/"


def setup(app: Sphinx) -> None:
    app.connect("config-inited", settle, priority=400)  # before others read the address
