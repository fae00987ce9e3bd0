"""Pages that are elsewhere now: at the old address, a small page that leads to the new one.

`moved_pages` in `conf.py` has the old page and the new ones; the first is where readers are sent.
A new one that another project builds into the site is written `Its title <its/address.html>`.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.errors import ConfigError
from sphinx.util.nodes import explicit_title_re
from sphinx.util.osutil import relative_uri

from website import address

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

# The refresh is immediate, so nobody is sent away while reading; the links are for those whom it
# doesn't send, and for a search engine the canonical link says which page is meant.
PAGE = """\
<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="0; url={target}">
<link rel="canonical" href="{canonical}">
<title>This page has moved: {title}</title>
<style>:root {{ color-scheme: light dark }} body {{ font: 1.1rem/1.5 serif; margin: 2rem }}</style>
</head>
<body>
<main>
<h1>This page has moved</h1>
<p>What was here is now on:</p>
<ul>
{links}
</ul>
</main>
</body>
</html>
"""


def check(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Refuse to lead from a page that is still there, or to one that isn't."""
    for old, targets in app.config.moved_pages.items():
        if old in env.found_docs:
            raise ConfigError(f"moved_pages: {old} is still a page; delete it, or its line there")
        missing = [
            new for new in targets if not (new in env.found_docs or explicit_title_re.match(new))
        ]
        if missing or not targets:
            named = ", ".join(missing) or "nowhere"
            raise ConfigError(f"moved_pages: {old} leads to {named}; name pages of the book")
    return []


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write a page at each old address."""
    if exception is not None or app.builder.name not in {"html", "dirhtml"}:
        return
    for old, targets in app.config.moved_pages.items():
        file = Path(app.builder.get_outfilename(old))  # type: ignore[attr-defined]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page(app, old, targets), "utf-8")


def page(app: Sphinx, old: str, targets: list[str]) -> str:
    """Return the page at an old address."""
    start = app.builder.get_target_uri(old)
    places = [place(app, new) for new in targets]
    links = [(relative_uri(start, uri), title) for uri, title in places]
    target, title = links[0]
    return PAGE.format(
        language=app.config.language or "en",
        target=escape(target),
        canonical=escape(address.of_page(app.config, places[0][0]) or target),
        title=escape(title),
        links="\n".join(
            f'<li><a href="{escape(to)}">{escape(name)}</a></li>' for to, name in links
        ),
    )


def place(app: Sphinx, new: str) -> tuple[str, str]:
    """Return the address of a new page, from the site's top, and its title."""
    if elsewhere := explicit_title_re.match(new):
        return elsewhere[2], elsewhere[1]
    return app.builder.get_target_uri(new), app.env.titles[new].astext()


def setup(app: Sphinx) -> None:
    app.add_config_value("moved_pages", {}, "env", dict)
    app.connect("env-updated", check)
    app.connect("build-finished", write)
