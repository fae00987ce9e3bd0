"""Where the project lies: what opens a notebook elsewhere, and where a page can be edited."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sphinx.errors import ConfigError

from website import address

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sphinx.config import Config

REPOSITORY = "SELFATTN_REPOSITORY"
GITHUB = re.compile(r"https://github\.com/(?P<name>[\w.-]+/[\w.-]+?)(?:\.git|/)?")


def repository(folder: Path) -> str:
    """Return the repository's address: the environment's, else the one in `pyproject.toml`.

    Raises:
        ConfigError: If it is not a repository on GitHub.

    """
    origin, given = REPOSITORY, os.environ.get(REPOSITORY)
    if given is None:
        origin, given = address.of_project(folder, "Repository")
    if not given:
        return ""
    match = GITHUB.fullmatch(given)
    if match is None:
        raise ConfigError(f"{origin}: write https://github.com/OWNER/NAME, got {given!r}")
    return f"https://github.com/{match['name']}"


@dataclass(frozen=True)
class Link:
    """A link of a page."""

    text: str
    address: str
    what: str = ""
    """What it leads to, for who can't see where it stands."""


def launches(config: Config, page: str) -> Iterator[Link]:
    """Yield the links that open a page's notebook elsewhere; none without a repository."""
    if not config.downloads_repository:
        return
    branch, file = config.downloads_notebooks_branch, f"{page}.ipynb"
    name = config.downloads_repository.removeprefix("https://github.com/")
    colab = f"https://colab.research.google.com/github/{name}/blob/{branch}/{file}"
    yield Link("Colab", colab, "Run this page in Google Colab")
    binder = f"https://mybinder.org/v2/gh/{name}/{branch}?urlpath=lab/tree/{file}"
    yield Link("Binder", binder, "Run this page on Binder")


def edit_address(config: Config, source: Path, root: Path) -> str:
    """Return where a page's source can be edited; nothing without a repository."""
    if not config.downloads_repository:
        return ""
    path = source.relative_to(root).as_posix()
    return f"{config.downloads_repository}/edit/{config.downloads_branch}/{path}"
