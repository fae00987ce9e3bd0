"""Read what the metadata of pages, notebooks and cells say: tags, what is shown, `drift: {...}`."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import yaml
from myst_nb.core.config import NbParserConfig
from nbformat import NotebookNode

from sphinx_drift.kinds import Kind
from sphinx_drift.model import Cell, Outcome, Page
from sphinx_drift.output.printed_text import Part
from sphinx_drift.settings import entries, read_table, table_in
from sphinx_drift.shapes import Place
from sphinx_drift.source.markdown import lines_of

REASONS = ("reference-only", "unchecked")
"""What a notebook's cell may say, each with a reason."""
OF_MYST_NB = (
    *("cell_metadata_key", "metadata_key", "output_stderr", "remove_code_outputs"),
    *("execution_excludepatterns", "execution_mode"),
)
"""MyST-NB's settings of what readers see, and what is run; a book writes them after `nb_`."""
IGNORED = "nbval-ignore-output"
"""nbval's tag of a cell whose outputs aren't compared."""


def read_front(text: str) -> dict[str, Any]:
    """Return the front matter of a page, or of a cell of Markdown.

    Raises:
        ValueError: If it isn't YAML; it names the line.

    """
    lines = lines_of(text)
    ends = [n for n, line in enumerate(lines) if n and line.startswith(("---", "..."))]
    if not (ends and lines[0].startswith("---")):
        return {}
    try:
        front = yaml.safe_load("\n".join(lines[1 : ends[0]]))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        raise ValueError(f"line {line} of its front matter isn't YAML: {error.problem}") from None
    except (yaml.YAMLError, ValueError) as error:  # of a control character, or a date
        raise ValueError(f"its front matter can't be read: {error}") from None
    return front if isinstance(front, dict) else {}


def left_out_by(
    path: Path, metadata: Mapping[str, Any], config: NbParserConfig, *, is_mystmd: bool = False
) -> str:
    """Return the setting of MyST-NB, nbsphinx or mystmd that leaves a page out, or nothing."""
    leaving_out: dict[str, bool] = {}
    if is_mystmd:
        leaving_out["skip_execution"] = metadata.get("skip_execution") is True  # its old name
        leaving_out["no kernelspec"] = not table_in(metadata, "kernelspec")
    elif any(map(PurePosixPath(path).match, config.execution_excludepatterns)):
        return "nb_execution_excludepatterns"
    elif config.execution_mode == "off":
        is_own = "execution_mode" in table_in(metadata, config.metadata_key)
        return f"{config.metadata_key}: execution_mode" if is_own else "nb_execution_mode"
    else:
        never = table_in(metadata, "nbsphinx").get("execute") == "never"
        leaving_out["nbsphinx: execute"] = never
    leaving_out["execute: skip"] = table_in(metadata, "execute").get("skip") is True  # mystmd's
    return next((setting for setting, leaves_out in leaving_out.items() if leaves_out), "")


def read_cell(
    number: int, index: int, node: NotebookNode, lines: tuple[int, int], settings: NbParserConfig
) -> Cell:
    """Return a cell without its expectations."""

    def setting(name: str) -> str:
        return str(settings.get_cell_level_config(name, node.metadata, lambda *_: None))

    tags = frozenset(str(tag) for tag in node.metadata.get("tags") or ())
    hidden = frozenset(part for part in (Part.STDOUT, Part.STDERR) if f"remove-{part}" in tags)
    if setting("output_stderr").startswith("remove"):
        hidden |= {Part.STDERR}
    if setting("remove_code_outputs") == "True":
        tags |= {"remove-output"}
    return Cell(number, index, lines[0], node.source, lines[1], tags, hidden=hidden)


def page_config(metadata: Mapping[str, Any], **of_book: Any) -> NbParserConfig:
    """Return MyST-NB's settings of a page: its own, and some of its book."""
    config = NbParserConfig(**of_book)
    for name, value in table_in(metadata, config.metadata_key).items():
        with suppress(Exception):  # MyST-NB warns of what it doesn't know
            config = config.copy(**{name: value})
    return config


def with_settings(page: Page, notebook: NotebookNode) -> Page:
    """Return a page with what it and its cells say in their metadata: `drift: {...}`."""
    problems = list(page.problems)
    settings: Mapping[str, Any] = {}
    try:
        settings = read_table(notebook.metadata.get("drift", {}), Place.PAGE, Path())
    except ValueError as error:
        problems.append(Outcome(Kind.OPTION, 1, message=str(error)))
    elsewhere = {"sphinx-drift", "sphinx_drift", *(f"drift_{e.name}" for e in entries(Place.PAGE))}
    for name in sorted(elsewhere & notebook.metadata.keys()):
        message = f"`{name}` says nothing here: write `drift: {{complete: true}}`, for instance"
        problems.append(Outcome(Kind.OPTION, 1, message=message))
    cells: list[Cell] = []
    for cell in page.cells:
        of_cell = notebook.cells[cell.index].metadata.get("drift", {})
        if not _has_reasons(of_cell, REASONS if page.is_notebook else ()):
            reasons = f"{' and '.join(REASONS)}, each with a reason"
            may_hold = reasons if page.is_notebook else "nothing"
            message = f"`drift` of cell {cell.number} may hold {may_hold}; got {of_cell!r}"
            problems.append(Outcome(Kind.OPTION, cell.line, cell=cell.number, message=message))
            of_cell = {}
        cells.append(_with_reasons(cell, of_cell) if page.is_notebook else cell)
    page = replace(page, cells=tuple(cells), problems=tuple(problems), settings=settings)
    return replace(page, complete=settings.get("complete", False))


def _has_reasons(table: object, known: Collection[str]) -> bool:
    """Whether the table of a cell holds reasons under known names, and nothing else."""
    if not isinstance(table, dict) or not table.keys() <= set(known):
        return False
    return all(isinstance(reason, str) and reason.strip() for reason in table.values())


def _with_reasons(cell: Cell, table: Mapping[str, Any]) -> Cell:
    """Return a notebook's cell with the reasons not to compare its outputs."""
    reasons = {name.replace("-", "_"): table[name] for name in REASONS if name in table}
    if IGNORED in cell.tags:
        reasons.setdefault("unchecked", f"tagged {IGNORED}")
    if "unchecked" in reasons:
        cell = replace(cell, unchecked=reasons["unchecked"], is_claim=False)
    return replace(cell, expectations=tuple(replace(e, **reasons) for e in cell.expectations))
