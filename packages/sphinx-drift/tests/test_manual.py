"""The README's first book does what it says, and the manual leaves no setting or option out."""

import os
import re
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name

import pytest
from markdown_it import MarkdownIt
from small_book import write

import sphinx_drift.__main__ as command
from sphinx_drift.settings import entries
from sphinx_drift.shapes import Place
from sphinx_drift.source.expectations import OPTIONS

ROOT = Path(__file__).parents[1]
CODE = ROOT / "sphinx_drift"
README = (ROOT / "README.md").read_text("utf-8")
FILE = re.compile(r"`(book/\S+)`")
UNSET = ("CI", "DRIFT_", "FORCE_COLOR", "GITHUB_ACTIONS")
"""How variables begin that change what a build prints."""
PYTHON = re.compile(r"python 3[.\d]+")
README_PYTHON = os.environ.get("README_PYTHON", sys.executable)
"""Whose build it is: a release tries its distributions in an environment of their own."""


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text("utf-8")


# The first book -----------------------------------------------------------------------


def read_start() -> tuple[dict[str, str], list[str]]:
    """Return the files of the first book, and the reports of its two builds."""
    files, reports, named = {}, [], ""
    for token in MarkdownIt().parse(README):
        if token.type == "inline":
            named = (FILE.findall(token.content) or [""])[-1]
        elif token.type == "fence" and token.info == "text":
            reports.append(PYTHON.sub("python 3", token.content))
        elif token.type == "fence" and named:
            files[named] = token.content
    return files, reports


def build(folder: Path, *options: str) -> tuple[int, str]:
    """Build the first book; return the exit status and what was written."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(UNSET)}
    done = subprocess.run(
        [README_PYTHON, "-m", "sphinx", *options, "book", "site"],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, PYTHON.sub("python 3", done.stdout)


@pytest.mark.slow
def test_the_first_book_is_red_and_then_green(tmp_path: Path) -> None:
    files, (red, green) = read_start()
    right, line, file = re.findall(r"Write `(\S+)` on line (\d+) of `(\S+)`", README)[0]
    assert sorted(files) == ["book/conf.py", "book/index.md", "book/spread.md"]
    write(tmp_path, files)
    assert build(tmp_path, "-q") == (1, red.partition("\n")[2])
    mended = files[file].splitlines()
    mended[int(line) - 1] = re.sub(r"\S+", right, mended[int(line) - 1], count=1)
    (tmp_path / file).write_text("\n".join(mended) + "\n", "utf-8")
    status, printed = build(tmp_path)
    assert (status, printed.splitlines()[-1]) == (0, green.strip())
    shown = (tmp_path / "site" / "spread.html").read_text("utf-8")
    assert "The wettest day had 7.62 mm more than the mean." in re.sub("<[^>]*>", "", shown)


# The manual ---------------------------------------------------------------------------


def test_the_readme_leads_to_every_page_of_the_manual() -> None:
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")}
    assert set(re.findall(r"\(docs/([\w-]+)\.md\)", README)) == pages - {"index", "changelog"}


def test_what_the_manual_imports_is_there() -> None:
    text = "".join(page.read_text("utf-8") for page in (ROOT / "docs").glob("*.md"))
    imports = re.findall(r"^from (sphinx_drift\S*) import (\w+)", text, re.MULTILINE)
    assert imports
    for module, name in imports:
        resolve_name(f"{module}.{name}")


def test_every_variable_is_documented() -> None:
    code = "".join(path.read_text("utf-8") for path in CODE.rglob("*.py"))
    between_processes = {"COVERAGE", "DEVICE_MODULE"}
    variables = set(re.findall(r'"DRIFT_(\w+)"', code)) - between_processes
    documented = set(re.findall(r"\{envvar\} DRIFT_(\w+)\n", page("settings")))
    listed = {entry.variable.removeprefix("DRIFT_") for entry in entries() if entry.variable}
    assert variables == documented | listed


def test_every_option_of_an_expectation_is_documented() -> None:
    named = re.findall(r"rst:directive:option\} ([\w-]+)", page("expectations"))
    assert set(named) == set(OPTIONS)


def unequal(text: str, command: str, options: set[str]) -> set[str]:
    """Return the options that only a command has, or only a page below the command's name."""
    section = text.partition(f"```{{program}} {command}\n")[2].partition("```{program}")[0]
    named = re.findall(r"^```\{option\} (.*)$", section, re.MULTILINE)
    return set(re.findall("--[a-z-]+", " ".join(named))) ^ options


def test_every_option_of_the_command_is_documented(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["--help"])
    shown = capsys.readouterr().out
    options = set(re.findall(r"^ +(?:-\w(?: [A-Z]+)?, )?(--[a-z-]+)", shown, re.MULTILINE))
    options -= {"--help", *(entry.option for entry in entries(Place.COMMAND))}  # listed from there
    assert options
    assert unequal(page("commands"), "python -m sphinx_drift", options) == set()


def test_every_option_of_the_plugin_is_documented() -> None:
    code = (CODE / "pytest_plugin.py").read_text("utf-8")
    options = set(re.findall(r'"(--drift[a-z-]*)"', code))
    assert unequal(page("docstrings"), "pytest", options) == set()
