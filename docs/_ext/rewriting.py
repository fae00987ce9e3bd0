"""Pages that show something of others are written again when that has changed, and only then.

Sphinx writes the pages above a changed page in each build, whatever changed in it, and never those
that show its title, its label or its number. Nothing is run for either.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from sphinx.addnodes import toctree

if TYPE_CHECKING:
    from collections.abc import Collection

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.util.typing import ExtensionMetadata


def shown_elsewhere(env: BuildEnvironment) -> str:
    """Return a digest of everything that a page may show of another."""
    standard = env.domains.standard_domain
    tocs = env.tocs.items()
    tables = (
        {name: str(title) for name, title in env.titles.items()},
        {name: [tree.attributes for tree in toc.findall(toctree)] for name, toc in tocs},
        env.toc_secnumbers,
        env.toc_fignumbers,
        # A name may be a text or a promise of its translation, as its module was loaded.
        {name: [str(part) for part in label] for name, label in standard.labels.items()},
        standard.anonlabels,
        standard.objects,
        env.domains.math_domain.equations,
        env.domains.python_domain.objects,
    )
    said = [sorted(table.items(), key=lambda item: repr(item[0])) for table in tables]
    return hashlib.sha256(repr(said).encode()).hexdigest()


def rewrite(app: Sphinx, env: BuildEnvironment) -> Collection[str]:
    """Have all pages written again, if something that they may show has changed."""
    before = getattr(env, "rewriting_shown", None)
    now = shown_elsewhere(env)
    env.rewriting_shown = now  # type: ignore[attr-defined]
    return env.found_docs if now != before else ()


def note_contents(app: Sphinx, env: BuildEnvironment) -> Collection[str]:
    """Remember each page's table of contents, and which have stayed as they were."""
    before = getattr(env, "rewriting_contents", {})
    contents = {name: str(toc) for name, toc in env.tocs.items()}
    env.rewriting_contents = contents  # type: ignore[attr-defined]
    app.same_contents = [  # type: ignore[attr-defined]
        name for name, toc in contents.items() if before.get(name) == toc
    ]
    return ()


def spare_parents(app: Sphinx, env: BuildEnvironment) -> None:
    """Let the pages above a page alone that has the table of contents that it had.

    The environment has been saved by now: this holds for one build.
    """
    for name in app.same_contents:  # type: ignore[attr-defined]
        env.files_to_rebuild.pop(name, None)


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("env-get-updated", note_contents, priority=950)
    app.connect("env-get-updated", rewrite, priority=950)  # exercises are numbered at 900
    app.connect("env-check-consistency", spare_parents)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
