"""Once a build, the explorer's arithmetic is proved; `{proven}` writes what was compared.

A result is kept beside the pages' doctrees, under a digest of all that it depends on: the scripts,
the states, the comparison, torch, Node.js and the machine. Nothing is kept of a failure.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import platform
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

import sphinx_drift
from explorer.counts import Counts, DriftError
from explorer.element import HERE, files_of
from explorer.node import NodeError, node_version
from explorer.states import states
from sphinx_drift.sphinx.builds import build_of
from website.shown_later import show_later

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from sphinx_drift.run_and_judge import Settings

__all__ = ["proved"]

LOGGER = logging.getLogger(__name__)
SCRIPT, ANSWERS = HERE / "arithmetic.js", HERE / "answer.js"
KEPT = "explorer.json"
FIGURES = ("states", "numbers", "certain", "uncertain", "differing")


class proven(nodes.Inline, nodes.TextElement):  # noqa: N801 - docutils names nodes so
    """One of the figures of the proof; `asked` says which."""


class Proven(SphinxRole):
    """Write a figure of the proof: `states`, `numbers`, `certain`, `uncertain` or `differing`."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        if self.text not in FIGURES:
            valid = ", ".join(FIGURES)
            message = f"the proof has no figure {self.text!r}; the figures are: {valid}"
            return [], [self.inliner.reporter.error(message, line=self.lineno)]
        self.env.metadata[self.env.docname]["proven"] = True
        return [proven("", asked=self.text)], []


def fill(app: Sphinx, docname: str, node: nodes.Element) -> nodes.inline:
    """Write a figure."""
    return nodes.inline("", f"{figures(app.env)[node['asked']]:,}", classes=["proven"])


def figures(env: BuildEnvironment) -> dict[str, int]:
    """Return the figures of the proof."""
    kept: dict[str, int] = getattr(env, "explorer_figures", {})
    return kept


def prove_once(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Prove the arithmetic in a build of a book that has pages with it."""
    if SCRIPT.name in files_of(env) or any("proven" in page for page in env.metadata.values()):
        counts = proved(Path(app.doctreedir, KEPT), build_of(env).settings)
        LOGGER.info(
            "explorer: %s states, %s numbers as torch prints them, %s not verified",
            *(f"{n:,}" for n in (counts.states, counts.certain, counts.uncertain)),
        )
        env.explorer_figures = {name: getattr(counts, name) for name in FIGURES}  # type: ignore[attr-defined]
    return []


def proved(kept: Path, settings: Settings, script: Path = SCRIPT) -> Counts:
    """Prove the arithmetic, unless that was done with all that the result depends on.

    Args:
        kept: The file that keeps the result.
        settings: How the build compares: its policy, or its reference environment.
        script: The arithmetic.

    Raises:
        ExtensionError: If it isn't what torch computes, or can't be run.

    """
    environment = _environment()
    policy, sample = settings.policy_on(environment), states()
    try:
        key = _digest(script, sample, policy, environment, node_version(), *_machine())
        if (counts := _read(kept, key)) is None:
            # Loading the proof loads torch: a build that has a result does without.
            prove = importlib.import_module("explorer.proof").prove
            counts = prove(ANSWERS, script, sample, policy)
            result = {"key": key, "counts": asdict(counts)}
            kept.write_text(json.dumps(result), "utf-8")
    except (NodeError, DriftError) as error:
        raise ExtensionError(
            f"explorer: {script.name} is not as torch computes:\n{error}"
        ) from None
    return counts


def _environment() -> dict[str, str]:
    """Return what decides on the policy; the proof computes on the CPU, wherever pages do."""
    return {
        "torch": metadata.version("torch").partition("+")[0],
        "system": platform.system(),
        "machine": platform.machine(),
        "device": "cpu",
    }


def _machine() -> Iterator[object]:
    """Yield what else decides on the order in which torch computes."""
    yield from (platform.node(), os.cpu_count(), metadata.version("torch"))
    yield sorted(
        item for item in os.environ.items() if item[0].startswith(("ATEN_", "MKL_", "OMP_"))
    )


def _digest(script: Path, *others: object) -> str:
    """Return a digest of all that a result depends on: files, values, and what compares them."""
    chapter = importlib.util.find_spec("selfattn")  # not loaded: it would load torch
    if chapter is None or chapter.origin is None:
        raise ExtensionError("expected the package selfattn; install it: pip install .")
    example = Path(chapter.origin).with_name("examples.py")
    comparer = Path(sphinx_drift.__file__).parent / "compare"
    files = (script, ANSWERS, example, *sorted(HERE.glob("*.py")), *sorted(comparer.glob("*.py")))
    digest = hashlib.sha256(json.dumps(others, default=str).encode())
    for file in files:
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _read(kept: Path, key: str) -> Counts | None:
    """Return a kept result; None if it is another's, or can't be read."""
    try:
        result = json.loads(kept.read_text("utf-8"))
        return Counts(**result["counts"]) if result["key"] == key else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def setup(app: Sphinx) -> None:
    app.add_role("proven", Proven())
    app.connect("env-get-updated", prove_once)
    show_later(app, proven, fill, figures)
