"""Run the examples of a module or a text file in this process."""

from __future__ import annotations

import builtins
import copy
import doctest
import inspect
import io
import os
import re
import sys
import textwrap
import tokenize
import traceback
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sphinx_drift.compare.compare import ANYTHING, Policy, Verdict, compare
from sphinx_drift.compare.outcomes import Kind, Outcome, PageResult
from sphinx_drift.device import computing_on
from sphinx_drift.doctests.exits import exits_raised
from sphinx_drift.report.text import entry
from sphinx_drift.run.injected import print_full_precision, report_environment, watch_imports
from sphinx_drift.run.run import DEVICE_VARIABLE
from sphinx_drift.run_and_judge import Settings, hinted, may_be_rounding
from sphinx_drift.source.docstrings import find_docstrings, follows_quotes, without_fences
from sphinx_drift.source.printed_text import address

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from types import ModuleType, TracebackType

    from sphinx_drift.source.docstrings import Docstring

    _ExcInfo = tuple[type[BaseException], BaseException, TracebackType]

_NOT_FOLLOWED = doctest.REPORTING_FLAGS
"""They have doctest say nothing of examples that fail, or not run the rest."""
_SKIPS = {"Skipped", "SkipTest"}  # of `pytest` and `unittest`


def compare_example(
    want: str, got: str, flags: int = 0, policy: Policy = Policy.EXACT, precise: str | None = None
) -> Verdict:
    """Compare what an example must print with what it printed, as its option flags say.

    ``ELLIPSIS`` lets ``...`` stand for any text, and what is around it is compared;
    ``NORMALIZE_WHITESPACE`` forgives line breaks and repeated spaces everywhere.
    """
    documented = _documented(want, flags)
    elision = ANYTHING if flags & doctest.ELLIPSIS else ""
    flowing = bool(flags & doctest.NORMALIZE_WHITESPACE)
    verdict = compare(
        documented, got, policy=policy, precise=precise, elision=elision, flowing=flowing
    )
    # It may stand for a part of a word or number, which is no token.
    strict = flags | doctest.DONT_ACCEPT_TRUE_FOR_1
    if elision and not verdict.same and doctest.OutputChecker().check_output(want, got, strict):
        return replace(verdict, differences=(), accepted=())
    return verdict


class Checker(doctest.OutputChecker):
    """Compares what an example must print with what it printed, token by token.

    Wrapping and padding of arrays and lists, and blank lines, don't matter; every digit, sign,
    bracket, word and space does. Option flags mean what they mean to :mod:`doctest`.

    Examples:
        >>> Checker().check_output("[0.5, 1.0]", "[0.5,  1.0]", 0)
        True
        >>> Checker().check_output("[0.5, 1.0]", "[0.5,  1.1]", 0)
        False
        >>> Checker().check_output("[0.5, ..., 1.0]", "[0.5, 0.6, 1.0]", doctest.ELLIPSIS)
        True

    """

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """Return whether two outputs are the same."""
        return compare_example(want, got, optionflags).same

    def output_difference(self, example: doctest.Example, got: str, optionflags: int) -> str:
        """Tell where they differ, as pages do."""
        documented = _documented(example.want, optionflags)
        verdict = compare_example(example.want, got, optionflags)
        outcome = Outcome(Kind.DRIFT, 0, documented=documented, executed=got, verdict=verdict)
        page = PageResult("example", (outcome,), examples=True)
        return entry(page, outcome).partition("\n")[2] + "\n"


def _documented(want: str, flags: int) -> str:
    """Return the documented text without doctest's mark for a blank line."""
    literal = flags & doctest.DONT_ACCEPT_BLANKLINE
    return want if literal else want.replace(doctest.BLANKLINE_MARKER, "")


class _Watched(Checker):
    """Keeps what of an example is compared with what."""

    def __init__(self) -> None:
        self.compared: list[tuple[str, str]] = []

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """Compare them as ever."""
        self.compared.append((want, got))
        return super().check_output(want, got, optionflags)


class _Recorder(doctest.DocTestRunner):
    """Keeps an outcome for each example instead of printing."""

    def __init__(self, flags: int, note: Callable[[object], object]) -> None:
        self._watched = _Watched()
        super().__init__(checker=self._watched, verbose=False, optionflags=flags & ~_NOT_FOLLOWED)
        self.outcomes: list[Outcome] = []
        self.printed: dict[int, str] = {}
        """What each example printed, by its line in the docstring."""
        self._flags = flags
        self._note = note

    def report_start(self, out: object, test: doctest.DocTest, example: doctest.Example) -> None:
        """Say where it is, in case that is where the process ends."""
        del out
        self._watched.compared.clear()
        self._note(_line(test, example))

    def report_success(
        self, out: object, test: doctest.DocTest, example: doctest.Example, got: str
    ) -> None:
        """Keep what was verified."""
        del out
        # Of an example that raises, the error alone is compared, not what it printed before.
        want, executed = (self._watched.compared or [(example.want, got)])[0]
        self.printed[example.lineno] = executed
        if example.want:
            self.outcomes.append(_outcome(test, example, want, executed, self._flags))

    def report_failure(
        self, out: object, test: doctest.DocTest, example: doctest.Example, got: str
    ) -> None:
        """Keep what drifted."""
        self.report_success(out, test, example, got)
        if not example.want:
            self.outcomes.append(_of(test, example, Kind.UNDOCUMENTED, executed=got))

    def report_unexpected_exception(
        self, out: object, test: doctest.DocTest, example: doctest.Example, exc_info: _ExcInfo
    ) -> None:
        """Keep what was raised."""
        del out
        message = "".join(traceback.format_exception_only(exc_info[1])).strip()
        kind = Kind.UNCHECKED if was_skipped(exc_info[1]) else Kind.RAISED
        self.outcomes.append(_of(test, example, kind, example.want, message=message))


def was_skipped(error: BaseException) -> bool:
    """Whether an error says that a test can't be run here, as a test would have it said."""
    return type(error).__name__ in _SKIPS


def _line(test: doctest.DocTest, example: doctest.Example) -> int:
    return (test.lineno or 0) + example.lineno + 1


def _of(
    test: doctest.DocTest, example: doctest.Example, kind: Kind, documented: str = "", **parts: Any
) -> Outcome:
    """Make an outcome at the place of an example, and of what that must print."""
    line = _line(test, example)
    before = example.source.count("\n") + example.want.count("\n") - documented.count("\n")
    number = test.examples.index(example) + 1
    place: dict[str, Any] = {"cell": number, "cell_line": line, "body_line": line + before}
    return Outcome(kind, line, documented=documented, **place, **parts)


def _outcome(
    test: doctest.DocTest, example: doctest.Example, want: str, executed: str, flags: int
) -> Outcome:
    """Return what came of an example that must print something and raised nothing unforeseen."""
    flags = _flags_of(example, flags)
    if want is example.exc_msg and flags & doctest.IGNORE_EXCEPTION_DETAIL:
        want, executed = _error_name(want), _error_name(executed)
    verdict = compare_example(want, executed, flags)
    if not verdict.same and follows_quotes(example):
        dedented = textwrap.dedent(want)
        verdict, want = compare_example(dedented, executed, flags), dedented
    if not verdict.same and (first_address := address(executed)):
        return _of(test, example, Kind.ADDRESS, message=first_address)
    kind = Kind.VERIFIED if verdict.same else Kind.DRIFT
    documented = _documented(want, flags)
    return _of(test, example, kind, documented, executed=executed, verdict=verdict)


def _flags_of(example: doctest.Example, flags: int) -> int:
    """Return the option flags of an example: those of all, changed by its own."""
    for flag, is_set in example.options.items():
        flags = flags | flag if is_set else flags & ~flag
    return flags


def _error_name(message: str) -> str:
    """Return the name of an error without its module and its message."""
    return message.partition("\n")[0].partition(":")[0].rpartition(".")[2]


# Finding examples --------------------------------------------------------------------


@dataclass(frozen=True)
class Examples:
    """The examples of a file."""

    tests: Sequence[doctest.DocTest]
    """Its docstrings that have examples."""
    problems: Sequence[Outcome] = ()
    """Docstrings that can't be read."""


class _Parser(doctest.DocTestParser):
    """Keeps what is wrong with a docstring, so that the others are read too."""

    def __init__(self) -> None:
        self.problems: dict[str, str] = {}

    def get_examples(self, string: str, name: str = "<string>") -> list[doctest.Example]:
        """Read a docstring; one that can't be read has no examples."""
        try:
            examples = super().get_examples(string, name)
        except ValueError as error:
            self.problems[name] = str(error)
            return []
        for example in examples:
            for flag in [flag for flag in example.options if flag & _NOT_FOLLOWED]:
                del example.options[flag]
        return examples


def examples_of_module(module: ModuleType) -> Examples:
    """Return the docstrings of a module that have examples, each at its line in the file.

    It is what :class:`doctest.DocTestFinder` finds, and what it doesn't reach: a docstring
    that a decorator hides or a function inside another one.
    """
    parser = _Parser()
    problems = []
    try:
        tests = doctest.DocTestFinder(parser=parser, exclude_empty=False).find(module)
    except Exception as error:  # noqa: BLE001 - it looks at objects that may do anything
        message = "".join(traceback.format_exception_only(error)).strip()
        problems.append(
            Outcome(Kind.UNREADABLE, 1, message=f"looking for its docstrings: {message}")
        )
        tests = []
    names = {test.name for test in tests}
    lines = {}
    for docstring in _docstrings(module):
        name = ".".join(filter(None, (module.__name__, docstring.name)))
        lines[name] = docstring.line
        for test in tests:
            text = inspect.cleandoc(test.docstring or "")
            if test.name == name and text == inspect.cleandoc(docstring.text):
                test.lineno = docstring.line - 1
        if name not in names:
            globs, line = {**vars(module)}, docstring.line - 1
            tests.append(parser.get_doctest(docstring.text, globs, name, module.__file__, line))
    problems += [
        _malformed(message, lines.get(name, 1)) for name, message in parser.problems.items()
    ]
    with_examples = [test for test in tests if test.examples]
    return Examples(sorted(with_examples, key=lambda test: test.lineno or 0), problems)


def _malformed(message: str, first: int) -> Outcome:
    """Return what came of a docstring that can't be read; it says which of its lines is why."""
    within = re.match(r"line (\d+)", message)
    return Outcome(
        Kind.UNREADABLE, first + int(within[1]) - 1 if within else first, message=message
    )


def _docstrings(module: ModuleType) -> list[Docstring]:
    """Return the docstrings that stand in a module's file."""
    if not (module.__file__ or "").endswith(".py"):
        return []
    with tokenize.open(str(module.__file__)) as file:
        return find_docstrings(file.read())


def examples_of_text(path: Path) -> Examples:
    """Return the examples of a text file, which is one test; none if it has none."""
    parser = _Parser()
    text = without_fences(path.read_text("utf-8"))
    test = parser.get_doctest(text, {}, str(path), str(path), 0)
    problems = [_malformed(message, 1) for message in parser.problems.values()]
    return Examples([test] if test.examples else [], problems)


# Checking them -----------------------------------------------------------------------


def _ignore(message: object) -> None:
    del message


def check_examples(
    file: str,
    examples: Examples,
    settings: Settings | None = None,
    *,
    flags: int = 0,
    note: Callable[[object], object] = _ignore,
) -> PageResult:
    """Run the examples of a file.

    Args:
        file: Its name in reports.
        examples: Its docstrings; the examples of one share their variables.
        settings: How outputs are compared.
        flags: Option flags of :mod:`doctest` that hold for all examples.
        note: Is given the line of each example before it runs, and outcomes as they come.

    """
    settings = settings or Settings()
    outcomes = list(examples.problems)
    for problem in outcomes:
        note(problem)
    with computing_on(os.environ.get(DEVICE_VARIABLE, "cpu")), exits_raised():
        for test in examples.tests:
            for outcome in _run(test, settings, flags, note):
                note(outcome)
                outcomes.append(outcome)
        environment = report_environment()
    return PageResult(
        file,
        tuple(outcomes),
        cells=sum(len(test.examples) for test in examples.tests),
        policy=settings.policy_on(environment),
        environment=environment,
        examples=True,
    )


def _run(
    test: doctest.DocTest, settings: Settings, flags: int, note: Callable[[object], object]
) -> Sequence[Outcome]:
    """Run one docstring; once more at full precision if a float's text differs."""
    first = _record(test, flags, note)
    policy = settings.policy_on(report_environment())
    if policy is Policy.STRUCTURE:
        return [_judge(o, test, flags, policy, {}) for o in first.outcomes]
    if not any(map(may_be_rounding, first.outcomes)):
        return first.outcomes
    with _full_precision():
        again = _record(test, flags, note)
    judged = [_judge(o, test, flags, Policy.PORTABLE, again.printed) for o in first.outcomes]
    return judged if policy is Policy.PORTABLE else hinted(first.outcomes, judged)


def _record(test: doctest.DocTest, flags: int, note: Callable[[object], object]) -> _Recorder:
    recorder = _Recorder(flags, note)
    fresh = copy.copy(test)
    fresh.globs = dict(test.globs)  # another run begins where this one did
    recorder.run(fresh, out=io.StringIO().write)
    for example in test.examples:
        if _flags_of(example, flags) & doctest.SKIP:
            skipped = _of(test, example, Kind.UNCHECKED, example.want, message="+SKIP")
            recorder.outcomes.append(skipped)
    return recorder


def _judge(
    outcome: Outcome, test: doctest.DocTest, flags: int, policy: Policy, precise: Mapping[int, str]
) -> Outcome:
    """Compare a drift again, under another policy, by what each line printed in full."""
    if outcome.kind is not Kind.DRIFT:
        return outcome
    example = test.examples[outcome.cell - 1]
    flags, full = _flags_of(example, flags), precise.get(example.lineno)
    verdict = compare_example(outcome.documented, outcome.executed, flags, policy, full)
    return replace(outcome, verdict=verdict, kind=Kind.VERIFIED if verdict.same else Kind.DRIFT)


@contextmanager
def _full_precision() -> Iterator[None]:
    """Temporarily print all digits."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    with ExitStack() as stack:
        stack.callback(sys.meta_path.__setitem__, slice(None), [*sys.meta_path])
        stack.callback(setattr, builtins, "print", print)
        if numpy is not None:
            stack.callback(numpy.set_printoptions, **numpy.get_printoptions())
            stack.callback(setattr, numpy, "set_printoptions", numpy.set_printoptions)
        if torch is not None:
            options = torch._tensor_str.get_printoptions()  # noqa: SLF001 - nothing public tells
            stack.callback(torch.set_printoptions, **options)
            stack.callback(setattr, torch, "set_printoptions", torch.set_printoptions)
            for name in ("item", "tolist", "double", "to", "type", "__repr__", "__format__"):
                stack.callback(setattr, torch.Tensor, name, getattr(torch.Tensor, name))
        watch_imports()
        print_full_precision()
        yield
