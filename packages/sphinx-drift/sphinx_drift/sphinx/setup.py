"""Registers the extension with Sphinx: its settings, directives, roles and handlers."""

import sys
from typing import Any

from sphinx.application import Sphinx

from sphinx_drift.source.markdown import DIRECTIVE
from sphinx_drift.sphinx.client import VerifyingParser
from sphinx_drift.sphinx.directives import ExpectedOutput, NestedCell
from sphinx_drift.sphinx.end_of_build import report_results
from sphinx_drift.sphinx.marks import add_marks, add_static_path, drift_mark, drop_marks, visit_mark
from sphinx_drift.sphinx.pages import end_workers, find_outdated, run_pages_ahead, showing_others
from sphinx_drift.sphinx.quotations import (
    PrintedRole,
    QuoteNumbers,
    keep_quotations,
    quoted_number,
)
from sphinx_drift.sphinx.settings import add_config_values, before_reading, read_settings, start
from sphinx_drift.sphinx.state import forget, merge


def setup(app: Sphinx) -> dict[str, Any]:
    """Set the extension up."""
    app.setup_extension("myst_nb")
    add_config_values(app)
    start(app)
    app.add_source_parser(VerifyingParser, override=True)
    app.add_directive(DIRECTIVE, ExpectedOutput)
    app.add_directive("code-cell", NestedCell, override=True)
    app.add_role("printed", PrintedRole())
    app.add_node(quoted_number)
    app.add_post_transform(QuoteNumbers)
    app.add_node(drift_mark, html=(visit_mark, None))
    app.connect("config-inited", before_reading)
    app.connect("config-inited", add_static_path)
    app.connect("builder-inited", read_settings)
    app.connect("builder-inited", add_marks)
    app.connect("env-get-outdated", find_outdated)
    # Others may add pages before.
    app.connect("env-before-read-docs", run_pages_ahead, priority=sys.maxsize)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("doctree-read", keep_quotations)
    app.connect("doctree-resolved", drop_marks)
    app.connect("env-updated", showing_others)
    app.connect("build-finished", report_results)
    app.connect("build-finished", end_workers)
    return {
        "version": "1",
        "env_version": 19,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
