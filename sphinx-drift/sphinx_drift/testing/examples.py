"""Run examples with the standard library's runner, and compare them as pages are compared."""

from __future__ import annotations

import builtins
import copy
import doctest
import inspect
import os
import re
import sys
import tokenize
import traceback
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_drift.compare.compare import Policy, Verdict, compare
from sphinx_drift.compare.outcomes import Kind, Outcome, PageResult
from sphinx_drift.device import computing_on
from sphinx_drift.output.filters import DEFAULTS, filtered
from sphinx_drift.report.text import entry
from sphinx_drift.run.injected import IN_FULL, report_environment
from sphinx_drift.run.run import DEVICE_VARIABLE
from sphinx_drift.run_and_judge import Settings, hinted, may_be_rounding
from sphinx_drift.testing.docstrings import find_tests, line_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import ModuleType, TracebackType

    _ExcInfo = tuple[type[BaseException], BaseException, TracebackType]

_TRACEBACK = "Traceback (most recent call last):"
_GROUP = "  + Exception Group "
"""What Python writes before it of a group of exceptions."""
_BLANK = re.compile(rf"(?m)^{doctest.BLANKLINE_MARKER}\s*?$")
_NUMBER, *_ = map(doctest.register_optionflag, ("NUMBER", "ALLOW_BYTES", "ALLOW_UNICODE"))
"""What pytest adds, as late as its own doctests need it."""
_FLOAT = re.compile(r"[+-]?(?:(?:\d*\.\d+|\d+\.)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)")
_standard_check = doctest.OutputChecker.check_output  # an example may put another in its place


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

    policy = Policy.EXACT
    precise: str | None = None
    """What is printed at full precision, by which *portable* judges."""
    last = Outcome(Kind.VERIFIED, 0)
    """What came of the last comparison."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """Return whether two outputs are the same."""
        literal = optionflags & doctest.DONT_ACCEPT_BLANKLINE
        documented = filtered(want if literal else _BLANK.sub("", want), DEFAULTS)
        got = filtered(got, DEFAULTS)
        if optionflags & _NUMBER:
            got = _as_precise_as(documented, got)
        verdict = self._compare(documented, got, optionflags)
        kind = Kind.VERIFIED if verdict.same else Kind.DRIFT
        self.last = Outcome(kind, 0, documented=documented, executed=got, verdict=verdict)
        return verdict.same

    def _compare(self, documented: str, got: str, flags: int) -> Verdict:
        verdict = compare(
            documented,
            got,
            policy=self.policy,
            precise=self.precise and filtered(self.precise, DEFAULTS),
            flowing=bool(flags & doctest.NORMALIZE_WHITESPACE),
        )
        if verdict.same or not flags & doctest.ELLIPSIS:
            return verdict
        # It may stand for a part of a word or number, which is no token.
        strict = flags | doctest.DONT_ACCEPT_TRUE_FOR_1
        same = _standard_check(self, documented, got, strict)
        return replace(verdict, differences=(), accepted=()) if same else verdict

    def output_difference(self, example: doctest.Example, got: str, optionflags: int) -> str:
        """Tell where they differ, as pages do."""
        self.check_output(example.want, got, optionflags)
        page = PageResult("example", (self.last,), examples=True)
        return entry(page, self.last).partition("\n")[2] + "\n"


def _as_precise_as(documented: str, got: str) -> str:
    """Return an output with the documented floats where it has these, by the rules of pytest."""
    floats = _FLOAT.findall(documented)
    if len(floats) != len(_FLOAT.findall(got)):
        return got
    rest = iter(floats)

    def documented_if_near(match: re.Match[str]) -> str:
        number = next(rest)
        mantissa, _, exponent = number.lower().partition("e")
        last_place = 10.0 ** min(float(exponent or 0) - len(mantissa.partition(".")[2]), 308)
        return number if abs(float(number) - float(match[0])) <= last_place else match[0]

    return _FLOAT.sub(documented_if_near, got)


def module_tests(module: ModuleType) -> list[doctest.DocTest]:
    """Return what has examples in a module: its source, and docstrings that are made later."""
    path, own = Path(str(module.__file__)), module.__name__
    with tokenize.open(path) as file:
        source = file.read()
    tests, others = (find_tests(path, source, vars(module), sure=sure) for sure in (True, False))
    in_source = {inspect.cleandoc(test.docstring or "") for test in tests}
    made = []
    for test in doctest.DocTestFinder().find(module):
        if test.examples and inspect.cleandoc(test.docstring or "") not in in_source:
            test.name = test.name.removeprefix(own).lstrip(".")
            made.append(_in_source(test, others))
    last = {test.name: id(test) for test in tests}  # which has the name; `_` may have many
    replaced = {last.get(test.name) for test in made}
    return [*(test for test in tests if id(test) not in replaced), *made]


def _in_source(test: doctest.DocTest, others: Iterable[doctest.DocTest]) -> doctest.DocTest:
    """Return a docstring as it stands in the source, where `doctest` may not find its line."""
    text = inspect.cleandoc(test.docstring or "")
    same = (o for o in others if (o.name, inspect.cleandoc(o.docstring or "")) == (test.name, text))
    line = test.lineno or 0
    return min(same, key=lambda other: abs((other.lineno or 0) - line), default=test)


def check_examples(
    file: str, tests: Sequence[doctest.DocTest], settings: Settings | None = None, *, flags: int = 0
) -> PageResult:
    """Run the examples of a file.

    Args:
        file: Its name in reports.
        tests: Its docstrings; the examples of one share their variables.
        settings: How outputs are compared.
        flags: Option flags of :mod:`doctest` that hold for all examples.

    """
    settings = settings or Settings()
    with computing_on(os.environ.get(DEVICE_VARIABLE, "cpu")):
        outcomes = [outcome for test in tests for outcome in _run(test, settings, flags)]
        environment = report_environment()
    return PageResult(
        file,
        tuple(outcomes),
        cells=sum(len(test.examples) for test in tests),
        policy=settings.policy_on(environment),
        environment=environment,
        examples=True,
    )


def _run(test: doctest.DocTest, settings: Settings, flags: int) -> Sequence[Outcome]:
    """Run one docstring; if a float's text differs, once more to judge by full precision."""
    runner = _Runner(flags)
    first = runner.record(test)
    if not any(map(may_be_rounding, first)):
        return first
    with _full_precision():
        precise = {outcome.line: outcome.executed for outcome in _Runner(flags).record(test)}
    judged = [runner.judged(outcome, precise.get(outcome.line)) for outcome in first]
    policy = settings.policy_on(report_environment())
    return judged if policy is Policy.PORTABLE else hinted(first, judged)


class _Runner(doctest.DocTestRunner):
    """Keeps an outcome for each example instead of printing."""

    def __init__(self, flags: int) -> None:
        self._own = Checker()
        super().__init__(checker=self._own, verbose=False, optionflags=flags)
        self._outcomes: list[Outcome] = []
        self._drifted: dict[int, tuple[doctest.Example, str, int]] = {}
        """What drifted, by its line: the example, what it printed, its option flags."""

    def record(self, test: doctest.DocTest) -> list[Outcome]:
        """Run one docstring, which can be run again."""
        again = copy.copy(test)
        again.globs = dict(test.globs)
        self.run(again)
        for example in test.examples:
            if example.options.get(doctest.SKIP, self.optionflags & doctest.SKIP):
                self._keep(test, example, Outcome(Kind.UNCHECKED, 0, message="+SKIP"))
        return self._outcomes

    def judged(self, outcome: Outcome, precise: str | None) -> Outcome:
        """Return what *portable* makes of a drift; run again, it might print something else."""
        if outcome.kind is not Kind.DRIFT:
            return outcome
        example, got, flags = self._drifted[outcome.line]
        self._own.policy, self._own.precise = Policy.PORTABLE, precise
        if not self._own.check_output(outcome.documented, outcome.executed, flags):
            return replace(outcome, verdict=self._own.last.verdict)
        same = self._compared(example, got)
        return replace(
            outcome,
            kind=same.kind,
            message=same.message,
            executed=same.executed,
            verdict=same.verdict,
        )

    def _compared(self, example: doctest.Example, got: str) -> Outcome:
        """Return what was compared: of an example that raises, the error alone."""
        before = got.partition(_TRACEBACK)[0].removesuffix(_GROUP) if example.exc_msg else ""
        if before.strip():  # the standard library looks at the error alone
            return Outcome(Kind.UNDOCUMENTED, 0, message="before the error", executed=before)
        return self._own.last

    def _keep(self, test: doctest.DocTest, example: doctest.Example, outcome: Outcome) -> None:
        """Keep an outcome at the place of its example, and of what that must print."""
        line = line_of(test, example)
        body = example.source.count("\n") + example.want.count("\n")
        self._outcomes.append(
            replace(
                outcome,
                line=line,
                cell=test.examples.index(example) + 1,
                cell_line=line,
                body_line=line + body - outcome.documented.count("\n"),
            )
        )

    def report_success(
        self, out: object, test: doctest.DocTest, example: doctest.Example, got: str
    ) -> None:
        """Keep what was compared."""
        if example.want:
            self._keep(test, example, self._compared(example, got))

    def report_failure(
        self, out: object, test: doctest.DocTest, example: doctest.Example, got: str
    ) -> None:
        """Keep what drifted."""
        self._drifted[line_of(test, example)] = example, got, self.optionflags
        outcome = self._own.last
        if not example.want:
            outcome = replace(outcome, kind=Kind.UNDOCUMENTED)
        self._keep(test, example, outcome)

    def report_unexpected_exception(
        self, out: object, test: doctest.DocTest, example: doctest.Example, exc_info: _ExcInfo
    ) -> None:
        """Keep what was raised."""
        outcome = outcome_of_error(exc_info[1], Kind.RAISED, example.want)
        self._keep(test, example, outcome)
        if outcome.kind is Kind.UNCHECKED:  # such as `pytest.importorskip`: the rest is skipped
            self.optionflags |= doctest.FAIL_FAST
            for other in test.examples[test.examples.index(example) + 1 :]:
                if other.want and not other.options.get(doctest.SKIP):
                    self._keep(test, other, replace(outcome, documented=other.want))


def outcome_of_error(error: BaseException, kind: Kind, documented: str = "") -> Outcome:
    """Return what came of an example or an import that raised; a skipped test is unchecked."""
    message = "".join(traceback.format_exception_only(error)).strip()
    skipped = type(error).__name__ in {"Skipped", "SkipTest"}  # of `pytest` and `unittest`
    return Outcome(Kind.UNCHECKED if skipped else kind, 1, documented=documented, message=message)


@contextmanager
def _full_precision() -> Iterator[None]:
    """Temporarily print all digits."""
    tensor_methods = ("item", "tolist", "double", "to", "type", "__repr__", "__format__")
    with ExitStack() as stack:

        def keep(owner: object, *names: str) -> None:
            for name in names:
                stack.callback(setattr, owner, name, getattr(owner, name))

        keep(builtins, "print")
        if numpy := sys.modules.get("numpy"):
            stack.callback(numpy.set_printoptions, **numpy.get_printoptions())
            keep(numpy, "set_printoptions")
        if torch := sys.modules.get("torch"):
            options = torch._tensor_str.get_printoptions()  # noqa: SLF001 - nothing public tells
            stack.callback(torch.set_printoptions, **options)
            keep(torch, "set_printoptions")
            keep(torch.Tensor, *tensor_methods)
        for name, change in IN_FULL.items():
            if name in sys.modules:
                change()
        yield
