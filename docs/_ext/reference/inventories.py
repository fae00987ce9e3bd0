"""Compile the inventories kept as text, so that links to other manuals need no network.

A line of `docs/_data/inventory/torch.txt` is a name, its domain and role, and its place below
the manual's address; further words are other names under which Python knows the same object:

    torch.nn.Linear  py:class  generated/torch.nn.Linear.html#$  torch.nn.modules.linear.Linear

`$` stands for the name, `#` begins a comment.
"""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx
    from sphinx.config import Config

ENTRY = re.compile(r"(?P<name>\S+)\s+(?P<role>[a-z]+:\w+)\s+(?P<place>\S+)(?P<others>(\s+\S+)*)")
COMMENT = re.compile(r"(^|\s)# .*|^#$")


def parse(text: str, file: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, role and place of each line; a name may stand in one line only."""
    seen: set[str] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        content = COMMENT.sub("", line).strip()
        if not content:
            continue
        entry = ENTRY.fullmatch(content)
        if entry is None:
            raise ConfigError(f"{file}:{number}: write `name domain:role place`, got {content!r}")
        place = entry["place"].replace("$", entry["name"])
        for name in (entry["name"], *entry["others"].split()):
            if name in seen:
                raise ConfigError(f"{file}:{number}: {name} has a line already")
            seen.add(name)
            yield name, entry["role"], place


def compile_inventory(text: str, project: str, file: str) -> bytes:
    """Return the inventory in the form that intersphinx reads."""
    head = (
        "# Sphinx inventory version 2\n"
        f"# Project: {project}\n"
        "# Version:\n"
        "# The remainder of this file is compressed using zlib.\n"
    )
    lines = [f"{name} {role} 1 {place} -\n" for name, role, place in parse(text, file)]
    return head.encode() + zlib.compress("".join(sorted(lines)).encode())


def compile_all(app: Sphinx, config: Config) -> None:
    """Compile each manual's text and tell intersphinx where the result lies."""
    target = Path(app.doctreedir) / "inventories"
    target.mkdir(parents=True, exist_ok=True)
    for name, address in config.inventories.items():
        source = Path(app.srcdir) / "_data" / "inventory" / f"{name}.txt"
        compiled = target / f"{name}.inv"
        compiled.write_bytes(compile_inventory(source.read_text("utf-8"), name, str(source)))
        config.intersphinx_mapping[name] = (address, str(compiled))


def setup(app: Sphinx) -> None:
    app.setup_extension("sphinx.ext.intersphinx")
    app.add_config_value("inventories", {}, "env", dict)
    app.connect("config-inited", compile_all, priority=100)  # intersphinx reads its own at 800
