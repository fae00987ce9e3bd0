"""Read pages and notebooks as mystmd runs them, which is what Jupyter Book 2 builds books with."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import yaml
from nbformat import NotebookNode, v4

from sphinx_drift.settings import table_in
from sphinx_drift.source.markdown import Fence
from sphinx_drift.source.metadata import read_front

_OPTIONS = re.compile(
    r"---[ \t]*\n(?P<block>(?s:.*?)\n)---[ \t]*(?:\n|\Z)|(?P<rows>(?:[ \t]*:[\w-]+:.*\n)*)"
)
_ABOVE = re.compile(r"(?P<magic>%%.*\n)?(?:(?:# ?\| .*|[ \t]*)(?:\n|\Z))*")
"""What stands above a cell's code: options in comments, perhaps below a magic."""


def mystmd_notebook(text: str, fences: Iterable[Fence]) -> NotebookNode:
    """Return the cells of a page, those inside directives, lists and quotations too.

    Raises:
        ValueError: If its front matter isn't YAML.

    """
    notebook: NotebookNode = v4.new_notebook()  # type: ignore[no-untyped-call]
    notebook.metadata.update(_by_names_of_myst_nb(read_front(text)))
    notebook.cells = [_cell(fence.content) for fence in fences if not fence.is_expectation]
    return notebook


def add_metadata(notebook: NotebookNode) -> None:
    """Give a notebook what mystmd reads from its first cell and from comments in its code.

    Raises:
        ValueError: If its front matter isn't YAML.

    """
    first = notebook.cells[0] if notebook.cells else None
    if first is not None and first.cell_type == "markdown":
        notebook.metadata.update(read_front(first.source))
    notebook.metadata.update(_by_names_of_myst_nb(notebook.metadata))
    if notebook.cells[1:] and not notebook.cells[-1].source:
        notebook.cells.pop()  # as mystmd does
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.source, tags = _split_options(cell.source)
            cell.metadata["tags"] = [*(cell.metadata.get("tags") or ()), *tags]


def output_stderr(settings: Mapping[str, Any]) -> str:
    """Return whether settings of a project or page `show` or `remove` stderr, if they say so."""
    said = str(settings.get("output_stderr") or settings.get("stderr_output") or "")
    return said and ("remove" if said.startswith("remove") else "show")


def _by_names_of_myst_nb(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a page or notebook, with what mystmd reads by MyST-NB's names."""
    metadata = dict(metadata)
    if nested := table_in(metadata, "jupyter").get("kernelspec"):  # as jupytext writes it
        metadata["kernelspec"] = nested
    if said := output_stderr(table_in(metadata, "settings")):
        metadata["mystnb"] = {**table_in(metadata, "mystnb"), "output_stderr": said}
    return metadata


def _cell(content: str) -> NotebookNode:
    """Return a cell of a page: its options stand as YAML, or each between colons."""
    above = _OPTIONS.match(content)
    assert above  # noqa: S101 - of no length, if there are none
    rows = re.findall(r"(?m)^[ \t]*:(tags?:.*)", above["rows"] or "")  # others may be no YAML
    options = above["block"] or "\n".join(rows)
    source, tags = _split_options(content[above.end() :].strip("\n"))
    return v4.new_code_cell(source, metadata={"tags": [*_tags(options), *tags]})  # type: ignore[no-untyped-call,no-any-return]


def _split_options(source: str) -> tuple[str, list[str]]:
    """Return the code that mystmd runs, without the options above it, and their tags."""
    above = _ABOVE.match(source)
    assert above  # noqa: S101 - of no length, if there are none
    options = "\n".join(re.findall(r"(?m)^# ?\| (.*)", above[0]))
    code = (above["magic"] or "") + source[above.end() :]
    return (code, _tags(options)) if _read(options) else (source, [])


def _tags(options: str) -> list[str]:
    """Return the tags in options, given as a list or as a text with commas or spaces."""
    read = _read(options)
    value = read.get("tags", read.get("tag")) if isinstance(read, dict) else None
    items = re.split(r"[,\s]", value) if isinstance(value, str) else value
    return [tag for item in items if (tag := str(item).strip())] if isinstance(items, list) else []


def _read(options: str) -> object:
    """Return what options say; nothing if they aren't YAML, which mystmd passes over."""
    with suppress(yaml.YAMLError):
        return yaml.safe_load(options)
    return None
