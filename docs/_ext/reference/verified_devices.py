"""The table of what was verified on which device, made from the reports that were kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.util.docutils import SphinxDirective

from reference.table import origin, table

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

COLUMNS = ("device", "PyTorch", "verified", "rounded")


class VerifiedDevices(SphinxDirective):
    """Show what each kept report says, the CPU first."""

    def run(self) -> list[nodes.Node]:
        paths = reports(self.env)
        if not paths:
            raise self.error("no report is kept; run: nox -s device -- --record")
        self.env.metadata[self.env.docname]["verified_devices"] = [path.name for path in paths]
        for path in paths:
            self.env.note_dependency(str(path))
        kept = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
        kept.sort(key=lambda report: report["environment"]["device"] != "cpu")
        commands = " and ".join(f"`{name}`" for name in sorted({each["command"] for each in kept}))
        return [table(COLUMNS, map(row, kept)), origin(f"Recorded by {commands}.")]


def reports(env: BuildEnvironment) -> list[Path]:
    """Return the reports that are kept."""
    return sorted(Path(env.srcdir, "_data", "devices").glob("*.json"))


def outdated(_app: Sphinx, env: BuildEnvironment, *_: set[str]) -> list[str]:
    """Have the page read again when there is another report: Sphinx looks at files alone."""
    names = [path.name for path in reports(env)]
    shown = {name: fields.get("verified_devices") for name, fields in env.metadata.items()}
    return [page for page, listed in shown.items() if listed is not None and listed != names]


def row(report: dict[str, Any]) -> tuple[Any, ...]:
    """Return a report as a row."""
    environment, counts = report["environment"], report["counts"]
    units = [each["units"] for each in report["accepted"]]
    return (
        "\n".join(filter(None, _device(environment))),
        "\n".join((environment["torch"], ", ".join(report["policies"]), report["date"])),
        counts["verified"],
        f"{len(units)}, furthest {max(units):.1f} units" if units else "none",
    )


def _device(environment: dict[str, str]) -> tuple[str, ...]:
    """Return what is known of a device, in lines."""
    kind = environment["device"]
    details = (environment.get("driver", ""), environment.get("capability", ""))
    system = f"{environment['system']} {environment['machine']}"
    named = environment.get("name", "")
    return (f"{named} ({kind})" if named else kind, ", ".join(filter(None, details)), system)


def setup(app: Sphinx) -> None:
    app.add_directive("verified-devices", VerifiedDevices)
    app.connect("env-get-outdated", outdated)
