"""Run the examples of docstrings through the same comparison as pages.

As a command it checks every module of the packages, and the text files, that it is given::

    python -m selfattn.drift.doctests selfattn README.md

pytest does the same with ``-p selfattn.drift.pytest_plugin --drift-doctests``, and in any other
suite ``doctest.DocTestRunner(checker=selfattn.drift.doctests.Checker())`` is all that is needed.
"""

from __future__ import annotations

import argparse
import copy
import doctest
import importlib
import importlib.util
import inspect
import io
import os
import pkgutil
import sys
import tokenize
import traceback
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import dropwhile
from pathlib import Path
from typing import TYPE_CHECKING

from selfattn.drift.extra import needed_by

with needed_by(
    "selfattn.drift.doctests", SystemExit if __name__ == "__main__" else ModuleNotFoundError
):
    from selfattn.drift.check import Outcome, PageResult
    from selfattn.drift.compare import Policy, Verdict, compare
    from selfattn.drift.configuration import find_reference
    from selfattn.drift.device import DEVICE_VARIABLE, chosen_device, computing_on
    from selfattn.drift.docstrings import find_docstrings, without_fences
    from selfattn.drift.formats import exit_status
    from selfattn.drift.kinds import Kind
    from selfattn.drift.outputs import address
    from selfattn.drift.report import render, use_color
    from selfattn.drift.update import update_docstrings, write
    from selfattn.drift.verify import Settings, chosen_policy
    from selfattn.runner.inside import describe, print_full_precision

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType, TracebackType

    from selfattn.drift.docstrings import Docstring

    _ExcInfo = tuple[type[BaseException], BaseException, TracebackType]

__all__ = [
    "Checker",
    "check_examples",
    "check_module",
    "check_text",
    "examples_of_module",
    "examples_of_text",
    "main",
]


_TRACEBACK = "Traceback (most recent call last):"


class Checker(doctest.OutputChecker):
    """Compares what an example must print with what it printed, token by token.

    Wrapping, padding and blank lines don't matter; every digit, sign, bracket and word does.
    ``...`` is three dots, not a wildcard, whatever the option flags say.

    Examples:
        >>> Checker().check_output("[0.5, 1.0]", "[0.5,  1.0]", 0)
        True
        >>> Checker().check_output("[0.5, 1.0]", "[0.5,  1.1]", 0)
        False

    """

    def check_output(self, want: str, got: str, optionflags: int) -> bool:  # noqa: ARG002 - theirs
        """Return whether two outputs are the same."""
        return compare(_documented(want), got).same

    def output_difference(self, example: doctest.Example, got: str, optionflags: int) -> str:  # noqa: ARG002
        """Tell where they differ, as pages do."""
        verdict = compare(_documented(example.want), got)
        outcome = Outcome(
            Kind.DRIFT, 0, documented=_documented(example.want), executed=got, verdict=verdict
        )
        told = render([PageResult("example", (outcome,))]).rpartition("\n\n")[0]
        return told.partition("\n")[2] + "\n"


def _documented(want: str) -> str:
    """Return the documented text without doctest's mark for a blank line."""
    return want.replace(doctest.BLANKLINE_MARKER, "")


class _Recorder(doctest.DocTestRunner):
    """Keeps an outcome for each example instead of printing."""

    def __init__(self) -> None:
        super().__init__(checker=Checker(), verbose=False)
        self.outcomes: list[Outcome] = []
        self.printed: dict[int, str] = {}
        """What each example printed, by its line in the docstring."""

    def report_start(self, out: object, test: doctest.DocTest, example: doctest.Example) -> None:
        """Print nothing."""

    def report_success(
        self, out: object, test: doctest.DocTest, example: doctest.Example, got: str
    ) -> None:
        """Keep what was verified, unless an option flag alone made it a success."""
        del out
        self.printed[example.lineno] = got
        if example.want:
            outcome = _outcome(test, example, got, Kind.VERIFIED)
            kind = outcome.kind if outcome.verdict.same else Kind.DRIFT
            self.outcomes.append(replace(outcome, kind=kind))

    def report_failure(
        self, out: object, test: doctest.DocTest, example: doctest.Example, got: str
    ) -> None:
        """Keep what drifted."""
        del out
        self.printed[example.lineno] = got
        kind = Kind.DRIFT if example.want else Kind.UNDOCUMENTED
        self.outcomes.append(_outcome(test, example, got, kind))

    def report_unexpected_exception(
        self, out: object, test: doctest.DocTest, example: doctest.Example, exc_info: _ExcInfo
    ) -> None:
        """Keep what was raised."""
        del out
        told = "".join(traceback.format_exception_only(exc_info[1])).strip()
        self.outcomes.append(replace(_outcome(test, example, "", Kind.RAISED), message=told))


def _outcome(test: doctest.DocTest, example: doctest.Example, got: str, kind: Kind) -> Outcome:
    line = (test.lineno or 0) + example.lineno + 1
    number = test.examples.index(example) + 1
    documented, executed = example.want, got
    if example.exc_msg is not None and got.startswith(_TRACEBACK):
        # The way to an error is nobody's business, only the error is.
        documented, executed = example.exc_msg, _raised(got)
    if kind is not Kind.RAISED and address(executed):
        return Outcome(Kind.ADDRESS, line, cell=number, cell_line=line, message=address(executed))
    before = example.source.count("\n") + example.want.count("\n") - documented.count("\n")
    documented = _documented(documented)
    return Outcome(
        kind,
        line,
        cell=number,
        cell_line=line,
        body_line=line + before,
        documented=documented,
        executed=executed,
        verdict=compare(documented, executed) if example.want else Verdict(),
    )


def _raised(got: str) -> str:
    """Return what a traceback ends with: the error and its message."""
    lines = got.rpartition(_TRACEBACK)[2].splitlines(keepends=True)[1:]
    return "".join(dropwhile(lambda line: line.startswith(" "), lines))


# Finding examples --------------------------------------------------------------------


def examples_of_module(module: ModuleType) -> list[doctest.DocTest]:
    """Return the docstrings of a module that have examples, each at its line in the file.

    It is what :class:`doctest.DocTestFinder` finds, and what it doesn't reach: a docstring
    that a decorator hides or a function inside another one.
    """
    found = [test for test in doctest.DocTestFinder().find(module) if test.examples]
    known = {test.name for test in found}
    parser = doctest.DocTestParser()
    for written in _written(module):
        name = ".".join(filter(None, (module.__name__, written.name)))
        for test in found:
            text = inspect.cleandoc(test.docstring or "")
            if test.name == name and text == inspect.cleandoc(written.text):
                test.lineno = written.line - 1
        if name not in known:
            globs, line = {**vars(module)}, written.line - 1
            test = parser.get_doctest(written.text, globs, name, module.__file__, line)
            found += [test] if test.examples else []
    return sorted(found, key=lambda test: test.lineno or 0)


def _written(module: ModuleType) -> list[Docstring]:
    """Return the docstrings that stand in a module's file."""
    if not (module.__file__ or "").endswith(".py"):
        return []
    with tokenize.open(str(module.__file__)) as file:
        return find_docstrings(file.read())


def examples_of_text(path: Path) -> list[doctest.DocTest]:
    """Return the examples of a text file, which is one test; none if it has none."""
    text = without_fences(path.read_text("utf-8"))
    test = doctest.DocTestParser().get_doctest(text, {}, str(path), str(path), 0)
    return [test] if test.examples else []


# Checking them -----------------------------------------------------------------------


def check_module(module: ModuleType, settings: Settings | None = None) -> PageResult:
    """Run the examples of a module's docstrings.

    Args:
        module: An imported module; its own docstrings are looked at, not what it imports.
        settings: How outputs are compared.

    Returns:
        An outcome for each example that prints or must print.

    """
    return check_examples(_file(module), examples_of_module(module), settings)


def check_text(path: Path, settings: Settings | None = None) -> PageResult:
    """Run the examples of a text file, such as a README.

    Args:
        path: The file; a blank line or a fence ends what an example must print.
        settings: How outputs are compared.

    """
    return check_examples(str(path), examples_of_text(path), settings)


def check_examples(
    file: str, tests: Sequence[doctest.DocTest], settings: Settings | None = None
) -> PageResult:
    """Run the examples of a file.

    Args:
        file: Its name in reports.
        tests: Its docstrings; those of one share their variables.
        settings: How outputs are compared.

    """
    settings = settings or Settings()
    outcomes: list[Outcome] = []
    with computing_on(os.environ.get(DEVICE_VARIABLE, "cpu")):
        for test in tests:
            outcomes += _run(test, settings)
        environment = describe()
    return PageResult(
        file,
        tuple(outcomes),
        cells=sum(len(test.examples) for test in tests),
        policy=settings.policy_on(environment),
        environment=environment,
    )


def _file(module: ModuleType) -> str:
    path = Path(module.__file__ or module.__name__)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def _run(test: doctest.DocTest, settings: Settings) -> list[Outcome]:
    """Run one docstring; once more at full precision if a float's text differs."""
    first = _record(test)
    policy = settings.policy_on(describe())
    if policy is Policy.STRUCTURE:
        return [_judge(o, policy, None) for o in first.outcomes]
    drifts = [o for o in first.outcomes if o.kind is Kind.DRIFT]
    if not any(d.number for o in drifts for d in o.verdict.differences):
        return first.outcomes
    with _full_precision():
        again = _record(test)
    judged: list[Outcome] = []
    for outcome in first.outcomes:
        full = again.printed.get(test.examples[outcome.cell - 1].lineno)
        portable = _judge(outcome, Policy.PORTABLE, full)
        if policy is Policy.PORTABLE or outcome.kind is not Kind.DRIFT:
            judged.append(portable)
        else:
            judged.append(replace(outcome, rounding=portable.verdict))
    return judged


def _record(test: doctest.DocTest) -> _Recorder:
    recorder = _Recorder()
    fresh = copy.copy(test)
    fresh.globs = dict(test.globs)  # another run begins where this one did
    recorder.run(fresh, out=io.StringIO().write)
    for example in test.examples:
        if example.options.get(doctest.SKIP):
            skipped = _outcome(test, example, "", Kind.UNCHECKED)
            recorder.outcomes.append(replace(skipped, message="+SKIP", verdict=Verdict()))
    return recorder


def _judge(outcome: Outcome, policy: Policy, precise: str | None) -> Outcome:
    """Compare a drift again, under another policy."""
    if outcome.kind is not Kind.DRIFT:
        return outcome
    verdict = compare(outcome.documented, outcome.executed, policy=policy, precise=precise)
    return replace(outcome, verdict=verdict, kind=Kind.VERIFIED if verdict.same else Kind.DRIFT)


@contextmanager
def _full_precision() -> Iterator[None]:
    """Print all digits for the while."""
    with ExitStack() as stack:
        if importlib.util.find_spec("numpy"):
            import numpy as np  # noqa: PLC0415 - only if it is there

            stack.callback(np.set_printoptions, precision=np.get_printoptions()["precision"])
            stack.callback(setattr, np, "set_printoptions", np.set_printoptions)
        if importlib.util.find_spec("torch"):
            import torch  # noqa: PLC0415 - the same

            kept = copy.copy(torch._tensor_str.PRINT_OPTS)  # noqa: SLF001 - nothing public tells
            again = {"precision": kept.precision, "sci_mode": kept.sci_mode}
            stack.callback(torch.set_printoptions, **again)
            stack.callback(setattr, torch, "set_printoptions", torch.set_printoptions)
            stack.callback(setattr, torch.Tensor, "__format__", torch.Tensor.__format__)
        print_full_precision()
        yield


def _modules(name: str) -> Iterator[ModuleType]:
    """Import a module and all below it."""
    module = importlib.import_module(name)
    yield module
    for found in pkgutil.walk_packages(getattr(module, "__path__", []), f"{name}."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def _check_all(names: Sequence[str], settings: Settings) -> Iterator[PageResult]:
    for name in names:
        if Path(name).is_file():
            yield check_text(Path(name), settings)
        else:
            yield from (check_module(module, settings) for module in _modules(name))


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the examples of packages and files; its exit status is that of ``selfattn.drift``."""
    parser = argparse.ArgumentParser(
        prog="python -m selfattn.drift.doctests", description="Check the examples of docstrings."
    )
    add = parser.add_argument
    add("names", nargs="+", metavar="NAME", help="a package or module to import, or a text file")
    add("--device", metavar="NAME", help=f"cpu, cuda, cuda:1, mps or auto, as {DEVICE_VARIABLE}")
    add("-v", "--verbose", action="store_true", help="list what was verified too")
    add("--update", action="store_true", help="write what was printed into the files")
    add("--force", action="store_true", help="with --update: also in a tree with other changes")
    options = parser.parse_args(arguments)
    # A module's name holds from where the command is given.
    sys.path.insert(0, os.curdir)
    try:
        settings = Settings(chosen_policy(), find_reference(Path.cwd()))
        told = chosen_device(asked=options.device).told
        results = list(_check_all(options.names, settings))
    except (ImportError, ValueError) as error:
        parser.error(str(error))
    if told:
        print(f"examples compute on {told}", file=sys.stderr)
    print(render(results, color=use_color(sys.stdout), verbose=options.verbose, noun="example"))
    if options.update:
        found = (update_docstrings(Path(page.file), page) for page in results)
        return write([change for change in found if change], force=options.force)
    return exit_status(results)


if __name__ == "__main__":
    sys.exit(main())
