"""Pages that show something of others are written again when that has changed, and only then.

Sphinx writes the pages above a changed page in each build, whatever changed in it, and never those
that show its title, its label or its number. Nothing is run for either. This is the one place that
remembers what pages showed; the other extensions say what they show here.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from sphinx.addnodes import toctree

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    Shown = Callable[[BuildEnvironment], object]


def rewrite_on_change(
    app: Sphinx, name: str, shown: Shown, pages: Callable[[BuildEnvironment], Collection[str]]
) -> None:
    """Have pages written again in each build before which something that they show has changed.

    Args:
        app: The application.
        name: What they show; no other's.
        shown: Returns it, once all pages are read, as something whose `repr` tells if it is
            the same; None where the builder shows nothing of it.
        pages: Returns the pages that show it.

    """

    def compare(app: Sphinx, env: BuildEnvironment) -> Collection[str]:
        value = shown(env)
        if value is None:
            return ()
        digests = _digests(env)
        before = digests.get(name)
        digests[name] = hashlib.sha256(repr(value).encode()).hexdigest()
        return pages(env) if digests[name] != before else ()

    app.connect("env-get-updated", compare, priority=950)  # exercises are numbered at 900


def rewrite_where(app: Sphinx, kind: type[nodes.Node], shown: Shown) -> None:
    """Have the pages that have nodes of a kind written again when what these show has changed."""
    key = kind.__name__

    def note(app: Sphinx, doctree: nodes.document) -> None:
        if next(doctree.findall(kind), None) is not None:
            app.env.metadata[app.env.docname][key] = True

    def pages(env: BuildEnvironment) -> list[str]:
        return [name for name, fields in env.metadata.items() if key in fields]

    app.connect("doctree-read", note)
    rewrite_on_change(app, key, shown, pages)


def _digests(env: Any) -> dict[str, str]:
    """Return the digest of what was shown, by name, as the last build left it."""
    if not hasattr(env, "stale_pages_digests"):
        env.stale_pages_digests = {}
    digests: dict[str, str] = env.stale_pages_digests
    return digests


def shown_elsewhere(env: BuildEnvironment) -> list[Any]:
    """Return everything that any page may show of another."""
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
    return [sorted(table.items(), key=lambda item: repr(item[0])) for table in tables]


def note_contents(app: Sphinx, env: BuildEnvironment) -> Collection[str]:
    """Remember each page's table of contents, and which have stayed as they were."""
    before = getattr(env, "stale_pages_contents", {})
    contents = {name: str(toc) for name, toc in env.tocs.items()}
    env.stale_pages_contents = contents  # type: ignore[attr-defined]
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


def setup(app: Sphinx) -> None:
    app.connect("env-get-updated", note_contents, priority=950)
    rewrite_on_change(app, "pages", shown_elsewhere, lambda env: env.found_docs)
    app.connect("env-check-consistency", spare_parents)
