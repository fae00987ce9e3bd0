"""Tables that nobody types: recorded measurements, kinds of outcome, what this build verified."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

from sphinx_drift.compare.outcomes import Kind
from sphinx_drift.report.text import count
from sphinx_drift.sphinx.state import results_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.util.typing import ExtensionMetadata


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> nodes.table:
    """Make a table; numbers are set flush right, and so is what stands over them."""
    rows = list(rows)
    titles = [_cell(column) for column in columns]
    for title, value in zip(titles, rows[0] if rows else (), strict=False):
        title["classes"] = _cell(value)["classes"]
    head = nodes.thead("", nodes.row("", *titles))
    body = nodes.tbody("", *(_row(row) for row in rows))
    specs = [nodes.colspec(colwidth=1) for _ in columns]
    group = nodes.tgroup("", *specs, head, body, cols=len(columns))
    return nodes.table("", group, classes=["recorded"])


def _row(cells: Sequence[Any]) -> nodes.row:
    return nodes.row("", *(_cell(cell) for cell in cells))


NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]\d+)?%?")


def _cell(value: Any) -> nodes.entry:
    classes = ["number"] if NUMBER.fullmatch(str(value)) else []
    lines = (paragraph(line) for line in str(value).splitlines() or [""])
    return nodes.entry("", *lines, classes=classes)


def paragraph(text: str) -> nodes.paragraph:
    """Make a paragraph in which `code` is set as code."""
    made = nodes.paragraph()
    for place, part in enumerate(re.split("`{1,3}", text)):
        made += nodes.literal("", part) if place % 2 else nodes.Text(part)
    return made


class RecordedTable(SphinxDirective):
    """Show a table that a command recorded, and say how, when and on what."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        path = Path(self.env.srcdir, "_data", f"{self.arguments[0]}.json")
        if not path.is_file():
            raise self.error(f"no table is recorded as {path.name}; run the command that makes it")
        self.env.note_dependency(str(path))
        said = json.loads(path.read_text(encoding="utf-8"))
        origin = nodes.paragraph("", "Recorded by ", classes=["recorded-origin"])
        origin += nodes.literal("", said["command"])
        origin += nodes.Text(f" on {said['date']}: {_machine(said['environment'])}.")
        return [table(said["columns"], said["rows"]), origin]


def _machine(environment: dict[str, str]) -> str:
    words = [
        f"torch {environment['torch']}" if "torch" in environment else "",
        environment.get("device", ""),
        environment.get("capability", ""),
        f"{environment.get('system', '')} {environment.get('machine', '')}".strip(),
    ]
    return ", ".join(word for word in words if word)


class KindsTable(SphinxDirective):
    """Show the kinds of outcome, from the code that tells them."""

    def run(self) -> list[nodes.Node]:
        rows = [(kind.label, _told(kind)) for kind in Kind]
        return [table(["kind", "what it means, and what to do"], rows)]


def _told(kind: Kind) -> str:
    """Return what a kind means and what to do about it, each as a line."""
    lines = [f"{line[0].upper()}{line[1:]}." for line in (kind.meaning, kind.remedy) if line]
    return "\n".join(lines)


class verified_counts(nodes.General, nodes.Element):  # noqa: N801 - docutils names nodes so
    """The place of the table of this build's counts, known once all pages are read."""


class VerifiedCounts(SphinxDirective):
    """Show how many outputs this build verified on each page."""

    def run(self) -> list[nodes.Node]:
        return [verified_counts()]


class FillCounts(SphinxPostTransform):
    """Make the table of counts when a page is written."""

    default_priority = 5

    def run(self, **kwargs: object) -> None:
        for node in list(self.document.findall(verified_counts)):
            node.replace_self(table(["page", "cells", "outputs verified"], counts(self.env)))


def counts(env: BuildEnvironment) -> list[tuple[str, int, int]]:
    """Return what was verified: a row for each page, and one for all."""
    found = results_of(env)
    rows = [
        (env.titles[name].astext(), page.cells, count([page]).verified)
        for name, page in sorted(found.items())
        if page.cells
    ]
    total = count(found.values())
    return [*rows, ("all pages", sum(row[1] for row in rows), total.verified)]


def rewrite_counts(app: Sphinx, env: Any) -> list[str]:
    """Have the pages with counts written again when these have changed."""
    before = getattr(env, "recorded_counts", None)
    env.recorded_counts = counts(env)
    if env.recorded_counts == before:
        return []
    return [name for name, said in env.metadata.items() if "verified_counts" in said]


def note_counts(app: Sphinx, doctree: nodes.document) -> None:
    """Remember which pages have counts."""
    if next(doctree.findall(verified_counts), None) is not None:
        app.env.metadata[app.env.docname]["verified_counts"] = True


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("recorded-table", RecordedTable)
    app.add_directive("drift-kinds", KindsTable)
    app.add_directive("verified-counts", VerifiedCounts)
    app.add_post_transform(FillCounts)
    app.connect("doctree-read", note_counts)
    app.connect("env-updated", rewrite_counts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
