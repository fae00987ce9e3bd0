"""The command: any notebook as it stands, every exit status, and no kernel left behind."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
import reported
from nbformat import v4
from notebooks import code, notebook, raised, stream, value
from processes import wait_until
from psutil import pid_exists
from small_book import FRONT, cell, front, write

import sphinx_drift.__main__ as command
from sphinx_drift import files as shared
from sphinx_drift.compare.compare import Policy
from sphinx_drift.kinds import Kind
from sphinx_drift.model import Outcome, Page
from sphinx_drift.run.choice import page_environment
from sphinx_drift.run.host import HOST
from sphinx_drift.run.results import Execution
from sphinx_drift.run_and_judge import Task, plan_runs
from sphinx_drift.search import find_pages
from sphinx_drift.settings import Settings

GOOD = FRONT + '```{code-cell} ipython3\nprint("good")\n```\n```{expected-output}\ngood\n```\n'


SHOWN = {"image/svg+xml": "<svg/>", "text/plain": "<Figure>"}
DRAWN = code(
    f"from IPython.display import display\ndisplay({SHOWN}, raw=True)",
    v4.new_output("display_data", SHOWN),
)
ERROR = raised(
    *("ZeroDivisionError", "division by zero"),
    "ZeroDivisionError   Traceback (most recent call last)",
    "ZeroDivisionError: division by zero",
)
EVERYTHING = notebook(
    v4.new_markdown_cell("# Title"),
    code('print("a")\nprint("b")', stream("a\nb\n")),
    DRAWN,
    code("print(1 / 0)", ERROR),
    code('import sys\nprint("here", file=sys.stderr)\n0.5', value("0.5", 3)),
    code("import not_installed_here", stream("1\n"), tags=("skip-execution",)),
    code(""),
    kernelspec={"name": "conda-env-mine-py", "display_name": "Mine", "language": "python"},
)
OLD = notebook(code("print(0.5)\n'b'", stream("0.5\n"), value("'b'", 3)))
STAND_IN = "import sys, types\nsys.modules['torch'] = types.ModuleType('torch')\nprint(1)"
TAGGED = notebook(code(STAND_IN, stream("1\n"), tags=("x",)))
NULL_TAGS = re.sub(r'\[\s*"x"\s*\]', "null", v4.writes(TAGGED))
OWN = notebook(
    code('_ = open("runs", "a").write("x")\nprint(open("beside.txt").read())', stream("beside\n")),
    code('print("first\\nsecond")', stream("first\nother\n")),
)


def outcomes(out: str, err: str) -> dict[str, str]:
    """Return the kind and cell of each outcome, by file."""
    files = re.findall(r"\[\d+/\d+\] (.*?): ", err)
    heads = re.compile(r"(?m)^(\S+?):\S+(?: (\d) \(line \d\))?: ([a-z-]+)(?: in cell (\d))?")
    found: dict[str, list[str]] = {name: [] for name in files}
    for name, of_notebook, kind, of_page in heads.findall(out):
        found[name].append(f"{kind} {of_page or of_notebook or 0}")
    return {name: ", ".join(outcomes) for name, outcomes in found.items()}


def test_each_file_is_reported_once_and_costs_no_other_its_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "good.md": GOOD,
        "UP.MD": GOOD,
        "crash.md": GOOD,
        "other.TXT": GOOD,
        "prose.md": "# No cell\n",
        "named.md": "# No cell\n",
        "everything.ipynb": EVERYTHING,
        "old.ipynb": nbformat.writes(OLD, version=3),
        "sub/own.ipynb": OWN,
        "sub/beside.txt": "beside",
        "null.ipynb": NULL_TAGS,
        "drawn.ipynb": notebook(DRAWN),
        "named.ipynb": notebook(DRAWN),
        "empty.ipynb": notebook(),
        "broken.ipynb": "{",
        "list.ipynb": "[]",
        "lacking.ipynb": json.dumps(
            {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code"}]}
        ),
        "unmarked.md": GOOD.replace(FRONT, ""),
        ".hidden/bad.md": "bad",
        "_build/bad.md": GOOD,
        "_downloads/a1b2/bad.md": GOOD,
        "sub/_sources/bad.md": GOOD,
        "out/doctrees/nbsphinx/bad.md": GOOD,
        "sub/node_modules/bad.md": GOOD,
        "sub/.ipynb_checkpoints/own-checkpoint.ipynb": "{",
        ".dot.ipynb": "{",
    }
    write(tmp_path, files)
    (tmp_path / "latin.md").write_bytes(FRONT.encode() + b"\xe9")
    assert '"tags": null' in files["null.ipynb"]
    really = shared.run_and_judge

    def crash(task: Task) -> Any:
        if "crash" in task.path.name:
            raise AttributeError("ours")
        return really(task)

    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setattr(shared, "run_and_judge", crash)
    monkeypatch.chdir(tmp_path)
    named = ["sub/../named.md", "named.md", "named.ipynb", "other.TXT"]
    assert command.main([".", *named, str(tmp_path / "sub" / ".." / "named.ipynb"), ".", "-v"]) == 1
    out, err = capsys.readouterr()
    assert (tmp_path / "sub" / "runs").read_text() == "x"
    unreadable = ("broken.ipynb", "lacking.ipynb", "latin.md", "list.ipynb", "unmarked.md")
    assert outcomes(out, err) == {
        **dict.fromkeys((*unreadable, "other.TXT"), "unreadable 0"),
        **dict.fromkeys(("empty.ipynb", "prose.md", "named.md", "drawn.ipynb", "named.ipynb"), ""),
        **dict.fromkeys(("good.md", "UP.MD", "null.ipynb", "old.ipynb"), "verified 1"),
        "crash.md": "could-not-check 0",
        "everything.ipynb": "verified 1, verified 3, verified 4, unchecked 5",
        "sub/own.ipynb": "verified 1, drift 2",
    }
    assert len(re.findall(r"(?m)^::error.*sub/own\.ipynb:cell 2 \(line 2\): drift", out)) == 1


def test_after_a_link_to_a_folder_two_dots_are_another_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, {"book/a": GOOD, "book/sub/b": GOOD, "other/a": GOOD})
    (tmp_path / "other" / "sub").symlink_to(tmp_path / "book" / "sub")
    names = ("other/sub/../a.md", "other/a.md", "other/../other/a.md")
    assert command.main([str(tmp_path / name) for name in names]) == 0
    assert "2 outputs verified on 2 pages" in capsys.readouterr().out


@pytest.mark.parametrize("sign", ["pyvenv.cfg", "conda-meta/history"])
def test_linked_folders_are_followed_and_environments_left_out(sign: str, tmp_path: Path) -> None:
    pages, made = tmp_path / "pages", tmp_path / "pages" / "made"
    real = write(tmp_path / "real", {"page": GOOD})
    write(made, {"page": GOOD})
    (made / sign).parent.mkdir(exist_ok=True)
    (made / sign).touch()
    (pages / "linked").symlink_to(real)
    (pages / "other").symlink_to(real)  # perhaps of another book
    (real / "loop").symlink_to(pages)
    found = list(find_pages([pages]))
    assert found == [pages / "linked" / "page.md", pages / "other" / "page.md"]
    assert list(find_pages([made])) == [made / "page.md"]


def test_crash_of_the_command_is_no_drift(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def crash() -> int:
        raise AttributeError("ours")

    monkeypatch.setattr(command, "main", crash)
    assert command.guarded() == 2
    assert "AttributeError: ours" in capsys.readouterr().err


# Options, without a kernel ------------------------------------------------------------

VERIFIED = Outcome(Kind.VERIFIED, 9, cell=1, cell_line=7)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.md"
    path.write_text(GOOD, "utf-8")
    return path


@pytest.fixture
def pretend(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what makes pages come out as they should, without being run."""

    def make(*outcomes: Outcome) -> list[Any]:
        calls: list[Any] = []

        def verify(task: Task) -> tuple[Any, ...]:
            calls.append(task.settings)
            return reported.page(*outcomes, file=str(task.path)), Execution(), None

        monkeypatch.setattr(shared, "run_and_judge", verify)
        return calls

    return make


def test_what_is_verified_is_listed_if_that_is_asked_for(
    page: Path, pretend: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(reported.drift("0.5", "0.6", 9), VERIFIED)
    command.main([str(page)])
    out = capsys.readouterr().out
    assert out.startswith(f"{page}:9: drift in cell 2 (line 5):")
    assert "\n1 output drifted, 1 output verified on 1 page (torch" in out
    assert ": verified" not in out
    command.main([str(page), "--quiet"])
    last = capsys.readouterr().out
    assert last.startswith("1 output drifted")
    assert out.endswith(last)
    other = page.with_name("other.md")
    other.write_text(GOOD, "utf-8")
    command.main([str(page), str(other), "--quiet"])
    assert capsys.readouterr().err == ""
    command.main([str(page), "--verbose"])
    assert ": verified" in capsys.readouterr().out
    monkeypatch.setenv("FORCE_COLOR", "1")
    command.main([str(page)])
    assert "\x1b[" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "variables", "message"),
    [
        ([], {}, "required: PATH"),
        (["no-such-file.md"], {}, "no file or folder no-such-file.md"),
        (["empty"], {}, "there is no page or notebook below empty"),
        (["page.md", "--policy", "loose"], {}, "--policy"),
        (["page.md"], {"DRIFT_POLICY": "loose"}, "DRIFT_POLICY must be one of auto"),
        (["page.md"], {"DRIFT_RUNNER": "Fork"}, "DRIFT_RUNNER must be one of fork, jupyter"),
        (["page.md", "--require", "*,typo/*"], {}, "--require: no page here matches 'typo/*'"),
        (["."], {"require": "nope/**"}, "require: no page matches 'nope/**'"),
        (["page.md", "--timeout", "0"], {}, "it must be a whole number above 0; got 0"),
        (["page.md", "--update"], {"CI": "true"}, "--update is refused under CI"),
        (["page.md", "--update"], {"CI": "false"}, "nothing was run: page.md is untracked"),
    ],
)
def test_bad_use(  # noqa: PLR0917, PLR0913 - columns and fixtures
    arguments: list[str],
    variables: dict[str, str],
    message: str,
    page: Path,
    pretend: Any,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = pretend(VERIFIED)
    (page.parent / "empty").mkdir()
    monkeypatch.chdir(page.parent)
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    if required := variables.get("require"):
        Path("pyproject.toml").write_text(f"[tool.sphinx-drift]\nrequire = ['{required}']\n")
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert (ended.value.code, calls) == (2, [])
    assert message in capsys.readouterr().err


def test_a_file_is_checked_once(page: Path, pretend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = pretend(VERIFIED)
    monkeypatch.chdir(page.parent)
    arguments = [".", "page.md", "./page.md", "--timeout", "7", "--policy", "portable"]
    assert command.main(arguments) == 0
    assert [(each.timeout, each.policy) for each in calls] == [(7, Policy.PORTABLE)]


def test_a_filter_of_any_project_that_matches_nothing_is_told(
    tmp_path: Path, pretend: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    pretend(VERIFIED)
    for name in ("one", "two"):
        table = f"[tool.sphinx-drift]\nfilters = [['x', '{name}', 'why']]\nrequire = ['page.md']\n"
        write(tmp_path / name, {"page": GOOD, "pyproject.toml": table})
    assert command.main([str(tmp_path)]) == 0
    told = capsys.readouterr().err
    assert "nothing was filtered as one, two; delete" in told
    assert "require: no page here" not in told
    write(tmp_path / "one" / "prose", {"p": "# Prose\n"})
    for at, status in ((tmp_path / "one" / "page.md", 0), (tmp_path / "one" / "prose", 2)):
        assert command.main([str(at)]) == status
        assert "nothing was filtered" not in (told := capsys.readouterr().err)
    assert "require: no page here matches 'page.md'" in told


def test_each_of_several_books_has_its_libraries_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HOST, "preload", ())
    for name in ("json", "numpy"):
        table = f"[tool.sphinx-drift]\npreload = ['{name}']\n"
        write(tmp_path / name, {"pyproject.toml": table})
    shared.prepare([tmp_path / name / "page.md" for name in ("json", "numpy", "json")])
    assert HOST.preload == ("json", "numpy")


def test_a_page_has_filters_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = "drift: {filters: [['\\d+ ms', time, why], ['in \\d{4}', year, why]]}"
    cells = (cell(f"print('5 ms, {number}')", "6 ms, 0.5") for number in (0.5, 0.4))
    write(tmp_path, {"page": front(own) + "\n\n".join(cells)})
    assert command.main([str(tmp_path)]) == 1
    printed = capsys.readouterr()
    assert re.findall(r"drift in cell (\d)", printed.out) == ["2"]
    assert "1 output verified" in printed.out
    assert "nothing was filtered as year; delete" in printed.err
    # What is written may have been filtered by it.
    assert command.main([str(tmp_path), "--update", "--force"]) == 0
    assert "nothing was filtered" not in capsys.readouterr().err


# With kernels -------------------------------------------------------------------------

DRAWS = cell("from IPython.display import Image\nImage(data=b'it', format='png')")
SILENT = code("x = 1", count=3)
PLOTS = cell("display({'application/vnd.plotly.v1+json': {'data': []}}, raw=True)")


@pytest.mark.parametrize(
    ("name", "content", "status", "message"),
    [
        ("a.md", FRONT + DRAWS, 0, "0 outputs verified on 1 page, 1 picture not compared"),
        ("a.md", FRONT + PLOTS, 0, "0 outputs verified on 1 page, 1 widget not compared"),
        ("a.md", f"{FRONT}{DRAWS}\n\n{cell('1')}", 2, "1 output on 1 page has no expectation"),
        ("a.md", "# Prose\n", 2, "nothing was checked"),
        ("a.ipynb", notebook(SILENT), 0, "0 outputs verified on 1 page, 1 cell silent, as stored"),
        ("a.ipynb", notebook(SILENT, "print(x)"), 2, "1 output on 1 page has no expectation"),
        ("a.ipynb", notebook("print(1)"), 2, "nothing here is documented, by an expectation"),
    ],
)
def test_where_nothing_is_compared_only_what_draws_or_was_left_silent_passes(  # noqa: PLR0913, PLR0917 - columns
    name: str,
    content: Any,
    status: int,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(tmp_path, {name: content})
    for path in (tmp_path / name, tmp_path):
        assert command.main([str(path)]) == status
        assert message in "".join(capsys.readouterr())


def test_what_is_silent_is_not_counted_beside_what_is_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, {"a.ipynb": notebook(SILENT), "page": FRONT + cell("1", "1")})
    assert command.main([str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("1 output verified on 1 page (")


@pytest.mark.parametrize(("documented", "status"), [("0.429637", 0), ("0.41", 1)])
@pytest.mark.parametrize("name", ["page.md", "page.ipynb"])
def test_sentences_that_nearly_say_a_number_are_listed_and_fail_nothing(
    name: str, documented: str, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "It ends at 0.43,\nand later at 0.435."
    shown = f"```{{expected-output}}\n{documented}\n```\n"
    page = f"{FRONT}{cell('print(0.429637)')}\n{shown}"
    cells = code("print(0.429637)", stream(f"{documented}\n")), v4.new_markdown_cell(said)
    write(tmp_path, {name: page + said if name == "page.md" else notebook(*cells)})
    assert command.main([str(tmp_path / name), "--prose"]) == status
    found = r"(:14|, below cell 1): says 0\.435, and cell 1( \(line 11\))? prints 0\.429637"
    assert len(re.findall(f"{name}{found}", capsys.readouterr().out)) == 1
    assert command.main([str(tmp_path / name)]) == status
    assert "0.435" not in capsys.readouterr().out


def test_second_run_of_a_page_waits_for_the_first(tmp_path: Path) -> None:
    for name in "ab":
        uses = f"mark = Path('{name}'); mark.mkdir(); time.sleep(1); mark.rmdir()"
        text = GOOD.replace("print(", f"import time; from pathlib import Path\n{uses}\nprint(")
        write(tmp_path, {name: text})
    assert command.main([str(tmp_path), "--twice"]) == 0


@pytest.mark.parametrize(
    ("name", "own", "first"),
    [
        *((name, own, own) for name in ("PYTHONHASHSEED", "OMP_NUM_THREADS") for own in "12"),
        ("OMP_NUM_THREADS", None, "1"),
        ("PYTHONHASHSEED", None, "0"),
    ],
)
def test_second_run_has_another_environment(
    monkeypatch: pytest.MonkeyPatch, name: str, own: str | None, first: str
) -> None:
    monkeypatch.setenv(name, own) if own else monkeypatch.delenv(name, raising=False)
    requests = plan_runs(Task(Path(), Page(), notebook(), Settings(twice=True)))
    runs = [{**page_environment(), **request.variables}[name] for request in requests]
    assert runs[0] == first
    assert runs[1] != first


ALLOWED = {"mystnb": {"execution_allow_errors": True}}


@pytest.mark.parametrize(
    ("own", "count", "failures"), [({}, None, 2), (ALLOWED, None, 0), (ALLOWED, 2, 0)]
)
def test_error_of_a_cell_that_stored_nothing_fails(
    own: Any, count: int | None, failures: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = code("print(1)", stream("1\n")), code("assert 1 == 2", count=count)
    page = front(json.dumps(own)[1:-1]) + cell("print(1)", "1") + "\n\n" + cell("assert 1 == 2")
    write(tmp_path, {"notes.ipynb": notebook(*cells, **own), "page": page})
    assert command.main([str(tmp_path), "--keep-going"]) == bool(failures)
    told = capsys.readouterr().out
    assert told.count(": raised") == failures
    assert "2 outputs verified on 2 pages" in told
    assert ("2 outputs on 2 pages have no expectation" in told) is (not failures)


BAD_CELLS = (
    "1 / 0",
    "import time\nprint(time.time())",
    "class A:\n    __repr__, _repr_html_ = lambda _: 'A', lambda _: 'A of 5'\nA()",
    "object()",
    "print('a\\x00b')",
    "import warnings\nwarnings.warn('w')",
    "%time 1",
    "!pip install --help",
    (
        "import random\nclass B:\n    def __repr__(self): return f'{random.random()} of B'\n"
        "    def _repr_html_(self): return f'<b>{self!r}</b>'\nprint(random.random())\nB()"
    ),
    "print('7 at', object())",
)


def test_update_is_a_fixed_point(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "page.md"
    cells = "".join(f"```{{code-cell}} ipython3\n{each}\n```\n\n" for each in BAD_CELLS)
    path.write_text(
        f"{FRONT}{cells}```{{expected-output}}\n8 at <object object at 0x0>\n```\n", "utf-8"
    )
    other = tmp_path / "other.md"  # with more than one, pages begin ahead
    other.write_text(FRONT + "```{code-cell} ipython3\nprint(6)\n```\n", "utf-8")
    paths = [str(path), str(other)]
    assert command.main([*paths, "--update", "--force"]) == 1, capsys.readouterr().out
    assert other.read_text("utf-8").endswith("```{expected-output}\n6\n```\n")
    assert capsys.readouterr().out.endswith(
        "to decide, by mending or seeding it, printing less or giving a reason of your own:\n"
        f"  {path}: cell 1: recorded ZeroDivisionError: division by zero\n"
        f"  {path}: cell 2: it differs between two runs\n"
        f"  {path}: cell 5: it can't be written so that it reads the same\n"
        f"  {path}: cell 9: it differs between two runs\n"
    )
    written = path.read_text("utf-8")
    assert "it differs between two runs" in written
    assert ":unchecked: installs packages\n\n```\n" in written
    assert written.endswith("\n7 at <object object at 0x0>\n```\n")
    for _ in range(2):
        assert command.main([str(path), "--require", "all"]) == 0, capsys.readouterr().out
    assert command.main([str(path), "--update", "--force"]) == 1
    assert path.read_text("utf-8") == written
    own = written.replace("it differs", "a draw").replace("it can't be", "never")
    path.write_text(own, "utf-8")
    assert command.main([str(path), "--update", "--force"]) == 0
    path.write_text(own.replace("\n7 at", "\n8 at"), "utf-8")
    assert command.main([str(path)]) == 1


NESTED = f"`````{{tip}}\n{cell('print(3)')}\n`````"
SKIPPED = cell(":tags: [skip-execution]\n\nprint(3)")


@pytest.mark.parametrize("unchecked", [NESTED, SKIPPED])
@pytest.mark.parametrize("printed", ["good", "bad"])
def test_update_passes_where_a_check_does(unchecked: str, printed: str, page: Path) -> None:
    page.write_text(f"{GOOD.replace('good', printed, 1)}\n{unchecked}\n", "utf-8")
    for arguments in (("--update", "--force"), ("--update", "--force"), ()):
        assert command.main([str(page), *arguments]) == 0
    assert page.read_text("utf-8").count(printed) == 2


GLUED = """```{code-cell} ipython3
import time
from myst_nb import glue
glue("now", time.time())
```

```{code-cell} ipython3
print(5)
```
"""


@pytest.mark.parametrize(
    "lacks", ["import missing_module", "raise ImportError('`Import pyarrow` failed.')"]
)
def test_update_leaves_a_glued_value_that_varies(
    lacks: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, refused = tmp_path / "page.md", tmp_path / "refused.md"
    path.write_text(FRONT + GLUED, "utf-8")
    more = "\n```{code-cell} ipython3\nprint(6)\n```\n"
    refused.write_text(GOOD.replace('print("good")', lacks) + more, "utf-8")
    assert command.main([str(path), str(refused), "--update", "--force"]) == 2
    told = capsys.readouterr()
    assert "page.md:7: unrepeatable in cell 1" in told.out
    assert "    first run 1" in told.out  # as no page documents it
    assert "refused.md is left as it is: " in told.err
    written = path.read_text("utf-8")
    assert written == FRONT + GLUED + "```{expected-output}\n5\n```\n"
    assert command.main([str(path)]) == 0


SAVES = """from pathlib import Path
page = Path("page.md")
page.write_text(page.read_text().replace("---\\n\\n", "---\\n\\n" + "More.\\n" * 12, 1))
print(3)"""


def test_update_leaves_a_page_that_is_saved_while_it_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "page.md"
    path.write_text(FRONT + "Prose.\n" * 30 + "\n" + cell(SAVES), "utf-8")
    assert command.main([str(path), "--update", "--force"]) == 2
    assert "left as it is: it was changed while it was run" in capsys.readouterr().err
    assert "expected-output" not in path.read_text("utf-8")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("where", ["page.md", "conf.py"])
def test_interrupt_leaves_no_process(where: str, number: signal.Signals, page: Path) -> None:
    code = 'import os, time\nopen("pid", "w").write(str(os.getpid()))\ntime.sleep(100)'
    text = GOOD.replace('print("good")', code) if where == page.name else f"{code}  # myst_nb"
    page.with_name(where).write_text(text, "utf-8")
    running = subprocess.Popen(
        [sys.executable, "-m", "sphinx_drift", str(page)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    pid = page.parent / "pid"
    wait_until(lambda: pid.exists() and pid.read_text())
    running.send_signal(number)
    out, errors = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
    assert errors.splitlines()[-1] == "interrupted; nothing is verified"
    wait_until(lambda: not pid_exists(int(pid.read_text())))


def test_a_report_that_nobody_takes_is_told_in_a_line(page: Path) -> None:
    command = f"{sys.executable} -m sphinx_drift {page} | true"
    ran = subprocess.run(["/bin/sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False)
    assert ran.stderr == "the report could not be written\n"


@pytest.mark.parametrize(("pattern", "status"), [("docs/*", 1), ("**", 1), ("expected", 0)])
def test_the_pages_that_the_command_requires(
    pattern: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cells = cell("print(1)", "1"), cell("print(2)")
    write(tmp_path, {"docs/page": FRONT + "\n".join(cells)})
    assert command.main(["docs", "--require", pattern]) == status
